"""Following all cells at once: the values of an iterator for each cell, as they come.

Belongs here: `Merged`, which waits for cells that cannot be read and says so. Does not: what is read of a cell
(`cells_watch`).
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from typing import Any, Generic, Self, TypeVar

from phaseline.engine.cells.one_cell import InCell, Told, is_of_the_request, while_connected
from phaseline.engine.cells.reading import Make
from phaseline.engine.client.client import Client
from phaseline.schemas.errors import NatsUnreachable, PhaselineError

RETRY = 1.0
"""Seconds between two tries to read a cell."""
HELD = 1_000
"""Values that wait to be taken. When there are so many, the cells are read no further."""

T = TypeVar("T")
Connect = Callable[[str], Awaitable[Client]]
"""Gives the client of a cell, connected."""


class Merged(Generic[T]):
    """The values of all cells: `async with Merged(...) as merged`, `async for cell, value in merged`.

    follow: whether to wait for a cell that cannot be read; without it, it is left out. told: is told of each.
    """

    def __init__(
        self, names: Sequence[str], connect: Connect, make: Make[T], *, follow: bool, told: Told
    ) -> None:  # fmt: skip
        """Nothing is read yet."""
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
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

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
            session = client._session  # noqa: SLF001  # the cells are the client's other half
            await session.wire.until_connected(session.settings.request_timeout)
            await session.installation()
            with self._noticing(name, session.wire):
                taking = self._take(name, client)
                await (taking if self._follow else while_connected(client, taking))
        except PhaselineError as error:
            if is_of_the_request(error):
                raise
            self._tell(name, error)
            return not self._follow
        return True

    async def _take(self, name: str, client: Client) -> None:
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
