"""One event by the client: what is stored, what is refused before it is sent, what a broken line leaves."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

import phaseline
from phaseline.schemas import codec
from phaseline.schemas.envelope import Event
from phaseline.schemas.errors import (
    BadSetting,
    EventRefused,
    NatsUnreachable,
    NotFound,
    NotProvisioned,
    Unconfirmed,
)
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import LIMIT, EmbeddedServer, Settings, Wire, provision
from tests.support.own_installation import Client, Session
from tests.support.raising import raises
from tests.support.tcp_proxy import proxy_to

HARD_ID = "c.1/a b*%/é>ü"


async def stored(client: Client, sequence: int) -> dict[str, Any]:
    body = await client.event(sequence)
    assert body is not None
    return codec.decode(body)


async def test_what_is_stored_is_what_was_said(client: Client) -> None:
    when = datetime(2026, 3, 2, 8, tzinfo=UTC)
    receipt = await client.publish(
        "node",
        "not_ready",
        HARD_ID,
        {"reason": "KubeletStopped"},
        source="/agent",
        event_id="e 1",
        sequence=7,
        time=when,
    )
    assert receipt == phaseline.Receipt(1, duplicate=False, event="e 1", source="/agent")
    assert await stored(client, 1) == {
        "id": "e 1",
        "source": "/agent",
        "type": "node.not_ready",
        "specversion": "1.0",
        "subject": f"node/{HARD_ID}",
        "time": "2026-03-02T08:00:00+00:00",
        "sequence": 7,
        "schemaversion": 1,
        "data": {"reason": "KubeletStopped"},
    }


async def test_what_is_not_said_is_filled_in(client: Client) -> None:
    first, second = await client.publish("cluster", "create", "c1"), await client.publish("cluster", "create", "c1")
    assert (first.source, first.duplicate, second.duplicate) == ("/test", False, False)
    assert first.event != second.event
    body = await stored(client, first.sequence)
    assert datetime.fromisoformat(body["time"]).tzinfo is not None
    assert "data" not in body
    assert "sequence" not in body


async def test_the_same_id_and_source_are_stored_once(client: Client) -> None:
    first = await client.publish("cluster", "create", "c1", event_id="é 1")
    again = await client.publish("cluster", "create", "c1", event_id="é 1")
    other = await client.publish("cluster", "create", "c1", event_id="é 1", source="/other")
    assert (again.sequence, again.duplicate) == (first.sequence, True)
    assert not other.duplicate


REFUSED = [
    # what is published                                          reason             it names
    (("nod", "create", "c1"), "unknown_kind", "cluster, node_pool, node, component"),
    (("cluster", "crate", "c1"), "unknown_trigger", "create, adopt, created"),
    (("node", "remove", "c1/p/n"), "derived", "by the engine only"),
    (("node", "create", "c1"), "invalid", "<cluster>/<pool>/<node>"),
    (("cluster", "create_failed", "c1", {"condition": "Mood"}), "invalid", "StockOut, Balance"),
    (("cluster", "delete", "c1", {"cascade": "no"}), "invalid", "must be bool"),
    (("node", "adopt", "c1/p/n"), "invalid", "data.phase is required"),
    (
        ("node_pool", "scale", "c1/p", {"desierd": 3}),
        "invalid",
        r"nothing reads data.desierd \(did you mean desired\?\)",
    ),
]
UNSENDABLE = [
    (("node", "create", "c1//n"), "empty part"),
    (("cluster", "create", ""), "empty part"),
    (("cluster", "create", "a\nb"), "control character"),
    (("cluster", "create", "x" * 300), "longer than 253"),
    (("clus.ter", "create", "c1"), "type must be <kind>.<trigger> without a prefix"),
    (("", "create", "c1"), "type must be <kind>.<trigger>"),
    (("cluster", "create", "c1", {"x": {1, 2}}), "msgpack cannot hold it"),
    (("cluster", "create", "c1", {"x": 2**70}), "msgpack cannot hold it"),
]


@pytest.mark.parametrize(("event", "reason", "named"), REFUSED, ids=lambda value: str(value)[:40])
async def test_what_would_be_refused_is_not_sent(
    wire: Wire, settings: Settings, event: Any, reason: str, named: str
) -> None:
    client = Client(Session(wire, settings, BUILT_IN_KINDS, "/test"))
    with pytest.raises(EventRefused, match=named.replace("[", r"\[")) as caught:
        await client.publish(*event)
    assert caught.value.reason == reason
    await provision(wire, settings)
    receipt = await client.publish(*event, check=False)
    assert (await stored(client, receipt.sequence))["type"] == f"{event[0]}.{event[1]}"


@pytest.mark.parametrize(("event", "named"), UNSENDABLE, ids=lambda value: str(value)[:40])
async def test_what_no_subject_can_carry_is_never_sent(wire: Wire, settings: Settings, event: Any, named: str) -> None:
    client = Client(Session(wire, settings, BUILT_IN_KINDS, "/test"))
    for check in (True, False):
        with raises(EventRefused.unsendable, match=named):
            await client.publish(*event, check=check)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ({"source": ""}, "source"),
        ({"event_id": "x" * 1025}, "id"),
        ({"time": "yesterday"}, "time"),
        ({"time": "2026-03-02T08:00"}, "time"),
    ],
)
async def test_wrong_attributes_are_never_sent(wire: Wire, settings: Settings, words: Any, named: str) -> None:
    client = Client(Session(wire, settings, BUILT_IN_KINDS, "/test"))
    with raises(EventRefused.unsendable, match=named):
        await client.publish("cluster", "create", "c1", **words)


async def test_an_event_may_carry_what_we_do_not_know(client: Client) -> None:
    event = {
        "specversion": "1.0", "id": "1", "source": "/x", "type": "cluster.created", "subject": "cluster/c1",
        "traceparent": "00-1-2-3", "data": {"colour": "red"},
    }  # fmt: skip
    assert (await client.publish_many([event])).stored == 1
    assert await stored(client, 1) == event


async def test_nobody_has_ever_worked_here(wire: Wire, settings: Settings) -> None:
    client = Client(Session(wire, settings, BUILT_IN_KINDS, "/test"))
    with pytest.raises(NotProvisioned, match="phaseline up"):
        await client.publish("cluster", "create", "c1")
    with pytest.raises(NotProvisioned):
        await client.publish_many(
            [{"specversion": "1.0", "id": "1", "source": "/x", "type": "cluster.create", "subject": "cluster/c1"}]
        )
    with pytest.raises(NotProvisioned, match=settings.prefix):
        await client.publish_and_wait("cluster", "create", "c1")


async def test_silence_leaves_it_unconfirmed(wire: Wire, settings: Settings) -> None:
    await wire.subscribe(f"{settings.prefix}.events.>", lambda *_: None)
    async with Client.open(replace(settings, request_timeout=0.2), source="/test") as client:
        with pytest.raises(Unconfirmed, match=r"'e1' of '/test'.*with its id"):
            await client.publish("cluster", "create", "c1", event_id="e1")


async def test_a_lost_answer_is_asked_for_again(server: EmbeddedServer, working: Settings, client: Client) -> None:
    async with proxy_to(server.port) as proxy:
        far = replace(working, nats=(f"nats://127.0.0.1:{proxy.port}",))
        async with Client.open(far, source="/test") as distant:
            await distant.publish("cluster", "create", "c1", event_id="before")
            proxy.swallow_next = True
            receipt = await distant.publish("cluster", "create", "c2", event_id="e1")
            proxy.swallow_next = True
            repeat = await distant.publish("cluster", "create", "c2", event_id="e1")
    assert not receipt.duplicate
    assert repeat == receipt._replace(duplicate=True)
    assert await stored(client, receipt.sequence)
    assert (await client.publish("cluster", "create", "c2", event_id="e1")).sequence == receipt.sequence


async def test_a_server_that_is_away_is_waited_for(own_server: EmbeddedServer, own_settings: Settings) -> None:
    async with Client.open(replace(own_settings, request_timeout=0.2)) as hasty, Client.open(own_settings) as client:
        async with Wire.open(own_settings) as wire:
            await provision(wire, own_settings)
        down = asyncio.Event()
        hasty._session.wire.on_disconnect(down.set)
        await own_server.kill()
        await down.wait()
        with pytest.raises(NatsUnreachable):
            await hasty.publish("cluster", "create", "c1")
        with pytest.raises(NatsUnreachable):
            await hasty.publish("cluster", "create", "c1", until_stored=0.3)
        publishing = asyncio.ensure_future(client.publish("cluster", "create", "c1"))
        until_stored = asyncio.ensure_future(hasty.publish("cluster", "create", "c2", until_stored=True))
        assert not (await asyncio.wait({until_stored}, timeout=1.0))[0]  # five times the patience of this client
        await own_server.start()
        assert {(await publishing).sequence, (await until_stored).sequence} == {1, 2}


async def test_events_are_stored_once_through_restarts_of_the_server(
    own_server: EmbeddedServer, own_settings: Settings
) -> None:
    async with Client.open(replace(own_settings, request_timeout=0.2)) as client:
        async with Wire.open(own_settings) as wire:
            await provision(wire, own_settings)
        agent = await client.source("/agent")

        async def publish() -> list[int]:
            return [(await agent.publish("cluster", "create", f"c{n}", until_stored=True)).sequence for n in range(60)]

        publishing = asyncio.ensure_future(publish())
        for _ in range(2):
            await asyncio.sleep(0.02)
            await own_server.kill()
            await own_server.start()
        assert await publishing == [*range(1, 61)]
        async with Wire.open(own_settings) as wire:
            layout = await provision(wire, own_settings)
            assert (await wire.api(f"STREAM.INFO.{layout.events}"))["state"]["messages"] == 60


async def test_a_refused_event_is_sent_again_once(client: Client) -> None:
    early = await client.publish_and_wait("node_pool", "create", "c1/p", {"message": "too early"}, event_id="e1")
    assert early.rejection is not None
    assert early.rejection.reason == "unknown_parent"
    (place,) = [logged.sequence for logged in early.records]
    await client.publish_and_wait("cluster", "create", "c1")
    await client.publish_and_wait("cluster", "created", "c1")
    receipt = await client.resend(place)
    assert (receipt.event, receipt.source, receipt.duplicate) == ("e1", "/test", False)
    assert (await client.outcome(receipt)).effect == "transitions"
    assert await client.event(receipt.sequence) == await client.event(early.receipt.sequence)
    assert await client.resend(place) == receipt._replace(duplicate=True)


async def test_only_rejections_are_sent_again(client: Client, wire: Wire) -> None:
    created = await client.publish_and_wait("cluster", "create", "c1")
    with raises(NotFound.not_rejected):
        await client.resend(created.records[0].sequence)
    with raises(NotFound.record_not_found, match="place 4711 is not in the log"):
        await client.resend(4711)
    refused = await client.publish_and_wait("cluster", "update", "c1")
    layout = await client._session.layout()
    await wire.api(f"STREAM.PURGE.{layout.events}")
    with raises(NotFound.event_gone):
        await client.resend(refused.records[0].sequence)


async def test_a_question_without_an_answer_does_not_spend_the_patience(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As while the replicas of a stream elect a leader: nobody takes the event, and nobody says what the stream is."""
    settings, asked = replace(settings, request_timeout=240.0), asyncio.Event()
    async with Wire.open(settings) as wire, Client.open(settings) as client:

        async def never(*_: object) -> dict[str, Any]:
            asked.set()
            return await asyncio.Future()

        monkeypatch.setattr(client._session.wire, "api", never)
        publishing = asyncio.ensure_future(client.publish("cluster", "create", "c1", check=False))
        await asked.wait()
        await provision(wire, settings)
        assert not (await asyncio.wait_for(publishing, LIMIT)).duplicate


async def test_connect_takes_words(server: EmbeddedServer, working: Settings) -> None:
    async with phaseline.connect([server.url], prefix=working.prefix, source="/me", request_timeout=3) as client:
        assert (await client.publish("cluster", "create", "c1")).source == "/me"
    with pytest.raises(BadSetting, match="request_timeout"):
        async with phaseline.connect(server.url, request_timout=3):  # type: ignore[call-arg]  # a wrong name
            pass
    with pytest.raises(BadSetting, match="is not a file"):
        async with phaseline.connect(server.url, creds="/nowhere"):
            pass


def test_the_package_offers_what_it_names() -> None:
    assert {name: getattr(phaseline, name) for name in phaseline.__all__}
    assert phaseline.Event is Event
    with pytest.raises(AttributeError, match="nonesuch"):
        getattr(phaseline, "nonesuch")  # noqa: B009  # a type checker knows that it is not there
