"""The class of a state: what its label names, or else what follows from the table.

Belongs here: choosing the class of one state. Does not: entities (`entity_classes`).
"""

from functools import cache, lru_cache

from phaseline.machines.language.endings import LABELS as OF_ENDS
from phaseline.machines.language.signals import TOLD
from phaseline.machines.language.table import ABSENT, CLASSES, DELETED, OK, PROGRESSING, Facet, Label, StateClass
from phaseline.schemas.records import SIGNALS, State

REMEMBERED = 4_096
"""The most states of which the class is remembered."""
EXCUSED: StateClass = "excused"
"""The class of a signal of which a table says nothing."""


@lru_cache(maxsize=REMEMBERED)
def class_of(facet: Facet, state: State) -> StateClass:
    """The class of a state. Of those of several conditions, the worst one counts.

    What is Deleted and left behind is bad, where the state says so (`endings.state_for_people`).
    """
    if state.phase in (ABSENT, DELETED):
        ended = OF_ENDS.get(state)
        return (ended and ended.state_class) or ("gone" if state.phase == DELETED else "unknown")
    if facet.name == SIGNALS and state.phase == TOLD and state.conditions:
        known = {signal.name: signal.state_class for signal in facet.signal_names}
        return min((known.get(name, EXCUSED) for name in state.conditions), key=CLASSES.index)
    named = {(label.phase, label.condition): label.state_class for label in facet.labels}
    found: set[StateClass] = {
        named.get((state.phase, condition)) or derived(facet, state.phase, condition) or "unknown"
        for condition in state.conditions or (None,)
    }
    return min(found, key=CLASSES.index)


@cache
def has_phase(facet: Facet, phase: str) -> bool:
    """Whether the table knows a phase. What it does not know is of an earlier table, and so is its class."""
    return phase in (ABSENT, DELETED, facet.begins) or any(label.phase == phase for label in facet.labels)


def class_of_label(facet: Facet, label: Label) -> StateClass:
    """The class of the state that a label names."""
    return label.state_class or derived(facet, label.phase, label.condition) or "unknown"


def derived(facet: Facet, phase: str, condition: str | None) -> StateClass | None:
    """The class that follows from the table, where no label names one; None if nothing follows."""
    if phase == facet.accumulates_in:
        return "bad"
    if condition == PROGRESSING or phase in facet.pending_phases:
        return "busy"
    if phase == facet.healthy:
        return "good" if condition in (None, OK) else "excused"
    if condition is None:
        return None
    return "excused" if condition == OK else "bad"
