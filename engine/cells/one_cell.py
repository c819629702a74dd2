"""Asking one cell among several: its answer with its name, and which errors mean that it cannot be read.

Belongs here: `InCell`, `CellRecord`, telling errors apart, not waiting for a cell for ever. Does not: asking all of
them (`cells`).
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, NamedTuple, TypeVar

from phaseline.engine.client.client import Client
from phaseline.schemas import codec
from phaseline.schemas.errors import InvalidInput, NoAnswer, NotFound, PhaselineError
from phaseline.schemas.records import Rejection, Transition

LOOK = 0.5
"""Seconds between two looks whether a cell that is asked is still connected."""

T = TypeVar("T")
R = TypeVar("R", bound=Transition | Rejection)
Told = Callable[[str, PhaselineError | None], None]
"""Called with the name of a cell and why it cannot be read; with None when it can be read again."""


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


async def while_connected(client: Client, read: Coroutine[Any, Any, T]) -> T:
    """What a read gives; raises `NatsUnreachable` if the connection is lost and does not come back in time.

    A reader of a stream waits for its server for ever: right for a watch, and not for an answer.
    """
    wire = client._session.wire  # noqa: SLF001  # the cells are the client's other half
    reading = asyncio.create_task(read)
    try:
        while True:
            await asyncio.wait({reading}, timeout=LOOK)
            if reading.done():
                return reading.result()
            await wire.until_connected(wire.settings.request_timeout)
    finally:
        reading.cancel()
