"""Edges, exactly once: under steady load, over cuts longer than the dedupe window, after a crash of the hub."""

import asyncio
import json
import shutil
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from phaseline.schemas.errors import ApiFailed
from phaseline.schemas.records import SECOND
from phaseline.schemas.subjects import Subjects
from tests.support import raw_checker
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.edge_site import (
    EdgeSite,
    InletKeeper,
    Site,
    adding,
    edge_state,
    edge_streams,
    nodes,
    publish,
    site,
    uplink,
)
from tests.support.installation import LIMIT, Installation, Settings, Wire, at_work, until_decided
from tests.support.own_installation import Client, OwnInstallation
from tests.support.owners import Checkpoint, Partition, checkpoint
from tests.support.patience import wait_for

WINDOW = 2.0
"""Seconds in which message ids are known."""


class Load:
    """Events that an agent publishes one after the other, without a pause that is long enough to be idle."""

    def __init__(self) -> None:
        self.count, self.ends = 0, False

    async def run(self, edge: EdgeSite) -> None:
        async with Client.open(edge.settings(), source="/agent") as client:
            while not self.ends:
                await client.publish_many(nodes(edge.names.name, self.count, self.count + 1))
                self.count += 1
                await asyncio.sleep(0.02)

    async def reached(self, count: int) -> None:
        """Wait until so many events were published."""

        async def there() -> bool:
            return self.count >= count

        async def now() -> int:
            return self.count

        await wait_for(there, now)


@asynccontextmanager
async def under_load(edge: EdgeSite) -> AsyncIterator[Load]:
    """An agent publishes while the block runs."""
    load = Load()
    running = asyncio.create_task(load.run(edge))
    try:
        yield load
    finally:
        load.ends = True
        await running


async def all_came_once(found: Site, count: int) -> None:
    """Wait until EVENTS has so many events, and until each worker has decided its own; none may be there twice."""
    await found.until_stored(count)
    await until_decided(found.wire, found.layout)
    assert await found.brought() == {"c1": [*range(count)]}


@asynccontextmanager
async def partitions_run(found: Site) -> AsyncIterator[None]:
    """Both partitions are decided while the block runs. Nobody removes anything from the inlet."""
    installation, stop = Installation(found.wire, found.layout, BUILT_IN_KINDS), asyncio.Event()
    running = [Partition(installation, number, f"w{number}") for number in range(found.layout.partitions)]
    tasks = [asyncio.create_task(one.run(stop)) for one in running]
    try:
        yield
        await until_decided(found.wire, found.layout)
    finally:
        stop.set()
        for one in running:
            one.wake()
        await asyncio.gather(*tasks)


async def take_again(found: Site, edge: EdgeSite) -> None:
    """Let EVENTS take again all that the inlet holds: its source is another one, of which it has nothing."""
    events = (await found.wire.api(f"STREAM.INFO.{found.layout.events}"))["config"]
    others = [one for one in events["sources"] if one["name"] != edge.names.inlet]
    await found.wire.api(f"STREAM.UPDATE.{found.layout.events}", {**events, "sources": others})
    other = edge_streams.inlet_source(edge.names, ("c1", "c9"), found.layout.partitions, None)
    await found.wire.api(f"STREAM.UPDATE.{found.layout.events}", {**events, "sources": [*others, other]})


@pytest.mark.parametrize("is_decided", [False, True], ids=["not-decided-yet", "decided-by-a-former-owner"])
async def test_what_events_takes_twice_is_decided_once(tmp_path: Path, is_decided: bool) -> None:
    async with site(tmp_path, "c1", accounts=False, dedupe_window=WINDOW) as found:
        edge = found.edges["c1"]
        await publish(edge, nodes("c1", 0, 50))
        await found.until_stored(50)
        if is_decided:
            async with partitions_run(found):
                pass
        await asyncio.sleep(2 * WINDOW)
        await take_again(found, edge)
        await found.until_stored(100)
        async with partitions_run(found):
            await publish(edge, nodes("c1", 50, 60))
            await found.until_brought({"c1": [*range(60)]})
        report = await raw_checker.check(found.wire.settings.nats[0], "pl")
        assert (report.events, report.answers) == (60, 62)  # the cluster and the pool are adopted too
        found_origins = [last.origins["c1"] for last in await checkpoints(found) if last.origins]
        assert [(one.sequence, one.repeats) for one in found_origins] == [(60, 50)]
        assert [one.repeats for one in await edge_state.edges(found.wire, found.wire.settings)] == [50]


