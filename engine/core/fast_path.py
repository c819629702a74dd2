"""The fast path: the transition of an event that changes one entity and can trigger nothing else. Pure.

Belongs here: checking that nothing else can follow, and making the one transition. Does not: an event that may change
other entities (`changeset`). Where both ways are possible, they make the same record. Next: `tree.evolve`.
"""

from collections.abc import Mapping

from phaseline.engine.core.changeset import ends_life, is_fired
from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.tree import Tree
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.compiler.machine import Step
from phaseline.machines.language.table import ABSENT, DELETED
from phaseline.schemas.records import Entity, FacetState, State, Transition
from phaseline.schemas.subjects import ancestor_id

MAX_SOURCES = 64
"""The most sources whose `sequence` an entity remembers. It forgets the oldest one, so that records stay small."""


def fast_path(tree: Tree, kind: Kind, entity: Entity, arrival: Arrival, index: int, step: Step) -> Transition | None:
    """The only transition of an event that takes `step` in facet `index`; None if the event may change more."""
    old = entity.facets[index]
    data, trigger = arrival.data, arrival.trigger
    begins = old.base.phase in (ABSENT, DELETED)
    if begins or arrival.timer is not None or step.row.assigns or step.row.computes or trigger in kind.fan_out_triggers:
        return None
    base = step.result(old.base, data)
    if ends_life(index, old.base, base) and (kind.below or kind.contact is not None):
        return None
    moves = [(old.base, base)]
    for cascade in kind.table.cascades:
        if is_fired(cascade, trigger, moves, data) and (
            cascade.targets is None or cascade.targets(tree, arrival.id, data)
        ):
            return None
    state = kind.machines[index].shown(base, tree, arrival.id)
    if (base == old.base and state == old.state) or _affects_others(tree, kind, arrival.id, index, old, base, state):
        return None
    since = old.since_ns if state == old.state else arrival.time
    facet = FacetState(base, state, since, kind.machines[index].interrupted(old, base, data))
    sequences = entity.sequences
    if arrival.sequence is not None:
        sequences = with_sequence(sequences, arrival.cause.source, arrival.sequence)
    facets = (*entity.facets[:index], facet, *entity.facets[index + 1 :])
    asks = kind.roles[trigger] == "intent" or base.phase == DELETED
    asked = arrival.cause.sequence if asks else entity.asked
    after = Entity(
        kind.name, arrival.id, entity.version + 1, kind.names, facets, entity.attributes, sequences, entity.timers_ns,
        asked,
    )  # fmt: skip
    return Transition(
        kind.names[index],
        old.state,
        state,
        trigger,
        data.get("reason"),
        data.get("message"),
        arrival.cause,
        after,
        arrival.time,
        trigger in kind.reports and kind.is_unasked(index, trigger, old.base, base),
    )


def _affects_others(
    tree: Tree, kind: Kind, entity_id: str, index: int, old: FacetState, base: State, state: State
) -> bool:
    """Whether a view below, or a tally above that matters, depends on what changed."""
    for seen in kind.viewers:
        if seen.facet != index:
            continue
        before, after = (old.base.phase, base.phase) if seen.base else (old.state.phase, state.phase)
        if (before in seen.phases) != (after in seen.phases):
            return True
    for counted in kind.counted:
        if counted.facet != index or not counted.phases:
            continue
        before, after = counted.phase(old.state), counted.phase(state)
        if before == after:
            continue
        tally = tree.tally(ancestor_id(entity_id, counted.arity), counted.kind, kind.name, index, counted.has)
        if (before in counted.phases and tally[before] == 1) or (after in counted.phases and not tally.get(after)):
            return True
    return False


def with_sequence(sequences: Mapping[str, int], source: str, sequence: int) -> Mapping[str, int]:
    """The last `sequence` of each source after this one. The latest source stands at the end."""
    kept = {name: last for name, last in sequences.items() if name != source}
    if len(kept) >= MAX_SOURCES:
        del kept[next(iter(kept))]
    kept[source] = sequence
    return kept
