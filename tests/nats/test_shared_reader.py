"""Partitions that share one reading of LOG get what each of them would read alone, however much may be held."""

from dataclasses import replace

import pytest

from tests.support.installation import Layout, Settings, Wire, at_work, until_decided
from tests.support.random_events import RandomEvents, publish
from tests.support.recorded_logs import PartitionReader, SharedReader
from tests.support.streams import BUFFER, read_all

PARTITIONS = 5


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return replace(settings, partitions=PARTITIONS)


@pytest.fixture
async def layout(wire: Wire, settings: Settings) -> Layout:
    """Three trees, so that some partitions have no record; then one of them alone changes for long."""
    async with at_work(settings, wire) as layout:
        await publish(wire, list(RandomEvents(settings.prefix).built(3, 2)))
        await until_decided(wire, layout)
    return layout


async def alone(wire: Wire, layout: Layout, partition: int) -> list[int]:
    """The places of what a reader of one partition finds."""
    found = read_all(wire, layout.log, [f"{layout.prefix}.*.{partition}.>"])
    return [one.sequence async for some in found for one in some]


async def rest(reader: PartitionReader, limit: int) -> list[int]:
    found = list[int]()
    while not reader.caught_up:
        found += [one.sequence for one in await reader.take(limit)]
    return found


@pytest.mark.parametrize("room", [0, 2_000, 1 << 20])
async def test_each_partition_gets_its_own_in_order(wire: Wire, layout: Layout, room: int) -> None:
    wanted = {number: await alone(wire, layout, number) for number in range(PARTITIONS)}
    assert sum(map(len, wanted.values())) > 50
    shared = SharedReader(wire, layout.log, layout.prefix, BUFFER, room=room)
    readers = {number: shared.of(number) for number in wanted}
    async with shared:
        found = {number: [one.sequence for one in await reader.take(1)] for number, reader in readers.items()}
        for number in reversed(readers):
            found[number] += await rest(readers[number], 7)
    assert found == wanted
    assert any(one.is_alone for one in readers.values()) == (room == 0)


async def test_what_is_held_for_others_is_bounded(wire: Wire, layout: Layout) -> None:
    """One that would have to read on while others hold much reads for itself, and they keep what they hold."""
    wanted = {number: await alone(wire, layout, number) for number in range(PARTITIONS)}
    shared = SharedReader(wire, layout.log, layout.prefix, BUFFER, room=2_000, at_once=10)
    readers = {number: shared.of(number) for number in wanted}
    last = max(wanted, key=lambda number: wanted[number][-1:])
    async with shared:
        found = {last: await rest(readers[last], BUFFER)}
        assert readers[last].is_alone
        assert sum(len(one.data) for reader in readers.values() for one in reader.held) < 2_000 + 10 * 2_000
        found |= {number: await rest(reader, BUFFER) for number, reader in readers.items() if number != last}
    assert found == wanted