async def test_a_large_backlog_crosses_after_each_crash_of_the_hub(tmp_path: Path) -> None:
    """A killed server may know a former state of the inlet's consumer, and send again what EVENTS has."""
    async with site(tmp_path, "c1", accounts=False) as found:
        for first in (0, 1_000, 2_000):
            await found.hub.kill()
            await publish(found.edges["c1"], nodes("c1", first, first + 1_000))
            await found.hub.start()
            await found.until_stored(first + 1_000)
        assert await found.brought() == {"c1": [*range(3_000)]}


async def under_ids(edge: EdgeSite, ids: Sequence[str]) -> None:
    """Publish the event of one node after the other, each under such a raw id."""
    async with Wire.open(edge.settings()) as wire:
        for number, (event, name) in enumerate(zip(nodes(edge.names.name, 0, len(ids)), ids, strict=True)):
            subject = f"pl.events.{edge.names.name}.node.adopt.p.n{number}"
            await wire.publish_acked(subject, json.dumps(event).encode(), {"Nats-Msg-Id": name})


@pytest.mark.parametrize("accounts", [False, True])
async def test_what_events_drops_as_a_repeat_is_said(tmp_path: Path, accounts: bool) -> None:
    """Two edges use the same ids: EVENTS stores the first events only, and the rest is counted and named, once."""
    dropped = Counter[str]()
    async with site(tmp_path, "c1", "c2", accounts=accounts) as found:
        await under_ids(found.edges["c1"], ["a", "1", "2", "b"])
        await found.until_stored(4)
        await under_ids(found.edges["c2"], ["c", "1", "d", "2", "e"])
        await found.until_brought({"c1": [0, 1, 2, 3], "c2": [0, 2, 4]})
        keeper = InletKeeper(found.wire, found.layout, lambda: True, dropped)
        with capture_logs() as logs:
            async with asyncio.timeout(LIMIT):
                while dropped.total() < 2:
                    await keeper.look()
            await under_ids(found.edges["c2"], ["f", "g"])
            await found.until_stored(9)
            again = InletKeeper(found.wire, found.layout, lambda: True, dropped)
            for one in (keeper, again, keeper):
                await one.look()
        said = [{**one} for one in logs if one["event"] == "edge_events_dropped"]
        assert [(one["edge"], one["count"], one["first"], one["last"]) for one in said] == [("c2", 2, 2, 4)]
        assert (said[0]["subject"], said[0]["message_id"]) == ("pl.events.c2.node.adopt.p.n1", "1")
        assert dropped == {"c2": 2}


async def test_an_edge_that_is_removed_and_added_again_brings_nothing_twice(tmp_path: Path) -> None:
    """The store has not been told yet that the hub has its last events, and the position goes with the inlet."""
    async with site(tmp_path, "c1", dedupe_window=WINDOW) as found:
        edge, settings = found.edges["c1"], found.hub.settings("operator", dedupe_window=WINDOW)
        async with under_load(edge) as load:
            await load.reached(50)
            await edge.cut_off()
            await load.reached(load.count + 20)
        async with Wire.open(settings) as wire:
            assert await adding.remove(wire, settings, "c1")
        await asyncio.sleep(2 * WINDOW)
        await edge.join()
        assert await edge.held() > 20
        assert (await found.add("c1")).connected
        async with at_work(found.wire.settings, found.wire, BUILT_IN_KINDS):
            await all_came_once(found, load.count)


