"""The class of an entity, and since when it is in it: the worst class of its facets and of its signals.

Belongs here: reading both from an entity. Does not: the class of one state (`state_classes`), noting since when
(`engine.core.memory.class_stays`).
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from phaseline.machines.compiler.classes.state_classes import REMEMBERED, class_of
from phaseline.machines.compiler.kinds import Kind, Kinds
from phaseline.machines.compiler.labels import facet_named
from phaseline.machines.language.endings import state_for_people
from phaseline.machines.language.table import CLASSES, DELETED, StateClass
from phaseline.schemas.records import Entity, FacetState, State, Transition

BEGINS: tuple[StateClass, ...] = ("bad", "unknown")
"""The classes that one facet brings to an entity. It is in another one when no facet has these any more."""

Name = tuple[str, str]
"""A kind and an id."""


class Unwell(NamedTuple):
    """An entity that is bad or excused: its last record, its class, and since when it is in it, ns."""

    record: Transition
    state_class: StateClass
    since_ns: int

    @property
    def name(self) -> Name:
        """Its kind and id."""
        return self.record.entity.kind, self.record.entity.id


def class_in(kinds: Kinds, kind: str, facet: str, state: State) -> StateClass:
    """The class of a state of a kind; `unknown` where the kind is not installed here."""
    found = facet_named(kinds, kind, facet)
    return "unknown" if found is None else class_of(found, state)


def class_of_entity(kinds: Kinds, entity: Entity) -> StateClass:
    """The class of an entity; `unknown` where its kind is not installed here."""
    kind = kinds.get(entity.kind)
    return "unknown" if kind is None else class_of_facets(kind, kind.whole(entity).facets, entity.attributes)


def class_since(kinds: Kinds, entity: Entity) -> int:
    """Since when an entity is in its class, ns. It may have changed its states meanwhile."""
    kind = kinds.get(entity.kind)
    if kind is None:
        return max(facet.since_ns for facet in entity.facets)
    whole = kind.whole(entity)
    return since_of(kind, whole, class_of_facets(kind, whole.facets, whole.attributes))


def since_of(kind: Kind, entity: Entity, state_class: StateClass) -> int:
    """Since when an entity is in this class, which is its own, ns."""
    stay = None if entity.memory is None else entity.memory.stay
    if stay is not None and stay.state_class == state_class:
        return stay.since_ns
    return shown_since(kind, entity.facets, state_class)


def class_of_facets(kind: Kind, facets: Sequence[FacetState], attributes: Mapping[str, Any]) -> StateClass:
    """The worst class of an entity's facets, and of signals that are bad. Of a life that is over, the first facet's."""
    tables, first = kind.table.facets, facets[0].state
    if first.phase == DELETED:
        return class_of(tables[0], state_for_people(first, attributes))
    if kind.own == 1 and not _signals(kind, facets):
        return class_of(tables[0], first)
    return _worst(kind, tuple([one.state for one in _counting(kind, facets)]))


@lru_cache(maxsize=REMEMBERED)
def _worst(kind: Kind, states: tuple[State, ...]) -> StateClass:
    """The worst class of the states of the first facets."""
    return min(map(class_of, kind.table.facets, states), key=CLASSES.index)


def _signals(kind: Kind, facets: Sequence[FacetState]) -> bool:
    """Whether a signal stands that makes an entity bad. Others only stand beside its state."""
    if kind.signals is None or not facets[kind.signals].since_ns:
        return False
    return class_of(kind.table.facets[kind.signals], facets[kind.signals].state) in BEGINS


def _counting(kind: Kind, facets: Sequence[FacetState]) -> Sequence[FacetState]:
    """The facets that decide the class of an entity."""
    return facets[: kind.own + 1 if _signals(kind, facets) else kind.own]


def follows_first(kind: Kind, facets: Sequence[FacetState]) -> bool:
    """Whether the first facet alone says since when an entity is in its class, unless its memory does."""
    return facets[0].state.phase == DELETED or len(_counting(kind, facets)) == 1


def shown_since(kind: Kind, facets: Sequence[FacetState], state_class: StateClass) -> int:
    """Since when an entity is in its class, as far as its present states tell, ns.

    Of several facets, the first one with a bad class began it; in a better class it is since the last one is well.
    """
    if facets[0].state.phase == DELETED or (kind.own == 1 and not _signals(kind, facets)):
        return facets[0].since_ns
    counting = _counting(kind, facets)
    if state_class in BEGINS:
        pairs = zip(kind.table.facets, counting, strict=False)
        found = [one.since_ns for table, one in pairs if one.since_ns and class_of(table, one.state) == state_class]
        if found:
            return min(found)
    return max([one.since_ns for one in counting])
