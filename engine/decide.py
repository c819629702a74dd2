"""One event against a tree: the records it makes. Pure: no clock, no randomness, no I/O (design: Three rings).

Belongs here: is it a repeat, is it legal, what does it answer. Does not: what a legal event sets off (`draft`),
what an illegal one is answered (`verdict`), whether its bytes are an event at all (`intake`).
"""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from phaseline.engine import parents
from phaseline.engine.assigning import assigned
from phaseline.engine.draft import Draft, Why
from phaseline.engine.intake import Arrival
from phaseline.engine.quiet import quiet, remembered
from phaseline.engine.recording import transitions
from phaseline.engine.tree import Tree
from phaseline.engine.verdict import mark, reject, unpicked
from phaseline.machines.kinds import Kind
from phaseline.machines.machine import Step
from phaseline.machines.table import ABSENT, DELETED, NAMED, Fired, Happened, Refused
from phaseline.schemas.records import Entity, Facet, Reason, Record, Rejection, State

Picked = list[tuple[int, Step]]
Refusal = tuple[Reason, str]


def decide(tree: Tree, arrival: Arrival) -> list[Record]:
    """The records that `arrival` makes: transitions, one rejection, a mark, or nothing where it says nothing new."""
    kind = tree.kinds[arrival.kind]
    entity = tree.entities[kind.name].get(arrival.id)
    if entity is not None and _is_repeat(entity, arrival):
        return []
    if arrival.timer is not None and (entity is None or entity.timers.get(arrival.timer[0]) != arrival.timer[1]):
        return []  # it has left the phase, or been there anew since
    orphan = parents.missing(tree, kind, arrival)
    if orphan is not None and not orphan.adoptable:
        return [reject(tree, arrival, "unknown_parent", str(orphan))]
    facets = kind.unborn if entity is None else entity.facets
    if arrival.trigger in kind.reads:
        words = _read(tree, kind, entity, arrival)
        if isinstance(words, Refused):
            return [reject(tree, arrival, "invalid" if words.invalid else "guard", words.message)]
        arrival = replace(arrival, data={**arrival.data, **words})
    picked, refused = pick(kind, tree, facets, arrival)
    if not picked:
        return [] if arrival.timer is not None else unpicked(tree, kind, facets, arrival, refused)
    if entity is not None and orphan is None and kind.simple and len(picked) == 1:
        record = quiet(tree, kind, entity, arrival, *picked[0])
        if record is not None:
            return [record]
    attributes = _begun(kind, entity)
    refused = _unfit(tree, kind, picked, attributes, arrival)
    if refused is not None:
        return [reject(tree, arrival, *refused)]
    return _taken(tree, kind, picked, attributes, arrival, adopts=orphan is not None)


def _read(tree: Tree, kind: Kind, entity: Entity | None, arrival: Arrival) -> Mapping[str, Any] | Refused:
    """What the event's data says, in the words of the table."""
    happened = Happened(arrival.data, arrival.cause.sequence, arrival.time)
    return kind.reads[arrival.trigger](tree, arrival.id, _begun(kind, entity), happened)


def _taken(
    tree: Tree, kind: Kind, picked: Picked, attributes: Mapping[str, Any], arrival: Arrival, *, adopts: bool
) -> list[Record]:
    """The records of an event that nothing stands against."""
    draft = Draft(tree, arrival.trigger, arrival.cause.sequence, arrival.time)
    if adopts:
        parents.adopt(draft, kind, arrival)
    touched = draft.touch(kind.name, arrival.id)
    touched.attributes = attributes
    if arrival.sequence is not None:
        touched.sequences = remembered(touched.sequences, arrival.cause.source, arrival.sequence)
    if arrival.timer is not None:
        touched.fired = arrival.timer[0]
    why = Why(arrival.trigger, arrival.cause.by, arrival.cause.origin, arrival.data)
    draft.take(kind.name, arrival.id, picked, why)
    draft.settle()
    reason, message = arrival.data.get("reason"), arrival.data.get("message")
    records: list[Record] = list(transitions(draft, arrival.cause, reason, message))
    if arrival.sequence is not None and not any(_is_own(record, arrival) for record in records):
        records.append(mark(arrival, touched.before))
    return records


