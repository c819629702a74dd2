"""Reads what an installation has recorded from its streams, while it keeps working.

Belongs here: reading EVENTS and LOG side by side, one partition each in step. Does not: using what is read (`audit`,
`whatif`, `exporting`). It reads what is there when it begins, and holds some thousand messages at most.
"""

from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from typing import Any, Self

from phaseline.engine.core.message import Message
from phaseline.engine.jetstream.direct_get import last_message
from phaseline.engine.jetstream.reader import BUFFER, Reader, Stored
from phaseline.engine.log import checkpoint, table_eras
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log_records import event_at
from phaseline.engine.log.table_eras import Era, decided_by
from phaseline.engine.replay.recorded_log import RecordedStep, Span, read
from phaseline.schemas import codec
from phaseline.schemas.records import Record, nanoseconds
from phaseline.schemas.subjects import SHORTENED, quote


class Head:
    """The log of one partition, one record at a time. `cause`: the next one's, None at the end of what was there."""

    def __init__(self, reader: Reader, wanted: Callable[[str], bool]) -> None:
        """`wanted`: whether a subject is one of the records that are asked for; all else is passed over."""
        self._reader, self._wanted = reader, wanted
        self._held: deque[Stored] = deque()
        self._next: Message | None = None
        self.cause: int | None = None

    async def advance(self) -> Message | None:
        """The next message; goes on to the one after it."""
        found = self._next
        while True:
            if not self._held:
                self._held.extend([] if self._reader.caught_up else await self._reader.take(BUFFER))
            if not self._held:
                if not self._reader.caught_up:
                    continue
                self._next = self.cause = None
                return found
            stored = self._held.popleft()
            if self._wanted(stored.subject):
                self._next = Message(stored.subject, stored.data)
                self.cause = cause_of(stored.data, self.cause or 0)
                return found

    async def take_up_to(self, sequence: int) -> list[Message]:
        """The messages whose cause is at most `sequence`."""
        found = []
        while self.cause is not None and self.cause <= sequence:
            message = await self.advance()
            if message is not None:
                found.append(message)
        return found


def cause_of(body: bytes, otherwise: int) -> int:
    """The sequence of the event that made a record, read no further than its id; `otherwise` where it is no record."""
    try:
        return int(str(codec.peek(body, "id")).partition("-")[0])
    except ValueError:
        return otherwise


