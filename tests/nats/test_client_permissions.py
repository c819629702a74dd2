"""Users who may do one thing each, as docs/operating.md has them (Who may do what): that suffices, and nothing else works."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest

import phaseline
from phaseline.engine.client import Client
from phaseline.engine.embedded import EmbeddedServer
from phaseline.engine.errors import NotPermitted
from phaseline.engine.pipeline import Sent
from phaseline.engine.settings import Settings
from phaseline.engine.wire import Wire
from phaseline.engine.worker import Worker
from phaseline.machines.kinds import Kinds
from tests.nats.test_client_pipeline import event

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
USERS = {"agent": ["pl.events.c1.>"], "asker": ASKS, "reader": READS}


class Guarded(EmbeddedServer):
    """A server with users who may publish what `USERS` says, and an engine that may do all."""

    def _config(self) -> str:
        users = [
            {"user": name, "password": name, "permissions": {"publish": may, "subscribe": [f"_INBOX_{name}.>"]}}
            for name, may in USERS.items()
        ]
        users.append({"user": "engine", "password": "engine"})
        return f"{super()._config()}\nauthorization {{ users: {json.dumps(users)} }}\n"


@pytest.fixture
async def guarded() -> AsyncIterator[str]:
    """The URL of such a server, where a worker works; without a user."""
    async with Guarded() as server:
        settings = Settings(nats=(as_user("engine", server.url),), partitions=2)
        async with Wire.open(settings) as wire:
            stop = asyncio.Event()
            worker = Worker(wire, settings, Kinds())
            working = asyncio.create_task(worker.run(stop))
            await worker.ready.wait()
            async with Client.open(settings) as client:
                await client.publish_and_wait("cluster", "adopt", "c1", {"phase": "Running"})
                await client.publish_and_wait("node", "adopt", "c1/p/n1", {"phase": "Running"})
            yield server.url
            stop.set()
            await working


def as_user(name: str, url: str) -> str:
    return url.replace("//", f"//{name}:{name}@")


async def test_an_agent_speaks_for_its_own_tree_only(guarded: str) -> None:
    async with phaseline.connect(as_user("agent", guarded), inbox_prefix="_INBOX_agent", source="/agent/c1") as client:
        assert (await client.publish("cluster", "update", "c1")).sequence == 3
        own = [event(number, subject=f"node/c1/p/n{number}") for number in range(5)]
        assert await client.publish_many(own) == Sent(5, 0)
        with pytest.raises(NotPermitted, match=r"pl\.events\.c2"):
            await client.publish("cluster", "create", "c2")
        with pytest.raises(NotPermitted, match=r"pl\.events\.c2"):
            await client.publish_many([*own, event(9, subject="node/c2/p/n9")])
        with pytest.raises(NotPermitted):
            await client.get("cluster", "c1")


async def test_who_asks_for_states_gives_the_number_of_partitions(guarded: str) -> None:
    async with phaseline.connect(as_user("asker", guarded), inbox_prefix="_INBOX_asker", partitions=2) as client:
        assert (await client.get("node", "c1/p/n1")).facets[0].state.phase == "Running"
        with pytest.raises(NotPermitted):
            await client.tree("c1")
        with pytest.raises(NotPermitted):
            await client.publish("cluster", "update", "c1")


async def test_who_reads_sees_everything_and_sends_nothing(guarded: str) -> None:
    async with phaseline.connect(as_user("reader", guarded), inbox_prefix="_INBOX_reader") as client:
        assert [entity.id for entity in await client.tree("c1")] == ["c1", "c1/p", "c1/p/n1"]
        assert [record.entity.id async for record in client.watch(start="start", follow=False)]
        assert [record.after.phase async for record in client.history("node", "c1/p/n1")] == ["Running"]
        async with client.watch() as watch:
            assert watch.caught_up
        adopted = (await client.why("cluster", "c1")).facets[0].causes[0]
        assert adopted == (await client.why("cluster", "c1", at=1 << 40)).facets[0].causes[0]
        assert (adopted.records[0].trigger, await client.kind_of("c1/p", at=1 << 40)) == ("adopt", "node_pool")
        with pytest.raises(NotPermitted):
            await client.publish("cluster", "update", "c1")
