"""Reading the log for requests: a few read at once, each caller in turn, and who pauses lets others read.

A reader of the log holds messages that it has read ahead. A client that takes its answer slowly, or not at all, would
let them lie in memory; so its reader is closed, and opened again where it stood.
Belongs here: `LogPlaces`, `LogReading`. Does not: what is read (`replay`), the readers (`engine.log`).
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple, Self

from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log import Log
from phaseline.engine.nats.reader import Stored
from phaseline.engine.nats.stream_reader import StreamReader
from phaseline.engine.surfaces.http.away import Pulse, unless_away
from phaseline.schemas.errors import NoAnswer

AT_ONCE, WAITING = 3, 32
"""How many read the log at the same time; how many requests wait for that. Streams have seats, and wait."""
OF_ONE = 2
"""How many of them are of one caller."""
PATIENCE, PAUSE = 10.0, 1.0
"""Seconds that one waits for its turn; seconds without taking anything after which the turn is over."""


class _Turn(NamedTuple):
    """What waits for its turn. who: the caller. begins: is done when it may read, or must go."""

    who: str
    is_seated: bool
    begins: "asyncio.Future[None]"


class LogPlaces:
    """Lets `AT_ONCE` read the log at the same time, `OF_ONE` of one caller. Who has the fewest turns is next.

    So nobody waits until another caller has all that it asked for.
    """

    def __init__(self) -> None:
        self._reading = Counter[str]()
        """How many turns each caller has."""
        self._waiting = list[_Turn]()

    @asynccontextmanager
    async def taken(self, who: str) -> AsyncIterator[None]:
        """Read for a caller while the block runs; raises `NoAnswer.server_full`."""
        await self.take(who, is_seated=False)
        try:
            yield
        finally:
            self.give_back(who)

    async def take(self, who: str, *, is_seated: bool) -> None:
        """Wait for a turn of a caller; raises `NoAnswer.server_full`. is_seated: whether it is for a stream."""
        if not is_seated:
            self._make_room(who)
        turn = _Turn(who, is_seated, asyncio.get_running_loop().create_future())
        self._waiting.append(turn)
        self._go_on()
        try:
            async with asyncio.timeout(PATIENCE):
                await turn.begins
        except BaseException as error:
            if turn in self._waiting:
                self._waiting.remove(turn)
            elif turn.begins.done() and not turn.begins.cancelled() and turn.begins.exception() is None:
                self.give_back(who)  # its turn began in this moment
            if isinstance(error, TimeoutError):
                raise _full() from None
            raise

    def give_back(self, who: str) -> None:
        """Let somebody else read."""
        self._reading[who] -= 1
        self._reading = +self._reading
        self._go_on()

    def _go_on(self) -> None:
        """Let those begin for whom there is a place."""
        while self._reading.total() < AT_ONCE:
            able = [one for one in self._waiting if self._reading[one.who] < OF_ONE and not one.begins.done()]
            if not able:
                return
            turn = min(able, key=lambda one: self._reading[one.who])
            self._waiting.remove(turn)
            self._reading[turn.who] += 1
            turn.begins.set_result(None)

    def _make_room(self, who: str) -> None:
        """Where too many wait, let the last request go of the caller that has most; raises if that is this one."""
        waiting = [one for one in self._waiting if not one.is_seated and not one.begins.done()]
        if len(waiting) < WAITING:
            return
        most, number = Counter(one.who for one in waiting).most_common(1)[0]
        if number <= sum(one.who == who for one in waiting) + 1:
            raise _full()
        last = next(one for one in reversed(waiting) if one.who == most)
        self._waiting.remove(last)
        last.begins.set_exception(_full())


def _full() -> NoAnswer:
    return NoAnswer.server_full(what="requests that read the log")


class LogReading:
    """Reads records of the log after a place: `async with LogReading(...) as reading: await reading.take(100)`."""

    def __init__(
        self, installation: Installation, pulse: Pulse, places: LogPlaces, filters: list[str], after: int, *,
        who: str, is_seated: bool,
    ) -> None:  # fmt: skip
        """Reads nothing yet. who: the caller. is_seated: whether it is for a stream, which has a seat."""
        self._who, self._is_seated = who, is_seated
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
        await self._places.take(self._who, is_seated=self._is_seated)
        reader = Log(self._installation).reader(self._filters, self._after + 1)
        try:
            async with unless_away(self._pulse):
                await reader.__aenter__()
        except BaseException:
            self._places.give_back(self._who)
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
                self._places.give_back(self._who)
                await reader.__aexit__(None, None, None)