def _is_repeat(entity: Entity, arrival: Arrival) -> bool:
    return arrival.sequence is not None and arrival.sequence <= entity.sequences.get(arrival.cause.source, -1)


def _is_own(record: Record, arrival: Arrival) -> bool:
    return not isinstance(record, Rejection) and (record.entity.kind, record.entity.id) == (arrival.kind, arrival.id)


def _begun(kind: Kind, entity: Entity | None) -> Mapping[str, Any]:
    """The attributes that the event finds: `create` and `adopt` begin anew."""
    if entity is None or all(facet.base.phase in (ABSENT, DELETED) for facet in entity.facets):
        return kind.attributes
    return entity.attributes


def _unfit(tree: Tree, kind: Kind, picked: Picked, attributes: Mapping[str, Any], arrival: Arrival) -> Refusal | None:
    """Why attributes, or the one below that must take what this fires, stand against an event whose rows fit."""
    happened = Happened(arrival.data, arrival.cause.sequence, arrival.time)
    found = assigned(kind, picked, attributes, happened)
    if isinstance(found, Refused):
        return ("invalid" if found.invalid else "guard"), found.message
    for fired in kind.table.fired:
        if fired.must and arrival.trigger in fired.on:
            refusal = _cannot(tree, fired, found, arrival)
            if refusal is not None:
                return refusal
    return None


def _cannot(tree: Tree, fired: Fired, attributes: Mapping[str, Any], arrival: Arrival) -> Refusal | None:
    """Why what must be fired at one child cannot be taken there."""
    kind, child_id = tree.kinds[fired.at[0]], f"{arrival.id}/{attributes.get(str(fired.one))}"
    child = tree.get(kind.name, child_id)
    needs = f"{arrival.trigger} needs that {kind.name} {child_id} takes {fired.trigger}"
    if child is None:
        return "guard", f"{needs}, but that is unknown: create it first"
    given = {name: attributes.get(of) for name, of in fired.gives.items()}
    asked = replace(arrival, kind=kind.name, id=child_id, trigger=fired.trigger, data=given)
    if pick(kind, tree, child.facets, asked)[0]:
        return None
    return "guard", f"{needs}, but that is {', '.join(str(facet.state) for facet in child.facets)}"


def pick(
    kind: Kind, tree: Tree, facets: tuple[Facet, ...], arrival: Arrival
) -> tuple[Picked, tuple[Reason, str] | None]:
    """Per facet the step to take: intents by the state, observations by the base. Or the guard that refused."""
    picked: Picked = []
    refused: tuple[Reason, str] | None = None
    by_state = kind.roles[arrival.trigger] == "intent"
    for index, by_phase in kind.steps[arrival.trigger]:
        facet = facets[index]
        judged = facet.state if by_state else facet.base
        for step in by_phase.get(judged.phase, ()):
            if not step.fits(judged, facet.base, arrival.data):
                continue
            failed = [guard for guard in step.row.when if not guard.holds(tree, arrival.id)]
            if not failed:
                picked.append((index, step))
                break
            refused = refused or ("guard", f"{arrival.trigger} needs that {failed[0].text()}")
    if any(step.row.to == NAMED for _, step in picked):
        refused = _wrong_name(kind, picked, arrival)
    return ([], refused) if refused and refused[0] == "invalid" else (picked, refused)


def _wrong_name(kind: Kind, picked: Picked, arrival: Arrival) -> tuple[Reason, str] | None:
    """Why an adopted base cannot be, if so."""
    for index, step in picked:
        base = step.result(kind.unborn[index].base, arrival.data)
        if State(base.phase, tuple(sorted(base.conditions))) not in kind.bases[index]:
            return "invalid", f"data: no row of {kind.name} leads to {base}: name a base that can arise"
    return None
