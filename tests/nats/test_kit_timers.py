"""The test kit's clock and a worker on the real server agree about timers that fire again and again.

Belongs here: a scenario beside a worker. Does not: random histories (`tests/laws/test_kit_and_worker`).
"""

import asyncio

from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas import wire_codec
from phaseline.schemas.records import Transition
from phaseline.testing import given
from tests.support.installation import Layout, Settings, Wire, working
from tests.support.log_check import stored
from tests.support.own_product import OWN
from tests.support.random_events import RandomEvents, publish
from tests.support.timed_kinds import KINDS

SETTINGS = {"first": 0.2, "again": 0.15}


async def rung(wire: Wire, layout: Layout, count: int) -> list[Transition]:
    """The first transitions of the probe, as soon as there are so many."""
    async with asyncio.timeout(60):
        while True:
            found = await stored(wire, layout.log, [f"{layout.prefix}.log.*.transition.probe.>"])
            if len(found) >= count:
                records = [wire_codec.read(message.data) for message in found[:count]]
                return [record for record in records if isinstance(record, Transition)]
            await asyncio.sleep(0.02)


def told(records: list[Transition]) -> list[tuple[int, str, str, object]]:
    return [(each.entity.version, each.trigger, each.cause.by, each.entity.attributes["rings"]) for each in records]


async def test_a_timer_that_fires_again_and_again(settings: Settings, wire: Wire) -> None:
    async with working(settings, wire, Kinds(KINDS, products=OWN), partitions=1) as layout:
        await publish(wire, [RandomEvents(layout.prefix).event("probe", "start", "p", **SETTINGS)])
        live = await rung(wire, layout, 5)
    started = given(KINDS).when("probe", "start", "p", SETTINGS)
    kit = [*started.transitions, *started.later(seconds=0.2 + 3 * 0.15).transitions]
    assert told(live) == told(kit)
