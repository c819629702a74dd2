"""The fast path: the transition of an event that changes one entity and can trigger nothing else. Pure.

What follows from the table alone is worked out once for each trigger and state, as a `MovePlan`. What follows from data
or from other entities is asked for each event.
Belongs here: making plans, following them. Does not: an event that may change other entities (`changeset`). Where both
ways are possible, they make the same record. Next: `tree.evolve`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from phaseline.engine.core.adoption import has_parent
from phaseline.engine.core.changeset import ends_life, is_fired, waits_anew
from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.lives.beginning import lived_on, shows
from phaseline.engine.core.memory import class_stays, reasons
from phaseline.engine.core.memory.reasons import told_about
from phaseline.engine.core.sources.numbers import remembered
from phaseline.engine.core.timers import TimerChange, restart, timers_after
from phaseline.engine.core.transitions import Decision
from phaseline.engine.core.tree import NO_TALLY, Tree
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.compiler.machine import INTERRUPTED, Step
from phaseline.machines.compiler.relations import Counted
from phaseline.machines.compiler.short_ways import Crossing, MovePlan, Passing
from phaseline.machines.language.endings import MOVED, end_of, with_end
from phaseline.machines.language.fields import ATTRIBUTES
from phaseline.machines.language.table import ABSENT, DELETED, Cascade
from phaseline.schemas.records import Entity, FacetState, Memory, State, Transition
from phaseline.schemas.subjects import id_above

NO_RESTARTS: tuple[TimerChange, ...] = ()
NO_WORDS = (None, None)
"""The reason and the message of an event without data."""


class _Asked(Exception):
    """Something depends on the event's data."""


class _AnyData(Mapping[str, Any]):
    """The data of any event: whoever asks for a field gets `_Asked`, but for the phase that causes interrupted.

    That one is asked for at many steps, and hardly any event names it: `planned` leaves those alone that do.
    """

    def __getitem__(self, name: str) -> Any:
        if name == INTERRUPTED:
            raise KeyError(name)
        raise _Asked

    def __iter__(self) -> Iterator[str]:
        raise _Asked

    def __len__(self) -> int:
        raise _Asked


_ANY_DATA = _AnyData()


def planned(tree: Tree, kind: Kind, entity: Entity, arrival: Arrival, index: int) -> Decision | None:
    """The only transition of an event without guards, if its step follows from the state of facet `index`; else None.

    It is the one that selecting the step and `fast_path` lead to.
    """
    old = entity.facets[index]
    key = (arrival.trigger, old.base, old.state, old.interrupted)
    try:
        plan = kind.plans[key]
    except KeyError:
        plan = kind.plans[key] = _plan_of_trigger(tree, kind, arrival.trigger, entity.facets)
    if plan is None or INTERRUPTED in arrival.data or not has_parent(tree, kind, entity.id):
        return None
    return _follow(tree, kind, entity, arrival, plan)


def fast_path(tree: Tree, kind: Kind, entity: Entity, arrival: Arrival, index: int, step: Step) -> Decision | None:
    """The only transition of an event that takes `step` in facet `index`; None if the event may change more."""
    old = entity.facets[index]
    base = step.result(old.base, arrival.data)
    interrupted = kind.machines[index].interrupted(old, base, arrival.data)
    key = (step, old.base, old.state, base, interrupted)
    try:
        plan = kind.plans[key]
    except KeyError:
        plan = kind.plans[key] = _plan(kind, index, step, old, base, interrupted)
    return None if plan is None else _follow(tree, kind, entity, arrival, plan)


def _plan_of_trigger(tree: Tree, kind: Kind, trigger: str, facets: Sequence[FacetState]) -> MovePlan | None:
    """The plan for a trigger without guards; None if its step depends on data, or if it may change more."""
    try:
        steps = kind.select(trigger, facets, tree, "", _ANY_DATA).steps
        if not steps:
            return None
        [(index, step)] = steps
        base = step.result(facets[index].base, _ANY_DATA)
        interrupted = kind.machines[index].interrupted(facets[index], base, _ANY_DATA)
    except _Asked:
        return None
    return _plan(kind, index, step, facets[index], base, interrupted)


def _plan(kind: Kind, index: int, step: Step, old: FacetState, base: State, interrupted: str | None) -> MovePlan | None:
    """The plan for a step from the facet `old` to `base`; None if an event that takes it changes more, or may do so."""
    trigger, row = step.row.trigger, step.row
    begins = old.base.phase in (ABSENT, DELETED)
    if begins or row.computes or row.forgets or trigger in kind.fan_out_triggers:
        return None
    ends = ends_life(index, old.base, base)
    if ends and (kind.below or kind.contact is not None or kind.roles[trigger] == "intent"):
        return None
    cascades = tuple(one for one in kind.table.cascades if _may_fire(one, trigger, old.base, base))
    after = FacetState(base, base, 0, interrupted)
    unasked = trigger in kind.reports and kind.is_unasked(index, trigger, old, after)
    asks = kind.roles[trigger] == "intent"
    timed = kind.deadlines[index]
    restarts = (old.base.phase != base.phase or asks) and (old.base.phase in timed or base.phase in timed)
    waits = waits_anew(kind, index, trigger, old.base, base, asks=asks)
    is_viewed = bool(kind.machines[index].views[base.phase])
    assigns = kind.table.assigned(row)
    end = end_of(trigger, kind.roles[trigger], {}) if ends else None
    shown, told = shows(kind, index, trigger, old.base, base), told_about(kind.table.facets[index], row, base)
    return MovePlan(
        index, base, interrupted, waits, asks, unasked, is_viewed, assigns, restarts, end, shown, told, cascades, {}
    )  # fmt: skip


