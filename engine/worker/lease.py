"""Who should own which partition: keys that expire, and rendezvous hashing over the workers alive.

Belongs here: the even share, and quick take-over. Does not: safety; that is the fence's alone (`commit`).
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from functools import lru_cache
from hashlib import blake2b

import structlog

from phaseline.engine.errors import ApiFailed, Fenced, NatsUnreachable, NoAnswer
from phaseline.engine.jetstream.streams import Layout
from phaseline.engine.jetstream.wire import Wire
from phaseline.engine.settings import Settings

TICKS = 4
"""Renewals in the life of a lease."""

log = structlog.get_logger(__name__)
Change = Callable[[int], Awaitable[None]]


@lru_cache(maxsize=16)
def shares(partitions: int, workers: frozenset[str]) -> tuple[str, ...]:
    """Which worker should own each partition: as many each, give or take one; a change of the workers moves few.

    Rendezvous hashing, best matches first, but nobody is given more than a share: with few partitions chance alone
    would leave one worker most of them.
    """
    least, more = divmod(partitions, len(workers))
    load = dict.fromkeys(workers, 0)
    owners = [""] * partitions
    for _, partition, worker in sorted(_matches(partitions, workers), reverse=True):
        one_more = load[worker] == least and more > 0
        if owners[partition] or not (load[worker] < least or one_more):
            continue
        more -= one_more
        load[worker] += 1
        owners[partition] = worker
    return tuple(owners)


def _matches(partitions: int, workers: frozenset[str]) -> Iterator[tuple[bytes, int, str]]:
    for partition in range(partitions):
        for worker in workers:
            yield blake2b(f"{partition} {worker}".encode(), digest_size=8).digest(), partition, worker


class Leases:
    """One worker's leases. `held`: partition -> the sequence of its key."""

    def __init__(self, wire: Wire, settings: Settings, layout: Layout, worker: str) -> None:
        """`worker`: a name of its own, fit for a subject."""
        self._wire, self._layout, self._worker = wire, layout, worker
        self._seconds = settings.lease
        self._ttl = f"{round(settings.lease)}s"
        self.held: dict[int, int] = {}
        self._waits = False

    async def run(self, stop: asyncio.Event, gained: Change, lost: Change) -> None:
        """Keep an even share until `stop`: `gained` and `lost` are awaited for each partition that comes or goes."""
        while not stop.is_set():
            try:
                await self._tick(gained, lost)
                self._answered(None)
            except (NoAnswer, NatsUnreachable, ApiFailed) as error:
                self._answered(error)
            try:
                async with asyncio.timeout(self._seconds / TICKS):
                    await stop.wait()
            except TimeoutError:
                continue

    def _answered(self, error: Exception | None) -> None:
        """Say once that leases cannot be renewed, and once that they can again."""
        if error is not None and not self._waits:
            log.warning("lease_wait", worker=self._worker, why=str(error))
        elif error is None and self._waits:
            log.info("lease_back", worker=self._worker)
        self._waits = error is not None

    async def _tick(self, gained: Change, lost: Change) -> None:
        await self._write(self._key_of_worker, None)
        keys = await self.keys()
        alive = frozenset(key.removeprefix("worker.") for key in keys if key.startswith("worker.")) | {self._worker}
        owners = shares(self._layout.partitions, alive)
        mine = {partition for partition, worker in enumerate(owners) if worker == self._worker}
        for partition in sorted(set(self.held) - mine):
            await lost(partition)
            await self.give_up(partition)
        await asyncio.gather(*(self._renew(partition, lost) for partition in sorted(set(self.held) & mine)))
        free = (p for p in sorted(mine - set(self.held)) if f"partition.{p}" not in keys)
        await asyncio.gather(*(self._acquire(partition, gained) for partition in free))

    async def keys(self) -> set[str]:
        """What is leased now, and by whom the workers are alive: `worker.<name>`, `partition.<number>`."""
        answer = await self._wire.api(f"STREAM.INFO.{self._layout.lease}", {"subjects_filter": ">"})
        found: dict[str, int] = answer["state"].get("subjects") or {}
        return {subject.removeprefix(f"{self._layout.prefix}.lease.") for subject in found}

    async def give_up(self, partition: int) -> None:
        """Let others have `partition` at once."""
        sequence = self.held.pop(partition, None)
        if sequence is not None:
            await self._delete(sequence)

    async def release_all(self) -> None:
        """Give up everything, the worker's own key too."""
        for partition in list(self.held):
            await self.give_up(partition)
        try:
            await self._wire.api(f"STREAM.PURGE.{self._layout.lease}", {"filter": self._key_of_worker})
        except (NoAnswer, NatsUnreachable, ApiFailed) as error:
            log.info("lease_left", worker=self._worker, why=str(error))

    @property
    def _key_of_worker(self) -> str:
        return f"{self._layout.prefix}.lease.worker.{self._worker}"

    def _key(self, partition: int) -> str:
        return f"{self._layout.prefix}.lease.partition.{partition}"

    async def _write(self, key: str, expected: int | None) -> int:
        headers = {"Nats-TTL": self._ttl}
        if expected is not None:
            headers["Nats-Expected-Last-Subject-Sequence"] = str(expected)
        return (await self._wire.publish_acked(key, self._worker.encode(), headers)).seq

    async def _renew(self, partition: int, lost: Change) -> None:
        try:
            self.held[partition] = await self._write(self._key(partition), self.held[partition])
        except Fenced:
            # It expired while we could not renew it. Nobody has it yet: go on, the fence tells if that is wrong.
            try:
                self.held[partition] = await self._write(self._key(partition), 0)
            except Fenced:
                self.held.pop(partition, None)
                await lost(partition)

    async def _acquire(self, partition: int, gained: Change) -> None:
        try:
            self.held[partition] = await self._write(self._key(partition), 0)
        except Fenced:
            return
        await gained(partition)

    async def _delete(self, sequence: int) -> None:
        try:
            await self._wire.api(f"STREAM.MSG.DELETE.{self._layout.lease}", {"seq": sequence, "no_erase": True})
        except (NoAnswer, NatsUnreachable, ApiFailed) as error:
            log.debug("lease_left", worker=self._worker, why=str(error))
