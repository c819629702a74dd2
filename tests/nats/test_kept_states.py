"""A worker that lost a partition keeps its states, and reads only what others have committed since it had them."""

import asyncio
import random
import re
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from phaseline.schemas.errors import Fenced, RequestTimedOut
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import (
    LIMIT,
    Installation,
    Layout,
    Pacing,
    Settings,
    Wire,
    Worker,
    at_work,
    provision,
    until_decided,
)
from tests.support.killable_worker import WorkerProcess
from tests.support.log_check import assert_each_decided_once, assert_log_is_the_fold
from tests.support.own_installation import OwnInstallation
from tests.support.owners import Claim, Leases, Partition, PartitionStates, repair_timers, take_over
from tests.support.random_events import RandomEvents, publish
from tests.support.state_stream import copied
from tests.support.streams import Ack

NODES = 60
FEW = 12
"""Messages of STATE that are read again at most where little is new."""


class Owner:
    """One partition that a worker owns in this process, without leases."""

    def __init__(self, installation: Installation, name: str, states: PartitionStates | None = None) -> None:
        self.partition = Partition(installation, 0, name, states=states)
        self.stop = asyncio.Event()
        self.task = asyncio.create_task(self.partition.run(self.stop))

    async def loaded(self) -> None:
        async with asyncio.timeout(LIMIT):
            while self.partition.tree is None and not self.task.done():
                await asyncio.sleep(0.01)

    async def leave(self) -> PartitionStates | None:
        """End in order; what may be kept."""
        self.stop.set()
        self.partition.wake()
        await self.task
        return self.partition.states


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return replace(settings, partitions=1)


def taken(logged: list[Any]) -> list[int]:
    """How many messages each take-over has read."""
    return [line["read"] for line in logged if line["event"] == "partition_taken"]


