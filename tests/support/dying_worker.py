"""A worker that ends at a step of a repartition: `python -m tests.support.dying_worker URL PREFIX STEP`.

Belongs here: the steps. Does not: the tests. It ends as if it were killed: nothing is finished or given up.
"""

import asyncio
import logging
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from phaseline.engine.core.process import Batch
from phaseline.engine.log.division import closings
from phaseline.engine.ownership.claim import Claim
from phaseline.engine.ownership.load_states import PartitionStates
from phaseline.engine.settings import Settings
from phaseline.engine.worker import worker
from phaseline.engine.worker.partition import Partition
from phaseline.engine.worker.system import stopped_by_signals, work
from phaseline.machines.built_in import installed
from phaseline.schemas.partitions.divisions import STRIDE

STATUS = 9
Work = Callable[..., Awaitable[Any]]


def end(*_: Any, **__: Any) -> Any:
    os._exit(STATUS)


def before(_: Work) -> Work:
    """End instead of doing it."""
    return end


def after(done: Work) -> Work:
    """End once it is done."""

    async def call(*values: Any, **named: Any) -> None:
        await done(*values, **named)
        end()

    return call


def second(done: Work) -> Work:
    """End instead of doing it a second time."""
    times = [0]

    async def call(*values: Any, **named: Any) -> Any:
        times[0] += 1
        return end() if times[0] > 1 else await done(*values, **named)

    return call


def of_new(how: Callable[[Work], Work]) -> Callable[[Work], Work]:
    """The same for partitions of later divisions only, which the states, or the second value, name."""

    def made(done: Work) -> Work:
        changed = how(done)

        async def call(first: Any, partition: Any, *rest: Any, **named: Any) -> Any:
            named_by = first if isinstance(first, PartitionStates) else partition
            number = named_by if isinstance(named_by, int) else named_by.partition
            is_empty = any(isinstance(one, Batch) and not one.messages for one in rest)
            chosen = changed if number >= STRIDE and not is_empty else done
            return await chosen(first, partition, *rest, **named)

        return call

    return made


STEPS: dict[str, tuple[Any, str, Callable[[Work], Work]]] = {
    "before-closing": (Claim, "close", before),
    "after-closing": (Claim, "close", after),
    "before-closing-another": (Claim, "close", second),
    "before-looking-at-former-ones": (worker, "close_former", second),
    "before-beginning": (closings, "opening", before),
    "before-beginning-another": (closings, "opening", second),
    "after-the-fence": (PartitionStates, "complete", of_new(before)),
    "before-the-first-commit": (Partition, "commit", of_new(before)),
    "after-the-first-commit": (Partition, "commit", of_new(after)),
    "before-the-second-commit": (Partition, "commit", of_new(second)),
}


async def main() -> None:
    """Run the worker that the arguments describe."""
    url, prefix, step = sys.argv[1:]
    owner, name, how = STEPS[step]
    setattr(owner, name, how(getattr(owner, name)))
    await work(Settings(nats=(url,), prefix=prefix, lease=1.0), installed(), stopped_by_signals())


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    asyncio.run(main())
