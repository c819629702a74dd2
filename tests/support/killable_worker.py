"""Starts workers as processes that a test can kill."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from phaseline.engine.settings import Settings
from tests.support.command import ROOT
from tests.support.installation import LIMIT


class WorkerProcess:
    """A worker in a process of its own."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    @classmethod
    async def start(
        cls, settings: Settings, *arguments: str, program: str = "tests.support.worker_process"
    ) -> "WorkerProcess":
        """`program`: the module that runs the worker."""
        command = ["-m", program, ",".join(settings.nats), settings.prefix, *arguments]
        environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}"}
        process = await asyncio.create_subprocess_exec(
            sys.executable, *command, cwd=ROOT, env=environment, stderr=asyncio.subprocess.PIPE
        )
        return cls(process)

    async def kill(self) -> None:
        self.process.kill()
        await self.process.communicate()

    async def stop(self) -> str:
        """Stop the worker; return what it logged."""
        if self.process.returncode is None:
            self.process.terminate()
        _, said = await asyncio.wait_for(self.process.communicate(), LIMIT)
        return said.decode()


@asynccontextmanager
async def workers(settings: Settings, count: int) -> AsyncIterator[list[WorkerProcess]]:
    running = [await WorkerProcess.start(settings) for _ in range(count)]
    try:
        yield running
    finally:
        await asyncio.gather(*(worker.stop() for worker in running))
