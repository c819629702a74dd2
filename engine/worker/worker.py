"""A worker: one connection, and a loop for each partition that its leases give it.

Belongs here: starting and stopping partitions as leases come and go, and handling the error that ends a partition.
Does not: the loop itself (`partition`), which worker should own what (`lease`).
"""

import asyncio
import os
import secrets
import socket
import time
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING

from phaseline.engine import logs
from phaseline.engine.core.counts import outcomes
from phaseline.engine.core.counts.outcomes import EventCounts, Outcomes
from phaseline.engine.log import table_eras
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.questions.answering import Questions
from phaseline.engine.nats.api_reply import can_pass
from phaseline.engine.nats.stream_settings.stream_watch import StreamWatch
from phaseline.engine.nats.streams import MINIMUM_SERVER, provision
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import PACING, Pacing, Settings
from phaseline.engine.worker import hand_over
from phaseline.engine.worker.commits import WorkerShares
from phaseline.engine.worker.hand_over import Preparations
from phaseline.engine.worker.lease import Leases
from phaseline.engine.worker.measures import Measures
from phaseline.engine.worker.ownership import earlier_builds, identity_keeping
from phaseline.engine.worker.ownership.atomic_batches import AtomicBatches
from phaseline.engine.worker.ownership.load_together import Loading
from phaseline.engine.worker.ownership.log_watch import LogWatch
from phaseline.engine.worker.ownership.tables_change import survey
from phaseline.engine.worker.partition import Partition
from phaseline.engine.worker.services import Services, listen_backlog
from phaseline.engine.worker.sites.inlet_keeping import InletKeeper
from phaseline.engine.worker.stopping import beside, unless_stopped
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.packages import check_libraries
from phaseline.schemas.errors import (
    ApiFailed,
    Fenced,
    LogDamaged,
    NatsUnreachable,
    NoAnswer,
    PhaselineError,
    SetupError,
)
from phaseline.schemas.version import __version__

if TYPE_CHECKING:
    from phaseline.engine.worker.tracing import Tracing

SAY_AGAIN = 30.0
"""Seconds between two log lines that say that the worker waits."""
REPORT = 60.0
"""Seconds between two log lines with counts."""
DRAIN = 10.0
"""Seconds that a partition has to finish its commit. To cancel it then is safe: the next owner fences it."""
PAUSE = 1.0
"""Seconds before a partition that failed is offered to the workers again, and between two tries to reach the server."""

log = logs.get_logger(__name__)


def worker_name() -> str:
    """A unique name: host, process id, and four random characters."""
    host = "".join(c if c.isalnum() or c in "-_" else "-" for c in socket.gethostname())
    return f"{host}-{os.getpid()}-{secrets.token_hex(2)}"


