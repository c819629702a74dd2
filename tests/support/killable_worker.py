"""Starts workers as processes that a test can kill."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path

from phaseline.engine.settings import Settings
from tests.support import forked_process
from tests.support.installation import LIMIT


class WorkerProcess:
    """A worker in a process of its own."""

    def __init__(self, process: asyncio.subprocess.Process, log: Path | None = None) -> None:
        self.process, self.log = process, log

    @classmethod
    async def start(
        cls, settings: Settings, *arguments: str, log: Path | None = None, program: str = "tests.support.worker_process"
    ) -> "WorkerProcess":
        """Start a worker. program: the module that runs it.

        log: where it writes its lines, if they are too many for a pipe that nobody reads.
        """
        words = (",".join(settings.nats), settings.prefix, *arguments)
        with nullcontext() if log is None else log.open("ab") as file:
            stderr = forked_process.PIPE if file is None else file.fileno()
            process = await forked_process.start(program, *words, environment=os.environ, stdout=None, stderr=stderr)
        return cls(process, log)

    def assert_runs(self) -> None:
        """A worker that has ended by itself is a failure."""
        said = "" if self.log is None else self.log.read_text()[-4_000:]
        status = self.process.returncode
        assert status is None, f"a worker ended by itself with status {status}: {said}"

    async def kill(self) -> None:
        self.process.kill()
        await self.process.communicate()

    async def stop(self) -> str:
        """Stop the worker; return what it logged."""
        if self.process.returncode is None:
            self.process.terminate()
        _, said = await asyncio.wait_for(self.process.communicate(), LIMIT)
        return (said or b"").decode()


@asynccontextmanager
async def workers(settings: Settings, count: int) -> AsyncIterator[list[WorkerProcess]]:
    running = [await WorkerProcess.start(settings) for _ in range(count)]
    try:
        yield running
    finally:
        await asyncio.gather(*(worker.stop() for worker in running))
