"""The number of partitions changes while events flow: each event is decided once, in the order of its tree."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

import pytest
from structlog.testing import capture_logs

from phaseline.engine.client.client import Client
from phaseline.engine.core.process import Batch
from phaseline.engine.errors import Fenced, NotPermitted
from phaseline.engine.jetstream.streams import provision
from phaseline.engine.jetstream.wire import Wire
from phaseline.engine.log.division import closings, notes
from phaseline.engine.log.division.division_errors import NotClosedYet, PartitionClosed
from phaseline.engine.log.installation import Installation
from phaseline.engine.ownership.claim import Claim
from phaseline.engine.ownership.takeover import take_over
from phaseline.engine.publish.backlog import Backlog, backlog
from phaseline.engine.repartition import change as changing
from phaseline.engine.settings import Settings
from phaseline.engine.worker.closing import DivisionWatch
from phaseline.engine.worker.partition import Partition
from phaseline.machines.built_in import PRODUCTS
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.subjects import partition_of_id
from tests.support import dying_worker, timed_kinds
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.divided import assert_each_decided_once, decide_all, repartition, until_all_decided
from tests.support.installation import LIMIT, at_work
from tests.support.killable_worker import WorkerProcess
from tests.support.log_check import stored
from tests.support.random_events import RandomEvents, Sent, publish
from tests.support.state_stream import copied


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


def named(bucket: int) -> str:
    """A tree in one of two buckets."""
    return next(name for name in map("c{}".format, range(99)) if partition_of_id(name, 2) == bucket)


async def closed(installation: Installation, number: int, *, decides: bool) -> int:
    """Own a partition, decide all that is stored or nothing, and close it for good; the position at which that was."""
    partition, stop = Partition(installation, number, "w1"), asyncio.Event()
    partition.closes = True
    if not decides:
        stop.set()
    running = asyncio.create_task(partition.run(stop))
    while decides and not running.done() and (partition.tree is None or partition.waiting != 0):
        await asyncio.sleep(0.01)
    stop.set()
    await running
    last = (await closings.checkpoints(installation, [number]))[number]
    assert last is not None
    assert last.closed
    return last.position


class Killed(Exception):
    """What a test raises where a worker ends."""


async def test_partitions_that_were_closed_far_apart(
    settings: Settings, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lone record before the last of the positions must not be made again after a kill."""
    layout = await provision(wire, replace(settings, partitions=2))
    before, fleet = Installation(wire, layout, BUILT_IN_KINDS), RandomEvents(settings.prefix)
    slow, quick = named(0), named(1)
    await publish(wire, [fleet.event("cluster", "create", slow)])
    await publish(wire, [fleet.event("cluster", trigger, quick) for trigger in ("create", "created", "overdue")])
    assert await closed(before, 0, decides=False) == 0
    assert await closed(before, 1, decides=True) == 4
    after = await notes.add(before, 1, "/test", 0)
    number, commit = 1000, Partition.commit

    async def killed(self: Partition, claim: Claim, batch: Batch, stored: Sequence[int] = ()) -> None:
        await commit(self, claim, batch, stored)
        if batch.messages:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Partition, "commit", killed)
        with pytest.raises(Killed):
            await Partition(after, number, "w2").run(asyncio.Event())
    await decide_all(after, number, "w3", fleet.event("cluster", "created", slow))
    assert await assert_each_decided_once(wire, layout) == 5
    for former in (0, 1):
        with pytest.raises(PartitionClosed):
            await take_over(before, former, "w1")


async def test_partitions_that_were_closed_before_they_passed_their_beginning(settings: Settings, wire: Wire) -> None:
    """What the division before the former one decided is not decided again."""
    layout = await provision(wire, replace(settings, partitions=2))
    first, fleet = Installation(wire, layout, BUILT_IN_KINDS), RandomEvents(settings.prefix)
    slow, quick = named(0), named(1)
    await publish(wire, [fleet.event("cluster", "create", slow)])
    await publish(wire, [fleet.event("cluster", trigger, quick) for trigger in ("create", "created", "overdue")])
    assert [await closed(first, number, decides=number == 1) for number in (0, 1)] == [0, 4]
    second = await notes.add(first, 3, "/test", 0)
    assert [await closed(second, number, decides=False) for number in second.layout.division.numbers] == [0, 0, 0]
    third = await notes.add(second, 1, "/test", (await notes.standing(second)).end)
    await decide_all(third, 2000, "w2", fleet.event("cluster", "created", slow))
    assert await assert_each_decided_once(wire, layout) == 5


async def test_a_partition_waits_for_those_from_which_its_trees_come(settings: Settings, wire: Wire) -> None:
    layout = await provision(wire, replace(settings, partitions=2))
    before = Installation(wire, layout, BUILT_IN_KINDS)
    await closed(before, 0, decides=False)
    claim = await take_over(before, 1, "w1")
    after = await notes.add(before, 4, "/test", 0)
    with pytest.raises(NotClosedYet, match="partition 1 of the former division"):
        await take_over(after, 1001, "w2")
    assert (await take_over(after, 1000, "w2")).position == 0  # its trees come from the partition 0 alone
    await claim.close()
    await take_over(after, 1001, "w2")
    with pytest.raises(Fenced):
        await notes.add(before, 5, "/test", 0)


