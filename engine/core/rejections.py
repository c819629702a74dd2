"""The answer to an event that takes no step: a rejection, a mark, or no record if the event reports nothing new. Pure.

Belongs here: choosing between these answers. Does not: selecting steps (`Kind.select`), listing the triggers that would
have been taken (`legal`).
"""

from phaseline.engine.core.fast_path import with_sequence
from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.legal import legal_triggers
from phaseline.engine.core.tree import Tree
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.language.predicates import Predicate
from phaseline.machines.language.table import MAX_TEXT
from phaseline.schemas.records import Entity, FacetState, Mark, Reason, Record, Rejection, facets_of


def without_step(
    tree: Tree, kind: Kind, facets: tuple[FacetState, ...], arrival: Arrival, guard: Predicate | None
) -> list[Record]:
    """The records of an event for which no step is selected. `guard`: the predicate that did not hold, if any.

    The message of `illegal` names the states, although an observation is judged by the bases. So it can name a state
    from which the trigger has a row: a view shows that state over a base from which it has none.
    """
    if guard is not None:
        return [reject(tree, arrival, "guard", f"{arrival.trigger} needs that {guard.text()}")]
    if kind.roles[arrival.trigger] == "observation" and kind.already_so(arrival.trigger, facets, arrival.data):
        return [] if arrival.sequence is None else [mark(arrival, tree.get(kind.name, arrival.id))]
    states = ", ".join(str(facet.state) for facet in facets[: kind.contact])
    message = f"{kind.name} {arrival.id} is {states}: {arrival.trigger} is not legal there"
    return [reject(tree, arrival, "illegal", message)]


def mark(arrival: Arrival, entity: Entity | None) -> Mark:
    """The mark that remembers the `sequence` of an event without effect."""
    if entity is None:
        raise AssertionError(f"{arrival.kind}/{arrival.id} took an event without a record of its own")
    source, sequence = arrival.cause.source, arrival.sequence or 0
    marked = Entity(
        entity.kind, entity.id, entity.version, entity.names, entity.facets, entity.attributes,
        with_sequence(entity.sequences, source, sequence), entity.timers, entity.asked,
    )  # fmt: skip
    return Mark(marked, arrival.cause, arrival.time)


def reject(tree: Tree, arrival: Arrival, reason: Reason, message: str) -> Rejection:
    """The rejection of an event, with the entity's states and the triggers that would have been legal."""
    kind = tree.kinds[arrival.kind]
    entity = tree.get(kind.name, arrival.id)
    states = None if entity is None else {name: facet.state for name, facet in facets_of(entity)}
    return Rejection(
        kind.name, arrival.id, arrival.trigger, reason, message[:MAX_TEXT], states,
        tuple(legal_triggers(tree, arrival)), arrival.cause, arrival.time,
    )  # fmt: skip
