"""A recorded log that comes from a file.

Belongs here: turning the items of a file into recorded steps. Does not: reading the file (`log_file`).
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from itertools import chain, groupby
from pathlib import Path

from phaseline.engine.core.message import COPY, Message
from phaseline.engine.log.log_records import cause_of, change_of
from phaseline.engine.log.table_eras import Era, in_force
from phaseline.engine.replay.log_file import LogFile
from phaseline.engine.replay.log_format import EventItem, ExpectedItem, Item, RecordItem, StateItem
from phaseline.engine.replay.recorded_log import (
    FAULT,
    LogFindings,
    RecordedStep,
    Span,
    StoredEvent,
    entity_of,
    is_of_secret,
    is_under,
    part_erased,
    read,
)
from phaseline.schemas.errors import BadLogFile, LogFileDamaged
from phaseline.schemas.records import Record
from phaseline.schemas.subjects import partition_of, partition_of_id, quote

MARK = "transition.mark."
"""The beginning of the subjects of marks in a file."""
MOVED = (
    "the number of partitions of its installation was changed, which this version cannot replay. Replay it with the"
    " version that wrote it, or import it into a new installation: ids, events and versions are kept, times and"
    " durations are not"
)


class _Place:
    """A partition, as the subjects of its messages name it."""

    __slots__ = ("_due", "_inbox", "_log", "_mark")

    def __init__(self, prefix: str, partition: int) -> None:
        branches = (f"{prefix}.{branch}.{partition}." for branch in ("inbox", "due", "log", "mark"))
        self._inbox, self._due, self._log, self._mark = branches

    def stored(self, event: EventItem) -> StoredEvent:
        """An event as the streams hold it."""
        subject = (self._due if event.timer else self._inbox) + event.address
        block = COPY if event.copied else event.headers.encode("latin-1") if event.headers else None
        return StoredEvent(subject, event.data, event.sequence, event.time_ns, block)

    def messages(self, items: Sequence[RecordItem]) -> list[Message]:
        """Records as the log holds them."""
        return [
            Message((self._mark if item.subject.startswith(MARK) else self._log) + item.subject, item.body)
            for item in items
        ]


class FileLog:
    """A `RecordedLog` from a file. Raises what `LogFile` raises.

    Raises `BadLogFile` if `span` begins later than a file without records: the states at that point are not known.
    """

    def __init__(
        self, path: Path | LogFile, span: Span | None = None, most: int | None = None, *, with_records: bool = True
    ) -> None:
        """Open the file, unless it is open. Reads the part of `span` that it holds. most: as for `LogFile`.

        with_records: if not, steps with an event lack messages, but for those that tell whether it was parked.
        """
        self.file = path if isinstance(path, LogFile) else LogFile(path, most)
        path, self._with_records = self.file.path, with_records
        header, self.span = self.file.header, span or Span()
        if header.divisions:
            raise BadLogFile(name=path, problem=MOVED)
        self.prefix, self.partitions, self.has_records = header.prefix, header.partitions, header.records
        self.begins = max(header.first, self.span.first)
        self.ends = header.last if self.span.last is None else min(header.last, self.span.last)
        self.expected: list[bytes] = []
        """The bodies of the records with the states that a test expects; complete once all steps are read."""
        self._eras = {int(partition): eras for partition, eras in header.eras.items()}
        self.purged_positions = frozenset(one for one in header.purged if self.span.first <= one <= self.ends)
        # Where several logs read a partition or more each of one file, the first one counts what is purged.
        self.erased, self.purged = 0, len(self.purged_positions) if self.span.has(0) else 0
        self._has_changes = any(era.former for notes in self._eras.values() for era in notes)
        self._explains_gone = self._has_changes or bool(self.purged_positions)
        """Whether any record may be that of an event that was purged, or of a change of tables."""
        self._slices = self.file.slices()
        self._rest: Sequence[Item] = ()
        """The items that were read with the last ones of `initial`."""
        self._root = "" if self.span.root is None else f"{quote(self.span.root)}."
        self._places = [_Place(self.prefix, one) if self.span.has(one) else None for one in range(self.partitions)]
        if self.begins > header.first and not self.has_records:
            raise BadLogFile.no_records(name=path, problem=f"a replay cannot begin at event {self.begins}")

    @property
    def findings(self) -> LogFindings:
        """See `RecordedLog.findings`."""
        return LogFindings(erased=self.erased, purged=self.purged)

    async def initial(self) -> AsyncIterator[Record]:
        """See `RecordedLog.initial`."""
        for record in self.read_initial():
            yield record

    async def steps(self) -> AsyncIterator[Sequence[RecordedStep]]:
        """See `RecordedLog.steps`."""
        for steps in self.read_steps():
            yield steps

    def read_initial(self) -> Iterator[Record]:
        """The states at the beginning of the file, and the records before `span`."""
        return (record for _, record in self._initial())

    def read_initial_messages(self) -> Iterator[Message]:
        """The same as messages."""
        return (message for message, _ in self._initial())

    def _initial(self) -> Iterator[tuple[Message, Record]]:
        for item in self._before_events():
            message = Message(item.subject if isinstance(item, RecordItem) else "state", item.body)
            record = read(message)
            if self._has_state_of(record):
                self.erased += is_of_secret(message) and record.cause.sequence >= self.span.first
                yield message, record

    def read_gone(self) -> Iterator[RecordedStep]:
        """Instead of `read_initial`, where the log before the file was read: only the records that precede its events.

        The events that made them are gone, or a change of tables did.
        """
        steps: list[RecordedStep] = []
        self._add_gone(steps, [item for item in self._before_events() if isinstance(item, RecordItem)])
        yield from steps

    def _before_events(self) -> Iterator[StateItem | RecordItem]:
        for items in self._slices:
            for number, item in enumerate(items):
                if isinstance(item, EventItem):
                    if item.sequence >= self.begins:
                        self._rest = items[number:]
                        return
                elif isinstance(item, StateItem | RecordItem):
                    yield item
                else:
                    self.expected.append(item.body)

    def read_steps(self) -> Iterator[Sequence[RecordedStep]]:
        """The events, each with its records. From a damaged file it yields all complete steps before it raises."""
        event: EventItem | None = None
        records: list[RecordItem] = []
        damage: LogFileDamaged | None = None
        steps: list[RecordedStep] = []
        try:
            for items in chain([self._rest], self._slices):
                steps = []
                for item in items:
                    if type(item) is RecordItem:
                        records.append(item)
                        continue
                    if event is not None:
                        self._add(steps, event, records)
                    event, records = None, []
                    if type(item) is EventItem:
                        event = item
                    elif type(item) is ExpectedItem:
                        self.expected.append(item.body)
                yield steps
        except LogFileDamaged as error:
            damage = error
        # The last event before the damage may lack records.
        if event is not None and not (damage and self.has_records):
            steps = []
            self._add(steps, event, records)
            yield steps
        if damage is not None:
            raise damage

    def _add(self, steps: list[RecordedStep], event: EventItem, items: list[RecordItem]) -> None:
        """Add an event with its records, then those of erased events and of changes of tables behind them."""
        if event.sequence > self.ends:
            return
        may_be_gone = items and (self._explains_gone or ".secret." in items[-1].subject)
        gone = self._take_gone(event, items) if may_be_gone else None
        partition = partition_of(event.address.partition(".")[0], self.partitions)
        place = self._places[partition]
        if place is not None and event.address.startswith(self._root):
            if self.purged_positions:
                self.purged -= event.sequence in self.purged_positions
            notes = self._eras.get(partition)
            era = None if notes is None else in_force(notes, event.sequence)
            needed = items and (self._with_records or FAULT in items[0].subject)
            steps.append(RecordedStep(partition, place.stored(event), place.messages(items) if needed else [], era))
        if gone:
            self._add_gone(steps, gone)

    def _add_gone(self, steps: list[RecordedStep], items: list[RecordItem]) -> None:
        """Add the records of erased events and of changes of tables."""
        for change, group in groupby(items, key=lambda item: change_of(item.body)):
            if change is not None:
                steps += self._moved(change, [*group])
                continue
            for item in group:
                steps += self._gone(Message(item.subject, item.body))

    def _gone(self, message: Message) -> Sequence[RecordedStep]:
        """The step of a record whose event is gone, if it belongs to the part that is read."""
        record = read(message)
        if not self._has_state_of(record):
            return ()
        self.erased += is_of_secret(message)
        return [RecordedStep(self._partition_of(record), None, [message], is_erased=True)]

    def _partition_of(self, record: Record) -> int:
        return partition_of_id(entity_of(record)[1], self.partitions)

    def _has_state_of(self, record: Record) -> bool:
        """Whether a record without its event belongs to the part that is read."""
        return is_under(record, self.span.root) and self.span.has(self._partition_of(record))

    def _take_gone(self, event: EventItem, items: list[RecordItem]) -> list[RecordItem]:
        """Take the last of the items, those of erased events and of changes of tables."""
        gone: list[RecordItem] = []
        while items:
            last = items[-1]
            if not self._has_changes or change_of(last.body) is None:
                if cause_of(last.body, event.sequence) == event.sequence:
                    break
                if not part_erased([Message(last.subject, last.body)], self.purged_positions)[0]:
                    break
            gone.append(last)
            del items[-1]
        return gone[::-1]

    def _moved(self, change: tuple[int, str], items: list[RecordItem]) -> Iterator[RecordedStep]:
        """The steps of a change of tables, one for each partition that the part that is read holds."""
        found: dict[int, list[Message]] = {}
        for item in items:
            record = read(Message(item.subject, item.body))
            if self._has_state_of(record):
                partition = self._partition_of(record)
                found.setdefault(partition, []).extend(_Place(self.prefix, partition).messages([item]))
        for partition, messages in found.items():
            yield RecordedStep(partition, None, messages, change=self._note(partition, change))

    def _note(self, partition: int, change: tuple[int, str]) -> Era | None:
        """The note of a change of tables of a partition; None if it has none."""
        notes = self._eras.get(partition, ())
        return next((one for one in notes if one.former and (one.position, one.digest) == change), None)
