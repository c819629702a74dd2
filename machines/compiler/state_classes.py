"""The class of a state: good, busy, bad, excused, gone or unknown, as its table says, or as follows from the table.

Belongs here: choosing the class. Does not: the words (`language.state_classes`), the classes that tables name (the
table of each kind), labels (`labels`).
"""

from functools import lru_cache

from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.labels import REMEMBERED, facet_named
from phaseline.machines.language.beside.signals import TOLD
from phaseline.machines.language.endings import LABELS as OF_ENDS
from phaseline.machines.language.state_classes import CLASSES, StateClass
from phaseline.machines.language.table import ABSENT, DELETED, OK, PROGRESSING, Facet, Label
from phaseline.schemas.records import SIGNALS, State

EXCUSED: StateClass = "excused"
"""The class of a signal of which a table says nothing."""


def class_in(kinds: Kinds, kind: str, facet: str, state: State) -> StateClass:
    """The class of a state of a kind; `unknown` where the kind is not installed here."""
    found = facet_named(kinds, kind, facet)
    return "unknown" if found is None else class_of(found, state)


@lru_cache(maxsize=REMEMBERED)
def class_of(facet: Facet, state: State) -> StateClass:
    """The class of a state. Of those of several conditions, the worst one counts.

    What is Deleted and left behind is bad, where the state says so (`endings.told`).
    """
    if state.phase in (ABSENT, DELETED):
        ended = OF_ENDS.get(state)
        return (ended and ended.state_class) or ("gone" if state.phase == DELETED else "unknown")
    if facet.name == SIGNALS and state.phase == TOLD and state.conditions:
        known = {signal.name: signal.state_class for signal in facet.signal_names}
        return min((known.get(name, EXCUSED) for name in state.conditions), key=CLASSES.index)
    named = {(label.phase, label.condition): label.state_class for label in facet.labels}
    found = {
        named.get((state.phase, condition)) or derived(facet, state.phase, condition)
        for condition in state.conditions or (None,)
    }
    return min(found, key=CLASSES.index)


def class_of_label(facet: Facet, label: Label) -> StateClass:
    """The class of the state that a label names."""
    return label.state_class or derived(facet, label.phase, label.condition)


def derived(facet: Facet, phase: str, condition: str | None) -> StateClass:
    """The class that follows from the table, where no label names one."""
    if phase == facet.accumulates_in:
        return "bad"
    if condition == PROGRESSING or phase in facet.pending_phases:
        return "busy"
    if phase == facet.healthy:
        return "good" if condition in (None, OK) else "excused"
    if condition is None:
        return "unknown"
    return "excused" if condition == OK else "bad"
