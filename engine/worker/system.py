"""Running systems: one worker process, or an embedded server with several workers.

Belongs here: starting the parts, and stopping them in order. Does not: options, texts for people (`surfaces.cli`).
"""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from pathlib import Path

from phaseline.engine import logs
from phaseline.engine.collecting import collecting_rarely
from phaseline.engine.core.counts.outcomes import EventCounts
from phaseline.engine.nats.embedded import server_key
from phaseline.engine.nats.embedded.server import EmbeddedServer
from phaseline.engine.nats.embedded.supervisor import Supervisor
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import INBOX, JETSTREAM, PACING, Pacing, Settings
from phaseline.engine.worker import worker_processes
from phaseline.engine.worker.stopping import unless_stopped
from phaseline.engine.worker.worker import Worker, worker_name
from phaseline.machines.compiler.kinds import Kinds

Watch = Callable[[Worker], None]

log = logs.get_logger(__name__)


def stopped_by_signals() -> asyncio.Event:
    """An event that Ctrl-C, SIGTERM or the end of the terminal sets; a second one ends the process at once."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def ask(number: signal.Signals) -> None:
        if stop.is_set():
            loop.remove_signal_handler(number)
            signal.raise_signal(number)
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN or number != signal.SIGHUP:  # nohup lets it be ignored
            loop.add_signal_handler(number, ask, number)
    return stop


async def run_worker(
    settings: Settings, kinds: Kinds, stop: asyncio.Event, ready: asyncio.Event | None = None,
    watch: Watch | None = None, *, server_began: bool = False, pacing: Pacing = PACING,
) -> Worker | None:  # fmt: skip
    """Run one worker on a server that exists, until `stop`. Returns the worker with its counts.

    None if the worker was stopped before it reached NATS.

    ready: set once the streams exist. watch: called with the worker once it has reached NATS. server_began: whether the
    server was started just now.
    """
    name = worker_name()
    opened = Wire.open(settings, name=name, patient=True)
    wire = await unless_stopped(opened.__aenter__(), stop)
    if wire is None:
        log.info("worker_stopped", worker=name, **asdict(EventCounts()))
        return None
    try:
        worker = Worker(wire, settings, kinds, name, ready, pacing)
        worker.server_began = server_began
        if watch is not None:
            watch(worker)
        alive = asyncio.create_task(_stay_alive(pacing.hung))
        try:
            with collecting_rarely():
                await worker.run(stop)
        finally:
            alive.cancel()
    finally:
        await opened.__aexit__(None, None, None)
    return worker


async def _stay_alive(hung: float) -> None:
    """Let the kernel end this process once its event loop has not run for so many seconds of computing.

    Rules in a thread cannot hold up the loop, except by code in C that keeps the interpreter to itself. Seconds of
    computing are counted, so a process that is frozen for a while goes on afterwards.
    """
    try:
        while True:
            signal.setitimer(signal.ITIMER_VIRTUAL, hung)
            await asyncio.sleep(hung / 10)
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
    is_open: bool = False,
    quiet: bool = True,
    watch: Watch | None = None,
    further: Sequence[Sequence[str]] = (),
) -> AsyncIterator[tuple[EmbeddedServer, Settings, asyncio.Task[Worker | None]]]:
    """Run an embedded server with a worker in this process and `workers - 1` worker processes; drain all at the end.

    The server is started again when it dies. The task ends with the worker, or with `SetupError.server_gone`.
    is_open: everybody on this machine may connect. Otherwise only this user may, whose commands find the key.
    quiet: the worker processes log warnings and errors only. watch: as for `run_worker`. further: more options for each
    worker process.
    """
    async with (
        EmbeddedServer(data, port, sync_always=sync_always, protected=not is_open) as server,
        _announced(server),
    ):
        key = None if server.key is None else server.key.path
        settings = _within(settings, server.url, key)
        stop, ready = asyncio.Event(), asyncio.Event()
        keeper = asyncio.create_task(Supervisor(server).run())
        worker = asyncio.create_task(run_worker(settings, kinds, stop, ready, watch, server_began=True))
        task = asyncio.create_task(_first_of(worker, keeper))
        others = [
            asyncio.create_task(worker_processes.keep_running(settings, stop, quiet=quiet, further=more))
            for more in further or [()] * (workers - 1)
        ]
        try:
            await until(ready, task)
            yield server, settings, task
        finally:
            keeper.cancel()
            stop.set()
            await asyncio.gather(worker, *others)


def _within(settings: Settings, url: str, key: Path | None) -> Settings:
    """The settings of an installation, for its embedded server: nothing that leads to another one remains."""
    return replace(
        settings, nats=(url,), nkey=key, creds=None, tls_ca=None, tls_cert=None, tls_key=None,
        inbox_prefix=INBOX, api_prefix=JETSTREAM,
    )  # fmt: skip


async def _first_of(worker: asyncio.Task[Worker | None], keeper: asyncio.Task[None]) -> Worker | None:
    """The worker, once it has ended. Raises its error, or that of the server's keeper."""
    await asyncio.wait({worker, keeper}, return_when=asyncio.FIRST_COMPLETED)
    if keeper.done() and not keeper.cancelled():
        keeper.result()
    return await worker


@asynccontextmanager
async def _announced(server: EmbeddedServer) -> AsyncIterator[None]:
    """While the server runs, commands of this user find its key."""
    try:
        server_key.announce(server.port, server.key)
    except OSError as error:
        log.warning("key_not_announced", path=str(error.filename), error=error.strerror or str(error))
    try:
        yield
    finally:
        if server.key is not None:
            server_key.withdraw(server.port, server.key)


async def until(stop: asyncio.Event, task: asyncio.Task[Worker | None]) -> None:
    """Wait for `stop`. Raises the error of a worker that ends before that."""
    waiting = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({waiting, task}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
    if task.done():
        await task
