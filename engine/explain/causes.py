"""What made a base what it is: the records that brought its phase and conditions, and the outside events behind them.

Belongs here: reading one entity's history backwards, following a record to its event. Pure. Does not: views (`why`), I/O.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from phaseline.engine.explain.model import Caused, Role
from phaseline.machines.compiler.conditions import accumulated_conditions
from phaseline.machines.compiler.kinds import Kind, Kinds
from phaseline.machines.language.table import ABSENT, OK, PROGRESSING, Facet
from phaseline.schemas.records import Entity, State, Transition, state
from phaseline.schemas.subjects import ancestor_id

History = Sequence[Transition]
"""Transitions of one entity in order: all, or those that the log still holds."""
Lookup = Callable[[str, str], History | None]
"""The history of `kind`, `id`; None while it is yet to be read: what is told then is not the last word."""
NEAREST = ("event", "timer", "cascade", "tally", "view")
"""Which of the records that one event made of an entity tells most about it."""


class Move(NamedTuple):
    """A record that moved a base. `before` is None where the record before it is gone: then it may have moved it or not."""

    record: Transition
    before: State | None
    after: State


class Ground(NamedTuple):
    """Something that stands in a base, and the record that brought it; None where that is gone.

    during: what was under way until then, where the record tells how it ended: being created, being deleted.
    """

    role: Role
    word: str
    record: Transition | None
    during: "Ground | None" = None


def moves(history: History, index: int) -> Iterator[Move]:
    """The records that moved the base of one facet, in order."""
    version, before = 0, state(ABSENT)
    for record in history:
        after = record.entity.facets[index].base
        follows = record.entity.version == version + 1
        if not follows or after != before:
            yield Move(record, before if follows else None, after)
        version, before = record.entity.version, after


def of_base(kind: Kind, index: int, base: State, history: History) -> list[Ground]:
    """What a base stands on: each cause and standing condition by itself; the phase, where no cause holds it there.

    The record that moved the base last is always among them: where it brought nothing it took something away.
    """
    if base.phase == ABSENT:
        return []
    facet, moved = kind.machines[index].facet, list(moves(history, index))
    held = accumulated_conditions(facet) if base.phase == facet.accumulates_in else frozenset()
    lasting = [c for c in base.conditions if c in held or c in facet.sticky]
    found = [_ground(kind, facet, moved, "condition", c, added(facet, moved, c)) for c in lasting]
    if held.isdisjoint(base.conditions):
        found.append(_ground(kind, facet, moved, "phase", base.phase, entered(moved)))
    last = moved[-1] if moved else None
    if last is not None and last.before is not None and all(ground.record is not last.record for ground in found):
        found += _last(last, last.before)
    return found


def _ground(kind: Kind, facet: Facet, moved: Sequence[Move], role: Role, word: str, at: int | None) -> Ground:
    return (
        Ground(role, word, None)
        if at is None
        else Ground(role, word, moved[at].record, _during(kind, facet, moved, at))
    )


def _during(kind: Kind, facet: Facet, moved: Sequence[Move], at: int) -> Ground | None:
    """What began the phase that the move at `at` reports the end of; nothing where it ended well."""
    record, before, after = moved[at]
    reports = kind.roles.get(record.trigger) == "observation"
    if (
        not reports
        or before is None
        or PROGRESSING not in before.conditions
        or after.phase in (before.phase, facet.healthy)
    ):
        return None
    begun = entered(moved[:at])
    return Ground("phase", before.phase, None if begun is None else moved[begun].record)


def _last(move: Move, before: State) -> list[Ground]:
    lost = [c for c in before.conditions if c not in move.after.conditions and c != OK]
    if lost:
        return [Ground("cleared", condition, move.record) for condition in lost]
    return [Ground("phase", str(move.after), move.record)]


def added(facet: Facet, moved: Sequence[Move], condition: str) -> int | None:
    """The move since which `condition` stands; None where it is gone."""
    for at, move in reversed([*enumerate(moved)]):
        if move.before is None:
            return None
        stays = condition in facet.sticky or move.before.phase == move.after.phase
        if condition not in move.before.conditions or not stays:
            return at
    return None


def entered(moved: Sequence[Move]) -> int | None:
    """The move since which the base is in its phase; None where it is gone."""
    for at, move in reversed([*enumerate(moved)]):
        if move.before is None:
            return None
        if move.before.phase != move.after.phase:
            return at
    return None


def restated(history: History, index: int) -> Transition | None:
    """The record that brought the state of a facet, whatever its base did; None where it is gone."""
    for record in reversed(history):
        facet = record.entity.facets[index]
        if record.facet == record.entity.names[index] and facet.since == record.time and record.before != record.after:
            return record
    return None


def attributed(history: History, name: str) -> Transition | None:
    """The record since which an attribute has its value; None where it is gone."""
    found, version, before = None, 0, None
    for record in history:
        now = record.entity.attributes.get(name)
        if record.entity.version != version + 1:
            found = None
        elif now != before:
            found = record
        version, before = record.entity.version, now
    return found


def traced(kinds: Kinds, lookup: Lookup, record: Transition) -> tuple[tuple[Transition, ...], str | None]:
    """The records from this one back to the outside event's own, all of the same event; and what is missing of them."""
    chain, sequence = [record], record.cause.sequence
    while (cause := chain[-1].cause).by not in ("event", "timer"):
        kind, _, entity_id = (cause.origin or "").partition("/")
        # Who handed a cascade on may have been so already, and have no record of it: then somebody above it has.
        for above in _upwards(kinds, kind, entity_id):
            if (history := lookup(*above)) is None:
                return tuple(chain), "not read yet"
            of_event = [r for r in history if r.cause.sequence == sequence and r not in chain]
            if of_event:
                chain.append(min(of_event, key=lambda found: NEAREST.index(found.cause.by)))
                break
        else:
            return tuple(chain), f"the log has no record of event {sequence} at {kind} {entity_id}"
    return tuple(chain), None


def _upwards(kinds: Kinds, kind: str | None, entity_id: str) -> Iterator[tuple[str, str]]:
    """The entity itself, its parent and so on."""
    while kind is not None:
        yield kind, entity_id
        known = kinds.get(kind)
        kind = known.parent if known else None
        entity_id = ancestor_id(entity_id, kinds[kind].arity) if kind else entity_id


def caused(
    kinds: Kinds, lookup: Lookup, entity: Entity, grounds: Sequence[Ground], history: History
) -> tuple[Caused, ...]:
    """Grounds with their records traced; those of one record together."""
    found: list[Caused] = []
    for (role, record, during), group in groupby(
        grounds, key=lambda ground: (ground.role, ground.record, ground.during)
    ):
        words = tuple(ground.word for ground in group)
        if record is None:
            found.append(_gone(kinds, lookup, entity, role, words, history))
            continue
        before = None if during is None else caused(kinds, lookup, entity, [during], history)[0]
        found.append(Caused(role, words, *traced(kinds, lookup, record), during=before))
    return tuple(found)


def _gone(kinds: Kinds, lookup: Lookup, entity: Entity, role: Role, words: tuple[str, ...], history: History) -> Caused:
    """What was so when the part of the history began that is left without a gap."""
    left = None
    for record in reversed(history):
        if left is not None and record.entity.version != left.entity.version - 1:
            break
        left = record
    if left is None:
        return Caused(role, words, (), f"no record of {entity.kind} {entity.id} is left in the log")
    records, missing = traced(kinds, lookup, left)
    gone = f"what {entity.kind} {entity.id} went through before is no longer in the log"
    return Caused(role, words, records, "; ".join(filter(None, (gone, missing))), at_latest=True)
