"""A worker process: one connection, as many partition loops as its leases give it.

Belongs here: starting and stopping partitions as ownership changes, and what a partition's end means.
Does not: the loop itself (`partition`), who should own what (`lease`).
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
"""In 2.14 a consumer of several filters passes over messages of a batch: watches and outcomes would miss records."""
UNAVAILABLE = 503
REPORT = 60.0
"""Seconds between two lines that say what was done."""
DRAIN = 10.0
"""Seconds a partition gets to finish the commit under way. Cutting it off is safe: the next owner fences it."""
BREATH = 1.0
"""Seconds before a partition that failed is offered to the workers again."""

log = structlog.get_logger(__name__)


def worker_name() -> str:
    """A name no other worker has: host, process, and a few random letters."""
    host = "".join(c if c.isalnum() or c in "-_" else "-" for c in socket.gethostname())
    return f"{host}-{os.getpid()}-{secrets.token_hex(2)}"


class Worker:
    """Owns its share of the partitions from `run` until `stop` is set."""

    def __init__(
        self, wire: Wire, settings: Settings, kinds: Kinds, name: str | None = None, ready: asyncio.Event | None = None
    ) -> None:
        """`name` shows in leases, checkpoints and logs; `ready` is set once the streams exist."""
        self.wire, self.settings, self.kinds = wire, settings, kinds
        self.name = name or worker_name()
        self.owned: dict[int, tuple[Partition, asyncio.Event, asyncio.Task[None]]] = {}
        self.loaded: dict[int, Partition] = {}
        """Those that may be asked what they hold."""
        self.done = EventCounts()
        self.ready = ready or asyncio.Event()

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop`; then finish the commits under way and give the partitions back."""
        libraries.check(self.kinds)
        self.wire.require(*MINIMUM_SERVER)
        table_eras.check_accepted(self.settings, self.kinds)
        installation = await self._provisioned(stop)
        if installation is None:
            return
        layout = installation.layout
        log.info("worker_started", worker=self.name, partitions=layout.partitions, prefix=layout.prefix)
        leases = Leases(self.wire, self.settings, layout, self.name)
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

    async def _provisioned(self, stop: asyncio.Event) -> Installation | None:
        """The installation; its streams are made where they are absent. Waits for servers that are away or elect a leader.

        Raises `TablesDiffer` where a partition was decided by other tables than ours.
        """
        waits = False
        while not stop.is_set():
            try:
                return await self._checked(await provision(self.wire, self.settings))
            except (NoAnswer, NatsUnreachable, ApiFailed) as error:
                if isinstance(error, ApiFailed) and error.code != UNAVAILABLE:
                    raise
                if not waits:
                    log.warning("worker_waits", worker=self.name, why=str(error))
                waits = True
                await asyncio.sleep(BREATH)
        return None

    async def _checked(self, layout: Layout) -> Installation:
        installation = Installation(self.wire, layout, self.kinds)
        await table_eras.check_all(installation, self.settings.accept_tables)
        return installation

    def counts(self) -> EventCounts:
        """What became of all events this worker has seen."""
        parts = [self.done, *(partition.counts for partition, _, _ in self.owned.values())]
        return EventCounts(*(sum(getattr(part, name) for part in parts) for name in EventCounts.__dataclass_fields__))

    async def _start(self, installation: Installation, leases: Leases, status: StatusService, number: int) -> None:
        stop = asyncio.Event()
        partition = Partition(
            self.wire, installation.layout, self.kinds, number, self.name, self.settings.accept_tables
        )
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
                log.warning(
                    "partition_cut_off", partition=number, worker=self.name, why=f"it did not stop in {DRAIN:g} s"
                )
                task.cancel()
                await asyncio.wait({task})

    async def _own(self, partition: Partition, stop: asyncio.Event, leases: Leases, listening: int) -> None:
        number = partition.number
        try:
            await partition.run(stop)
        except Fenced as error:
            log.warning("partition_lost", partition=number, worker=self.name, why=str(error))
        except TablesDiffer as error:
            log.warning("partition_refused", partition=number, worker=self.name, why=str(error))
            await asyncio.sleep(BREATH * 10)
        except KindMissing:
            log.exception("partition_unreadable", partition=number, worker=self.name)
            await asyncio.sleep(BREATH * 10)
        except PhaselineError as error:
            log.error("partition_failed", partition=number, worker=self.name, why=str(error))  # noqa: TRY400  # expected
            await asyncio.sleep(BREATH)
        except Exception:
            log.exception("partition_broken", partition=number, worker=self.name)
            await asyncio.sleep(BREATH)
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
