"""No publisher can make the server take another tree's event for a repeat."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

import phaseline
from phaseline.schemas import envelope
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.cloud_events import event
from tests.support.guarded_server import as_user
from tests.support.installation import EmbeddedServer, PublishResult, Settings, Wire, provision
from tests.support.installation import working as installation
from tests.support.own_installation import Client

OLD_FORM = "/agent/c1 e-1"
PLAIN = envelope.message_id("pl.events.c1.cluster.create", "/agent/c1", "e-1")
OTHERS = b'{"id":"x","source":"/agent/c2","type":"cluster.create","specversion":"1.0"}'


class TwoAgents(EmbeddedServer):
    """A server where each of two agents may speak for its own tree only."""

    def _config(self) -> str:
        users = [
            {"user": tree, "password": tree,
             "permissions": {"publish": [f"pl.events.{tree}.>"], "subscribe": [f"_INBOX_{tree}.>"]}}
            for tree in ("c1", "c2")
        ]  # fmt: skip
        users.append({"user": "engine", "password": "engine"})
        return f"{super()._config()}\nauthorization {{ users: {json.dumps(users)}, timeout: 60 }}\n"


@pytest_asyncio.fixture
async def two_agents() -> AsyncIterator[str]:
    async with TwoAgents() as server:
        settings = Settings(nats=(as_user("engine", server.url),))
        async with Wire.open(settings) as wire, installation(settings, wire, BUILT_IN_KINDS, partitions=2):
            yield server.url


async def occupied(wire: Wire, subject: str, *names: str) -> None:
    """Send events of another tree under these ids."""
    for name in names:
        await wire.publish_acked(subject, OTHERS, {"Nats-Msg-Id": name})


async def test_another_agent_cannot_occupy_an_id(two_agents: str) -> None:
    hostile = Settings(nats=(as_user("c2", two_agents),), inbox_prefix="_INBOX_c2")
    async with Wire.open(hostile) as wire:
        await occupied(wire, "pl.events.c2.cluster.create", OLD_FORM, PLAIN)
    async with phaseline.connect(as_user("c1", two_agents), inbox_prefix="_INBOX_c1", source="/agent/c1") as client:
        receipt = await client.publish("cluster", "create", "c1", event_id="e-1")
        assert not receipt.duplicate
        assert await client.publish("cluster", "create", "c1", event_id="e-1") == receipt._replace(duplicate=True)
        body = event(1, subject="cluster/c1", type="cluster.update")
        assert await client.publish_many([body]) == PublishResult(1, 0)
        assert await client.publish_many([body]) == PublishResult(0, 1)
    async with phaseline.connect(as_user("engine", two_agents)) as reader:
        outcome = await reader.outcome(receipt)
        assert [change.entity.id for change in outcome.transitions] == ["c1"]


async def test_without_credentials_the_stored_event_is_looked_at(client: Client, wire: Wire, working: Settings) -> None:
    own = envelope.message_id(f"{working.prefix}.events.c1.cluster.create", "/test", "e-1")
    await occupied(wire, f"{working.prefix}.events.c2.cluster.create", own)
    outcome = await client.publish_and_wait("cluster", "create", "c1", event_id="e-1")
    assert not outcome.receipt.duplicate
    assert [change.entity.id for change in outcome.transitions] == ["c1"]
    assert (await client.publish("cluster", "create", "c1", event_id="e-1")).duplicate


@pytest.mark.parametrize("window", [1, 4096])
async def test_many_are_looked_at_too(wire: Wire, settings: Settings, window: int) -> None:
    layout = await provision(wire, settings)
    bodies = [event(number) for number in range(40)]
    names = [
        envelope.message_id(f"{settings.prefix}.events.c{n % 7}.node.ready.p.n{n}", "/many", f"{n}") for n in (3, 4, 39)
    ]
    await occupied(wire, f"{settings.prefix}.events.c9.cluster.create", *names)
    async with Client.open(settings) as client:
        assert await client.publish_many(bodies, window=window) == PublishResult(40, 0)
        assert await client.publish_many(bodies, window=window) == PublishResult(0, 40)
    assert (await wire.api(f"STREAM.INFO.{layout.events}"))["state"]["messages"] == 3 + 40


async def test_who_may_not_look_takes_the_servers_word(tmp_path: Path) -> None:
    class NoReading(EmbeddedServer):
        def _config(self) -> str:
            users = [{"user": "any", "password": "any", "permissions": {"publish": {"deny": ["$JS.API.DIRECT.>"]}}}]
            return (
                f"{super()._config()}\nauthorization {{ users: {json.dumps(users)}, timeout: 60 }}\nno_auth_user: any\n"
            )

    async with NoReading(tmp_path) as server, Client.open(Settings(nats=(server.url,))) as client:
        await provision(client._session.wire, client._session.settings)
        await client.publish("cluster", "create", "c1", event_id="e-1", source="/a")
        assert (await client.publish("cluster", "create", "c1", event_id="e-1", source="/a")).duplicate
        bodies = [event(number) for number in range(20)]
        await client.publish_many(bodies)
        assert sum(await client.publish_many(bodies)) == 20
