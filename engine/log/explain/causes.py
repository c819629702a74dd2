"""The records that led to a base: what brought its phase and conditions, and the outside events behind that. Pure.

Belongs here: reading one entity's history backwards, and following a record to its event. Does not: views
(`explainer`), reading from the server (`fetch`).
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any, NamedTuple

from msgspec.structs import replace

from phaseline.engine.log.explain.model import CauseChain, Role
from phaseline.machines.compiler.conditions import accumulated_conditions
from phaseline.machines.compiler.kinds import Kind, Kinds
from phaseline.machines.language.contact import HEARD
from phaseline.machines.language.signals import CONDITION, TOLD, standing_signals
from phaseline.machines.language.table import ABSENT, BECAUSE, OK, PROGRESSING, REPORTED, Facet
from phaseline.schemas.records import Cause, Entity, State, Transition, state
from phaseline.schemas.subjects import ancestor_id

History = Sequence[Transition]
"""The transitions of one entity in order: all of them, or those that the log still holds."""
Lookup = Callable[[str, str], History | None]
"""The history of `kind`, `id`; None if it has not been read yet. An explanation with such a history is preliminary."""
PREFERRED = ("event", "timer", "tables", "cascade", "tally", "view")
"""Of several records that one event made of an entity, the first in this order explains most."""


class Move(NamedTuple):
    """A record that moved a base. `before`: None if the previous record is missing and so the move uncertain."""

    record: Transition
    before: State | None
    after: State


class Finding(NamedTuple):
    """One thing to explain, and the record that brought it; None if that record is missing.

    name: the condition, phase, state or attribute. ended: the activity that the record reports the end of.
    """

    role: Role
    name: str
    record: Transition | None
    ended: "Finding | None" = None


def moves(history: History, index: int) -> Iterator[Move]:
    """The records that moved the base of one facet, in order."""
    version, before = 0, state(ABSENT)
    for record in history:
        after = record.entity.facets[index].base
        follows = record.entity.version == version + 1
        if index == 0 and record.noted.replaced is not None:  # another thing is there: its life began from nothing
            follows, before = True, state(ABSENT)
        if not follows or after != before:
            yield Move(record, before if follows else None, after)
        version, before = record.entity.version, after


def findings(kind: Kind, index: int, base: State, history: History) -> list[Finding]:
    """What explains a base: each accumulated or sticky condition, and the phase unless such a condition holds it.

    Of signals it is each one that stands: what is said of one is no reason of another.

    The record that moved the base last is among them, unless a newer request replaced it. If it brought nothing, it
    cleared something.
    """
    if base.phase == ABSENT:
        return []
    if index == kind.signals and base.phase == TOLD:
        names = standing_signals(history[-1].entity.attributes) if history else ()
        told = [Finding("condition", name, _of_signal(signal_record(history, name))) for name in names]
        return told or [Finding("phase", base.phase, None)]
    facet, moved = kind.machines[index].facet, list(moves(history, index))
    held = accumulated_conditions(facet) if base.phase == facet.accumulates_in else frozenset()
    lasting = [c for c in base.conditions if c in held or c in facet.sticky]
    result = [_finding(kind, facet, history, moved, "condition", c, added(facet, moved, c)) for c in lasting]
    if held.isdisjoint(base.conditions):
        found = _finding(kind, facet, history, moved, "phase", base.phase, entered(moved))
        newest = operation(kind, index, base, history)
        result.append(found if newest is None else found._replace(record=newest))
        if newest is not None and entered(moved) == len(moved) - 1:
            return result  # the phase was entered for an operation that is over
    last = moved[-1] if moved else None
    if last is not None and last.before is not None:
        if all(finding.record is not last.record for finding in result):
            result += _of_last_move(last, last.before)
        elif last.record.trigger == REPORTED and last.before.phase == base.phase:
            result += _cleared_by_report(facet, moved, last, last.before)
    return result


def operation(kind: Kind, index: int, base: State, history: History) -> Transition | None:
    """The record of the newest request for a base, which may be newer than the phase; None if the phase says enough.

    That is the request that a pending phase waits for; else the last one since whose row leads to the phase, as that of
    `update` does for a group that is Instantiated.
    """
    facet = kind.machines[index].facet
    asked = history[-1].entity.asked if history and base.phase in facet.pending_phases else 0
    found = next((one for one in history if asked and one.cause.sequence == asked == one.entity.asked), None)
    if found is not None:
        return found
    asking = {row.trigger for row in facet.rows if row.to == base.phase and kind.roles[row.trigger] == "intent"}
    for record in reversed(history):
        if record.entity.facets[index].base.phase != base.phase:
            break
        if record.facet == facet.name and record.trigger in asking and record.cause.by not in ("view", "tally"):
            return record
    return None


def _finding(
    kind: Kind, facet: Facet, history: History, moved: Sequence[Move], role: Role, name: str, at: int | None
) -> Finding:
    if at is None:
        return Finding(role, name, None)
    return Finding(role, name, moved[at].record, _ended(kind, facet, history, moved, at))


def _ended(kind: Kind, facet: Facet, history: History, moved: Sequence[Move], at: int) -> Finding | None:
    """What began that which the move at index `at` ends: an activity that ended badly, or what a timer ran for.

    Of a report that says otherwise it is what was said before, maybe by another source: both stand beside each other.
    """
    record, before, after = moved[at]
    if before is None or before.phase in (ABSENT, after.phase):
        return None
    if record.trigger == REPORTED and before.phase == facet.accumulates_in:
        return Finding("phase", str(before), _said_last(facet, moved[:at], before))
    failed = kind.roles.get(record.trigger) == "observation" and PROGRESSING in before.conditions
    if record.cause.by != "timer" and (not failed or after.phase == facet.healthy):
        return None
    start, index = entered(moved[:at]), kind.names.index(facet.name)
    until = [one for one in history if one.entity.version < record.entity.version]
    newest = operation(kind, index, before, until)
    return Finding("phase", before.phase, newest or (None if start is None else moved[start].record))


def _said_last(facet: Facet, moved: Sequence[Move], base: State) -> Transition | None:
    """The record that brought the last of the conditions of a base, which another word has ended."""
    brought = [at for one in base.conditions if (at := added(facet, moved, one)) is not None]
    return moved[max(brought)].record if brought else None


def _cleared_by_report(facet: Facet, moved: Sequence[Move], last: Move, before: State) -> Iterator[Finding]:
    """The conditions that a report ended beside what it brought, each with who had said it: maybe another source."""
    for one in (one for one in before.conditions if one not in last.after.conditions and one not in (OK, PROGRESSING)):
        at = added(facet, moved[:-1], one)
        yield Finding("cleared", one, last.record, Finding("condition", one, None if at is None else moved[at].record))


def _of_last_move(move: Move, before: State) -> list[Finding]:
    cleared = [c for c in before.conditions if c not in move.after.conditions and c != OK]
    if cleared:
        return [Finding("cleared", condition, move.record) for condition in cleared]
    return [Finding("phase", str(move.after), move.record)]


def added(facet: Facet, moved: Sequence[Move], condition: str) -> int | None:
    """The index of the move since which `condition` stands; None if that move is missing."""
    for at, move in reversed([*enumerate(moved)]):
        if move.before is None:
            return None
        stays = condition in facet.sticky or move.before.phase == move.after.phase
        if condition not in move.before.conditions or not stays:
            return at
    return None


def entered(moved: Sequence[Move]) -> int | None:
    """The index of the move since which the base is in its phase; None if that move is missing."""
    for at, move in reversed([*enumerate(moved)]):
        if move.before is None:
            return None
        if move.before.phase != move.after.phase:
            return at
    return None


def state_record(history: History, index: int) -> Transition | None:
    """The record that brought the state of a facet, whatever its base did; None if it is missing."""
    for record in reversed(history):
        facet = record.entity.facets[index]
        is_new = record.before != record.after or record.noted.replaced is not None
        is_new = is_new and facet.since_ns == record.time_ns
        if is_new and record.facet == record.entity.names[index]:
            return record
    return None


def attribute_record(history: History, name: str) -> Transition | None:
    """The record since which an attribute has its value; None if it is missing."""
    return _value_record(history, lambda entity: entity.attributes.get(name))


def signal_record(history: History, name: str) -> Transition | None:
    """The record since which a signal stands as it does, with this reason; None if it is missing."""
    return _value_record(history, lambda entity: standing_signals(entity.attributes).get(name))


def _of_signal(record: Transition | None) -> Transition | None:
    """The record since which a signal stands. What a report says in words is about the state that it names."""
    return record if record is None or record.trigger == CONDITION else replace(record, reason=None, message=None)


def _value_record(history: History, value: Callable[[Entity], Any]) -> Transition | None:
    """The record since which a value of an entity is what it is; None if it is missing."""
    since, version, before = None, 0, None
    for record in history:
        after = value(record.entity)
        if record.entity.version != version + 1:
            since = None
        elif after != before:
            since = record
        version, before = record.entity.version, after
    return since


def trace(kinds: Kinds, lookup: Lookup, record: Transition) -> tuple[tuple[Transition, ...], str | None]:
    """The records from this one back to the outside event's own, all of one event; and what is missing of them."""
    chain, missing = _back(kinds, lookup, record)
    return (chain[0], *(_about(*pair) for pair in pairwise(chain))), missing


