"""The lock of `edge add`, whose holder is killed: the next one gets it after a bounded time."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.edge_lock_holder import held_and_killed
from tests.support.edge_site import event_sources
from tests.support.installation import Layout, Settings, Wire, provision
from tests.support.nats_cluster import cluster, provisioned, until_whole

ABSENT = "EVENTS-of-nobody"


async def assert_can_be_taken(wire: Wire, layout: Layout) -> None:
    """Whoever has the lock finds that no source has to go."""
    async with asyncio.timeout(event_sources.PATIENCE):
        assert not await event_sources.take_in(wire, layout, None, without=ABSENT)


async def test_the_server_deletes_the_lock_of_a_killed_process(wire: Wire, settings: Settings) -> None:
    layout = await provision(wire, settings)
    await held_and_killed(settings.nats, layout.events, 1)
    assert (await wire.api(f"CONSUMER.INFO.{layout.events}.{event_sources.LOCK}"))["config"]["num_replicas"] == 1
    await assert_can_be_taken(wire, layout)


@pytest.mark.slow
async def test_with_three_replicas_the_server_of_the_lock_is_killed_too(tmp_path: Path) -> None:
    async with cluster(tmp_path) as members:
        settings = Settings(nats=tuple(member.url for member in members), replicas=3)
        async with Wire.open(settings, patient=True) as wire:
            layout = await provisioned(wire, settings)
            await until_whole(wire, layout)
            await held_and_killed(settings.nats, layout.events, event_sources.LONGEST)
            await assert_can_be_taken(wire, layout)
            await held_and_killed(settings.nats, layout.events, event_sources.LONGEST)
            lock = await wire.api(f"CONSUMER.INFO.{layout.events}.{event_sources.LOCK}")
        server = members[int(lock["cluster"]["leader"][1:])]
        server.kill()
        others = tuple(member.url for member in members if member is not server)
        async with Wire.open(replace(settings, nats=others, request_timeout=2.0), patient=True) as wire:
            await asyncio.sleep(8)  # an election
            await assert_can_be_taken(wire, layout)


async def test_whoever_was_late_leaves_the_lock_of_the_next_one(wire: Wire, settings: Settings) -> None:
    layout = await provision(wire, settings)
    lock = f"{layout.events}.{event_sources.LOCK}"
    async with event_sources.locked(wire, layout.events):
        await wire.api(f"CONSUMER.DELETE.{lock}")  # as the server does once the time is over
        config = {"name": event_sources.LOCK, "ack_policy": "none", "metadata": {"phaseline_by": "next"}}
        await wire.api(f"CONSUMER.CREATE.{lock}", {"stream_name": layout.events, "config": config, "action": "create"})
    assert (await wire.api(f"CONSUMER.INFO.{lock}"))["config"]["metadata"]["phaseline_by"] == "next"
