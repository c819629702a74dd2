"""What the command `replay` does with a log or with some of its partitions: rebuild, audit or what-if.

Belongs here: opening the log, folding it, adding up the results of partitions. Does not: the options (`replay`),
several processes (`side_by_side`), the layout of results (`render_replay`).
"""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from phaseline.engine.replay.archive.archived_log import ArchivedLog
from phaseline.engine.replay.audit import Audit, AuditReport, compare_states
from phaseline.engine.replay.load_tables import load_kinds
from phaseline.engine.replay.recorded_log import Processors, Rebuilt, rebuild, rebuilt
from phaseline.engine.replay.server_log import ServerLog
from phaseline.engine.replay.whatif import WhatIf, WhatIfReport
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli import log_source
from phaseline.engine.surfaces.cli.log_source import LogPart, Source
from phaseline.machines.built_in import installed
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.errors import BadLogFile

Show = Callable[[int], None]
Outcome = Rebuilt | AuditReport | WhatIfReport


class ReplayResult(NamedTuple):
    """The outcome, and the error of a damaged file: what was read before it still counts."""

    outcome: Outcome
    damage: BadLogFile | None = None


@dataclass(frozen=True, slots=True)
class ReplayTask:
    """A replay as the options give it, for all partitions of the log or for some.

    most: how many bytes a file may unfold to. changed: the tables of a what-if. lists: rebuild every entity, not only
    their number. partitions: those that are read; None for all.
    """

    settings: Settings
    file: Path | None
    most: int | None
    part: LogPart
    audits: bool
    changed: str | None
    lists: bool
    partitions: range | None = None

    def kinds(self) -> Kinds:
        """The tables that decide."""
        here = installed(self.settings.prefix)
        return load_kinds(self.changed, here) if self.changed else here

    @asynccontextmanager
    async def opened(self, kinds: Kinds) -> AsyncIterator[Source]:
        """The log."""
        if self.file is None:
            async with log_source.of_server(self.settings, self.part, kinds, partitions=self.partitions) as log:
                yield log
        else:
            with_records = self.audits or bool(self.changed)
            yield log_source.of_file(self.file, self.part, self.most, self.partitions, with_records=with_records)

    async def fold(self, source: Source, kinds: Kinds, show: Show) -> ReplayResult:
        """Decide the events of the log again. show: called with the number of events since the last call."""
        if self.audits:
            return await self._audit(source, kinds, show)
        if self.changed:
            what_if = WhatIf(source, installed(self.settings.prefix), kinds, self.part.root, show)
            return ReplayResult(what_if.report, await _damage(what_if.run()))
        processors = Processors(kinds, source)
        damage = await _damage(rebuild(source, processors, self.part.root, show))
        return ReplayResult(rebuilt(processors, source, lists=self.lists), damage)

    async def _audit(self, source: Source, kinds: Kinds, show: Show) -> ReplayResult:
        audit = Audit(source, kinds, self.part.root, show)
        damage = await _damage(audit.run())
        if isinstance(source, ServerLog | ArchivedLog) and self.part.end is None:
            await compare_states(source.installation, audit)
        return ReplayResult(audit.report, damage)

    def total(self, parts: Iterable[ReplayResult], begins: int) -> ReplayResult:
        """The sum of what was found in some partitions after the other. begins: the first event."""
        whole: Any = Rebuilt()
        if self.audits or self.changed:
            whole = AuditReport(begins=begins) if self.audits else WhatIfReport(begins=begins)
        damage = None
        for part in parts:
            whole.add(part.outcome)
            damage = damage or part.damage
        return ReplayResult(whole, damage)


async def _damage(work: Any) -> BadLogFile | None:
    try:
        await work
    except BadLogFile as error:
        return error
    return None
