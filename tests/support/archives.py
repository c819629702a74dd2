"""Archiving in tests: small parts, and everything that a log can be asked for.

Belongs here: one run, an installation with its archive, the records and the states of it, and what tests of archives
take from the engine. Does not: the tests.
"""

import asyncio
from pathlib import Path

from msgspec.structs import replace

from phaseline.engine.log import log_records
from phaseline.engine.log.archived import note
from phaseline.engine.log.archived.note import ArchiveNote
from phaseline.engine.log.as_of import AsOf
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.when import END, Moment
from phaseline.engine.nats.api_reply import EXPECTED
from phaseline.engine.nats.wire import Wire
from phaseline.engine.replay.archive import check, open_archive
from phaseline.engine.replay.archive.archived_log import ArchivedLog
from phaseline.engine.replay.archive.bucket import Bucket
from phaseline.engine.replay.archive.folder import Folder
from phaseline.engine.replay.archive.manifest import Manifest, PartEntry
from phaseline.engine.replay.archive.open_archive import Archive, store_at
from phaseline.engine.replay.archive.run import Archiver, ArchiveRun
from phaseline.engine.replay.archive.store import ArchiveStore
from phaseline.engine.replay.audit import Audit, AuditReport
from phaseline.engine.replay.recorded_log import Span
from phaseline.schemas.cloudevents import content_types
from phaseline.schemas.records import SECOND, Transition

__all__ = [
    "Archive", "ArchiveNote", "ArchiveStore", "ArchivedLog", "Archiver", "Bucket", "Folder", "Manifest", "PartEntry",
    "check", "note", "open_archive", "store_at",
]  # fmt: skip

SMALL = 40
"""Positions in a part, at least."""


WINDOW = 0.1
"""Seconds of the shortest dedupe window that the server takes."""


async def leave_window(found: Installation) -> None:
    """Let the dedupe window leave all events behind, so that an archive may trim them."""
    stream = found.layout.events
    config = (await found.wire.api(f"STREAM.INFO.{stream}"))["config"]
    await found.wire.api(f"STREAM.UPDATE.{stream}", {**config, "duplicate_window": int(WINDOW * SECOND)})
    await asyncio.sleep(2 * WINDOW)


async def run_archive(found: Installation, folder: Path, before: int | str = "now", *, old: bool = True) -> ArchiveRun:
    """Archive what was finished before a moment. old: after the dedupe window has left it behind."""
    if old:
        await leave_window(found)
    with Folder(folder).locked():
        return await Archiver(found, Folder(folder), "/test", least=SMALL).run(before)


async def note_as_before(found: Installation, manifest: Manifest) -> None:
    """Say in the log where an archive ends as earlier versions did: without a digest of what it holds."""
    headers = {**content_types.AS_MSGPACK, EXPECTED: str((await note.standing(found)).sequence)}
    told = ArchiveNote(manifest.position, manifest.place, manifest.time_ns, manifest.archive, "/before")
    await found.wire.publish_acked(found.subjects.archived(), told.encode(), headers)


async def with_archive(found: Installation, folder: Path | str) -> Installation:
    """The installation as readers have it who name the archive."""
    return replace(found, archive=await Archive.of(str(folder), found))


async def audit_of_both(found: Installation, folder: Path | str, span: Span | None = None) -> AuditReport:
    """What an audit of the archive and the streams behind it says."""
    span = span or Span()
    async with ArchivedLog.open(found, await Archive.of(str(folder), found), span) as source:
        return await Audit(source, found.kinds, span.root, None).run()


async def messages(wire: Wire, stream: str) -> int:
    """How many messages a stream holds."""
    return int((await wire.api(f"STREAM.INFO.{stream}"))["state"]["messages"])


async def states(found: Installation, moment: Moment) -> dict[tuple[str, str], Transition]:
    """The last transition of each entity at a moment."""
    everything = await AsOf(found, moment).states(deleted=True)
    return {(one.entity.kind, one.entity.id): one for one in everything}


async def whole_log(found: Installation) -> list[tuple[int, object]]:
    """All transitions and rejections, each with its place."""
    filter_ = f"{found.prefix}.log.*.*.*.>"
    return [(one.sequence, one.record) async for one in log_records.records(found, filter_, 0, END)]
