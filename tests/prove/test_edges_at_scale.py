"""Edges in numbers: a hub that is away for 100,000 events, 100 edges on one hub, a hub of three servers."""

import asyncio
import random
from pathlib import Path

import pytest

from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import Settings
from phaseline.engine.worker.sites import adding, edge_state
from phaseline.engine.worker.sites.adding import StoreOptions
from phaseline.schemas.errors import PhaselineError
from tests.support import free_ports
from tests.support.edge_site import EdgeSite, Hub, Site, nodes, publish, site
from tests.support.nats_cluster import cluster, provisioned, until_whole
from tests.support.prove_scale import scaled


async def all_publish(found: Site, first: int, last: int) -> None:
    """Publish the events of these numbers at each edge."""
    await asyncio.gather(*(surely(edge, first, last) for edge in found.edges.values()))


async def surely(edge: EdgeSite, first: int, last: int) -> None:
    """Publish at an edge, and again from the beginning if its server dies meanwhile."""
    while True:
        try:
            return await publish(edge, nodes(edge.names.name, first, last))
        except PhaselineError:
            await asyncio.sleep(0.1)


@pytest.mark.slow
async def test_a_hundred_thousand_events_wait_for_the_hub(tmp_path: Path) -> None:
    names, each = ("c1", "c2", "c3", "c4"), scaled(25_000, 250)
    async with site(tmp_path, *names) as found:
        await all_publish(found, 0, 10)
        await found.hub.kill()
        await all_publish(found, 10, each)
        await found.hub.start()
        await found.until_stored(len(names) * each)
        assert await found.brought() == {name: [*range(each)] for name in names}


@pytest.mark.slow
async def test_hub_and_edges_are_killed_again_and_again(tmp_path: Path) -> None:
    names, rounds, each, dice = ("c1", "c2"), scaled(30, 3), 200, random.Random(7)
    async with site(tmp_path, *names) as found:
        for number in range(rounds):
            sending = asyncio.create_task(all_publish(found, number * each, (number + 1) * each))
            victim = dice.choice([found.hub, *found.edges.values()])
            await asyncio.sleep(dice.random() / 10)
            await victim.kill()
            await asyncio.sleep(dice.random())
            await victim.start()
            await sending
        await found.until_stored(len(names) * rounds * each)
        assert await found.brought() == {name: [*range(rounds * each)] for name in names}


@pytest.mark.slow
async def test_a_hundred_edges_on_one_hub(tmp_path: Path) -> None:
    names = [f"e{number}" for number in range(scaled(100, 5))]
    async with site(tmp_path, *names) as found:
        await all_publish(found, 0, 20)
        await found.until_stored(20 * len(names))
        await found.hub.kill()
        await all_publish(found, 20, 120)
        await found.hub.start()
        await found.until_stored(120 * len(names))
        assert await found.brought() == {name: [*range(120)] for name in names}
        settings = found.hub.settings("operator")
        async with Wire.open(settings) as wire:
            listed = await edge_state.edges(wire, settings)
        assert [one.edge for one in listed] == sorted(names)
        assert {one.state for one in listed} == {"connected"}


@pytest.mark.slow
async def test_a_hub_of_three_servers(tmp_path: Path) -> None:
    """With three replicas: the leader of the inlet dies, then all three servers."""
    ports = free_ports.some(3)
    (tmp_path / "cluster").mkdir()
    async with cluster(tmp_path / "cluster", ports) as members:
        hub = Hub(tmp_path, ("c1",), accounts=False)
        settings = Settings(
            nats=tuple(member.url for member in members), replicas=3, partitions=2, request_timeout=30.0,
            connect_timeout=60.0,
        )  # fmt: skip
        async with EdgeSite(hub, "c1", tmp_path, ports) as edge, Wire.open(settings) as wire:
            layout = await provisioned(wire, settings)
            assert (await adding.add(wire, settings, "c1", StoreOptions())).connected
            await until_whole(wire, layout)
            found = Site(hub, {"c1": edge}, wire, layout)
            await publish(edge, nodes("c1", 0, 100))
            await found.until_stored(100)
            info = await wire.api(f"STREAM.INFO.{edge.names.inlet}")
            assert info["config"]["num_replicas"] == 3
            leader = members[int(info["cluster"]["leader"].removeprefix("n"))]
            leader.kill()
            await publish(edge, nodes("c1", 100, 200))
            await found.until_stored(200)
            leader.start()
            await until_whole(wire, layout)
            for member in members:
                member.kill()
            await publish(edge, nodes("c1", 200, 1_000))
            for member in members:
                member.start()
            await found.until_stored(1_000)
            assert await found.brought() == {"c1": [*range(1_000)]}