def _about(before: Transition, record: Transition) -> Transition:
    """A record behind another one. What a view of another facet names is not said: it is no reason of this one."""
    of_a_view = record.facet != before.facet and (record.message or "").startswith(BECAUSE)
    return replace(record, message=None) if of_a_view else record


def _back(kinds: Kinds, lookup: Lookup, record: Transition) -> tuple[tuple[Transition, ...], str | None]:
    """These records as the log has them."""
    chain, cause = [record], record.cause
    while not is_outside(chain[-1]):
        kind, _, entity_id = (chain[-1].cause.origin or "").partition("/")
        # An entity that passed a cascade on without a change has no record. Then one of its ancestors has.
        # Who is heard names the entity of the event itself: only the event's own record there is behind it.
        is_heard = chain[-1].trigger == HEARD
        for above in [(kind, entity_id)] if is_heard else _upwards(kinds, kind, entity_id):
            if (history := lookup(*above)) is None:
                return tuple(chain), "not read yet"
            by_event = (r for r in history if is_of(r.cause, cause) and r not in chain)
            of_event = [r for r in by_event if r.cause.by == "event" or not is_heard]
            if of_event:
                chain.append(min(of_event, key=lambda each: PREFERRED.index(each.cause.by)))
                break
        else:
            if is_heard:  # the event reported what was so already, and made no record of its own
                return tuple(chain), None
            return tuple(chain), f"the log has no record of event {cause.sequence} at {kind} {entity_id}"
    return tuple(chain), None


