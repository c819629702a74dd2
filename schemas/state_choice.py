"""Which states a person selects: by phase, by conditions, or in the notation `{Failed,[Balance,*]}`.

Belongs here: reading the notation, and whether a state is selected. Does not: which phases and conditions a kind has
(`engine.log.watch`).
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from phaseline.schemas.records import SIGNALS, Entity, State

ANY = "*"
"""In the notation: any phase; among conditions: further ones may stand."""
FORM = "write a phase (Failed), or {phase,[condition, ...]}, with * for any: {Failed,[Balance,*]}, {*,[Balance,*]}"
_PAIR = re.compile(r"\{([^,{}\[\]]*),\s*\[([^{}\[\]]*)\]\s*\}|([^,{}\[\]\s]+)\s*\[([^{}\[\]]*)\]")
_PHASE = re.compile(r"[^,{}\[\]\s]+")


class LabelledStates(NamedTuple):
    """States that people are shown under one label: of this phase, with this condition (empty: any) and none of others.

    unless: what would give the state another label.
    """

    phase: str
    condition: str
    unless: frozenset[str]

    def holds(self, phase: str, conditions: frozenset[str]) -> bool:
        """Whether a state is one of these."""
        fits = phase == self.phase and (not self.condition or self.condition in conditions)
        return fits and conditions.isdisjoint(self.unless)


class StateChoice(NamedTuple):
    """The states with this phase (None: any) and these conditions. exact: no other conditions may stand.

    labelled: if there are any, one of these must hold.
    """

    phase: str | None = None
    conditions: frozenset[str] = frozenset()
    exact: bool = False
    labelled: tuple[LabelledStates, ...] = ()

    @classmethod
    def read(cls, state: str | None, conditions: Iterable[str] = ()) -> "StateChoice":
        """The choice in a text, with further conditions that must stand. Raises `ValueError` for another text.

        `Failed` is every state with that phase; `{Failed,[Balance,*]}` those with Balance among the conditions;
        `{Failed,[Balance]}`, or `Failed [Balance]` as states are printed, those with Balance alone.
        """
        choice = cls() if state is None else _choice(state)
        return choice._replace(conditions=choice.conditions | frozenset(conditions))

    @property
    def looks_at_conditions(self) -> bool:
        """Whether the phase alone does not decide."""
        return self.exact or bool(self.conditions) or bool(self.labelled)

    def selects(self, state: State, signals: Iterable[str] = ()) -> bool:
        """Whether the state is one of these. signals: what stands beside it, which counts as conditions do.

        Where no other condition may stand, signals neither help nor hinder.
        """
        if self.phase is not None and state.phase != self.phase:
            return False
        standing = frozenset(state.conditions)
        if self.labelled and not any(one.holds(state.phase, standing) for one in self.labelled):
            return False
        return standing == self.conditions if self.exact else standing.union(signals) >= self.conditions

    def selects_in(self, entity: Entity) -> bool:
        """Whether the entity is in one of these states."""
        signals = entity.attributes.get(SIGNALS, ())
        return any(self.selects(facet.state, signals) for facet in entity.facets)


def _choice(text: str) -> StateChoice:
    stripped = text.strip()
    if _PHASE.fullmatch(stripped):
        return StateChoice(None if stripped == ANY else stripped)
    pair = _PAIR.fullmatch(stripped)
    if pair is None:
        raise ValueError(f"{text[:80]!r} is no state: {FORM}")
    phase = (pair[1] if pair[1] is not None else pair[3]).strip()
    listed = pair[2] if pair[2] is not None else pair[4]
    names = [name.strip() for name in listed.split(",")] if listed.strip() else []
    if not phase or not all(names):
        raise ValueError(f"{text[:80]!r} is no state, because a name in it is empty: {FORM}")
    conditions = frozenset(name for name in names if name != ANY)
    return StateChoice(None if phase == ANY else phase, conditions, exact=ANY not in names)
