"""Decides one event against a tree and makes its records. Pure: no clock, no randomness, no input or output.

Belongs here: whether the event is a repeat, whether it is legal, and which steps it takes. Does not: whether its bytes
are an event (`intake`), what the steps change (`fast_path`, `changeset`), the records of the changes
(`core.transitions`), the answer where no step is taken (`rejections`), which places were heard (`hearing`).
"""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from phaseline.engine.core import hearing
from phaseline.engine.core.adoption import adopt, missing_parent
from phaseline.engine.core.attributes import attributes_after
from phaseline.engine.core.changeset import Changeset, Origin
from phaseline.engine.core.fast_path import fast_path, with_sequence
from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.rejections import mark, reject, without_step
from phaseline.engine.core.transitions import Decision, transitions
from phaseline.engine.core.tree import Tree
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.compiler.machine import Step
from phaseline.machines.language.table import ABSENT, DELETED, FROM_DATA, Cascade, Refusal, RuleEvent
from phaseline.schemas.records import Entity, Reason, Record, Rejection, State

Steps = list[tuple[int, Step]]
"""The steps that an event takes, each with the index of its facet."""


def decide(tree: Tree, arrival: Arrival) -> Decision:
    """The records of an event: transitions, one rejection, one mark, or none if the event has no effect."""
    kind = tree.kinds[arrival.kind]
    entity = tree.entities[kind.name].get(arrival.id)
    if entity is not None and _is_repeat(entity, arrival):
        return Decision([])
    if arrival.timer is not None:
        if entity is None or entity.timers.get(arrival.timer[0]) != arrival.timer[1]:
            return Decision([])  # the timer was cancelled or set anew after the server had sent this event
        arrival = hearing.timed_out(tree, entity, arrival)
    missing = missing_parent(tree, kind, arrival)
    if missing is not None and not missing.adoptable:
        return _rejected(tree, arrival, "unknown_parent", str(missing))
    if arrival.trigger in kind.interprets:
        fields = kind.interprets[arrival.trigger](
            tree, arrival.id, _attributes_before(kind, entity), _rule_event(arrival)
        )
        if isinstance(fields, Refusal):
            return _refused(tree, arrival, fields)
        arrival = replace(arrival, data={**arrival.data, **fields})
    facets = kind.unborn if entity is None else entity.facets
    steps, guard = kind.select(arrival.trigger, facets, tree, arrival.id, arrival.data)
    if arrival.trigger in kind.base_from_data and (problem := _impossible_base(kind, steps, arrival.data)) is not None:
        return _rejected(tree, arrival, "invalid", problem)
    is_heard = hearing.is_heard(tree, kind, arrival)
    if not steps:
        records = [] if arrival.timer is not None else without_step(tree, kind, facets, arrival, guard)
        return _without_step(tree, kind, entity, arrival, records) if is_heard else Decision(records)
    if entity is not None and missing is None and kind.fast_path_ok and len(steps) == 1 and not is_heard:
        record = fast_path(tree, kind, entity, arrival, *steps[0])
        if record is not None:
            return Decision([record])
    attributes = attributes_after(kind, steps, _attributes_before(kind, entity), _rule_event(arrival))
    if isinstance(attributes, Refusal):
        return _refused(tree, arrival, attributes)
    problem = _required_cascade_problem(tree, kind, attributes, arrival)
    if problem is not None:
        return _rejected(tree, arrival, "guard", problem)
    return _take(tree, kind, steps, attributes, arrival, adopts=missing is not None)


def _without_step(tree: Tree, kind: Kind, entity: Entity | None, arrival: Arrival, records: list[Record]) -> Decision:
    """The records of an observation that takes no step, but shows that its reporter is alive.

    A rejected one does not count: anybody may have sent it.
    """
    if entity is None or any(isinstance(record, Rejection) for record in records):
        return Decision(records)
    return _take(tree, kind, [], entity.attributes, arrival, adopts=False)


def _rejected(tree: Tree, arrival: Arrival, reason: Reason, message: str) -> Decision:
    return Decision([reject(tree, arrival, reason, message)])


