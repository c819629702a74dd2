"""One event against a tree: the records it makes. Pure: no clock, no randomness, no I/O.

Belongs here: whether the event is a repeat, whether it is legal, and its answer. Does not: what a legal event sets off
(`draft`), the answer to an illegal one (`verdict`), whether its bytes are an event at all (`intake`).
"""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from phaseline.engine.core import adoption
from phaseline.engine.core.attributes import assigned
from phaseline.engine.core.changeset import Changeset, Origin
from phaseline.engine.core.fast_path import quiet, remembered
from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.rejections import mark, reject, unpicked
from phaseline.engine.core.transitions import Decision, transitions
from phaseline.engine.core.tree import Tree
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.compiler.machine import Step
from phaseline.machines.language.table import ABSENT, DELETED, FROM_DATA, Cascade, Refusal, RuleEvent
from phaseline.schemas.records import Entity, Reason, Record, Rejection, State

Picked = list[tuple[int, Step]]


def decide(tree: Tree, arrival: Arrival) -> Decision:
    """The records that `arrival` makes: transitions, one rejection, a mark, or nothing where it reports nothing new."""
    kind = tree.kinds[arrival.kind]
    entity = tree.entities[kind.name].get(arrival.id)
    if entity is not None and _is_repeat(entity, arrival):
        return Decision([])
    if arrival.timer is not None and (entity is None or entity.timers.get(arrival.timer[0]) != arrival.timer[1]):
        return Decision([])  # the facet has left the phase since, or its time began again
    orphan = adoption.missing(tree, kind, arrival)
    if orphan is not None and not orphan.adoptable:
        return _rejected(tree, arrival, "unknown_parent", str(orphan))
    if arrival.trigger in kind.interprets:
        words = kind.interprets[arrival.trigger](tree, arrival.id, _begun(kind, entity), _happened(arrival))
        if isinstance(words, Refusal):
            return _refused(tree, arrival, words)
        arrival = replace(arrival, data={**arrival.data, **words})
    facets = kind.unborn if entity is None else entity.facets
    picked, refused = kind.select(arrival.trigger, facets, tree, arrival.id, arrival.data)
    if arrival.trigger in kind.base_from_data and (problem := _unreachable(kind, picked, arrival.data)) is not None:
        return _rejected(tree, arrival, "invalid", problem)
    if not picked:
        return Decision([] if arrival.timer is not None else unpicked(tree, kind, facets, arrival, refused))
    if entity is not None and orphan is None and kind.fast_path_ok and len(picked) == 1:
        record = quiet(tree, kind, entity, arrival, *picked[0])
        if record is not None:
            return Decision([record])
    attributes = assigned(kind, picked, _begun(kind, entity), _happened(arrival))
    if isinstance(attributes, Refusal):
        return _refused(tree, arrival, attributes)
    problem = _unmet(tree, kind, attributes, arrival)
    if problem is not None:
        return _rejected(tree, arrival, "guard", problem)
    return _taken(tree, kind, picked, attributes, arrival, adopts=orphan is not None)


def _rejected(tree: Tree, arrival: Arrival, reason: Reason, message: str) -> Decision:
    return Decision([reject(tree, arrival, reason, message)])


def _refused(tree: Tree, arrival: Arrival, refused: Refusal) -> Decision:
    return _rejected(tree, arrival, "invalid" if refused.invalid else "guard", refused.message)


def _happened(arrival: Arrival) -> RuleEvent:
    """The event as rules of attributes see it."""
    return RuleEvent(arrival.data, arrival.cause.sequence, arrival.time)


def _taken(
    tree: Tree, kind: Kind, picked: Picked, attributes: Mapping[str, Any], arrival: Arrival, *, adopts: bool
) -> Decision:
    """The records of a legal event. `attributes`: the entity's after it."""
    draft = Changeset(tree, arrival.trigger, arrival.cause.sequence, arrival.time)
    if adopts:
        adoption.adopt(draft, kind, arrival)
    touched = draft.touch(kind.name, arrival.id)
    touched.attributes = attributes
    if arrival.sequence is not None:
        touched.sequences = remembered(touched.sequences, arrival.cause.source, arrival.sequence)
    if arrival.timer is not None:
        touched.fired = arrival.timer[0]
    draft.take(
        kind.name, arrival.id, picked, Origin(arrival.trigger, arrival.cause.by, arrival.cause.origin, arrival.data)
    )
    draft.settle()
    decision = transitions(draft, arrival.cause, arrival.data.get("reason"), arrival.data.get("message"))
    if arrival.sequence is not None and not any(_is_own(record, arrival) for record in decision.records):
        decision.records.append(mark(arrival, touched.before))
    return decision


def _is_repeat(entity: Entity, arrival: Arrival) -> bool:
    return arrival.sequence is not None and arrival.sequence <= entity.sequences.get(arrival.cause.source, -1)


def _is_own(record: Record, arrival: Arrival) -> bool:
    return not isinstance(record, Rejection) and (record.entity.kind, record.entity.id) == (arrival.kind, arrival.id)


def _begun(kind: Kind, entity: Entity | None) -> Mapping[str, Any]:
    """The attributes that the event finds: `create` and `adopt` begin with the defaults."""
    if entity is None or all(facet.base.phase in (ABSENT, DELETED) for facet in entity.facets):
        return kind.attributes
    return entity.attributes


def _unmet(tree: Tree, kind: Kind, attributes: Mapping[str, Any], arrival: Arrival) -> str | None:
    """Why a child cannot take the trigger that it must take with this event; None where each can."""
    for fired in kind.table.cascades:
        if fired.required and arrival.trigger in fired.on:
            problem = _cannot(tree, fired, attributes, arrival)
            if problem is not None:
                return problem
    return None


def _cannot(tree: Tree, fired: Cascade, attributes: Mapping[str, Any], arrival: Arrival) -> str | None:
    """Why one child cannot take the trigger fired at it."""
    kind, child_id = tree.kinds[fired.at[0]], f"{arrival.id}/{attributes.get(str(fired.only_child))}"
    child = tree.get(kind.name, child_id)
    needs = f"{arrival.trigger} needs that {kind.name} {child_id} takes {fired.trigger}"
    if child is None:
        return f"{needs}, but that is unknown: create it first"
    given = {name: attributes.get(of) for name, of in fired.data.items()}
    steps = kind.select(fired.trigger, child.facets, tree, child_id, given).steps
    if steps and _unreachable(kind, steps, given) is None:
        return None
    return f"{needs}, but that is {', '.join(str(facet.state) for facet in child.facets)}"


def _unreachable(kind: Kind, picked: Picked, data: Mapping[str, Any]) -> str | None:
    """Why the base that `data` names cannot be; None where it can, or where no step takes its base from data."""
    if all(step.row.to != FROM_DATA for _, step in picked):
        return None
    for index, step in picked:
        base = step.result(kind.unborn[index].base, data)
        if State(base.phase, tuple(sorted(base.conditions))) not in kind.bases[index]:
            return f"data: no row of {kind.name} leads to {base}: name a base that can arise"
    return None
