"""Entities by kind, class and age, as metrics (engine/surfaces/telemetry/class_readings.py)."""

import asyncio
from collections import Counter
from types import SimpleNamespace
from typing import Any

from phaseline import testing
from phaseline.engine.core.tree import Tree
from phaseline.engine.surfaces.telemetry import class_readings
from phaseline.engine.surfaces.telemetry.class_readings import AGES, LIVING, METRIC, ClassReadings
from phaseline.schemas.records import SECOND, nanoseconds
from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS

START = nanoseconds("2026-01-01T00:00:00Z")


def situation() -> Any:
    made = testing.given(KINDS).state("cluster", "c", "Running").event("node_pool", "create", "c/p")
    made = made.event("node_pool", "created", "c/p").event("node", "create", "c/p/n").event("node", "created", "c/p/n")
    return made.at("2026-01-01T00:01:00Z").event("node", "not_ready", "c/p/n")


def test_each_entity_is_counted_once_by_how_long_it_is_in_its_class() -> None:
    bad = situation().at("2026-01-01T00:05:00Z").event("node", "overdue", "c/p/n")
    for seconds, age in ((61, "0"), (120, "1m"), (660, "10m"), (3_660, "1h"), (90_000, "1d")):
        counted: Counter[tuple[str, ...]] = Counter()
        class_readings.count(KINDS["node"], [bad.entity("node", "c/p/n")], START + seconds * SECOND, counted)
        assert counted == {("node", "bad", age): 1}


def test_what_is_gone_is_left_out() -> None:
    gone = situation().event("node", "delete", "c/p/n").event("node", "deleted", "c/p/n")
    counted: Counter[tuple[str, ...]] = Counter()
    class_readings.count(KINDS["node"], [gone.entity("node", "c/p/n")], START, counted)
    assert counted == {}


async def test_a_pass_lets_others_run_and_a_lost_partition_vanishes() -> None:
    tree = Tree(KINDS, None)  # type: ignore[arg-type]  # no rule runs
    node = situation().entity("node", "c/p/n")
    tree.entities["node"] = {f"c/p/n{number}": node for number in range(3 * class_readings.SLICE)}
    worker: Any = SimpleNamespace(
        owned={0: (SimpleNamespace(tree=tree), None, None), 1: (SimpleNamespace(tree=None), 0, 0)}
    )
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    beside, readings = asyncio.create_task(others()), ClassReadings()
    values = (await readings.read(worker))[METRIC]
    beside.cancel()
    assert turns >= 3
    assert sum(values.values()) == 3 * class_readings.SLICE  # type: ignore[arg-type]  # no histogram
    assert len(values) == len(LIVING) * len(AGES)
    worker.owned.clear()
    assert (await readings.read(worker))[METRIC] == {}
