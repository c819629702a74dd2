"""How many entities below a whole are in which state, what wholes lack, and which operations are stalled. Pure.

Belongs here: adding up, and the form for programs. Does not: Fleet's own counts (`engine.products.fleet.counts`).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypedDict

from phaseline.engine.log.explain import staleness, unknown_parts
from phaseline.engine.log.explain.staleness import Marks
from phaseline.engine.log.explain.unknown_parts import PartsOf
from phaseline.engine.surfaces.client import maps
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.labels import Language
from phaseline.machines.language.deadlines import counted_as
from phaseline.machines.language.table import STALLED
from phaseline.schemas.records import Entity, own_facets


class KindCount(TypedDict):
    """The entities of one kind: how many there are, and by facet how many are in which state."""

    count: int
    facets: dict[str, dict[str, int]]


class PartCounts(NamedTuple):
    """What is below an entity: counts by kind, the wholes that lack something, and what is stalled.

    stale_since_ns: since when nothing is known for certain of some of it; None if all of it speaks.
    """

    top: Entity
    below: Mapping[str, KindCount]
    lacks: PartsOf
    stalled: Sequence[Entity]
    stale_since_ns: int | None

    def as_map(self, kinds: Kinds, language: Language = "en") -> dict[str, object]:
        """The counts as JSON shows them."""
        return {
            "kind": self.top.kind,
            "id": self.top.id,
            "state": self.top.facets[0].state.phase,
            "conditions": list(self.top.facets[0].state.conditions),
            "below": self.below,
            "lacks": {
                f"{kind}/{entity_id}": {facet: maps.parts_map(parts, language) for facet, parts in found.items()}
                for (kind, entity_id), found in self.lacks.items()
            },
            "stalled": [maps.entity_map(kinds, one, language) for one in self.stalled],
            **staleness.shown_since(self.stale_since_ns),
        }


def count(kinds: Kinds, top: Entity, everything: Sequence[Entity], shown: Sequence[Entity], stale: Marks) -> PartCounts:
    """The counts of `top`. everything: it and all below it. shown: those that are counted. stale: those that are."""
    below: dict[str, KindCount] = {}
    for one in (one for one in shown if (one.kind, one.id) != (top.kind, top.id)):
        counted = below.setdefault(one.kind, {"count": 0, "facets": {}})
        counted["count"] += 1
        for name, facet in zip(one.names, own_facets(one), strict=False):
            states = counted["facets"].setdefault(name, {})
            states[counted_as(facet.state)] = states.get(counted_as(facet.state), 0) + 1
    stalled = [one for one in shown if any(STALLED in facet.base.conditions for facet in one.facets)]
    since = min((one.since_ns for one in stale.values()), default=None)
    return PartCounts(top, below, unknown_parts.count(kinds, shown, everything), stalled, since)


def text(counted: KindCount) -> str:
    """`5: 3 Running, 2 Failed`; of several facets one after the other."""
    facets = (
        ", ".join(f"{number:,} {state}" for state, number in Counter(states).most_common())
        for states in counted["facets"].values()
    )
    return f"{counted['count']:,}: {' / '.join(facets)}"
