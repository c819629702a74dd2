"""Three servers with three replicas, whose network is cut while they run: nothing is doubled or lost.

With network namespaces (root on Linux) the routes of a server drop all packets, while clients still reach it.
"""

import asyncio
import random
from pathlib import Path

import pytest

from phaseline.engine.nats.streams import Layout
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import Settings
from phaseline.schemas.errors import PhaselineError
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import until_decided
from tests.support.log_check import assert_log_is_the_fold
from tests.support.nats_cluster import provisioned
from tests.support.network_namespaces import NODES, possible, three_namespaces
from tests.support.prove_scale import scaled
from tests.support.random_events import RandomEvents, publish
from tests.support.raw_checker import check
from tests.support.worker_fleet import fleet_of

LIMIT = 120


async def patiently(wire: Wire, layout: Layout) -> None:
    """Wait until all is decided, also through elections."""
    async with asyncio.timeout(LIMIT):
        while True:
            try:
                await until_decided(wire, layout)
            except PhaselineError:
                await asyncio.sleep(0.5)
            else:
                return


@pytest.mark.slow
@pytest.mark.skipif(not possible(), reason="needs root and `ip` for network namespaces")
async def test_the_network_between_three_servers_is_cut(tmp_path: Path) -> None:
    dice, cuts = random.Random(3), scaled(50, 3)
    with three_namespaces(tmp_path) as net:
        settings = Settings(nats=net.urls, partitions=4, replicas=3, lease=2.0)
        async with Wire.open(settings, patient=True) as wire:
            layout = await provisioned(wire, settings)
            events = RandomEvents(settings.prefix)
            sent = [*events.built(6, 6)]
            async with fleet_of(settings, 3, tmp_path) as fleet:
                await publish(wire, sent)
                for number in range(cuts):
                    node = number % len(NODES)
                    net.cut(node)
                    share = list(events.life(300, 6, 6))
                    publishing = asyncio.create_task(publish(wire, share))
                    await asyncio.sleep(dice.uniform(1.0, 12.0))
                    if dice.random() < 0.3:
                        await fleet.killed()
                    net.heal(node)
                    await asyncio.sleep(dice.uniform(0.5, 6.0))
                    await publishing
                    sent += share
                await patiently(wire, layout)
            assert (await check(net.urls[0], settings.prefix)).events == len(sent)
            await assert_log_is_the_fold(wire, layout, BUILT_IN_KINDS)
