"""One facet, compiled: its steps by trigger and phase, and the view that shows over a base.

`FacetMachine` builds a machine of the library transitions from the facet, and reads it back as a lookup. A test takes
the machine through every state and trigger, and compares the results with the lookup.
Belongs here: `Step` (a row from one phase to one phase), `Candidates`, `FacetMachine`. Does not: the library
(`library_machine`), which step an event takes (`kinds`), the conditions after it (`conditions`).
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple, cast

import msgspec

from phaseline.machines.compiler.conditions import (
    accumulated_conditions,
    as_told,
    base_after,
    phases_of,
    returns,
    stands_alone,
    starts_of,
    state_shown,
    still_stalled,
    without_stalled,
)
from phaseline.machines.language.predicates import Predicate, Scene, or_list
from phaseline.machines.language.sources import Live, source_text
from phaseline.machines.language.table import ABSENT, DELETED, FROM_DATA, SAME, At, Facet, Row, Table, View
from phaseline.schemas.records import NONE, FacetState, State, state

INTERRUPTED = "interrupted"
"""The field of data that names the phase which causes interrupted, where data names the base."""


class Step(msgspec.Struct, eq=False):
    """A row from one phase to one phase.

    row, facet: the row, and the facet that it belongs to. source, dest: the phases.
    start: the row's source, narrowed to this phase.
    last: if the row may clear the last accumulated condition, it has two steps: True for the one that clears the last
        condition, False for the one that leaves another; None for all other steps.
    over: a phase to whose interruption the step that clears the last condition puts an end; None for the healthy one.
    results: the base after the step, by the base before it. Filled as bases are asked for.
    plain: whether the step fits in its phase always, whatever the conditions and the data are.
    asks_data: whether it fits in its phase if the data has what the row asks for, whatever the conditions are.
    clears: the conditions that the row clears. others: the other accumulated conditions.
    """

    row: Row
    facet: Facet
    source: str
    dest: str
    start: At
    last: bool | None = None
    over: str | None = None
    results: dict[State, State] = msgspec.field(default_factory=dict)
    plain: bool = False
    asks_data: bool = False
    clears: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        start, row = self.start, self.row
        narrow = start.has or start.base or start.lacks or row.to == FROM_DATA or self.last is not None
        self.plain, self.asks_data = not narrow and not row.given, not narrow and bool(row.given)
        self.clears = frozenset(row.clears)
        self.others = accumulated_conditions(self.facet) - self.clears

    def fits(self, judged: State, base: State, data: Mapping[str, Any], interrupted: str | None = None) -> bool:
        """Whether the step can be taken, guards aside. `judged`: the state for an intent, else the base.

        interrupted: the phase that causes interrupted.
        """
        if self.plain:
            return True
        if self.asks_data:
            return self.has_given(data)
        start, row = self.start, self.row
        if row.given and not self.has_given(data):  # first, because it tells most rows of a trigger apart
            return False
        if start.has is not None and start.has not in judged.conditions:
            return False
        if start.base is not None and start.base != base.phase:
            return False
        if start.lacks and any(c in judged.conditions for c in start.lacks):
            return False
        if row.to == FROM_DATA:
            return bool(data.get("phase") == self.dest)
        if self.last is None or self.last != self._clears_last(base):
            return self.last is None
        return not self.last or self.dest == returns(self.facet).get(interrupted or "", self.facet.healthy)

    def failed_guard(self, scene: Scene, entity_id: str) -> Predicate | None:
        """The first guard of the row that does not hold; None if all hold."""
        for guard in self.row.when:
            if not guard.holds(scene, entity_id):
                return guard
        return None

    def is_offered(self, judged: State, base: State, interrupted: str | None = None) -> bool:
        """Whether the step fits with some data, guards aside."""
        return self.plain or self.fits(judged, base, {**self.row.given, "phase": self.dest}, interrupted)

    def reports(self, base: State, data: Mapping[str, Any]) -> bool:
        """Whether the base is already what the row, with this data, reports: its target, or nothing left to clear."""
        row = self.row
        if not self.has_given(data):
            return False
        if row.clears:
            home = self.dest if self.over is None else self.source
            return base.phase in (self.source, home) and not any(c in base.conditions for c in row.clears)
        if row.to == FROM_DATA:
            told = as_told(base).conditions
            named = without_stalled(data.get("conditions") or ()) or told
            return data.get("phase") == base.phase and sorted(named) == sorted(told)
        return self.dest == base.phase and (row.condition is None or row.condition in base.conditions)

    def has_given(self, data: Mapping[str, Any]) -> bool:
        """Whether the data has the values that the row asks for."""
        for name, value in self.row.given.items():  # noqa: SIM110  # twice as fast
            if data.get(name) != value:
                return False
        return True

    def _clears_last(self, base: State) -> bool:
        standing = base.conditions
        return self.others.isdisjoint(standing) and not self.clears.isdisjoint(standing)

    def result(self, base: State, data: Mapping[str, Any]) -> State:
        """The base after this step."""
        if self.row.to == FROM_DATA:
            given = data.get("conditions")
            named = None if given is None else without_stalled(given)
            if named or (named is not None and stands_alone(self.facet, self.dest)):
                return still_stalled(base, state(self.dest, named))
            return still_stalled(base, base_after(self.facet, self.row, base, self.dest))
        after = self.results.get(base)
        if after is None:
            stays = self.row.to == SAME and not self.last
            after = self.results[base] = base_after(self.facet, self.row, base, base.phase if stays else self.dest)
        return after


class Candidates(NamedTuple):
    """The steps to try, in the order of the table.

    field: what the first row asks of the data, and most of the others; empty if the first row asks for nothing.
    by_value: by the value of that field, the steps that can fit. others: those that can for any other value.
    """

    steps: tuple[Step, ...]
    field: str
    by_value: Mapping[Any, tuple[Step, ...]]
    others: tuple[Step, ...]

    @classmethod
    def of(cls, steps: tuple[Step, ...]) -> "Candidates":
        """The lookup for these steps."""
        field = _most_asked(steps) if len(steps) > 1 and steps[0].row.given else ""
        if not field:
            return cls(steps, "", {}, steps)
        values = {step.row.given[field] for step in steps if field in step.row.given}
        by_value = {value: tuple(one for one in steps if one.row.given.get(field, value) == value) for value in values}
        return cls(steps, field, by_value, tuple(one for one in steps if field not in one.row.given))

    def for_data(self, data: Mapping[str, Any]) -> tuple[Step, ...]:
        """The steps that can fit if the event has this data."""
        value = data.get(self.field)
        try:
            return self.by_value.get(value, self.others)
        except TypeError:  # a list or a map, which no row asks for
            return self.others


NO_CANDIDATES = Candidates((), "", {}, ())


def candidates_of(by_phase: Mapping[str, tuple[Step, ...]]) -> Mapping[str, Candidates]:
    """The lookups for the steps of a trigger, by phase."""
    return {phase: Candidates.of(steps) for phase, steps in by_phase.items()}


def _most_asked(steps: Sequence[Step]) -> str:
    """The field that the most rows ask for; empty if one of them asks for a list or a map there."""
    [(field, _)] = Counter(name for step in steps for name in step.row.given).most_common(1)
    return field if all(isinstance(step.row.given.get(field), Hashable) for step in steps) else ""


class Model(msgspec.Struct):
    """The object whose phase the machine changes when an event is given to it."""

    state: str


class FacetMachine:
    """One facet, compiled.

    steps: by trigger and phase, the steps to try, in the order of the table.
    returns: the phases that come back after an interruption, each with the phase to which it returns.
    views: by phase of the base, the views to try, in the order of the table. views_say: whether a view has a message.
    """

    def __init__(self, facet: Facet) -> None:
        """Build the machine from the facet, and read the lookup back from it."""
        self.facet = facet
        self.returns = returns(facet)
        self.phases = phases_of(facet)
        from phaseline.machines.compiler.library_machine import Arrow, StepMachine  # noqa: PLC0415  # as it says

        self.machine = StepMachine(
            model=None, states=list(self.phases), initial=facet.begins, auto_transitions=False, send_event=True
        )
        for row in facet.rows:
            for step in steps_of(facet, row, self.phases):
                self.machine.add_step(step)
        self.steps: dict[str, dict[str, tuple[Step, ...]]] = {
            trigger: {
                source: tuple(cast("Arrow", arrow).step for arrow in arrows)
                for source, arrows in event.transitions.items()
            }
            for trigger, event in self.machine.events.items()
        }
        self.views = {
            phase: tuple(
                view
                for view in facet.views
                if (phase in view.base or not view.base) and phase not in (*view.unless, ABSENT, DELETED)
            )
            for phase in self.phases
        }
        self.views_say = any(view.message_from is not None for view in facet.views)

    def interrupted(self, before: FacetState, after: State, data: Mapping[str, Any] = NONE) -> str | None:
        """The phase that causes interrupted, after a base has followed on that of `before`.

        data: what the trigger brought. Where it names the base, it may name this phase too.
        """
        if not self.returns or after.phase != self.facet.accumulates_in:
            return None
        if (named := data.get(INTERRUPTED)) in self.phases:
            return str(named) if named in self.returns else None
        if before.base.phase == after.phase:
            return before.interrupted
        return before.base.phase if before.base.phase in self.returns else None

    def shown(self, base: State, scene: Scene, entity_id: str) -> State:
        """The state over a base: what the first view that fits shows, or else the base itself."""
        try:
            views = self.views[base.phase]
        except KeyError:  # a phase that only an earlier table had
            return base
        view = self.shown_view(base, scene, entity_id) if views else None
        return base if view is None else state_shown(self.facet, view, base)

    def shown_view(self, base: State, scene: Scene, entity_id: str) -> View | None:
        """The first view that fits the base and whose predicates all hold; None if the base itself shows."""
        for view in self.views[base.phase]:
            for predicate in view.while_:
                if not predicate.holds(scene, entity_id):
                    break
            else:
                return view
        return None


def starts_of_trigger(table: Table, trigger: str) -> str:
    """The states from which a trigger has rows: `Running, Failed or Stopped`. What data must ask for does not count."""
    rows = [row for facet in table.facets for row in facet.rows if row.trigger == trigger]
    plain = [row for row in rows if True not in row.given.values()]
    sources = [source for row in plain or rows for source in row.source]
    sources.sort(key=lambda source: isinstance(source, Live))  # whose exceptions would else seem to go on
    return or_list(tuple(dict.fromkeys(map(source_text, sources))))


def steps_of(facet: Facet, row: Row, phases: tuple[str, ...]) -> list[Step]:
    """The steps of a row: one for each phase of its sources, two if it may clear the last accumulated condition."""
    starts = [at for start in row.source for at in starts_of(start, phases)]
    if row.to == FROM_DATA:
        return [
            Step(row, facet, at.phase, dest, at) for at in starts for dest in phases if dest not in (ABSENT, DELETED)
        ]
    steps: list[Step] = []
    back = {facet.healthy: None, **{to: phase for phase, to in returns(facet).items()}}
    for at in starts:
        source = at.phase
        if (
            row.to == SAME
            and row.clears
            and source == facet.accumulates_in
            and accumulated_conditions(facet).intersection(row.clears)
        ):
            steps += (Step(row, facet, source, to, at, last=True, over=phase) for to, phase in back.items())
            steps.append(Step(row, facet, source, source, at, last=False))
        else:
            steps.append(Step(row, facet, source, source if row.to == SAME else row.to, at))
    return steps
