"""One installation and several cells behind one interface: what it gives has an origin, and it names who is missing.

Belongs here: `Reading`, for one installation; answers and records with their origin, telling errors apart.
Does not: the same for several cells (`cells`), who reads by it.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from phaseline.engine.log.watch import Watch
from phaseline.engine.surfaces.cells.places import Places
from phaseline.engine.surfaces.client.reading_client import ReadingClient
from phaseline.schemas import codec
from phaseline.schemas.errors import InvalidInput, NoAnswer, NotFound, PhaselineError
from phaseline.schemas.records import Rejection, Transition

T = TypeVar("T")
R = TypeVar("R", bound=Transition | Rejection)
AwayListener = Callable[[str, PhaselineError | None], None]
"""Called with the name of a cell and why it cannot be read; with None when it can be read again."""
Make = Callable[[str, ReadingClient], AsyncIterator[T]]
"""Gives the values of an installation, by its origin. It is called again after an error that ended them."""


class InCell(NamedTuple, Generic[T]):
    """An answer, and the name of the cell that gave it."""

    cell: str
    value: T


class CellRecord(NamedTuple, Generic[R]):
    """A record of a cell, and its place in the log of that cell. body: its message."""

    cell: str
    place: int
    record: R
    body: bytes = b""

    @property
    def wire(self) -> dict[str, Any]:
        """The record as the map that it is on the wire. It is decoded when it is asked for."""
        return codec.decode(self.body) if self.body else {}


def is_of_the_request(error: PhaselineError) -> bool:
    """Whether an error says something about the request. All others say that the cell itself cannot be read."""
    return isinstance(error, InvalidInput | NotFound) or NoAnswer.not_decided_yet.made(error)


class Reading:
    """One installation. The origin of what it gives is empty."""

    def __init__(self, client: ReadingClient) -> None:
        self._client = client

    @property
    def away(self) -> Mapping[str, PhaselineError]:
        """Who is missing in the answers, with the reason. An installation that is read alone raises it instead."""
        return {}

    @property
    def names(self) -> Sequence[str]:
        """The origins, if there are several; empty for one installation."""
        return ()

    def in_order(self, found: list[T], key: Callable[[T], Any]) -> list[T]:  # noqa: ARG002  # it is in order
        """What all gave, each in the order of this key, as one list in that order."""
        return found

    async def clients(self) -> Mapping[str, ReadingClient]:
        """The clients of those that can be read, by origin."""
        return {"": self._client}

    async def each(self, read: Callable[[ReadingClient], Coroutine[Any, Any, T]]) -> Sequence[InCell[T]]:
        """What each of those answers that can be read."""
        return [InCell("", await read(self._client))]

    async def follow(
        self, make: Make[T], told: AwayListener  # noqa: ARG002  # it raises instead
    ) -> AsyncIterator[InCell[T]]:  # fmt: skip
        """The values that `make` gives for each, as they come. told: is told who is missing, and who is back."""
        async for value in make("", self._client):
            yield InCell("", value)

    def watch(
        self, kind: str | None, told: AwayListener, *, start: Any, **which: Any  # noqa: ARG002  # as above
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
