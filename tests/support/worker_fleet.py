"""Several worker processes with log files, and the troubles that can befall them: kills, freezes, storms of starts.

Belongs here: starting, stopping, freezing and killing. Does not: events, checks of the log.
"""

import asyncio
import random
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from phaseline.engine.settings import Settings
from tests.support.killable_worker import WorkerProcess

STORM = 5
"""Workers that start at once."""


class Fleet:
    """Workers of one installation. `log`: what all of them said, those that were killed too."""

    def __init__(self, settings: Settings, folder: Path, dice: random.Random) -> None:
        self.settings, self.folder, self.dice = settings, folder, dice
        self.running: list[WorkerProcess] = []
        self.started = 0

    async def start(self) -> WorkerProcess:
        """Start one more worker."""
        self.started += 1
        worker = await WorkerProcess.start(self.settings, log=self.folder / f"worker-{self.started}.log")
        self.running.append(worker)
        return worker

    async def kill(self, worker: WorkerProcess) -> None:
        """SIGKILL."""
        worker.assert_runs()
        self.running.remove(worker)
        await worker.kill()

    async def killed(self) -> None:
        """One worker is killed and another one starts."""
        await asyncio.sleep(self.dice.uniform(0.0, 0.4))
        await self.kill(self.dice.choice(self.running))
        await self.start()

    async def frozen(self) -> None:
        """One worker stands still until others may have its partitions. Then it wakes up and goes on."""
        worker = self.dice.choice(self.running)
        worker.process.send_signal(signal.SIGSTOP)
        await asyncio.sleep(self.settings.lease * self.dice.uniform(0.5, 3.0))
        worker.process.send_signal(signal.SIGCONT)

    async def stormed(self) -> None:
        """Many workers start at once, and are killed while they take over."""
        storm = await asyncio.gather(*(self.start() for _ in range(STORM)))
        await asyncio.sleep(self.dice.uniform(0.2, 2.0))
        for worker in storm:
            await self.kill(worker)

    @property
    def log(self) -> str:
        return "".join(path.read_text() for path in sorted(self.folder.glob("worker-*.log")))


Trouble = Callable[[Fleet], Awaitable[None]]


@asynccontextmanager
async def fleet_of(settings: Settings, count: int, folder: Path, seed: int = 0) -> AsyncIterator[Fleet]:
    """So many workers, which are stopped at the end."""
    fleet = Fleet(settings, folder, random.Random(seed))
    try:
        await asyncio.gather(*(fleet.start() for _ in range(count)))
        yield fleet
        for worker in fleet.running:
            worker.assert_runs()
        await asyncio.gather(*(worker.stop() for worker in fleet.running))
    finally:
        for worker in fleet.running:
            if worker.process.returncode is None:
                worker.process.kill()
                await worker.process.wait()
