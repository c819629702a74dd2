"""A recorded log of an archive and, behind it, the streams of the installation.

Belongs here: the parts of the archive and the streams one after the other, as one log to replay. Does not: reading a
part (`replay.file_log`), reading the streams (`replay.server_log`).
"""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Self

from phaseline.engine.core.message import Message
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.table_eras import Era
from phaseline.engine.replay.archive.manifest import PartEntry
from phaseline.engine.replay.archive.open_archive import Archive
from phaseline.engine.replay.archive.read_part import part_file
from phaseline.engine.replay.file_log import FileLog
from phaseline.engine.replay.log_format import EventItem
from phaseline.engine.replay.recorded_log import LogFindings, RecordedStep, Span
from phaseline.engine.replay.server_log import ServerLog, first_event_after
from phaseline.schemas.errors import BadArchive, BadLogFile
from phaseline.schemas.records import Record


class ArchivedLog:
    """A `RecordedLog` from an archive and a server: `async with ArchivedLog.open(...) as log`."""

    def __init__(self, archive: Archive, parts: Sequence[PartEntry], server: ServerLog, span: Span) -> None:
        """Use `open`."""
        self._archive, self._parts, self._server, self.span = archive, parts, server, span
        self._files: list[FileLog] = []
        """The parts that were opened so far. There may be thousands, so each is opened when the one before is read."""
        self.installation = server.installation
        self.prefix, self.partitions, self.has_records = server.prefix, server.partitions, server.has_records
        self.begins = max(parts[0].first, span.first) if parts else server.begins
        last = parts[-1].last if parts else 0
        self.ends = max(server.ends, last if span.last is None else min(last, span.last))

    @classmethod
    @asynccontextmanager
    async def open(
        cls, installation: Installation, archive: Archive, span: Span, *, records: bool = True
    ) -> AsyncIterator[Self]:
        """Find the parts that `span` needs, and begin to read the streams. records: as for `ServerLog.open`."""
        manifest = archive.manifest
        wanted = [
            part
            for part in manifest.parts
            if part.last >= span.first and (span.last is None or part.first <= span.last)
        ]
        rest = span._replace(first=max(span.first, manifest.position + 1))
        async with ServerLog.open(installation, rest, records=records) as server:
            yield cls(archive, wanted, server, span)

    def _file(self, number: int) -> FileLog:
        """A part, which is opened now if it was not; raises `BadArchive`."""
        while number >= len(self._files):
            self._files.append(self._opened(self._parts[len(self._files)]))
        return self._files[number]

    def _opened(self, part: PartEntry) -> FileLog:
        try:
            return FileLog(part_file(self._archive.store, part), self.span)
        except BadLogFile as error:
            raise BadArchive(name=self._archive.name, problem=str(error)) from None

    @property
    def findings(self) -> LogFindings:
        """See `RecordedLog.findings`."""
        found = self._server.findings
        erased, purged = (sum(getattr(file, name) for file in self._files) for name in ("erased", "purged"))
        return found._replace(erased=found.erased + erased, purged=found.purged + purged)

    @property
    def purged_positions(self) -> Collection[int]:
        """See `ExportedLog.purged_positions`. It looks at the head of each part, one after the other."""
        return self._server.purged_positions.union(*(self._opened(part).purged_positions for part in self._parts))

    @property
    def eras(self) -> Mapping[int, Sequence[Era]]:
        """See `ExportedLog.eras`."""
        return self._server.eras

    async def time_of(self, position: int) -> int:
        """See `ExportedLog.time_of`."""
        for part in self._archive.manifest.parts:
            if position in (part.first, part.last):
                return part.since if position == part.first else part.until
        kept = await self._archive.events([position])
        return kept[position].time_ns if position in kept else await self._server.time_of(position)

    async def initial(self) -> AsyncIterator[Record]:
        """See `RecordedLog.initial`."""
        if self._parts:
            for record in self._file(0).read_initial():
                yield record
        else:
            async for record in self._server.initial():
                yield record

    async def initial_messages(self) -> AsyncIterator[Message]:
        """See `ExportedLog.initial_messages`."""
        if self._parts:
            for message in self._file(0).read_initial_messages():
                yield message
        else:
            async for message in self._server.initial_messages():
                yield message

    async def steps(self) -> AsyncIterator[Sequence[RecordedStep]]:
        """See `RecordedLog.steps`."""
        for number in range(len(self._parts)):
            file = self._file(number)
            if number:
                yield list(file.read_gone())
            for steps in file.read_steps():
                yield steps
        if self._parts and self.has_records:
            async for steps in self._server.steps_before(self._archive.manifest.reach):
                yield steps
        async for steps in self._server.steps():
            yield steps


@asynccontextmanager
async def opened(
    installation: Installation, archive: Archive | None, span: Span, *, records: bool
) -> AsyncIterator[ServerLog | ArchivedLog]:
    """A part of the log of an installation, with its archive if there is one."""
    if archive is None:
        async with ServerLog.open(installation, span, records=records) as log:
            yield log
    else:
        async with ArchivedLog.open(installation, archive, span, records=records) as both:
            yield both


async def first_event_from(installation: Installation, archive: Archive | None, moment: datetime) -> int:
    """The position of the first event stored at `moment` or later, in the archive or behind it."""
    if archive is None:
        return await first_event_after(installation, moment)
    wanted = int(moment.timestamp() * 1e9)
    for part in archive.manifest.parts:
        if part.until >= wanted or not part.until:
            for items in archive.items(part):
                for event in items:
                    if isinstance(event, EventItem) and event.time_ns >= wanted:
                        return event.sequence
    return max(archive.manifest.position + 1, await first_event_after(installation, moment))
