"""What would have to happen first, so that a rejected event could be taken. Pure.

A way out never asks for a claim. It offers requests, the report of the state that somebody sees, the time at which an
operation will be stalled, and what others begin once it is so.
Belongs here: the shortest way to a state in which the event is legal, as a clause. Does not: why it is not legal now
(`rejections`, `language.predicates`), what is legal now (`legal`).
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from msgspec.structs import replace

from phaseline.engine.core.adoption import missing_parent
from phaseline.engine.core.advice.legal import legal_triggers
from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.timers import timeout_of
from phaseline.engine.core.tree import Tree
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.compiler.machine import FacetMachine
from phaseline.machines.language.predicates import Above, AllBelow, AttributeIs, Predicate, counts, or_list
from phaseline.machines.language.table import ABSENT, DELETED, FROM_DATA, REPORTED, SAME, STALLED
from phaseline.schemas.records import NONE, Entity, State, timestamp
from phaseline.schemas.subjects import ancestor_id

FAR, DEEP = 400, 3
"""The most bases that are visited on the way, and the most entities above each other that are helped."""


class Turn(NamedTuple):
    """One thing that must happen: one of these requests, or what `wait` says, at an entity.

    is_other: whether it is another way, beside those before it.
    """

    triggers: tuple[str, ...]
    kind: str
    id: str
    wait: str = ""
    is_other: bool = False


def way_out(tree: Tree, arrival: Arrival, legal: Sequence[str], guard: Predicate | None = None) -> str:
    """A way out as the end of a sentence; if none is known, what is legal now.

    legal: the triggers that the entity would take. guard: what did not hold.
    """
    found = dict.fromkeys(turns(tree, arrival, legal, guard))
    first, *others = [[*group] for _, group in groupby(found, key=_place)] or [[]]
    if first:
        more = (f"; {'or' if group[0].is_other else 'then'} {_told(group)}" for group in others)
        return f"; way out: {_told(first)}{''.join(more)}"
    return f"; legal now: {or_list(tuple(legal))}" if legal else "; nothing is legal now"


def _place(turn: Turn) -> tuple[str, str, str, bool]:
    """Turns are told together that are requests at the same entity."""
    return turn.kind, turn.id, turn.wait, turn.is_other


def _told(group: list[Turn]) -> str:
    """`renewed, then started, at cluster c1`."""
    first = group[0]
    if first.wait:
        return first.wait
    steps = ", then ".join(or_list(turn.triggers) for turn in group)
    return f"{steps}{',' if len(group) > 1 else ''} at {first.kind} {first.id}"


def turns(
    tree: Tree, arrival: Arrival, legal: Sequence[str], guard: Predicate | None, depth: int = DEEP
) -> Iterator[Turn]:
    """What must happen so that the trigger of this event becomes legal."""
    kind = tree.kinds[arrival.kind]
    is_intent = kind.roles[arrival.trigger] == "intent"
    missing = missing_parent(tree, kind, arrival.id, is_intent=is_intent)
    if missing is not None and not missing.adoptable and not is_intent and REPORTED in legal:
        yield from _told_by_reporter(tree, kind, arrival, legal, depth)
    elif missing is not None and not missing.adoptable:
        above, _, above_id = missing.name.partition("/")
        at = replace(arrival, kind=above, id=above_id)
        yield from _births(tree, at, legal_triggers(tree, at), depth)
    elif guard is not None:
        found = [*_past_guard(tree, arrival, guard, depth)]
        yield from (*found, *_opted(tree, kind, arrival, is_other=bool(found)))
    elif is_intent:
        yield from _own_way(tree, kind, arrival, depth)
    else:
        yield from _told_by_reporter(tree, kind, arrival, legal, depth)


def _told_by_reporter(tree: Tree, kind: Kind, arrival: Arrival, legal: Sequence[str], depth: int) -> Iterator[Turn]:
    """How somebody who saw what cannot be so can say what is so: by naming the state that was seen."""
    if REPORTED in legal and arrival.trigger != REPORTED:
        yield _seen(kind, arrival.id)
    elif not is_alive(tree.get(kind.name, arrival.id)) and arrival.trigger not in kind.births:
        yield from _births(tree, arrival, legal, depth)


def _seen(kind: Kind, entity_id: str, *, is_other: bool = False) -> Turn:
    """That somebody says what is there."""
    how = f"if it is there: {REPORTED} at {kind.name} {entity_id} with the state you see"
    return Turn((), kind.name, entity_id, how, is_other)


def _until_stalled(tree: Tree, kind: Kind, entity_id: str) -> Iterator[Turn]:
    """When the operations of an entity will be stalled that wait for an answer. More is legal then."""
    entity = tree.get(kind.name, entity_id)
    for index, facet in enumerate(() if entity is None else entity.facets):
        timeout, due = timeout_of(kind, index, facet), entity.timers_ns.get(kind.names[index]) if entity else None
        if due is not None and timeout is not None and timeout.deadline:
            wait = f"wait: {kind.name} {entity_id} will be {STALLED} at {timestamp(due)}"
            yield Turn((), kind.name, entity_id, wait, is_other=True)


def _asked(kind: Kind, triggers: Iterable[str]) -> tuple[str, ...]:
    """Those of some triggers that are requests."""
    return tuple(trigger for trigger in triggers if kind.roles[trigger] == "intent")


def is_alive(entity: Entity | None) -> bool:
    """Whether the entity is known and not deleted."""
    return entity is not None and entity.facets[0].base.phase not in (ABSENT, DELETED)


def _births(tree: Tree, at: Arrival, legal: Sequence[str], depth: int) -> Iterator[Turn]:
    """How an entity that is unknown or deleted comes to life."""
    kind = tree.kinds[at.kind]
    entity = tree.get(kind.name, at.id)
    facets = kind.unborn if entity is None else entity.facets
    named = _asked(kind, legal)
    found = [Turn(named, kind.name, at.id)] if named else []
    for trigger in _asked(kind, kind.births) if depth and not named else ():
        chosen = kind.select(trigger, facets, tree, at.id, NONE)
        if chosen.steps or chosen.refused is not None:
            found += turns(tree, replace(at, trigger=trigger, data=NONE), legal, chosen.refused, depth - 1)
            found.append(Turn((trigger,), kind.name, at.id))
            break
    yield from found
    if REPORTED in legal:
        yield _seen(kind, at.id, is_other=bool(found))


def _opted(tree: Tree, kind: Kind, arrival: Arrival, *, is_other: bool) -> Iterator[Turn]:
    """With which field of its data that says yes the trigger is legal now, or without which."""
    entity = tree.get(kind.name, arrival.id)
    facets = kind.unborn if entity is None else entity.facets
    fields = {name for facet in kind.table.facets for row in facet.rows if row.trigger == arrival.trigger
              for name, value in row.given.items() if value is True}  # fmt: skip
    for name in sorted(name for name in fields if arrival.data.get(name, True) is True):
        others = {one: value for one, value in arrival.data.items() if one != name}
        said, other = (
            ("without {name}", others) if name in arrival.data else ("with {name} true", {**others, name: True})
        )
        if kind.select(arrival.trigger, facets, tree, arrival.id, other).steps:
            how = f"{arrival.trigger} at {kind.name} {arrival.id} {said.format(name=name)}"
            yield Turn((), kind.name, arrival.id, how, is_other)


def in_the_way(tree: Tree, kind: str, entity_id: str, guard: AllBelow) -> list[str]:
    """The sorted ids of the entities below that a guard does not want in their phase."""
    known, phases = tree.entities[guard.kind], (*guard.phases, ABSENT, DELETED)
    return sorted(
        one
        for one in tree.descendants(kind, entity_id, guard.kind)
        if (found := known[one].facets[guard.facet].state).phase not in phases and counts(guard, found.conditions)
    )


def _past_guard(tree: Tree, arrival: Arrival, guard: Predicate, depth: int) -> Iterator[Turn]:
    """What makes a guard hold: the ancestor reaches a phase or gets an attribute; what is below is seen to be gone."""
    if isinstance(guard, AllBelow) and not guard.some and tree.kinds[guard.kind].judge is not None:
        for one in in_the_way(tree, arrival.kind, arrival.id, guard)[:1]:
            how = f"if it is gone: {REPORTED} {DELETED} at {guard.kind} {one}"
            yield Turn((), guard.kind, one, how)
        return
    if not isinstance(guard, Above | AttributeIs) or (above := tree.above(arrival.id, guard.kind)) is None:
        return
    kind = tree.kinds[guard.kind]
    at = replace(arrival, kind=kind.name, id=ancestor_id(arrival.id, kind.arity))
    if isinstance(guard, AttributeIs):
        setters = _setters(kind, guard.name)
        wanted = guard.value if isinstance(guard.value, tuple) else (guard.value,)
        value = or_list(tuple([str(one) for one in wanted if one is not None]))
        asked = _asked(kind, legal_triggers(tree, at))
        sets = or_list(tuple([trigger for trigger in asked if trigger in setters])) if value else ""
        if sets:
            yield Turn((), kind.name, at.id, f"{sets} at {kind.name} {at.id} with {guard.name} {value}")
    elif above.facets[guard.facet].base.phase in guard.phases:
        yield from _until_view_ends(tree, kind, at, guard.facet, depth)
    else:
        alive = is_alive(tree.get(arrival.kind, arrival.id))
        yield from _along(tree, kind, at, guard.facet, Goal(guard.phases, dies=not alive), depth)


@lru_cache(maxsize=4096)
def _setters(kind: Kind, attribute: str) -> frozenset[str]:
    """The triggers whose data can set an attribute."""
    return frozenset(t for t, fields in kind.fields.items() if any(f.name == attribute for f in fields))


def _until_view_ends(tree: Tree, kind: Kind, at: Arrival, index: int, depth: int) -> Iterator[Turn]:
    """The base would do: what must happen so that no view covers it."""
    entity = tree.entities[kind.name][at.id]
    view = kind.machines[index].shown_view(entity.facets[index].base, tree, at.id)
    if view is None:
        return
    seen = view.while_[0] if len(view.while_) == 1 else None
    if isinstance(seen, Above) and seen.kind != kind.name and depth:
        above = tree.kinds[seen.kind]
        healthy = above.table.facets[seen.facet].healthy
        lifted = replace(at, kind=above.name, id=ancestor_id(at.id, above.arity))
        if healthy not in seen.phases:
            yield from _along(tree, above, lifted, seen.facet, Goal((healthy,), dies=False), depth - 1)
    else:
        while_ = " and ".join(predicate.text() for predicate in view.while_)
        yield Turn((), kind.name, at.id, f"wait, it is so only while {while_}")


def _own_way(tree: Tree, kind: Kind, arrival: Arrival, depth: int) -> Iterator[Turn]:
    """How the entity itself comes to a state in which the intent is legal."""
    entity = tree.get(kind.name, arrival.id)
    index = _facet_of(kind, arrival.trigger)
    base = (kind.unborn if entity is None else entity.facets)[index].base
    goal = Goal(arrival.trigger, dies=not is_alive(entity) or arrival.trigger in kind.births)
    turns_ = [*_instead(tree, kind, arrival)] if base.phase in kind.waiting[index] else []
    if way(kind, index, base, goal) is None:
        if base.phase in kind.waiting[index] and kind.judge is not None:
            yield from (
                *turns_,
                _seen(kind, arrival.id, is_other=bool(turns_)),
                *_until_stalled(tree, kind, arrival.id),
            )
        return
    if entity is not None and base.phase != entity.facets[index].state.phase:
        turns_ += _until_view_ends(tree, kind, arrival, index, depth)
    turns_ += _along(tree, kind, arrival, index, goal, depth)
    blocked = _unmet(tree, kind, arrival.id, arrival.trigger)
    past = [*_guards(tree, arrival, blocked, depth)]
    if past or not blocked:
        if base.phase in kind.waiting[index]:
            turns_[1:] = [turn._replace(is_other=bool(turn.wait)) for turn in turns_[1:]]
        yield from (*turns_, *past)


def _instead(tree: Tree, kind: Kind, arrival: Arrival) -> Iterator[Turn]:
    """What may be asked of an entity that waits for an answer, with any data."""
    moving = {row.trigger for facet in kind.table.facets for row in facet.rows if row.to != SAME}
    entity = tree.entities[kind.name][arrival.id]
    asked = tuple(
        one
        for one in _asked(kind, legal_triggers(tree, arrival))
        if one in moving and kind.select(one, entity.facets, tree, arrival.id, NONE).steps
    )
    if asked:
        yield Turn(asked, kind.name, arrival.id)


@lru_cache(maxsize=4096)
def _facet_of(kind: Kind, trigger: str) -> int:
    """The index of the first facet that has rows for a trigger."""
    return next(index for index, machine in enumerate(kind.machines) if trigger in machine.steps)


class Goal(NamedTuple):
    """Where a way shall lead: phases of the base, or a trigger that shall have a step.

    dies: whether the way may lead over Deleted.
    """

    at: tuple[str, ...] | str
    dies: bool


class WayStep(NamedTuple):
    """One step on a way: the triggers that lead there, and whether any of them has guards."""

    triggers: tuple[str, ...]
    is_guarded: bool


def _along(tree: Tree, kind: Kind, at: Arrival, index: int, goal: Goal, depth: int) -> list[Turn]:
    """The turns on the shortest way of one facet, and before each what its guards need; none if these cannot be met."""
    entity = tree.get(kind.name, at.id)
    base = (kind.unborn if entity is None else entity.facets)[index].base
    found: list[Turn] = []
    steps = way(kind, index, base, goal) or ()
    if begins := _begun(kind, index, base, goal, steps):
        found.append(Turn((), kind.name, at.id, f"once it is so: {', then '.join(begins)}, at {kind.name} {at.id}"))
    for observed, is_guarded in steps:
        triggers = _asked(kind, observed)
        if not triggers:
            found += [_seen(kind, at.id, is_other=bool(begins))] if kind.judge is not None else []
            continue
        free = tuple([t for t in triggers if not _unmet(tree, kind, at.id, t)]) if is_guarded else triggers
        if not free:
            first = replace(at, trigger=triggers[0])
            past = [*_guards(tree, first, _unmet(tree, kind, at.id, triggers[0]), depth)]
            if not past:
                return []
            found += past
        found.append(Turn(free or triggers[:1], kind.name, at.id))
    return [*found, *_until_stalled(tree, kind, at.id)]


def _begun(kind: Kind, index: int, base: State, goal: Goal, steps: Sequence[WayStep]) -> list[str]:
    """The observations that begin something at a base that waits for nothing, and those that follow; else none.

    What others begin is news, such as `renewed`, and no state that could be seen already.
    """
    named: list[str] = []
    if base.phase in kind.waiting[index]:
        return named
    for observed, _ in steps:
        if _asked(kind, observed):
            break
        named.append(or_list(observed))
        base = _after(kind, index, base, goal.dies)[observed[0]]
        if len(named) == 1 and base.phase not in kind.waiting[index]:
            return []
    return named


def _guards(tree: Tree, at: Arrival, unmet: Sequence[Predicate], depth: int) -> Iterator[Turn]:
    """What the guards of a trigger need. unmet: those that do not hold."""
    if unmet and depth:
        yield from _past_guard(tree, replace(at, data=NONE), unmet[0], depth - 1)


def _unmet(tree: Tree, kind: Kind, entity_id: str, trigger: str) -> list[Predicate]:
    """The guards of a trigger that do not hold; none if it has a row whose guards hold."""
    found: list[list[Predicate]] = []
    for guards in _guards_of(kind, trigger):
        found.append([guard for guard in guards if not guard.holds(tree, entity_id)])
        if not found[-1]:
            return []
    return found[0] if found else []


@lru_cache(maxsize=4096)
def _guards_of(kind: Kind, trigger: str) -> tuple[tuple[Predicate, ...], ...]:
    """The guards of each row of a trigger; none if a row has none. What data must ask for does not count."""
    rows = (row for facet in kind.table.facets for row in facet.rows if row.trigger == trigger)
    guards = tuple(row.when for row in rows if True not in row.given.values())
    return guards if all(guards) else ()


@lru_cache(maxsize=4096)
def way(kind: Kind, index: int, base: State, goal: Goal) -> tuple[WayStep, ...] | None:
    """The shortest way from a base of a facet to the goal, guards aside; None if there is none, empty if it is there.

    Of the last step, all triggers that lead there are named, or those that lead to the healthy phase. No way leads over
    an observation that something failed.
    """
    if _is_there(kind.machines[index], base, goal.at):
        return ()
    found = _shortest(kind, index, base, goal)
    return tuple(WayStep(named, any(_guards_of(kind, one) for one in named)) for named in found) or None


def _shortest(kind: Kind, index: int, base: State, goal: Goal) -> tuple[tuple[str, ...], ...]:
    """The triggers on the shortest way; empty if there is none."""
    machine, seen = kind.machines[index], {base}
    queue: list[tuple[State, tuple[str, ...]]] = [(base, ())]
    for found, way in queue:
        after = _after(kind, index, found, goal.dies)
        ends = {trigger: result.phase for trigger, result in after.items() if _is_there(machine, result, goal.at)}
        if ends:
            best = tuple(trigger for trigger, phase in ends.items() if phase == machine.facet.healthy)
            return (*((trigger,) for trigger in way), best or tuple(ends))
        for trigger, result in after.items():
            if result not in seen and len(seen) < FAR:
                seen.add(result)
                queue.append((result, (*way, trigger)))
    return ()


def _is_there(machine: FacetMachine, base: State, goal: tuple[str, ...] | str) -> bool:
    if isinstance(goal, tuple):
        return base.phase in goal
    steps = machine.steps[goal].get(base.phase, ())
    return any(step.is_offered(base, base) for step in steps if True not in step.row.given.values())


@lru_cache(maxsize=4096)
def _after(kind: Kind, index: int, base: State, dies: bool) -> dict[str, State]:
    """The bases that publishers can lead to from a base by the rows of the table, guards aside, by trigger.

    dies: as in `Goal`. Ways to many goals lead over the same bases, so this is computed once for each.
    """
    machine, after = kind.machines[index], dict[str, State]()
    written = {(row.trigger, row.source) for facet in kind.written.facets[index : index + 1] for row in facet.rows}
    for trigger, by_phase in machine.steps.items():
        role = kind.roles[trigger]
        for step in by_phase.get(base.phase, ()) if role != "derived" else ():
            fails = role == "observation" and step.dest == machine.facet.accumulates_in != step.source
            ends = step.dest == DELETED and not dies
            opted = True in step.row.given.values()
            left_out = step.row.to == FROM_DATA or (trigger, step.row.source) not in written or fails or ends or opted
            if not left_out and step.is_offered(base, base):
                after.setdefault(trigger, step.result(base, step.row.given))
    return after
