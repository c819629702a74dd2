"""A recorded log that comes from a file.

Belongs here: turning the items of a file into recorded steps. Does not: reading the file (`log_file`).
"""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import msgspec

from phaseline.engine.core.message import Message
from phaseline.engine.core.process import COPY
from phaseline.engine.errors import LogFileDamaged, NoRecords
from phaseline.engine.log.log_records import cause_of
from phaseline.engine.log.table_eras import Era, in_force
from phaseline.engine.replay.log_file import LogFile
from phaseline.engine.replay.log_format import EventItem, ExpectedItem, Item, RecordItem, StateItem
from phaseline.engine.replay.recorded_log import (
    RecordedStep,
    Span,
    StoredEvent,
    entity_of,
    is_of_secret,
    is_under,
    part_erased,
    read,
)
from phaseline.schemas.records import Record
from phaseline.schemas.subjects import partition_of, partition_of_id, quote


class FileLog:
    """A `RecordedLog` from a file. Raises what `LogFile` raises.

    Raises `NoRecords` if `span` begins later than a file without records: the states at that point are not known.
    """

    undecided = 0
    foreign = losses = emptied = ()

    def __init__(self, path: Path, span: Span | None = None, most: int | None = None) -> None:
        """Open the file. Reads the part of `span` that the file holds. most: as for `LogFile`."""
        self.file = LogFile(path, most)
        header, self.span = self.file.header, span or Span()
        self.prefix, self.partitions, self.has_records = header.prefix, header.partitions, header.records
        self.begins = max(header.first, self.span.first)
        self.ends = header.last if self.span.last is None else min(header.last, self.span.last)
        self.expected: list[bytes] = []
        """The bodies of the records with the states that a test expects; complete once all steps are read."""
        self._eras = {int(partition): msgspec.convert(eras, list[Era]) for partition, eras in header.eras.items()}
        self._purged = frozenset(one for one in header.purged if self.span.first <= one <= self.ends)
        self.erased, self.purged = 0, len(self._purged)
        self._items = self.file.items()
        self._held: EventItem | None = None
        self._root = "" if self.span.root is None else f"{quote(self.span.root)}."
        if self.begins > header.first and not self.has_records:
            raise NoRecords(name=path, problem=f"a replay cannot begin at event {self.begins}")

    async def initial(self) -> AsyncIterator[Record]:
        """See `RecordedLog.initial`."""
        for record in self.read_initial():
            yield record

    async def steps(self) -> AsyncIterator[RecordedStep]:
        """See `RecordedLog.steps`."""
        for step in self.read_steps():
            yield step

    def read_initial(self) -> Iterator[Record]:
        """The states at the beginning of the file, and the records before `span`."""
        for item in self._items:
            if isinstance(item, EventItem):
                if item.sequence >= self.begins:
                    self._held = item
                    return
            elif isinstance(item, StateItem | RecordItem):
                record = read(Message("state", item.body))
                if is_under(record, self.span.root):
                    yield record
            else:
                self.expected.append(item.body)

    def read_steps(self) -> Iterator[RecordedStep]:
        """The events, each with its records. From a damaged file it yields all complete steps before it raises."""
        event, messages = self._held, list[Message]()
        damage: LogFileDamaged | None = None
        try:
            for item in self._items:
                if isinstance(item, RecordItem):
                    messages.append(Message(item.subject, item.body))
                    continue
                if event is not None and self._is_wanted(event):
                    yield from self._steps(event, messages)
                event, messages = self._next(item), []
        except LogFileDamaged as error:
            damage = error
        # The last event before the damage may lack records.
        if event is not None and self._is_wanted(event) and not (damage and self.has_records):
            yield from self._steps(event, messages)
        if damage is not None:
            raise damage

    def _next(self, item: Item) -> EventItem | None:
        if isinstance(item, ExpectedItem):
            self.expected.append(item.body)
        return item if isinstance(item, EventItem) else None

    def _is_wanted(self, event: EventItem) -> bool:
        return event.sequence <= self.ends and event.address.startswith(self._root)

    def _steps(self, event: EventItem, messages: list[Message]) -> Iterator[RecordedStep]:
        """An event with its records, and then the records of erased events that stand behind them."""
        self.purged -= event.sequence in self._purged
        gone: list[Message] = []
        while messages and cause_of(messages[-1].body, event.sequence) != event.sequence:
            erased, _ = part_erased(messages[-1:], self._purged)
            if not erased:
                break
            gone.append(messages.pop())
        yield self._step(event, messages)
        for message in reversed(gone):
            self.erased += is_of_secret(message)
            record = read(message)
            if is_under(record, self.span.root):
                partition = partition_of_id(entity_of(record)[1], self.partitions)
                yield RecordedStep(partition, None, [message], is_erased=True)

    def _step(self, event: EventItem, messages: list[Message]) -> RecordedStep:
        partition = partition_of(event.address.partition(".")[0], self.partitions)
        subject = f"{self.prefix}.{'due' if event.timer else 'inbox'}.{partition}.{event.address}"
        records = [Message(self._full_subject(message.subject, partition), message.body) for message in messages]
        block = COPY if event.copied else event.headers.encode("latin-1") or None
        stored = StoredEvent(subject, event.data, event.sequence, event.time_ns, block)
        return RecordedStep(partition, stored, records, in_force(self._eras.get(partition, []), event.sequence))

    def _full_subject(self, short: str, partition: int) -> str:
        branch = "mark" if short.startswith("transition.mark.") else "log"
        return f"{self.prefix}.{branch}.{partition}.{short}"
