"""The number of partitions changes again and again while workers are killed, freeze and start in storms."""

import asyncio
import random
from dataclasses import replace
from pathlib import Path

import pytest

from phaseline.engine.errors import PhaselineError
from phaseline.engine.jetstream.streams import Layout, provision
from phaseline.engine.jetstream.wire import Wire
from phaseline.engine.settings import Settings
from tests.support.divided import assert_each_decided_once, divided, repartition, until_all_decided
from tests.support.killable_worker import workers
from tests.support.nats_cluster import cluster, provisioned, until_whole
from tests.support.prove_scale import scaled
from tests.support.random_events import RandomEvents, Sent, publish
from tests.support.worker_fleet import Fleet, fleet_of

pytestmark = pytest.mark.slow
CHANGES = 12


async def publish_until(wire: Wire, fleet: RandomEvents, over: asyncio.Event) -> int:
    """Publish random events without a pause until `over`; how many."""
    sent = 0
    while not over.is_set():
        some: list[Sent] = [*fleet.life(50, 16, 5)]
        await publish(wire, some)
        sent += len(some)
        await asyncio.sleep(0.05)
    return sent


async def troubled(fleet: Fleet, over: asyncio.Event) -> None:
    """One trouble after the other."""
    while not over.is_set():
        await fleet.dice.choice((fleet.killed, fleet.killed, fleet.frozen, fleet.stormed))()
        await asyncio.sleep(fleet.dice.uniform(0.5, 3.0))


async def change(wire: Wire, layout: Layout, count: int) -> None:
    """Repeat the command until it is done: workers that are frozen or have just started may not answer yet."""
    while True:
        try:
            await repartition(wire, layout, count)
        except PhaselineError:
            await asyncio.sleep(0.5)
        else:
            return


@pytest.mark.parametrize("seed", range(2))
async def test_changes_among_troubles(settings: Settings, wire: Wire, tmp_path: Path, seed: int) -> None:
    settings = replace(settings, partitions=4, lease=1.0)
    layout, dice = await provision(wire, settings), random.Random(seed)
    events, over = RandomEvents(settings.prefix, seed), asyncio.Event()
    await publish(wire, [*events.built(16, 5)])
    async with fleet_of(settings, 3, tmp_path, seed) as fleet:
        publishing = asyncio.create_task(publish_until(wire, events, over))
        troubles = asyncio.create_task(troubled(fleet, over))
        for _ in range(scaled(CHANGES)):
            now = (await divided(wire, layout)).layout.division.count
            await change(wire, layout, dice.choice([one for one in (1, 2, 3, 5, 8, 12) if one != now]))
            await asyncio.sleep(dice.uniform(0.0, 1.0))
        over.set()
        await troubles
        sent = await publishing
        await until_all_decided(wire, layout)
        assert "partition_broken" not in fleet.log
    assert await assert_each_decided_once(wire, layout) > sent / 3


async def test_in_a_cluster_whose_servers_are_killed(tmp_path: Path) -> None:
    async with cluster(tmp_path) as members:
        settings = Settings(nats=tuple(member.url for member in members), partitions=3, replicas=3, lease=2.0)
        async with Wire.open(settings, name="test", patient=True) as wire:
            layout, events = await provisioned(wire, settings), RandomEvents(settings.prefix)
            async with workers(settings, 2):
                await publish(wire, [*events.built(6, 6)])
                for member, count in zip(members, (4, 2, 6), strict=True):
                    changing = asyncio.create_task(change(wire, layout, count))
                    member.kill()
                    await publish(wire, [*events.life(200, 6, 6)])
                    member.start()
                    await publish(wire, [*events.life(200, 6, 6)])
                    await changing
                    await until_whole(wire, layout)
                await until_all_decided(wire, layout)
            assert await assert_each_decided_once(wire, layout) > 400
