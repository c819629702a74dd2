"""The watch of several cells: their records as they come, and the places from which it can be continued.

Belongs here: `CellsWatch`. Does not: waiting for cells (`merging`), the watch of one installation
(`phaseline.engine.log.watch`).
"""

import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from typing import Generic, Self, TypeVar, cast

from phaseline.engine.cells.merging import Connect, Merged
from phaseline.engine.cells.one_cell import CellRecord, Told
from phaseline.engine.client.client import Client
from phaseline.engine.log.watch import Watch
from phaseline.engine.log.when import NOW, When
from phaseline.schemas.records import Rejection, Transition, timestamp

R = TypeVar("R", bound=Transition | Rejection)
Begun = Callable[[Client, When], Watch[R]]
"""Begins the watch of one cell."""


class CellsWatch(Generic[R]):
    """An iterator over the records of all cells: `async with cells.watch() as watch`, `async for one in watch`.

    The records of a cell come once each and in the order of its log, through reconnects too. A cell that cannot be read
    at the beginning joins when it can be, from where it would have begun. `places` says where to continue.
    """

    def __init__(
        self, names: Sequence[str], connect: Connect, begun: Begun[R], starts: Mapping[str, When], *,
        late: Collection[str], follow: bool, told: Told,
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

    async def _read(self, name: str, client: Client) -> AsyncIterator[CellRecord[R]]:
        """The records of a cell, after those that were read before."""
        if self._next[name] == NOW:
            self._next[name] = self._places[name] = (await client.moment(NOW)).place + 1
        async with self._begun(client, self._next[name]) as watch:
            while found := await watch.batch():
                for one in found:
                    self._next[name] = one.sequence + 1
                    yield CellRecord(name, one.sequence, cast("R", one.record), one.body)
