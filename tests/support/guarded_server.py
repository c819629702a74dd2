"""A server with users who may publish to some subjects only."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from phaseline.engine.nats.embedded.server import EmbeddedServer
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.client.client import Client
from tests.support.installation import at_work

ASKS = ["$JS.API.DIRECT.GET.pl-STATE.pl.state.>"]
READS = [
    "$JS.API.STREAM.INFO.pl-EVENTS",
    *(
        f"$JS.API.{what}"
        for stream in ("pl-LOG", "pl-STATE")
        for what in (
            f"STREAM.INFO.{stream}",
            f"CONSUMER.CREATE.{stream}.>",
            f"CONSUMER.MSG.NEXT.{stream}.>",
            f"CONSUMER.DELETE.{stream}.>",
        )
    ),
    "$JS.API.DIRECT.GET.pl-LOG",
    *ASKS,
]
USERS = {
    "agent": ["pl.events.c1.>"], "asker": ASKS, "reader": READS,
    "half": [one for one in READS if "MSG.NEXT" not in one],
}  # fmt: skip


class Guarded(EmbeddedServer):
    """A server whose users may publish what `USERS` allows, and whose engine may do everything."""

    def _config(self) -> str:
        users = [
            {"user": name, "password": name, "permissions": {"publish": may, "subscribe": [f"_INBOX_{name}.>"]}}
            for name, may in USERS.items()
        ]
        users.append({"user": "engine", "password": "engine"})
        return f"{super()._config()}\nauthorization {{ users: {json.dumps(users)}, timeout: 60 }}\n"


def as_user(name: str, url: str) -> str:
    return url.replace("//", f"//{name}:{name}@")


@asynccontextmanager
async def guarded_installation() -> AsyncIterator[str]:
    """The URL, without a user, of such a server on which a worker runs."""
    async with Guarded() as server:
        settings = Settings(nats=(as_user("engine", server.url),), partitions=2)
        async with Wire.open(settings) as wire, at_work(settings, wire):
            async with Client.open(settings) as client:
                await client.publish_and_wait("cluster", "adopt", "c1", {"phase": "Running"})
                await client.publish_and_wait("node", "adopt", "c1/p/n1", {"phase": "Running"})
            yield server.url
