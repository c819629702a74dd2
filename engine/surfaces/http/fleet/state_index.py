"""States as small numbers: each state of each facet of each kind gets one when it is first met.

Belongs here: the numbers, and what is said about each state. Does not: which entity is in which state (`fleet`).
"""

from typing import Any, NamedTuple

from phaseline.machines.compiler.classes.entity_classes import class_in
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.labels import facet_named, label_of, languages
from phaseline.machines.language.contact import FRESH, SILENT
from phaseline.machines.language.table import StateClass
from phaseline.schemas.records import CONTACT, SIGNALS, State

MOST = 10_000
"""The most states that are met before further signals that stand together are not told apart: names are open."""


class IndexedState(NamedTuple):
    """A state of a facet of a kind. labels: by language; empty where the kind is not installed here."""

    kind: str
    facet: str
    state: State
    state_class: StateClass
    labels: dict[str, str]

    @property
    def is_silent(self) -> bool:
        """Whether it says that nothing was heard of a place lately."""
        return self.facet == CONTACT and self.state.phase == SILENT

    @property
    def is_fresh(self) -> bool:
        """Whether it says that something was heard lately."""
        return self.facet == CONTACT and self.state.phase == FRESH

    def as_map(self) -> dict[str, Any]:
        """It, as answers show it."""
        return {
            "kind": self.kind, "facet": self.facet, "state": self.state.phase,
            "conditions": self.state.conditions, "class": self.state_class, "label": self.labels,
        }  # fmt: skip


class StateIndex:
    """The states that were met so far; `known` holds them by number."""

    def __init__(self, kinds: Kinds) -> None:
        self._kinds, self._languages = kinds, languages(kinds.values())
        self._numbers: dict[tuple[str, str, State], int] = {}
        self.known: list[IndexedState] = []

    def number(self, kind: str, facet: str, state: State) -> int:
        """The number of a state."""
        key = (kind, facet, state)
        found = self._numbers.get(key)
        if found is None and facet == SIGNALS and state.conditions and len(self.known) >= MOST:
            return self.number(kind, facet, State(state.phase))
        if found is None:
            found = self._numbers[key] = len(self.known)
            self.known.append(self._described(kind, facet, state))
        return found

    def _described(self, kind: str, facet: str, state: State) -> IndexedState:
        table = facet_named(self._kinds, kind, facet)
        labels = {} if table is None else {tag: label_of(table, state, tag) for tag in self._languages}
        return IndexedState(kind, facet, state, class_in(self._kinds, kind, facet, state), labels)