async def test_a_new_store_goes_on_where_the_lost_one_was(tmp_path: Path) -> None:
    async with site(tmp_path, "c1", dedupe_window=WINDOW) as found:
        edge = found.edges["c1"]
        async with at_work(found.wire.settings, found.wire, BUILT_IN_KINDS):
            await publish(edge, nodes("c1", 0, 20))
            await found.until_stored(20)
            await edge.lose_store()
            assert (await found.add("c1")).connected
            await publish(edge, nodes("c1", 20, 30))
            await all_came_once(found, 30)
        async with Wire.open(edge.settings("operator")) as wire:
            assert (await wire.api(f"STREAM.INFO.{edge.names.store}"))["state"]["last_seq"] == 30


async def take_older_copy(found: Site, edge: EdgeSite, path: Path) -> None:
    """Let the store be a copy with 10 events, where the hub has had 20."""
    await publish(edge, nodes("c1", 0, 10))
    await found.until_stored(10)
    await edge.stop()
    shutil.copytree(edge.data / "jetstream", path)
    await edge.start()
    await publish(edge, nodes("c1", 10, 20))
    await found.until_stored(20)
    await edge.kill()
    shutil.rmtree(edge.data / "jetstream")
    shutil.copytree(path, edge.data / "jetstream")
    await edge.start()


async def until_store_lost(wire: Wire, settings: Settings, last: int) -> None:
    """Wait until the edge is back, and the state of it says that its store is older than what the hub has had."""

    async def is_seen() -> bool:
        [state] = await edge_state.edges(wire, settings)
        return state.state == "store lost" and f"number {last}, and the hub has had 20" in state.advice

    await wait_for(is_seen, is_seen)


async def test_a_worker_removes_nothing_from_an_older_copy_of_the_store(tmp_path: Path) -> None:
    """The hub has had other events with these numbers."""
    async with site(tmp_path, "c1", dedupe_window=WINDOW) as found:
        edge, settings = found.edges["c1"], found.hub.settings("operator")
        async with Wire.open(settings) as wire:
            await take_older_copy(found, edge, tmp_path / "older")
            await publish(edge, nodes("c1", 20, 23))
            await until_store_lost(wire, settings, 13)
            assert await adding.ask_again(await uplink.find(wire, edge.names))
            await until_store_lost(wire, settings, 13)
        assert await edge.held() >= 3


async def test_an_older_copy_of_the_store_goes_on_where_the_hub_is(tmp_path: Path) -> None:
    """As after a power cut that took acknowledged events: the next numbers are some that the hub has had."""
    async with site(tmp_path, "c1", dedupe_window=WINDOW) as found:
        edge, settings = found.edges["c1"], found.hub.settings("operator", dedupe_window=WINDOW)
        async with at_work(found.wire.settings, found.wire, BUILT_IN_KINDS), Wire.open(settings) as wire:
            await take_older_copy(found, edge, tmp_path / "older")
            await until_store_lost(wire, settings, 10)
            changed = (await found.add("c1")).changed
            assert changed == [f"source of {edge.names.inlet}", f"numbers of {edge.names.store} at the edge, from 21"]
            await publish(edge, nodes("c1", 20, 30))
            await all_came_once(found, 30)
            [state] = await edge_state.edges(wire, settings)
            assert (state.state, state.repeats) == ("connected", 0)


async def test_an_edge_writes_an_event_to_its_disk_before_it_acknowledges_it(tmp_path: Path) -> None:
    async with site(tmp_path, "c1") as found:
        assert "sync_interval: always" in found.edges["c1"]._config()


