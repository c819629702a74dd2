"""The class of an entity, and since when it is in it: the worst class of its facets, contact apart.

Belongs here: reading both from an entity. Does not: the class of one state (`state_classes`), noting since when
(`engine.core.memory.class_stays`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from phaseline.machines.compiler.classes.state_classes import class_of
from phaseline.machines.compiler.kinds import Kind, Kinds
from phaseline.machines.compiler.labels import facet_named
from phaseline.machines.language.endings import told
from phaseline.machines.language.state_classes import CLASSES, StateClass
from phaseline.machines.language.table import DELETED
from phaseline.schemas.records import Entity, FacetState, State

BEGINS: tuple[StateClass, ...] = ("bad", "unknown")
"""The classes that one facet brings to an entity. It is in another one when no facet has these any more."""


def class_in(kinds: Kinds, kind: str, facet: str, state: State) -> StateClass:
    """The class of a state of a kind; `unknown` where the kind is not installed here."""
    found = facet_named(kinds, kind, facet)
    return "unknown" if found is None else class_of(found, state)


def class_of_entity(kinds: Kinds, entity: Entity) -> StateClass:
    """The class of an entity; `unknown` where its kind is not installed here."""
    kind = kinds.get(entity.kind)
    return "unknown" if kind is None else class_of_facets(kind, entity.facets, entity.attributes)


def class_since(kinds: Kinds, entity: Entity) -> int:
    """Since when an entity is in its class, ns. It may have changed its states meanwhile."""
    kind = kinds.get(entity.kind)
    if kind is None:
        return max(facet.since_ns for facet in entity.facets)
    return since_of(kind, entity, class_of_facets(kind, entity.facets, entity.attributes))


def since_of(kind: Kind, entity: Entity, state_class: StateClass) -> int:
    """Since when an entity is in this class, which is its own, ns."""
    stay = None if entity.memory is None else entity.memory.stay
    if stay is not None and stay.state_class == state_class:
        return stay.since_ns
    return shown_since(kind, entity.facets, state_class)


def class_of_facets(kind: Kind, facets: Sequence[FacetState], attributes: Mapping[str, Any]) -> StateClass:
    """The worst class of the facets of an entity, `contact` apart. Once its life is over, the first facet says it."""
    tables, first = kind.table.facets, facets[0].state
    if first.phase == DELETED:
        return class_of(tables[0], told(first, attributes))
    own = facets[: kind.contact]
    if len(own) == 1:
        return class_of(tables[0], first)
    return min([class_of(table, one.state) for table, one in zip(tables, own, strict=False)], key=CLASSES.index)


def shown_since(kind: Kind, facets: Sequence[FacetState], state_class: StateClass) -> int:
    """Since when an entity is in its class, as far as its present states tell, ns.

    Of several facets, the first one with a bad class began it; in a better class it is since the last one is well.
    """
    own = facets[: kind.contact]
    if len(own) == 1 or own[0].state.phase == DELETED:
        return own[0].since_ns
    if state_class in BEGINS:
        pairs = zip(kind.table.facets, own, strict=False)
        found = [one.since_ns for table, one in pairs if one.since_ns and class_of(table, one.state) == state_class]
        if found:
            return min(found)
    return max(one.since_ns for one in own)
