"""Phaseline as a contender: a worker process with default settings.

`prepare`: one alone, until the last transition is in the log. `prepare_share`: one of several, until it is told to end.
"""

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace

from phaseline.engine.collecting import collecting_rarely
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import Settings
from phaseline.engine.worker.worker import Worker
from phaseline.machines.built_in import installed


async def prepare(url: str, prefix: str, count: int, _: int) -> Callable[[], Awaitable[None]]:
    """Connect. The measured work includes leases, take-over and all decisions."""
    logging.basicConfig(level=logging.WARNING)
    settings = Settings(nats=(url,), prefix=prefix)
    opened = Wire.open(settings, name="phaseline")
    wire = await opened.__aenter__()
    worker = Worker(wire, settings, installed())

    async def work() -> None:
        stop = asyncio.Event()
        collecting = collecting_rarely()  # as the command does
        collecting.__enter__()
        running = asyncio.create_task(worker.run(stop))
        while await _decided(wire, prefix) < count:
            await _runs_on(running, 0.005)
        kept = (stop, running, opened, collecting)
        prepare.ending = kept  # type: ignore[attr-defined]  # until the process ends

    async def _decided(wire: Wire, prefix: str) -> int:
        if sum(worker.measures.delays.counts) < count:  # to add up all counts would take 3 % of its time
            return 0
        info = await wire.api(f"STREAM.INFO.{prefix}-LOG", {"subjects_filter": f"{prefix}.log.*.transition.>"})
        return count if info["state"]["messages"] >= worker.counts().transitions else 0

    return work


async def prepare_share(url: str, prefix: str, partitions: int, lease: int) -> Callable[[], Awaitable[None]]:
    """Take over that many partitions. The measured work is what comes until a line on the standard input.

    lease: its seconds, for a machine that is busy; 0 for the usual ones.
    """
    logging.basicConfig(level=logging.WARNING)
    settings = Settings(nats=(url,), prefix=prefix)
    settings = replace(settings, lease=float(lease)) if lease else settings
    opened = Wire.open(settings, name="phaseline")
    worker = Worker(await opened.__aenter__(), settings, installed())
    stop = asyncio.Event()
    collecting_rarely().__enter__()
    running = asyncio.create_task(worker.run(stop))
    while sum(partition.tree is not None for partition in worker.loaded.values()) != partitions:
        await _runs_on(running, 0.05)

    async def work() -> None:
        await asyncio.to_thread(sys.stdin.readline)
        await _runs_on(running, 0.0)
        prepare_share.ending = (stop, running, opened)  # type: ignore[attr-defined]  # until the process ends

    return work


async def _runs_on(running: asyncio.Task[None], seconds: float) -> None:
    """Wait so long; raises the error that ended the worker."""
    await asyncio.wait({running}, timeout=seconds)
    if running.done():
        running.result()
        raise RuntimeError("the worker has ended by itself")
