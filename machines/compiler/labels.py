"""What consoles say of a state: its label, what to do about it, whether pods may be scheduled there, its own message.

The rules are in docs/spec/reading-the-tables.md, section Labels.
Belongs here: choosing the label of a state with several conditions, and the attribute that says why it is so; names of
phases. Does not: the labels (the table of each kind), messages that name entities below (`engine.core.transitions`).
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

from phaseline.machines.compiler.conditions import aliases_of, own_condition
from phaseline.machines.compiler.kinds import Kind, Kinds
from phaseline.machines.language.endings import LABELS as OF_ENDS
from phaseline.machines.language.language_tags import ENGLISH, text_in
from phaseline.machines.language.predicates import AttributeIs
from phaseline.machines.language.signals import TOLD
from phaseline.machines.language.table import ABSENT, DELETED, Facet, Label, View
from phaseline.schemas.records import SIGNALS, FacetState, State
from phaseline.schemas.state_choice import LabelledStates

REMEMBERED = 10_000
"""The most states of which it is remembered what is said of them. The names of signals are open."""
Language = str
"""The tag of a language, such as `en`, `zh` or `pt-BR` (`language_tags`)."""

ENDS = {
    ABSENT: Label(ABSENT, "", "Unknown", {"zh": "未知"}),
    DELETED: Label(DELETED, "", "Deleted", {"zh": "已删除"}),
}
"""The labels of the two phases that every facet has and no table labels."""


@lru_cache(maxsize=REMEMBERED)
def label(facet: Facet, state: State) -> Label | None:
    """The label of `state`, or None.

    It is the label of the first condition in the facet's `order`, else of the first in order of arrival, else of the
    phase's own condition. Of a life whose end nobody saw, it is the one of that end (`endings.state_for_people`).
    """
    if state in OF_ENDS:
        return OF_ENDS[state]
    labels = {one.condition: one for one in facet.labels if one.phase == state.phase}
    ordered = [condition for condition in facet.order if condition in state.conditions]
    for condition in (*ordered, *state.conditions, own_condition(facet, state.phase)):
        if condition in labels:
            return labels[condition]
    return ENDS.get(state.phase)


@lru_cache(maxsize=REMEMBERED)
def label_of(where: Kind | Facet, state: State, language: Language = ENGLISH) -> str:
    """What a console calls `state`: the label of the first facet that has one, or else the phase.

    A label that has no text in this language is in English.
    """
    return next(filter(None, (_text(facet, state, language) for facet in facets_of(where))), state.phase)


def _text(facet: Facet, state: State, language: Language) -> str | None:
    if facet.name == SIGNALS and state.phase == TOLD and state.conditions:
        return ", ".join(signal_text(facet, name, language) for name in state.conditions)
    fitting = label(facet, state)
    return None if fitting is None else text_in({ENGLISH: fitting.en, **fitting.others}, language) or fitting.en


def signal_text(facet: Facet, name: str, language: Language = ENGLISH) -> str:
    """What a console calls a signal: its name, where the table knows no better."""
    found = next((one for one in facet.signal_names if one.name == name), None)
    return name if found is None else text_in({ENGLISH: found.en, **found.others}, language) or found.en


@lru_cache(maxsize=REMEMBERED)
def advice_of(where: Kind | Facet, state: State, language: Language = ENGLISH) -> str:
    """What to do about `state`, by the label of the first facet that has one; empty where nothing is to be done."""
    found = next(filter(None, (label(facet, state) for facet in facets_of(where))), None)
    return "" if found is None else text_in(found.advice, language) or found.advice.get(ENGLISH, "")


def phase_meant(kinds: Mapping[str, Kind], kind: str | None, name: str | None) -> str | None:
    """The phase that a name means, of a kind or of all: itself where a kind has it, else what it stands for."""
    among = [one for one in (kinds.values() if kind is None else (kinds.get(kind),)) if one is not None]
    if name is None or any(name in phases for one in among for phases in one.phases):
        return name
    found = (aliases_of(facet).get(name) for one in among for facet in one.table.facets)
    return next(filter(None, found), name)


def states_labelled(kinds: Mapping[str, Kind], kind: str | None, text: str) -> tuple[LabelledStates, ...]:
    """The states of a kind, or of all, that have this label in any language; none where it is the name of a phase."""
    wanted = text.strip().casefold()
    among = [one for one in (kinds.values() if kind is None else (kinds.get(kind),)) if one is not None]
    if any(text in phases for one in among for phases in one.phases):
        return ()
    found = (each for one in among for facet in one.table.facets for each in _labelled(facet, wanted))
    return tuple(dict.fromkeys(found))


def _labelled(facet: Facet, wanted: str) -> Iterator[LabelledStates]:
    for one in facet.labels:
        if wanted not in {text.casefold() for text in (one.en, *one.others.values())}:
            continue
        same = {other.condition for other in facet.labels if (other.phase, other.en) == (one.phase, one.en)}
        known = {other.condition for other in facet.labels if other.phase == one.phase and other.condition}
        before = facet.order[: facet.order.index(one.condition)] if one.condition in facet.order else facet.order
        unless = known.intersection(before) if one.condition else known
        yield LabelledStates(one.phase, one.condition or "", frozenset(unless - same))


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


def message_of(facet: Facet, kind: str, attributes: Mapping[str, Any], found: FacetState) -> str:
    """Why a facet is in its state, as far as the entity itself says so; empty if it does not.

    The facet's `message_from` is about the base. Where a view shows another state, its own counts, if the attributes
    that it asks of the entity are as it asks.
    """
    if found.state == found.base:
        name = facet.message_from
    else:
        fits = (view for view in facet.views if view.message_from and _may_show(view, kind, attributes, found))
        name = next((view.message_from for view in fits), None)
    message = None if name is None else attributes.get(name)
    return message if isinstance(message, str) else ""


def _may_show(view: View, kind: str, attributes: Mapping[str, Any], found: FacetState) -> bool:
    """Whether a view may be what shows the state. What it asks of other entities is not looked at."""
    if view.to != found.state.phase or found.base.phase in view.unless:
        return False
    if view.base and found.base.phase not in view.base:
        return False
    own = (asked for asked in view.while_ if isinstance(asked, AttributeIs) and asked.kind == kind)
    return all(_is(asked, attributes) for asked in own)


def _is(asked: AttributeIs, attributes: Mapping[str, Any]) -> bool:
    value = attributes.get(asked.name)
    if value is None and asked.or_of is not None:
        return True
    return value in asked.value if isinstance(asked.value, tuple) else value == asked.value
