"""Two owners at once, and kills in the middle of a cascade. Afterwards the log holds what the events make.

Belongs here: what a random kill would hardly meet. Does not: kills at random times (`test_worker_troubles`).
See docs/design.md, The commit. The short forms run always; `slow` ones are the same with larger numbers.
"""

import asyncio
from dataclasses import replace

import pytest

from phaseline.schemas import wire_codec
from phaseline.schemas.records import Transition
from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS
from tests.support.command import line_with
from tests.support.installation import LIMIT, Layout, Settings, Wire, provision, until_decided
from tests.support.killable_worker import WorkerProcess
from tests.support.log_check import assert_log_is_the_fold, committed
from tests.support.random_events import RandomEvents, Sent, publish


async def publish_slowly(wire: Wire, script: list[Sent], kills: int) -> None:
    """Publish the events over the time that the kills take."""
    piece = max(1, len(script) // max(1, kills))
    for start in range(0, len(script), piece):
        await publish(wire, script[start : start + piece])
        await asyncio.sleep(0.3)


async def test_of_two_owners_the_earlier_logs_it_and_stops(settings: Settings, wire: Wire) -> None:
    settings = replace(settings, partitions=1)
    layout = await provision(wire, settings)
    fleet = RandomEvents(settings.prefix)
    first = await WorkerProcess.start(settings, "0")
    await publish(wire, list(fleet.built(2, 3)))
    await until_decided(wire, layout)
    second = await WorkerProcess.start(settings, "0")
    await line_with(second.process.stderr, "partition_taken")
    publishing = asyncio.create_task(publish_slowly(wire, list(fleet.life(400, 2, 3)), 4))
    await asyncio.wait_for(first.process.wait(), LIMIT)
    await publishing
    await until_decided(wire, layout)
    assert "partition_lost" in await first.stop()
    assert "partition_lost" not in await second.stop()
    await assert_log_is_the_fold(wire, layout, KINDS)


async def cascade(settings: Settings, wire: Wire, nodes: int, kills: int) -> None:
    """`delete` and `deleted` of a large cluster. The worker is killed while the pieces are committed."""
    layout = await provision(wire, settings)
    fleet = RandomEvents(settings.prefix)
    worker = await WorkerProcess.start(settings)
    adopted = [fleet.event("node", "adopt", f"big/p/n{number}", phase="Running") for number in range(nodes)]
    await publish(wire, [*fleet.cluster("big", 0), *adopted, *fleet.cluster("small", 3)])
    await until_decided(wire, layout)
    for trigger in ("delete", "deleted"):
        before = await last_of(wire, layout)
        await publish(wire, [fleet.event("cluster", trigger, "big"), *fleet.life(20, 1, 1)])
        for _ in range(kills):
            before = await until_moved(wire, layout, before)
            await worker.kill()
            worker = await WorkerProcess.start(settings)
        await until_decided(wire, layout)
    await worker.stop()
    await assert_log_is_the_fold(wire, layout, KINDS)
    last = [wire_codec.read(m.body) for m in await committed(wire, layout, 0)]
    gone = {r.entity.id for r in last if isinstance(r, Transition) and r.after.phase == "Deleted"}
    assert len(gone) == nodes + 3


async def last_of(wire: Wire, layout: Layout) -> int:
    return int((await wire.api(f"STREAM.INFO.{layout.log}"))["state"]["last_seq"])


async def until_moved(wire: Wire, layout: Layout, before: int) -> int:
    """Wait until the log has grown: by the plan, or by the first piece of the cascade."""
    async with asyncio.timeout(LIMIT):
        while (now := await last_of(wire, layout)) <= before:
            await asyncio.sleep(0)
    return now


async def test_a_cascade_larger_than_a_batch(settings: Settings, wire: Wire) -> None:
    await cascade(replace(settings, partitions=1), wire, nodes=1_050, kills=1)


@pytest.mark.slow
@pytest.mark.parametrize("nodes", [1_500, 3_000, 10_000])
async def test_a_cascade_survives_many_kills(settings: Settings, wire: Wire, nodes: int) -> None:
    await cascade(replace(settings, partitions=1), wire, nodes=nodes, kills=3)