async def as_formerly(found: Site, edge: EdgeSite) -> None:
    """Let the sources of an edge have consumers of ours, as earlier versions made them."""
    names, wire = edge.names, found.wire
    inlet = (await wire.api(f"STREAM.INFO.{names.inlet}"))["config"]
    events = (await wire.api(f"STREAM.INFO.{found.layout.events}"))["config"]
    others = [one for one in events["sources"] if one["name"] != names.inlet]
    await wire.api(f"STREAM.UPDATE.{names.inlet}", {**inlet, "sources": []})
    await wire.api(f"STREAM.UPDATE.{found.layout.events}", {**events, "sources": others})
    flow = {"ack_policy": "flow_control", "flow_control": True, "idle_heartbeat": SECOND, "deliver_policy": "all"}
    down = {**flow, "durable_name": "events", "deliver_subject": names.down, "filter_subjects": ["pl.events.c1.>"]}
    up = {**flow, "durable_name": "hub", "deliver_subject": names.up, "max_ack_pending": 256}
    place = f"CONSUMER.DURABLE.CREATE.{names.inlet}.events"
    await wire.api(place, {"stream_name": names.inlet, "config": down})
    way = await uplink.find(wire, names)
    place = f"CONSUMER.DURABLE.CREATE.{names.store}.hub"
    await way.at_edge(place, {"stream_name": names.store, "config": up})
    consumer = {"name": "hub", "deliver_subject": names.up}
    above = {"name": names.store, "external": {"api": names.domain_api, "deliver": ""}, "consumer": consumer}
    below = {
        "name": names.inlet, "consumer": {"name": "events", "deliver_subject": names.down},
        "subject_transforms": [events["subject_transform"]],
    }  # fmt: skip
    await wire.api(f"STREAM.UPDATE.{names.inlet}", {**inlet, "sources": [above]})
    await wire.api(f"STREAM.UPDATE.{found.layout.events}", {**events, "sources": [*others, below]})


async def test_an_edge_of_an_earlier_version_is_mended(tmp_path: Path) -> None:
    async with site(tmp_path, "c1", accounts=False, dedupe_window=WINDOW) as found:
        edge, settings = found.edges["c1"], found.wire.settings
        await as_formerly(found, edge)
        await publish(edge, nodes("c1", 0, 10))
        await found.until_stored(10)
        [state] = await edge_state.edges(found.wire, settings)
        assert (state.state, "`phaseline admin sites add c1` again" in state.advice) == ("incomplete", True)
        await asyncio.sleep(2 * WINDOW)
        async with at_work(settings, found.wire, BUILT_IN_KINDS):
            assert (await found.add("c1")).changed == ["source of pl-EVENTS", "source of pl-INLET-c1"]
            await publish(edge, nodes("c1", 10, 20))
            await found.until_brought({"c1": [*range(20)]})
            [state] = await edge_state.edges(found.wire, settings)
            assert (state.state, state.trees) == ("connected", ("c1",))
        assert await is_without_former_consumers(found, edge)


async def is_without_former_consumers(found: Site, edge: EdgeSite) -> bool:
    """Whether the store has one consumer, under a subject that the hub's server has made up, and the inlet another."""
    way = await uplink.find(found.wire, edge.names)
    [up] = (await way.at_edge(f"CONSUMER.LIST.{edge.names.store}"))["consumers"]
    subject = str(up["config"]["deliver_subject"])
    return bool(
        up["name"] != "hub" and subject.startswith(f"{edge.names.up}.") and up["config"]["ack_policy"] == "flow_control"
    )


async def test_an_inlet_of_the_first_version_is_mended(tmp_path: Path) -> None:
    async with site(tmp_path, "c1", dedupe_window=WINDOW) as found:
        edge, settings = found.edges["c1"], found.hub.settings("operator", dedupe_window=WINDOW)
        async with Wire.open(settings) as wire:
            way = await uplink.find(wire, edge.names)
            config = (await way.at_hub(f"STREAM.INFO.{edge.names.inlet}"))["config"]
            await way.at_hub(f"STREAM.UPDATE.{edge.names.inlet}", {**config, "retention": "interest"})
            [state] = await edge_state.edges(wire, settings)
            assert (state.state, "`phaseline admin sites add c1` again" in state.advice) == ("incomplete", True)
            assert (await found.add("c1")).changed == [f"retention of {edge.names.inlet}"]
            await publish(edge, nodes("c1", 0, 20))
            await found.until_stored(20)
            [state] = await edge_state.edges(wire, settings)
            assert state.state == "connected"
        assert await found.brought() == {"c1": [*range(20)]}


