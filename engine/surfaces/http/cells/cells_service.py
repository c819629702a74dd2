"""A service for each cell, and which of them have states to answer from.

Belongs here: `CellsService`. Does not: what one installation answers (`http.service`).
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from phaseline.engine.settings import DEFAULT_HISTORY, Settings
from phaseline.engine.surfaces.http.service import Service, running
from phaseline.engine.surfaces.http.traffic import Traffic
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.errors import NoAnswer

if TYPE_CHECKING:
    from phaseline.engine.surfaces.http.links import Link


class CellsService:
    """The services of all cells, by name. `running_cells` starts them."""

    def __init__(self, cells: Mapping[str, Service], kinds: Kinds) -> None:
        """kinds: the tables, which are the same for all."""
        self.cells, self._kinds = cells, kinds
        self.description = b"{}"
        """The description of the API, as JSON."""
        self.traffic = Traffic()
        self.links: Sequence[Link] = ()
        for one in cells.values():
            one.traffic.join(self.traffic)

    @property
    def kinds(self) -> Kinds:
        """The tables."""
        return self._kinds

    @property
    def tables(self) -> bytes:
        """The tables of all kinds, as JSON."""
        return next(iter(self.cells.values())).tables

    async def present(self) -> int | None:
        """None: each cell has a place of its own."""
        return None

    @asynccontextmanager
    async def reachable(self) -> AsyncIterator[None]:
        """Ends the block with `NatsUnreachable` if it waits for a cell whose NATS is away."""
        async with AsyncExitStack() as stack:
            for one in self.cells.values():
                await stack.enter_async_context(one.reachable())
            yield

    def loaded(self) -> dict[str, Service]:
        """Those that have states to answer from; raises `NoAnswer.still_loading` if none has."""
        found = {name: one for name, one in self.cells.items() if one.problem is None}
        if not found:
            raise NoAnswer.still_loading(entities=0, place=0)
        return found

    def close(self) -> None:
        """Let all streams end."""
        for one in self.cells.values():
            one.close()


@asynccontextmanager
async def running_cells(
    cells: Mapping[str, Settings], kinds: Kinds, history: int = DEFAULT_HISTORY
) -> AsyncIterator[CellsService]:
    """A service for each cell while the block runs. One whose servers are away waits for them."""
    async with AsyncExitStack() as stack:
        made = {
            name: await stack.enter_async_context(running(settings, kinds, history)) for name, settings in cells.items()
        }
        yield CellsService(made, kinds)
