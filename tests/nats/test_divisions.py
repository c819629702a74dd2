"""The number of partitions changes while events flow: each event is decided once, in the order of its tree."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace

import pytest

from phaseline.engine.jetstream.streams import provision
from phaseline.engine.jetstream.wire import Wire
from phaseline.engine.log.installation import Installation
from phaseline.engine.repartition import change as changing
from phaseline.engine.settings import Settings
from tests.support import dying_worker
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.divided import assert_each_decided_once, repartition, until_all_decided
from tests.support.installation import LIMIT, at_work
from tests.support.killable_worker import WorkerProcess
from tests.support.random_events import RandomEvents, Sent, publish


async def publish_slowly(wire: Wire, script: list[Sent], stop: asyncio.Event) -> None:
    """Publish the events a few at a time; the rest at once when `stop` is set."""
    for start in range(0, len(script), 20):
        await publish(wire, script[start : start + 20])
        if not stop.is_set():
            await asyncio.sleep(0.02)


async def test_while_events_flow(settings: Settings, wire: Wire) -> None:
    settings = replace(settings, partitions=2, lease=1.0)
    layout = await provision(wire, settings)
    fleet, over = RandomEvents(settings.prefix), asyncio.Event()
    async with AsyncExitStack() as stack:
        for _ in range(2):
            await stack.enter_async_context(at_work(settings, wire))
        await publish(wire, [*fleet.built(12, 4)])
        publishing = asyncio.create_task(publish_slowly(wire, [*fleet.life(3_000, 12, 4)], over))
        await repartition(wire, layout, 5)
        await repartition(wire, layout, 3)
        over.set()
        await publishing
        await until_all_decided(wire, layout)
    assert await assert_each_decided_once(wire, layout) > 1_000


QUICK = ("after-closing", "after-the-fence")
STEPS = [step if step in QUICK else pytest.param(step, marks=pytest.mark.slow) for step in dying_worker.STEPS]


@pytest.mark.parametrize("step", STEPS)
async def test_a_worker_killed_at_a_step(settings: Settings, wire: Wire, step: str) -> None:
    settings = replace(settings, partitions=2, lease=1.0)
    layout = await provision(wire, settings)
    fleet, over = RandomEvents(settings.prefix), asyncio.Event()
    dying = await WorkerProcess.start(settings, step, program="tests.support.dying_worker")
    await publish(wire, [*fleet.built(8, 1)])
    await until_all_decided(wire, layout)
    publishing = asyncio.create_task(publish_slowly(wire, [*fleet.life(1_500, 8, 1)], over))
    found = await changing.examine(Installation(wire, layout, BUILT_IN_KINDS), 3)
    asked = await changing.ask(found, "/test")  # the command ends here, too
    await asyncio.wait_for(dying.process.communicate(), LIMIT)
    assert dying.process.returncode == dying_worker.STATUS
    async with at_work(settings, wire):
        await changing.finished(asked, LIMIT, lambda _: None)
        over.set()
        await publishing
        await until_all_decided(wire, layout)
    assert await assert_each_decided_once(wire, layout) > 300
