"""Logs on a server and in files, as audits, exports, imports and replays read and write them.

Belongs here: what tests of these take from the engine, an export and an audit in one call. Does not: an audit with the
states beside it (`log_check`), archives (`archives`).
"""

from pathlib import Path

from phaseline.engine.log.installation import Installation
from phaseline.engine.replay import log_format
from phaseline.engine.replay.audit import Audit, AuditReport, compare_states, is_reworded
from phaseline.engine.replay.export_log import export
from phaseline.engine.replay.file_log import FileLog
from phaseline.engine.replay.import_log import Clock, ImportResult, Player, import_log
from phaseline.engine.replay.log_file import LogFile
from phaseline.engine.replay.log_format import EventItem, Header, Item, RecordItem
from phaseline.engine.replay.log_writer import LogWriter
from phaseline.engine.replay.recorded_log import Processors, RecordedLog, Span, StoredEvent, rebuild
from phaseline.engine.replay.server_log import ServerLog, first_event_after
from phaseline.engine.replay.whatif import WhatIf, WhatIfReport
from phaseline.engine.surfaces.cli.log_source import LogPart
from phaseline.engine.surfaces.cli.replay_task import ReplayTask
from phaseline.machines.compiler.kinds import Kinds

__all__ = [
    "Audit", "AuditReport", "Clock", "EventItem", "FileLog", "Header", "ImportResult", "Item", "LogFile", "LogPart",
    "LogWriter", "Player", "Processors", "RecordItem", "RecordedLog", "ReplayTask", "ServerLog", "Span",
    "StoredEvent", "WhatIf", "WhatIfReport", "audit_of", "compare_states", "export", "exported", "first_event_after",
    "import_log", "is_reworded", "log_format", "rebuild",
]  # fmt: skip


async def exported(installation: Installation, path: Path, *, records: bool = True) -> dict[str, int]:
    """Write the whole log of an installation to a file; how many items of each sort it has now."""
    async with ServerLog.open(installation, Span(), records=records) as log:
        return await export(log, path, records=records, expect=False)


async def audit_of(log: Installation | Path, kinds: Kinds, span: Span | None = None) -> AuditReport:
    """What an audit says of the log of an installation, or of a file. kinds: the tables that decide again."""
    span = span or Span()
    if isinstance(log, Path):
        return await Audit(FileLog(log, span), kinds, span.root, None).run()
    async with ServerLog.open(log, span) as source:
        return await Audit(source, kinds, span.root, None).run()
