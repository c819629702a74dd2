"""Exports a log to a file: the states at the beginning, the events, and their records if asked for.

Belongs here: what goes into the file, in which order. Does not: the format (`log_format`), the file (`log_writer`).
"""

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from phaseline.engine.core.message import COPY, Message
from phaseline.engine.core.process import InboxEvent
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.table_eras import Era
from phaseline.engine.replay import log_format
from phaseline.engine.replay.log_format import EventItem, ExpectedItem, Header, Item, RecordItem, StateItem
from phaseline.engine.replay.log_writer import LogWriter
from phaseline.engine.replay.recorded_log import LogSource, RecordedStep, Span, read
from phaseline.schemas.cloudevents.binary_mode import structured
from phaseline.schemas.records import Rejection, Transition
from phaseline.schemas.version import __version__

AT_ONCE = 250
"""Steps whose items are written together."""


class ExportedLog(LogSource, Protocol):
    """A log to export. Read `initial_messages` to its end, then `steps`. begins, ends: its first and last event."""

    begins: int
    ends: int
    span: Span
    installation: Installation

    @property
    def purged_positions(self) -> Collection[int]:
        """The positions of the events in it that were purged."""

    @property
    def eras(self) -> Mapping[int, Sequence[Era]]:
        """Which tables decided which events, by partition."""

    async def time_of(self, position: int) -> int:
        """When an event was stored, ns; 0 if it no longer exists."""

    def initial_messages(self) -> AsyncIterator[Message]:
        """The messages of the log that lead to the states before the first event."""

    def steps(self) -> AsyncIterator[Sequence[RecordedStep]]:
        """See `RecordedLog.steps`."""


async def export(
    source: ExportedLog, path: Path, *, records: bool, expect: bool, progress: Callable[[int], None] | None = None
) -> dict[str, int]:
    """Write the log `source` to `path`, and return how many items of each sort were written.

    records: include the records that the events made. expect: include the states at the end, so that the file is a
    test.
    progress: called with the number of events written since the last call.
    """
    export = _Export(source, records=records, expect=expect)
    header = await export.header()
    with LogWriter(path, header) as log:
        await export.begin(log)
        async for steps in source.steps():
            before = log.counts["event"]
            for start in range(0, len(steps), AT_ONCE):
                log.write_all(export.items(steps[start : start + AT_ONCE]))
            if progress is not None:
                progress(log.counts["event"] - before)
        export.finish(log)
    return dict(log.counts)


def event_item(prefix: str, event: InboxEvent) -> EventItem:
    """An event of the installation with this prefix, as a file holds it."""
    branch, _, address = event.subject[len(prefix) + 1 :].split(".", 2)
    copied = event.block is not None and COPY in event.block
    headers = "" if event.block is None else log_format.headers_of(event.block, address)
    return EventItem(event.sequence, event.time_ns, address, event.data, branch == "due", copied, headers)


def eras_of(eras: Mapping[int, Sequence[Era]]) -> dict[str, list[Era]]:
    """Which tables decided which events, as a header says it."""
    return {str(partition): [*notes] for partition, notes in eras.items()}


def short_subject(prefix: str, subject: str) -> str:
    """The subject of a record without prefix, branch and partition: `transition. ...` or `rejection. ...`.

    The subject of a mark looks like that of a transition of a kind `mark`.
    """
    return subject[len(prefix) + 1 :].split(".", 2)[2]


class _Export:
    def __init__(self, source: ExportedLog, *, records: bool, expect: bool) -> None:
        self.source, self.records, self.expect = source, records, expect
        self.prefix, self.banned = source.prefix, source.installation.kinds.bans.where
        self.last: dict[tuple[str, str], bytes] = {}
        """The last record of each entity, kept only if the file is to be a test."""

    async def header(self) -> Header:
        source = self.source
        return Header(
            written_by=f"phaseline {__version__}", prefix=source.prefix, partitions=source.partitions,
            tree=source.span.root, first=source.begins, last=source.ends,
            since=await source.time_of(source.begins), until=await source.time_of(source.ends),
            records=self.records,
            eras=eras_of(source.eras), purged=sorted(source.purged_positions),
        )  # fmt: skip

    async def begin(self, log: LogWriter) -> None:
        """Write the states of all entities before the first event."""
        states: dict[tuple[str, str], bytes] = {}
        async for message in self.source.initial_messages():
            record = read(message)
            if not isinstance(record, Rejection):
                states[record.entity.kind, record.entity.id] = message.body
        for body in states.values():
            log.write(StateItem(body))
        if self.expect:
            self.last = states

    def items(self, steps: Sequence[RecordedStep]) -> list[Item]:
        """Events and their records. An event with banned content is left out, like one that was erased."""
        prefix, found = self.prefix, list[Item]()
        for step in steps:
            event = step.event
            if event is not None and self.banned(structured(event.data, event.block)) is None:
                found.append(event_item(prefix, event))
            for message in step.messages if self.records else ():
                found.append(RecordItem(short_subject(prefix, message.subject), message.body))
            if self.expect:
                self.expected(step.messages)
        return found

    def expected(self, messages: Sequence[Message]) -> None:
        """Note the states after these messages."""
        for message in messages:
            record = read(message)
            if isinstance(record, Transition):
                self.last[record.entity.kind, record.entity.id] = message.body

    def finish(self, log: LogWriter) -> None:
        """Write the states that a test expects."""
        for body in self.last.values() if self.expect else ():
            log.write(ExpectedItem(body))
