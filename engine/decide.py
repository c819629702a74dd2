"""One event against a tree: the records it makes. Pure: no clock, no randomness, no I/O (design: Three rings).

Belongs here: is it a repeat, is it legal, what does it answer. Does not: what a legal event sets off (`draft`),
whether its bytes are an event at all (`intake`).
"""

from collections.abc import Mapping
from typing import Any

from phaseline.engine.draft import Draft, Why
from phaseline.engine.intake import Arrival
from phaseline.engine.quiet import quiet, remembered
from phaseline.engine.tree import Tree, ancestor_id
from phaseline.machines.kinds import Kind
from phaseline.machines.machine import Step
from phaseline.machines.table import ABSENT, DELETED, NAMED
from phaseline.schemas.records import Entity, Facet, Mark, Reason, Record, Rejection, State

Picked = list[tuple[int, Step]]
PARENT_WORD = {ABSENT: "unknown", DELETED: "deleted"}


def decide(tree: Tree, arrival: Arrival) -> list[Record]:
    """The records that `arrival` makes: transitions, one rejection, a mark, or nothing where it says nothing new."""
    kind = tree.kinds[arrival.kind]
    entity = tree.entities[kind.name].get(arrival.id)
    if entity is not None and _is_repeat(entity, arrival):
        return []
    if arrival.timer is not None and (entity is None or entity.timers.get(arrival.timer[0]) != arrival.timer[1]):
        return []  # it has left the phase, or been there anew since
    orphan = _missing_parent(tree, kind, arrival)
    if orphan is not None and (kind.roles[arrival.trigger] == "intent" or orphan[1] == DELETED):
        return [
            reject(
                tree, arrival, "unknown_parent", f"{orphan[0]} is {PARENT_WORD[orphan[1]]}: create or adopt it first"
            )
        ]
    facets = kind.unborn if entity is None else entity.facets
    picked, refused = pick(kind, tree, facets, arrival)
    if not picked and arrival.timer is not None:
        return []
    if not picked:
        return _answer_to_unpicked(tree, kind, facets, arrival, refused)
    if (
        entity is not None
        and orphan is None
        and kind.simple
        and (record := quiet(tree, kind, entity, arrival, picked[0][1]))
    ):
        return [record]
    draft = Draft(tree, arrival.trigger)
    if orphan is not None:
        _adopt_parents(draft, kind, arrival)
    _assign(draft, kind, picked, arrival)
    if arrival.timer is not None:
        draft.touch(kind.name, arrival.id).fired = arrival.timer[0]
    draft.take(
        kind.name, arrival.id, picked, arrival.data, Why(arrival.trigger, arrival.cause.by, arrival.cause.origin)
    )
    draft.settle()
    records: list[Record] = list(draft.records(arrival.cause, arrival.time, *_words(arrival)))
    if arrival.sequence is not None and not any(_is_own(record, arrival) for record in records):
        records.append(_mark(arrival, entity))
    return records


def _is_repeat(entity: Entity, arrival: Arrival) -> bool:
    return arrival.sequence is not None and arrival.sequence <= entity.sequences.get(arrival.cause.source, -1)


def _is_own(record: Record, arrival: Arrival) -> bool:
    return not isinstance(record, Rejection) and (record.entity.kind, record.entity.id) == (arrival.kind, arrival.id)


def _missing_parent(tree: Tree, kind: Kind, arrival: Arrival) -> tuple[str, str] | None:
    """The nearest parent that is unknown, or the one above it that is gone: nothing lives below that."""
    missing = None
    while kind.parent is not None:
        parent_id = ancestor_id(arrival.id, kind.parent_arity)
        parent = tree.entities[kind.parent].get(parent_id)
        if parent is not None:
            gone = parent.facets[0].base.phase == DELETED
            return (f"{kind.parent}/{parent_id}", DELETED) if gone else missing
        missing = missing or (f"{kind.parent}/{parent_id}", ABSENT)
        kind = tree.kinds[kind.parent]
    return missing


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


def _answer_to_unpicked(
    tree: Tree, kind: Kind, facets: tuple[Facet, ...], arrival: Arrival, refused: tuple[Reason, str] | None
) -> list[Record]:
    if refused is not None:
        return [reject(tree, arrival, *refused)]
    if kind.roles[arrival.trigger] == "observation" and already_so(kind, facets, arrival):
        entity = tree.get(kind.name, arrival.id)
        return [] if arrival.sequence is None else [_mark(arrival, entity)]
    found = ", ".join(str(facet.state) for facet in facets)
    return [
        reject(tree, arrival, "illegal", f"{kind.name} {arrival.id} is {found}: {arrival.trigger} is not legal there")
    ]


