"""Running systems: one worker process, or an embedded server with several workers.

Belongs here: starting the parts, and stopping them in order. Does not: options, texts for people (`engine.cli`).
"""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import structlog

from phaseline.engine.jetstream.embedded import EmbeddedServer
from phaseline.engine.jetstream.wire import Wire
from phaseline.engine.settings import Settings
from phaseline.engine.worker.worker import Worker, worker_name
from phaseline.machines.compiler.kinds import Kinds

HUNG = 30.0
"""Seconds of computing without a turn of the event loop after which a worker process ends by SIGVTALRM."""
DRAIN = 10.0
"""Seconds that a worker process of ours has to finish its commits."""

log = structlog.get_logger(__name__)


def stopped_by_signals() -> asyncio.Event:
    """An event that Ctrl-C or SIGTERM sets; a second one ends the process at once."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def ask(number: signal.Signals) -> None:
        if stop.is_set():
            loop.remove_signal_handler(number)
            signal.raise_signal(number)
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ask, number)
    return stop


async def work(settings: Settings, kinds: Kinds, stop: asyncio.Event, ready: asyncio.Event | None = None) -> Worker:
    """Run one worker on a server that exists, until `stop`. Returns the worker with its counts.

    ready: set once the streams exist.
    """
    name = worker_name()
    async with Wire.open(settings, name=name, patient=True) as wire:
        worker = Worker(wire, settings, kinds, name, ready)
        alive = asyncio.create_task(_stay_alive())
        try:
            await worker.run(stop)
        finally:
            alive.cancel()
        return worker


async def _stay_alive() -> None:
    """Let the kernel end this process once its event loop has not run for `HUNG` seconds of computing.

    Rules in a thread cannot hold up the loop, except by code in C that keeps the interpreter to itself. Seconds of
    computing are counted, so a process that is frozen for a while goes on afterwards.
    """
    try:
        while True:
            signal.setitimer(signal.ITIMER_VIRTUAL, HUNG)
            await asyncio.sleep(HUNG / 10)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


@asynccontextmanager
async def system(
    settings: Settings,
    kinds: Kinds,
    data: Path | None,
    port: int,
    *,
    workers: int = 1,
    sync_always: bool = False,
) -> AsyncIterator[tuple[EmbeddedServer, Settings, asyncio.Task[Worker]]]:
    """Run an embedded server with a worker in this process and `workers - 1` worker processes; drain all at the end."""
    async with EmbeddedServer(data, port, sync_always=sync_always) as server:
        settings = replace(settings, nats=(server.url,))
        stop, ready = asyncio.Event(), asyncio.Event()
        task = asyncio.create_task(work(settings, kinds, stop, ready))
        others = [await _spawn(settings) for _ in range(workers - 1)]
        try:
            await until(ready, task)
            yield server, settings, task
        finally:
            stop.set()
            for process in others:
                if process.returncode is None:
                    process.terminate()
            await asyncio.gather(task, *(_drained(process) for process in others))


async def _spawn(settings: Settings) -> asyncio.subprocess.Process:
    command = ["-m", "phaseline.engine.cli", "worker", "--nats", settings.nats[0], "--prefix", settings.prefix]
    return await asyncio.create_subprocess_exec(sys.executable, *command, start_new_session=True)


async def _drained(process: asyncio.subprocess.Process) -> None:
    try:
        await asyncio.wait_for(process.wait(), DRAIN)
    except TimeoutError:
        log.warning("worker_killed", pid=process.pid, seconds=DRAIN)
        process.kill()
        await process.wait()


async def until(stop: asyncio.Event, task: asyncio.Task[Worker]) -> None:
    """Wait for `stop`. Raises the error of a worker that ends before that."""
    waiting = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({waiting, task}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
    if task.done():
        await task
