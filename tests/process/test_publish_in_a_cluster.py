"""Events for three replicas: all of them, once, in each tree's order, whoever leads the stream meanwhile."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from phaseline.engine.client.client import Client
from phaseline.engine.errors import PhaselineError
from phaseline.engine.jetstream.stream_reader import read_all
from phaseline.engine.jetstream.streams import Layout
from phaseline.engine.jetstream.wire import Wire
from phaseline.engine.publish.pipeline import PublishResult
from phaseline.engine.settings import Settings
from phaseline.schemas import codec
from tests.support.cloud_events import event
from tests.support.nats_cluster import Member, cluster, provisioned, until_whole

Shake = Callable[[Wire, Layout, list[Member]], Awaitable[None]]


async def step_down(wire: Wire, layout: Layout, _: list[Member]) -> None:
    """Another server leads the stream from here on."""
    await wire.api(f"STREAM.LEADER.STEPDOWN.{layout.events}")
    await asyncio.sleep(0.3)


async def kill_the_leader(wire: Wire, layout: Layout, members: list[Member]) -> None:
    """The leader dies, and comes back after an election."""
    leader = (await wire.api(f"STREAM.INFO.{layout.events}"))["cluster"]["leader"]
    members[int(leader[1:])].kill()
    await asyncio.sleep(8)
    members[int(leader[1:])].start()
    await until_whole(wire, layout)


@asynccontextmanager
async def shaken(shake: Shake, wire: Wire, layout: Layout, members: list[Member]) -> AsyncIterator[None]:
    async def again_and_again() -> None:
        while True:
            with suppress(PhaselineError):
                await shake(wire, layout, members)

    shaking = asyncio.create_task(again_and_again())
    try:
        yield
    finally:
        shaking.cancel()


async def assert_all_are_stored(data: Path, shake: Shake, count: int) -> None:
    async with cluster(data) as members:
        # Elections follow each other: on a busy machine one publish may need several of them.
        servers = tuple(member.url for member in members)
        settings = Settings(nats=servers, partitions=2, replicas=3, request_timeout=30.0)
        async with Wire.open(settings, patient=True) as wire, Client.open(settings) as client:
            layout = await provisioned(wire, settings)
            async with shaken(shake, wire, layout, members):
                bodies = (event(number) for number in range(count))
                assert await client.publish_many(bodies) == PublishResult(count, 0)
                # The first one of an election finds nobody who answers.
                assert not (await client.publish("cluster", "create", "c")).duplicate
            trees = defaultdict(list)
            async for found in read_all(wire, layout.events, []):
                for stored in found:
                    body = codec.decode(stored.data)
                    trees[body["subject"].split("/")[1]].append(body["id"])
    assert trees.pop("c")
    assert trees == {f"c{tree}": [str(n) for n in range(tree, count, 7)] for tree in range(7)}


async def test_the_leader_changes_again_and_again(tmp_path: Path) -> None:
    await assert_all_are_stored(tmp_path, step_down, 700)


@pytest.mark.slow
async def test_the_leader_is_killed_again_and_again(tmp_path: Path) -> None:
    await assert_all_are_stored(tmp_path, kill_the_leader, 50_000)
