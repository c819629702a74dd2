"""Silence on a real server: the server fires the timer, a restart keeps it, and an audit decides as the workers did.

Belongs here: what only a server can show, such as its outages. Does not: what the core decides (`test_silence_below`).
"""

import asyncio
from dataclasses import replace
from itertools import pairwise

import phaseline
from phaseline.schemas import wire_codec
from phaseline.schemas.records import SECOND, Mark, Record, Transition
from tests.support.installation import EmbeddedServer, Layout, Settings, Wire, at_work, until_decided
from tests.support.log_check import audited, committed
from tests.support.random_events import RandomEvents, Sent, publish

LIMIT = 120
"""Seconds until a test gives up."""


N1, N2 = "edge1/shops/n1", "edge1/shops/n2"
"""Two nodes of one cluster, each with an uplink of its own."""


async def log_of(wire: Wire, layout: Layout) -> list[Record]:
    """All records of the only partition."""
    return [wire_codec.read(message.body) for message in await committed(wire, layout, 0)]


def contact_of(records: list[Record], entity_id: str) -> list[Transition]:
    """The transitions of the contact of one entity."""
    moves = (one for one in records if isinstance(one, Transition) and one.facet == "contact")
    return [one for one in moves if one.entity.id == entity_id]


async def contacts(wire: Wire, layout: Layout) -> list[str]:
    """The phases of contact that the log has, in order."""
    records = await log_of(wire, layout)
    return [r.after.phase for r in records if isinstance(r, Transition) and r.facet == "contact"]


def shops(fleet: RandomEvents, seconds: float) -> list[Sent]:
    """A cluster with two nodes, of which nothing may be unheard for so long."""
    said = fleet.event("cluster", "adopt", "edge1", phase="Running")
    asked = fleet.event("cluster", "configure", "edge1", silence_after=seconds, silence_below={"node": seconds})
    return [said, asked, *(fleet.event("node", "adopt", one, phase="Running") for one in (N1, N2))]


async def until_silent(wire: Wire, layout: Layout, entity_id: str, fleet: RandomEvents, speaks: str) -> list[Record]:
    """The records once one node fell silent, while another one speaks."""
    async with asyncio.timeout(LIMIT):
        while True:
            await publish(wire, [fleet.event("node", "heartbeat", speaks)])
            records = await log_of(wire, layout)
            if [one.after.phase for one in contact_of(records, entity_id)][-1:] == ["Silent"]:
                return records
            await asyncio.sleep(0.2)


async def holds(wire: Wire, layout: Layout) -> bool:
    """Whether an audit decides every event as the workers did."""
    report = await audited(wire, layout)
    return (report.divergences, report.by_others, report.holds) == ({}, 0, True)


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
        records = await log_of(wire, layout)
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
    assert await holds(wire, layout)


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
    assert await holds(wire, layout)


async def test_a_silent_node_is_marked_although_its_neighbour_speaks(wire: Wire, settings: Settings) -> None:
    settings, after = replace(settings, partitions=1), 2
    fleet = RandomEvents(settings.prefix)
    async with at_work(settings, wire) as layout:
        await publish(wire, shops(fleet, after))
        records = await until_silent(wire, layout, N2, fleet, N1)
        async with phaseline.connect(settings.nats[0], prefix=settings.prefix) as client:
            view = await client.at()
            marks = await view.stale([entity async for entity in view.list()])
        [mark] = marks.values()
        assert [*marks] == [("node", N2)]
        silent = contact_of(records, N2)[-1]
        heard_at = silent.entity.attributes["heard_at"]
        assert (mark.by, mark.since_ns, mark.as_of_ns) == (("node", N2), heard_at, heard_at)
        assert silent.time_ns - heard_at >= after * SECOND
        assert {one.after.phase for one in contact_of(records, "edge1")} == {"Fresh"}
        await publish(wire, [fleet.event("node", "heartbeat", N2)])
        await until_decided(wire, layout)
        assert contact_of(await log_of(wire, layout), N2)[-1].after.phase == "Fresh"
    assert await holds(wire, layout)


async def test_an_outage_of_server_and_workers_is_nobodys_silence(
    own_server: EmbeddedServer, own_settings: Settings
) -> None:
    settings, after = replace(own_settings, partitions=1), 3
    fleet = RandomEvents(settings.prefix)
    async with Wire.open(settings, name="test", patient=True) as wire:
        async with at_work(settings, wire) as layout:
            await publish(wire, shops(fleet, after))
            await until_decided(wire, layout)
        await own_server.kill()
        await asyncio.sleep(2 * after)
        await own_server.start()
        async with at_work(settings, wire) as layout:
            records = await until_silent(wire, layout, N2, fleet, N1)
        anew = [one for one in records if isinstance(one, Mark) and one.cause.by == "timer" and one.entity.id == N2]
        assert anew
        assert [one.after.phase for one in contact_of(records, N2)] == ["Fresh", "Silent"]
        for name in ("edge1", N1):
            assert [one.after.phase for one in contact_of(records, name)] == ["Fresh"]
        assert contact_of(records, N2)[-1].time_ns - anew[-1].time_ns >= 1.25 * after * SECOND
        assert await holds(wire, layout)


async def test_an_outage_of_the_workers_alone_is_nobodys_silence(wire: Wire, settings: Settings) -> None:
    settings, after = replace(settings, partitions=1), 1.5
    fleet = RandomEvents(settings.prefix)
    async with at_work(settings, wire) as layout:
        await publish(wire, shops(fleet, after))
        await until_decided(wire, layout)
    for _ in range(16):  # meanwhile the server fires what was due if nothing had been heard
        await publish(wire, [fleet.event("node", "heartbeat", one) for one in (N1, N2)])
        await asyncio.sleep(after / 4)
    async with at_work(settings, wire):
        records = await until_silent(wire, layout, N2, fleet, N1)
    fired = [one for one in contact_of(records, N2) if one.cause.by == "timer"]
    assert [one.after.phase for one in contact_of(records, N2)] == ["Fresh", "Silent"]
    assert fired[0].time_ns > max(one.time_ns for one in records if isinstance(one, Mark) and one.entity.id == N2)
    assert await holds(wire, layout)
