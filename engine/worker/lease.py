"""Leases: which worker should own which partition, by keys that expire and rendezvous hashing over the live workers.

Belongs here: even shares, quick take-over, and whom a partition is handed to. Does not: safety, which the fence alone
ensures (`ownership.fenced_commit`), how a partition is handed over (`hand_over`).
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from phaseline.engine import logs
from phaseline.engine.log import foreign
from phaseline.engine.log.installation import Installation
from phaseline.engine.nats.api_reply import EXPECTED
from phaseline.engine.nats.direct_get import LastMessage, last_message_from_leader
from phaseline.engine.publish import server_outages
from phaseline.engine.publish.backlog import living_workers
from phaseline.engine.worker.measures import Measures
from phaseline.engine.worker.stopping import unless_stopped, until_stopped
from phaseline.schemas import codec
from phaseline.schemas.cloudevents import content_types
from phaseline.schemas.errors import ApiFailed, Fenced, NatsUnreachable, NoAnswer, PhaselineError
from phaseline.schemas.records import timestamp

RENEWALS = 4
"""How often a lease is renewed before it would expire."""
TOGETHER = 0.05
"""Seconds in which announcements of other workers are gathered."""
FINISH = 0.3
"""Seconds that a round of renewals has to end when the worker is told to stop."""
LEAVE = 0.8
"""Seconds that the server has to delete a lease."""
TTL = b"\r\nNats-TTL:"
NOT_DELETED = 10057
"""The server's error code for a message that is gone: here, a lease that has expired."""

log = logs.get_logger(__name__)
Callback = Callable[[int], Awaitable[None]]
"""Called with the number of a partition."""
Awaited = Callable[[frozenset[int]], None]
"""Called with the partitions that this worker should own and another one still holds."""


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


def _is_lease(found: LastMessage) -> bool:
    """Whether a worker wrote this lease: it names a worker and expires, and it is no copy that the server sent."""
    block = found.block or b""
    is_name = not codec.is_json(found.data) and found.data.strip() == found.data != b""
    return is_name and TTL in block and not foreign.is_copy(block)


async def _all(works: Iterable[Awaitable[None]]) -> None:
    """Wait for all of these, so that none goes on after this round; raises the first error."""
    for result in await asyncio.gather(*works, return_exceptions=True):
        if isinstance(result, BaseException):
            raise result


