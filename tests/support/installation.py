"""Installations with a worker, also with a decided history of some clusters.

Belongs here: making one, waiting until the last event is decided, and the names of the engine that tests with a server
speak of: they import them from here, so that a module that moves is named in one place. Does not: the tests, the
fixture `installation` with its clients (`own_installation`), because the kernel is tested without clients.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

from phaseline.engine.log.installation import Installation
from phaseline.engine.nats.embedded.server import EmbeddedServer, find_binary
from phaseline.engine.nats.reader import Stored
from phaseline.engine.nats.streams import Layout, inspect, layout_of, provision
from phaseline.engine.nats.wire import Wire
from phaseline.engine.publish.pipeline import PublishResult
from phaseline.engine.settings import DEFAULT_URL, FEEDS, PACING, Feed, Pacing, Settings
from phaseline.engine.worker import system
from phaseline.engine.worker.system import run_worker
from phaseline.engine.worker.worker import Worker
from phaseline.machines.compiler.kinds import Kinds
from tests.support.log_check import decided
from tests.support.patience import wait_for
from tests.support.random_events import RandomEvents, publish

__all__ = [
    "DEFAULT_URL", "FEEDS", "EmbeddedServer", "Feed", "Installation", "Layout", "Pacing", "PublishResult", "Settings",
    "Stored", "Wire", "Worker", "find_binary", "inspect", "layout_of", "provision", "run_worker", "system",
]  # fmt: skip
"""The names of the engine."""

LIMIT = 120
"""Seconds until a test gives up waiting: many, for a machine that is busy."""


@asynccontextmanager
async def at_work(
    settings: Settings, wire: Wire, kinds: Kinds | None = None, pacing: Pacing = PACING
) -> AsyncIterator[Layout]:
    """An installation with a worker while the block runs. kinds: by default the built-in ones."""
    from tests.support.built_in_kinds import BUILT_IN_KINDS  # the kernel is tested without them

    worker, stop = Worker(wire, settings, kinds or BUILT_IN_KINDS, pacing=pacing), asyncio.Event()
    running = asyncio.create_task(worker.run(stop))
    try:
        await ready(worker, running)
        yield await provision(wire, settings)
    finally:
        stop.set()
        await running


async def ready(worker: Worker, running: asyncio.Task[None]) -> None:
    """Wait until a worker works; raises the error that ended it before."""
    waiting = asyncio.ensure_future(worker.ready.wait())
    try:
        await asyncio.wait({waiting, running}, return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            running.result()
    finally:
        waiting.cancel()


@asynccontextmanager
async def working(settings: Settings, wire: Wire, kinds: Kinds, partitions: int = 3) -> AsyncIterator[Layout]:
    """An empty installation with so many partitions and a worker."""
    async with at_work(replace(settings, partitions=partitions), wire, kinds) as layout:
        yield layout


async def until_decided(wire: Wire, layout: Layout) -> None:
    """Wait until all stored events have been decided, as long as the log grows."""

    async def grown() -> object:
        return (await wire.api(f"STREAM.INFO.{layout.log}"))["state"]["last_seq"]

    await wait_for(partial(decided, wire, layout), grown)


@asynccontextmanager
async def installation_with_history(
    settings: Settings, wire: Wire, events: int = 600, clusters: int = 6, nodes: int = 4
) -> AsyncIterator[Layout]:
    """An installation with this many random events after its clusters were built."""
    from tests.support.built_in_kinds import BUILT_IN_KINDS  # the kernel is tested without them

    async with working(settings, wire, BUILT_IN_KINDS) as layout:
        fleet = RandomEvents(settings.prefix)
        await publish(wire, [*fleet.built(clusters, nodes), *fleet.life(events, clusters, nodes)])
        await until_decided(wire, layout)
        yield layout
