"""Outages of a real server: workers note them, and levels say that nobody knows what was meanwhile.

It needs a server that goes away and comes back, with workers that see it.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import pairwise

from phaseline.engine.publish import server_outages
from phaseline.engine.publish.server_outages import OutageNote
from phaseline.schemas.records import SECOND
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import EmbeddedServer, Installation, Settings, Wire, inspect, run_worker
from tests.support.own_installation import Client

LIMIT = 120
AWAY = 2.0
"""Seconds for which the server is away: more than a renewal, and than the least that is noted."""


@asynccontextmanager
async def working(settings: Settings, *, server_began: bool = False) -> AsyncIterator[None]:
    """A worker as `phaseline worker` and `phaseline up` run it."""
    stop, ready = asyncio.Event(), asyncio.Event()
    task = asyncio.create_task(run_worker(settings, BUILT_IN_KINDS, stop, ready, server_began=server_began))
    try:
        async with asyncio.timeout(LIMIT):
            await ready.wait()
        yield
    finally:
        stop.set()
        await task


async def noted(settings: Settings, number: int) -> list[OutageNote]:
    """All notes, once there are so many."""
    async with asyncio.timeout(LIMIT), Wire.open(settings, name="test") as wire:
        installation = Installation(wire, await inspect(wire, settings), BUILT_IN_KINDS)
        while len(found := await server_outages.notes(installation).all_of()) < number:
            await asyncio.sleep(0.05)
        return found


async def test_an_outage_is_noted_and_is_unknown(own_server: EmbeddedServer, own_settings: Settings) -> None:
    settings = replace(own_settings, partitions=2)
    async with working(settings):
        async with Client.open(settings) as client:
            event = await client.publish_and_wait("node", "adopt", "c1/p/n1", {"phase": "Running"}, timeout=LIMIT)
        await own_server.stop()
        await asyncio.sleep(AWAY)
        await own_server.start()
        note = (await noted(settings, 1))[0]
        async with Client.open(settings) as client:
            found = await client.levels.measure("start")
    away = note.end_ns - note.begin_ns
    assert away >= AWAY * SECOND
    assert note.end_ns > event.transitions[0].time_ns
    assert found.away[0] == (max(note.begin_ns, found.begin_ns), note.end_ns)
    whole = sum(end - max(begin, event.transitions[0].time_ns) for begin, end in found.away)
    assert all(one.times["server"] == whole for one in found.rows)
    assert found.total.availability is not None
    assert found.total.availability < 1
    assert found.total.at_best == 1
    assert found.total.failures.number == 0


async def test_a_server_that_is_started_with_its_worker_was_away_before(
    own_server: EmbeddedServer, own_settings: Settings
) -> None:
    """A worker that is started on a server of its own knows nothing of the time before."""
    async with working(own_settings):
        pass
    await own_server.stop()
    await asyncio.sleep(AWAY)
    await own_server.start()
    async with working(own_settings), Client.open(own_settings) as client:
        await client.publish_and_wait("node", "adopt", "c1/p/n1", {"phase": "Running"}, timeout=LIMIT)
    assert await noted(own_settings, 0) == []
    await own_server.stop()
    await asyncio.sleep(AWAY)
    await own_server.start()
    async with working(own_settings, server_began=True):
        note = (await noted(own_settings, 1))[0]
    assert note.end_ns - note.begin_ns >= AWAY * SECOND


async def test_a_worker_that_alone_was_cut_off_notes_nothing(
    own_server: EmbeddedServer, own_settings: Settings
) -> None:
    """Events all along show that the server was there; one long pause between them shows that it was not."""
    async with working(own_settings), Wire.open(own_settings, name="test") as wire:
        installation = Installation(wire, await inspect(wire, own_settings), BUILT_IN_KINDS)
        assert await server_outages.renewed_at(installation) > 0
        async with Client.open(own_settings) as client:
            done = [
                await client.publish_and_wait("node", trigger, "c1/p/n1", data, timeout=LIMIT)
                for trigger, data in (("adopt", {"phase": "Running"}), ("not_ready", {}), ("ready", {}))
            ]
        times = [one.transitions[0].time_ns for one in done]
        pause, whole = max(later - one for one, later in pairwise(times)), times[-1] - times[0]
        found = await server_outages.note_outage(installation, times[0], times[-1], "w1")
        assert (found is None) == (pause < server_outages.LEAST or 2 * pause < whole)
        before = times[0] - 1_000 * SECOND
        assert (
            await server_outages.note_outage(installation, times[0], times[0] + server_outages.LEAST - 1, "w1") is None
        )
        note = await server_outages.note_outage(installation, before, times[-1], "w1")
        assert note == OutageNote(before, times[0], "w1")
        assert (await server_outages.notes(installation).all_of())[-1] == note