def _passing(kind: Kind, index: int, old: FacetState, base: State, state: State) -> Passing | None:
    """What more a move may change; None if nothing moves, or if a view below depends on it."""
    if base == old.base and state == old.state:
        return None
    for seen in kind.viewers:
        before, after = (old.base.phase, base.phase) if seen.base else (old.state.phase, state.phase)
        if seen.facet == index and (before in seen.phases) != (after in seen.phases):
            return None
    found: list[tuple[Counted, Crossing]] = []
    for number, counted in enumerate(kind.counted):
        before, after = counted.phase(old.state), counted.phase(state)
        if counted.each and counted.facet == index and before != after:
            return None
        leaves, enters = (phase if phase in counted.phases else "" for phase in (before, after))
        if counted.facet == index and before != after and (leaves or enters):
            found.append((counted, Crossing(counted.levels, number, leaves, enters)))
    return Passing(tuple(_lowest(found)), class_stays.may_last(kind, old.state, state))


def _lowest(found: Sequence[tuple[Counted, Crossing]]) -> Iterator[Crossing]:
    """Without the same tallies further up: where the count of fewer does not come to zero, that of more does not."""
    lowest: dict[tuple[object, ...], Crossing] = {}
    for counted, one in sorted(found, key=lambda one: one[1].levels):
        lowest.setdefault((counted.has, counted.lacks, counted.inside, one.leaves, one.enters), one)
    yield from lowest.values()


def _may_fire(cascade: Cascade, trigger: str, old: State, base: State) -> bool:
    """Whether a trigger fires this cascade with some data."""
    try:
        return is_fired(cascade, trigger, [(old, base)], _ANY_DATA)
    except _Asked:
        return True


def _follow(tree: Tree, kind: Kind, entity: Entity, arrival: Arrival, plan: MovePlan) -> Decision | None:
    """The transition of a plan; None if the event changes more after all."""
    index, base, trigger, data = plan.facet, plan.base, arrival.trigger, arrival.data
    if data and (ATTRIBUTES in data or (plan.assigns and not data.keys().isdisjoint(plan.assigns))):
        return None
    if plan.end is not None and data.get(MOVED.name):
        return None
    old = entity.facets[index]
    for cascade in plan.cascades:
        if is_fired(cascade, trigger, [(old.base, base)], data) and (
            cascade.targets is None or cascade.targets(tree, arrival.id, data)
        ):
            return None
    state = kind.machines[index].shown(base, tree, arrival.id) if plan.is_viewed else base
    try:
        passing = plan.passings[state]
    except KeyError:
        passing = plan.passings[state] = _passing(kind, index, old, base, state)
    if passing is None:
        return None
    for levels, number, leaves, enters in passing.crossings:
        tally = tree.kept[kind.name][number].get(id_above(arrival.id, levels), NO_TALLY)
        if (leaves and tally[leaves] == 1) or (enters and enters not in tally):
            return None
    facet = FacetState(base, state, old.since_ns if state == old.state else arrival.time, plan.interrupted)
    facets = (facet, *entity.facets[1:]) if index == 0 else (*entity.facets[:index], facet, *entity.facets[index + 1 :])
    asked = entity.asked
    if plan.waits is not None:
        asked = arrival.cause.sequence if plan.waits else 0
    timers, restarts = entity.timers_ns, NO_RESTARTS
    if plan.restarts:
        timers, restarts = _restarted(tree, kind, entity, index, facet, arrival.time)
    attributes = entity.attributes if plan.end is None else with_end(entity.attributes, plan.end)
    sequences, born, memory = entity.sequences, entity.born, entity.memory
    reason, message = (data.get("reason"), data.get("message")) if data else NO_WORDS
    if memory is not None or reason or plan.asks or arrival.sequence is not None:
        sequences, born, memory = _remembered(kind, entity, arrival, plan, reason)
    told = kind.signals is not None and facets[kind.signals].since_ns
    if passing.may_last or told or (memory is not None and memory.stay is not None):
        memory = class_stays.memory_after(kind, entity, facets, attributes, memory, arrival.time)
    after = Entity(
        kind.name, arrival.id, entity.version + 1, kind.names, facets, attributes, sequences, timers, asked, born,
        memory,
    )  # fmt: skip
    record = Transition(
        kind.names[index], old.state, state, trigger, reason, message, arrival.cause, after,
        arrival.time, plan.unasked,
    )  # fmt: skip
    return Decision([record], restarts)


def _remembered(
    kind: Kind, entity: Entity, arrival: Arrival, plan: MovePlan, reason: str | None
) -> tuple[Mapping[str, int], int, Memory | None]:
    """The numbers of sources, the birth and the memory of an entity after the step of a plan."""
    index, born, sequences, memory = plan.facet, entity.born, entity.sequences, entity.memory
    if plan.asks or arrival.sequence is not None:
        sequences, memory = remembered(sequences, memory, arrival, asks=plan.asks)
    if memory is not None and (memory.awaited or memory.settled or index == kind.contact):
        born, memory = lived_on(kind, entity, memory, index, arrival.cause.sequence if plan.shows else None)
    if reason or (memory is not None and memory.reasons):
        memory = reasons.after(kind, index, plan.told, entity.facets[index].base, plan.base, reason, memory)
    return sequences, born, memory


def _restarted(
    tree: Tree, kind: Kind, entity: Entity, index: int, facet: FacetState, time: int
) -> tuple[Mapping[str, int], tuple[TimerChange, ...]]:
    """The timers of an entity after that of a facet has started again, or ended; and this change, if it is one."""
    timers = entity.timers_ns
    change = restart(tree, kind, entity.id, index, facet, entity.attributes, time, 0, fired=False)
    return timers_after(timers, change), () if change.due == timers.get(change.facet) else (change,)
