"""Waits for a condition as long as something moves: how long it takes depends on the machine and on its other work.

Belongs here: the waiting. Does not: what moves, and the conditions. It uses nothing of the engine.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable

LIMIT = 120.0
"""Seconds without any movement after which a wait gives up."""


async def wait_for(
    done: Callable[[], Awaitable[bool]], moved: Callable[[], Awaitable[object]], pause: float = 0.05
) -> None:
    """Wait until `done`. Gives up when `moved` has returned the same for `LIMIT` seconds."""
    last, since = await moved(), time.monotonic()
    while not await done():
        await asyncio.sleep(pause)
        now = await moved()
        if now != last:
            last, since = now, time.monotonic()
        assert time.monotonic() - since < LIMIT, f"nothing moved for {LIMIT:.0f} s; it stands at {now}"
