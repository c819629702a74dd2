"""What a log as a file recorded.

Belongs here: items of a file made into what replay reads. Does not: the file itself (`logfile`).
"""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import msgspec

from phaseline.engine.core.message import Message
from phaseline.engine.errors import LogFileDamaged, NoRecords
from phaseline.engine.log.table_eras import Era, decided_by
from phaseline.engine.replay.log_file import LogFile
from phaseline.engine.replay.log_format import EventItem, ExpectedItem, Item, RecordItem, StateItem
from phaseline.engine.replay.recorded_log import RecordedStep, Span, StoredEvent, is_under, read
from phaseline.schemas.records import Record
from phaseline.schemas.subjects import partition_of, quote


class FileLog:
    """A `RecordedLog` out of a file; raises as `LogFile` does, and `NoRecords` where a part needs what came before it."""

    undecided = 0

    def __init__(self, path: Path, span: Span | None = None) -> None:
        """Open it; of `span` what is in the file."""
        self.file = LogFile(path)
        header, self.span = self.file.header, span or Span()
        self.prefix, self.partitions, self.recorded = header.prefix, header.partitions, header.records
        self.begins = max(header.first, self.span.first)
        self.ends = header.last if self.span.last is None else min(header.last, self.span.last)
        self.expected: list[bytes] = []
        """The bodies of the records that tell what a test expects, once all is read."""
        self._eras = {int(partition): msgspec.convert(found, list[Era]) for partition, found in header.eras.items()}
        self._items = self.file.items()
        self._held: EventItem | None = None
        self._root = "" if self.span.root is None else f"{quote(self.span.root)}."
        if self.begins > header.first and not self.recorded:
            raise NoRecords(name=path, problem=f"it cannot be begun at event {self.begins}")

    async def initial(self) -> AsyncIterator[Record]:
        """As `RecordedLog` has it."""
        for record in self.read_initial():
            yield record

    async def steps(self) -> AsyncIterator[RecordedStep]:
        """As `RecordedLog` has it."""
        for step in self.read_steps():
            yield happened

    def read_initial(self) -> Iterator[Record]:
        """The states at the beginning, and the records up to where `span` begins."""
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
        """Event by event. Of a damaged file all that is whole, before the error comes."""
        event, messages = self._held, list[Message]()
        damage: LogFileDamaged | None = None
        try:
            for item in self._items:
                if isinstance(item, RecordItem):
                    messages.append(Message(item.place, item.body))
                    continue
                if event is not None and self._is_wanted(event):
                    yield self._made(event, messages)
                event, messages = self._next(item), []
        except LogFileDamaged as error:
            damage = error
        # The last event before the damage may lack records.
        if event is not None and self._is_wanted(event) and not (damage and self.recorded):
            yield self._made(event, messages)
        if damage is not None:
            raise damage

    def _next(self, item: Item) -> EventItem | None:
        if isinstance(item, ExpectedItem):
            self.expected.append(item.body)
        return item if isinstance(item, EventItem) else None

    def _is_wanted(self, event: EventItem) -> bool:
        return event.sequence <= self.ends and event.address.startswith(self._root)

    def _made(self, event: EventItem, messages: list[Message]) -> RecordedStep:
        partition = partition_of(event.address.partition(".")[0], self.partitions)
        subject = f"{self.prefix}.{'due' if event.timer else 'inbox'}.{partition}.{event.address}"
        found = [Message(self._subject(message.subject, partition), message.body) for message in messages]
        stored = StoredEvent(subject, event.data, event.sequence, event.time_ns)
        return RecordedStep(partition, stored, found, decided_by(self._eras.get(partition, []), event.sequence))

    def _subject(self, place: str, partition: int) -> str:
        branch = "mark" if place.startswith("transition.mark.") else "log"
        return f"{self.prefix}.{branch}.{partition}.{place}"
