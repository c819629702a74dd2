"""Watching which entities are in a class for long enough: the states at the beginning, then the log, and the clock.

While the log is read that was there at the start, time is that of its records. After that it is that of this process,
as long as the server can be reached: nobody knows what has ended meanwhile.
Belongs here: `DwellWatch`. Does not: who has been in a class for how long (`dwells`), reading records (`log.watch`).
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from phaseline.engine.log.log_records import Logged
from phaseline.engine.log.watch import Watch
from phaseline.engine.surfaces.overview.overview import Dwell
from phaseline.schemas import wire_codec
from phaseline.schemas.records import SECOND, Transition

if TYPE_CHECKING:
    from phaseline.engine.surfaces.overview.dwells import Dwells

SETTLE = 1.0
"""Seconds without a record after which no more is waited for those of an event that may have been left out."""
CATCHING_UP = 5.0
"""Seconds after a lost connection came back in which what was stored meanwhile is read before the clock counts."""
LOOK = 0.25
"""Seconds between two looks whether the clock counts."""


class FirstStates(NamedTuple):
    """The states at the beginning. place: what they show of the log at least. now_ns: when it is so."""

    records: AsyncIterator[Transition]
    place: int
    now_ns: int
    until: Callable[[], Awaitable[int]]
    """Asked when all are read: how far they show the log at most."""


class DwellSource(NamedTuple):
    """Where a `DwellWatch` reads. first: the states at the beginning. after: the records after a place."""

    first: Callable[[], Awaitable[FirstStates]]
    after: Callable[[int], Watch[Transition]]
    wire: Any


class DwellWatch:
    """An iterator over `Dwell`s: `async for dwell in watch`.

    What is in the class at the start counts as well. It comes at once if it has been so for long enough. `async with
    watch:` starts to read at once and ends with the block. Without it the watch starts when the first one is requested.
    """

    def __init__(self, source: DwellSource, dwells: "Dwells", *, follow: bool) -> None:
        """follow: whether to wait for further records at the end. dwells: goes on after its place, if it has one."""
        self._source, self._dwells, self._follow = source, dwells, follow
        self._found = deque[Dwell]()
        self._values: AsyncGenerator[list[Dwell], None] | None = None
        self._quiet_until = 0.0
        self._begun_ns = 0
        self._watch: Watch[Transition] | None = None
        self._batch: asyncio.Task[list[Logged]] | None = None
        self.over = False

    async def __aenter__(self) -> Self:
        await self._start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End the watch."""
        self.over = True
        self._found.clear()
        batch, watch, self._batch, self._watch = self._batch, self._watch, None, None
        if batch is not None:
            batch.cancel()
            await asyncio.gather(batch, return_exceptions=True)
        if watch is not None:
            await watch.close()
        if self._values is not None:
            with suppress(RuntimeError):  # somebody waits for the next one: it ends by itself
                await self._values.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Dwell:
        values = await self._start()
        while not self._found:
            if self.over:
                raise StopAsyncIteration
            self._found.extend(await anext(values))
        return self._found.popleft()

    async def _start(self) -> AsyncGenerator[list[Dwell], None]:
        """Read the states at the beginning, and begin to read the log, unless that is done."""
        if self._values is None:
            if self._dwells.place is None:
                await self._begin()
            self._watch = await self._source.after(self._dwells.place or 0).__aenter__()
            self._values = self._run(self._watch)
        return self._values

    async def _run(self, watch: Watch[Transition]) -> AsyncGenerator[list[Dwell], None]:
        dwells = self._dwells
        if first := [*dwells.due(self._begun_ns)]:
            yield first
        with ExitStack() as hooks:
            wire = self._source.wire
            hooks.callback(wire.on_disconnect(self._lost))
            hooks.callback(wire.on_reconnect(self._back))
            while not self.over:
                found = await self._next(watch)
                if found == []:
                    break
                told = [one for logged in found or () for one in _taken(dwells, logged)]
                if found is None and self._is_reached:
                    told += dwells.settle()
                if dwells.is_settled and self._clock_counts:
                    told += dwells.due(time.time_ns())
                if told:
                    yield told
        yield [*dwells.settle(), *dwells.due(time.time_ns())]
        self.over = True

    async def _begin(self) -> None:
        """Read the states at the beginning. What they tell comes when the log is read: an error must not swallow it."""
        dwells, first = self._dwells, await self._source.first()
        async for record in first.records:
            dwells.begin((record,))
        dwells.begun(first.place, await first.until())
        self._begun_ns = first.now_ns

    async def _next(self, watch: Watch[Transition]) -> list[Logged] | None:
        """The next records; an empty list at the end, None if there is something to do before the next one comes."""
        batch = self._batch = self._batch or asyncio.create_task(watch.batch())
        await asyncio.wait({batch}, timeout=self._patience())
        if not batch.done():
            return None
        self._batch = None
        return [] if batch.cancelled() else batch.result()

    @property
    def _clock_counts(self) -> bool:
        """Whether all is read that was stored until now, as far as is known."""
        return self._is_reached and self._watch is not None and self._watch.caught_up

    @property
    def _is_reached(self) -> bool:
        """Whether the server is connected, and has been for long enough since it was not."""
        return time.monotonic() >= self._quiet_until

    def _patience(self) -> float | None:
        """How many seconds to wait for a record until something else is to be done; None: as long as it takes."""
        if not self._dwells.is_settled:
            return SETTLE
        due = self._dwells.next_due
        if due is None:
            return None
        return max(0.0 if self._clock_counts else LOOK, (due - time.time_ns()) / SECOND)

    def _lost(self) -> None:
        self._quiet_until = float("inf")

    def _back(self) -> None:
        self._quiet_until = time.monotonic() + CATCHING_UP


def _taken(dwells: "Dwells", logged: Logged) -> list[Dwell]:
    """What a record tells."""
    if not isinstance(logged.record, Transition):
        return []
    return [*dwells.take(logged.sequence, logged.record, wire_codec.numbered(logged.body))]
