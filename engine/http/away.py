"""NATS that is away: what a request that waits for it gets, instead of waiting until it is back.

Belongs here: ending such a wait, and the words for readers of streams. Does not: connecting again (`jetstream`), states
in memory, which are still answered (`service`).
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from phaseline.engine.errors import NatsUnreachable
from phaseline.engine.jetstream.wire import Wire

PATIENCE = 5.0
"""Seconds without a connection after which whoever waits for NATS gets an answer."""
AWAY = "NATS is away: the states are those of its last place"


@asynccontextmanager
async def unless_away(wire: Wire) -> AsyncIterator[None]:
    """End the block with `NatsUnreachable` once there was no connection for `PATIENCE` seconds while it ran.

    Not around a `yield` of a generator: the wait of its reader would be ended.
    """
    loop, timers = asyncio.get_running_loop(), list[asyncio.TimerHandle]()
    try:
        async with asyncio.timeout(None) as limit:

            def lost() -> None:
                back()
                timers.append(loop.call_later(PATIENCE, lambda: limit.reschedule(loop.time())))

            def back() -> None:
                while timers:
                    timers.pop().cancel()

            forget = wire.on_disconnect(lost), wire.on_reconnect(back)
            if not wire.connected:
                lost()
            try:
                yield
            finally:
                back()
                for one in forget:
                    one()
    except TimeoutError:
        if not limit.expired():
            raise
        cause = f"there was no connection for {PATIENCE:g} s"
        raise NatsUnreachable(url=wire.settings.shown, cause=cause) from None
