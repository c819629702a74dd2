"""One installation and several cells behind one interface: what it gives has an origin, and it names who is missing.

Belongs here: `Reading`, for one installation. Does not: the same for several cells (`cells`), who reads by it.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from phaseline.engine.cells.one_cell import CellRecord, InCell, Told
from phaseline.engine.cells.places import Places
from phaseline.engine.client.client import Client
from phaseline.engine.log.watch import Watch
from phaseline.schemas.errors import PhaselineError

T = TypeVar("T")
Make = Callable[[str, Client], AsyncIterator[T]]
"""Gives the values of an installation, by its origin. It is called again after an error that ended them."""


class Reading:
    """One installation. The origin of what it gives is empty."""

    def __init__(self, client: Client) -> None:
        """Read by this client."""
        self._client = client

    @property
    def away(self) -> Mapping[str, PhaselineError]:
        """Who is missing in the answers, with the reason. An installation that is read alone raises it instead."""
        return {}

    async def clients(self) -> Mapping[str, Client]:
        """The clients of those that can be read, by origin."""
        return {"": self._client}

    async def each(self, read: Callable[[Client], Coroutine[Any, Any, T]]) -> Sequence[InCell[T]]:
        """What each of those answers that can be read."""
        return [InCell("", await read(self._client))]

    async def follow(self, make: Make[T], told: Told) -> AsyncIterator[InCell[T]]:  # noqa: ARG002  # it raises instead
        """The values that `make` gives for each, as they come. told: is told who is missing, and who is back."""
        async for value in make("", self._client):
            yield InCell("", value)

    def watch(
        self, kind: str | None, told: Told, *, start: Any, **which: Any  # noqa: ARG002  # as above
    ) -> AsyncGenerator[list[CellRecord[Any]], None]:  # fmt: skip
        """The records of each, as many at a time as are there. which: as `Client.watch` takes it."""
        return records_of(self._client.watch(kind, start=start, **which))

    @property
    def places(self) -> Places:
        """By origin, where another watch continues the last one; empty where each record says it."""
        return {}


async def records_of(watch: Watch[Any]) -> AsyncGenerator[list[CellRecord[Any]], None]:
    """The records of a watch of one installation."""
    async with watch:
        while found := await watch.batch():
            yield [CellRecord("", *one) for one in found]
