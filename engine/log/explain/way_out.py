"""What would have to happen first, so that the event of one rejection could be taken.

A way out never asks for a claim. It offers requests, the report of the state that somebody sees, the time at which an
operation will be stalled, and what others begin once it is so. Pure: it is worked out from the tree in which the event
was decided, when somebody asks.
Belongs here: the shortest way to a state in which the event is legal. Does not: why it is not, and what is
(`core.rejections`), reading the tree (`fetch`).
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from msgspec.structs import replace

from phaseline.engine.core.adoption import missing_parent
from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.lives.judging import is_there
from phaseline.engine.core.rejections import in_the_way, legal_triggers
from phaseline.engine.core.timers import timeout_of
from phaseline.engine.core.tree import Tree
from phaseline.machines.compiler.conditions import as_told
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.compiler.machine import FacetMachine
from phaseline.machines.compiler.reports import SEEN
from phaseline.machines.language.predicates import Above, AllBelow, AttributeIs, Predicate, or_list
from phaseline.machines.language.table import ABSENT, DELETED, FROM_DATA, REPORTED, SAME, STALLED
from phaseline.schemas.records import NONE, SECOND, FacetState, Rejection, State, timestamp
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


def way_out(tree: Tree, rejection: Rejection, read: Arrival | Rejection | None) -> str:
    """What could be done about a rejection, in the tree that rejected it; empty if nothing is known.

    read: its event; None if it is not at hand. Then the event counts as one without data.
    """
    if rejection.reason not in ("illegal", "guard", "unknown_parent"):
        return ""  # it could not be read, or came too late
    if not isinstance(read, Arrival):
        read = Arrival(rejection.kind, rejection.trigger, rejection.id, NONE, rejection.cause, None, rejection.time_ns)
    found = dict.fromkeys(turns(tree, read))
    first, *others = [_told([*group]) for _, group in groupby(found, key=_place)] or [("", False)]
    return first[0] + "".join(f"; {'or' if is_other else 'then'} {said}" for said, is_other in others)


def _place(turn: Turn) -> tuple[str, str, str, bool]:
    """Turns are told together that are requests at the same entity."""
    return turn.kind, turn.id, turn.wait, turn.is_other


def _told(group: Sequence[Turn]) -> tuple[str, bool]:
    """`renewed, then started, at cluster c1`, and whether that is another way."""
    first = group[0]
    steps = ", then ".join(or_list(turn.triggers) for turn in group)
    return first.wait or f"{steps}{',' if len(group) > 1 else ''} at {first.kind} {first.id}", first.is_other


def turns(tree: Tree, arrival: Arrival, depth: int = DEEP) -> Iterator[Turn]:
    """What must happen so that this event becomes legal."""
    kind = tree.kinds[arrival.kind]
    asks = kind.roles[arrival.trigger] == "intent"
    missing = missing_parent(tree, kind, arrival.id, is_intent=asks)
    if missing is not None and not missing.adoptable:
        is_told = REPORTED in legal_triggers(tree, arrival)
        if asks and is_told and missing.phase == ABSENT and arrival.trigger not in kind.births:
            yield _seen(kind, arrival.id)  # that makes what is above it known, too
            return
        if asks or not is_told:
            above, _, above_id = missing.name.partition("/")
            yield from _births(tree, replace(arrival, kind=above, id=above_id), depth)
            return
    else:
        chosen = kind.select(arrival.trigger, _facets(tree, arrival), tree, arrival.id, arrival.data)
        if chosen.steps:
            yield from _children(tree, kind, arrival)
            return
        if chosen.refused is not None:
            found = [*_past_guard(tree, arrival, chosen.refused, depth)]
            found += _opted(tree, kind, arrival, is_other=bool(found))
            if not (found or asks or arrival.trigger == REPORTED) and REPORTED in legal_triggers(tree, arrival):
                found.append(_seen(kind, arrival.id))
            yield from found
            return
        if asks:
            is_unknown = not _lives(tree, arrival) and arrival.trigger not in kind.births
            known = [_seen(kind, arrival.id)] if is_unknown and REPORTED in legal_triggers(tree, arrival) else []
            own = () if is_unknown and _ends(kind, arrival.trigger) else _own_way(tree, kind, arrival, depth)
            yield from known
            yield from (turn._replace(is_other=turn.is_other or (n == 0 and bool(known))) for n, turn in enumerate(own))
            return
    if REPORTED in legal_triggers(tree, arrival) and arrival.trigger != REPORTED:
        gone = [*_gone(tree, kind, arrival)]
        yield from gone
        yield _seen(kind, arrival.id, is_other=bool(gone))  # who saw what cannot be so can name what was seen
        if missing is not None and not missing.adoptable:
            yield from _again(tree, kind, arrival)
    elif not _lives(tree, arrival) and arrival.trigger not in kind.births:
        yield from _births(tree, arrival, depth)


def _facets(tree: Tree, at: Arrival) -> tuple[FacetState, ...]:
    """The facets of an entity, also of one that is unknown."""
    entity = tree.get(at.kind, at.id)
    return tree.kinds[at.kind].unborn if entity is None else entity.facets


def _lives(tree: Tree, at: Arrival) -> bool:
    """Whether an entity is known and not deleted."""
    entity = tree.get(at.kind, at.id)
    return entity is not None and is_there(entity)


def _children(tree: Tree, kind: Kind, arrival: Arrival) -> Iterator[Turn]:
    """How the children come to life that must follow and are unknown."""
    entity = tree.get(kind.name, arrival.id)
    named = {**({} if entity is None else entity.attributes), **arrival.data}
    for cascade in kind.table.cascades:
        if cascade.required and arrival.trigger in cascade.on:
            below, child_id = tree.kinds[cascade.at[0]], f"{arrival.id}/{named.get(str(cascade.only_child))}"
            if tree.get(below.name, child_id) is None:
                yield Turn(_asked(below, below.births), below.name, child_id)


def _seen(kind: Kind, entity_id: str, *, is_other: bool = False) -> Turn:
    """That somebody says what is there."""
    how = f"if it is there: {REPORTED} at {kind.name} {entity_id} with the state you see"
    return Turn((), kind.name, entity_id, how, is_other)


def _ends(kind: Kind, trigger: str) -> bool:
    """Whether a request is one for the end of a life: nothing is made in order to be ended."""
    return any(row.trigger == trigger and row.to == DELETED for facet in kind.table.facets for row in facet.rows)


def _gone(tree: Tree, kind: Kind, at: Arrival) -> Iterator[Turn]:
    """That somebody who has read the request says that nothing came of it."""
    entity = tree.get(kind.name, at.id)
    if entity is None or kind.judge is None or at.trigger not in kind.ending:
        return
    if entity.facets[0].base.phase in kind.judge.arriving:
        how = f"if it is gone: {at.trigger} at {kind.name} {at.id} with {SEEN} at or above {entity.asked}"
        yield Turn((), kind.name, at.id, how)


def _again(tree: Tree, kind: Kind, at: Arrival) -> Iterator[Turn]:
    """That somebody says that the uppermost thing above that is deleted is there again: then what is below may be."""
    ended: Turn | None = None
    while kind.parent is not None:
        kind = tree.kinds[kind.parent]
        above = replace(at, kind=kind.name, id=ancestor_id(at.id, kind.arity))
        if tree.get(kind.name, above.id) is not None and not _lives(tree, above):
            how = (
                f"if {kind.name} {above.id} is there again: {REPORTED} at {kind.name} {above.id} with the state you see"
            )
            ended = (
                Turn((), kind.name, above.id, how, is_other=True) if REPORTED in legal_triggers(tree, above) else None
            )
    if ended is not None:
        yield ended


def _until_stalled(tree: Tree, kind: Kind, entity_id: str) -> Iterator[Turn]:
    """When the operations of an entity will be stalled that wait for an answer. More is legal then."""
    if (entity := tree.get(kind.name, entity_id)) is None:
        return
    for index, facet in enumerate(entity.facets):
        timeout, due = timeout_of(kind, index, facet), entity.timers_ns.get(kind.names[index])
        if due is not None and timeout is not None and timeout.deadline:
            wait = f"wait: {kind.name} {entity_id} will be {STALLED} at {timestamp(due + SECOND - 1)[:19]}Z"
            yield Turn((), kind.name, entity_id, wait, is_other=True)


def _asked(kind: Kind, triggers: Iterable[str]) -> tuple[str, ...]:
    """Those of some triggers that are requests."""
    return tuple(trigger for trigger in triggers if kind.roles[trigger] == "intent")


def _births(tree: Tree, at: Arrival, depth: int) -> Iterator[Turn]:
    """How an entity that is unknown or deleted comes to life."""
    kind, legal = tree.kinds[at.kind], legal_triggers(tree, at)
    named = _asked(kind, legal)
    found = [Turn(named, kind.name, at.id)] if named else []
    for trigger in _asked(kind, kind.births) if depth and not named else ():
        chosen = kind.select(trigger, _facets(tree, at), tree, at.id, NONE)
        if chosen.steps or chosen.refused is not None:
            found += turns(tree, replace(at, trigger=trigger, data=NONE), depth - 1)
            found.append(Turn((trigger,), kind.name, at.id))
            break
    yield from found
    if REPORTED in legal:
        yield _seen(kind, at.id, is_other=bool(found))


def _opted(tree: Tree, kind: Kind, arrival: Arrival, *, is_other: bool) -> Iterator[Turn]:
    """With which field of its data that says yes the trigger is legal now, or without which."""
    rows = (row for facet in kind.table.facets for row in facet.rows if row.trigger == arrival.trigger)
    fields = {name for row in rows for name, value in row.given.items() if value is True}
    for name in sorted(name for name in fields if arrival.data.get(name, True) is True):
        is_given = name in arrival.data
        other = {one: value for one, value in arrival.data.items() if one != name} | ({} if is_given else {name: True})
        if kind.select(arrival.trigger, _facets(tree, arrival), tree, arrival.id, other).steps:
            how = f"{arrival.trigger} at {kind.name} {arrival.id} " + (
                f"without {name}" if is_given else f"with {name} true"
            )
            yield Turn((), kind.name, arrival.id, how, is_other)


def _past_guard(tree: Tree, arrival: Arrival, guard: Predicate, depth: int) -> Iterator[Turn]:
    """What makes a guard hold: the ancestor reaches a phase or gets an attribute; what is below is seen to be gone."""
    if isinstance(guard, AllBelow) and not guard.some and tree.kinds[guard.kind].judge is not None:
        for one in in_the_way(tree, arrival.kind, arrival.id, guard)[:1]:
            yield Turn((), guard.kind, one, f"if it is gone: {REPORTED} {DELETED} at {guard.kind} {one}")
        return
    if not isinstance(guard, Above | AttributeIs) or (above := tree.above(arrival.id, guard.kind)) is None:
        return
    kind = tree.kinds[guard.kind]
    at = replace(arrival, kind=kind.name, id=ancestor_id(arrival.id, kind.arity))
    if isinstance(guard, AttributeIs):
        wanted = guard.value if isinstance(guard.value, tuple) else (guard.value,)
        value = or_list(tuple([str(one) for one in wanted if one is not None]))
        asked = _asked(kind, legal_triggers(tree, at))
        sets = [trigger for trigger in asked if any(field.name == guard.name for field in kind.fields[trigger])]
        if sets and value:
            how = f"{or_list(tuple(sets))} at {kind.name} {at.id} with {guard.name} {value}"
            yield Turn((), kind.name, at.id, how)
    elif above.facets[guard.facet].base.phase in guard.phases:
        yield from _until_view_ends(tree, kind, at, guard.facet, depth)
    else:
        yield from _along(tree, kind, at, guard.facet, Goal(guard.phases, dies=not _lives(tree, arrival)), depth)


def _until_view_ends(tree: Tree, kind: Kind, at: Arrival, index: int, depth: int) -> Iterator[Turn]:
    """The base would do: what must happen so that no view covers it."""
    view = kind.machines[index].shown_view(_facets(tree, at)[index].base, tree, at.id)
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
    index = next(index for index, machine in enumerate(kind.machines) if arrival.trigger in machine.steps)
    facet = _facets(tree, arrival)[index]
    waits = facet.base.phase in kind.waiting[index]
    goal = Goal(arrival.trigger, dies=not _lives(tree, arrival) or arrival.trigger in kind.births)
    found = [*_instead(tree, kind, arrival)] if waits else []
    if way(kind, index, facet.base, goal) is None:
        if waits and kind.judge is not None:
            yield from (*found, _seen(kind, arrival.id, is_other=bool(found)), *_until_stalled(tree, kind, arrival.id))
        return
    if facet.base.phase != facet.state.phase:
        found += _until_view_ends(tree, kind, arrival, index, depth)
    found += _along(tree, kind, arrival, index, goal, depth)
    blocked = _unmet(tree, kind, arrival.id, arrival.trigger)
    past = _guards(tree, arrival, blocked, depth)
    if past or not blocked:
        if waits:
            found[1:] = [turn._replace(is_other=bool(turn.wait)) for turn in found[1:]]
        yield from (*found, *past)


def _instead(tree: Tree, kind: Kind, arrival: Arrival) -> Iterator[Turn]:
    """What may be asked of an entity that waits for an answer, with any data."""
    moving = {row.trigger for facet in kind.table.facets for row in facet.rows if row.to != SAME}
    asked = tuple(
        one
        for one in _asked(kind, legal_triggers(tree, arrival))
        if one in moving and kind.select(one, _facets(tree, arrival), tree, arrival.id, NONE).steps
    )
    if asked:
        yield Turn(asked, kind.name, arrival.id)


class Goal(NamedTuple):
    """Where a way shall lead: phases of the base, or a trigger that shall have a step.

    dies: whether the way may lead over Deleted.
    """

    at: tuple[str, ...] | str
    dies: bool


def _along(tree: Tree, kind: Kind, at: Arrival, index: int, goal: Goal, depth: int) -> list[Turn]:
    """The turns on the shortest way of one facet, and before each what its guards need; none if these cannot be met."""
    base = _facets(tree, at)[index].base
    found: list[Turn] = []
    steps, waits = way(kind, index, base, goal) or (), base.phase in kind.waiting[index]
    if begins := _begun(kind, index, base, goal, steps):
        found.append(Turn((), kind.name, at.id, f"once it is so: {', then '.join(begins)}, at {kind.name} {at.id}"))
    for named in steps:
        triggers = _asked(kind, named)
        if not triggers:
            if any(turn.triggers for turn in found) and not waits and kind.ending.issuperset(named):
                gone = f"if it is gone: {or_list(named)} at {kind.name} {at.id}"
                found.append(Turn((), kind.name, at.id, gone, bool(begins)))
                continue
            found += [_seen(kind, at.id, is_other=bool(begins))] if kind.judge is not None else []
            if _may_be_seen(kind, index, goal):
                break  # what else has to happen depends on what is seen
            continue
        free = tuple(one for one in triggers if not _unmet(tree, kind, at.id, one))
        if not free:
            past = _guards(tree, replace(at, trigger=triggers[0]), _unmet(tree, kind, at.id, triggers[0]), depth)
            if not past:
                return []
            found += past
        found.append(Turn(free or triggers[:1], kind.name, at.id))
    return [*found, *_until_stalled(tree, kind, at.id)]


def _may_be_seen(kind: Kind, index: int, goal: Goal) -> bool:
    """Whether a report alone can lead to the goal: some state that can be seen is there."""
    if kind.judge is None or index != 0:
        return False
    live = (base for base in kind.bases[0] if base.phase not in (ABSENT, DELETED) and base == as_told(base))
    return any(_is_there(kind.machines[0], base, goal.at) for base in live)


def _begun(kind: Kind, index: int, base: State, goal: Goal, steps: Sequence[Sequence[str]]) -> list[str]:
    """The observations that begin something at a base that waits for nothing, and those that follow; else none.

    What others begin is news, such as `renewed`, and no state that could be seen already.
    """
    named: list[str] = []
    if base.phase in kind.waiting[index]:
        return named
    for observed in steps:
        if _asked(kind, observed):
            break
        named.append(or_list(tuple(observed)))
        base = _after(kind, index, base, goal.dies)[observed[0]]
        if len(named) == 1 and base.phase not in kind.waiting[index]:
            return []
    return named


def _guards(tree: Tree, at: Arrival, unmet: Sequence[Predicate], depth: int) -> list[Turn]:
    """What the guards of a trigger need. unmet: those that do not hold."""
    return [*_past_guard(tree, replace(at, data=NONE), unmet[0], depth - 1)] if unmet and depth else []


def _unmet(tree: Tree, kind: Kind, entity_id: str, trigger: str) -> list[Predicate]:
    """The guards of a trigger that do not hold, of its first row; none if it has a row whose guards hold.

    What data must ask for does not count.
    """
    rows = (row for facet in kind.table.facets for row in facet.rows if row.trigger == trigger)
    found = [
        [guard for guard in row.when if not guard.holds(tree, entity_id)]
        for row in rows
        if True not in row.given.values()
    ]
    return found[0] if found and all(found) else []


def way(kind: Kind, index: int, base: State, goal: Goal) -> tuple[tuple[str, ...], ...] | None:
    """The shortest way from a base of a facet to the goal, guards aside; None if there is none, empty if it is there.

    Of the last step, all triggers that lead there are named, or those that lead to the healthy phase. No way leads over
    an observation that something failed.
    """
    machine, seen = kind.machines[index], {base}
    if _is_there(machine, base, goal.at):
        return ()
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
    return None


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
