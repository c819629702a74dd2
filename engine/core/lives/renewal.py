"""A new life over a living one: another thing has taken the place of the one that was there. Pure.

Belongs here: what such a life begins with, and what ends with the one before. Does not: when it begins (`judging`),
its records (`core.transitions`).
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from msgspec.structs import replace

from phaseline.engine.core.changeset import Changeset
from phaseline.engine.core.lives.memory import of_scheme
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.compiler.reports import observed_attributes
from phaseline.machines.language.brake import BRAKE
from phaseline.machines.language.contact import HEARD_AT, SILENCE_AFTER, SILENCE_BELOW
from phaseline.machines.language.deadlines import DEADLINE
from phaseline.machines.language.endings import END, SHOWS
from phaseline.schemas.records import Entity, FacetState

SETTINGS = frozenset({HEARD_AT, SILENCE_AFTER, SILENCE_BELOW, BRAKE, DEADLINE})
"""The attributes that belong to the place: they stay, whoever set them."""


def blank(kind: Kind, entity: Entity) -> Entity:
    """An entity as the event finds it with which another thing takes its place: nothing of it has begun."""
    own = kind.unborn[: kind.contact]
    return replace(entity, facets=(*own, *entity.facets[len(own) :]), asked=0)


def lasting(kind: Kind, attributes: Mapping[str, Any]) -> Mapping[str, Any]:
    """The attributes with which the next life begins: those that requests set."""
    kept = {name: value for name, value in attributes.items() if _lasts(kind, name)}
    return {**kind.attributes, **kept}


@lru_cache(maxsize=4096)
def _lasts(kind: Kind, name: str) -> bool:
    """Whether an attribute belongs to what was asked for. What rules compute of requests is not told apart."""
    if name in SETTINGS:
        return True
    rows = [row for facet in kind.table.facets for row in facet.rows if kind.roles[row.trigger] == "intent"]
    if any(name in kind.table.assigned(row) for row in rows):
        return True
    computed = any(row.computes is not None for row in rows)
    return computed and name not in (END, SHOWS, *observed_attributes(kind.table))


def take_over(changeset: Changeset, kind: Kind, entity_id: str, uid: str) -> None:
    """Let another thing take the place of a living one: what lives below that one ends.

    The last request stays known, so that a late answer to it is told from one that is not.
    """
    change = changeset.change(kind.name, entity_id)
    change.replaced = of_scheme(change.memory, uid)
    for index, facet in enumerate(kind.unborn[: kind.contact]):
        old = change.facets[index]
        change.facets[index] = FacetState(facet.base, old.state, old.since_ns)
    changeset.end_below(kind.name, entity_id)
