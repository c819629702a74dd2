"""From one division of the trees to the next, as a worker does it.

Belongs here: seeing that there is a new division; closing the partitions of the former one that their owners have not
closed. Does not: how an owner closes its own (`partition`), where partitions then begin (`log.division.closings`).
An owner that sees the new division closes its partitions by itself. Whoever closes one in its place fences it out
first, so at most one of them succeeds, and nothing is committed after it.
"""

import asyncio

from phaseline.engine import logs
from phaseline.engine.errors import ApiFailed, Fenced, NatsUnreachable, NoAnswer
from phaseline.engine.log.division import closings, notes
from phaseline.engine.log.division.division_errors import PartitionClosed
from phaseline.engine.log.installation import Installation
from phaseline.engine.ownership import oversized_commit
from phaseline.engine.ownership.takeover import take_over
from phaseline.engine.settings import Settings
from phaseline.engine.worker.lease import Leases

LOOK = 0.1
"""Seconds between two looks at a partition that another worker has."""

log = logs.get_logger(__name__)


class DivisionWatch:
    """Looks now and then whether the trees are divided anew. over: set once they are, or once the worker stops."""

    def __init__(self, installation: Installation, seconds: float) -> None:
        """seconds: between two looks."""
        self._installation, self._seconds = installation, seconds
        self.over, self.is_new = asyncio.Event(), False

    async def watch(self, stop: asyncio.Event) -> None:
        """Look until there is an answer. An error is one too: the worker then finds out by itself what is wrong."""
        try:
            while not (self.is_new or stop.is_set()):
                try:
                    async with asyncio.timeout(self._seconds):
                        await stop.wait()
                except TimeoutError:
                    self.is_new = await self._look()
        finally:
            self.over.set()

    async def _look(self) -> bool:
        before = self._installation.layout
        try:
            now = (await notes.current(self._installation)).layout
        except (NoAnswer, NatsUnreachable, ApiFailed):
            return False  # the leases say that the server is away
        if now.divisions != before.divisions:
            log.info("partitions_changed", before=before.division.count, partitions=now.division.count)
        return now.divisions != before.divisions


async def close_former(installation: Installation, worker: str, settings: Settings) -> None:
    """Return once every partition of the former division is closed. Raises as `take_over` does."""
    former = installation.before()
    if former is None:
        return
    leases = Leases(former, worker, settings.lease)
    found = await closings.checkpoints(former, former.layout.division.numbers)
    for number, last in found.items():
        is_closed = last is not None and last.closed
        while not is_closed:
            is_closed = await _close(former, number, worker, settings, leases) or await _is_closed(former, number)


async def _is_closed(former: Installation, number: int) -> bool:
    last = (await closings.checkpoints(former, [number]))[number]
    return last is not None and last.closed


async def _close(former: Installation, number: int, worker: str, settings: Settings, leases: Leases) -> bool:
    """Close a partition whose lease nobody has; False if somebody has it, or was faster."""
    if not await leases.take(number):
        await asyncio.sleep(LOOK)
        return False
    try:
        claim = await take_over(
            former, number, worker, settings.accept_tables,
            accept_stranded=settings.accept_stranded, accept_loss=settings.accept_loss,
            silence_after=settings.silence_after,
        )  # fmt: skip
        await oversized_commit.resume(former, claim)
        await claim.close()
    except PartitionClosed:
        return True
    except Fenced:
        return False
    finally:
        await leases.give_up(number)
    log.info("partition_closed", partition=number, worker=worker, position=claim.position)
    return True
