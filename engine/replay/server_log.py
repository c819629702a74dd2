"""A recorded log that comes from the streams of an installation, which keeps working meanwhile.

Belongs here: reading EVENTS and LOG side by side, so that each event meets its records. Does not: using the log
(`audit`, `whatif`, `export_log`).
It reads what exists when it begins, and holds a few thousand messages at most.
"""

from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from typing import Self

from phaseline.engine.core.message import Message
from phaseline.engine.log import foreign, purge, table_eras
from phaseline.engine.log.archived import note
from phaseline.engine.log.checkpoint import Checkpoint
from phaseline.engine.log.foreign import Barrier, Foreign, Notes, standing
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log import Log
from phaseline.engine.log.log_records import cause_of
from phaseline.engine.log.purge import PurgeNote
from phaseline.engine.log.table_eras import Era, in_force
from phaseline.engine.nats.reader import BUFFER, Stored
from phaseline.engine.nats.stream_reader import StreamReader, first_since, read_all, reader_of
from phaseline.engine.replay.recorded_log import (
    LogFindings,
    RecordedStep,
    Span,
    is_of_secret,
    part_erased,
    part_moved,
    read,
)
from phaseline.engine.worker.ownership import earlier_builds, former_owner
from phaseline.schemas import losses, wire_codec
from phaseline.schemas.errors import LogDamaged
from phaseline.schemas.records import Loss, Record, Rejection, nanoseconds
from phaseline.schemas.subjects import SHORTENED, quote


class LogCursor:
    """Reads the log of one partition record by record.

    cause: the position of the event that made the next record; None at the end of the log.
    """

    def __init__(
        self, reader: StreamReader, wanted: Callable[[str], bool], notes: Notes[PurgeNote] | None = None
    ) -> None:
        """wanted: says of a subject whether its messages are to be read; others are skipped. notes: of an operator."""
        self._reader, self._wanted, self._notes = reader, wanted, notes
        self._held: deque[Stored] = deque()
        self._next: Stored | None = None
        self._is_dry = True
        """Whether the next record is not known before more is fetched."""
        self.cause: int | None = None
        self.earlier = 0
        self.last_cause = 0
        self.losses: list[Loss] = []
        self.foreign: list[Foreign] = []

    @property
    def place(self) -> int:
        """The place of the next record; 0 at the end of the log."""
        return 0 if self._next is None else self._next.sequence

    async def advance(self) -> Stored | None:
        """Return the next message, and move to the one after it."""
        current = self._next
        self._move()
        await self.fetch()
        return current

    async def fetch(self) -> None:
        """Wait until the next record is known, or that there is none."""
        while self._is_dry:
            if self._reader.caught_up:
                self._next = self.cause = None
                self._is_dry = False
            else:
                self._held.extend(await self._reader.take(BUFFER))
                self._move()

    def take(self, sequence: int, found: list[Stored]) -> bool:
        """Move the messages up to the last one whose cause is at most `sequence` to `found`, which is empty at first.

        `earlier` counts those before it. Returns whether that is all; if not, go on after `fetch`.
        """
        self.earlier = self.earlier if found else 0
        while not self._is_dry:
            if self._next is None or self.cause is None or self.cause > sequence:
                return True
            self.earlier += self.cause < sequence
            found.append(self._next)
            self._move()
        return False

    async def take_up_to(self, sequence: int) -> list[Stored]:
        """What `take` finds, all of it."""
        found: list[Stored] = []
        while not self.take(sequence, found):
            await self.fetch()
        return found

    def _move(self) -> None:
        """Move to the next record among those that are there."""
        held = self._held
        while held:
            stored = held.popleft()
            if foreign.is_json_copy(stored.block) or (self._notes is not None and self._notes.has(stored)):
                continue
            if not foreign.is_by_owner(stored.block):
                self.foreign.append(foreign.report(self._reader.stream, stored))
            elif ".loss." in stored.subject and losses.is_loss(stored.data):
                self.losses.append(losses.read(stored.data))
            elif self._wanted(stored.subject):
                self._next = stored
                self.cause = self.last_cause = cause_of(stored.data, self.cause or 0)
                self._is_dry = False
                return
        self._is_dry = True


