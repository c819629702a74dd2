"""The sender at work: deliveries of a real installation of notices, to real servers, and what their records say."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from phaseline.engine.products.notices.sending import attempts, sender
from phaseline.errors import InvalidInput
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.kinds.notices.delivery import DELIVERY
from phaseline.machines.kinds.notices.notice import NOTICE
from phaseline.machines.language.product import Product
from phaseline.schemas.records import SECOND, timestamp
from tests.support.installation import EmbeddedServer, Settings, Wire, at_work
from tests.support.notified import DeliveryCounts, Receiver, sending
from tests.support.odd_receivers import answer, hang, receiving
from tests.support.own_installation import Client
from tests.support.senders import KINDS, at_send, began, data, ended, until, web


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """An installation of notices."""
    return replace(settings, prefix=f"{settings.prefix}-notices", partitions=2, lease=4.0)


@pytest_asyncio.fixture
async def notices(settings: Settings, wire: Wire) -> AsyncIterator[Client]:
    """A client of an installation of notices, where a worker works."""
    async with at_work(settings, wire, KINDS), Client.open(settings, source="/test", kinds=KINDS) as client:
        yield client


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second try comes soon."""
    monkeypatch.setattr(attempts, "FIRST", 1.0)
    monkeypatch.setattr(attempts, "LONGEST", 1.0)


async def test_a_begin_and_an_end(settings: Settings, notices: Client) -> None:
    async with receiving() as found, at_send(settings, web("ops", found)) as counts:
        now = await began(notices, "down/1", "ops")
        await until(notices, "down/1/ops", "Sent", told="begin")
        await ended(notices, "down/1", now, "ops")
        await until(notices, "down/1/ops", "Sent", told="end")
    assert [one.json["word"] for one in found.got] == ["begin", "end"]
    assert found.got[0].json["thread"] == found.got[1].json["thread"]
    assert counts.outcomes == {("ops", "webhook", "sent"): 2}


async def test_what_began_and_ended_while_nobody_sent_is_one_message(settings: Settings, notices: Client) -> None:
    now = await began(notices, "down/1", "ops", ago=900)
    await ended(notices, "down/1", now, "ops")
    async with receiving() as found, at_send(settings, web("ops", found)):
        await until(notices, "down/1/ops", "Sent", told="past")
    [request] = found.got
    assert request.json["title"].startswith("WAS CRITICAL: node c1/p/n1, good again after 1 s (told ")
    assert request.json["late_seconds"] >= 900


async def test_the_end_of_what_was_heard_is_told_before_it_begins_anew(settings: Settings, notices: Client) -> None:
    async with receiving() as found:
        async with at_send(settings, web("ops", found)):
            first = await began(notices, "down/1", "ops", ago=60)
            await until(notices, "down/1/ops", "Sent", told="begin")
        await ended(notices, "down/1", first, "ops")
        await began(notices, "down/1", "ops")
        async with at_send(settings, web("ops", found)):
            await found.until(3)
            await until(notices, "down/1/ops", "Sent", told="begin", heard=found.got[2].json["opened"])
    assert [one.json["word"] for one in found.got] == ["begin", "end", "begin"]
    begin, end, anew = (one.json["thread"] for one in found.got)
    assert begin == end != anew
    assert [one.json["ended_as"] for one in found.got[1:]] == ["good", ""]


async def test_what_begins_anew_and_does_not_last_hides_no_end(settings: Settings, notices: Client) -> None:
    async with receiving() as found:
        async with at_send(settings, web("ops", found)):
            now = await began(notices, "down/1", "ops", ago=60)
            await until(notices, "down/1/ops", "Sent", told="begin")
        await ended(notices, "down/1", now, "ops")
        for trigger in ("began", "lapsed"):
            await notices.publish_and_wait("notice", trigger, "down/1", data(now + 9 * SECOND, opened=""), timeout=120)
        async with at_send(settings, web("ops", found)):
            await until(notices, "down/1/ops", "Sent", told="end")
    assert [one.json["word"] for one in found.got] == ["begin", "end"]
    assert found.got[0].json["thread"] == found.got[1].json["thread"]


