"""No event stalls a partition: leases, signals and other trees do not wait for a rule; what ends workers is parked."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from phaseline.schemas import wire_codec
from phaseline.schemas.errors import ServerRefused
from phaseline.schemas.records import Rejection, Transition
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.command import line_with
from tests.support.installation import LIMIT, Installation, Layout, Pacing, Settings, Wire, provision, until_decided
from tests.support.killable_worker import WorkerProcess, workers
from tests.support.log_check import assert_log_is_the_fold, committed, decided
from tests.support.manifests import deployment, kubernetes_object
from tests.support.owners import Claim, Message, Partition, Processor, WorkerShares, take_over
from tests.support.raising import raises
from tests.support.random_events import RandomEvents, Sent, publish
from tests.support.recorded_logs import audit_of
from tests.support.streams import Reader, last_message_from_leader

STALLING = "tests.support.stalling_worker"
INNOCENT_SECONDS = 2.0
"""Seconds in which another tree of the same partition must be decided, on a machine that does nothing else."""


def rare_windows(fleet: RandomEvents) -> Iterator[Sent]:
    """Two windows that hardly ever open, a hundred of them, and a thousand."""
    rare = {"kind": "allow", "schedule": "0 0 29 2 *", "duration": "1m", "applications": ["*"]}
    shut = {"kind": "deny", "schedule": "* * * * *", "duration": "2m", "applications": ["*"]}
    for number, windows in enumerate(([rare, shut], [rare] * 50 + [shut] * 50, [rare] * 1_000)):
        yield fleet.event("application_set", "configure", f"bad{number}", sync_windows=windows)
        yield fleet.event("application", "configure", f"bad{number}/a", auto_sync=True)
        for _ in range(20):
            yield fleet.event("application", "sync", f"bad{number}/a")


def endless_scripts(fleet: RandomEvents) -> Iterator[Sent]:
    """A script without an end, for sixty objects."""
    yield fleet.event("application_set", "configure", "bad", health={"Widget": "while true do end", "apps/*": "x"})
    for number in range(60):
        live = kubernetes_object("v1", "Widget", metadata={"name": f"w{number}"})
        yield fleet.event("resource", "observed", f"bad/a/core:Widget/shop/w{number}", live=live, desired=live)


def greedy_scripts(fleet: RandomEvents) -> Iterator[Sent]:
    """A script that does much in each step, for sixty objects."""
    script = "return ('x'):rep(9000):find('.-.-y')"
    yield fleet.event("application_set", "configure", "bad", health={"Widget": script})
    for number in range(60):
        live = kubernetes_object("v1", "Widget", metadata={"name": f"w{number}"})
        yield fleet.event("resource", "observed", f"bad/a/core:Widget/shop/w{number}", live=live, desired=live)


def many_rules(fleet: RandomEvents) -> Iterator[Sent]:
    """Forty ignore rules in jq, some without an end, for twenty objects."""
    programs = [f'.spec.template.spec.containers[] | select(.name == "c{n}")' for n in range(38)]
    programs += ["until(true == false; [.] + [1])", ".spec | select(all(.. == ..; . or true))"]
    rules = [{"group": "*", "kind": "*", "jqPathExpressions": [program]} for program in programs]
    yield fleet.event("application_set", "configure", "bad", ignore_differences=rules)
    for number in range(20):
        live, wanted = (deployment(replicas=n, metadata={"name": f"d{number}"}) for n in (1, 2))
        yield fleet.event("resource", "observed", f"bad/a/apps:Deployment/shop/d{number}", live=live, desired=wanted)


Case = Callable[[RandomEvents], Iterator[Sent]]
CASES = [rare_windows, endless_scripts, greedy_scripts, many_rules]


async def innocents_are_decided(settings: Settings, wire: Wire, case: Case, count: int, within: float) -> None:
    settings = replace(settings, partitions=1)
    layout, fleet = await provision(wire, settings), RandomEvents(settings.prefix)
    async with workers(settings, count):
        await publish(wire, [*fleet.cluster("good", 1)])
        await until_decided(wire, layout)
        await publish(
            wire, [fleet.event("resource", "observed", "warm/a/core:ConfigMap/shop/c", live=CONFIG, desired=CONFIG)]
        )
        await until_decided(wire, layout)
        bad = [*case(fleet)]
        await publish(wire, bad)
        seen = asyncio.Event()
        await wire.subscribe(
            f"{settings.prefix}.transition.>", lambda _, data, *__: seen.set() if b"good/p/n0" in data else None
        )
        start = time.monotonic()
        await publish(wire, [fleet.event("node", "cordon", "good/p/n0")])
        await asyncio.wait_for(seen.wait(), LIMIT)
        assert time.monotonic() - start < within
        await until_decided(wire, layout)
    found = [wire_codec.read(message.body) for message in await committed(wire, layout, 0)]
    faults = [record for record in found if isinstance(record, Rejection) and record.reason == "fault"]
    assert all("a script did not end by itself" in fault.message for fault in faults)


@pytest.mark.parametrize("case", CASES)
async def test_another_tree_of_the_partition_is_decided_soon(settings: Settings, wire: Wire, case: Case) -> None:
    await innocents_are_decided(settings, wire, case, 1, within=LIMIT)


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("case", CASES)
async def test_it_is_decided_within_two_seconds(settings: Settings, wire: Wire, case: Case, count: int) -> None:
    """On a machine that does nothing else."""
    await innocents_are_decided(settings, wire, case, count, within=INNOCENT_SECONDS)


@asynccontextmanager
async def stalling(settings: Settings, wire: Wire) -> AsyncIterator[tuple[Layout, RandomEvents, WorkerProcess]]:
    """A worker with rules that misbehave, and a cluster for them."""
    settings = replace(settings, partitions=1)
    layout, fleet = await provision(wire, settings), RandomEvents(settings.prefix)
    worker = await WorkerProcess.start(settings, program=STALLING)
    await publish(wire, list(fleet.cluster("c", 1)))
    await until_decided(wire, layout)
    try:
        yield layout, fleet, worker
    finally:
        if worker.process.returncode is None:
            await worker.kill()


async def lease_sequence(wire: Wire, layout: Layout) -> int:
    found = await last_message_from_leader(wire, layout.lease, f"{layout.prefix}.lease.partition.0")
    assert found is not None
    return found.sequence


async def renewed_meanwhile(wire: Wire, layout: Layout, fleet: RandomEvents) -> bool:
    """Whether the lease is renewed before an event is decided whose rule sleeps."""
    before = await lease_sequence(wire, layout)
    await publish(wire, [fleet.event("stall", "begin", "c/s", how="sleep", seconds=0.9)])
    while await lease_sequence(wire, layout) == before:
        if await decided(wire, layout):
            return False
        await asyncio.sleep(0.02)
    return not await decided(wire, layout)


async def test_a_lease_is_renewed_while_a_rule_sleeps_and_the_log_names_it(settings: Settings, wire: Wire) -> None:
    async with stalling(settings, wire) as (layout, fleet, worker):
        while not await renewed_meanwhile(wire, layout, fleet):  # the machine was busy: once more
            await until_decided(wire, layout)
        said = await line_with(worker.process.stderr, "slow_decision")
        for part in ("kind=stall", "trigger=begin", "id=c/s", "rules=['test.misbehave']"):
            assert part in said
        assert int(said.partition("milliseconds=")[2].split()[0]) >= 900


async def test_sigterm_is_heard_while_a_rule_runs(settings: Settings, wire: Wire) -> None:
    async with stalling(settings, wire) as (_, fleet, worker):
        await publish(wire, [fleet.event("stall", "begin", "c/s", how="sleep", seconds=0.8)])
        await asyncio.sleep(0.3)
        assert "worker_stopped" in await worker.stop()


@pytest.mark.slow
@pytest.mark.parametrize("how", ["end", "loop", "keep"])
async def test_an_event_that_ends_workers_is_parked(settings: Settings, wire: Wire, how: str) -> None:
    settings = replace(settings, partitions=1)
    async with stalling(settings, wire) as (layout, fleet, first):
        worker = first
        poison, after = fleet.event("stall", "begin", "c/s", how=how), fleet.event("node", "cordon", "c/p/n0")
        await publish(wire, [poison, after])
        ends = 0
        while not await decided(wire, layout):
            if await ended(worker, wire, layout):
                ends += 1
                assert ends <= 5
                worker = await WorkerProcess.start(settings, program=STALLING)
        assert ends == 5
        await worker.kill()
    found = [wire_codec.read(message.body) for message in await committed(wire, layout, 0)]
    [parked] = [record for record in found if isinstance(record, Rejection)]
    assert (parked.kind, parked.id, parked.reason) == ("stall", "c/s", "fault")
    assert parked.message.startswith("3 workers ended while they decided this event")
    assert found[-1].cause.sequence > parked.cause.sequence


async def ended(worker: WorkerProcess, wire: Wire, layout: Layout) -> bool:
    """Wait until the worker ends, or all events are decided; whether it ended."""
    async with asyncio.timeout(LIMIT):
        while worker.process.returncode is None and not await decided(wire, layout):
            await asyncio.sleep(0.05)
    if worker.process.returncode is not None:
        await worker.process.communicate()
    return worker.process.returncode is not None


async def test_random_kills_park_no_innocent_event(settings: Settings, wire: Wire) -> None:
    await storm(replace(settings, partitions=1), wire, kills=2, events=300)


@pytest.mark.slow
async def test_many_random_kills_park_no_innocent_event(settings: Settings, wire: Wire) -> None:
    await storm(replace(settings, partitions=1), wire, kills=200, events=20_000)


async def storm(settings: Settings, wire: Wire, kills: int, events: int) -> None:
    """Kill the only worker soon after it has begun, again and again."""
    layout, fleet, dice = await provision(wire, settings), RandomEvents(settings.prefix), random.Random(kills)
    script = [*fleet.built(4, 4), *fleet.life(events, 4, 4)][:events]
    await publish(wire, script)
    for _ in range(kills):
        worker = await WorkerProcess.start(settings)
        await line_with(worker.process.stderr, "worker_started")
        await asyncio.sleep(dice.uniform(0, 0.06))
        await worker.kill()
    async with workers(settings, 1):
        await until_decided(wire, layout)
    assert await assert_log_is_the_fold(wire, layout, BUILT_IN_KINDS) > 0


CONFIG = kubernetes_object("v1", "ConfigMap", metadata={"name": "c"})


async def one_partition(settings: Settings, wire: Wire) -> tuple[Installation, RandomEvents]:
    """An installation of one partition whose worker has built a cluster and has stopped."""
    settings = replace(settings, partitions=1)
    layout, fleet = await provision(wire, settings), RandomEvents(settings.prefix)
    await publish(wire, list(fleet.cluster("c", 1)))
    async with workers(settings, 1):
        await until_decided(wire, layout)
    return Installation(wire, layout, BUILT_IN_KINDS, pacing=Pacing(comes_back=0.1)), fleet


async def tried_in_vain(installation: Installation) -> None:
    """Owners that take over, note the next event, and commit nothing."""
    attempts = []
    for number in range(1 + 3):
        claim = await take_over(installation, 0, f"w{number}")
        attempts.append(claim.checkpoint.attempts)
        if claim.checkpoint.attempts >= 2:
            await claim.note_try(claim.position + 1, (*claim.checkpoint.triers, f"w{number}"))
    assert attempts == [1, 2, 3, 4]


async def decided_by_another(installation: Installation, living: frozenset[str] = frozenset()) -> None:
    """A further worker owns the partition until all is decided."""

    async def alive() -> frozenset[str]:
        return living

    stop = asyncio.Event()
    running = asyncio.create_task(Partition(installation, 0, "another", shared=WorkerShares(living=alive)).run(stop))
    await until_decided(installation.wire, installation.layout)
    stop.set()
    await running


async def test_an_event_is_not_parked_while_a_worker_that_noted_it_lives(settings: Settings, wire: Wire) -> None:
    """Its owners lost the partition or their connection: the event has ended nobody."""
    installation, fleet = await one_partition(settings, wire)
    await publish(wire, [fleet.event("node", "cordon", "c/p/n0")])
    await tried_in_vain(installation)

    await decided_by_another(installation, frozenset({"w2"}))
    found = wire_codec.read((await committed(wire, installation.layout, 0))[-1].body)
    assert isinstance(found, Transition)
    assert found.trigger == "cordon"


async def test_an_event_that_fails_without_ending_the_worker_is_parked_too(
    settings: Settings, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation, fleet = await one_partition(settings, wire)
    await publish(wire, [fleet.event("node", "cordon", "c/p/n0")])
    append_row = Claim.append_row

    async def fail(claim: Claim, messages: Sequence[Message], position: int) -> None:
        for message in messages:
            if b"cordon" in message.body and b"fault" not in message.body:
                raise ServerRefused.payload_too_large(subject=message.subject, size=2, limit=1)
        await append_row(claim, messages, position)

    monkeypatch.setattr(Claim, "append_row", fail)
    for _ in range(1 + 3):
        with raises(ServerRefused.payload_too_large):
            await Partition(installation, 0, "w").run(asyncio.Event())
    await decided_by_another(installation)
    found = wire_codec.read((await committed(wire, installation.layout, 0))[-1].body)
    assert isinstance(found, Rejection)
    assert (found.trigger, found.reason) == ("cordon", "fault")


async def test_an_event_is_parked_once_three_owners_noted_it_and_ended(settings: Settings, wire: Wire) -> None:
    """The same without processes: owners that take over, note the event, and commit nothing."""
    installation, fleet = await one_partition(settings, wire)
    layout = installation.layout
    await publish(wire, [fleet.event("node", "cordon", "c/p/n0"), fleet.event("node", "drain", "c/p/n0")])
    await tried_in_vain(installation)
    await decided_by_another(installation)
    after = await take_over(installation, 0, "looks")
    assert (after.checkpoint.attempts, after.checkpoint.trying, after.checkpoint.triers) == (1, 0, ())
    found = [wire_codec.read(message.body) for message in await committed(wire, layout, 0)]
    [parked] = [record for record in found if isinstance(record, Rejection)]
    assert (parked.trigger, parked.reason) == ("cordon", "fault")
    assert isinstance(found[-1], Transition)
    assert found[-1].trigger == "drain"
    report = await audit_of(installation, BUILT_IN_KINDS)
    assert (report.holds, report.reworded) == (True, 0)


async def test_owners_that_get_on_by_lone_records_are_not_counted(settings: Settings, wire: Wire) -> None:
    installation, fleet = await one_partition(settings, wire)
    layout = installation.layout
    for number in range(4):
        claim = await take_over(installation, 0, "alone")
        assert claim.checkpoint.attempts == 1
        [sent] = [fleet.event("node", ("cordon", "uncordon")[number % 2], "c/p/n0")]
        await publish(wire, [sent])
        processor = Processor(claim.tree, installation.subjects, 0, as_json=installation.layout.feed == "json")
        async with Reader(wire, layout.events, [installation.subjects.stored(0)], claim.position + 1) as reader:
            batch = processor.process(await reader.take(1), claim.position)
        await claim.append_row(batch.messages, batch.position)