def already_so(kind: Kind, facets: tuple[Facet, ...], arrival: Arrival) -> bool:
    """Whether an observation reports what its base is already: the target of one of its rows, or nothing left to clear."""
    for index, by_phase in kind.steps[arrival.trigger]:
        base = facets[index].base
        for steps in by_phase.values():
            meant = [step for step in steps if step.row.given and step.means(arrival.data)]
            if any(_is_so(step, base, arrival.data) for step in meant or steps):
                return True
    return False


def _is_so(step: Step, base: State, data: Mapping[str, Any]) -> bool:
    row = step.row
    if not step.means(data):
        return False
    if row.clears:
        return base.phase in (step.source, step.dest) and not any(c in base.conditions for c in row.clears)
    if row.to == NAMED:
        return data.get("phase") == base.phase and sorted(data.get("conditions") or base.conditions) == sorted(
            base.conditions
        )
    return step.dest == base.phase and (row.because is None or row.because in base.conditions)


def _adopt_parents(draft: Draft, kind: Kind, arrival: Arrival) -> None:
    chain: list[Kind] = []
    while kind.parent is not None and draft.above(arrival.id, kind.parent) is None:
        kind = draft.kinds[kind.parent]
        chain.append(kind)
    for parent in reversed(chain):
        parent_id = ancestor_id(arrival.id, parent.arity)
        draft.touch(parent.name, parent_id).attributes = parent.attributes
        for facet, base in enumerate(parent.adopted):
            draft.move(parent.name, parent_id, facet, base, Why("adopt", "cascade", f"{arrival.kind}/{arrival.id}"))


def _assign(draft: Draft, kind: Kind, picked: Picked, arrival: Arrival) -> None:
    """Bring the entity's attributes and sequences up to the event; `create` and `adopt` begin anew."""
    touched = draft.touch(kind.name, arrival.id)
    if all(facet.base.phase in (ABSENT, DELETED) for facet in touched.facets):
        touched.attributes = kind.attributes
    if any(step.row.assigns for _, step in picked):
        given = {a.name: arrival.data[a.name] for a in kind.table.attributes if arrival.data.get(a.name) is not None}
        touched.attributes = {**touched.attributes, **given}
    if arrival.sequence is not None:
        touched.sequences = remembered(touched.sequences, arrival.cause.source, arrival.sequence)


def _words(arrival: Arrival) -> tuple[str | None, str | None]:
    return arrival.data.get("reason"), arrival.data.get("message")


def _mark(arrival: Arrival, entity: Entity | None) -> Mark:
    if entity is None:
        raise AssertionError(f"{arrival.kind}/{arrival.id} took an event without a record of its own")
    source, sequence = arrival.cause.source, arrival.sequence or 0
    marked = Entity(
        entity.kind, entity.id, entity.version, entity.names, entity.facets, entity.attributes,
        remembered(entity.sequences, source, sequence), entity.timers,
    )  # fmt: skip
    return Mark(marked, arrival.cause, arrival.time)


def reject(tree: Tree, arrival: Arrival, reason: Reason, message: str) -> Rejection:
    """The answer to an event that is not taken: why, what the entity is in, what would have been legal."""
    kind = tree.kinds[arrival.kind]
    entity = tree.get(kind.name, arrival.id)
    states = None if entity is None else {n: f.state for n, f in zip(entity.names, entity.facets, strict=True)}
    return Rejection(
        kind.name, arrival.id, arrival.trigger, reason, message, states,
        tuple(legal(tree, kind, arrival.id)), arrival.cause, arrival.time,
    )  # fmt: skip


def legal(tree: Tree, kind: Kind, entity_id: str) -> list[str]:
    """The triggers that somebody outside could send now: their rows start here and their guards hold."""
    entity = tree.get(kind.name, entity_id)
    facets = kind.unborn if entity is None else entity.facets
    found = []
    for trigger, role in kind.roles.items():
        for index, by_phase in () if role == "derived" else kind.steps[trigger]:
            judged = facets[index].state if role == "intent" else facets[index].base
            for step in by_phase.get(judged.phase, ()):
                data = {**step.row.given, "phase": step.dest}
                guarded = all(guard.holds(tree, entity_id) for guard in step.row.when)
                if guarded and trigger not in found and step.fits(judged, facets[index].base, data):
                    found.append(trigger)
    return found