async def test_a_failure_is_recorded_and_tried_again(settings: Settings, notices: Client) -> None:
    async with (
        receiving(answer(503, b"out of T0PSECRETPART"), answer(200)) as found,
        at_send(settings, web("ops", found)),
    ):
        await began(notices, "down/1", "ops")
        failed = await until(notices, "down/1/ops", "Failed")
        done = await until(notices, "down/1/ops", "Sent", told="begin")
    assert (failed.attributes["error"], failed.attributes["tries"]) == ("503 Said: out of ***", 1)
    said = [one.message async for one in notices.history("delivery", "down/1/ops") if one.trigger == "failed"]
    assert said == ["503 Said: out of ***"]
    assert failed.attributes["failing_since"]
    assert "error" not in done.attributes
    assert found.got[0].json["id"] == found.got[1].json["id"]


async def test_a_receiver_may_ask_to_wait_and_to_be_left_alone(settings: Settings, notices: Client) -> None:
    async with (
        receiving(answer(429, Retry_After="1234")) as busy,
        receiving(answer(410)) as gone,
        at_send(settings, web("busy", busy), web("gone", gone)) as counts,
    ):
        await began(notices, "down/1", "busy", "gone")
        assert (await until(notices, "down/1/busy", "Failed")).attributes["wait"] == 1234
        assert "it wants nothing any more" in (await until(notices, "down/1/gone", "GivenUp")).attributes["error"]
    assert counts.outcomes == {("busy", "webhook", "failed"): 1, ("gone", "webhook", "given_up"): 1}


async def test_a_slow_receiver_delays_nobody(
    settings: Settings, notices: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sender, "GRACE", 0.1)
    async with (
        receiving(hang) as slow,
        receiving() as fast,
        at_send(settings, web("slow", slow, timeout="110s"), web("fast", fast)),
    ):
        for number in range(5):
            await began(notices, f"down/{number}", "slow", "fast")
        for number in range(5):
            await until(notices, f"down/{number}/fast", "Sent")
        await slow.until(1)
        assert (await notices.get("delivery", "down/4/slow")).facets[0].state.phase == "Queued"


async def test_a_message_that_one_receiver_dislikes_delays_no_other(settings: Settings, notices: Client) -> None:
    async with receiving(answer(400), answer(200)) as found, at_send(settings, web("ops", found)):
        await began(notices, "down/1", "ops")
        await until(notices, "down/1/ops", "Failed")
        await began(notices, "down/2", "ops")
        await until(notices, "down/2/ops", "Sent")
        await until(notices, "down/1/ops", "Sent")


async def test_several_senders_send_each_once(settings: Settings, notices: Client) -> None:
    async with receiving() as found, at_send(settings, web("ops", found)), at_send(settings, web("ops", found)):
        for number in range(12):
            await began(notices, f"down/{number}", "ops")
        for number in range(12):
            await until(notices, f"down/{number}/ops", "Sent")
    assert sorted(one.json["notice"] for one in found.got) == sorted(f"down/{number}" for number in range(12))


async def test_a_sender_that_stops_ends_what_is_under_way(
    settings: Settings, notices: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sender, "GRACE", 60.0)
    go_on = asyncio.Event()

    async def slowly(_: Any, writer: asyncio.StreamWriter) -> None:
        await go_on.wait()
        writer.write(answer(200))
        await writer.drain()

    async with receiving(slowly) as found:
        async with at_send(settings, web("ops", found)):
            await began(notices, "down/1", "ops")
            await began(notices, "down/2", "ops")
            await found.until(1)
            asyncio.get_running_loop().call_later(0.2, go_on.set)
        assert (await until(notices, "down/1/ops", "Sent")).attributes["told"] == "begin"
        assert (await notices.get("delivery", "down/2/ops")).facets[0].state.phase == "Queued"
        async with at_send(settings, web("ops", found)):
            await until(notices, "down/2/ops", "Sent")