async def built(wire: Wire, layout: Layout, fleet: RandomEvents) -> None:
    """Publish the events of some clusters, and wait until they are decided."""
    await publish(wire, list(fleet.built(NODES // 10, 10)))
    await until_decided(wire, layout)


async def test_nothing_is_read_where_nobody_has_committed(wire: Wire, settings: Settings) -> None:
    layout, fleet = await provision(wire, settings), RandomEvents(settings.prefix)
    installation = Installation(wire, layout, BUILT_IN_KINDS)
    with capture_logs() as logged:
        first = Owner(installation, "a")
        await built(wire, layout, fleet)
        states = await first.leave()
        assert states is not None
        again = Owner(installation, "a", states)
        await publish(wire, list(fleet.life(100, NODES // 10, 10)))
        await until_decided(wire, layout)
        states = await again.leave()
        third = Owner(installation, "a", states)
        await third.loaded()
        await third.leave()
    assert taken(logged)[1:] == [0, 0]
    assert await assert_log_is_the_fold(wire, layout, BUILT_IN_KINDS) > NODES


async def test_what_another_worker_committed_is_read(wire: Wire, settings: Settings) -> None:
    layout, fleet = await provision(wire, settings), RandomEvents(settings.prefix)
    installation = Installation(wire, layout, BUILT_IN_KINDS)
    with capture_logs() as logged:
        first = Owner(installation, "a")
        await publish(wire, list(fleet.built(NODES // 10, 10)))
        await until_decided(wire, layout)
        await copied(wire, layout)
        states = await first.leave()
        second = Owner(installation, "b")
        await publish(wire, [fleet.event("node", "not_ready", "c0/p/n1"), fleet.event("cluster", "adopt", "new")])
        await until_decided(wire, layout)
        await second.leave()
        third = Owner(installation, "a", states)
        await publish(wire, list(fleet.life(100, NODES // 10, 10)))
        await until_decided(wire, layout)
        await third.leave()
    _, whole, new = taken(logged)
    assert whole > NODES
    assert 0 < new < FEW
    await assert_each_decided_once(wire, layout)


async def test_a_worker_that_was_fenced_out_with_work_in_hand_keeps_nothing(wire: Wire, settings: Settings) -> None:
    """Its tree holds what was never committed."""
    layout, fleet = await provision(wire, settings), RandomEvents(settings.prefix)
    installation = Installation(wire, layout, BUILT_IN_KINDS)
    first = Owner(installation, "a")
    await built(wire, layout, fleet)
    claim = await take_over(installation, 0, "b")
    await publish(wire, list(fleet.life(50, NODES // 10, 10)))
    with pytest.raises(Fenced):
        await first.task
    assert first.partition.states is None
    assert len(claim.tree) >= NODES
    last = Owner(installation, "a")
    await until_decided(wire, layout)
    await last.leave()
    await assert_log_is_the_fold(wire, layout, BUILT_IN_KINDS)


async def test_loading_goes_on_where_it_was_interrupted(wire: Wire, settings: Settings) -> None:
    layout, fleet = await provision(wire, settings), RandomEvents(settings.prefix)
    installation = Installation(wire, layout, BUILT_IN_KINDS, pacing=Pacing(load=5))
    async with at_work(settings, wire):
        await built(wire, layout, fleet)
    states = PartitionStates(installation, 0)
    with capture_logs() as logged:
        while states.read < NODES // 2:
            before, slow = states.read, Owner(installation, "slow", states)
            while states.read < before + NODES // 4 and not slow.task.done():
                await asyncio.sleep(0)
            slow.task.cancel()
            with suppress(asyncio.CancelledError):
                await slow.task
            assert slow.partition.states is states
        early, last = states.read, Owner(installation, "slow", states)
        await last.loaded()
        await last.leave()
    [read] = taken(logged)
    assert early > 0
    assert read < NODES  # of more than NODES in all
    await publish(wire, list(fleet.life(50, NODES // 10, 10)))
    async with at_work(settings, wire):
        await until_decided(wire, layout)
    await assert_log_is_the_fold(wire, layout, BUILT_IN_KINDS)


async def test_a_state_stream_that_was_made_anew_is_read_whole(wire: Wire, settings: Settings) -> None:
    layout, fleet = await provision(wire, settings), RandomEvents(settings.prefix)
    installation = Installation(wire, layout, BUILT_IN_KINDS)
    first = Owner(installation, "a")
    await built(wire, layout, fleet)
    states = await first.leave()
    second = Owner(installation, "b")  # so that it cannot go on without reading
    await second.loaded()
    await second.leave()
    await wire.api(f"STREAM.DELETE.{layout.state}")
    await provision(wire, settings)
    with capture_logs() as logged:
        again = Owner(installation, "a", states)
        await publish(wire, list(fleet.life(50, NODES // 10, 10)))
        await until_decided(wire, layout)
        await again.leave()
    [read] = taken(logged)
    assert read > NODES
    await assert_log_is_the_fold(wire, layout, BUILT_IN_KINDS)


async def test_owners_that_cut_each_other_off_again_and_again(wire: Wire, settings: Settings) -> None:
    """Each keeps what it may, ends at a random moment, and comes back beside the one that has taken over."""
    layout, fleet, dice = await provision(wire, settings), RandomEvents(settings.prefix), random.Random(7)
    installation, kept = Installation(wire, layout, BUILT_IN_KINDS), dict[str, PartitionStates | None]()
    await publish(wire, list(fleet.built(NODES // 10, 10)))
    running = list[Owner]()
    with capture_logs() as logged:
        for turn in range(12):
            name = "ab"[turn % 2]
            while running and (turn % 3 or running[0].partition.worker == name):
                former = running.pop(0)
                if dice.random() < 0.5:
                    former.task.cancel()
                former.stop.set()
                former.partition.wake()
                await asyncio.gather(former.task, return_exceptions=True)
                kept[former.partition.worker] = former.partition.states
            running.append(Owner(installation, name, kept.pop(name, None)))
            await publish(wire, list(fleet.life(30, NODES // 10, 10)))
            await asyncio.sleep(dice.uniform(0.0, 0.1))
        await asyncio.gather(*(one.task for one in running[:-1]), return_exceptions=True)
        await until_decided(wire, layout)
        await running[-1].leave()
    assert min(taken(logged)[1:]) < NODES
    await assert_log_is_the_fold(wire, layout, BUILT_IN_KINDS)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(LIMIT):
        while not holds():
            await asyncio.sleep(0.02)


async def test_an_expired_lease_that_nobody_took_changes_nothing(wire: Wire, settings: Settings) -> None:
    settings = replace(settings, lease=1.0)
    with capture_logs() as logged:
        async with at_work(settings, wire) as layout:
            await built(wire, layout, RandomEvents(settings.prefix))
            key = f"{settings.prefix}.lease.partition.0"
            for _ in range(2):
                await wire.api(f"STREAM.PURGE.{layout.lease}", {"filter": key})  # as if its time were over
                async with asyncio.timeout(LIMIT):
                    while not (await wire.api(f"STREAM.INFO.{layout.lease}", {"subjects_filter": key}))["state"].get(
                        "subjects"
                    ):
                        await asyncio.sleep(0.02)
    assert len(taken(logged)) == 1


async def test_a_worker_whose_lease_another_one_had_for_a_while_reads_nothing(wire: Wire, settings: Settings) -> None:
    """The other one died, or was starved, before it began."""
    settings = replace(settings, lease=1.0)
    with capture_logs() as logged:
        async with at_work(settings, wire) as layout:
            await built(wire, layout, RandomEvents(settings.prefix))
            key = f"{settings.prefix}.lease.partition.0"
            await wire.publish_acked(key, b"b", {"content-type": "text/plain", "Nats-TTL": "1s"})
            await until(lambda: sum(line["event"] == "partition_taken" for line in logged) == 2)
            await publish(wire, list(RandomEvents(settings.prefix, seed=2).life(50, NODES // 10, 10)))
            await until_decided(wire, layout)
    assert taken(logged)[1] == 0
    await assert_log_is_the_fold(wire, layout, BUILT_IN_KINDS)


async def test_no_states_are_taken_in_while_leases_are_renewed(
    installation: OwnInstallation,
) -> None:
    layout, calm = await installation.layout(), asyncio.Event()
    async with installation.worker():
        await built(installation.wire, layout, RandomEvents(installation.settings.prefix))
    few_at_once = Installation(installation.wire, layout, BUILT_IN_KINDS, pacing=Pacing(load=5))
    states = PartitionStates(few_at_once, 0, calm)
    loading = asyncio.create_task(states.load(lambda: False))
    await until(lambda: states.read > 0)
    for _ in range(20):
        await asyncio.sleep(0.001)
    assert states.read <= 5
    calm.set()
    await loading
    assert states.read > NODES
    await states.close()


async def test_renewals_come_first_but_not_for_ever(
    wire: Wire, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that does not answer for LEASE keeps nobody from loading."""
    layout = await provision(wire, settings)
    installation = Installation(wire, layout, BUILT_IN_KINDS, pacing=Pacing(urgent=0.01))
    leases, stop, during = Leases(installation, "a", 1.0), asyncio.Event(), list[bool]()
    silence, publish_acked = asyncio.Event(), wire.publish_acked

    async def unanswered(subject: str, payload: bytes, headers: dict[str, str] | None = None) -> Ack:
        if leases.calm.is_set():  # the worker says that it is alive
            return await publish_acked(subject, payload, headers)
        during.append(leases.calm.is_set())
        await silence.wait()
        return await publish_acked(subject, payload, headers)

    async def ignore(_: int) -> None:
        """Nobody works here."""

    monkeypatch.setattr(wire, "publish_acked", unanswered)
    running = asyncio.create_task(leases.run(stop, ignore, ignore, lambda _: None))
    await until(lambda: bool(during))
    await until(leases.calm.is_set)
    assert during == [False]
    stop.set()
    silence.set()
    await running


async def test_states_that_a_failed_take_over_may_have_changed_are_forgotten(
    wire: Wire, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation = Installation(wire, await provision(wire, settings), BUILT_IN_KINDS)

    async def failing(_: Installation, claim: Claim) -> None:
        raise RequestTimedOut(subject=claim.fence.subject, seconds=1.0, hint="")

    monkeypatch.setattr(repair_timers, "repair", failing)
    owner = Owner(installation, "a", PartitionStates(installation, 0))
    with pytest.raises(RequestTimedOut):
        await owner.task
    assert owner.partition.states is None


@pytest.mark.parametrize(
    ("pacing", "least", "at_most"), [(Pacing(loads=2, small_bytes=-1), 2, 2), (Pacing(loads=2), 3, 8)]
)
async def test_few_partitions_load_at_the_same_time_unless_there_is_little_to_load(
    wire: Wire, settings: Settings, monkeypatch: pytest.MonkeyPatch, pacing: Pacing, least: int, at_most: int
) -> None:
    settings, most, now = replace(settings, partitions=8), [0], [0]
    complete = PartitionStates.complete

    async def counted(self: PartitionStates, *values: Any, **named: Any) -> Any:
        now[0] += 1
        most[0] = max(most[0], now[0])
        await asyncio.sleep(0.01)
        try:
            return await complete(self, *values, **named)
        finally:
            now[0] -= 1

    monkeypatch.setattr(PartitionStates, "complete", counted)
    one, stop = Worker(wire, settings, BUILT_IN_KINDS, pacing=pacing), asyncio.Event()
    running = asyncio.create_task(one.run(stop))
    await until(lambda: sum(partition.tree is not None for partition, _, _ in one.owned.values()) == 8)
    stop.set()
    await running
    assert least <= most[0] <= at_most


def reads(log: Path) -> list[int]:
    """How many messages each take-over of a worker process has read."""
    return [int(found) for found in re.findall(r"partition_taken.*?read['\"]?[=:] ?(\d+)", log.read_text())]


@pytest.mark.slow
async def test_a_worker_that_was_frozen_reads_what_is_new(wire: Wire, settings: Settings, tmp_path: Path) -> None:
    settings, fleet = replace(settings, partitions=2, lease=1.0), RandomEvents(settings.prefix)
    layout, logs = await provision(wire, settings), {name: tmp_path / name for name in "ab"}
    first = await WorkerProcess.start(settings, log=logs["a"])
    await until(lambda: len(reads(logs["a"])) == 2)
    await built(wire, layout, fleet)
    await copied(wire, layout)
    second = await WorkerProcess.start(settings, log=logs["b"])
    await until(lambda: len(reads(logs["b"])) == 1)
    first.process.send_signal(signal.SIGSTOP)
    await until(lambda: len(reads(logs["b"])) == 2)
    await publish(wire, [fleet.event("cluster", "adopt", f"new{number}") for number in range(4)])
    await until_decided(wire, layout)
    first.process.send_signal(signal.SIGCONT)
    await until(lambda: len(reads(logs["a"])) == 3)
    await publish(wire, list(fleet.life(100, NODES // 10, 10)))
    await until_decided(wire, layout)
    await asyncio.gather(first.stop(), second.stop())
    assert reads(logs["a"])[2] < FEW
    await assert_log_is_the_fold(wire, layout, BUILT_IN_KINDS)


@pytest.mark.parametrize("when", ["before the stop", "during it"])
async def test_only_a_partition_that_was_loaded_before_the_stop_is_told_as_cut_off(
    wire: Wire, settings: Settings, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    monkeypatch.setattr(f"{Worker.__module__}.DRAIN", 0.01)
    worker, stop, begun = Worker(wire, settings, BUILT_IN_KINDS), asyncio.Event(), asyncio.Event()
    partition = Partition(Installation(wire, await provision(wire, settings), BUILT_IN_KINDS), 0, worker.name)

    async def load(tree: Any = object()) -> None:  # noqa: B008  # any tree
        if when == "during it":
            begun.set()
            await asyncio.sleep(0)  # here the stop looks whether it is loaded
            assert stop.is_set()
        partition.tree = tree
        begun.set()
        await asyncio.Event().wait()  # it does not stop in time

    worker.owned[0] = partition, stop, (task := asyncio.create_task(load()))
    await begun.wait()
    with capture_logs() as logs:
        await worker._end(0)
    assert task.cancelled()
    assert partition.tree is not None
    told = [one["event"] for one in logs if one["event"] == "partition_cut_off"]
    assert told == (["partition_cut_off"] if when == "before the stop" else [])
