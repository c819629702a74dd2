"""Ports of this machine where nobody listens at the moment.

Belongs here: finding some that stand side by side. Does not: ports that stay closed (`closed_port`).
"""

import random
import socket

FIRST, LAST = 20_000, 32_000
"""Below the ports that the system gives to clients."""


def side_by_side(count: int) -> int:
    """The first of so many free ports in a row."""
    chance = random.SystemRandom()
    while True:
        first = chance.randrange(FIRST, LAST)
        if all(map(_is_free, range(first, first + count))):
            return first


def _is_free(port: int) -> bool:
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True