class ServerLog:
    """A `RecordedLog` from a server: `async with ServerLog.open(installation, span) as log:`."""

    def __init__(self, installation: Installation, span: Span, *, records: bool) -> None:
        """Reads nothing yet: use `open`."""
        self.installation, self.span, self.has_records = installation, span, records
        self.prefix, self.partitions = installation.prefix, installation.layout.partitions
        self.undecided = self.erased = self.purged = 0
        self.begins, self.ends = 1, 0
        self.eras: dict[int, list[Era]] = {}
        """Which tables decided which events, by partition."""
        self._changed: set[tuple[int, int]] = set()
        """Partition and position of each event after which a change of tables moved entities."""
        self.purged_positions: set[int] = set()
        self._decided: dict[int, int] = {}
        self._clear: dict[int, int | None] = {}
        self.cursors: dict[int, LogCursor] = {}
        self._first = 0
        """The first event that EVENTS holds, and that is not archived."""
        self._archived = 0
        """The last event that is archived."""
        self.emptied: list[int] = []
        self._stalled: set[int] = set()
        """Partitions whose next event, and so each later one, is undecided."""

    @classmethod
    @asynccontextmanager
    async def open(cls, installation: Installation, span: Span, *, records: bool = True) -> AsyncIterator[Self]:
        """Find out which events exist, and begin to read.

        records: read the records too, and leave out undecided events. Without them all events are read.
        """
        log = await cls.measured(installation, span, records=records)
        async with AsyncExitStack() as stack:
            for partition in log.own_partitions() if records or log.begins > 1 else ():
                log.cursors[partition] = await log.cursor(stack, partition)
            yield log

    @classmethod
    async def measured(cls, installation: Installation, span: Span, *, records: bool = True) -> Self:
        """Only find out which events exist, and up to where they are decided. Raises `SetupError.partitions_moved`."""
        await earlier_builds.refuse_divided(installation)
        log = cls(installation, span, records=records)
        await log._measure()
        return log

    async def cursor(
        self, stack: AsyncExitStack, partition: int, start: int | str = "start", behind: Barrier | None = None
    ) -> LogCursor:
        """A cursor over the records of a partition, open until `stack` is closed. start: a place.

        behind: a message of LOG before which it must not end, for who deletes what was read.
        """
        # Always one filter: with several, the server is slow if the stream has many subjects.
        wire, log, filter_ = self.installation.wire, self.installation.layout.log, f"{self.prefix}.*.{partition}.>"
        least = 0
        if behind is not None:
            least = (await standing(wire, log, filter_, lambda _: True, behind)).end
        reader = reader_of(wire, log, [filter_], start, least=least, room=BUFFER // len(self.own_partitions()))
        notes = purge.notes(self.installation, partition)
        cursor = LogCursor(await stack.enter_async_context(reader), self._of_records(partition), notes)
        await cursor.fetch()
        return cursor

    async def _measure(self) -> None:
        wire, layout = self.installation.wire, self.installation.layout
        held = (await wire.api(f"STREAM.INFO.{layout.events}"))["state"]
        self._archived = await note.position(self.installation)
        self._first = max(int(held["first_seq"]), self._archived + 1)
        self.begins = max(self.span.first, self._first, 1)
        self.ends = min(int(held["last_seq"]), int(held["last_seq"]) if self.span.last is None else self.span.last)
        # The checkpoints are read before the log. So the log that is read holds all records of the decided events.
        for partition in self.own_partitions():
            last = await self._last_checkpoint(partition)
            self._decided[partition], self._clear[partition] = last.position, last.clear
            self.eras[partition] = await table_eras.eras(self.installation, partition)
            self._changed.update((partition, era.position) for era in self.eras[partition] if era.former)
            for told in await purge.notes(self.installation, partition).all_of():
                if self.span.root in (None, told.id.partition("/")[0]):
                    self.purged_positions.update(one for one in told.positions if self._least <= one <= self.ends)
        self.purged = len(self.purged_positions)

    @property
    def _least(self) -> int:
        """The first event that may belong to the log, also if EVENTS no longer holds it."""
        return max(self.span.first, self._archived + 1)

    @property
    def archived(self) -> int:
        """The last event of the part that was archived, and so is left out; 0 if there is none."""
        last = self._archived if self.span.last is None else min(self._archived, self.span.last)
        return last if last >= self.span.first else 0

    @property
    def findings(self) -> LogFindings:
        """See `RecordedLog.findings`."""
        skipped = [found for cursor in self.cursors.values() for found in cursor.foreign]
        noted = [loss for cursor in self.cursors.values() for loss in cursor.losses]
        gaps = [gap for partition in self.cursors for gap in self._gap(partition)]
        return LogFindings(self.undecided, self.erased, self.purged, noted + gaps, self.emptied, skipped)

    def _gap(self, partition: int) -> list[Loss]:
        """The events that EVENTS dropped undecided, if no worker has noted it yet."""
        clear = self._clear[partition]
        known = max(self._decided[partition], clear or 0, self.cursors[partition].last_cause, self._archived)
        gone = self._first - 1 - known
        if clear is None or gone <= 0:
            return []
        at_least = gone if self.partitions == 1 else 0
        return [Loss(partition, "events", known + 1, self._first - 1, at_least, gone, "", 0)]

    async def _last_checkpoint(self, partition: int) -> Checkpoint:
        try:
            return (await former_owner.read(self.installation, partition, accept_loss=False)).checkpoint
        except LogDamaged:
            self.emptied.append(partition)
            return Checkpoint()

    async def time_of(self, position: int) -> int:
        """See `ExportedLog.time_of`."""
        return await stored_time(self.installation, position)

    async def initial_messages(self) -> AsyncIterator[Message]:
        """See `ExportedLog.initial_messages`."""
        for cursor in self.cursors.values():
            for stored in await cursor.take_up_to(self.begins - 1):
                yield _message(stored)

    async def initial(self) -> AsyncIterator[Record]:
        """See `RecordedLog.initial`."""
        async for message in self.initial_messages():
            record = read(message)
            if isinstance(record, Rejection) and record.reason == "secret" and record.cause.sequence >= self._least:
                self.erased += 1
            yield record

    async def steps_before(self, after: int) -> AsyncIterator[Sequence[RecordedStep]]:
        """Instead of `initial`, where the log up to the place `after` was read: only what changes of tables made since.

        Tables may change after the last event that was read; the records of that change name this event.
        """
        for partition, cursor in self.cursors.items():
            found = [one for one in await cursor.take_up_to(self.begins - 1) if one.sequence > after]
            moved, _ = part_moved(list(map(_message, found)), self.eras[partition])
            yield self._moved(partition, moved)

    async def steps(self) -> AsyncIterator[Sequence[RecordedStep]]:
        """See `RecordedLog.steps`. Records that belong to no event come last."""
        root = self.span.root
        wire, stream = self.installation.wire, self.installation.layout.events
        tree = ">" if root is None else f"{quote(root)}.>"
        # One filter at a time: with several, the server is slow.
        whole = root is None and self.span.partitions is None
        for inbox in [[]] if whole else [[f"{self.prefix}.*.{one}.{tree}"] for one in self.own_partitions()]:
            async for slice_ in read_all(wire, stream, inbox, self.begins, self.ends):
                yield await self._steps(slice_)
        for partition, cursor in self.cursors.items() if self.has_records else ():
            if partition not in self._stalled and (left := await cursor.take_up_to(self.ends)):
                yield self._part(partition, list(map(_message, left)))

    async def _steps(self, events: Sequence[Stored]) -> list[RecordedStep]:
        """The steps of some events. It waits only where records have to be fetched first."""
        made: list[RecordedStep] = []
        index = self.prefix.count(".") + 2
        for event in events:
            partition = int(event.subject.split(".", index + 1)[index])
            found: list[Stored] = []
            if self.has_records:
                cursor = self.cursors[partition]
                while not cursor.take(event.sequence, found):
                    await cursor.fetch()
            self._put(made, partition, event, found)
        return made

    def _put(self, made: list[RecordedStep], partition: int, event: Stored, found: list[Stored]) -> None:
        """Add an event with its records, after the records of events that are gone; nothing if it is undecided."""
        self.purged -= event.sequence in self.purged_positions
        era = in_force(self.eras[partition], event.sequence)
        if not self.has_records:
            made.append(RecordedStep(partition, event, [], era))
            return
        early, messages = self._messages(partition, event, found)
        if early:
            *before, others = self._part(partition, early)
            made += before
            messages = others.messages + messages
        after: list[RecordedStep] = []
        if messages and (partition, event.sequence) in self._changed:
            moved, messages = part_moved(messages, self.eras[partition])
            after = self._moved(partition, moved)
        if partition in self._stalled:
            self.undecided += 1
            return
        made.append(RecordedStep(partition, event, messages, era))
        made += after

    def _messages(self, partition: int, event: Stored, found: list[Stored]) -> tuple[list[Message], list[Message]]:
        """The messages with an earlier cause, and those that the event made. Notices that it is not decided yet."""
        cursor = self.cursors[partition]
        messages = [Message(one.subject, one.data) for one in found]
        early, messages = (messages[: cursor.earlier], messages[cursor.earlier :]) if cursor.earlier else ([], messages)
        if cursor.cause is None and event.sequence > self._decided[partition] and not _is_whole(messages):
            self._stalled.add(partition)
        return early, messages

    def _part(self, partition: int, messages: list[Message]) -> list[RecordedStep]:
        """Messages whose event is missing, in steps: those of erased events, those of changes of tables, all others."""
        moved, messages = part_moved(messages, self.eras[partition])
        erased, others = part_erased(messages, self.purged_positions)
        self.erased += sum(map(is_of_secret, erased))
        steps = [RecordedStep(partition, None, erased, is_erased=True)] if erased else []
        steps += self._moved(partition, moved)
        return [*steps, RecordedStep(partition, None, others)]

    def _moved(self, partition: int, moved: Mapping[int, list[Message]]) -> list[RecordedStep]:
        """The steps of changes of tables, given the records of each by the index of its note."""
        return [
            RecordedStep(partition, None, messages, change=self.eras[partition][index])
            for index, messages in sorted(moved.items())
        ]

    def own_partitions(self) -> Sequence[int]:
        """The partitions that are read."""
        root = self.span.root
        everything = range(self.partitions) if self.span.partitions is None else self.span.partitions
        return everything if root is None else [self.installation.partition_of(root)]

    def _of_records(self, partition: int) -> Callable[[str], bool]:
        """Says of a subject whether it is that of a record."""
        log = f"{self.prefix}.log.{partition}"
        starts = (f"{log}.transition.", f"{log}.rejection.", f"{self.installation.subjects.marks(partition)}.")
        if self.span.root is None:
            return lambda subject: subject.startswith(starts)
        token = quote(self.span.root)
        # Tokens before the root: kind, facet and state; kind and reason; kind. Rejections shorten long names.
        shapes = tuple(zip(starts, (3, 2, 1), (token, token[:SHORTENED], token), strict=True))

        def under(subject: str) -> bool:
            for start, depth, root in shapes:
                if subject.startswith(start):
                    return subject[len(start) :].split(".", depth + 1)[depth] == root
            return False

        return under


def _is_whole(messages: list[Message]) -> bool:
    """Whether the messages are all that their event made. Those of a large cascade are committed in several batches."""
    if not messages:
        return False
    last = wire_codec.numbered(messages[-1].body)
    return last.number + 1 == last.records


def _message(stored: Stored) -> Message:
    return Message(stored.subject, stored.data)


async def first_event_after(installation: Installation, moment: datetime) -> int:
    """The position of the first event stored at `moment` or later; one more than the last position if there is none."""
    wire, events = installation.wire, installation.layout.events
    info = await wire.api(f"STREAM.INFO.{events}")
    first = await first_since(wire, events, moment.astimezone().isoformat())
    return int(info["state"]["last_seq"]) + 1 if first is None else first


async def stored_time(installation: Installation, sequence: int) -> int:
    """When an event was stored, ns; 0 if it no longer exists."""
    kept = await Log(installation).event(sequence) if sequence else None
    return 0 if kept is None else nanoseconds(kept.time)