class ServerLog:
    """`async with ServerLog.open(installation, span) as log:` gives a `RecordedLog`."""

    def __init__(self, installation: Installation, span: Span, *, records: bool) -> None:
        """Nothing is read yet."""
        self.installation, self.span, self.recorded = installation, span, records
        self.prefix, self.partitions = installation.prefix, installation.layout.partitions
        self.undecided = 0
        self.begins, self.ends = 1, 0
        self.eras: dict[int, list[Era]] = {}
        """Which tables decided what, by partition."""
        self._decided: dict[int, int] = {}
        self._heads: dict[int, Head] = {}
        self._stalled: set[int] = set()
        """Partitions whose next event is undecided, and so all after it."""

    @classmethod
    @asynccontextmanager
    async def open(cls, installation: Installation, span: Span, *, records: bool = True) -> AsyncIterator[Self]:
        """Find out what is there, and begin to read. records: with the records of the events; without, undecided ones too."""
        log = cls(installation, span, records=records)
        await log._measure()
        async with AsyncExitStack() as stack:
            for partition in log._own_partitions() if records or log.begins > 1 else ():
                # One filter, whatever is wanted of it: with several the server is slow where there are many subjects.
                reader = Reader(installation.wire, installation.layout.log, [f"{log.prefix}.*.{partition}.>"])
                head = Head(await stack.enter_async_context(reader), log._wants(partition))
                await head.advance()
                log._heads[partition] = head
            yield log

    async def _measure(self) -> None:
        wire, layout, subjects = self.installation.wire, self.installation.layout, self.installation.subjects
        held = (await wire.api(f"STREAM.INFO.{layout.events}"))["state"]
        self.begins = max(self.span.first, int(held["first_seq"]), 1)
        self.ends = min(int(held["last_seq"]), int(held["last_seq"]) if self.span.last is None else self.span.last)
        # First how far it is decided, then the log: so all that is decided by then is in what is read.
        for partition in self._own_partitions():
            mark = await last_message(wire, layout.log, subjects.checkpoint(partition))
            self._decided[partition] = checkpoint.decode(mark.data).position if mark else 0
            self.eras[partition] = await table_eras.eras(self.installation, partition)

    async def initial_messages(self) -> AsyncIterator[Message]:
        """The log's messages of all events before the first one that is read."""
        for head in self._heads.values():
            for message in await head.take_up_to(self.begins - 1):
                yield message

    async def initial(self) -> AsyncIterator[Record]:
        """The same, as records."""
        async for message in self.initial_messages():
            yield read(message)

    async def steps(self) -> AsyncIterator[RecordedStep]:
        """Event by event, with its records; then the records that are left over."""
        root, place = self.span.root, self.prefix.count(".") + 2
        inbox = [] if root is None else [f"{self.prefix}.*.{self._own_partitions()[0]}.{quote(root)}.>"]
        async with Reader(self.installation.wire, self.installation.layout.events, inbox, self.begins) as events:
            async for event in _up_to(events, self.ends):
                partition = int(event.subject.split(".", place + 1)[place])
                if not self.recorded:
                    yield RecordedStep(partition, event, [])
                elif (messages := await self._messages(partition, event)) is None:
                    self.undecided += 1
                else:
                    yield RecordedStep(partition, event, messages, decided_by(self.eras[partition], event.sequence))
        for partition, head in self._heads.items() if self.recorded else ():
            if partition not in self._stalled and (left := await head.take_up_to(self.ends)):
                yield RecordedStep(partition, None, left)

    async def _messages(self, partition: int, event: Stored) -> list[Message] | None:
        """What the event made, or None where it is not decided yet."""
        head = self._heads[partition]
        messages = await head.take_up_to(event.sequence)
        if head.cause is None and event.sequence > self._decided[partition] and not _is_whole(messages):
            self._stalled.add(partition)
        return None if partition in self._stalled else messages

    def _own_partitions(self) -> Sequence[int]:
        root = self.span.root
        return range(self.partitions) if root is None else [self.installation.partition_of(root)]

    def _wants(self, partition: int) -> Callable[[str], bool]:
        """Which subjects are records: all of them, or those under the tree."""
        place = f"{self.prefix}.log.{partition}"
        starts = (f"{place}.transition.", f"{place}.rejection.", f"{self.installation.subjects.marks(partition)}.")
        if self.span.root is None:
            return lambda subject: subject.startswith(starts)
        token = quote(self.span.root)
        # What stands before the root: kind, facet and state; kind and reason; kind. Rejections shorten long names.
        shapes = tuple(zip(starts, (3, 2, 1), (token, token[:SHORTENED], token), strict=True))

        def under(subject: str) -> bool:
            for start, depth, root in shapes:
                if subject.startswith(start):
                    return subject[len(start) :].split(".", depth + 1)[depth] == root
            return False

        return under


def _is_whole(messages: list[Message]) -> bool:
    """Whether these are all that the event of the last one made: a large cascade may be on its way in."""
    if not messages:
        return False
    body: dict[str, Any] = codec.decode(messages[-1].body)
    return int(body["id"].partition("-")[2]) + 1 == int(body["data"]["cause"]["records"])


async def _up_to(reader: Reader, last: int) -> AsyncIterator[Stored]:
    while not reader.caught_up:
        for stored in await reader.take(BUFFER):
            if stored.sequence > last:
                return
            yield stored


async def first_event_after(installation: Installation, moment: datetime) -> int:
    """The sequence of the first event stored at `moment` or later; one more than the last where there is none."""
    wire, events = installation.wire, installation.layout.events
    info = await wire.api(f"STREAM.INFO.{events}")
    async with Reader(wire, events, [], moment.astimezone().isoformat()) as reader:
        if not reader.caught_up and (found := await reader.take(1)):
            return found[0].sequence
    return int(info["state"]["last_seq"]) + 1


async def moment_of(log: ServerLog, sequence: int) -> int:
    """When an event was stored, ns; 0 where there is none."""
    kept = await event_at(log.installation, sequence) if sequence else None
    return 0 if kept is None else nanoseconds(kept.time)
