"""Worker processes beside the worker of `phaseline up`, each started again when it dies.

Belongs here: starting, replacing and draining them. Does not: the worker itself (`worker`), the server
(`nats.embedded`). On Linux they end with the process that started them, even if that is killed.
"""

import asyncio
import os
import sys
from collections.abc import Sequence

from phaseline.engine import logs
from phaseline.engine.nats.embedded.server import end_with_parent
from phaseline.engine.nats.embedded.supervisor import Deaths, how_it_ended
from phaseline.engine.settings import Settings
from phaseline.engine.worker.stopping import unless_stopped

DRAIN = 10.0
"""Seconds that a worker process of ours has to finish its commits."""

log = logs.get_logger(__name__)


async def keep_running(settings: Settings, stop: asyncio.Event, *, quiet: bool, further: Sequence[str] = ()) -> None:
    """Run a worker process until `stop`, and another one whenever it dies; drain it at the end.

    quiet: it logs warnings and errors only. further: more options.
    """
    deaths = Deaths()
    while not stop.is_set():
        how = await _run([*options_of(settings), *further, "--quiet" if quiet else "-v"], stop)
        if not stop.is_set():
            deaths.add()
            log.error("worker_died", how=how, deaths=deaths.count, seconds=deaths.pause)
            await unless_stopped(asyncio.sleep(deaths.pause), stop)


async def _run(options: Sequence[str], stop: asyncio.Event) -> str:
    """Run one worker process to its end, or until `stop`; how it ended."""
    try:
        process = await _spawn(options)
    except OSError as error:
        return str(error)
    await unless_stopped(process.wait(), stop)
    if stop.is_set():
        await _drained(process)
    return how_it_ended(process.returncode or 0)


async def _spawn(options: Sequence[str]) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "phaseline.engine.surfaces.cli",
        "worker",
        *options,
        env={name: value for name, value in os.environ.items() if not name.startswith("PHASELINE_")},
        start_new_session=True,  # Ctrl-C must not reach it: we drain it
        preexec_fn=end_with_parent(),
    )


def options_of(settings: Settings) -> list[str]:
    """The options that give a worker process these settings, without anything from the environment."""
    given = {
        "nats": settings.nats[0], "nkey": settings.nkey, "prefix": settings.prefix, "lease": settings.lease,
        "timeout": settings.request_timeout, "silence-after": f"{settings.silence_after!r}s",
        "accept-tables": settings.accept_tables, "accept-stranded": settings.accept_stranded,
    }  # fmt: skip
    words = [f"--{name}={value}" for name, value in given.items() if value not in (None, "")]
    return [*words, *(["--accept-loss"] if settings.accept_loss else [])]


async def _drained(process: asyncio.subprocess.Process) -> None:
    """Let a worker process finish its commits. One that is still starting ends at once: it owns nothing yet."""
    if process.returncode is None:
        process.terminate()
    try:
        async with asyncio.timeout(DRAIN):
            await process.wait()
    except TimeoutError:
        log.warning("worker_killed", pid=process.pid, seconds=DRAIN)
        process.kill()
        await process.wait()
