"""A repartition that is asked for twice, beside an archive, or while a worker hangs."""

import asyncio
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from phaseline.engine.errors import Fenced
from phaseline.engine.jetstream.streams import provision
from phaseline.engine.jetstream.wire import Wire
from phaseline.engine.log.installation import Installation
from phaseline.engine.ownership.takeover import take_over
from phaseline.engine.repartition import change as changing
from phaseline.engine.repartition import workers as alive
from phaseline.engine.repartition.repartition_errors import RepartitionUnderWay
from phaseline.engine.settings import Settings
from tests.support.archives import audit_of_both, run_archive, whole_log, with_archive
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.divided import assert_each_decided_once, divided, repartition, until_all_decided
from tests.support.installation import LIMIT, at_work
from tests.support.killable_worker import workers
from tests.support.random_events import RandomEvents, publish


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return replace(settings, partitions=2, lease=1.0)


async def test_two_that_ask_for_the_same_number_wait_together(settings: Settings, wire: Wire) -> None:
    """The second one had looked before the first one asked."""
    async with at_work(settings, wire) as layout:
        installation = Installation(wire, layout, BUILT_IN_KINDS)
        first, second = [await changing.examine(installation, 3) for _ in range(2)]
        other = await changing.examine(installation, 4)
        asked = [await changing.ask(one, "/test") for one in (first, second)]
        with pytest.raises(RepartitionUnderWay):
            await changing.ask(other, "/test")
        for one in asked:
            await changing.finished(one, LIMIT, lambda _: None)
        assert (await divided(wire, layout)).layout.divisions == (3,)


async def test_an_archive_meanwhile(settings: Settings, wire: Wire, tmp_path: Path) -> None:
    fleet = RandomEvents(settings.prefix)
    async with at_work(settings, wire) as layout:
        live = Installation(wire, layout, BUILT_IN_KINDS)
        await publish(wire, [*fleet.built(8, 3), *fleet.life(100, 8, 3)])
        dividing = asyncio.create_task(repartition(wire, layout, 5))
        for _ in range(3):
            await run_archive(live, tmp_path)
        await dividing
        await publish(wire, list(fleet.life(100, 8, 3)))
        await until_all_decided(wire, layout)
        await run_archive(live, tmp_path)
    assert (await audit_of_both(live, tmp_path)).holds
    assert len(await whole_log(await with_archive(live, tmp_path))) > 100


async def until_alive(installation: Installation, count: int) -> None:
    async with asyncio.timeout(LIMIT):
        while len(await alive.alive(installation)) != count:
            await asyncio.sleep(0.05)


async def test_an_owner_that_hung_commits_nothing(settings: Settings, wire: Wire) -> None:
    layout, fleet = await provision(wire, settings), RandomEvents(settings.prefix)
    hanging = [await take_over(Installation(wire, layout, BUILT_IN_KINDS), number, "hangs") for number in range(2)]
    async with at_work(settings, wire):
        await publish(wire, list(fleet.built(4, 3)))
        await repartition(wire, layout, 3)
        for claim in hanging:
            with pytest.raises(Fenced):
                await claim.move(claim.position + 1)
        await publish(wire, list(fleet.life(60, 4, 3)))
        await until_all_decided(wire, layout)
    await assert_each_decided_once(wire, layout)


@pytest.mark.slow
async def test_a_worker_that_hangs(settings: Settings, wire: Wire) -> None:
    """Another one closes its partitions. When it goes on, nothing of it counts, and it takes its new share."""
    layout, fleet = await provision(wire, settings), RandomEvents(settings.prefix)
    installation = Installation(wire, layout, BUILT_IN_KINDS)
    async with workers(settings, 2) as running:
        await publish(wire, [*fleet.built(6, 4)])
        await until_all_decided(wire, layout)
        await until_alive(installation, 2)
        publishing = asyncio.create_task(publish(wire, list(fleet.life(200, 6, 4))))
        running[0].process.send_signal(signal.SIGSTOP)
        try:
            await publishing
            await until_alive(installation, 1)
            await repartition(wire, layout, 3)
        finally:
            running[0].process.send_signal(signal.SIGCONT)
        await publish(wire, list(fleet.life(200, 6, 4)))
        await until_all_decided(wire, layout)
        running[0].assert_runs()
    await assert_each_decided_once(wire, layout)
