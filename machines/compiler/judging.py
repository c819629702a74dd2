"""Judges one report: whether the state that a reporter saw is news, may be older than a request, or cannot be. Pure.

The rules are in docs/reports.md.
Belongs here: the verdict on one report, and what observations alone can lead to. Does not: the rows that a report then
takes (`reports`, `Kind.select`), which event is a report (`engine.core.reports`).
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from phaseline.machines.compiler.conditions import (
    ReportedBase,
    Scope,
    aliases_of,
    as_told,
    own_condition,
    without_stalled,
)
from phaseline.machines.compiler.machine import FacetMachine, Step
from phaseline.machines.compiler.reachability import in_order
from phaseline.machines.compiler.relations import ending
from phaseline.machines.compiler.reports import (
    ABOUT,
    CONDITIONS,
    PHASE,
    SEEN,
    UNREQUESTED,
    arriving,
    leaving,
    observed_attributes,
)
from phaseline.machines.language.predicates import Scene
from phaseline.machines.language.table import ABSENT, DELETED, FROM_DATA, REPORTED, Facet, Row, Table
from phaseline.schemas.records import FacetState, State, state

Verdict = Literal["taken", "same", "older", "stale", "impossible"]
"""taken: it becomes the base. same: it is already so. older: it may be older than the request that still waits.
stale: it may be older than the deletion. impossible: no row leads to it, and no view shows it now.
"""


class ReportVerdict(NamedTuple):
    """The verdict on a report. outcome: if it is taken, what it makes of the base."""

    verdict: Verdict
    outcome: ReportedBase | None = None


class PendingPhase(NamedTuple):
    """What becomes of reports while a base is in a pending phase, in words: `Failed with NotReady`, `other Failed`.

    taken: the states whose report is taken in any case. held: those whose report is held to be older than the request,
    unless the reporter has read the record of the request.
    """

    phase: str
    taken: tuple[str, ...]
    held: tuple[str, ...]


class ObservedBases(msgspec.Struct):
    """What observations alone lead to in one facet, by base. Filled as bases are asked for."""

    machine: FacetMachine
    rows: frozenset[Row]
    once: dict[State, frozenset[State]] = msgspec.field(default_factory=dict)
    ever: dict[State, frozenset[State]] = msgspec.field(default_factory=dict)

    def by_one(self, base: State) -> frozenset[State]:
        """The bases, conditions sorted, that one observation row leads to, guards and data aside."""
        found = self.once.get(base)
        if found is None:
            found = self.once[base] = frozenset(self._moves(base))
        return found

    def by_any(self, base: State) -> frozenset[State]:
        """The bases, conditions sorted, that observation rows lead to, none of them into Deleted.

        The walk ends in another pending phase: what follows there answers another request than the one that waits.
        """
        found = self.ever.get(base)
        if found is None:
            reached, queue, ends = set[State](), [base], {*self.machine.facet.pending_phases} - {base.phase}
            while queue:
                new = {one for one in self.by_one(queue.pop()) if one.phase != DELETED and one not in reached}
                reached |= new
                queue += [one for one in new if one.phase not in ends]
            found = self.ever[base] = frozenset(reached)
        return found

    def _moves(self, base: State) -> Iterator[State]:
        for by_phase in self.machine.steps.values():
            for step in by_phase.get(base.phase, ()):
                if step.row in self.rows and (found := _taken(step, base)) is not None:
                    yield in_order(found)


def _taken(step: Step, base: State) -> State | None:
    data = step.row.given
    return step.result(base, data) if step.row.to != FROM_DATA and step.fits(base, base, data) else None


class Judge:
    """Judges the reports on the entities of one kind. A report speaks of the kind's first facet."""

    def __init__(self, table: Table, machines: Sequence[FacetMachine], bases: Callable[[], Collection[State]]) -> None:
        """table: the completed table. machines: its facets, compiled. bases: those that can arise in the first one."""
        self.machine, self._bases = machines[0], bases
        facet = table.facets[0]
        self.attributes = observed_attributes(table)
        self.needs_phase = any(row.to == FROM_DATA for row in facet.rows)
        """Whether an item of a snapshot must name its phase. Else the kind works out its states by itself."""
        self.rows = {
            phase: tuple(step for step in steps if step.row.given.get(PHASE) is not None)
            for phase, steps in self.machine.steps.get(REPORTED, {}).items()
        }
        """By phase of the base, what rows say of the report of one phase: the table's own, and what ends a life."""
        self.aliases = aliases_of(facet)
        self.pending, self.arriving = frozenset(facet.pending_phases), frozenset(arriving(table, facet))
        self.scope = Scope(facet, leaving(table, facet), lambda base: in_order(base) in bases())
        wanted = _takes_back(table)
        self.observed = tuple(
            ObservedBases(machine, frozenset(row for row in each.rows if _observes(table, row) and row not in wanted))
            for machine, each in zip(machines, table.facets, strict=True)
        )

    def judge(
        self, facets: Sequence[FacetState], asked: int, data: Mapping[str, Any], scene: Scene, entity_id: str
    ) -> ReportVerdict:
        """The verdict on a report. `facets` and `asked` are those of the entity; `data` that of the report.

        A report without a phase says no more than that the entity is there.
        """
        facet, recent, phase = facets[0], (data.get(SEEN) or 0) >= asked, data.get(PHASE)
        phase = self.aliases.get(phase, phase) if isinstance(phase, str) else phase
        base = facet.base
        found = self._by_row(base, data, scene, entity_id)
        if found == base or (phase == DELETED and found is None):
            return ReportVerdict("same")
        if phase == DELETED:
            may_end = base.phase not in self.arriving or has_seen(data, asked)
            return ReportVerdict("taken", found and ReportedBase(found)) if may_end else ReportVerdict("older")
        if base.phase == DELETED and not recent:
            return ReportVerdict("stale")
        if phase is None:
            known = base.phase not in (ABSENT, DELETED)
            return ReportVerdict("same") if known else ReportVerdict("taken", ReportedBase(self.machine.facet.adopted))
        base, named = as_told(base), _named(data)
        if _is(base, phase, named) or _is(as_told(facet.state), phase, named):
            return ReportVerdict("same")
        stays = self.scope.left_alone(base, phase, named, data.get(ABOUT))
        wanted = self._outcome(phase, named, stays, lambda found: self.machine.shown(found, scene, entity_id))
        if wanted is None:
            return ReportVerdict("impossible")
        if in_order(wanted.base) == in_order(base) and not self._interrupts_anew(facet, wanted):
            return ReportVerdict("same")
        if base.phase in self.pending and not recent and in_order(wanted.base) not in self.observed[0].by_any(base):
            return ReportVerdict("older")
        return ReportVerdict("taken", wanted)

    def may_be_older(self, facet: FacetState, asked: int, trigger: str, data: Mapping[str, Any]) -> bool:
        """Whether an event that was not taken is a report of another state than the one that waits for an answer."""
        phase = data.get(PHASE)
        if trigger != REPORTED or facet.base.phase not in self.pending or phase is None or has_seen(data, asked):
            return False
        return self.aliases.get(phase, phase) not in (facet.base.phase, facet.state.phase)

    def _interrupts_anew(self, facet: FacetState, wanted: ReportedBase) -> bool:
        """Whether another phase than before comes back when the last of the causes is cleared that stay."""
        if wanted.interrupted is None:
            return False
        comes_back = wanted.interrupted if wanted.interrupted in self.machine.returns else None
        return comes_back != facet.interrupted

    def named_base(self, data: Mapping[str, Any]) -> State | None:
        """The base that a report names by itself, whatever views show; None if it cannot be. No phase: the adopted."""
        phase = data.get(PHASE)
        if phase is None:
            return self.machine.facet.adopted
        found = self.scope.outcomes(self.aliases.get(phase, phase), _named(data), ())
        return next((wanted.base for wanted in found), None)

    def means_nothing(self, base: State, data: Mapping[str, Any], scene: Scene, entity_id: str) -> bool:
        """Whether a row of the kind says that a report leaves the base as it is."""
        return self._by_row(base, data, scene, entity_id) == base

    def _by_row(self, base: State, data: Mapping[str, Any], scene: Scene, entity_id: str) -> State | None:
        """The base after the first row for the report of this very phase; None if there is no such row."""
        for step in self.rows.get(base.phase, ()):
            if step.fits(base, base, data) and step.failed_guard(scene, entity_id) is None:
                return step.result(base, data)
        return None

    def pending_phases(self) -> Iterator[PendingPhase]:
        """What becomes of reports in each pending phase, in the order of the table."""
        live = [base for base in self._bases() if base.phase not in (ABSENT, DELETED)]
        for phase in self.machine.facet.pending_phases:
            reached = {found for base in live if base.phase == phase for found in self.observed[0].by_any(base)}
            taken, held = list[str](), list[str]()
            for other in (one for one in self.machine.phases if one not in (phase, ABSENT, DELETED)):
                some, rest = ({b for b in live if b.phase == other and (b in reached) is yes} for yes in (True, False))
                taken += [_in_words(other, some)] if some and rest else [other] if some else []
                held += [f"other {other}"] if some and rest else [other] if rest else []
            (held if phase in self.arriving else taken).append(DELETED)
            yield PendingPhase(phase, tuple(taken), tuple(held))

    def is_unasked(self, facet: int, trigger: str, before: FacetState, after: FacetState) -> bool:
        """Whether a report moved a base, or the phase under it, where no single observation row of the table leads."""
        if trigger not in (REPORTED, UNREQUESTED) or before.base.phase == ABSENT:
            return False
        observed = self.observed[facet]
        if before.base != after.base and in_order(after.base) not in observed.by_one(before.base):
            return True
        under = [_under(observed.machine.facet, one) for one in (before, after)]
        return (
            under[0] != under[1]
            and under[1] is not None
            and under[0] is not None
            and (in_order(under[1]) not in observed.by_one(under[0]))
        )

    def _outcome(
        self, phase: str, named: Sequence[str] | None, stays: tuple[str, ...], shown: Callable[[State], State]
    ) -> ReportedBase | None:
        """What a report of `phase` and the conditions `named` means where others stay; None if that cannot be.

        A state that only a view shows means the base under it: without what the view adds.
        """
        for wanted in self.scope.outcomes(phase, named, stays):
            return wanted
        if all(view.to != phase for view in self.machine.facet.views):
            return None
        healthy, told = self.machine.facet.healthy, named if named is None else (*stays, *named)
        live = (found for found in self._bases() if found.phase not in (ABSENT, DELETED))
        viewed = ((found, shown(found)) for found in live if found == as_told(found))
        under = [found for found, seen in viewed if seen != found and _is(seen, phase, told)]
        base = min(under, key=lambda found: (found.phase != healthy, found), default=None)
        return None if base is None else ReportedBase(base, None, tuple(one for one in stays if one in base.conditions))