def _refused(tree: Tree, arrival: Arrival, refusal: Refusal) -> Decision:
    return _rejected(tree, arrival, "invalid" if refusal.invalid else "guard", refusal.message)


def _rule_event(arrival: Arrival) -> RuleEvent:
    """The event as rules see it."""
    return RuleEvent(arrival.data, arrival.cause.sequence, arrival.time)


def _take(
    tree: Tree, kind: Kind, steps: Steps, attributes: Mapping[str, Any], arrival: Arrival, *, adopts: bool
) -> Decision:
    """The records of an event that takes steps, or that only shows that its reporter is alive.

    attributes: those of the entity after the event.
    """
    changeset = Changeset(tree, arrival.trigger, arrival.cause.sequence, arrival.time)
    if adopts:
        adopt(changeset, kind, arrival)
    change = changeset.change(kind.name, arrival.id)
    change.attributes = attributes
    if arrival.sequence is not None:
        change.sequences = with_sequence(change.sequences, arrival.cause.source, arrival.sequence)
    if arrival.timer is not None:
        change.fired_timer = arrival.timer[0]
    origin = Origin(arrival.trigger, arrival.cause.by, arrival.cause.origin, arrival.data)
    changeset.take(kind.name, arrival.id, steps, origin)
    hearing.hear(changeset, kind, arrival)
    changeset.settle()
    decision = transitions(changeset, arrival.cause, arrival.data.get("reason"), arrival.data.get("message"))
    if arrival.sequence is not None and not any(_is_own(record, arrival) for record in decision.records):
        decision.records.append(mark(arrival, change.before))
    return decision


def _is_repeat(entity: Entity, arrival: Arrival) -> bool:
    return arrival.sequence is not None and arrival.sequence <= entity.sequences.get(arrival.cause.source, -1)


def _is_own(record: Record, arrival: Arrival) -> bool:
    return not isinstance(record, Rejection) and (record.entity.kind, record.entity.id) == (arrival.kind, arrival.id)


def _attributes_before(kind: Kind, entity: Entity | None) -> Mapping[str, Any]:
    """The attributes before the event; the defaults if the entity is unknown or deleted."""
    if entity is None or all(facet.base.phase in (ABSENT, DELETED) for facet in entity.facets[: kind.contact]):
        return kind.attributes
    return entity.attributes


def _required_cascade_problem(tree: Tree, kind: Kind, attributes: Mapping[str, Any], arrival: Arrival) -> str | None:
    """Why a child cannot take a trigger that it must take with this event; None if each child can."""
    for cascade in kind.table.cascades:
        if cascade.required and arrival.trigger in cascade.on:
            problem = _child_problem(tree, cascade, attributes, arrival)
            if problem is not None:
                return problem
    return None


def _child_problem(tree: Tree, cascade: Cascade, attributes: Mapping[str, Any], arrival: Arrival) -> str | None:
    """Why one child cannot take the trigger that the cascade fires at it; None if it can."""
    kind, child_id = tree.kinds[cascade.at[0]], f"{arrival.id}/{attributes.get(str(cascade.only_child))}"
    child = tree.get(kind.name, child_id)
    needs = f"{arrival.trigger} needs that {kind.name} {child_id} takes {cascade.trigger}"
    if child is None:
        return f"{needs}, but that is unknown: create it first"
    data = {name: attributes.get(of) for name, of in cascade.data.items()}
    steps = kind.select(cascade.trigger, child.facets, tree, child_id, data).steps
    if steps and _impossible_base(kind, steps, data) is None:
        return None
    return f"{needs}, but that is {', '.join(str(facet.state) for facet in child.facets[: kind.contact])}"


def _impossible_base(kind: Kind, steps: Steps, data: Mapping[str, Any]) -> str | None:
    """Why the base that `data` names is impossible; None if it is possible, or if no step takes its base from data."""
    if all(step.row.to != FROM_DATA for _, step in steps):
        return None
    for index, step in steps:
        base = step.result(kind.unborn[index].base, data)
        if State(base.phase, tuple(sorted(base.conditions))) not in kind.bases[index]:
            return f"data: no row of {kind.name} leads to {base}: name a base that can arise"
    return None
