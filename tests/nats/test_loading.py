"""Loading the states of a partition: it leaves the worker its turns, and misses nothing that STATE holds."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from structlog.testing import capture_logs

from phaseline.schemas.errors import RequestTimedOut
from phaseline.schemas.records import EntityAfter
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import (
    LIMIT,
    Installation,
    Pacing,
    Settings,
    Stored,
    Wire,
    at_work,
    provision,
    until_decided,
)
from tests.support.log_check import assert_log_is_the_fold
from tests.support.owners import PartitionStates, Tree, load_states, load_together, take_all_in, take_over
from tests.support.random_events import RandomEvents, publish
from tests.support.state_stream import copied
from tests.support.stream_backup import backed_up, restore
from tests.support.streams import Reader

NODES = 500


class Arrived(Reader):
    """A reader whose messages have all arrived before they are taken, as beside other partitions."""

    async def take(self, limit: int, timeout: float | None = None) -> list[Stored]:
        while self.buffered < NODES and not self.delivered > NODES:
            await asyncio.sleep(0.01)
        return await super().take(limit, timeout)


async def test_others_have_a_turn_while_many_states_are_loaded(
    settings: Settings, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No more states are taken in between two turns of another task than `Pacing.load`."""
    settings, fleet = replace(settings, partitions=1), RandomEvents(settings.prefix)
    async with at_work(settings, wire) as layout:
        nodes = (fleet.event("node", "adopt", f"c1/p/n{number}", phase="Running") for number in range(NODES))
        await publish(wire, [*nodes])
        await until_decided(wire, layout)
    taken = [0, 0]  # in all, and most between two turns

    def counted(tree: Tree, found: Sequence[EntityAfter]) -> int:
        taken[0] += len(found)
        return take_all_in(tree, found)

    async def watch() -> None:
        before = 0
        while True:
            taken[1], before = max(taken[1], taken[0] - before), taken[0]
            await asyncio.sleep(0)

    monkeypatch.setattr(load_states, "take_all_in", counted)
    monkeypatch.setattr(load_states, "Reader", Arrived)
    watching = asyncio.create_task(watch())
    claim = await take_over(Installation(wire, await provision(wire, settings), BUILT_IN_KINDS), 0, "test")
    watching.cancel()
    assert (len(claim.tree), taken[0]) == (NODES + 2, NODES + 2)
    assert taken[1] <= Pacing().load


async def test_states_and_the_checkpoint_are_read_by_one_consumer(
    settings: Settings, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two, the second one may be at a replica that lags, and then it misses states."""
    settings = replace(settings, partitions=2, lease=1.0)
    async with at_work(settings, wire) as layout:
        await publish(wire, list(RandomEvents(settings.prefix).built(4, 2)))
        await until_decided(wire, layout)
    installation, api, asked = Installation(wire, layout, BUILT_IN_KINDS), wire.api, list[str]()

    async def noted(suffix: str, *values: Any, **named: Any) -> Any:
        asked.append(suffix)
        return await api(suffix, *values, **named)

    monkeypatch.setattr(wire, "api", noted)
    trees = [(await take_over(installation, number, "w")).tree for number in range(layout.partitions)]
    assert sum(map(len, trees)) == 4 * 5
    assert len([one for one in asked if one.startswith(f"CONSUMER.CREATE.{layout.state}.")]) == len(trees)


async def test_a_state_stream_that_was_restored_from_a_backup_is_read_whole(settings: Settings, wire: Wire) -> None:
    """It copies anew what came after the backup, under sequences that were read before."""
    settings, fleet = replace(settings, partitions=1), RandomEvents(settings.prefix)
    async with at_work(settings, wire) as layout:
        await publish(wire, list(fleet.built(3, 2)))
        await until_decided(wire, layout)
        await copied(wire, layout)
        backup = await backed_up(wire, layout.state)
        await publish(wire, list(fleet.life(50, 3, 2)))
        await until_decided(wire, layout)
        await copied(wire, layout)
        installation = Installation(wire, layout, BUILT_IN_KINDS)
        states = PartitionStates(installation, 0)
        await states.load(lambda: False)
        await states.close()
        await restore(wire, backup)
        async with asyncio.timeout(LIMIT):
            while int((await wire.api(f"STREAM.INFO.{layout.state}"))["state"]["last_seq"]) < states._read + 10:
                await publish(wire, list(fleet.life(20, 3, 2)))
                await until_decided(wire, layout)
                await copied(wire, layout)
    kept = (await take_over(installation, 0, "w", states=states)).tree
    assert kept.entities == (await take_over(installation, 0, "w")).tree.entities


async def test_many_partitions_are_read_at_once(settings: Settings, wire: Wire) -> None:
    """What they read for themselves afterwards is what came meanwhile."""
    pacing = Pacing(loads_alone=3, small_state=10, load=5)
    settings, fleet = replace(settings, partitions=4), RandomEvents(settings.prefix)
    async with at_work(settings, wire) as layout:
        await publish(wire, list(fleet.built(20, 3)))
        await until_decided(wire, layout)
        await copied(wire, layout)
    with capture_logs() as logged:
        async with at_work(settings, wire, pacing=pacing):
            await publish(wire, list(fleet.life(50, 20, 3)))
            await until_decided(wire, layout)
    taken = [line for line in logged if line["event"] == "partition_taken"]
    assert [line["prepared"] for line in taken] == [True] * layout.partitions
    assert sum(line["entities"] for line in taken) >= 20 * 5
    assert sum(line["read"] for line in taken) < 20
    await assert_log_is_the_fold(wire, layout, BUILT_IN_KINDS)


async def test_partitions_that_cannot_be_read_together_read_for_themselves(
    settings: Settings, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    pacing = Pacing(loads_alone=1, small_state=0)
    settings, fleet = replace(settings, partitions=2), RandomEvents(settings.prefix)
    async with at_work(settings, wire) as layout:
        await publish(wire, list(fleet.built(4, 3)))
        await until_decided(wire, layout)

    def failing(_: object, stream: str, __: object, **___: object) -> Reader:
        raise RequestTimedOut(subject=stream, seconds=1.0, hint="")

    monkeypatch.setattr(load_together, "Reader", failing)
    with capture_logs() as logged:
        async with at_work(settings, wire, pacing=pacing):
            await publish(wire, list(fleet.life(50, 4, 3)))
            await until_decided(wire, layout)
    assert "states_not_read_together" in [line["event"] for line in logged]
    await assert_log_is_the_fold(wire, layout, BUILT_IN_KINDS)


async def test_of_which_nobody_knows_the_size_is_not_small(
    wire: Wire, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation = Installation(wire, await provision(wire, replace(settings, partitions=8)), BUILT_IN_KINDS)
    loading, most, now = load_together.Loading(Pacing(loads=1)), [0], [0]

    async def load(number: int) -> None:
        async with loading.turn(PartitionStates(installation, number)):
            now[0] += 1
            most[0] = max(most[0], now[0])
            await asyncio.sleep(0.01)
            now[0] -= 1

    async def failing(subject: str, *_: object) -> None:
        raise RequestTimedOut(subject=subject, seconds=1.0, hint="")

    await load(0)
    monkeypatch.setattr(wire, "api", failing)
    await asyncio.gather(*map(load, range(8)))
    assert most == [1]