class Worker:
    """Owns a share of the partitions while `run` runs."""

    def __init__(
        self, wire: Wire, settings: Settings, kinds: Kinds, name: str | None = None, ready: asyncio.Event | None = None,
        pacing: Pacing = PACING,
    ) -> None:  # fmt: skip
        """`name` is used in leases, checkpoints and log lines. `ready` is set once the streams exist."""
        self.wire, self.settings, self.kinds, self.pacing = wire, settings, kinds, pacing
        self.name = name or worker_name()
        self.owned: dict[int, tuple[Partition, asyncio.Event, asyncio.Task[None]]] = {}
        self.loaded: dict[int, Partition] = {}
        """The partitions that status queries may read."""
        self._done = Outcomes()
        self.measures = Measures()
        self.tracing: Tracing | None = None
        """Makes spans of commits. To be set before `run`."""
        self.installation: Installation | None = None
        """None until its streams are found."""
        self.ready = ready or asyncio.Event()
        self._batches = AtomicBatches(wire)
        self._room = asyncio.Event()
        """Set while LOG is below its limit."""
        self._room.set()
        self._log_watch: LogWatch | None = None
        self._leases: Leases | None = None
        self._questions: Questions | None = None
        self._loading, self._turn = Loading(pacing), asyncio.Lock()
        self._stop = asyncio.Event()
        self.server_began = False
        """Whether the server was started with this worker. To be set before `run`."""
        self.ends: PhaselineError | None = None
        """The error with which this worker ends by itself."""

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop`; then finish the commits under way and give up the partitions.

        Raises `SetupError` if the decision of an event does not end: only the end of the process ends it; and
        `SetupError.worker_faults` if this worker fails on whatever it decides.
        """
        self._stop = stop
        if self.kinds.broken:
            raise SetupError.kinds_broken(problem="; ".join(map(str, self.kinds.broken)))
        self.kinds.check()
        check_libraries(self.kinds)
        self.wire.require(*MINIMUM_SERVER)
        table_eras.check_accepted(self.settings, self.kinds)
        installation = await unless_stopped(self._provisioned(), stop)
        if installation is None:
            return
        log.info(
            "worker_started",
            worker=self.name, partitions=installation.layout.partitions, prefix=installation.prefix,
        )  # fmt: skip
        layout, self._log_watch = installation.layout, LogWatch(installation, self.name, self._take_anew)
        streams = StreamWatch(self.wire, layout, self._room, self.pacing)
        try:
            async with beside(
                self.name, report=self._report, streams=streams.run, log=self._log_watch.run,
                inlets=lambda: InletKeeper(self.wire, layout, self._has_first, self.measures.dropped).run(),
            ):  # fmt: skip
                await self._work(installation, stop)
        finally:
            log.info("worker_stopped", worker=self.name, **asdict(self.counts()))
        if self.ends is not None:
            raise self.ends

    async def _take_anew(self) -> None:
        """Give all partitions up: the log is another one than they were taken over from."""
        await asyncio.gather(*map(self._end, [*self.owned]))

    def _read_further(self) -> None:
        """Note that a reporter has read further than the log goes."""
        if self._log_watch is not None:
            self._log_watch.look_soon()

    async def _work(self, installation: Installation, stop: asyncio.Event) -> None:
        """Own a share of the partitions until `stop`."""
        self.installation = installation
        self._leases = leases = Leases(installation, self.name, self.settings.lease, self.measures)
        leases.server_began = self.server_began
        preparations = Preparations(installation, self.name, leases.take_given, self._is_taking_over, leases.calm)
        services = Services(installation, self.loaded, self.name, __version__)
        questions = self._questions = Questions(installation, self.measures.questions)
        announced, keeping = await services.start(), asyncio.create_task(questions.keep())
        try:
            self.ready.set()
            await leases.run(
                stop, gained=lambda p: self._start(installation, preparations, services, p), lost=self._end,
                awaited=preparations.want,
            )  # fmt: skip
            if self.ends is None:
                await leases.leave(self._end)
        finally:
            keeping.cancel()
            await preparations.close()
            await announced.stop()
            await asyncio.gather(*(self._end(partition) for partition in list(self.owned)))
            await leases.release_all()

    async def _provisioned(self) -> Installation:
        """The installation, with its streams created where they are absent.

        Waits while the servers are away or elect a leader. Raises `SetupError` if other tables decided before, if
        these lack states in which entities are, or if an earlier version has changed the number of partitions.
        """
        say_again = 0.0
        while True:
            try:
                return await self._checked()
            except (NoAnswer, NatsUnreachable, ApiFailed) as error:
                if not can_pass(error):
                    raise
                if time.monotonic() > say_again:
                    say_again = time.monotonic() + SAY_AGAIN
                    log.warning("worker_waits", worker=self.name, error=str(error))
                await asyncio.sleep(PAUSE)

    async def _checked(self) -> Installation:
        layout = await provision(self.wire, self.settings, self.kinds.copies.values())
        installation = Installation(self.wire, layout, self.kinds, pacing=self.pacing)
        await earlier_builds.refuse_divided(installation)
        installation = await earlier_builds.leave_former_feed(installation, self.settings.feed)
        eras = await table_eras.check_all(installation, self.settings.accept_tables)
        await survey.check(installation, eras, self.settings.accept_stranded)
        await identity_keeping.ensured(installation, self.name)
        return installation

    def counts(self) -> EventCounts:
        """The counts of all events that this worker has decided."""
        return self.outcomes().counts()

    def outcomes(self) -> Outcomes:
        """What became of all events that this worker has decided."""
        return outcomes.sum_of([self._done, *(partition.outcomes for partition, _, _ in self.owned.values())])

    @property
    def commit_failures(self) -> Counter[str]:
        """By reason, the tries of commits without success."""
        return self._batches.failures

    @property
    def has_share(self) -> bool:
        """Whether this worker has asked for the partitions that are its share."""
        return self._leases is not None and self._leases.has_share

    async def _start(
        self, installation: Installation, preparations: Preparations, services: Services, number: int
    ) -> None:
        stop, leases = asyncio.Event(), self._held_leases
        shared = WorkerShares(self.measures, self._room, self._batches, leases.workers, self._loading, self.tracing,
                              self._read_further, self._turn)  # fmt: skip
        states = await preparations.take(number)
        partition = Partition(installation, number, self.name, self.settings, shared, states)
        self.loaded[number] = partition
        listening = (
            await services.listen(number),
            await listen_backlog(installation, partition),
            await self._held_questions.listen(partition),
            await hand_over.listen(installation, number, lambda worker: self._give(number, worker)),
        )
        owning = self._own(partition, stop, leases, preparations, listening)
        task = asyncio.create_task(owning, name=f"partition-{number}")
        self.owned[number] = (partition, stop, task)

    def _has_first(self) -> bool:
        """Whether this worker owns the first partition, and so does what one worker does for all."""
        return self.installation is not None and 0 in self.owned

    def _is_taking_over(self) -> bool:
        """Whether a partition is not loaded yet."""
        return any(partition.tree is None for partition, _, _ in self.owned.values())

    async def _give(self, number: int, worker: str) -> int | None:
        """Hand a partition to this worker: the sequence of its lease; None if that one should not own it."""
        began, sequence = time.monotonic(), self._held_leases.give(number, worker)
        if sequence is not None:
            await self._end(number)
            seconds = round(time.monotonic() - began, 3)
            log.info("partition_handed_over", partition=number, worker=worker, seconds=seconds)
        return sequence

    @property
    def _held_leases(self) -> Leases:
        if self._leases is None:
            raise AssertionError("a worker has its leases before it owns anything")
        return self._leases

    @property
    def _held_questions(self) -> Questions:
        if self._questions is None:
            raise AssertionError("a worker answers questions before it owns anything")
        return self._questions

    async def _end(self, number: int) -> None:
        if number in self.owned:
            partition, stop, task = self.owned[number]
            stop.set()
            partition.wake()
            # A partition that is not loaded commits nothing. Without answers, or room, no commit can be finished.
            answers = self.wire.connected and not (self._leases and self._leases.waits) and not partition.is_full
            is_loaded = partition.tree is not None
            seconds = DRAIN if is_loaded and answers else 0.0
            await asyncio.wait({task}, timeout=seconds)
            if not task.done():
                if is_loaded:
                    log.warning("partition_cut_off", partition=number, worker=self.name, seconds=seconds)
                task.cancel()
                await asyncio.wait({task})

    async def _own(
        self, partition: Partition, stop: asyncio.Event, leases: Leases, preparations: Preparations,
        listening: tuple[int, ...],
    ) -> None:  # fmt: skip
        """Run a partition, log the error that ends it, and give up its lease."""
        number = partition.number
        try:
            await partition.run(stop)
        except PhaselineError as error:
            await asyncio.sleep(self._ended(number, error))
        except Exception as error:
            self.measures.losses["broken"] += 1
            log.exception("partition_broken", partition=number, worker=self.name, error=repr(error))
            await asyncio.sleep(PAUSE)
        finally:
            self.owned.pop(number, None)
            self.loaded.pop(number, None)
            for sid in listening:
                await self.wire.unsubscribe(sid)
            self._held_questions.end(partition)
            self._done.take_in(partition.outcomes)
            preparations.keep(partition.states)
            await leases.give_up(number)

    def _ended(self, number: int, error: PhaselineError) -> float:
        """Count and log the error that ended a partition; the seconds after which its lease is given up.

        The errors say all, so they have no traceback; each fault has its own line, with its traceback.
        """
        losses, why = self.measures.losses, str(error)
        match error.code:
            case Fenced.code:
                losses["fenced"] += 1
                log.warning("partition_lost", partition=number, worker=self.name, error=why)
                return 0.0
            case SetupError.decision_stuck.code:
                losses["stuck"] += 1
                return self._end_with(error)
            case SetupError.worker_faults.code:
                losses["faults"] += 1
                log.error("worker_faults", partition=number, worker=self.name, error=why)
                return self._end_with(error)
            case SetupError.tables_differ.code | SetupError.states_stranded.code:
                losses["tables"] += 1
                log.warning("partition_refused", partition=number, worker=self.name, error=why)
            case LogDamaged.log_emptied.code:
                losses["log_emptied"] += 1
                log.error("log_emptied", partition=number, worker=self.name, error=why)
            case LogDamaged.events_behind.code:
                losses["events_behind"] += 1
                log.error("events_behind", partition=number, worker=self.name, error=why)
            case SetupError.kind_missing.code:
                losses["unreadable"] += 1
                log.error("partition_unreadable", partition=number, worker=self.name, error=why, exc_info=error)
            case _:
                losses["failed"] += 1
                log.error("partition_failed", partition=number, worker=self.name, error=why)
                return PAUSE
        return self.pacing.until_mended

    def _end_with(self, error: PhaselineError) -> float:
        """End this worker with an error."""
        self.ends = error
        self._stop.set()
        return 0.0

    async def _report(self) -> None:
        last = self.counts()
        while True:
            await asyncio.sleep(REPORT)
            now = self.counts()
            if now != last:
                log.info("worker_counts", worker=self.name, owned=sorted(self.owned), **asdict(now))
            last = now
