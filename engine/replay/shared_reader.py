"""One reader of LOG for all partitions, each of which gets its messages in order.

To find the messages of one partition the server looks at all of LOG. One reader lets it look once, and not once for
each partition.
Belongs here: who gets what was read, a bound on what is held. Does not: what the messages mean (`server_log`).
"""

from collections import deque
from contextlib import AsyncExitStack
from typing import Self

from phaseline.engine.nats.reader import BUFFER, Stored
from phaseline.engine.nats.stream_reader import StreamReader, reader_of
from phaseline.engine.nats.wire import Wire

ROOM = 32 << 20
"""Bytes that partitions hold of what was read for others, above which the next one that waits reads for itself."""


class SharedReader:
    """Reads LOG from its start, for some partitions: `async with SharedReader(...) as shared: shared.of(3)`."""

    def __init__(
        self, wire: Wire, log: str, prefix: str, share: int, *, room: int = ROOM, at_once: int = BUFFER
    ) -> None:
        """Read nothing yet. share: messages that a partition buffers which reads for itself.

        room: as `ROOM`. at_once: the most messages that are read at a time.
        """
        self._wire, self._log, self._prefix, self._share = wire, log, prefix, share
        self._room, self._at_once = room, at_once
        self._reader = reader_of(wire, log, [f"{prefix}.*.*.>"])
        self._readers: dict[str, PartitionReader] = {}
        self._opened = AsyncExitStack()
        self._held = self._last = 0
        """Bytes that partitions hold; the sequence of the last message that was read."""

    async def __aenter__(self) -> Self:
        """Begin to read."""
        await self._opened.enter_async_context(self._reader)
        return self

    async def __aexit__(self, *_: object) -> None:
        """End, also for those partitions that read for themselves."""
        await self._opened.aclose()

    @property
    def stream(self) -> str:
        """The name of the stream."""
        return self._log

    @property
    def caught_up(self) -> bool:
        """Whether all messages that were in the stream on entry have been read."""
        return self._reader.caught_up

    def of(self, partition: int) -> "PartitionReader":
        """What reads the messages of one partition. Ask for all of them before the first of them reads."""
        found = self._readers[str(partition)] = PartitionReader(self, partition)
        return found

    async def read(self) -> bool:
        """Read what comes next, for all partitions; whether that was done. It is not while they hold too much."""
        if self._held >= self._room:
            return False
        start = len(self._prefix) + 1
        for one in await self._reader.take(self._at_once):
            self._last = one.sequence
            reader = self._readers.get(one.subject[start:].split(".", 2)[1])
            if reader is not None and not reader.is_alone:
                reader.held.append(one)
                self._held += len(one.data)
        return True

    def given(self, messages: list[Stored]) -> None:
        """Note that a partition does not hold these messages any more."""
        self._held -= sum([len(one.data) for one in messages])

    async def alone(self, partition: int) -> StreamReader:
        """A reader of one partition, from where all have been read so far."""
        filters = [f"{self._prefix}.*.{partition}.>"]
        reader = reader_of(self._wire, self._log, filters, self._last + 1, room=self._share)
        return await self._opened.enter_async_context(reader)


class PartitionReader:
    """Reads the messages of one partition, as a `StreamReader` does. held: those that were read and not taken."""

    def __init__(self, shared: SharedReader, partition: int) -> None:
        self._shared, self._partition = shared, partition
        self.held: deque[Stored] = deque()
        self._own: StreamReader | None = None

    @property
    def is_alone(self) -> bool:
        """Whether it reads for itself: too much was held when it waited."""
        return self._own is not None

    @property
    def stream(self) -> str:
        """The name of the stream."""
        return self._shared.stream

    @property
    def caught_up(self) -> bool:
        """Whether all messages that were in the stream on entry have been taken."""
        return not self.held and (self._shared if self._own is None else self._own).caught_up

    async def take(self, limit: int) -> list[Stored]:
        """Wait for messages and return at most `limit`; an empty list where there is none left."""
        while not self.held:
            if self._own is not None:
                return [] if self._own.caught_up else await self._own.take(limit)
            if self._shared.caught_up:
                break
            if not await self._shared.read():
                self._own = await self._shared.alone(self._partition)
        found = [self.held.popleft() for _ in range(min(limit, len(self.held)))]
        self._shared.given(found)
        return found
