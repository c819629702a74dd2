"""A worker: one connection, and a loop for each partition that its leases give it.

Belongs here: starting and stopping partitions as leases come and go, and handling the error that ends a partition.
Does not: the loop itself (`partition`), which worker should own what (`lease`).
"""

import asyncio
import os
import secrets
import socket
from dataclasses import asdict

import structlog

from phaseline.engine.core.process import EventCounts
from phaseline.engine.emco_status.server import StatusService
from phaseline.engine.errors import (
    ApiFailed,
    DecisionStuck,
    Fenced,
    KindMissing,
    NatsUnreachable,
    NoAnswer,
    PhaselineError,
    TablesDiffer,
)
from phaseline.engine.jetstream.streams import Layout, provision
from phaseline.engine.jetstream.wire import Wire
from phaseline.engine.log import table_eras
from phaseline.engine.log.installation import Installation
from phaseline.engine.settings import Settings
from phaseline.engine.worker.lease import Leases
from phaseline.engine.worker.partition import Partition
from phaseline.machines import libraries
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.version import __version__

MINIMUM_SERVER = (2, 15)
"""In 2.14 a consumer with several filters skips messages of a batch: watches and outcomes would miss records."""
UNAVAILABLE = 503
REPORT = 60.0
"""Seconds between two log lines with counts."""
DRAIN = 10.0
"""Seconds that a partition has to finish its commit. To cancel it then is safe: the next owner fences it."""
PAUSE = 1.0
"""Seconds before a partition that failed is offered to the workers again, and between two tries to reach the server."""
LONG_PAUSE = 10.0
"""The same, where only a person can remove the cause."""

log = structlog.get_logger(__name__)


def worker_name() -> str:
    """A unique name: host, process id, and four random characters."""
    host = "".join(c if c.isalnum() or c in "-_" else "-" for c in socket.gethostname())
    return f"{host}-{os.getpid()}-{secrets.token_hex(2)}"


class Worker:
    """Owns a share of the partitions while `run` runs."""

    def __init__(
        self, wire: Wire, settings: Settings, kinds: Kinds, name: str | None = None, ready: asyncio.Event | None = None
    ) -> None:
        """`name` is used in leases, checkpoints and log lines. `ready` is set once the streams exist."""
        self.wire, self.settings, self.kinds = wire, settings, kinds
        self.name = name or worker_name()
        self.owned: dict[int, tuple[Partition, asyncio.Event, asyncio.Task[None]]] = {}
        self.loaded: dict[int, Partition] = {}
        """The partitions that status queries may read."""
        self.done = EventCounts()
        self.ready = ready or asyncio.Event()
        self._stop = asyncio.Event()
        self._stuck: DecisionStuck | None = None

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop`; then finish the commits under way and give up the partitions.

        Raises `DecisionStuck` if the decision of an event does not end: only the end of the process ends it.
        """
        self._stop = stop
        libraries.check(self.kinds)
        self.wire.require(*MINIMUM_SERVER)
        table_eras.check_accepted(self.settings, self.kinds)
        installation = await self._provisioned(stop)
        if installation is None:
            return
        layout = installation.layout
        log.info("worker_started", worker=self.name, partitions=layout.partitions, prefix=layout.prefix)
        leases = Leases(installation, self.name, self.settings.lease)
        status = StatusService(installation, self.loaded, self.name, __version__)
        announced = await status.start()
        reporting = asyncio.create_task(self._report())
        try:
            self.ready.set()
            await leases.run(stop, gained=lambda p: self._start(installation, leases, status, p), lost=self._end)
        finally:
            reporting.cancel()
            await announced.stop()
            await asyncio.gather(*(self._end(partition) for partition in list(self.owned)))
            await leases.release_all()
            log.info("worker_stopped", worker=self.name, **asdict(self.counts()))
        if self._stuck is not None:
            raise self._stuck

    async def _provisioned(self, stop: asyncio.Event) -> Installation | None:
        """The installation, with its streams created where they are absent; None if `stop` came first.

        Waits while the servers are away or elect a leader. Raises `TablesDiffer` if other tables decided before.
        """
        waits = False
        while not stop.is_set():
            try:
                return await self._checked(await provision(self.wire, self.settings))
            except (NoAnswer, NatsUnreachable, ApiFailed) as error:
                if isinstance(error, ApiFailed) and error.code != UNAVAILABLE:
                    raise
                if not waits:
                    log.warning("worker_waits", worker=self.name, error=str(error))
                waits = True
                await asyncio.sleep(PAUSE)
        return None

    async def _checked(self, layout: Layout) -> Installation:
        installation = Installation(self.wire, layout, self.kinds)
        await table_eras.check_all(installation, self.settings.accept_tables)
        return installation

    def counts(self) -> EventCounts:
        """The counts of all events that this worker has decided."""
        parts = [self.done, *(partition.counts for partition, _, _ in self.owned.values())]
        return EventCounts(*(sum(getattr(part, name) for part in parts) for name in EventCounts.__dataclass_fields__))

    async def _start(self, installation: Installation, leases: Leases, status: StatusService, number: int) -> None:
        stop = asyncio.Event()
        partition = Partition(installation, number, self.name, self.settings.accept_tables)
        self.loaded[number] = partition
        listening = await status.listen(number)
        task = asyncio.create_task(self._own(partition, stop, leases, listening), name=f"partition-{number}")
        self.owned[number] = (partition, stop, task)

    async def _end(self, number: int) -> None:
        if number in self.owned:
            _, stop, task = self.owned[number]
            stop.set()
            await asyncio.wait({task}, timeout=DRAIN)
            if not task.done():
                log.warning("partition_cut_off", partition=number, worker=self.name, seconds=DRAIN)
                task.cancel()
                await asyncio.wait({task})

    async def _own(self, partition: Partition, stop: asyncio.Event, leases: Leases, listening: int) -> None:
        """Run a partition, log the error that ends it, and give up its lease."""
        number = partition.number
        try:
            await partition.run(stop)
        except Fenced as error:
            log.warning("partition_lost", partition=number, worker=self.name, error=str(error))
        except DecisionStuck as error:
            self._stuck = error
            self._stop.set()
        except TablesDiffer as error:
            log.warning("partition_refused", partition=number, worker=self.name, error=str(error))
            await asyncio.sleep(LONG_PAUSE)
        except KindMissing as error:
            log.exception("partition_unreadable", partition=number, worker=self.name, error=str(error))
            await asyncio.sleep(LONG_PAUSE)
        except PhaselineError as error:
            # The error says all, so there is no traceback.
            log.error("partition_failed", partition=number, worker=self.name, error=str(error))  # noqa: TRY400
            await asyncio.sleep(PAUSE)
        except Exception as error:
            log.exception("partition_broken", partition=number, worker=self.name, error=repr(error))
            await asyncio.sleep(PAUSE)
        finally:
            self.owned.pop(number, None)
            self.loaded.pop(number, None)
            await self.wire.unsubscribe(listening)
            self._add(partition.counts)
            await leases.give_up(number)

    def _add(self, counts: EventCounts) -> None:
        for name in EventCounts.__dataclass_fields__:
            setattr(self.done, name, getattr(self.done, name) + getattr(counts, name))

    async def _report(self) -> None:
        last = self.counts()
        while True:
            await asyncio.sleep(REPORT)
            now = self.counts()
            if now != last:
                log.info("worker_counts", worker=self.name, owned=sorted(self.owned), **asdict(now))
            last = now
