"""Handing a partition over: the next owner reads its states, then asks for it; the owner finishes its commit.

Belongs here: preparing, one task for each partition, one of which loads at a time; keeping the states of a partition
that was lost; the request and its answer. Does not: who should own a partition (`lease`), reading states
(`ownership.load_states`), ending the owner's work (`worker`).
Whoever asks wrongly gets nothing, or at worst ends an owner's work on the partition: the fence keeps that safe.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from phaseline.engine import logs
from phaseline.engine.log.installation import Installation
from phaseline.engine.worker.ownership.load_states import PartitionStates
from phaseline.schemas.errors import ApiFailed, NatsUnreachable, NoAnswer, PhaselineError

KEPT = b"kept"
"""The answer of an owner that goes on. Otherwise it is the sequence of its lease, which the other one may take."""
PATIENCE = 12.0
"""Seconds that an owner has to finish its commit."""
LONGEST = 20
"""Digits that no sequence has."""
Give = Callable[[str], Awaitable[int | None]]
"""Gives a partition to the worker of that name: the sequence of its lease; None if it keeps it."""
AGAIN = 0.2
"""Seconds after which an owner that kept a partition is asked again."""
KEEP = 60.0
"""Seconds for which the states of a lost partition are kept. A worker that was only slow gets it again before that."""

log = logs.get_logger(__name__)


async def listen(installation: Installation, partition: int, give: Give) -> int:
    """Take requests for a partition that this worker owns; returns the subscription."""
    wire = installation.wire

    async def answer(_: str, data: bytes, __: bytes | None, reply: str) -> None:
        sequence = await give(data.decode(errors="replace"))
        with suppress(NatsUnreachable):
            wire.send(wire.frame(reply, KEPT if sequence is None else str(sequence).encode()))

    return await wire.serve(installation.subjects.handing_over(partition), answer, most=None)  # only workers ask


async def ask(installation: Installation, partition: int, worker: str) -> int | None:
    """Ask the owner of a partition to hand it to this worker: the sequence of the lease; None if it does not.

    An owner that is gone does not answer.
    """
    subject = installation.subjects.handing_over(partition)
    try:
        reply = await installation.wire.request(subject, worker.encode(), timeout=PATIENCE)
    except (NoAnswer, ApiFailed):
        return None
    return int(reply.data) if reply.data.isdigit() and len(reply.data) < LONGEST else None


class Preparations:
    """The partitions that this worker prepares, and those that it has lost a moment ago.

    given: called with a partition that its owner has given to us, and the sequence of its lease. is_busy: whether a
    partition is being taken over, whose events wait meanwhile. calm: as for `PartitionStates`.
    """

    def __init__(
        self, installation: Installation, worker: str, given: Callable[[int, int], None], is_busy: Callable[[], bool],
        calm: asyncio.Event,
    ) -> None:  # fmt: skip
        self._installation, self._worker, self._given, self._is_busy = installation, worker, given, is_busy
        self._calm, self._is_closed = calm, False
        self._kept: dict[int, tuple[PartitionStates, asyncio.TimerHandle]] = {}
        self._under_way: dict[int, tuple[PartitionStates, asyncio.Task[None]]] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._loading = asyncio.Lock()

    def want(self, partitions: frozenset[int]) -> None:
        """Prepare these partitions, and no others."""
        for partition in set(self._under_way) - partitions:
            states, task = self._under_way.pop(partition)
            ending = asyncio.create_task(self._end(states, task))
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)
        for partition in sorted(partitions - set(self._under_way)):
            states = self._known(partition)
            self._under_way[partition] = states, asyncio.create_task(self._prepare(states))

    async def take(self, partition: int) -> PartitionStates:
        """The states of a partition that this worker owns now, with what was read of them."""
        states, task = self._under_way.pop(partition, (None, None))
        if states is None or task is None:
            return self._known(partition)
        await _cancelled(task)
        return states

    def keep(self, states: PartitionStates | None) -> None:
        """Keep for a while what is known of the states of a partition that this worker does not own any more."""
        if states is not None and states.read and not self._is_closed:
            self._forget(states.partition)
            timer = asyncio.get_running_loop().call_later(KEEP, self._forget, states.partition)
            self._kept[states.partition] = states, timer

    def _known(self, partition: int) -> PartitionStates:
        """What is kept of a partition; at least an empty tree."""
        kept = self._forget(partition)
        return PartitionStates(self._installation, partition, self._calm) if kept is None else kept

    def _forget(self, partition: int) -> PartitionStates | None:
        """Keep the states of a partition no longer; returns them."""
        states, timer = self._kept.pop(partition, (None, None))
        if timer is not None:
            timer.cancel()
        return states

    async def close(self) -> None:
        """Prepare and keep nothing any more."""
        self._is_closed = True
        for partition in list(self._kept):
            self._forget(partition)
        self.want(frozenset())
        await asyncio.gather(*self._ending)

    async def _prepare(self, states: PartitionStates) -> None:
        """Read the states of a partition, then ask for it until this worker gets it."""
        try:
            async with self._loading:
                await states.load(self._is_busy)
            while True:
                lease = await ask(self._installation, states.partition, self._worker)
                if lease is not None:
                    self._given(states.partition, lease)
                await states.follow(AGAIN)
        except PhaselineError as error:
            log.info("partition_not_prepared", partition=states.partition, worker=self._worker, error=str(error))

    async def _end(self, states: PartitionStates, task: asyncio.Task[None]) -> None:
        await _cancelled(task)
        await states.close()
        self.keep(states)


async def _cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