def is_of(one: Cause, other: Cause) -> bool:
    """Whether the same event led to two records, or the same change of tables."""
    return (one.sequence, one.by == "tables") == (other.sequence, other.by == "tables")


def is_outside(record: Transition) -> bool:
    """Whether the outside event, a timer or a change of tables led to a record directly."""
    cause = record.cause
    return cause.by in ("event", "timer") or is_of_snapshot(record) or (cause.by == "tables" and cause.origin is None)


def is_of_snapshot(record: Transition) -> bool:
    """Whether a record is of an item of a snapshot, or of what a snapshot does not list."""
    return record.trigger == REPORTED and record.cause.by == "cascade"


def _upwards(kinds: Kinds, kind: str | None, entity_id: str) -> Iterator[tuple[str, str]]:
    """The entity itself, its parent and so on."""
    while kind is not None:
        yield kind, entity_id
        known = kinds.get(kind)
        kind = known.parent if known else None
        entity_id = ancestor_id(entity_id, kinds[kind].arity) if kind else entity_id


def chains(
    kinds: Kinds, lookup: Lookup, entity: Entity, explained: Sequence[Finding], history: History
) -> tuple[CauseChain, ...]:
    """The findings with the records behind them. Findings of one record become one chain."""
    result: list[CauseChain] = []
    for (role, record, ended), group in groupby(explained, key=lambda each: (each.role, each.record, each.ended)):
        names = tuple(finding.name for finding in group)
        if record is None:
            result.append(_without_record(kinds, lookup, entity, role, names, history))
            continue
        activity = None if ended is None else chains(kinds, lookup, entity, [ended], history)[0]
        result.append(CauseChain(role, names, *trace(kinds, lookup, record), ended=activity))
    return tuple(result)


def _without_record(
    kinds: Kinds, lookup: Lookup, entity: Entity, role: Role, names: tuple[str, ...], history: History
) -> CauseChain:
    """The chain of a finding without a record: it begins with the first record after the last gap of the history."""
    first = None
    for record in reversed(history):
        if first is not None and record.entity.version != first.entity.version - 1:
            break
        first = record
    if first is None:
        return CauseChain(role, names, (), f"no record of {entity.kind} {entity.id} is left in the log")
    records, problem = trace(kinds, lookup, first)
    lost = f"what {entity.kind} {entity.id} went through before is no longer in the log"
    return CauseChain(role, names, records, "; ".join(filter(None, (lost, problem))), at_latest=True)
