"""Ports of this machine where nobody listens at the moment.

A port that the system names (port 0) may be given to a client before the server that is told to use it starts. So these
are others, below, chosen at random: programs that run at the same time hardly ever choose the same.
Belongs here: finding some. Does not: ports that stay closed (`closed_port`).
"""

import random
import socket
from collections.abc import Iterable

FIRST, LAST = 20_000, 32_000
"""Below the ports that the system gives to clients."""


def some(count: int) -> list[int]:
    """So many free ports."""
    found = set[int]()
    while len(found) < count:
        found.add(side_by_side(1))
    return [*found]


def side_by_side(count: int) -> int:
    """The first of so many free ports in a row."""
    chance = random.SystemRandom()
    while True:
        first = chance.randrange(FIRST, LAST)
        if all(map(_is_free, range(first, first + count))):
            return first


def places(names: Iterable[str]) -> dict[str, str]:
    """For each of these names, an address on this machine."""
    names = [*names]
    return {name: f"127.0.0.1:{port}" for name, port in zip(names, some(len(names)), strict=True)}


def _is_free(port: int) -> bool:
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True
