"""A worker with much to do stores full commits, because each commit costs the server the same."""

import asyncio
from dataclasses import replace
from itertools import groupby

from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import LIMIT, Installation, Pacing, Settings, Wire, provision, until_decided
from tests.support.owners import BATCH_LIMIT, Partition, WorkerShares
from tests.support.random_events import RandomEvents, publish
from tests.support.streams import BUFFER, read_all


async def test_what_a_full_commit_left_over_is_committed_with_the_next_events(settings: Settings, wire: Wire) -> None:
    """A slice of 1,000 events makes 999 records and one; that one waits for others, if some have come."""
    layout, fleet = await provision(wire, replace(settings, partitions=1)), RandomEvents(settings.prefix)
    await publish(wire, [fleet.event("cluster", "adopt", f"c{number}", phase="Running") for number in range(BUFFER)])
    room, stop = asyncio.Event(), asyncio.Event()
    patient = Pacing(slice_lasts=60.0)  # a busy machine does not end a slice early
    installation = Installation(wire, layout, BUILT_IN_KINDS, pacing=patient)
    partition = Partition(installation, 0, "w", shared=WorkerShares(room=room))
    running = asyncio.create_task(partition.run(stop))
    async with asyncio.timeout(LIMIT):
        while (supply := partition._supply) is None or supply.inbox.delivered < BUFFER:
            await asyncio.sleep(0.01)
    room.set()
    await until_decided(wire, layout)
    stop.set()
    partition.wake()
    await running

    batches = [
        message.headers.get("Nats-Batch-Id")
        async for piece in read_all(wire, layout.log, [f"{settings.prefix}.log.0.transition.>"])
        for message in piece
    ]
    sizes = [len(list(records)) for _, records in groupby(batches)]
    assert len(batches) >= BUFFER
    first = sizes.index(BATCH_LIMIT)
    assert all(size == BATCH_LIMIT for size in sizes[first:-1]), sizes
