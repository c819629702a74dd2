"""Labels of states: what consoles call a state, and whether pods may be scheduled there.

The rules are in docs/spec/reading-the-tables.md, section Labels.
Belongs here: choosing the label of a state with several conditions. Does not: the labels (the table of each kind).
"""

from collections.abc import Iterable
from functools import cache

from phaseline.machines.compiler.conditions import own_condition
from phaseline.machines.compiler.kinds import Kind, Kinds
from phaseline.machines.language.language_tags import ENGLISH, text_in
from phaseline.machines.language.table import ABSENT, DELETED, Facet, Label
from phaseline.schemas.records import State

Language = str
"""The tag of a language, such as `en`, `zh` or `pt-BR` (`language_tags`)."""

ENDS = {
    ABSENT: Label(ABSENT, "", "Unknown", {"zh": "未知"}),
    DELETED: Label(DELETED, "", "Deleted", {"zh": "已删除"}),
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


@cache
def label_of(where: Kind | Facet, state: State, language: Language = ENGLISH) -> str:
    """What a console calls `state`: the label of the first facet that has one, or else the phase.

    A label that has no text in this language is in English.
    """
    return next(filter(None, (_text(facet, state, language) for facet in facets_of(where))), state.phase)


def _text(facet: Facet, state: State, language: Language) -> str | None:
    fitting = label(facet, state)
    return None if fitting is None else text_in({ENGLISH: fitting.en, **fitting.others}, language) or fitting.en


def languages(kinds: Iterable[Kind]) -> tuple[Language, ...]:
    """The languages of the labels of these kinds: English, then the others by name."""
    labels = (label for kind in kinds for facet in kind.table.facets for label in facet.labels)
    return (ENGLISH, *sorted({tag for label in labels for tag in label.others}))


@cache
def schedulable(facet: Facet, state: State) -> bool | None:
    """Whether new pods may be scheduled there; every condition must allow it. None if no label of the facet says so."""
    allowed = {(one.phase, one.condition): one.schedulable for one in facet.labels}
    if all(value is None for value in allowed.values()):
        return None
    return bool(state.conditions) and all(allowed.get((state.phase, condition)) for condition in state.conditions)


def facets_of(where: Kind | Facet) -> tuple[Facet, ...]:
    """The facets of a kind, or the given facet alone."""
    return (where,) if isinstance(where, Facet) else where.table.facets


def facet_named(kinds: Kinds, kind: str, name: str) -> Facet | None:
    """The facet of that name, where its kind is installed here."""
    known = kinds.get(kind)
    for facet in known.table.facets if known is not None else ():
        if facet.name == name:
            return facet
    return None