async def test_a_message_that_can_be_changed_is_changed(settings: Settings, notices: Client) -> None:
    async with receiving(answer(200, b'{"ok": true, "channel": "C1", "ts": "17.1"}')) as found:
        slack = Receiver("ops", "slack", {
            "token": "xoxb-s3cret-token", "channel": "C1", "url": f"http://127.0.0.1:{found.port}", "allow-private": True,
        })  # fmt: skip
        async with at_send(settings, slack):
            now = await began(notices, "down/1", "ops")
            sent = await until(notices, "down/1/ops", "Sent", told="begin")
            await ended(notices, "down/1", now, "ops")
            await until(notices, "down/1/ops", "Sent", told="end")
    assert (sent.attributes["handle"]["channel"], sent.attributes["handle"]["at"]) == ("C1", "17.1")
    assert [one.path for one in found.got] == ["/chat.postMessage", "/chat.update", "/chat.postMessage"]


async def test_alerts_are_sent_again_while_they_are_open_and_then_resolved(
    settings: Settings, notices: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sender, "ALERT_AGAIN", 0.05)
    async with receiving() as found:
        prom = Receiver("prom", "alertmanager", {"url": f"http://127.0.0.1:{found.port}", "allow-private": True})
        async with at_send(settings, prom):
            now = await began(notices, "down/1", "prom")
            await found.until(4)
            assert found.got[3].json[0]["endsAt"] > timestamp(now)
            await ended(notices, "down/1", now, "prom")
            await until(notices, "down/1/prom", "Sent", told="end")
            await found.until(len(found.got) + 3)
    assert found.got[-1].json[0]["endsAt"] == timestamp(now + SECOND)
    assert found.got[-1].json[0]["labels"] == found.got[0].json[0]["labels"]


async def test_the_sender_goes_on_when_nats_was_away(own_server: EmbeddedServer) -> None:
    settings = Settings(nats=(own_server.url,), prefix="a-notices", partitions=1, request_timeout=30.0)
    async with (
        Wire.open(settings, name="test") as wire,
        at_work(settings, wire, KINDS),
        Client.open(settings, source="/test", kinds=KINDS) as client,
        receiving() as found,
        at_send(settings, web("ops", found)),
    ):
        await began(client, "down/1", "ops")
        await until(client, "down/1/ops", "Sent")
        await own_server.restart()
        await began(client, "down/2", "ops")
        await until(client, "down/2/ops", "Sent")


async def test_what_is_missing_is_said_before_anything_is_sent(settings: Settings) -> None:
    hook = Receiver("ops", "webhook", {"url": "${NO_SUCH_NAME}"})
    with pytest.raises(InvalidInput, match="receiver ops: the environment has no NO_SUCH_NAME"):
        await sending(settings, {"ops": hook}, DeliveryCounts(), asyncio.Event())


async def test_what_a_killed_sender_had_claimed_is_sent_again_with_the_same_id(settings: Settings, wire: Wire) -> None:
    [phase] = DELIVERY.facets
    timeouts = tuple(replace(one, seconds=1.0) if one.trigger == "lost" else one for one in phase.timeouts)
    tables = (NOTICE, replace(DELIVERY, facets=(replace(phase, timeouts=timeouts),)))
    kinds = Kinds(tables, tables, products=(Product("notices", kinds=tables),))
    async with (
        at_work(settings, wire, kinds),
        Client.open(settings, source="/test", kinds=kinds) as client,
        receiving(hang, answer(200)) as found,
    ):
        killed = asyncio.create_task(sending(settings, {"ops": web("ops", found)}, DeliveryCounts(), asyncio.Event()))
        await began(client, "down/1", "ops")
        await found.until(1)
        killed.cancel()
        await asyncio.gather(killed, return_exceptions=True)
        async with at_send(settings, web("ops", found)):
            await until(client, "down/1/ops", "Sent", told="begin")
    assert [one.json["id"] for one in found.got] == [found.got[0].json["id"]] * 2
