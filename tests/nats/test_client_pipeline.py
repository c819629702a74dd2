"""Many events at once: all of them, in order, once, whatever breaks meanwhile."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any

import pytest

import phaseline
from phaseline.schemas import codec
from phaseline.schemas.errors import ApiFailed, EventRefused, ServerRefused, Unconfirmed
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.cloud_events import event
from tests.support.installation import EmbeddedServer, PublishResult, Settings, Wire, provision
from tests.support.own_installation import Client, Session
from tests.support.raising import raises
from tests.support.streams import read_all
from tests.support.tcp_proxy import proxy_to


def events(count: int) -> Iterator[dict[str, Any]]:
    return (event(number) for number in range(count))


async def stored_ids(wire: Wire, settings: Settings) -> list[int]:
    stream = settings.stream("EVENTS")
    return [int(codec.decode(m.data)["id"]) async for slice_ in read_all(wire, stream, []) for m in slice_]


@pytest.fixture
async def bare(wire: Wire, settings: Settings) -> Client:
    """A client where nobody works: only streams."""
    await provision(wire, settings)
    return Client(Session(wire, settings, BUILT_IN_KINDS, "/test"))


@pytest.mark.parametrize("window", [1, 2, 100, 4096])
async def test_all_are_stored_in_order(bare: Client, wire: Wire, settings: Settings, window: int) -> None:
    seen: list[PublishResult] = []
    sent = await bare.publish_many(events(700), window=window, progress=seen.append)
    assert sent == seen[-1] == PublishResult(700, 0)
    assert await stored_ids(wire, settings) == list(range(700))


async def test_repeats_are_counted(bare: Client, wire: Wire, settings: Settings) -> None:
    await bare.publish_many(events(10))
    assert await bare.publish_many([*events(12), event(11)]) == PublishResult(stored=2, duplicates=11)
    assert await bare.publish_many([]) == PublishResult(0, 0)
    assert await stored_ids(wire, settings) == list(range(12))


async def test_events_may_be_given_as_such(bare: Client, wire: Wire, settings: Settings) -> None:
    made = [
        phaseline.Event(id=str(n), source="/x", type="node.ready", specversion="1.0", subject=f"node/c/p/n{n}")
        for n in range(3)
    ]
    assert await bare.publish_many(made) == PublishResult(3, 0)
    assert await stored_ids(wire, settings) == [0, 1, 2]


async def test_one_that_comes_late_does_not_hold_back_those_before(
    bare: Client, wire: Wire, settings: Settings
) -> None:
    arrived, go = asyncio.Event(), asyncio.Event()
    await wire.subscribe(f"{settings.prefix}.events.>", lambda *_: arrived.set())

    async def source() -> AsyncIterator[dict[str, Any]]:
        yield event(0)
        await go.wait()
        yield event(1)

    publishing = asyncio.ensure_future(bare.publish_many(source()))
    await arrived.wait()
    assert await stored_ids(wire, settings) == [0]
    go.set()
    assert await publishing == PublishResult(2, 0)


@pytest.mark.parametrize(
    "wrong", [{"type": "node.creat"}, {"source": ""}, {"subject": None}, {"data": {"x": object()}}]
)
async def test_a_wrong_one_ends_it_and_all_before_are_stored(
    bare: Client, wire: Wire, settings: Settings, wrong: dict[str, Any]
) -> None:
    seen: list[PublishResult] = []
    with pytest.raises(EventRefused):
        await bare.publish_many([*events(30), event(30, **wrong), event(31)], progress=seen.append)
    assert seen[-1] == PublishResult(30, 0)
    assert await stored_ids(wire, settings) == list(range(30))


async def test_one_that_is_too_large_ends_it_too(bare: Client, wire: Wire, settings: Settings) -> None:
    with raises(ServerRefused.payload_too_large):
        await bare.publish_many([event(0), event(1, data={"blob": "x" * 2_000_000}), event(2)])
    assert await stored_ids(wire, settings) == [0]


async def test_what_the_stream_refuses_ends_it(wire: Wire, settings: Settings) -> None:
    layout = await provision(wire, settings)
    info = await wire.api(f"STREAM.INFO.{layout.events}")
    await wire.api(f"STREAM.UPDATE.{layout.events}", {**info["config"], "max_msg_size": 400})
    client = Client(Session(wire, settings, BUILT_IN_KINDS, "/test"))
    with pytest.raises(ApiFailed, match="maximum") as caught:
        await client.publish_many([event(0), event(1, data={"blob": "x" * 500}), event(2)])
    assert caught.value.err_code == 10054
    assert 0 in await stored_ids(wire, settings)


async def test_the_server_is_killed_again_and_again(own_server: EmbeddedServer, own_settings: Settings) -> None:
    async with Wire.open(own_settings) as wire, Client.open(own_settings) as client:
        await provision(wire, own_settings)
        half = asyncio.Event()
        total = 20_000

        def progress(sent: PublishResult) -> None:
            if sum(sent) > total // 4:
                half.set()

        publishing = asyncio.ensure_future(client.publish_many(events(total), window=500, progress=progress))
        for _ in range(3):
            await half.wait()
            assert not publishing.done()
            await own_server.kill()
            await own_server.start()
            await wire.until_connected()
        assert sum(await publishing) == total
        assert await stored_ids(wire, own_settings) == list(range(total))


async def test_answers_are_lost(server: EmbeddedServer, bare: Client, wire: Wire, settings: Settings) -> None:
    async with proxy_to(server.port) as proxy:
        far = replace(settings, nats=(f"nats://127.0.0.1:{proxy.port}",))
        async with Client.open(far) as distant:
            for number in range(3):
                proxy.swallow_next = True
                chunk = [event(number * 400 + n) for n in range(400)]
                assert sum(await distant.publish_many(chunk, window=64)) == 400
    assert await stored_ids(wire, settings) == list(range(1_200))


async def test_repeats_are_counted_as_repeats_though_answers_are_lost(
    server: EmbeddedServer, bare: Client, wire: Wire, settings: Settings
) -> None:
    assert await bare.publish_many(events(100)) == PublishResult(100, 0)
    async with proxy_to(server.port) as proxy:
        far = replace(settings, nats=(f"nats://127.0.0.1:{proxy.port}",))
        async with Client.open(far) as distant:
            proxy.swallow_next = True
            assert await distant.publish_many(events(100)) == PublishResult(0, 100)
            proxy.swallow_next = True
            assert await distant.publish_many(events(150), window=20) == PublishResult(50, 100)
    assert await stored_ids(wire, settings) == list(range(150))


async def test_patience_ends(server: EmbeddedServer, bare: Client, settings: Settings) -> None:
    async with proxy_to(server.port) as proxy:
        far = replace(settings, nats=(f"nats://127.0.0.1:{proxy.port}",), request_timeout=0.2)
        async with Client.open(far) as distant:
            proxy.answers.clear()
            with pytest.raises(Unconfirmed, match="'0' of '/many'"):
                await distant.publish_many(events(10), patience=0.3)
            proxy.answers.set()
