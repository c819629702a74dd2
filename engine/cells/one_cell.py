"""Asking one cell among several: its answer with its name, and which errors mean that it cannot be read.

Belongs here: `InCell`, telling errors apart, not waiting for a cell for ever. Does not: asking all of them (`cells`).
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, NamedTuple, TypeVar

from phaseline.engine.client.client import Client
from phaseline.schemas.errors import InvalidInput, NoAnswer, NotFound, PhaselineError

LOOK = 0.5
"""Seconds between two looks whether a cell that is asked is still connected."""

T = TypeVar("T")
Told = Callable[[str, PhaselineError | None], None]
"""Called with the name of a cell and why it cannot be read; with None when it can be read again."""


class InCell(NamedTuple, Generic[T]):
    """An answer, and the name of the cell that gave it."""

    cell: str
    value: T


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
