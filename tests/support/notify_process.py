"""The command `notify` as a process that a test kills and starts again, and where it began to follow the log.

Belongs here: both. Does not: the tests.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from phaseline.engine.surfaces.client.client import Client
from phaseline.schemas.errors import EntityUnknown
from phaseline.schemas.records import Transition
from tests.support import forked_process
from tests.support.command import ENVIRONMENT, LIMIT, MODULE
from tests.support.patience import wait_for


class Notify:
    """The command. What it says goes to a file, so that nobody has to read it."""

    def __init__(self, environment: Mapping[str, str], rules: Path, said: Path) -> None:
        self.rules, self.said = rules, said
        self._environment = {**ENVIRONMENT, **environment}
        self.process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start it, and do not wait until it is at work."""
        words = ("notify", "--rules", str(self.rules), "--quiet")
        with self.said.open("ab") as file:
            self.process = await forked_process.start(
                MODULE, *words, environment=self._environment, stdout=forked_process.DEVNULL, stderr=file.fileno()
            )

    async def until_at_work(self) -> None:
        """Wait until it has caught up for the first time."""
        async with asyncio.timeout(LIMIT):
            while "at work" not in self.said.read_text():
                assert self.process is None or self.process.returncode is None, self.said.read_text()
                await asyncio.sleep(0.05)

    async def kill(self) -> None:
        """SIGKILL. One that has ended by itself is a failure."""
        assert self.process is not None
        assert self.process.returncode is None, self.said.read_text()[-4_000:]
        self.process.kill()
        await self.process.communicate()

    async def stop(self) -> int:
        """Stop it; its exit code."""
        assert self.process is not None
        self.process.terminate()
        await self.process.communicate()
        return self.process.returncode or 0


async def first_place(notices: Client) -> int:
    """The place from which on the log was followed."""
    found: list[Transition] = []

    async def is_known() -> bool:
        with suppress(EntityUnknown):
            history = notices.history("notifier", "pl")
            found[:] = [one async for one in history if "place" in one.entity.attributes]
        return bool(found)

    async def version() -> object:
        return len(found)

    await wait_for(is_known, version)
    return int(found[0].entity.attributes["place"])