async def test_a_worker_lets_the_hub_ask_an_edge_that_is_back(tmp_path: Path) -> None:
    """The server alone would ask after 40 s. The store holds nothing for ever of what the hub has."""
    async with site(tmp_path, "c1", dedupe_window=WINDOW) as found:
        edge = found.edges["c1"]
        await publish(edge, nodes("c1", 0, 5))
        await found.until_stored(5)
        await edge.cut_off()
        await found.hub.kill()
        await found.hub.start()
        await publish(edge, nodes("c1", 5, 10))
        await edge.join()
        keeper = InletKeeper(found.wire, found.layout, lambda: True, Counter())
        with capture_logs() as logs:
            async with asyncio.timeout(LIMIT):
                while await found.count() < 10:
                    await keeper.look()
        assert {"event": "edge_asked_again", "edge": "c1", "log_level": "info"} in logs
        assert await found.brought() == {"c1": [*range(10)]}

        async def is_empty() -> bool:
            return await edge.held() == 0

        await wait_for(is_empty, edge.held)


async def test_a_kill_while_the_hub_is_to_ask_again_is_mended(tmp_path: Path) -> None:
    async with site(tmp_path, "c1") as found, Wire.open(found.hub.settings("operator")) as wire:
        edge, way = found.edges["c1"], await uplink.find(wire, found.edges["c1"].names)
        subject = f"STREAM.UPDATE.{edge.names.inlet}"
        config = (await way.at_hub(f"STREAM.INFO.{edge.names.inlet}"))["config"]
        await way.at_hub(subject, {**config, "sources": [], "metadata": {adding.ASKING: "1"}})
        await publish(edge, nodes("c1", 0, 5))
        assert await adding.ask_again(way)
        await found.until_stored(5)
        await way.at_hub(subject, {**config, "sources": []})  # as `remove` does
        assert not await adding.ask_again(way)
        assert not (await way.at_hub(f"STREAM.INFO.{edge.names.inlet}"))["config"].get("sources")


async def test_nobody_can_say_that_an_event_comes_from_an_edge(installation: OwnInstallation) -> None:
    """Otherwise one high number would let the events of an edge count as repeats."""
    await installation.layout()
    with pytest.raises(ApiFailed, match="10227"):
        await installation.wire.publish_acked(
            f"{installation.settings.prefix}.events.c1.cluster.create",
            b"{}",
            {"Nats-Stream-Source": "pl-INLET-c1 99 > > pl.x id"},
        )


async def checkpoints(found: Site) -> list[Checkpoint]:
    """The last checkpoint of each partition."""
    subjects = map(Subjects(found.layout.prefix).checkpoint, range(found.layout.partitions))
    made = [await checkpoint.last(found.wire, found.layout.log, subject) for subject in subjects]
    return [last for last in made if last is not None]


async def test_a_cut_and_a_crash_of_the_hub_double_nothing(tmp_path: Path) -> None:
    async with site(tmp_path, "c1", dedupe_window=WINDOW) as found:
        edge = found.edges["c1"]
        async with at_work(found.wire.settings, found.wire, BUILT_IN_KINDS), under_load(edge) as load:
            await load.reached(100)
            await edge.cut_off()
            await asyncio.sleep(2 * WINDOW)
            await found.hub.kill()
            await found.hub.start()
            await edge.join()
            await load.reached(load.count + 50)
        async with at_work(found.wire.settings, found.wire, BUILT_IN_KINDS):
            await all_came_once(found, load.count)


async def test_the_store_holds_no_more_than_it_must(tmp_path: Path) -> None:
    """Once; `test_edges_exactly_once` in `tests/prove` looks again and again."""
    async with site(tmp_path, "c1", dedupe_window=WINDOW) as found:
        edge = found.edges["c1"]
        async with under_load(edge) as load:
            await load.reached(edge_streams.UNTOLD + 50)
            assert await edge.held() <= edge_streams.UNTOLD
