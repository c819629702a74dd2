"""Computes the phase and the conditions after a row, under a view, and after a report that speaks of some of them.

The rules are in docs/spec/reading-the-tables.md, section Conditions, and in docs/reports.md, Whose condition it is.
Belongs here: the conditions of one facet. Does not: which row or view applies (`machine`, `kinds`).
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from phaseline.machines.language.table import (
    ABSENT,
    DELETED,
    FROM_DATA,
    OK,
    SAME,
    STALLED,
    At,
    Facet,
    Live,
    Row,
    Source,
    View,
)
from phaseline.schemas.records import State, state


@cache
def own_condition(facet: Facet, phase: str) -> str | None:
    """The condition that comes with a phase by itself; None if a row must name one, or if the phase needs none."""
    other = (STALLED, *facet.sticky)
    own = [label.condition for label in facet.labels if label.phase == phase and label.condition not in other]
    return None if None in own else OK if OK in own else own[0] if len(own) == 1 else None


@cache
def stands_alone(facet: Facet, phase: str) -> bool:
    """Whether the phase needs no condition, because it has a label without one."""
    return any(label.phase == phase and label.condition is None for label in facet.labels)


@cache
def accumulated_conditions(facet: Facet) -> frozenset[str]:
    """The conditions that hold an entity in the accumulating phase."""
    conditions = (label.condition for label in facet.labels if label.phase == facet.accumulates_in)
    return frozenset(condition for condition in conditions if condition is not None)


def base_after(facet: Facet, row: Row, base: State, phase: str) -> State:
    """The base after `row` has taken it to `phase`."""
    if phase == DELETED:
        return state(DELETED)
    stays = phase == base.phase and (row.to == SAME or phase == facet.accumulates_in)
    kept = [c for c in base.conditions if c not in row.clears and c != OK and (stays or c in facet.sticky)]
    arriving = row.sets or row.condition or (None if stays else own_condition(facet, phase))
    return state(phase, _joined(kept, arriving, own_condition(facet, phase)))


def without_stalled(conditions: Iterable[str]) -> tuple[str, ...]:
    """The conditions that publishers may speak of: nobody but the engine says whether something is stalled."""
    return tuple(condition for condition in conditions if condition != STALLED)


def as_told(base: State) -> State:
    """A base as publishers may speak of it."""
    return state(base.phase, without_stalled(base.conditions)) if STALLED in base.conditions else base


def still_stalled(before: State, after: State) -> State:
    """The base after a report, which does not end the stall of a phase that it does not leave."""
    if STALLED not in before.conditions or before.phase != after.phase or STALLED in after.conditions:
        return after
    return state(after.phase, (*after.conditions, STALLED))


def state_shown(facet: Facet, view: View, base: State) -> State:
    """The state that a view shows over a base: the view's condition, after the base's conditions that it keeps."""
    if isinstance(view.keeps, tuple):
        kept = [c for c in base.conditions if c in view.keeps]
    else:
        kept = [c for c in base.conditions if view.keeps and base.phase == view.to and c != OK]
    own = own_condition(facet, view.to)
    return state(view.to, _joined(kept, view.condition or own, own))


def without_expired(facet: Facet, base: State, conditions: frozenset[str]) -> State:
    """The base without `conditions`, which were about a stay in a phase that is over."""
    return state(
        base.phase, _joined([c for c in base.conditions if c not in conditions], None, own_condition(facet, base.phase))
    )


def _joined(kept: list[str], arriving: str | None, own: str | None) -> tuple[str, ...]:
    """The conditions in order of arrival. Ok is there only if no other condition is."""
    if arriving is not None and arriving != OK and arriving not in kept:
        kept.append(arriving)
    return tuple(kept) or ((own,) if own is not None else ())


def aliases_of(facet: Facet) -> Mapping[str, str]:
    """The other names of phases, each with its phase."""
    return {alias: one.phase for one in facet.labels for alias in one.aliases}


def phases_of(facet: Facet) -> tuple[str, ...]:
    """Every phase of a facet, in the order of its labels: its beginning first, Deleted last if a row leads there."""
    named = [label.phase for label in facet.labels]
    ends = [DELETED] if any(row.to == DELETED for row in facet.rows) else []
    return tuple(dict.fromkeys([facet.begins, *named, *ends]))


@cache
def starts_of(start: Source, phases: tuple[str, ...]) -> tuple[At, ...]:
    """One source of a row, as one `At` for each phase."""
    if isinstance(start, Live):
        return tuple(At(phase, has=start.has) for phase in phases if phase not in (*start.but, ABSENT, DELETED))
    return (start if isinstance(start, At) else At(start),)


@cache
def returns(facet: Facet) -> Mapping[str, str]:
    """The phases that come back when the last cause is cleared, each with the phase that follows then.

    A stable phase comes back itself. A pending one comes back as what it was on the way to: the only stable phase to
    which its rows lead. Phases that the healthy phase follows are left out, so that nothing has to be remembered.
    """
    phases = phases_of(facet)
    rows = [(row, {at.phase for source in row.source for at in starts_of(source, phases)}) for row in facet.rows]
    found = {}
    for phase in phases:
        if phase in (ABSENT, DELETED, facet.accumulates_in):
            continue
        leads_to = [row.to for row, sources in rows if phase in sources]
        if facet.accumulates_in in leads_to and (after := _settled(facet, phase, leads_to)) != facet.healthy:
            found[phase] = after
    return found


def _settled(facet: Facet, phase: str, leads_to: list[str]) -> str:
    """The phase itself if it is stable; for a pending one the only stable one to which it leads, or the healthy one."""
    if phase not in facet.pending_phases:
        return phase
    ends = set(leads_to).difference(facet.pending_phases, (SAME, FROM_DATA, ABSENT, DELETED), [facet.accumulates_in])
    return ends.pop() if len(ends) == 1 else facet.healthy


def expiring_conditions(facet: Facet) -> Iterator[tuple[str, frozenset[str]]]:
    """For each phase with a timeout, the conditions that the timeout's rows set: they go when the stay in it ends.

    Those of a base go with its phase, as all others do.
    """
    for timeout in (timeout for timeout in facet.timeouts if not timeout.base):
        sets = {row.sets for row in facet.rows if row.trigger == timeout.trigger and row.sets is not None}
        yield timeout.phase, frozenset(sets.difference(facet.sticky))


class ReportedBase(NamedTuple):
    """What a report makes of a base.

    base: the one that follows. interrupted: the phase that was reported, if conditions that stayed interrupt it.
    stayed: the conditions that it left alone, in their order.
    """

    base: State
    interrupted: str | None = None
    stayed: tuple[str, ...] = ()


class Scope:
    """Says of the reports on one facet what they leave alone."""

    def __init__(self, facet: Facet, leaving: Collection[str], arises: Callable[[State], bool]) -> None:
        """Start without a report.

        leaving: the phases in which an entity waits for its end. No cause interrupts these. arises: whether a base can
        arise.
        """
        self.facet, self._arises = facet, arises
        self._accumulated = accumulated_conditions(facet)
        self._through = frozenset((facet.accumulates_in, *leaving))
        """The phases that conditions do not interrupt."""

    def left_alone(
        self, base: State, phase: str, named: Collection[str] | None, about: Collection[str] | None
    ) -> tuple[str, ...]:
        """The conditions of a base that are out of the scope of a report.

        named: the conditions of the report. about: those that it says it speaks of. None: it does not say.
        """
        facet = self.facet
        spared = facet.sticky if named is not None else (*facet.sticky, *facet.own_reporter)
        lasting = {*facet.sticky, *facet.own_reporter}
        if base.phase == facet.accumulates_in:
            lasting |= self._accumulated
        elif base.phase == phase:
            lasting |= {*base.conditions}.difference([own_condition(facet, phase)])
        return tuple(
            one
            for one in base.conditions
            if one in lasting and one != OK and one not in (named or ())
            if (one in spared if about is None else one not in about)
        )

    def outcomes(self, phase: str, named: Sequence[str] | None, stays: tuple[str, ...]) -> Iterator[ReportedBase]:
        """What a report of `phase` and the conditions `named` can mean where others stay, the most exact first.

        Conditions that are left out are the phase's own. One that stays falls away where it cannot stand beside these.
        """
        own = own_condition(self.facet, phase)
        named = (named or ()) if named is not None or own is None else (own,)
        alone = [state(phase, tuple(named)), *([state(phase, (own,))] if not named and own is not None else ())]
        if phase not in self._through and not self._accumulated.isdisjoint(stays):
            yield from self._interrupted(phase, alone, own, stays)
            return
        whole = (self._possible(phase, stays, told.conditions) for told in alone)
        yield from (found for found in whole if found is not None)
        most = (self._with(phase, stays, told.conditions) for told in alone)
        yield from (found for found in most if found is not None)

    def _interrupted(
        self, phase: str, alone: Sequence[State], own: str | None, stays: tuple[str, ...]
    ) -> Iterator[ReportedBase]:
        """The accumulating phase, where what stays interrupts the reported phase."""
        told = next((one for one in alone if self._arises(one)), None)
        failed = self.facet.accumulates_in
        if told is None or failed is None:
            return
        more = tuple(one for one in told.conditions if one != own)
        if found := self._possible(failed, stays, more) or self._with(failed, stays, more):
            yield found._replace(interrupted=phase)

    def _with(self, phase: str, stays: tuple[str, ...], told: Sequence[str]) -> ReportedBase | None:
        """The base of the conditions that a report names, with as many of those that stay as can stand beside them."""
        found = self._possible(phase, (), told)
        for one in stays:
            kept = () if found is None else found.stayed
            found = self._possible(phase, (*kept, one), told) or found
        return found

    def _possible(self, phase: str, kept: tuple[str, ...], told: Sequence[str]) -> ReportedBase | None:
        """The base of these conditions; None if it cannot arise."""
        joined = tuple(dict.fromkeys((*kept, *told)))
        base = state(phase, tuple(one for one in joined if one != OK) if kept else joined)
        return ReportedBase(base, None, kept) if self._arises(base) else None
