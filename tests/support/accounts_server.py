"""A server with the accounts that `phaseline admin accounts` prints, a worker on it, and settings for each user.

Belongs here: starting it, connecting as one of its users, what tests of accounts take from the engine. Does not:
what each user may do (the tests say it).
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from phaseline.engine.nats.accounts import roles
from phaseline.engine.nats.accounts.keys import KeyFolder
from phaseline.engine.nats.accounts.nats_conf import nats_conf
from phaseline.engine.nats.accounts.users import AccountPlan, inbox_of
from phaseline.engine.nats.embedded.server import EmbeddedServer
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import Settings
from phaseline.engine.worker.worker import Worker
from tests.support.built_in_kinds import BUILT_IN_KINDS

__all__ = ["AccountPlan", "inbox_of", "roles"]

SPY = "spy"
"""A user of the engine's account who sees everything there. Only tests have one."""


class AccountsServer(EmbeddedServer):
    """A server with the accounts of a plan. `keys`: the folder of its users' seeds."""

    def __init__(self, plan: AccountPlan, keys: Path, *, data: Path | None = None) -> None:
        super().__init__(data)
        self.plan, self.keys = plan, KeyFolder(keys)
        self._stop = asyncio.Event()
        self._working: asyncio.Task[None] | None = None

    def _config(self) -> str:
        printed = nats_conf(self.plan, self.keys.public)
        [head, tail] = printed.split("    users: [\n", 1)
        spy = f"      {{ nkey: {self.keys.public(SPY)} }}\n"
        return f"{super()._config()}{head}    users: [\n{spy}{tail}"

    def settings(self, user: str, **more: Any) -> Settings:
        """Settings of one of its users."""
        api = f"{self.plan.prefix}.read" if user in self.plan.readers else "$JS.API"
        values: dict[str, Any] = {
            "api_prefix": api,
            "partitions": 2,
            "request_timeout": 30.0,
            "connect_timeout": 30.0,
            **more,
        }
        return Settings(
            nats=(self.url,),
            nkey=self.keys.file(user),
            inbox_prefix=inbox_of(user),
            prefix=self.plan.prefix,
            **values,
        )

    async def start_worker(self) -> None:
        """Start a worker as the user `engine`, and wait until it works."""
        ready = asyncio.Event()
        self._working = asyncio.create_task(self._work(ready))
        waiting = asyncio.ensure_future(ready.wait())
        await asyncio.wait({waiting, self._working}, return_when=asyncio.FIRST_COMPLETED)
        if not ready.is_set():
            waiting.cancel()
            await self._working

    async def _work(self, ready: asyncio.Event) -> None:
        settings = self.settings("engine")
        async with Wire.open(settings, name="worker") as wire:
            await Worker(wire, settings, BUILT_IN_KINDS, ready=ready).run(self._stop)

    async def stop_worker(self) -> None:
        """Let the worker end in order, if there is one."""
        self._stop.set()
        working, self._working = self._working, None
        if working is not None:
            await working


@asynccontextmanager
async def accounts_installation() -> AsyncIterator[AccountsServer]:
    """Such a server for the trees c1 and c2, on which a worker runs as the user `engine`."""
    with tempfile.TemporaryDirectory() as folder:
        async with AccountsServer(AccountPlan("pl", ("c1", "c2")), Path(folder)) as server:
            try:
                await server.start_worker()
                yield server
            finally:
                await server.stop_worker()
