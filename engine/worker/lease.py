"""Leases: which worker should own which partition, by keys that expire and rendezvous hashing over the live workers.

Belongs here: even shares, and quick take-over. Does not: safety, which the fence alone ensures (`fenced_commit`).
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from functools import lru_cache
from hashlib import blake2b

import structlog

from phaseline.engine.errors import ApiFailed, Fenced, NatsUnreachable, NoAnswer
from phaseline.engine.log.installation import Installation

RENEWALS = 4
"""How often a lease is renewed before it would expire."""

log = structlog.get_logger(__name__)
Callback = Callable[[int], Awaitable[None]]
"""Called with the number of a partition."""


@lru_cache(maxsize=16)
def shares(partitions: int, workers: frozenset[str]) -> tuple[str, ...]:
    """Which worker should own each partition. Shares differ by at most one. Few partitions move when workers change.

    Rendezvous hashing with a limit: the best matches come first, and no worker gets more than its share. Without the
    limit, chance would give one worker most of a few partitions.
    """
    least, extra = divmod(partitions, len(workers))
    load = dict.fromkeys(workers, 0)
    owners = [""] * partitions
    for _, partition, worker in sorted(_matches(partitions, workers), reverse=True):
        takes_extra = load[worker] == least and extra > 0
        if owners[partition] or not (load[worker] < least or takes_extra):
            continue
        extra -= takes_extra
        load[worker] += 1
        owners[partition] = worker
    return tuple(owners)


def _matches(partitions: int, workers: frozenset[str]) -> Iterator[tuple[bytes, int, str]]:
    for partition in range(partitions):
        for worker in workers:
            yield blake2b(f"{partition} {worker}".encode(), digest_size=8).digest(), partition, worker


class Leases:
    """The leases of one worker."""

    def __init__(self, installation: Installation, worker: str, seconds: float) -> None:
        """`worker`: a unique name, fit for a subject. `seconds`: how long a lease lives without a renewal."""
        self._wire, self._layout, self._worker = installation.wire, installation.layout, worker
        self._seconds = seconds
        self._ttl = f"{round(seconds)}s"
        self.held: dict[int, int] = {}
        """By partition, the sequence of the key in LEASE."""
        self._waits = False

    async def run(self, stop: asyncio.Event, gained: Callback, lost: Callback) -> None:
        """Keep an even share until `stop`. Awaits `gained` and `lost` for each partition that comes or goes."""
        while not stop.is_set():
            try:
                await self._renew_all(gained, lost)
                self._log_outcome(None)
            except (NoAnswer, NatsUnreachable, ApiFailed) as error:
                self._log_outcome(error)
            try:
                async with asyncio.timeout(self._seconds / RENEWALS):
                    await stop.wait()
            except TimeoutError:
                continue

    def _log_outcome(self, error: Exception | None) -> None:
        """Log once that leases cannot be renewed, and once that they can be renewed again."""
        if error is not None and not self._waits:
            log.warning("lease_wait", worker=self._worker, error=str(error))
        elif error is None and self._waits:
            log.info("lease_back", worker=self._worker)
        self._waits = error is not None

    async def _renew_all(self, gained: Callback, lost: Callback) -> None:
        """Renew the leases of our share, give up the others, and take partitions of our share that nobody holds."""
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
        """The keys that have not expired: `worker.<name>` of each live worker, `partition.<number>` of each lease."""
        answer = await self._wire.api(f"STREAM.INFO.{self._layout.lease}", {"subjects_filter": ">"})
        subjects: dict[str, int] = answer["state"].get("subjects") or {}
        return {subject.removeprefix(f"{self._layout.prefix}.lease.") for subject in subjects}

    async def give_up(self, partition: int) -> None:
        """Delete the lease of `partition`, so that another worker can take it at once."""
        sequence = self.held.pop(partition, None)
        if sequence is not None:
            await self._delete(sequence)

    async def release_all(self) -> None:
        """Delete all leases, and the key that says that this worker is alive."""
        for partition in list(self.held):
            await self.give_up(partition)
        try:
            await self._wire.api(f"STREAM.PURGE.{self._layout.lease}", {"filter": self._key_of_worker})
        except (NoAnswer, NatsUnreachable, ApiFailed) as error:
            log.info("lease_left", worker=self._worker, error=str(error))

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

    async def _renew(self, partition: int, lost: Callback) -> None:
        try:
            self.held[partition] = await self._write(self._key(partition), self.held[partition])
        except Fenced:
            # The lease expired before it was renewed. Take it anew if nobody has it; the fence keeps this safe.
            try:
                self.held[partition] = await self._write(self._key(partition), 0)
            except Fenced:
                self.held.pop(partition, None)
                await lost(partition)

    async def _acquire(self, partition: int, gained: Callback) -> None:
        try:
            self.held[partition] = await self._write(self._key(partition), 0)
        except Fenced:
            return
        await gained(partition)

    async def _delete(self, sequence: int) -> None:
        try:
            await self._wire.api(f"STREAM.MSG.DELETE.{self._layout.lease}", {"seq": sequence, "no_erase": True})
        except (NoAnswer, NatsUnreachable, ApiFailed) as error:
            log.info("lease_left", worker=self._worker, error=str(error))