def appended_once(append: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """A plan and its first piece are stored, then the worker is killed."""
    times = [0]

    async def call(*values: Any, **named: Any) -> None:
        await append(*values, **named)
        times[0] += 1
        if times[0] == 2:
            raise Killed

    return call


@pytest.mark.usefixtures("small_batches")
async def test_a_large_cascade_that_is_cut(settings: Settings, wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    """The plan of a partition whose owner was killed is finished before the partition is closed."""
    settings = replace(settings, partitions=2, lease=1.0)
    layout = await provision(wire, settings)
    before, fleet = Installation(wire, layout, BUILT_IN_KINDS), RandomEvents(settings.prefix)
    tree = named(1)
    async with at_work(settings, wire):
        await publish(wire, [*fleet.cluster(tree, 110)])
        await until_all_decided(wire, layout)
    running = asyncio.create_task(Partition(before, 1, "w1").run(asyncio.Event()))
    with monkeypatch.context() as patch:
        patch.setattr(Claim, "append", appended_once(Claim.append))
        await publish(wire, [fleet.event("cluster", "delete", tree)])
        with pytest.raises(Killed):
            await running
    await notes.add(before, 3, "/test", 0)
    async with at_work(settings, wire):
        await publish(wire, [fleet.event("cluster", "deleted", tree)])
        await until_all_decided(wire, layout)
    assert await assert_each_decided_once(wire, layout) > 300


async def test_timers_fire_once(settings: Settings, wire: Wire) -> None:
    settings, kinds = replace(settings, partitions=2, lease=1.0), Kinds(timed_kinds.KINDS, products=PRODUCTS)
    layout, fleet = await provision(wire, settings), RandomEvents(settings.prefix)
    names = [f"p{number}" for number in range(12)]
    async with at_work(settings, wire, kinds), Client.open(settings, kinds=kinds) as client:
        await publish(wire, [fleet.event("probe", "start", name, first=1.0, again=3_600.0) for name in names])
        with capture_logs() as said:
            await repartition(wire, layout, 3)
            async with asyncio.timeout(LIMIT):
                while {one.attributes["rings"] async for one in client.list("probe")} != {1}:
                    await asyncio.sleep(0.05)
        await until_all_decided(wire, layout)
        fired = [one for one in await stored(wire, layout.events, []) if ".due." in one.subject]
        assert len(fired) == len(names)
        assert {one.version async for one in client.list("probe")} == {2}
    assert [one["event"] for one in said if one["event"] in ("timers_set_again", "partition_failed")] == []


async def test_a_partition_passes_the_events_of_others(settings: Settings, wire: Wire) -> None:
    """Otherwise the next owner of a quiet partition would read them all again."""
    settings = replace(settings, partitions=2, lease=1.0)
    layout, fleet = await provision(wire, settings), RandomEvents(settings.prefix)
    async with at_work(settings, wire):
        await repartition(wire, layout, 3)
        await publish(wire, [*fleet.cluster("c1", 3)])
        await until_all_decided(wire, layout)
        installation = await notes.current(Installation(wire, layout, BUILT_IN_KINDS))
        async with asyncio.timeout(LIMIT):
            while await backlog(installation) != Backlog(0):
                await asyncio.sleep(0.05)
        await repartition(wire, layout, 2)
    found = await closings.checkpoints(installation, installation.layout.division.numbers)
    assert [last and last.position for last in found.values()] == [12, 12, 12]
    assert await assert_each_decided_once(wire, layout) >= 12


async def test_an_emptied_log(settings: Settings, wire: Wire) -> None:
    """The note of the division is gone with the log. Where an operator accepts that, STATE shows the division."""
    settings = replace(settings, partitions=2, lease=1.0)
    layout, fleet = await provision(wire, settings), RandomEvents(settings.prefix)
    async with at_work(settings, wire):
        await publish(wire, [*fleet.built(4, 1)])
        await repartition(wire, layout, 3)
        await publish(wire, [fleet.event("node", "not_ready", f"c{number}/p/n0") for number in range(4)])
        await until_all_decided(wire, layout)
        await copied(wire, layout)
    await wire.api(f"STREAM.PURGE.{layout.log}")
    with capture_logs() as said:
        async with at_work(settings, wire), asyncio.timeout(LIMIT):
            while "log_emptied" not in {one["event"] for one in said}:
                await asyncio.sleep(0.05)
    assert "partition_taken" not in {one["event"] for one in said}
    async with at_work(replace(settings, accept_loss=True), wire):
        await publish(wire, [fleet.event("node", "ready", f"c{number}/p/n0") for number in range(4)])
        await until_all_decided(wire, layout)
    records = [one for one in await stored(wire, layout.log, []) if ".transition.node.phase.Running." in one.subject]
    assert len(records) == 4
    assert (await notes.current(Installation(wire, layout, BUILT_IN_KINDS))).layout.divisions == (3,)


async def test_a_watch_that_fails_is_over(settings: Settings, wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker waits for its end, also to stop."""

    async def refused(_: Installation) -> Installation:
        raise NotPermitted(subject="x", violation="", who_may="")

    watch = DivisionWatch(Installation(wire, await provision(wire, settings), BUILT_IN_KINDS), 0.01)
    monkeypatch.setattr(notes, "current", refused)
    with pytest.raises(NotPermitted):
        await watch.watch(asyncio.Event())
    assert (watch.over.is_set(), watch.is_new) == (True, False)
