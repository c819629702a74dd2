"""Edges on real servers: events cross once and in order, whatever dies; a hostile edge gets nothing of others in."""

import asyncio
import itertools
import json
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import pytest

from phaseline.schemas.errors import NameUnknown, NoRoom, NoSuchStream, SetupError
from tests.support.account_requests import INTERNAL, sizes
from tests.support.edge_site import (
    EdgeState,
    Site,
    StoreOptions,
    adding,
    edge_state,
    event_sources,
    nodes,
    publish,
    site,
)
from tests.support.hostile_leaf import hostile_leaf
from tests.support.installation import PublishResult, Settings, Wire, provision
from tests.support.own_installation import Client
from tests.support.patience import wait_for
from tests.support.raising import raises


async def states(found: Site) -> dict[str, EdgeState]:
    """What `phaseline admin sites list` shows."""
    settings = found.hub.settings("operator")
    async with Wire.open(settings) as wire:
        return {one.edge: one for one in await edge_state.edges(wire, settings)}


async def until(found: Site, state: str) -> EdgeState:
    """Wait until the edge c1 is in that state."""
    last: list[EdgeState] = []

    async def there() -> bool:
        last[:] = [(await states(found))["c1"]]
        return last[0].state == state

    async def seen() -> object:
        return last[0].state if last else None

    await wait_for(there, seen)
    return last[0]


async def test_events_cross_once_in_order_while_the_hub_is_dead(tmp_path: Path) -> None:
    async with site(tmp_path, "c1") as found:
        edge = found.edges["c1"]
        await publish(edge, nodes("c1", 0, 100))
        await found.hub.kill()
        await publish(edge, nodes("c1", 100, 1000))
        await edge.kill()
        await edge.start()
        await publish(edge, nodes("c1", 1000, 1100))
        await found.hub.start()
        await found.until_stored(1100)
        assert await found.brought() == {"c1": [*range(1100)]}
        shown = await until(found, "connected")
        assert (shown.trees, shown.waiting, shown.advice) == (("c1",), 0, "")


async def test_a_hub_without_accounts(tmp_path: Path) -> None:
    async with site(tmp_path, "c1", accounts=False) as found:
        await publish(found.edges["c1"], nodes("c1", 0, 100))
        await found.until_stored(100)
        assert await found.brought() == {"c1": [*range(100)]}
        assert (await until(found, "connected")).waiting == 0
        assert not (await found.add("c1")).changed


