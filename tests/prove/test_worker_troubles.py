"""Workers that are killed, frozen and started in storms, and a server that is killed: judged by NATS and the core.

The short forms run always. `python3 dev.py prove` runs the long ones; PROVE_SCALE makes them smaller.
"""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from phaseline.engine.nats.embedded.server import EmbeddedServer
from phaseline.engine.nats.streams import provision
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import Settings
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import until_decided
from tests.support.log_check import assert_log_is_the_fold
from tests.support.prove_scale import scaled
from tests.support.random_events import RandomEvents, Sent, publish
from tests.support.raw_checker import Report, check
from tests.support.raw_recorder import recording
from tests.support.worker_fleet import Fleet, Trouble, fleet_of

ANSWERED = frozenset({"cluster.create", "node_pool.create", "component.create", "node.create", "node.stop"})
"""Intents: each of them gets an answer."""


def script(prefix: str, events: int, clusters: int = 12, nodes: int = 10) -> list[Sent]:
    fleet = RandomEvents(prefix, seed=events)
    return [*fleet.built(clusters, nodes), *fleet.life(events, clusters, nodes)][:events]


async def judged(url: str, wire: Wire, settings: Settings, sent: int) -> Report:
    """Wait until all is decided, then ask both judges."""
    layout = await provision(wire, settings)
    await until_decided(wire, layout)
    report = await check(url, settings.prefix, must_answer=ANSWERED)
    assert report.events == sent
    await assert_log_is_the_fold(wire, layout, BUILT_IN_KINDS)
    return report


async def troubled(
    settings: Settings, wire: Wire, folder: Path, troubles: Sequence[Trouble], events: int, workers: int = 3
) -> Fleet:
    """Three workers decide events; each trouble comes with its share of the events."""
    await provision(wire, settings)
    waiting, url = script(settings.prefix, events), settings.nats[0]
    piece = -(-events // len(troubles))
    async with recording(url, settings.prefix) as recorder, fleet_of(settings, workers, folder, events) as fleet:
        for number, trouble in enumerate(troubles):
            share = waiting[number * piece : (number + 1) * piece]
            await asyncio.gather(publish(wire, share), trouble(fleet))
        report = await judged(url, wire, settings, len(waiting))
        await recorder.until(report.log)
        assert recorder.compare(report.log) == []
        for epochs in recorder.epochs.values():
            assert epochs == sorted(set(epochs))
    return fleet


async def test_kills_a_freeze_and_a_storm(settings: Settings, wire: Wire, tmp_path: Path) -> None:
    mixed = [Fleet.killed, Fleet.frozen, Fleet.stormed, Fleet.killed]
    await troubled(replace(settings, partitions=4, lease=1.0), wire, tmp_path, mixed, events=800)


@pytest.mark.slow
async def test_a_thousand_kills(settings: Settings, wire: Wire, tmp_path: Path) -> None:
    kills = [Fleet.killed] * scaled(1_000, 10)
    fleet = await troubled(replace(settings, partitions=8), wire, tmp_path, kills, events=scaled(200_000, 2_000))
    assert fleet.started == 3 + len(kills)


@pytest.mark.slow
async def test_a_hundred_freezes(settings: Settings, wire: Wire, tmp_path: Path) -> None:
    freezes = [Fleet.frozen] * scaled(100, 5)
    settings = replace(settings, partitions=8, lease=1.0)
    fleet = await troubled(settings, wire, tmp_path, freezes, events=scaled(50_000, 2_000))
    assert "epoch=3" in fleet.log


@pytest.mark.slow
async def test_fifty_storms_of_starts(settings: Settings, wire: Wire, tmp_path: Path) -> None:
    storms = [Fleet.stormed] * scaled(50, 3)
    await troubled(replace(settings, partitions=8, lease=1.0), wire, tmp_path, storms, events=scaled(50_000, 2_000))


@pytest.mark.slow
async def test_everything_at_random(settings: Settings, wire: Wire, tmp_path: Path) -> None:
    dice = random.Random(7)
    mixed = [dice.choice([Fleet.killed, Fleet.frozen, Fleet.stormed]) for _ in range(scaled(200, 6))]
    await troubled(replace(settings, partitions=16, lease=1.0), wire, tmp_path, mixed, events=scaled(50_000, 2_000))


async def server_kills(server: EmbeddedServer, settings: Settings, folder: Path, kills: int, events: int) -> None:
    dice = random.Random(kills)
    async with Wire.open(settings, name="test", patient=True) as wire:
        await provision(wire, settings)
        waiting = script(settings.prefix, events)
        piece = -(-events // kills)
        async with fleet_of(settings, 3, folder) as fleet:
            for number in range(kills):
                publishing = asyncio.create_task(publish(wire, waiting[number * piece : (number + 1) * piece]))
                await asyncio.sleep(dice.uniform(0.1, 0.8))
                await server.kill()
                await asyncio.sleep(dice.uniform(0.0, 0.3))
                await server.start()
                if dice.random() < 0.2:
                    await fleet.killed()
                await publishing
            await judged(server.url, wire, settings, len(waiting))


async def test_the_server_is_killed(own_server: EmbeddedServer, own_settings: Settings, tmp_path: Path) -> None:
    await server_kills(own_server, replace(own_settings, partitions=2), tmp_path, kills=1, events=500)


@pytest.mark.slow
async def test_the_server_is_killed_a_hundred_times(
    own_server: EmbeddedServer, own_settings: Settings, tmp_path: Path
) -> None:
    kills = scaled(100, 5)
    await server_kills(own_server, replace(own_settings, partitions=8), tmp_path, kills, events=scaled(50_000, 2_500))
