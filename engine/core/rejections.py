"""The answer to an event that takes no step: a rejection, a mark, or no record if the event reports nothing new. Pure.

Belongs here: choosing between these answers, and the limit of an entity's size. Does not: selecting steps
(`Kind.select`), listing the triggers that would have been taken (`advice`).
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import cast

from msgspec.structs import replace

from phaseline.engine.core.adoption import MissingParent
from phaseline.engine.core.advice.legal import legal_triggers
from phaseline.engine.core.advice.way_out import in_the_way, way_out
from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.sources.numbers import remembered
from phaseline.engine.core.transitions import Decision
from phaseline.engine.core.tree import Tree
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.language.predicates import AllBelow, Predicate, SaysWhyNot
from phaseline.machines.language.table import MAX_TEXT
from phaseline.schemas import codec
from phaseline.schemas.records import NONE, Entity, FacetState, Mark, Reason, Record, Rejection, State, facets_of

NAMED = 3
"""The most entities below that a message names. It gives the number of the others."""
MOST_ATTRIBUTES = 700_000
"""The most bytes of an entity's attributes. Beside them, a record holds the sequences of 64 sources, and texts.

A record holds its whole entity, and a NATS server takes no message of more than a megabyte. Without this limit, two
legal events with large settings would stop their partition for ever.
"""


def without_step(
    tree: Tree, kind: Kind, facets: tuple[FacetState, ...], arrival: Arrival, guard: Predicate | None
) -> list[Record]:
    """The records of an event for which no step is selected. `guard`: the predicate that did not hold, if any.

    The message names the states, what was not met with the value found, and a way out. For an observation, which is
    judged by the bases, it also names a base that a view covers.
    """
    if guard is not None:
        legal = legal_triggers(tree, arrival)
        message = f"{here(tree, arrival)}: {_unmet(tree, arrival, guard)}{way_out(tree, arrival, legal, guard)}"
        return [reject(tree, arrival, "guard", message, legal)]
    if kind.roles[arrival.trigger] == "observation" and kind.already_so(arrival.trigger, facets, arrival.data):
        return [] if arrival.sequence is None else [mark(arrival, tree.get(kind.name, arrival.id))]
    covered = [str(facet.base) for facet in facets[: kind.own] if facet.base.phase != facet.state.phase]
    by_base = f" (base {', '.join(covered)})" if covered and kind.roles[arrival.trigger] != "intent" else ""
    needs = f"{arrival.trigger} is not legal there, it needs {kind.starts[arrival.trigger]}"
    legal = legal_triggers(tree, arrival)
    message = f"{here(tree, arrival)}{by_base}: {needs}{way_out(tree, arrival, legal)}"
    return [reject(tree, arrival, "illegal", message, legal)]


def _unmet(tree: Tree, arrival: Arrival, guard: Predicate) -> str:
    """`the cluster is Stopped [Balance], create needs Running or Updating`."""
    if _says_why_not(type(guard)):
        found, wanted = cast("SaysWhyNot", guard).unmet(tree, arrival.id)
        named = f" ({_in_the_way(tree, arrival, guard)})" if isinstance(guard, AllBelow) and not guard.some else ""
        return f"{found}{named}, {arrival.trigger} needs {wanted}"
    return f"{arrival.trigger} needs that {guard.text()}"


def _in_the_way(tree: Tree, arrival: Arrival, guard: AllBelow) -> str:
    """`r/1/a/c/x+Pod, ... and 4 more`: the entities below that a guard does not want so."""
    found = in_the_way(tree, arrival.kind, arrival.id, guard)
    more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    return f"{', '.join(found[:NAMED])}{more}"


@lru_cache(maxsize=1024)
def _says_why_not(predicate: type[Predicate]) -> bool:
    """Whether predicates of a class say what they found. To ask a protocol takes longer than all the rest."""
    return issubclass(predicate, SaysWhyNot)


def below_missing(tree: Tree, arrival: Arrival, missing: MissingParent) -> Rejection:
    """The rejection of an event whose parent is missing and cannot be adopted."""
    legal = legal_triggers(tree, arrival)
    message = f"{here(tree, arrival)}: {missing}, {arrival.trigger} needs it alive{way_out(tree, arrival, legal)}"
    return reject(tree, arrival, "unknown_parent", message, legal)


def here(tree: Tree, arrival: Arrival) -> str:
    """`node c1/p/n is Failed [NotReady]`."""
    kind, entity = tree.kinds[arrival.kind], tree.get(arrival.kind, arrival.id)
    facets = kind.unborn if entity is None else entity.facets
    return f"{kind.name} {arrival.id} is {states_in_words(kind, facets)}"


def states_in_words(kind: Kind, facets: Sequence[FacetState]) -> str:
    """`Failed [NotReady]`: the state of each facet of its own."""
    return ", ".join(str(facet.state) for facet in facets[: kind.own])


def situated(tree: Tree, rejection: Rejection) -> Rejection:
    """The rejection of an event that could not be read, with the state of its entity if that is known."""
    entity = tree.get(rejection.kind, rejection.id) if rejection.kind in tree.kinds else None
    if entity is None:
        return rejection
    probe = Arrival(rejection.kind, rejection.trigger, rejection.id, NONE, rejection.cause, None, rejection.time_ns)
    return replace(rejection, state=states_of(entity), legal=tuple(legal_triggers(tree, probe)))


def states_of(entity: Entity) -> dict[str, State]:
    """The states of an entity by facet."""
    return {name: facet.state for name, facet in facets_of(entity)}


def mark(arrival: Arrival, entity: Entity | None, *, asks: bool = False) -> Mark:
    """The mark that remembers the `sequence` of an event without effect. asks: whether it is an intent."""
    if entity is None:
        raise AssertionError(f"{arrival.kind}/{arrival.id} took an event without a record of its own")
    sequences, memory = remembered(entity.sequences, entity.memory, arrival, asks=asks)
    return Mark(replace(entity, sequences=sequences, memory=memory), arrival.cause, arrival.time)


def reject(tree: Tree, arrival: Arrival, reason: Reason, message: str, legal: Sequence[str] | None = None) -> Rejection:
    """The rejection of an event, with the entity's states and the triggers that would have been legal.

    legal: these triggers, if they are known already.
    """
    kind = tree.kinds[arrival.kind]
    entity = tree.get(kind.name, arrival.id)
    states = None if entity is None else states_of(entity)
    return Rejection(
        kind.name, arrival.id, arrival.trigger, reason, message[:MAX_TEXT], states,
        tuple(legal_triggers(tree, arrival) if legal is None else legal), arrival.cause, arrival.time,
    )  # fmt: skip


def bounded(tree: Tree, arrival: Arrival, decision: Decision) -> Decision:
    """The decision; or a rejection if an entity would become too large."""
    for record in decision.records:
        if isinstance(record, Rejection) or not tree.kinds[record.entity.kind].may_grow:
            continue
        before = tree.get(record.entity.kind, record.entity.id)
        if before is not None and before.attributes is record.entity.attributes:
            continue
        size = len(codec.encode(record.entity.attributes))
        if size > MOST_ATTRIBUTES:
            entity = record.entity
            message = f"the attributes of {entity.kind} {entity.id} would be larger than {MOST_ATTRIBUTES:,} bytes"
            return Decision([reject(tree, arrival, "invalid", f"{message}: they would have {size:,}")])
    return decision
