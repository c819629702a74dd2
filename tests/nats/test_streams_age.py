"""`phaseline admin streams --events-max-age` deletes no event that somebody still needs, unless it is told to."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.archives import messages, run_archive
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.command import Shell
from tests.support.installation import Installation, Layout, Settings, Wire, at_work, provision, until_decided
from tests.support.own_installation import OwnInstallation
from tests.support.random_events import RandomEvents, publish

AGE = ("streams", "--dedupe-window", "0.1", "--events-max-age", "0.2")


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return replace(settings, partitions=2, lease=1.0)


async def sent(wire: Wire, fleet: RandomEvents, events: int) -> None:
    """Publish events, and wait until they are older than the age."""
    await publish(wire, list(fleet.life(events, 3, 3)))
    await asyncio.sleep(0.25)


async def max_age(wire: Wire, layout: Layout) -> int:
    return int((await wire.api(f"STREAM.INFO.{layout.events}"))["config"]["max_age"])


async def test_events_that_are_not_decided(alone: Shell, settings: Settings, wire: Wire) -> None:
    layout, fleet = await provision(wire, settings), RandomEvents(settings.prefix)
    async with at_work(settings, wire):
        await publish(wire, list(fleet.life(50, 3, 3)))
        await until_decided(wire, layout)
    await sent(wire, fleet, 7)
    shown = await alone(*AGE)
    assert (shown.code, "--apply refuses this" in shown.err, "7 events not decided yet" in shown.err) == (1, True, True)
    refused = await alone(*AGE, "--apply")
    assert (refused.code, "would delete 7 events not decided yet" in refused.err) == (6, True), refused.err
    assert "--drop-events" in refused.err
    assert (await max_age(wire, layout), await messages(wire, layout.events)) == (0, 57)
    async with at_work(settings, wire):
        await until_decided(wire, layout)
    assert (await alone(*AGE, "--apply")).code == 0
    assert await max_age(wire, layout) == 200_000_000


async def test_events_that_are_not_archived(alone: Shell, settings: Settings, wire: Wire, tmp_path: Path) -> None:
    layout, fleet = await provision(wire, settings), RandomEvents(settings.prefix)
    async with at_work(settings, wire):
        await publish(wire, list(fleet.life(30, 3, 3)))
        await until_decided(wire, layout)
        done = await run_archive(Installation(wire, layout, BUILT_IN_KINDS), tmp_path)
        await sent(wire, fleet, 9)
        await until_decided(wire, layout)
    refused = await alone(*AGE, "--apply")
    assert (refused.code, await messages(wire, layout.events)) == (6, 9)
    assert f"up to 9 events not in archive {done.manifest.archive} yet; call `phaseline log archive`" in refused.err
    assert (await alone("admin", "streams", "--events-max-age", "86400", "--apply")).code == 0  # none of them is so old
    assert (await alone(*AGE, "--apply")).code == 6
    await run_archive(Installation(wire, layout, BUILT_IN_KINDS), tmp_path)
    assert (await alone(*AGE, "--apply")).code == 0


async def test_what_is_told_to_go_goes(alone: Shell, installation: OwnInstallation) -> None:
    layout = await provision(installation.wire, installation.settings, BUILT_IN_KINDS.copies.values())
    await sent(installation.wire, RandomEvents(installation.settings.prefix), 5)
    assert (await alone(*AGE, "--apply")).code == 6
    assert (await alone(*AGE, "--apply", "--drop-events")).code == 0
    async with asyncio.timeout(60):
        while await messages(installation.wire, layout.events):
            await asyncio.sleep(0.05)
