"""Computes states and tallies from bases and attributes alone, in the slow and obvious way.

Belongs here: that computation, for any kinds. Does not: comparing its results (`laws`).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from phaseline.engine.core.tree import Tree
from phaseline.machines.language.predicates import OUT
from phaseline.machines.language.table import ABSENT, DELETED, OK, STALLED, View
from phaseline.schemas.records import FacetState, State


class RecomputedEntity(NamedTuple):
    """An entity as predicates see it."""

    facets: Sequence[FacetState]
    attributes: Mapping[str, Any]


class Recomputed:
    """All states of a tree, computed again: every view of every entity, repeated until no state changes."""

    def __init__(self, tree: Tree) -> None:
        """Compute all states; raises `AssertionError` if they do not settle."""
        self.kinds, self.scripts = tree.kinds, tree.scripts
        self.bases = {
            (kind, entity_id): (tuple(f.base for f in entity.facets), entity.attributes)
            for kind, found in tree.entities.items()
            for entity_id, entity in found.items()
        }
        self.states = {key: list(bases) for key, (bases, _) in self.bases.items()}
        rounds = 0
        while self._round():
            rounds += 1
            if rounds > len(self.states) + 2:
                raise AssertionError("the views do not settle: each round of computing them changes another state")

    def above(self, entity_id: str, kind: str) -> RecomputedEntity | None:
        """The ancestor of that kind; None if it is unknown."""
        key = (kind, "/".join(entity_id.split("/")[: len(self.kinds[kind].table.id)]))
        if key not in self.bases:
            return None
        bases, attributes = self.bases[key]
        return RecomputedEntity([FacetState(b, s, 0) for b, s in zip(bases, self.states[key], strict=True)], attributes)

    def tally(
        self, entity_id: str, kind: str, below: str, facet: int, has: str | None = None, lacks: str | None = None,
        inside: tuple[str, ...] | None = None,
    ) -> Mapping[str, int]:  # fmt: skip
        """How many descendants are in which phase, counted one by one."""
        assert entity_id.count("/") + 1 == self.kinds[kind].arity
        counts: dict[str, int] = defaultdict(int)
        for (of, found), states in self.states.items():
            if of == below and found.startswith(f"{entity_id}/") and states[facet].phase != ABSENT:
                phase, conditions = states[facet]
                left_out = inside is not None and phase in (*inside, DELETED)
                phase = phase if inside is None else OUT
                counts[phase] += has in (None, *conditions) and lacks not in conditions and not left_out
        return {phase: count for phase, count in counts.items() if count}

    def _round(self) -> bool:
        changed = False
        for (kind, entity_id), (bases, _) in self.bases.items():
            for index, facet in enumerate(self.kinds[kind].table.facets):
                found = self._state(facet.views, bases[index], entity_id)
                changed = changed or found != self.states[kind, entity_id][index]
                self.states[kind, entity_id][index] = found
        return changed

    def _state(self, views: tuple[View, ...], base: State, entity_id: str) -> State:
        for view in views:
            covers = (not view.base or base.phase in view.base) and base.phase not in (*view.unless, ABSENT, DELETED)
            if covers and all(seen.holds(self, entity_id) for seen in view.while_):
                return State(view.to, self._conditions(views, view, base))
        return base

    def _conditions(self, views: tuple[View, ...], view: View, base: State) -> tuple[str, ...]:
        if isinstance(view.keeps, tuple):
            kept = tuple(c for c in base.conditions if c in view.keeps)
        else:
            kept = tuple(c for c in base.conditions if c != OK) if view.keeps and base.phase == view.to else ()
        if view.condition is not None and view.condition != OK:
            return kept if view.condition in kept else (*kept, view.condition)
        facet = next(f for kind in self.kinds.values() for f in kind.table.facets if f.views is views)
        own = [
            found.condition
            for found in facet.labels
            if found.phase == view.to and found.condition not in (STALLED, *facet.sticky)
        ]
        return kept or (
            () if None in own else (OK,) if OK in own else tuple(c for c in own if c) if len(own) == 1 else ()
        )
