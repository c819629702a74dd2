"""Many watchers at once: each sees every committed record, once and in the log's order."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from phaseline.engine.log.when import START
from phaseline.engine.nats.streams import provision
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.client.client import Client
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import LIMIT, until_decided
from tests.support.prove_scale import scaled
from tests.support.random_events import RandomEvents, publish
from tests.support.raw_checker import check
from tests.support.worker_fleet import fleet_of


async def watched(client: Client, seen: list[int]) -> None:
    """Note the place of each record."""
    watch = client.watch(start=START, rejections=True)
    async for _ in watch:
        seen.append(watch.sequence)  # noqa: PERF401  # the list is looked at meanwhile


async def watchers(settings: Settings, folder: Path, count: int, events: int) -> None:
    # All watchers run in this process. While they decode, its own requests wait.
    settings = replace(settings, request_timeout=LIMIT)
    async with Wire.open(settings, name="test") as wire:
        await watchers_of(settings, wire, folder, count, events)


async def watchers_of(settings: Settings, wire: Wire, folder: Path, count: int, events: int) -> None:
    layout = await provision(wire, settings)
    fleet = RandomEvents(settings.prefix)
    seen: list[list[int]] = [[] for _ in range(count)]
    async with AsyncExitStack() as stack, fleet_of(settings, 2, folder) as running:
        clients = [
            await stack.enter_async_context(Client.open(settings, source="/watch", kinds=BUILT_IN_KINDS)) for _ in seen
        ]
        tasks = [asyncio.create_task(watched(*pair)) for pair in zip(clients, seen, strict=True)]
        await publish(wire, list(fleet.built(4, 4)))
        await running.killed()
        await publish(wire, list(fleet.life(events, 4, 4)))
        await until_decided(wire, layout)
        report = await check(settings.nats[0], settings.prefix)
        wanted = [raw.sequence for raw in report.log if raw.subject.startswith(f"{settings.prefix}.log.")]
        async with asyncio.timeout(LIMIT):
            while any(len(one) < len(wanted) for one in seen):
                await asyncio.sleep(0.1)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    assert all(one == wanted for one in seen)


async def test_some_watchers(settings: Settings, tmp_path: Path) -> None:
    await watchers(replace(settings, partitions=3), tmp_path, count=20, events=200)


@pytest.mark.slow
async def test_five_hundred_watchers(settings: Settings, tmp_path: Path) -> None:
    await watchers(replace(settings, partitions=8), tmp_path, scaled(500, 20), events=scaled(5_000, 200))
