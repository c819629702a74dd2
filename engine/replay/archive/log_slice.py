"""A slice of a log: the events of a range of positions, each with its records, from the streams, as items of a file.

Belongs here: reading EVENTS and LOG side by side for this, and what is learnt on the way. Does not: writing the items
(`write_parts`), deciding how far the slice reaches (`cut`).
All events of the slice must be decided. An event with a raw Secret is left out, like one that was erased.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Self

from phaseline.engine.core.message import Message
from phaseline.engine.log.foreign import barrier
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log_records import change_of
from phaseline.engine.nats import frames
from phaseline.engine.nats.direct_get import last_sequence
from phaseline.engine.nats.erase import SOURCE
from phaseline.engine.nats.reader import Stored
from phaseline.engine.nats.stream_reader import read_all
from phaseline.engine.replay.export_log import event_item, short_subject
from phaseline.engine.replay.log_format import Item, RecordItem
from phaseline.engine.replay.recorded_log import Span, is_of_secret, part_erased
from phaseline.engine.replay.server_log import LogCursor, ServerLog


def records_of(subject: str, prefix: str) -> bool:
    """Whether a subject of LOG is that of a transition, a rejection or a mark."""
    branch, _, rest = subject[len(prefix) + 1 :].partition(".")
    kinds = {"log": ("transition.", "rejection."), "mark": ("transition.mark.",)}.get(branch)
    return kinds is not None and rest.partition(".")[2].startswith(kinds)


class LogSlice:
    """The events from `first` to `last`: `async with LogSlice.open(installation, first, last, after) as found`."""

    def __init__(self, log: ServerLog, end: int, after: int) -> None:
        """end: the last place of the log. after: see `open`."""
        self.installation, self.first, self.last = log.installation, log.span.first, log.ends
        self.eras, self.purged = log.eras, log.purged_positions
        self.sources: dict[str, int] = {}
        """For each stream from which EVENTS copied, the position of the last copy in the slice."""
        self.observed = 0
        """The position of the last event in the slice that LIVE copies."""
        self._copied = [one.part for one in log.installation.kinds.copies.values()]
        self.begins = log.begins
        """The first event of the slice that EVENTS still holds."""
        self._end, self._after = end, after
        self._cursors: dict[int, LogCursor] = {}

    @classmethod
    @asynccontextmanager
    async def open(cls, installation: Installation, first: int, last: int, after: int) -> AsyncIterator[Self]:
        """Begin to read.

        after: the last place of what was archived before. Tables may change after the last event that was archived;
        the records of that change name this event, and belong to the slice.
        """
        behind = await barrier(installation.wire, installation.layout)
        end = await last_sequence(installation.wire, installation.layout.log)
        log = await ServerLog.measured(installation, Span(first=first, last=last))
        found = cls(log, end, after)
        async with AsyncExitStack() as stack:
            for partition in log.own_partitions():
                found._cursors[partition] = await log.cursor(stack, partition, behind=behind)
            yield found

    async def before(self) -> AsyncIterator[Stored]:
        """The records of all events before the slice, as far as they are not of it. Read them first."""
        for cursor in self._cursors.values():
            while cursor.cause is not None and cursor.cause < self.first and cursor.place <= self._after:
                found = await cursor.advance()
                if found is not None:
                    yield found

    async def events(self) -> AsyncIterator[Stored]:
        """The events in the order of positions."""
        events = self.installation.layout.events
        async for slice_ in read_all(self.installation.wire, events, [], self.first, self.last):
            for event in slice_:
                self._notice(event)
                yield event

    def _notice(self, event: Stored) -> None:
        if any(part in event.subject for part in self._copied):
            self.observed = event.sequence
        if event.block is not None and SOURCE.encode() in event.block:
            name = frames.read_headers(event.block)[SOURCE].partition(" ")[0]
            self.sources[name] = event.sequence

    async def items(self, event: Stored) -> list[Item]:
        """An event with its records; before it the records of erased events. Ask for each event, in their order."""
        cursor = self._cursors[int(event.subject[len(self.installation.prefix) + 1 :].split(".", 2)[1])]
        found = await cursor.take_up_to(event.sequence)
        early, own = found[: cursor.earlier], found[cursor.earlier :]
        gone, others = self._part(early)
        if any(is_of_secret(Message(one.subject, one.data)) for one in own):
            return [*gone, *map(self.record, own), *others]
        return [*gone, event_item(self.installation.prefix, event), *others, *map(self.record, own)]

    async def left(self, last: int) -> list[Item]:
        """The records up to the event `last` that were not read with an event, because theirs was erased."""
        return [self.record(one) for cursor in self._cursors.values() for one in await cursor.take_up_to(last)]

    def _part(self, early: Sequence[Stored]) -> tuple[list[Item], list[Item]]:
        """The records of events that are missing: those of erased events and of changes of tables, and all others."""
        if not early:
            return [], []
        erased, _ = part_erased([Message(one.subject, one.data) for one in early], self.purged)
        bodies = {message.body for message in erased}.union(one.data for one in early if change_of(one.data))
        gone = [self.record(one) for one in early if one.data in bodies]
        return gone, [self.record(one) for one in early if one.data not in bodies]

    def record(self, stored: Stored) -> Item:
        """A record as an item."""
        short = short_subject(self.installation.prefix, stored.subject)
        return RecordItem(short, stored.data, stored.sequence, stored.time_ns)

    @property
    def settled(self) -> int:
        """The place up to which LOG holds no record of a later event. Ask for it once all events were read."""
        following = [cursor.place for cursor in self._cursors.values()]
        return min((place for place in following if place), default=self._end + 1) - 1
