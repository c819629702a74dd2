"""A change of the number of partitions: whether it can be made now, the request for it, and how far it is.

Belongs here: these three steps. Does not: the command (`engine.cli.repartition`), which workers run (`workers`).
The request is one note in the log. From then on workers do all by themselves, so whoever asked may go away at any
moment. A second request for the same number waits for the first one.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from phaseline.engine.errors import Fenced
from phaseline.engine.log import table_eras
from phaseline.engine.log.division import closings, notes
from phaseline.engine.log.installation import Installation
from phaseline.engine.repartition import workers
from phaseline.engine.repartition.repartition_errors import (
    RepartitionUnderWay,
    RepartitionUnfinished,
    TablesUnsettled,
    WorkersTooOld,
)

LOOK = 0.1
"""Seconds between two looks at how far the workers are."""


@dataclass(frozen=True, slots=True)
class Repartition:
    """What a change would do, or does.

    installation: with the division that holds now; once the change is asked for, with the new one. count: how many
    partitions are wanted. is_asked: whether it is asked for already. is_done: whether nothing is left to do. workers:
    those that are alive. end: where the note of the division stands, as `notes.add` wants it.
    """

    installation: Installation
    count: int
    is_asked: bool
    is_done: bool
    workers: tuple[str, ...]
    end: int

    @property
    def before(self) -> int:
        """How many partitions there were before."""
        divisions = self.installation.layout.all_divisions
        return divisions[-2].count if self.is_asked else divisions[-1].count


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a change is: partitions of the former division that are closed, and those of the new one that work."""

    closed: int
    opened: int
    total: int

    @property
    def is_done(self) -> bool:
        """Whether each partition of the new division has begun."""
        return self.closed + self.opened == self.total


async def examine(installation: Installation, count: int) -> Repartition:
    """What a change to `count` partitions means now.

    Raises `RepartitionUnderWay`, `WorkersTooOld`, `TablesUnsettled` if it cannot be made now, and as `Wire.api` does.
    """
    standing = await notes.standing(installation)
    installation = await notes.current(installation)
    division, is_whole = installation.layout.division, (await progress(installation)).is_done
    alive = await workers.alive(installation)
    if division.count == count:
        return Repartition(installation, count, not is_whole, is_whole, alive, standing.end)
    if not is_whole:
        raise RepartitionUnderWay(wanted=count, partitions=division.count)
    if too_old := await workers.without_divisions(installation, alive):
        raise WorkersTooOld(workers=", ".join(too_old))
    eras = [await table_eras.latest(installation, number) for number in division.numbers]
    if len({era.digest for era in eras if era is not None}) > 1:
        raise TablesUnsettled(partitions=division.count)
    return Repartition(installation, count, is_asked=False, is_done=False, workers=alive, end=standing.end)


async def ask(change: Repartition, by: str) -> Repartition:
    """Write the note from which workers learn of the change.

    If somebody was faster, and wants the same number, this waits for that one; otherwise raises `RepartitionUnderWay`.
    """
    if change.is_asked or change.is_done:
        return change
    try:
        divided = await notes.add(change.installation, change.count, by, change.end)
    except Fenced:
        divided = await notes.current(change.installation)
        now = divided.layout.division.count
        if now != change.count:
            raise RepartitionUnderWay(wanted=change.count, partitions=now) from None
    return Repartition(divided, change.count, is_asked=True, is_done=False, workers=change.workers, end=0)


async def progress(installation: Installation) -> Progress:
    """How far the workers are with the present division."""
    layout, before = installation.layout, installation.before()
    if before is None:
        return Progress(0, 0, 0)
    former, now = before.layout.division, layout.division
    found = await closings.checkpoints(installation, [*former.numbers, *now.numbers])
    closed = sum((last := found[number]) is not None and last.closed for number in former.numbers)
    opened = sum(found[number] is not None for number in now.numbers)
    return Progress(closed, opened, former.count + now.count)


async def finished(change: Repartition, seconds: float, tell: Callable[[Progress], None]) -> float:
    """Wait until each new partition has begun; the seconds that it took. Raises `RepartitionUnfinished`."""
    began = time.monotonic()
    found = Progress(0, 0, 1)
    try:
        async with asyncio.timeout(seconds):
            while not found.is_done:
                found = await progress(change.installation)
                tell(found)
                await asyncio.sleep(0 if found.is_done else LOOK)
    except TimeoutError:
        raise RepartitionUnfinished(
            partitions=change.count, closed=found.closed, opened=found.opened, seconds=seconds
        ) from None
    return time.monotonic() - began
