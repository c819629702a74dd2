"""Watching: each record once, in order, from where it was asked for, through everything."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from phaseline import DwellWatch
from phaseline.schemas.errors import InvalidInput, NameUnknown
from phaseline.schemas.records import Rejection, Transition
from phaseline.types import Dwell
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import EmbeddedServer, Settings, Wire, Worker
from tests.support.own_installation import Client

Record = Transition | Rejection


def toggles(count: int, tree: str = "c1", start: int = 0) -> list[dict[str, Any]]:
    """Events that each make one transition of a node."""
    return [
        {
            "specversion": "1.0", "id": f"{tree} {start + n}", "source": "/x",
            "type": "node.not_ready" if n % 2 == 0 else "node.ready", "subject": f"node/{tree}/p/n1",
        }
        for n in range(count)
    ]  # fmt: skip


async def taken(watch: DwellWatch, count: int) -> list[Dwell]:
    """The next ones."""
    return [await anext(watch) for _ in range(count)]


async def life(client: Client) -> None:
    """Records of every sort."""
    for kind, trigger, name, data in [
        ("cluster", "create", "c1", None),
        ("cluster", "created", "c1", None),
        ("node_pool", "create", "c1/p", None),
        ("node_pool", "create", "c2/p", None),
        ("node_pool", "created", "c1/p", None),
        ("node", "create", "c1/p/n.1", None),
        ("node", "init_failed", "c1/p/n.1", None),
        ("node", "stop", "c1/p/n.1", None),
        ("cluster", "overdue", "c1", None),
        ("cluster", "adopt", "c2", {"phase": "Failed", "conditions": ["Unknown"]}),
        ("cluster", "recovered", "c2", None),
    ]:
        await client.publish_and_wait(kind, trigger, name, data)


async def everything(client: Client) -> list[tuple[int, Record]]:
    watch = client.watch(start="start", rejections=True, follow=False)
    return [(watch.sequence, record) async for record in watch]


async def test_batches_hold_the_same_records(client: Client) -> None:
    await life(client)
    expected = await everything(client)
    watch = client.watch(start="start", rejections=True, follow=False)
    first = await anext(watch)
    found = [(watch.sequence, first)]
    while batch := await watch.batch():
        found += ((one.sequence, one.record) for one in batch)
        assert (watch.sequence, watch.wire) == (batch[-1].sequence, batch[-1].wire)
    assert found == expected
    assert await watch.batch() == []


async def test_a_closed_watch_yields_nothing_more(client: Client) -> None:
    await life(client)
    watch = client.watch(start="start", follow=False)
    await anext(watch)
    await watch.close()
    assert await watch.batch() == []
    assert [one async for one in watch] == []


async def test_what_happens_from_now_on(client: Client) -> None:
    await client.publish_and_wait("cluster", "create", "c1")
    async with client.watch() as watch:
        outcome = await client.publish_and_wait("cluster", "created", "c1")
        assert await anext(watch) == outcome.transitions[0]
        assert (watch.sequence, watch.wire) == (outcome.records[0].sequence, outcome.records[0].wire)
        assert watch.caught_up


async def test_caught_up_then_live_without_a_gap(client: Client) -> None:
    """Readers that begin at any moment of a busy log see the same."""
    await client.publish_and_wait("node", "adopt", "c1/p/n1", {"phase": "Running"})
    total = 1_500

    async def read() -> list[int]:
        places = []
        async with client.watch("node", start="start") as watch:
            async for transition in watch:
                places.append(watch.sequence)
                if transition.entity.version == total + 1:
                    break
        return places

    async def publish() -> None:
        for start in range(0, total, 500):
            await client.publish_many(toggles(500, start=start))

    publishing = asyncio.ensure_future(publish())
    readers: list[asyncio.Task[list[int]]] = []
    while not publishing.done():
        if len(readers) < 12:
            readers.append(asyncio.ensure_future(read()))
        await asyncio.sleep(0.02)
    assert len(readers) > 2
    found = await asyncio.gather(*readers, read())
    assert len(found[0]) == total + 1
    assert found[0] == sorted(set(found[0]))
    assert all(places == found[0] for places in found)


FILTERS: list[tuple[dict[str, Any], Callable[[Record], bool]]] = [
    ({}, lambda r: isinstance(r, Transition)),
    ({"rejections": True}, lambda _: True),
    ({"kind": "node"}, lambda r: isinstance(r, Transition) and r.entity.kind == "node"),
    ({"state": "Failed"}, lambda r: isinstance(r, Transition) and r.after.phase == "Failed"),
    ({"kind": "cluster", "state": "Running", "facet": "phase"},
     lambda r: isinstance(r, Transition) and (r.entity.kind, r.after.phase) == ("cluster", "Running")),
    ({"tree": "c1"}, lambda r: isinstance(r, Transition) and (r.entity.id + "/").startswith("c1/")),
    ({"tree": "c1/p"}, lambda r: isinstance(r, Transition) and (r.entity.id + "/").startswith("c1/p/")),
    ({"tree": "c1/p/n.1"}, lambda r: isinstance(r, Transition) and r.entity.id == "c1/p/n.1"),
    ({"tree": "c1", "kind": "node", "rejections": True},
     lambda r: (r.kind if isinstance(r, Rejection) else r.entity.kind) == "node"),
    ({"tree": "c2", "rejections": True}, lambda r: (r.id if isinstance(r, Rejection) else r.entity.id).startswith("c2")),
    ({"kind": "cluster", "tree": "c2"},
     lambda r: isinstance(r, Transition) and (r.entity.kind, r.entity.id) == ("cluster", "c2")),
]  # fmt: skip


async def test_filters_take_what_fits_and_nothing_else(client: Client) -> None:
    await life(client)
    records = await everything(client)
    assert {type(record) for _, record in records} == {Transition, Rejection}
    for asked, fits in FILTERS:
        watch = client.watch(start="start", follow=False, **asked)
        found = [(watch.sequence, record) async for record in watch]
        assert found == [(place, record) for place, record in records if fits(record)], asked
        assert found, asked


async def test_rejections_and_histories_are_parts_of_the_log(client: Client) -> None:
    await life(client)
    records = [record for _, record in await everything(client)]
    refused = [record for record in records if isinstance(record, Rejection)]
    assert [record async for record in client.rejections()] == refused
    assert [r async for r in client.rejections("node", tree="c1", reason="guard")] == [
        r for r in refused if (r.kind, r.reason) == ("node", "guard")
    ]
    assert [r async for r in client.history("node", "c1/p/n.1")] == [
        r for r in records if isinstance(r, Transition) and r.entity.id == "c1/p/n.1"
    ]
    versions = [record.entity.version async for record in client.history("cluster", "c1")]
    assert versions == list(range(1, len(versions) + 1))


async def test_where_to_begin(client: Client) -> None:
    await client.publish_and_wait("node", "adopt", "c1/p/n1", {"phase": "Running"})
    await client.publish_many(toggles(20))
    await client.publish_and_wait("cluster", "create", "c9")
    records = await everything(client)
    place, middle = records[len(records) // 2]
    for start in (place, datetime.fromtimestamp(middle.time_ns / 1e9, UTC)):
        watch = client.watch(start=start, follow=False)
        found = [(watch.sequence, record) async for record in watch]
        assert found == records[-len(found) :]
        assert (place, middle) in found
    watch = client.watch(start=place + 1, follow=False)
    assert [record async for record in watch] == [record for other, record in records if other > place]
    assert [record async for record in client.watch(follow=False)] == []
    assert [r async for r in client.watch(start="2020-01-01T00:00:00Z", follow=False)] == [r for _, r in records]


async def test_it_ends_when_told(client: Client) -> None:
    await client.publish_and_wait("cluster", "create", "c1")
    async with client.watch(start="start") as watch:
        assert await anext(watch)
    with pytest.raises(StopAsyncIteration):
        await anext(watch)
    watch = client.watch(start="start")
    async for _ in watch:
        await watch.close()
    assert watch.over


async def test_the_server_is_killed_meanwhile(own_server: EmbeddedServer, own_settings: Settings) -> None:
    async with Wire.open(own_settings, patient=True) as wire, Client.open(own_settings) as client:
        stop = asyncio.Event()
        worker = Worker(wire, own_settings, BUILT_IN_KINDS)
        working = asyncio.create_task(worker.run(stop))
        await worker.ready.wait()
        await client.publish_and_wait("node", "adopt", "c1/p/n1", {"phase": "Running"})
        versions = []
        async with client.watch("node") as watch, client.watch("node", class_="bad") as by_class:
            told = asyncio.create_task(taken(by_class, 900))
            for start in (0, 300, 600):
                await client.publish_many(toggles(300, start=start))
                await own_server.kill()
                await own_server.start()
            async with asyncio.timeout(60):
                assert [(one.until is None, one.now_class) for one in await told] == [
                    (True, "bad"), (False, "good")
                ] * 450  # fmt: skip
                async for transition in watch:
                    versions.append(transition.entity.version)
                    if len(versions) == 900:
                        break
        assert versions == list(range(2, 902))
        stop.set()
        await working


async def test_who_has_been_bad_for_long_enough_and_when_it_is_over(client: Client) -> None:
    for kind, name in (("cluster", "c1"), ("node_pool", "c1/p"), ("node", "c1/p/n1"), ("node", "c1/p/n2")):
        await client.publish_and_wait(kind, "adopt", name, {"phase": "Running"})
    await client.publish_and_wait("node", "not_ready", "c1/p/n1")
    async with client.watch("node", class_="bad") as now, client.watch("node", class_="bad", lasting=1.0) as later:
        assert [(one.entity.id, one.until) for one in (await anext(now), await anext(later))] == [("c1/p/n1", None)] * 2
        await client.publish_and_wait("node", "overdue", "c1/p/n1")
        await client.publish_and_wait("node", "not_ready", "c1/p/n2")
        for trigger in ("ready", "renewed"):
            await client.publish_and_wait("node", trigger, "c1/p/n1")
        found = [await anext(now), await anext(now)]
        assert [(one.entity.id, one.until is None, one.now_class) for one in found] == [
            ("c1/p/n2", True, "bad"), ("c1/p/n1", False, "good"),
        ]  # fmt: skip
        assert {(await anext(later)).entity.id, (await anext(later)).entity.id} == {"c1/p/n1", "c1/p/n2"}
    past = [one async for one in client.watch("node", class_="bad", start="start", follow=False)]
    assert [(one.entity.id, one.until is None) for one in past] == [
        ("c1/p/n1", True), ("c1/p/n2", True), ("c1/p/n1", False),
    ]  # fmt: skip
    assert [one async for one in client.watch("node", class_="bad", lasting=3600, start="start", follow=False)] == []


async def test_a_watch_by_class_says_what_does_not_go_together(client: Client) -> None:
    for words in ({"lasting": 5}, {"class_": "bad", "facet": "phase"}, {"class_": "bad", "rejections": True}):
        with pytest.raises(InvalidInput):
            client.watch(**words)
    with pytest.raises(NameUnknown, match="wrong"):
        client.watch(class_="wrong")
