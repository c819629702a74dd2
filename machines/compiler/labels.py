"""What consoles call a state, and whether pods may be scheduled there (docs/spec/reading-the-tables.md, Labels).

Belongs here: choosing one label where several conditions stand. Does not: the labels themselves (each kind's table).
"""

from functools import cache
from typing import Literal

from phaseline.machines.compiler.conditions import own_condition
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.language.table import ABSENT, DELETED, Facet, Label
from phaseline.schemas.records import State

Language = Literal["zh", "en"]
LANGUAGES: tuple[Language, ...] = ("zh", "en")

ENDS = {
    ABSENT: Label(ABSENT, "", "未知", "Unknown"),
    DELETED: Label(DELETED, "", "已删除", "Deleted"),
}
"""The two phases that every machine has and no table labels."""


@cache
def label(facet: Facet, state: State) -> Label | None:
    """The label of `state`: its first condition's in the facet's `order`, else in order of arrival, else the phase's own."""
    labels = {found.condition: found for found in facet.labels if found.phase == state.phase}
    ordered = [condition for condition in facet.order if condition in state.conditions]
    for condition in (*ordered, *state.conditions, own_condition(facet, state.phase)):
        if condition in labels:
            return labels[condition]
    return ENDS.get(state.phase)


def label_of(where: Kind | Facet, state: State, language: Language = "en") -> str:
    """What a console calls `state`; the bare phase where no label fits. For a kind: by its first facet that knows it."""
    for facet in facets_of(where):
        found = label(facet, state)
        if found is not None:
            return found.zh if language == "zh" else found.en
    return state.phase


def schedulable(facet: Facet, state: State) -> bool | None:
    """Whether new pods may go there: every condition must allow it. None where the facet's labels never speak of it."""
    allowed = {(found.phase, found.condition): found.schedulable for found in facet.labels}
    if all(found is None for found in allowed.values()):
        return None
    return bool(state.conditions) and all(allowed.get((state.phase, condition)) for condition in state.conditions)


def facets_of(where: Kind | Facet) -> tuple[Facet, ...]:
    """The facets of a kind, or the one given."""
    return (where,) if isinstance(where, Facet) else where.table.facets
