"""Silence on a real server: the server fires the timer, a restart keeps it, and an audit decides as the workers did."""

import asyncio
from dataclasses import replace
from itertools import pairwise

import phaseline
from phaseline.engine.jetstream.streams import Layout
from phaseline.engine.jetstream.wire import Wire
from phaseline.engine.settings import Settings
from phaseline.schemas import wire_codec
from phaseline.schemas.records import SECOND, Mark, Transition
from tests.support.installation import at_work, until_decided
from tests.support.log_check import audited, committed
from tests.support.random_events import RandomEvents, publish

LIMIT = 120
"""Seconds until a test gives up."""


async def contacts(wire: Wire, layout: Layout) -> list[str]:
    """The phases of contact that the log has, in order."""
    records = [wire_codec.read(message.body) for message in await committed(wire, layout, 0)]
    return [r.after.phase for r in records if isinstance(r, Transition) and r.facet == "contact"]


async def until(wire: Wire, layout: Layout, *phases: str) -> None:
    async with asyncio.timeout(LIMIT):
        while await contacts(wire, layout) != [*phases]:
            await asyncio.sleep(0.05)


async def until_last(wire: Wire, layout: Layout, phase: str) -> None:
    """Wait for a phase, whatever a slow machine made of the heartbeats before it."""
    await until_decided(wire, layout)
    async with asyncio.timeout(LIMIT):
        while (await contacts(wire, layout))[-1:] != [phase]:
            await asyncio.sleep(0.05)


async def test_a_cluster_falls_silent_and_comes_back(wire: Wire, settings: Settings) -> None:
    settings = replace(settings, partitions=1)
    fleet = RandomEvents(settings.prefix)
    async with at_work(settings, wire) as layout:
        adopted = fleet.event("cluster", "adopt", "c1", phase="Running")
        await publish(wire, [adopted, fleet.event("cluster", "configure", "c1", silence_after=0.8)])
        for _ in range(12):
            await publish(wire, [fleet.event("cluster", "heartbeat", "c1")])
            await asyncio.sleep(0.1)
        await until_last(wire, layout, "Silent")
        await publish(wire, [fleet.event("node", "adopt", "c1/p/n1", phase="Running")])
        await until_last(wire, layout, "Fresh")
        records = [wire_codec.read(message.body) for message in await committed(wire, layout, 0)]
    moves = [one for one in records if isinstance(one, Transition) and one.facet == "contact"]
    # Where the heartbeats above came too late for its time, the cluster fell silent between them too.
    assert [one.after.phase for one in moves] == [("Fresh", "Silent")[index % 2] for index in range(len(moves))]
    assert len(moves) >= 3
    for earlier, later in pairwise(one.time_ns for one in records if isinstance(one, Mark)):
        assert later - earlier >= 0.2 * SECOND  # four hearings at most are recorded within the 0.8 s
    silent = moves[-2]
    heard_at = silent.entity.attributes["heard_at"]
    assert moves[0].time_ns <= heard_at < silent.time_ns
    assert (silent.time_ns - heard_at) / SECOND >= 0.8
    report = await audited(wire, layout)
    assert (report.divergences, report.by_others, report.holds) == ({}, 0, True)


async def test_the_installations_time_is_in_the_log(wire: Wire, settings: Settings) -> None:
    settings = replace(settings, partitions=1, lease=1.0)
    fleet = RandomEvents(settings.prefix)
    async with at_work(replace(settings, silence_after=0.5), wire) as layout:
        await publish(wire, [fleet.event("cluster", "heartbeat", "c1")])
        await until(wire, layout, "Fresh", "Silent")
    async with at_work(settings, wire):  # nobody waits any more
        await publish(wire, [fleet.event("cluster", "heartbeat", "c1")])
        await until(wire, layout, "Fresh", "Silent", "Unheard")
    async with at_work(replace(settings, silence_after=60.0), wire):
        await publish(wire, [fleet.event("cluster", "heartbeat", "c1")])
        await until(wire, layout, "Fresh", "Silent", "Unheard", "Fresh")
        async with phaseline.connect(settings.nats[0], prefix=settings.prefix) as client:
            dry = await client.dry_run("cluster", "heartbeat", "c9")
            assert [record.facet for record in dry.transitions] == ["phase", "contact"]
    report = await audited(wire, layout)
    assert (report.divergences, report.by_others, report.holds) == ({}, 0, True)
