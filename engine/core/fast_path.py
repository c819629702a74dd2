"""The common case, told at once: an event that moves one entity, and from which nothing else can follow.

Belongs here: knowing that, and the one transition it makes. Does not: anything that another entity could see (`draft`);
where that is not sure, `draft` decides, and it would come to the same record.
"""

from collections.abc import Mapping

from phaseline.engine.core.changeset import fires
from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.tree import Tree
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.compiler.machine import Step
from phaseline.machines.language.table import ABSENT, DELETED
from phaseline.schemas.records import NONE, Entity, FacetState, State, Transition
from phaseline.schemas.subjects import ancestor_id

MAX_SOURCES = 64
"""Sources whose `sequence` an entity remembers: one that has been silent longest is forgotten, so that records stay small."""


def quiet(tree: Tree, kind: Kind, entity: Entity, arrival: Arrival, index: int, step: Step) -> Transition | None:
    """The only transition of `arrival`, which takes `step` in one facet; None where anything more may come of it."""
    old = entity.facets[index]
    was = old.base.phase
    data, trigger = arrival.data, arrival.trigger
    if step.row.assigns or step.row.computes or was in (ABSENT, DELETED) or trigger in kind.fan_out_triggers:
        return None
    base = step.result(old.base, data)
    for fired in kind.table.cascades:
        if fires(fired, trigger, [(old.base, base)], data):
            return None
    state = kind.machines[index].shown(base, tree, arrival.id)
    if (base == old.base and state == old.state) or _is_seen(tree, kind, arrival.id, index, old, base, state):
        return None
    facet = FacetState(base, state, old.since if state == old.state else arrival.time)
    sequences = entity.sequences
    if arrival.sequence is not None:
        sequences = remembered(sequences, arrival.cause.source, arrival.sequence)
    facets = (*entity.facets[:index], facet, *entity.facets[index + 1 :])
    made = Entity(kind.name, arrival.id, entity.version + 1, kind.names, facets, entity.attributes, sequences, NONE)
    return Transition(
        kind.names[index],
        old.state,
        state,
        trigger,
        data.get("reason"),
        data.get("message"),
        arrival.cause,
        made,
        arrival.time,
    )


def _is_seen(tree: Tree, kind: Kind, entity_id: str, index: int, old: FacetState, base: State, state: State) -> bool:
    """Whether something above or below looks at what changed."""
    for seen in kind.viewers:
        if seen.facet != index:
            continue
        before, after = (old.base.phase, base.phase) if seen.base else (old.state.phase, state.phase)
        if (before in seen.phases) != (after in seen.phases):
            return True
    for counted in kind.counted:
        if counted.facet != index or not counted.phases:
            continue
        was, now = counted.phase(old.state), counted.phase(state)
        if was == now:
            continue
        tally = tree.tally(ancestor_id(entity_id, counted.arity), counted.kind, kind.name, index, counted.has)
        if (was in counted.phases and tally[was] == 1) or (now in counted.phases and not tally.get(now)):
            return True
    return False


def remembered(sequences: Mapping[str, int], source: str, sequence: int) -> Mapping[str, int]:
    """The last `sequence` of each source, the source that spoke last at the end."""
    kept = {name: last for name, last in sequences.items() if name != source}
    if len(kept) >= MAX_SOURCES:
        del kept[next(iter(kept))]
    kept[source] = sequence
    return kept
