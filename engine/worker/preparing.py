"""Preparing to own partitions that another worker still works on: their states are read before they are handed over.

Belongs here: one task for each such partition, one of which loads at a time. Does not: which ones these are (`lease`),
reading states (`ownership.load_states`), the request (`hand_over`).
"""

import asyncio
from collections.abc import Callable

from phaseline.engine import logs
from phaseline.engine.errors import PhaselineError
from phaseline.engine.log.installation import Installation
from phaseline.engine.ownership.load_states import PartitionStates
from phaseline.engine.worker import hand_over

AGAIN = 0.2
"""Seconds after which an owner that kept a partition is asked again."""

log = logs.get_logger(__name__)


class Preparations:
    """The partitions that this worker prepares.

    given: called with a partition that its owner has given to us, and the sequence of its lease. is_busy: whether a
    partition is being taken over, whose events wait meanwhile.
    """

    def __init__(
        self, installation: Installation, worker: str, given: Callable[[int, int], None], is_busy: Callable[[], bool]
    ) -> None:
        """Nothing is prepared yet."""
        self._installation, self._worker, self._given, self._is_busy = installation, worker, given, is_busy
        self._under_way: dict[int, tuple[PartitionStates, asyncio.Task[None]]] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._loading = asyncio.Lock()

    def want(self, partitions: frozenset[int]) -> None:
        """Prepare these partitions, and no others."""
        for partition in set(self._under_way) - partitions:
            states, task = self._under_way.pop(partition)
            ending = asyncio.create_task(_end(states, task))
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)
        for partition in sorted(partitions - set(self._under_way)):
            states = PartitionStates(self._installation, partition)
            self._under_way[partition] = states, asyncio.create_task(self._prepare(states))

    async def take(self, partition: int) -> PartitionStates | None:
        """What was read of a partition that this worker owns now; None if nothing was."""
        states, task = self._under_way.pop(partition, (None, None))
        if states is None or task is None:
            return None
        await _cancelled(task)
        return states if states.is_open else None

    async def close(self) -> None:
        """Prepare nothing any more."""
        self.want(frozenset())
        await asyncio.gather(*self._ending)

    async def _prepare(self, states: PartitionStates) -> None:
        """Read the states of a partition, then ask for it until this worker gets it."""
        try:
            async with self._loading:
                await states.load(self._is_busy)
            while True:
                lease = await hand_over.ask(self._installation, states.partition, self._worker)
                if lease is not None:
                    self._given(states.partition, lease)
                await states.follow(AGAIN)
        except PhaselineError as error:
            log.info("partition_not_prepared", partition=states.partition, worker=self._worker, error=str(error))


async def _end(states: PartitionStates, task: asyncio.Task[None]) -> None:
    await _cancelled(task)
    await states.close()


async def _cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
