"""The users of docs/security.md, Without accounts: their permissions suffice for their task and for nothing else."""

import asyncio
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

import phaseline
from phaseline.schemas.errors import NotPermitted
from tests.support.cloud_events import event
from tests.support.guarded_server import as_user
from tests.support.installation import PublishResult, Settings, Wire
from tests.support.raising import raises
from tests.support.streams import gather


async def test_an_agent_speaks_for_its_own_tree_only(guarded: str) -> None:
    async with phaseline.connect(as_user("agent", guarded), inbox_prefix="_INBOX_agent", source="/agent/c1") as client:
        assert (await client.publish("cluster", "update", "c1")).sequence == 3
        own = [event(number, subject=f"node/c1/p/n{number}") for number in range(5)]
        assert await client.publish_many(own) == PublishResult(5, 0)
        with pytest.raises(NotPermitted, match=r"pl\.events\.c2"):
            await client.publish("cluster", "create", "c2")
        with pytest.raises(NotPermitted, match=r"pl\.events\.c2"):
            await client.publish_many([*own, event(9, subject="node/c2/p/n9")])
        with pytest.raises(NotPermitted):
            await client.get("cluster", "c1")


async def test_a_refusal_of_many_events_is_told_once(guarded: str) -> None:
    async with phaseline.connect(as_user("agent", guarded), inbox_prefix="_INBOX_agent", source="/agent/c1") as client:
        own = [event(number, subject=f"node/c1/p/n{number}") for number in range(100)]
        others = [event(number, subject=f"node/c2/p/n{number}") for number in range(200, 400)]
        with capture_logs() as logged, pytest.raises(NotPermitted, match=r"pl\.events\.c2\.node\.\w+\.p\.n200;"):
            await client.publish_many([*own, *others])
        assert not [line for line in logged if line["event"] == "nats_permission_denied"]
        assert await client.publish_many(own) == PublishResult(0, 100)


async def test_who_asks_for_states_gives_the_number_of_partitions(guarded: str) -> None:
    async with phaseline.connect(as_user("asker", guarded), inbox_prefix="_INBOX_asker", partitions=2) as client:
        assert (await client.get("node", "c1/p/n1")).facets[0].state.phase == "Running"
        with pytest.raises(NotPermitted):
            await client.tree("c1")
        with pytest.raises(NotPermitted):
            await client.publish("cluster", "update", "c1")


async def test_who_may_request_no_messages_is_told_and_does_not_wait_for_them(guarded: str) -> None:
    async with phaseline.connect(as_user("half", guarded), inbox_prefix="_INBOX_half") as client:
        for records in (
            client.watch(start="start", follow=False),
            client.watch(start="start"),
            client.history("node", "c1/p/n1"),
        ):
            async with asyncio.timeout(60):
                with pytest.raises(NotPermitted, match=r"CONSUMER\.MSG\.NEXT\.pl-LOG"):
                    await anext(records)


async def test_a_refused_request_with_several_answers_is_told(guarded: str) -> None:
    settings = Settings(nats=(as_user("half", guarded),), inbox_prefix="_INBOX_half")
    async with Wire.open(settings) as wire, asyncio.timeout(60):
        with pytest.raises(NotPermitted, match=r"DIRECT\.GET\.pl-STATE"):
            await gather(wire, "$JS.API.DIRECT.GET.pl-STATE", {"multi_last": ["pl.state.>"]}, timeout=600)
    async with Wire.open(replace(settings, inbox_prefix="_INBOX_other")) as wire, asyncio.timeout(60):
        with raises(NotPermitted.inbox_refused):
            await gather(wire, "$JS.API.STREAM.NAMES", {}, timeout=600)


async def test_who_reads_sees_everything_and_sends_nothing(guarded: str) -> None:
    async with phaseline.connect(as_user("reader", guarded), inbox_prefix="_INBOX_reader") as client:
        assert [entity.id for entity in await client.tree("c1")] == ["c1", "c1/p", "c1/p/n1"]
        assert [record.entity.id async for record in client.watch(start="start", follow=False)]
        assert [record.after.phase async for record in client.history("node", "c1/p/n1")] == ["Running"]
        async with client.watch() as watch:
            assert watch.caught_up
        adopted = (await client.why("cluster", "c1")).facets[0].causes[0]
        assert adopted == (await client.why("cluster", "c1", at="0s")).facets[0].causes[0]
        assert (adopted.records[0].trigger, await client.kind_of("c1/p", at="0s")) == ("adopt", "node_pool")
        with pytest.raises(NotPermitted):
            await client.publish("cluster", "update", "c1")