class Leases:
    """The leases of one worker."""

    def __init__(
        self, installation: Installation, worker: str, seconds: float, measures: Measures | None = None
    ) -> None:
        """`worker`: a unique name, fit for a subject. `seconds`: how long a lease lives without a renewal."""
        self._measures = measures or Measures()
        self._installation = installation
        self._wire, self._layout, self._worker = installation.wire, installation.layout, worker
        self._subjects = installation.subjects
        self._seconds = seconds
        self._ttl = f"{round(seconds)}s"
        self.held: dict[int, int] = {}
        """By partition, the sequence of the key in LEASE."""
        self.waits = False
        """Whether the last try to renew the leases failed."""
        self.server_began = False
        """Whether the server was started with this worker, so that before it took nothing."""
        self._renewed_at, self._reconnects = 0.0, self._wire.reconnects
        """When the server took a renewal last, in seconds of the own clock; how often the connection was back then."""
        self._paused: tuple[float, float] | None = None
        """Between which times the server was out of reach, until that is noted."""
        self._owners: dict[int, str] = {}
        """Which worker should own each partition, as of the last look."""
        self._given_up_at: dict[int, float] = {}
        """By partition that we hold and another worker should own: until when that one can prepare."""
        self._turn = asyncio.Event()
        self._turns_soon: asyncio.TimerHandle | None = None
        self._gained: Callback = self.give_up
        """What `run` was given."""
        self._taking: set[asyncio.Task[None]] = set()
        self.has_share = False
        """Whether the leases of the first share are asked for."""
        self.calm = asyncio.Event()
        """Set while no leases are renewed. Work that takes long waits for it."""
        self.calm.set()

    async def run(self, stop: asyncio.Event, gained: Callback, lost: Callback, awaited: Awaited) -> None:
        """Keep an even share until `stop`. Awaits `gained` and `lost` for each partition that comes or goes."""
        self._gained = gained
        async with self._listening():
            began_since = await unless_stopped(self._join(), stop) or 0
            while not stop.is_set():
                try:
                    with self._urgently():
                        await self._round(self._renew_all(gained, lost, awaited), stop)
                    if not stop.is_set():  # otherwise the renewal may have been cut short
                        self._log_outcome(None)
                        await self._note_outage(began_since)
                        began_since = 0
                except (NoAnswer, NatsUnreachable, ApiFailed) as error:
                    self._log_outcome(error)
                await unless_stopped(self._next_turn(), stop)
            awaited(frozenset())
            await self._end_taking()

    def _renewed(self) -> None:
        """Note when the server took a renewal, and since when it took none if it was out of reach meanwhile."""
        now, reconnects = time.monotonic(), self._wire.reconnects
        if self._renewed_at and (self.waits or reconnects != self._reconnects):
            self._paused = self._renewed_at, now
        self._renewed_at, self._reconnects = now, reconnects

    async def _note_outage(self, since: int) -> None:
        """Note that the server was away, if it was. No lease depends on it.

        since: if it was started with this worker, when a lease was renewed before, ns; 0 otherwise.
        """
        paused, self._paused = self._paused, None
        if not (paused or since):
            return
        try:
            until = now = await self._installation.server_time()
            if paused is not None:
                here = time.monotonic()
                since, until = (now - round((here - one) * 1e9) for one in paused)
            found = await server_outages.note_outage(self._installation, since, until, self._worker)
        except PhaselineError as error:
            log.info("outage_not_noted", worker=self._worker, error=str(error))
            return
        if found is not None:
            seconds = round((found.end_ns - found.begin_ns) / 1e9, 3)
            log.info("outage_noted", worker=self._worker, since=timestamp(found.begin_ns), seconds=seconds)

    async def leave(self, lost: Callback) -> None:
        """Go on with the partitions until the workers that are left have taken them over.

        No longer than `Pacing.hand_over`, and not at all without another worker, or while the server does not answer.
        """
        if not self.held or self.waits or not self._wire.connected:
            return
        await self._forget_worker()
        self._announce()
        end = time.monotonic() + self._installation.pacing.hand_over
        async with self._listening():
            try:
                while self.held and time.monotonic() < end and (others := await self.workers() - {self._worker}):
                    self._share(others)
                    await _all(self._renew(partition, lost) for partition in sorted(self.held))
                    await self._next_turn()
            except (NoAnswer, ApiFailed) as error:
                log.info("lease_left", worker=self._worker, error=str(error))

    @asynccontextmanager
    async def _listening(self) -> AsyncIterator[None]:
        """Hear of workers that come or leave."""
        sid = await self._wire.subscribe(self._subjects.workers, lambda *_: self._heard())
        try:
            yield
        finally:
            if self._turns_soon is not None:
                self._turns_soon.cancel()
            await self._wire.unsubscribe(sid)

    def _share(self, workers: frozenset[str]) -> None:
        """Note which of these workers should own each partition."""
        self._owners = dict(enumerate(shares(self._layout.partitions, workers)))

    @contextmanager
    def _urgently(self) -> Iterator[None]:
        """Let work that takes long wait."""
        self.calm.clear()
        timer = asyncio.get_running_loop().call_later(self._installation.pacing.urgent, self.calm.set)
        try:
            yield
        finally:
            timer.cancel()
            self.calm.set()

    async def _round(self, work: Coroutine[Any, Any, None], stop: asyncio.Event) -> None:
        """Do a round of renewals. After `stop` it may end soon, so that no lease is left which nobody knows."""
        task = asyncio.ensure_future(work)
        try:
            await until_stopped(task, stop)
            if not task.done() and self._wire.connected and not self.waits:
                await asyncio.wait({task}, timeout=FINISH)
            if task.done():
                task.result()
        finally:
            task.cancel()
            await asyncio.wait({task})

    def give(self, partition: int, worker: str) -> int | None:
        """Leave the lease of a partition to this worker: its sequence; None if this worker should not own it."""
        is_next = worker != self._worker and self._owners.get(partition) == worker
        return self.held.pop(partition, None) if is_next else None

    def take_given(self, partition: int, sequence: int) -> None:
        """Take a partition now whose owner has left its lease, of that sequence, to this worker."""
        task = asyncio.create_task(self._take_given(partition, sequence))
        self._taking.add(task)
        task.add_done_callback(self._taking.discard)

    async def _take_given(self, partition: int, sequence: int) -> None:
        try:
            taken = await self._write(self._key(partition), sequence)
        except (Fenced, NoAnswer, ApiFailed):
            self._turn.set()  # it may be free all the same
            return
        self.held[partition] = taken
        await self._gained(partition)

    async def _end_taking(self) -> None:
        """Let those takings end that are under way; but not for long."""
        if self._taking:
            await asyncio.wait(self._taking, timeout=FINISH)
        for task in self._taking:
            task.cancel()

    def _heard(self) -> None:
        """Another worker has come, or leaves. Several that do so together are looked at once."""
        if self._turns_soon is None or self._turns_soon.when() <= asyncio.get_running_loop().time():
            self._turns_soon = asyncio.get_running_loop().call_later(TOGETHER, self._turn.set)

    def _announce(self) -> None:
        """Tell the other workers to look now who is alive. One that misses it looks within a quarter of a lease."""
        with suppress(NatsUnreachable):
            self._wire.publish(self._subjects.workers, self._worker.encode())

    async def _next_turn(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._seconds / RENEWALS):
                await self._turn.wait()
        self._turn.clear()

    async def _join(self) -> int:
        """Say that this worker is alive. Returns since when the server was away, if it was started just now."""
        since = 0
        with suppress(NoAnswer, ApiFailed):
            since = await server_outages.renewed_at(self._installation) if self.server_began else 0
            await self._write(self._key_of_worker, None)
            self._announce()
        return since

    def _log_outcome(self, error: Exception | None) -> None:
        """Log once that leases cannot be renewed, and once that they can be renewed again."""
        if error is not None and not self.waits:
            log.warning("lease_wait", worker=self._worker, error=str(error))
        elif error is None and self.waits:
            log.info("lease_back", worker=self._worker)
        self.waits = error is not None

    async def _renew_all(self, gained: Callback, lost: Callback, awaited: Awaited) -> None:
        """Renew our leases, take partitions of our share that nobody holds, and give up the others in time.

        A partition that another worker should own is handed over once that one asks for it (`give`). One that does
        not ask in time gets it without being prepared.
        """
        began = now = time.monotonic()
        await self._write(self._key_of_worker, None)
        self._renewed()
        self._measures.renewals.add(time.monotonic() - began)
        self._measures.living = living = await self.workers() | {self._worker}
        self._share(living)
        mine = {partition for partition, worker in self._owners.items() if worker == self._worker}
        end = now + self._installation.pacing.hand_over
        self._given_up_at = {one: self._given_up_at.get(one, end) for one in set(self.held) - mine}
        for partition in sorted(one for one, end in self._given_up_at.items() if now >= end):
            await lost(partition)
            await self.give_up(partition)
        await _all(self._renew(partition, lost) for partition in sorted(self.held))
        await _all(self._acquire(partition, gained) for partition in sorted(mine - set(self.held)))
        awaited(frozenset(mine - set(self.held)))
        self.has_share = True

    async def workers(self) -> frozenset[str]:
        """The names of the workers that are alive. Keys that no worker wrote do not count, and are reported."""
        return await living_workers(self._wire, self._layout)

    async def give_up(self, partition: int) -> None:
        """Delete the lease of `partition`, so that another worker can take it at once."""
        sequence = self.held.pop(partition, None)
        if sequence is not None:
            await self._delete(sequence)
        if not self.held:
            self._turn.set()

    async def release_all(self) -> None:
        """Delete all leases, and the key that says that this worker is alive."""
        await asyncio.gather(*(self.give_up(partition) for partition in list(self.held)))
        await self._forget_worker()

    async def _forget_worker(self) -> None:
        await self._ask(f"STREAM.PURGE.{self._layout.lease}", {"filter": self._key_of_worker})

    @property
    def _key_of_worker(self) -> str:
        return f"{self._layout.prefix}.lease.worker.{self._worker}"

    def _key(self, partition: int) -> str:
        return f"{self._layout.prefix}.lease.partition.{partition}"

    async def _write(self, key: str, expected: int | None) -> int:
        headers = {content_types.HEADER: content_types.TEXT, "Nats-TTL": self._ttl}
        if expected is not None:
            headers[EXPECTED] = str(expected)
        return (await self._wire.publish_acked(key, self._worker.encode(), headers)).seq

    async def _renew(self, partition: int, lost: Callback) -> None:
        """Renew a lease. A partition that fails gives its lease up at any moment, also while it is renewed."""
        held = self.held.get(partition)
        if held is None:
            return
        renewed: int | None
        try:
            renewed = await self._write(self._key(partition), held)
        except Fenced:
            # The lease expired before it was renewed. Take it anew if nobody has it; the fence keeps this safe.
            renewed = None if self.held.get(partition) != held else await self._take(partition)
        if self.held.get(partition) != held:
            if renewed is not None:
                await self._delete(renewed)
        elif renewed is not None:
            self.held[partition] = renewed
        else:
            del self.held[partition]
            self._measures.losses["lease"] += 1
            await lost(partition)

    async def _acquire(self, partition: int, gained: Callback) -> None:
        taken = await self._take(partition)
        if taken is not None:
            self.held[partition] = taken
            await gained(partition)

    async def _take(self, partition: int) -> int | None:
        """Take the lease of a partition if no worker has it; its sequence. What no worker wrote is overwritten."""
        key = self._key(partition)
        found = await last_message_from_leader(self._wire, self._layout.lease, key)
        if found is not None and _is_lease(found):
            return None
        if found is not None:
            foreign.report(self._layout.lease, found)
        try:
            return await self._write(key, 0 if found is None else found.sequence)
        except Fenced:
            return None

    async def _delete(self, sequence: int) -> None:
        await self._ask(f"STREAM.MSG.DELETE.{self._layout.lease}", {"seq": sequence, "no_erase": True})

    async def _ask(self, request: str, body: dict[str, Any]) -> None:
        """Ask the server to delete something that would expire anyway."""
        try:
            async with asyncio.timeout(LEAVE if self._wire.connected and not self.waits else 0):
                await self._wire.api(request, body)
        except TimeoutError:
            log.info("lease_left", worker=self._worker, error="no answer in time")
        except (NoAnswer, NatsUnreachable, ApiFailed) as error:
            if isinstance(error, ApiFailed) and error.err_code == NOT_DELETED:
                return
            log.info("lease_left", worker=self._worker, error=str(error))
