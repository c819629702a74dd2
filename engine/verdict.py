"""What an event is answered that no row takes: a rejection, a mark, or nothing where it says nothing new. Pure.

Belongs here: telling those apart, and what would have been legal. Does not: which row is taken (`decide`).
"""

from collections.abc import Mapping
from typing import Any

from phaseline.engine.intake import Arrival
from phaseline.engine.quiet import remembered
from phaseline.engine.tree import Tree
from phaseline.machines.kinds import Kind
from phaseline.machines.machine import Step
from phaseline.machines.table import NAMED
from phaseline.schemas.records import Entity, Facet, Mark, Reason, Record, Rejection, State


def unpicked(
    tree: Tree, kind: Kind, facets: tuple[Facet, ...], arrival: Arrival, refused: tuple[Reason, str] | None
) -> list[Record]:
    """The answer where no row fits; `refused`: the guard that stood in the way."""
    if refused is not None:
        return [reject(tree, arrival, *refused)]
    if kind.roles[arrival.trigger] == "observation" and already_so(kind, facets, arrival):
        entity = tree.get(kind.name, arrival.id)
        return [] if arrival.sequence is None else [mark(arrival, entity)]
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


def mark(arrival: Arrival, entity: Entity | None) -> Mark:
    """The `sequence` of an event without effect, to be remembered."""
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
