"""A server with the accounts that `phaseline accounts` prints, a worker on it, and settings for each user.

Belongs here: starting it, and connecting as one of its users. Does not: what each user may do (the tests say it).
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from phaseline.engine.accounts.keys import UserKeys
from phaseline.engine.accounts.nats_conf import nats_conf
from phaseline.engine.accounts.users import Plan, inbox_of
from phaseline.engine.jetstream.embedded import EmbeddedServer
from phaseline.engine.jetstream.wire import Wire
from phaseline.engine.settings import Settings
from phaseline.engine.worker.worker import Worker
from tests.support.built_in_kinds import BUILT_IN_KINDS

READ = ("reader",)


class AccountsServer(EmbeddedServer):
    """A server with the accounts of a plan. `keys`: the folder of its users' seeds."""

    def __init__(self, plan: Plan, keys: Path, more: str = "") -> None:
        super().__init__()
        self.plan, self.keys, self.more = plan, UserKeys(keys), more

    def _config(self) -> str:
        return super()._config() + nats_conf(self.plan, self.keys.public) + self.more

    def settings(self, user: str, **more: Any) -> Settings:
        """Settings of one of its users."""
        api = f"{self.plan.prefix}.read" if user in self.plan.readers else "$JS.API"
        values: dict[str, Any] = {"api_prefix": api, "partitions": 2, "request_timeout": 2.0, **more}
        return Settings(
            nats=(self.url,),
            nkey=self.keys.file(user),
            inbox_prefix=inbox_of(user),
            prefix=self.plan.prefix,
            **values,
        )


@asynccontextmanager
async def accounts_installation(trees: Sequence[str] = ("c1", "c2"), prefix: str = "pl") -> AsyncIterator[AccountsServer]:
    """Such a server, on which a worker runs as the user `engine`."""
    with tempfile.TemporaryDirectory() as folder:
        async with AccountsServer(Plan(prefix, trees), Path(folder)) as server:
            settings = server.settings("engine")
            async with Wire.open(settings, name="worker") as wire:
                stop = asyncio.Event()
                worker = Worker(wire, settings, BUILT_IN_KINDS)
                working = asyncio.create_task(worker.run(stop))
                await worker.ready.wait()
                yield server
                stop.set()
                await working
