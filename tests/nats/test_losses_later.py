"""Loss is loud too where the streams were trimmed because of an archive."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from phaseline.schemas import losses
from phaseline.schemas.records import Loss
from tests.support.archives import audit_of_both, run_archive
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import LIMIT, Installation, Layout, Settings, Wire, at_work, until_decided
from tests.support.log_check import audited, stored
from tests.support.random_events import RandomEvents, publish
from tests.support.state_stream import copied


async def grown(wire: Wire, settings: Settings, folder: Path) -> tuple[Layout, RandomEvents]:
    """An installation with a history that was archived, and no worker."""
    fleet = RandomEvents(settings.prefix)
    async with at_work(settings, wire) as layout:
        await publish(wire, list(fleet.built(4, 2)))
        await until_decided(wire, layout)
        await copied(wire, layout)
        await run_archive(Installation(wire, layout, BUILT_IN_KINDS), folder)
        await publish(wire, [fleet.event("node", "not_ready", f"c{number}/p/n0") for number in range(4)])
        await until_decided(wire, layout)
        await copied(wire, layout)
    return layout, fleet


async def lost(wire: Wire, layout: Layout) -> list[Loss]:
    return [losses.read(one.data) for one in await stored(wire, layout.log, [f"{layout.prefix}.log.*.loss.>"])]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return replace(settings, partitions=2, lease=1.0)


async def test_events_that_expired_are_named(wire: Wire, settings: Settings, tmp_path: Path) -> None:
    layout, fleet = await grown(wire, settings, tmp_path)
    before = (await wire.api(f"STREAM.INFO.{layout.events}"))["state"]["last_seq"]
    await publish(wire, [fleet.event("node", trigger, "c0/p/n1") for trigger in ("not_ready", "ready") * 20])
    await wire.api(f"STREAM.PURGE.{layout.events}", {"seq": before + 31})
    owner = Installation(wire, layout, BUILT_IN_KINDS).partition_of("c0")
    async with at_work(settings, wire):
        await until_decided(wire, layout)
    [own] = [one for one in await lost(wire, layout) if one.partition == owner]
    assert (own.last, own.at_least, own.at_most) == (before + 30, 0, own.last - own.first + 1)
    assert before - 4 < own.first <= before + 1  # of the four before, some were of other partitions
    assert own in (await audited(wire, layout)).losses


async def test_an_emptied_state_is_rebuilt(wire: Wire, settings: Settings, tmp_path: Path) -> None:
    layout, fleet = await grown(wire, settings, tmp_path)
    await wire.api(f"STREAM.PURGE.{layout.state}", {"filter": f"{layout.prefix}.state.*.node.>"})
    with capture_logs() as said:
        async with at_work(settings, wire):
            await publish(wire, [fleet.event("node", "ready", f"c{number}/p/n0") for number in range(4)])
            await until_decided(wire, layout)
    rebuilt = [one for one in said if one["event"] == "state_rebuilt"]
    assert sum(one["missing"] for one in rebuilt) == 8
    assert [one["event"] for one in said if one["event"] in ("states_lost", "events_lost")] == []
    report = await audit_of_both(Installation(wire, layout, BUILT_IN_KINDS), tmp_path)
    assert (report.divergences, report.losses) == ({}, [])


async def test_an_emptied_log_stops_everybody(wire: Wire, settings: Settings, tmp_path: Path) -> None:
    layout, fleet = await grown(wire, settings, tmp_path)
    await wire.api(f"STREAM.PURGE.{layout.log}")
    with capture_logs() as said:
        async with at_work(settings, wire):
            await publish(wire, [fleet.event("node", "ready", "c0/p/n0")])
            async with asyncio.timeout(LIMIT):
                while "log_emptied" not in {one["event"] for one in said}:
                    await asyncio.sleep(0.05)
    assert "partition_taken" not in {one["event"] for one in said}
    assert (await audited(wire, layout)).emptied
