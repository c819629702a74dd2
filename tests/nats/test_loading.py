"""Loading the states of a partition leaves the worker its turns: leases must not wait for it."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from phaseline.engine.core.tree import Tree, take_all_in
from phaseline.engine.jetstream.reader import Reader, Stored
from phaseline.engine.jetstream.streams import provision
from phaseline.engine.jetstream.wire import Wire
from phaseline.engine.log.installation import Installation
from phaseline.engine.ownership import load_states
from phaseline.engine.ownership.takeover import take_over
from phaseline.engine.settings import Settings
from phaseline.schemas.records import EntityAfter
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import at_work, until_decided
from tests.support.random_events import RandomEvents, publish

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
    """No more states are taken in between two turns of another task than `load_states.LOAD`."""
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
    assert taken[1] <= load_states.LOAD
