"""Reading the log for requests: a few read at once, and who pauses lets others read.

A reader of the log holds messages that it has read ahead. A client that takes its answer slowly, or not at all, would
let them lie in memory; so its reader is closed, and opened again where it stood.
Belongs here: `LogPlaces`, `LogReading`. Does not: what is read (`replay`), the readers (`engine.log`).
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Self

from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log import Log
from phaseline.engine.nats.reader import Stored
from phaseline.engine.nats.stream_reader import StreamReader
from phaseline.engine.surfaces.http.away import Pulse, unless_away
from phaseline.schemas.errors import NoAnswer

AT_ONCE, WAITING = 3, 32
"""How many read the log at the same time; how many requests wait for that. Streams have seats, and wait."""
PATIENCE, PAUSE = 10.0, 1.0
"""Seconds that one waits for its turn; seconds without taking anything after which the turn is over."""


class LogPlaces:
    """Lets `AT_ONCE` read the log at the same time."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(AT_ONCE)
        self._waiting = 0

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[None]:
        """Read while the block runs; raises `NoAnswer.server_full`."""
        await self.take(is_seated=False)
        try:
            yield
        finally:
            self.give_back()

    async def take(self, *, is_seated: bool) -> None:
        """Wait for a turn; raises `NoAnswer.server_full`. is_seated: whether it is for a stream."""
        if not is_seated and self._waiting >= WAITING:
            raise NoAnswer.server_full(what="requests that read the log")
        self._waiting += 1
        try:
            async with asyncio.timeout(PATIENCE):
                await self._free.acquire()
        except TimeoutError:
            raise NoAnswer.server_full(what="requests that read the log") from None
        finally:
            self._waiting -= 1

    def give_back(self) -> None:
        """Let somebody else read."""
        self._free.release()


class LogReading:
    """Reads records of the log after a place: `async with LogReading(...) as reading: await reading.take(100)`."""

    def __init__(
        self, installation: Installation, pulse: Pulse, places: LogPlaces, filters: list[str], after: int, *,
        is_seated: bool,
    ) -> None:  # fmt: skip
        """Reads nothing yet. is_seated: whether it is for a stream, which has a seat."""
        self._is_seated = is_seated
        self._installation, self._pulse, self._places = installation, pulse, places
        self._filters, self._after = filters, after
        self._reader: StreamReader | None = None
        self._using = asyncio.Lock()
        self._pause: asyncio.TimerHandle | None = None
        self._closing = set[asyncio.Task[None]]()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._close()

    async def take(self, limit: int) -> list[Stored] | None:
        """The next messages, at most `limit`; None at the end. Raises `NoAnswer` if NATS is away for long meanwhile."""
        self._stop_pause()
        async with self._using:
            reader = self._reader or await self._opened()
            if reader.caught_up:
                return None
            async with unless_away(self._pulse):
                taken = await reader.take(limit)
            self._after = taken[-1].sequence if taken else self._after
        self._stop_pause()
        self._pause = asyncio.get_running_loop().call_later(PAUSE, self._close_later)
        return taken

    async def _opened(self) -> StreamReader:
        await self._places.take(is_seated=self._is_seated)
        reader = Log(self._installation).reader(self._filters, self._after + 1)
        try:
            async with unless_away(self._pulse):
                await reader.__aenter__()
        except BaseException:
            self._places.give_back()
            raise
        self._reader = reader
        return reader

    def _stop_pause(self) -> None:
        if self._pause is not None:
            self._pause.cancel()
            self._pause = None

    def _close_later(self) -> None:
        task = asyncio.create_task(self._close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _close(self) -> None:
        self._stop_pause()
        async with self._using:
            reader, self._reader = self._reader, None
            if reader is not None:
                self._places.give_back()
                await reader.__aexit__(None, None, None)
