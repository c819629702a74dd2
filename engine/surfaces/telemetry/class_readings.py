"""How many entities of a worker are in which class, and for how long: one pass over its states.

Belongs here: the pass, in slices so that events are decided meanwhile, and how often it is made. Does not: the class of
an entity, and since when it is in it (`machines.compiler.classes`).
"""

import asyncio
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from phaseline.engine.core.tree import Tree
from phaseline.engine.surfaces.telemetry.metric_table import Value
from phaseline.engine.worker.worker import Worker
from phaseline.machines.compiler.classes.entity_classes import class_of_facets, since_of
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.language.table import CLASSES
from phaseline.schemas.records import SECOND, Entity

METRIC = "phaseline_entities_by_class"
AGES: Sequence[tuple[int, str]] = ((86_400, "1d"), (3_600, "1h"), (600, "10m"), (60, "1m"), (0, "0"))
"""From how many seconds on an age has which name, the oldest first."""
SLICE = 250
"""Entities that are looked at before events get their turn."""
SHARE = 20
"""A pass is made again when this many times as long has gone by as it took: it takes at most 1/20 of a processor."""
WAIT = 1.0
"""Seconds that somebody who asks waits for a pass at most. Then the counts of the last one are told."""
LIVING = tuple(one for one in CLASSES if one != "gone")


class ClassReadings:
    """Counts entities by kind, class and age. The last counts are told again while they are young."""

    def __init__(self) -> None:
        self._of: dict[int, Counter[tuple[str, ...]]] = {}
        self._again = 0.0
        self._pass: asyncio.Task[None] | None = None

    async def read(self, worker: Worker) -> Mapping[str, Mapping[tuple[str, ...], Value]]:
        """The counts of the partitions that the worker owns."""
        if self._pass is None and time.monotonic() >= self._again:
            self._pass = asyncio.create_task(self._count(worker))
            self._pass.add_done_callback(self._ended)
        if self._pass is not None:
            await asyncio.wait({self._pass}, timeout=WAIT)
        total: Counter[tuple[str, ...]] = Counter()
        for number in worker.owned:
            total.update(self._of.get(number, {}))
        kinds = dict.fromkeys(kind for kind, _, _ in total)
        return {
            METRIC: {(kind, one, age): total[kind, one, age] for kind in kinds for one in LIVING for _, age in AGES}
        }

    def _ended(self, _: asyncio.Task[None]) -> None:
        self._pass = None

    async def _count(self, worker: Worker) -> None:
        """Count the entities of all partitions anew. Others run between two slices."""
        found, took = dict[int, Counter[tuple[str, ...]]](), 0.0
        for number, (partition, _, _) in [*worker.owned.items()]:
            counted = found[number] = Counter()
            for kind, some in slices(partition.tree):
                begun = time.perf_counter()
                count(kind, some, time.time_ns(), counted)
                took += time.perf_counter() - begun
                await asyncio.sleep(0)
        self._of, self._again = found, time.monotonic() + SHARE * took


def slices(tree: Tree | None) -> Iterable[tuple[Kind, Sequence[Entity]]]:
    """The entities of a tree, some at a time. The tree may change meanwhile."""
    for name, entities in () if tree is None else tree.entities.items():
        known = [*entities.values()]
        for at in range(0, len(known), SLICE):
            yield tree.kinds[name], known[at : at + SLICE]  # type: ignore[union-attr]  # it has entities


def count(kind: Kind, entities: Iterable[Entity], now: int, into: Counter[tuple[str, ...]]) -> None:
    """Count entities by kind, class and age, those that are gone apart."""
    for entity in entities:
        found = class_of_facets(kind, entity.facets, entity.attributes)
        if found != "gone":
            seconds = (now - since_of(kind, entity, found)) / SECOND
            age = next((name for least, name in AGES if seconds >= least), "0")
            into[kind.name, found, age] += 1
