"""The scope of a report: which conditions it speaks of, which ones stay, and where an entity is then. Pure.

The rules are in docs/reports.md, Whose condition it is.
Belongs here: the conditions that a report leaves alone, and the base with them. Does not: whether the report is taken
(`judging`), what else a row does with conditions (`conditions`).
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from phaseline.machines.compiler.conditions import accumulated_conditions, own_condition
from phaseline.machines.compiler.reachability import in_order
from phaseline.machines.language.table import OK, Facet
from phaseline.schemas.records import State, state

Bases = Callable[[], Collection[State]]
"""Gives every base that can arise in a facet, its conditions sorted."""


class Outcome(NamedTuple):
    """What a report makes of a base.

    base: the one that follows. interrupted: the phase that was reported, if conditions that stayed interrupt it.
    stayed: the conditions that it left alone, in their order.
    """

    base: State
    interrupted: str | None = None
    stayed: tuple[str, ...] = ()


class Scope:
    """Says of the reports on one facet what they leave alone."""

    def __init__(self, facet: Facet, leaving: Collection[str], bases: Bases) -> None:
        """leaving: the phases in which an entity waits for its end. No cause interrupts these."""
        self.facet, self._bases = facet, bases
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

    def outcomes(self, phase: str, named: Sequence[str] | None, stays: tuple[str, ...]) -> Iterator[Outcome]:
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
    ) -> Iterator[Outcome]:
        """The accumulating phase, where what stays interrupts the reported phase."""
        told = next((one for one in alone if in_order(one) in self._bases()), None)
        failed = self.facet.accumulates_in
        if told is None or failed is None:
            return
        more = tuple(one for one in told.conditions if one != own)
        if found := self._possible(failed, stays, more) or self._with(failed, stays, more):
            yield found._replace(interrupted=phase)

    def _with(self, phase: str, stays: tuple[str, ...], told: Sequence[str]) -> Outcome | None:
        """The base of the conditions that a report names, with as many of those that stay as can stand beside them."""
        found = self._possible(phase, (), told)
        for one in stays:
            kept = () if found is None else found.stayed
            found = self._possible(phase, (*kept, one), told) or found
        return found

    def _possible(self, phase: str, kept: tuple[str, ...], told: Sequence[str]) -> Outcome | None:
        """The base of these conditions; None if it cannot arise."""
        joined = tuple(dict.fromkeys((*kept, *told)))
        base = state(phase, tuple(one for one in joined if one != OK) if kept else joined)
        return Outcome(base, None, kept) if in_order(base) in self._bases() else None
