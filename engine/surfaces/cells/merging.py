"""Following all cells at once: the values of an iterator for each cell, as they come.

Belongs here: `Merged`, which waits for cells that cannot be read and says so; `CellsWatch`, their records, and the
places from which it can be continued. Does not: the watch of one installation (`phaseline.engine.log.watch`).
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from typing import Any, Generic, Self, TypeVar, cast

from phaseline.engine.log.watch import Watch
from phaseline.engine.log.when import NOW, When
from phaseline.engine.surfaces.cells.reading import (
    AwayListener,
    CellRecord,
    InCell,
    Make,
    is_of_the_request,
)
from phaseline.engine.surfaces.client.reading_client import ReadingClient, session_of
from phaseline.schemas.errors import NatsUnreachable, PhaselineError
from phaseline.schemas.records import Rejection, Transition, timestamp

RETRY = 1.0
"""Seconds between two tries to read a cell."""
HELD = 1_000
"""Values that wait to be taken. When there are so many, the cells are read no further."""

T = TypeVar("T")
R = TypeVar("R", bound=Transition | Rejection)
Connect = Callable[[str], Awaitable[ReadingClient]]
"""Gives the client of a cell, connected."""
Begun = Callable[[ReadingClient, When], Watch[R]]
"""Begins the watch of one cell."""


class Merged(Generic[T]):
    """The values of all cells: `async with Merged(...) as merged`, `async for cell, value in merged`.

    follow: whether to wait for a cell that cannot be read; without it, it is left out. told: is told of each.
    """

    def __init__(
        self, names: Sequence[str], connect: Connect, make: Make[T], *, follow: bool, told: AwayListener
    ) -> None:  # fmt: skip
        self._names, self._connect, self._make, self._follow, self._told = names, connect, make, follow, told
        self._values = asyncio.Queue[InCell[T] | Exception | None](HELD)
        self._tasks: list[asyncio.Task[None]] = []
        self._reading = 0
        self._away = set[str]()

    async def __aenter__(self) -> Self:
        self._tasks = [asyncio.create_task(self._run(name)) for name in self._names]
        self._reading = len(self._tasks)
        return self

    async def __aexit__(self, *_: object) -> None:
        tasks, self._tasks = self._tasks, []  # the errors of cancelled tasks lead back here
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> InCell[T]:
        while self._reading:
            found = await self._values.get()
            if isinstance(found, InCell):
                return found
            self._reading -= 1
            if found is not None:
                raise found
        raise StopAsyncIteration

    async def _run(self, name: str) -> None:
        """Read one cell to its end, or to an error that all of them would meet."""
        found = None
        try:
            has_ended = await self._read(name)
            while not has_ended:
                await asyncio.sleep(RETRY)
                has_ended = await self._read(name)
        except Exception as error:  # noqa: BLE001  # who takes the values gets it
            found = error
        await self._values.put(found)

    async def _read(self, name: str) -> bool:
        """Read a cell; whether that has ended."""
        try:
            client = await self._connect(name)
            session = session_of(client)
            await session.wire.until_connected(session.settings.request_timeout)
            await session.installation()
            with self._noticing(name, session.wire):
                await self._take(name, client)
        except PhaselineError as error:
            if is_of_the_request(error):
                raise
            self._tell(name, error)
            return not self._follow
        return True

    async def _take(self, name: str, client: ReadingClient) -> None:
        async with aclosing(self._make(name, client)) as values:  # type: ignore[type-var]  # all are generators
            async for value in values:
                await self._values.put(InCell(name, value))

    @contextmanager
    def _noticing(self, name: str, wire: Any) -> Iterator[None]:
        """Tell of each loss of the connection, and of its return."""
        self._tell(name, None)
        lost = NatsUnreachable(url=wire.settings.shown, cause="the connection is lost, and will be made again")
        hooks = [
            wire.on_disconnect(lambda: self._tell(name, lost)), wire.on_reconnect(lambda: self._tell(name, None))
        ]  # fmt: skip
        try:
            yield
        finally:
            for remove in hooks:
                remove()

    def _tell(self, name: str, error: PhaselineError | None) -> None:
        """Tell that a cell cannot be read, or that it can be read again; once each time."""
        if (error is not None) != (name in self._away):
            (self._away.discard if error is None else self._away.add)(name)
            self._told(name, error)


class CellsWatch(Generic[R]):
    """An iterator over the records of all cells: `async with cells.watch() as watch`, `async for one in watch`.

    The records of a cell come once each and in the order of its log, through reconnects too. A cell that cannot be read
    at the beginning joins when it can be, from where it would have begun. `places` says where to continue.
    """

    def __init__(
        self, names: Sequence[str], connect: Connect, begun: Begun[R], starts: Mapping[str, When], *,
        late: Collection[str], follow: bool, told: AwayListener,
    ) -> None:  # fmt: skip
        """starts: where each cell begins. late: the cells that could not be read just now."""
        now = timestamp(time.time_ns())
        self._begun = begun
        self._places = {name: now if when == NOW and name in late else when for name, when in starts.items()}
        self._next = dict(self._places)
        """Where the reading of each cell stands, which is ahead of what was handed out."""
        self._merged = Merged[CellRecord[R]](names, connect, self._read, follow=follow, told=told)

    @property
    def places(self) -> Mapping[str, When]:
        """By cell, where a watch begins that continues this one: `cells.watch(start=watch.places)`."""
        return dict(self._places)

    async def __aenter__(self) -> Self:
        await self._merged.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End the watch."""
        await self._merged.__aexit__()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> CellRecord[R]:
        found = (await self._merged.__anext__()).value
        self._places[found.cell] = found.place + 1
        return found

    async def _read(self, name: str, client: ReadingClient) -> AsyncIterator[CellRecord[R]]:
        """The records of a cell, after those that were read before."""
        if self._next[name] == NOW:
            self._next[name] = self._places[name] = (await client.moment(NOW)).place + 1
        async with self._begun(client, self._next[name]) as watch:
            while found := await watch.batch():
                for one in found:
                    self._next[name] = one.sequence + 1
                    yield CellRecord(name, one.sequence, cast("R", one.record), one.body)
