"""Streams of a real cluster are changed under load: from one copy to three and back, and to other servers."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from phaseline.engine.nats.stream_settings.change import change
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import Layout, Settings, Wire, until_decided
from tests.support.killable_worker import workers
from tests.support.log_check import assert_log_is_the_fold
from tests.support.nats_cluster import cluster, provisioned, until_whole
from tests.support.random_events import RandomEvents, publish
from tests.support.streams import CopyProgress, is_whole, reports


async def apply(wire: Wire, settings: Settings, layout: Layout) -> list[CopyProgress]:
    """What `phaseline admin streams --apply` does; the progress that it tells."""
    told: list[CopyProgress] = []
    for report in await reports(wire, settings, layout, BUILT_IN_KINDS.copies.values()):
        if report.differences:
            await change(wire, report, told.append)
    return told


async def leaders(wire: Wire, layout: Layout) -> set[str]:
    return {(await wire.api(f"STREAM.INFO.{name}"))["cluster"].get("leader", "") for name in layout.streams}


@pytest.mark.slow
async def test_streams_change_under_load(tmp_path: Path) -> None:
    async with cluster(tmp_path) as members:
        urls = tuple(member.url for member in members)
        settings = Settings(nats=urls, partitions=3, lease=2.0)
        async with Wire.open(settings, patient=True) as wire:
            layout = await provisioned(wire, settings)
            fleet, over = RandomEvents(settings.prefix), asyncio.Event()
            await publish(wire, list(fleet.built(6, 6)))

            async def load() -> None:
                while not over.is_set():
                    await publish(wire, list(fleet.life(50, 6, 6)))

            async with workers(settings, 2):
                loading = asyncio.create_task(load())
                await apply(wire, replace(settings, replicas=3), layout)
                await until_whole(wire, layout)
                for member in members:  # each of the copies holds everything
                    member.kill()
                    await publish(wire, list(fleet.life(50, 6, 6)))
                    member.start()
                    await until_whole(wire, layout)
                await apply(wire, replace(settings, replicas=1), layout)
                for name in layout.streams:
                    assert is_whole(await wire.api(f"STREAM.INFO.{name}"))
                await apply(wire, replace(settings, placement_tags=("n2",)), layout)
                async with asyncio.timeout(60):
                    while await leaders(wire, layout) != {"n2"}:
                        await asyncio.sleep(0.2)
                over.set()
                await loading
                await until_decided(wire, layout)
            assert await assert_log_is_the_fold(wire, layout, BUILT_IN_KINDS) > 100
            assert all(
                not one.differences
                for one in await reports(wire, replace(settings, replicas=1), layout, BUILT_IN_KINDS.copies.values())
            )