class Waiting:
    """A connection whose first update of a stream waits for another program, though not for ever."""

    def __init__(self, wire: Wire, other: asyncio.Event) -> None:
        self.wire, self.other = wire, other
        self.reached = asyncio.Event()

    async def api(self, suffix: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        if suffix.startswith("STREAM.UPDATE") and not self.reached.is_set():
            self.reached.set()
            with suppress(TimeoutError):
                await asyncio.wait_for(self.other.wait(), 0.5)
        return await self.wire.api(suffix, body)


async def test_two_edges_that_are_added_at_once_are_both_there(settings: Settings, wire: Wire) -> None:
    layout, ended = await provision(wire, settings), asyncio.Event()
    first = Waiting(wire, ended)
    adds = asyncio.create_task(event_sources.take_in(cast("Wire", first), layout, {"name": "one"}))
    await first.reached.wait()  # it has read the list, and would write it back without the other
    assert await event_sources.take_in(wire, layout, {"name": "two"})
    ended.set()
    assert await adds
    info = await wire.api(f"STREAM.INFO.{layout.events}")
    assert {one["name"] for one in info["config"]["sources"]} >= {"one", "two"}
    assert info["state"]["consumer_count"] == 0


async def test_the_same_event_counts_once_at_edge_and_hub(tmp_path: Path) -> None:
    """With the same key, and so with the same message ids."""
    async with site(tmp_path, "c1") as found:
        at_edge, at_hub = found.edges["c1"].settings(), found.hub.settings("tree-c1")
        async with Client.open(at_edge, source="/a") as edge, Client.open(at_hub, source="/a") as hub:
            assert await edge.publish_many(nodes("c1", 0, 10)) == PublishResult(10, 0)
            assert await edge.publish_many(nodes("c1", 0, 10)) == PublishResult(0, 10)
            await found.until_stored(10)
            assert await hub.publish_many(nodes("c1", 0, 15)) == PublishResult(5, 10)
            assert await edge.publish_many(nodes("c1", 10, 20)) == PublishResult(10, 0)
            await found.until_stored(20)
        assert await found.brought() == {"c1": [*range(20)]}


async def test_a_hostile_edge_brings_only_events_of_its_tree(tmp_path: Path) -> None:
    async with site(tmp_path, "c1", "c2") as found:
        names = found.edges["c1"].names
        await publish(found.edges["c1"], nodes("c1", 0, 3))
        await found.until_stored(3)
        before, inlet = await sizes(found.wire), f"{names.account_api}.STREAM.INFO.{names.inlet}"
        await found.edges["c1"].stop()
        async with hostile_leaf(found.hub, names) as leaf:

            async def brings() -> bool:
                leaf.deliver("pl.events.c1.node.adopt.p.n3")
                await leaf.settle()
                return await found.count() > stored

            async def tried() -> float:
                return asyncio.get_running_loop().time()

            for _ in range(2):
                stored = await found.count()
                await wait_for(brings, tried)  # what it may bring arrives, so that all before it was looked at
                for subject in ("pl.events.c2.cluster.delete", "pl.events.c2.node.adopt.p.n1", *INTERNAL):
                    leaf.deliver(subject)
                for subject in ("$JS.API.STREAM.DELETE.pl-LOG", "$JS.API.STREAM.PURGE.pl-EVENTS"):
                    leaf.ask_for_answer(subject)
                await leaf.settle()
        place = f"$JS.ACK.{names.inlet}.events.1.99.9.1700000000000000000.0@pl.inbox.0.c2.cluster.delete"
        for subject in (
            "pl.events.c2.cluster.x",
            f"$JS.API.STREAM.DELETE.{names.inlet}",
            names.down,
            f"{names.down}.S.x",
        ):
            async with hostile_leaf(found.hub, names) as leaf, asyncio.timeout(60):
                leaf.say(subject, b"", place)
                await leaf.refused.wait()
        async with Wire.open(found.hub.settings("operator")) as wire:
            taken = json.loads((await wire.request(inlet)).data)["state"]["last_seq"]
            assert taken >= 5 + 2 * len(INTERNAL)  # they came as far as the inlet
        info = await found.wire.api("STREAM.INFO.pl-EVENTS", {"subjects_filter": ">"})
        assert {subject.split(".", 3)[3] for subject in info["state"]["subjects"]} == {
            f"c1.node.adopt.p.n{number}" for number in range(4)
        }
        assert {**await sizes(found.wire), "pl-EVENTS": 0} == {**before, "pl-EVENTS": 0}


async def test_a_lost_store_is_said_and_mended(tmp_path: Path) -> None:
    async with site(tmp_path, "c1") as found:
        edge = found.edges["c1"]
        await publish(edge, nodes("c1", 0, 10))
        await found.until_stored(10)
        await edge.lose_store()
        with pytest.raises(NoSuchStream):
            async with Client.open(edge.settings(request_timeout=1.0), source="/agent") as client:
                await client.publish("cluster", "create", "c1")
        with raises(SetupError.edge_store_missing, match="`phaseline admin sites add c1` at the hub"):
            async with Client.open(edge.settings("operator", request_timeout=1.0), source="/agent") as client:
                await client.publish("cluster", "create", "c1")
        assert "phaseline admin sites add c1" in (await until(found, "store lost")).advice
        mended = await found.add("c1")
        assert (mended.connected, "stream pl-EDGE at the edge" in mended.changed) == (True, True)
        await publish(edge, nodes("c1", 10, 15))
        await found.until_stored(15)
        assert await found.brought() == {"c1": [*range(15)]}
        assert (await until(found, "connected")).waiting == 0


async def fill(wire: Wire) -> None:
    """Publish large events of c1 until something stops it."""
    for number in itertools.count():
        await wire.publish_acked(f"pl.events.c1.node.adopt.p.n{number}", b"/p/n%d" % number + bytes(5_000))


async def test_a_full_store_refuses_and_says_so(tmp_path: Path) -> None:
    async with site(tmp_path, "c1", add=False) as found:
        edge, names = found.edges["c1"], found.edges["c1"].names
        assert (await found.add("c1", StoreOptions(max_bytes=1 << 20))).max_bytes == 1 << 20
        async with Wire.open(found.hub.settings("operator")) as wire:
            api = names.account_api
            config = json.loads((await wire.request(f"{api}.STREAM.INFO.{names.inlet}")).data)["config"]
            await wire.request(f"{api}.STREAM.UPDATE.{names.inlet}", json.dumps({**config, "sources": []}).encode())
        async with Wire.open(edge.settings()) as wire:
            with pytest.raises(NoRoom):
                await fill(wire)
        full = await until(found, "full")
        assert "--max-bytes" in full.advice
        assert full.waiting
        again = await found.add("c1", StoreOptions(max_bytes=2 << 20))
        assert again.max_bytes == 2 << 20
        await found.until_stored(full.waiting)
        assert (await until(found, "connected")).waiting == 0


async def test_an_edge_that_is_away_was_seen_last_then(tmp_path: Path) -> None:
    async with site(tmp_path, "c1", add=False) as found:
        edge = found.edges["c1"]
        await edge.stop()
        early = await found.add("c1", request_timeout=1.0)
        assert (early.connected, "stream pl-INLET-c1" in early.changed) == (False, True)
        assert (await states(found))["c1"].state == "away"
        await edge.start()
        assert (await found.add("c1")).connected
        await publish(edge, nodes("c1", 0, 1))
        await found.until_stored(1)
        await edge.stop()
        away = await until(found, "away")
        assert away.last_contact is not None
        assert away.last_event is not None
        assert (away.trees, away.waiting) == (("c1",), None)


async def test_trees_change_and_edges_go(tmp_path: Path) -> None:
    async with site(tmp_path, "c1", accounts=False) as found:
        more = await found.add("c1", StoreOptions(("c1", "edge.eu")))
        assert more.trees == ("c1", "edge.eu")
        assert (await found.add("c1")).trees == ("c1", "edge.eu")
        await publish(found.edges["c1"], nodes("edge.eu", 0, 2))
        await found.until_stored(2)
        async with Wire.open(found.hub.settings("operator")) as wire:
            settings = found.hub.settings("operator")
            with pytest.raises(NameUnknown, match="choose one of c1"):
                await adding.remove(wire, settings, "c2")
            assert await adding.remove(wire, settings, "c1") == ["source of pl-EVENTS", "stream pl-INLET-c1"]
            assert await edge_state.edges(wire, settings) == []
            with raises(SetupError.no_edges):
                await adding.remove(wire, settings, "c1")
        await publish(found.edges["c1"], nodes("c1", 2, 4))
        await found.add("c1")
        await found.until_stored(4)


async def test_removing_an_edge_loses_nothing_that_the_hub_took(tmp_path: Path) -> None:
    async with site(tmp_path, "c1", accounts=False) as found:
        settings, api = found.hub.settings("operator", request_timeout=0.5), "STREAM.UPDATE.pl-EVENTS"
        config = (await found.wire.api("STREAM.INFO.pl-EVENTS"))["config"]
        await found.wire.api(api, {**config, "max_msgs": 2, "discard": "new"})
        await publish(found.edges["c1"], nodes("c1", 0, 10))
        await found.until_stored(2)
        async with Wire.open(settings) as wire:
            with raises(SetupError.inlet_holds_events):
                await adding.remove(wire, settings, "c1")
        await found.wire.api(api, config)
        await found.until_stored(10)
        async with Wire.open(found.hub.settings("operator")) as wire:
            assert await adding.remove(wire, found.hub.settings("operator"), "c1")
        assert await found.brought() == {"c1": [*range(10)]}
