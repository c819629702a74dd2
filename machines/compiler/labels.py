"""Labels of states: what consoles call a state, and whether pods may be scheduled there.

The rules are in docs/spec/reading-the-tables.md, section Labels.
Belongs here: choosing the label of a state with several conditions. Does not: the labels (the table of each kind).
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
"""The labels of the two phases that every facet has and no table labels."""


@cache
def label(facet: Facet, state: State) -> Label | None:
    """The label of `state`, or None.

    It is the label of the first condition in the facet's `order`, else of the first in order of arrival, else of the
    phase's own condition.
    """
    labels = {one.condition: one for one in facet.labels if one.phase == state.phase}
    ordered = [condition for condition in facet.order if condition in state.conditions]
    for condition in (*ordered, *state.conditions, own_condition(facet, state.phase)):
        if condition in labels:
            return labels[condition]
    return ENDS.get(state.phase)


def label_of(where: Kind | Facet, state: State, language: Language = "en") -> str:
    """What a console calls `state`: the label of the first facet that has one, or else the phase."""
    for facet in facets_of(where):
        fitting = label(facet, state)
        if fitting is not None:
            return fitting.zh if language == "zh" else fitting.en
    return state.phase


def schedulable(facet: Facet, state: State) -> bool | None:
    """Whether new pods may be scheduled there; every condition must allow it. None if no label of the facet says so."""
    allowed = {(one.phase, one.condition): one.schedulable for one in facet.labels}
    if all(value is None for value in allowed.values()):
        return None
    return bool(state.conditions) and all(allowed.get((state.phase, condition)) for condition in state.conditions)


def facets_of(where: Kind | Facet) -> tuple[Facet, ...]:
    """The facets of a kind, or the given facet alone."""
    return (where,) if isinstance(where, Facet) else where.table.facets
