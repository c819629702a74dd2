"""Events for three replicas: all of them, once, in each tree's order, whoever leads the stream meanwhile."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from phaseline.schemas import codec
from phaseline.schemas.errors import PhaselineError
from tests.support.cloud_events import event
from tests.support.installation import Layout, PublishResult, Settings, Wire
from tests.support.nats_cluster import Member, cluster, provisioned, until_whole
from tests.support.own_installation import Client
from tests.support.streams import read_all

PATIENCE = 120.0
"""Seconds: elections follow each other on a busy machine, and one event may need several."""
CloudEvent = dict[str, Any]
Shake = Callable[[Wire, Layout, list[Member]], Awaitable[None]]


async def step_down(wire: Wire, layout: Layout, _: list[Member]) -> None:
    """Another server leads the stream from here on."""
    await wire.api(f"STREAM.LEADER.STEPDOWN.{layout.events}")
    await until_whole(wire, layout)


async def kill_the_leader(wire: Wire, layout: Layout, members: list[Member]) -> None:
    """The leader dies, and comes back after an election."""
    leader = (await wire.api(f"STREAM.INFO.{layout.events}"))["cluster"]["leader"]
    members[int(leader[1:])].kill()
    await asyncio.sleep(8)
    members[int(leader[1:])].start()
    await until_whole(wire, layout)


async def shaken(shake: Callable[[], Awaitable[object]], count: int, changes: int) -> AsyncIterator[CloudEvent]:
    """So many events. The leader changes so often while they flow, each time after the last change is over."""
    shaking: list[asyncio.Task[None]] = []
    for number in range(count):
        if number % (count // changes) == count // changes // 2:
            await asyncio.gather(*shaking)
            shaking = [asyncio.create_task(again_until_done(shake))]
        yield event(number)
    await asyncio.gather(*shaking)


async def again_until_done(shake: Callable[[], Awaitable[object]]) -> None:
    """A request in an election may find nobody who answers."""
    while True:
        with suppress(PhaselineError):
            await shake()
            return
        await asyncio.sleep(0.1)


async def assert_all_are_stored(data: Path, shake: Shake, count: int, changes: int) -> None:
    async with cluster(data) as members:
        # Elections lose answers: what is not answered soon is sent again, as long as it takes.
        servers = tuple(member.url for member in members)
        settings = Settings(nats=servers, partitions=2, replicas=3, request_timeout=3.0)
        async with Wire.open(settings, patient=True) as wire, Client.open(settings) as client:
            layout = await provisioned(wire, settings)
            bodies = shaken(partial(shake, wire, layout, members), count, changes)
            assert await client.publish_many(bodies, patience=PATIENCE) == PublishResult(count, 0)
            await again_until_done(partial(wire.api, f"STREAM.LEADER.STEPDOWN.{layout.events}"))
            # The first try of an election finds nobody who answers, or nobody who keeps it.
            await client.publish("cluster", "create", "c", until_stored=PATIENCE)
            trees = defaultdict(list)
            async for found in read_all(wire, layout.events, []):
                for stored in found:
                    body = codec.decode(stored.data)
                    trees[body["subject"].split("/")[1]].append(body["id"])
    assert len(trees.pop("c")) == 1
    assert trees == {f"c{tree}": [str(n) for n in range(tree, count, 7)] for tree in range(7)}


@pytest.mark.parametrize(
    ("count", "changes"),
    [pytest.param(280, 2, id="twice"), pytest.param(1_400, 10, id="often", marks=pytest.mark.slow)],
)
async def test_the_leader_changes_again_and_again(tmp_path: Path, count: int, changes: int) -> None:
    await assert_all_are_stored(tmp_path, step_down, count, changes)


@pytest.mark.slow
async def test_the_leader_is_killed_again_and_again(tmp_path: Path) -> None:
    await assert_all_are_stored(tmp_path, kill_the_leader, 50_000, 5)
