"""The map of states of one facet, compiled: which states the facet has, and where a base goes that it has no longer.

A facet has a base if rows lead to its phase, and to each of its conditions in this phase. Which conditions stand
together does not matter: rows clear them one by one.
Belongs here: these two questions. Does not: whether the lines make sense (`check_lines`), moving entities
(`engine.core.tables_change`).
"""

from collections.abc import Collection, Iterable
from functools import lru_cache

from phaseline.machines.compiler.conditions import base_after, state_shown
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.compiler.machine import FacetMachine
from phaseline.machines.language.table import ABSENT, DELETED, SAME, Retired, Row
from phaseline.schemas.records import State

TRIGGER = "tables_changed"
"""The trigger of the transitions that a map of states makes."""
Standing = dict[str, set[str | None]]
"""By phase, the conditions that can stand in it; None if it can stand without any."""


class FacetStates:
    """What one facet of a kind does with the bases of earlier tables."""

    def __init__(self, machine: FacetMachine, bases: Collection[State]) -> None:
        """bases: those that rows of this table lead to, and those that an entity can have otherwise."""
        self._machine, self._bases = machine, bases
        self.lines = machine.facet.retired
        self._has = _standing(bases)
        self._shows: Standing | None = None
        self._targets: dict[State, State | None] = {}

    def has(self, base: State) -> bool:
        """Whether the facet has a base."""
        return _stands(base, self._has)

    def shows(self, state: State) -> bool:
        """Whether the facet can show a state: it is a base, or a view shows it."""
        if self._shows is None:
            views = self._machine.views
            shown = (state_shown(self._machine.facet, view, one) for one in self._bases for view in views[one.phase])
            self._shows = _standing([*self._bases, *shown])
        return _stands(state, self._shows)

    def target(self, base: State) -> State | None:
        """Where a base goes: itself, if the facet has it; None if no line says where."""
        if base not in self._targets:
            self._targets[base] = self._followed(base)
        return self._targets[base]

    def _followed(self, base: State) -> State | None:
        """The base at the end of the lines that lead on from this one."""
        for _ in range(len(self.lines) + len(base.conditions) + 1):
            if self.has(base):
                return base
            line = self.line_for(base)
            if line is None:
                return None
            base = self._after(line, base)
        return None

    def missing(self, base: State) -> str:
        """The line to write for a base that goes nowhere."""
        known = self._has.get(base.phase)
        gone = next((c for c in base.conditions if known is not None and c not in known), None)
        has = "" if gone is None else f", has={gone!r}"
        return f"retired=(Retired({base.phase!r}, to=...{has}),) in the facet {self._machine.facet.name}"

    def line_for(self, base: State) -> Retired | None:
        """The line for a base that the facet has not: one for its phase with a condition comes before one without."""
        known = self._has.get(base.phase)
        for line in self.lines:
            if line.phase == base.phase and line.has in base.conditions and (known is None or line.has not in known):
                return line
        fits = (line for line in self.lines if line.phase == base.phase and line.has is None)
        return next(fits, None) if known is None else None

    def _after(self, line: Retired, base: State) -> State:
        """The base after a line. A condition goes alone where its phase stays, or where others hold the phase."""
        facet, gone = self._machine.facet, () if line.has is None else (line.has,)
        held = [c for c in base.conditions if c != line.has and c in self._has.get(base.phase, ())]
        stays = line.to == base.phase or (base.phase == facet.accumulates_in and bool(held))
        if stays and line.has is not None:
            arriving = line.condition if line.to == base.phase else None
            return base_after(facet, Row((base.phase,), TRIGGER, SAME, clears=gone, sets=arriving), base, base.phase)
        row = Row((base.phase,), TRIGGER, line.to, condition=line.condition, clears=gone)
        return base_after(facet, row, base, line.to)


def _standing(bases: Iterable[State]) -> Standing:
    found: Standing = {}
    for base in bases:
        found.setdefault(base.phase, set()).update(base.conditions or (None,))
    return found


def _stands(base: State, standing: Standing) -> bool:
    if base.phase in (ABSENT, DELETED):
        return True
    known = standing.get(base.phase, set())
    return known.issuperset(base.conditions) if base.conditions else None in known


@lru_cache(maxsize=1_000)
def facet_states(kind: Kind) -> tuple[FacetStates, ...]:
    """The maps of the facets of a kind."""
    return tuple(
        FacetStates(machine, bases | {adopted} if adopted.phase in machine.phases else bases)
        for machine, bases, adopted in zip(kind.machines, kind.bases, kind.adopted, strict=True)
    )
