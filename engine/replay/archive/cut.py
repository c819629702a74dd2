"""How far a log can be archived: all events up to a position are decided, and nothing waits for them any more.

Belongs here: finding that position for a moment, waiting until the copies of the streams have what will be trimmed.
Does not: trimming (`trim`).
"""

import asyncio
from contextlib import AsyncExitStack, aclosing

from phaseline.engine.log.archived.expiring import undecided
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.when import Moment
from phaseline.engine.nats.direct_get import last_message_from_leader, origin, until_settled
from phaseline.engine.replay.recorded_log import Span
from phaseline.engine.replay.server_log import ServerLog, first_event_after
from phaseline.schemas.errors import NoAnswer
from phaseline.schemas.records import utc

MICROSECOND = 1_000
POLL = 0.1
"""Seconds between two looks at a copy."""


async def last_finished(installation: Installation, moment: Moment) -> int:
    """The last position so that its event and all before it were stored and decided by then, with all their records."""
    stored = await first_event_after(installation, utc(moment.time_ns + MICROSECOND)) - 1
    log = await ServerLog.measured(installation, Span())
    decided = await _decided(log)
    causes = [await _first_cause_after(log, partition, moment.place) for partition in log.own_partitions()]
    return min([decided, stored, *(cause - 1 for cause in causes if cause is not None)])


async def _decided(log: ServerLog) -> int:
    """The position up to which all events are decided."""
    async with aclosing(undecided(log.installation, log.ends)) as found:
        async for position in found:
            return position - 1
    return log.ends


async def _first_cause_after(log: ServerLog, partition: int, place: int) -> int | None:
    """The event that made the first record of a partition after a place; None if there is none."""
    async with AsyncExitStack() as stack:
        return (await log.cursor(stack, partition, place + 1)).cause


async def wait_for_copies(installation: Installation, place: int, observed: int, timeout: float) -> None:
    """Wait until STATE has copied LOG up to a place, and LIVE the event at a position; raises `NoAnswer.copy_behind`.

    What a stream copies from another one is lost to it if it is trimmed there before.
    """
    layout = installation.layout
    for stream, wanted in ((layout.state, place), (layout.live, observed)):
        if wanted:
            await _wait(installation, stream, wanted, timeout)


async def _wait(installation: Installation, stream: str, wanted: int, timeout: float) -> None:
    copied = 0
    try:
        async with asyncio.timeout(timeout):
            while True:
                copied = await _copied(installation, stream)
                if copied >= wanted:
                    return
                await asyncio.sleep(POLL)
    except TimeoutError:
        if not await _lags(installation, stream):  # its last copy has been erased
            return
        raise NoAnswer.copy_behind(stream=stream, copied=copied, wanted=wanted) from None


async def _copied(installation: Installation, stream: str) -> int:
    """The sequence in its source of the last message that a stream has copied."""
    last = await last_message_from_leader(installation.wire, stream, ">")
    return 0 if last is None else origin(last.block)


async def _lags(installation: Installation, stream: str) -> bool:
    """Whether the server says that a stream has something to copy, or does not know."""

    async def look() -> bool:
        sources = (await installation.wire.api(f"STREAM.INFO.{stream}")).get("sources") or [{}]
        return any(one.get("active", -1) < 0 or one.get("lag", 1) > 0 for one in sources)

    return await until_settled(installation.wire, look, bool)