def _in_words(phase: str, some: Collection[State]) -> str:
    """Some of the states of a phase: `Failed with ResourceCleanupFailed`, if they have that in common."""
    common = set.intersection(*(set(found.conditions) for found in some))
    return f"{phase} with {' and '.join(sorted(common))}" if common else f"some {phase}"


def has_seen(data: Mapping[str, Any], asked: int) -> bool:
    """Whether the reporter says that it has read the record of the last request."""
    return data.get(SEEN) is not None and bool(data[SEEN] >= asked)


def _named(data: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The conditions that a report names; None if it leaves them to others. Of what it is about, it names all."""
    named = data.get(CONDITIONS)
    if named is None:
        return None if data.get(ABOUT) is None else ()
    return without_stalled(named)


def _under(facet: Facet, found: FacetState) -> State | None:
    """The base that comes back when the causes of the accumulating phase are cleared; None in another phase."""
    if found.base.phase != facet.accumulates_in:
        return None
    phase = found.interrupted or facet.healthy
    own = own_condition(facet, phase)
    return state(phase, () if own is None else (own,))


def _is(found: State, phase: str, named: Sequence[str] | None) -> bool:
    """Whether a state is what a report names: the phase, and the same conditions if it names any."""
    if found.phase != phase:
        return False
    return named is None or (len(named) == len(found.conditions) and set(named) == set(found.conditions))


def _takes_back(table: Table) -> frozenset[Row]:
    """The rows by which something that is wanted waits again because it is gone. Nobody asked for that."""
    facet = table.facets[0]
    gone = {*ending([row for row in facet.rows if table.role(row.trigger) == "observation"])}
    return frozenset(row for row in facet.rows if row.trigger in gone and row.to in facet.pending_phases)


def _observes(table: Table, row: Row) -> bool:
    return row.trigger != REPORTED and table.role(row.trigger) == "observation"
