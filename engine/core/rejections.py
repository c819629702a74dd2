"""The answer to an event that takes no step: a rejection, a mark, or no record if the event reports nothing new. Pure.

Belongs here: choosing between these answers, the one short sentence of a rejection and the triggers that would be taken
instead, the limit of an entity's size. Does not: selecting steps (`Kind.select`), what would have to happen first
(`log.explain.way_out`).
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice, product
from typing import Any, NamedTuple, cast

from msgspec.structs import replace

from phaseline.engine.core.adoption import MissingParent, has_all_above, missing_parent
from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.judgement import attributes_before, attributes_of, interpretation
from phaseline.engine.core.sources.numbers import remembered
from phaseline.engine.core.transitions import Decision
from phaseline.engine.core.tree import Tree
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.compiler.machine import Step
from phaseline.machines.language.predicates import AllBelow, Predicate, SaysWhyNot, counts
from phaseline.machines.language.table import ABSENT, DELETED, FROM_DATA, MAX_TEXT, Cascade, Field, Refusal, Role
from phaseline.schemas import codec
from phaseline.schemas.records import (
    NONE,
    Entity,
    FacetState,
    Mark,
    Reason,
    Record,
    Rejection,
    states_of,
)

NAMED = 3
"""The most entities below that a message names. It gives the number of the others."""
MOST_ATTRIBUTES = 700_000
"""The most bytes of an entity's attributes. Beside them, a record holds the sequences of 64 sources, and texts.

A record holds its whole entity, and a NATS server takes no message of more than a megabyte. Without this limit, two
legal events with large settings would stop their partition for ever.
"""
MOST = 1_000
"""The most data that are tried for one row."""
ROLES: tuple[Role, ...] = ("intent", "observation")
"""The roles of the triggers that publishers send."""
UNKNOWN = object()
"""Stands for the values of a field that nobody can list."""


def without_step(
    tree: Tree, kind: Kind, facets: tuple[FacetState, ...], arrival: Arrival, guard: Predicate | None
) -> list[Record]:
    """The records of an event for which no step is selected. `guard`: the predicate that did not hold, if any.

    The message names the states, and what was not met with the value found. For an observation, which is judged by the
    bases, it also names a base that a view covers.
    """
    if guard is not None:
        return [reject(tree, arrival, "guard", f"{here(tree, arrival)}: {_unmet(tree, arrival, guard)}")]
    if kind.roles[arrival.trigger] == "observation" and kind.already_so(arrival.trigger, facets, arrival.data):
        return [] if arrival.sequence is None else [mark(arrival, tree.get(kind.name, arrival.id))]
    covered = [str(facet.base) for facet in facets[: kind.own] if facet.base.phase != facet.state.phase]
    by_base = f" (base {', '.join(covered)})" if covered and kind.roles[arrival.trigger] != "intent" else ""
    needs = f"{arrival.trigger} is not legal there, it needs {kind.starts[arrival.trigger]}"
    return [reject(tree, arrival, "illegal", f"{here(tree, arrival)}{by_base}: {needs}")]


def _unmet(tree: Tree, arrival: Arrival, guard: Predicate) -> str:
    """`the cluster is Stopped [Balance], create needs Running or Updating`."""
    if _says_why_not(type(guard)):
        found, wanted = cast("SaysWhyNot", guard).unmet(tree, arrival.id)
        named = _named(tree, arrival, guard) if isinstance(guard, AllBelow) and not guard.some else ""
        return f"{found}{named}, {arrival.trigger} needs {wanted}"
    return f"{arrival.trigger} needs that {guard.text()}"


def in_the_way(tree: Tree, kind: str, entity_id: str, guard: AllBelow) -> list[str]:
    """The sorted ids of the entities below that a guard does not want in their phase."""
    known, phases = tree.entities[guard.kind], (*guard.phases, ABSENT, DELETED)
    return sorted(
        one
        for one in tree.descendants(kind, entity_id, guard.kind)
        if (found := known[one].facets[guard.facet].state).phase not in phases and counts(guard, found.conditions)
    )


def _named(tree: Tree, arrival: Arrival, guard: AllBelow) -> str:
    """` (r/1/a/c/x+Pod, ... and 4 more)`: the entities below that a guard does not want so."""
    found = in_the_way(tree, arrival.kind, arrival.id, guard)
    more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    return f" ({', '.join(found[:NAMED])}{more})"


@lru_cache(maxsize=1024)
def _says_why_not(predicate: type[Predicate]) -> bool:
    """Whether predicates of a class say what they found. To ask a protocol takes longer than all the rest."""
    return issubclass(predicate, SaysWhyNot)


def below_missing(tree: Tree, arrival: Arrival, missing: MissingParent) -> Rejection:
    """The rejection of an event whose parent is missing and cannot be adopted."""
    message = f"{here(tree, arrival)}: {missing}, {arrival.trigger} needs it alive"
    return reject(tree, arrival, "unknown_parent", message)


def here(tree: Tree, arrival: Arrival) -> str:
    """`node c1/p/n is Failed [NotReady]`."""
    kind, entity = tree.kinds[arrival.kind], tree.get(arrival.kind, arrival.id)
    facets = kind.unborn if entity is None else entity.facets
    return f"{kind.name} {arrival.id} is {states_in_words(kind, facets)}"


def states_in_words(kind: Kind, facets: Sequence[FacetState]) -> str:
    """`Failed [NotReady]`: the state of each facet of its own; once if all are unknown or Deleted."""
    states = [str(facet.state) for facet in facets[: kind.own]]
    return states[0] if facets[0].state.phase in (ABSENT, DELETED) and len({*states}) == 1 else ", ".join(states)


def situated(tree: Tree, rejection: Rejection) -> Rejection:
    """The rejection of an event that could not be read, with the state of its entity if that is known."""
    entity = tree.get(rejection.kind, rejection.id) if rejection.kind in tree.kinds else None
    if entity is None:
        return rejection
    probe = Arrival(rejection.kind, rejection.trigger, rejection.id, NONE, rejection.cause, None, rejection.time_ns)
    return replace(rejection, state=states_of(entity), legal=tuple(legal_triggers(tree, probe)))


def tells_of(records: Iterable[Record], one: Arrival | Entity) -> bool:
    """Whether a record of these, other than a rejection, is of an entity."""
    return any(not isinstance(r, Rejection) and (r.entity.kind, r.entity.id) == (one.kind, one.id) for r in records)


def mark(arrival: Arrival, entity: Entity | None, *, asks: bool = False) -> Mark:
    """The mark that remembers the `sequence` of an event without effect. asks: whether it is an intent."""
    if entity is None:
        raise AssertionError(f"{arrival.kind}/{arrival.id} took an event without a record of its own")
    sequences, memory = remembered(entity.sequences, entity.memory, arrival, asks=asks)
    return Mark(replace(entity, sequences=sequences, memory=memory), arrival.cause, arrival.time)


def reject(tree: Tree, arrival: Arrival, reason: Reason, message: str) -> Rejection:
    """The rejection of an event, with the entity's states and the triggers that would have been legal."""
    kind = tree.kinds[arrival.kind]
    entity = tree.get(kind.name, arrival.id)
    states = None if entity is None else states_of(entity)
    return Rejection(
        kind.name, arrival.id, arrival.trigger, reason, message[:MAX_TEXT], states,
        tuple(legal_triggers(tree, arrival)), arrival.cause, arrival.time,
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


def legal_triggers(tree: Tree, arrival: Arrival) -> list[str]:
    """The triggers that a publisher could send to the entity of this event, at its time, in its place.

    An event with such a trigger and with fitting data would be taken; with any other one it would not. Rules that read
    data which cannot be listed, such as manifests, are taken to accept some.
    """
    kind = tree.kinds[arrival.kind]
    entity = tree.get(kind.name, arrival.id)
    barred = _barred(tree, kind, arrival.id)
    facets = kind.unborn if entity is None else entity.facets
    taken = {
        one.trigger
        for one in _candidates(kind, _without_times(facets))
        if one.role not in barred and (not one.steps or _may_be_taken(tree, kind, entity, arrival, one))
    }
    is_over = entity is None or entity.facets[0].base.phase == DELETED
    if is_over and "observation" in barred and kind.judge is not None and has_all_above(tree, kind, arrival.id):
        taken |= kind.naming  # what these say is there is left behind
    return [trigger for trigger in kind.roles if trigger in taken]


def _barred(tree: Tree, kind: Kind, entity_id: str) -> tuple[Role, ...]:
    """The roles of triggers that are not taken because a parent is missing."""
    barred: list[Role] = []
    for role in ROLES:
        missing = missing_parent(tree, kind, entity_id, is_intent=role == "intent")
        if missing is None:
            break
        if not missing.adoptable:
            barred.append(role)
    return tuple(barred)


def _without_times(facets: Sequence[FacetState]) -> tuple[FacetState, ...]:
    return tuple([FacetState(facet.base, facet.state, 0, facet.interrupted) for facet in facets])


class Candidate(NamedTuple):
    """A trigger that fits the states of an entity. steps: those of which one must pass; none if it is sure to be taken.

    Each step comes with whether it depends on the event's data.
    """

    trigger: str
    role: Role
    steps: tuple[tuple[Step, bool], ...]


@lru_cache(maxsize=4096)
def _candidates(kind: Kind, facets: tuple[FacetState, ...]) -> tuple[Candidate, ...]:
    """The triggers that fit these states, guards, rules and children aside."""
    found = []
    for trigger, role in kind.roles.items():
        steps = [*_steps(kind, trigger, facets)] if role in ROLES else []
        if steps:
            is_sure = any(not step.row.when and not by_data for step, by_data in steps)
            found.append(Candidate(trigger, role, () if is_sure else tuple(steps)))
    return tuple(found)


def _steps(kind: Kind, trigger: str, facets: tuple[FacetState, ...]) -> Iterator[tuple[Step, bool]]:
    required = bool(_required(kind, trigger))
    for index, step in kind.offered(trigger, facets):
        if step.row.to != FROM_DATA or any(base.phase == step.dest for base in kind.bases[index]):
            yield step, required or trigger in kind.interprets or step.row.computes is not None


def _required(kind: Kind, trigger: str) -> list[Cascade]:
    """The cascades that a child must be able to take."""
    return [cascade for cascade in kind.table.cascades if cascade.required and trigger in cascade.on]


def _may_be_taken(tree: Tree, kind: Kind, entity: Entity | None, arrival: Arrival, candidate: Candidate) -> bool:
    """Whether the trigger would be taken with some data, parents aside."""
    for step, by_data in candidate.steps:
        if step.failed_guard(tree, arrival.id) is not None:
            continue
        if not by_data:
            return True
        probe = replace(arrival, trigger=candidate.trigger, data=NONE, sequence=None, timer=None)
        if _with_some_data(tree, kind, entity, probe, step, _required(kind, candidate.trigger)):
            return True
    return False


def _with_some_data(
    tree: Tree, kind: Kind, entity: Entity | None, probe: Arrival, step: Step, required: list[Cascade]
) -> bool:
    """Whether rules and children let the trigger pass, with some data for the row of this step."""
    wanted = {name: value for name, value in step.row.given.items() if value is not None}
    if step.row.to == FROM_DATA:
        wanted["phase"] = step.dest
    choices: dict[str, list[Any]] = {}
    for field in kind.fields[probe.trigger]:
        if field.name in step.row.given or field.name in wanted:
            continue
        values = _values(tree, kind, entity, probe.id, field, required)
        if UNKNOWN in values:
            return True
        choices[field.name] = values
    for chosen in islice(product(*choices.values()), MOST):
        given = {name: value for name, value in zip(choices, chosen, strict=True) if value is not None}
        if all(_may_follow(tree, probe.id, cascade, given) for cascade in required) and _is_taken(
            tree, kind, entity, replace(probe, data={**wanted, **given})
        ):
            return True
    return False


def _may_follow(tree: Tree, entity_id: str, cascade: Cascade, given: dict[str, Any]) -> bool:
    """Whether the child that the data name has a row for what it must take. This tells most children apart quickly."""
    if cascade.only_child not in given:
        return True
    kind = tree.kinds[cascade.at[0]]
    child = tree.get(kind.name, f"{entity_id}/{given[cascade.only_child]}")
    return child is not None and _offers(kind, cascade.trigger, _without_times(child.facets))


@lru_cache(maxsize=4096)
def _offers(kind: Kind, trigger: str, facets: tuple[FacetState, ...]) -> bool:
    return any(True for _ in kind.offered(trigger, facets))


def _values(
    tree: Tree, kind: Kind, entity: Entity | None, entity_id: str, field: Field, required: list[Cascade]
) -> list[Any]:
    """The values of a field that are worth trying; None leaves it out."""
    values: list[Any] = []
    if field.known is not None:
        values += field.known(attributes_before(kind, entity))
    for cascade in required:
        below = tree.kinds[cascade.at[0]]
        if cascade.only_child == field.name:
            values += [child.rpartition("/")[2] for child in tree.descendants(kind.name, entity_id, below.name)]
        for name, attribute in cascade.data.items():
            if attribute == field.name:
                values += [option for of in below.fields[cascade.trigger] if of.name == name for option in of.options]
    if values or field.known is not None or not field.required:
        return values if field.required else [None, *values]
    if any(cascade.only_child == field.name for cascade in required):
        return []
    return [*field.options] or ([True, False] if field.type is bool else [UNKNOWN])


def _is_taken(tree: Tree, kind: Kind, entity: Entity | None, probe: Arrival) -> bool:
    """Whether this event would be taken, parents aside."""
    try:
        if probe.trigger in kind.interprets:
            fields = interpretation(tree, kind, entity, probe)
            if isinstance(fields, Refusal):
                return False
            probe = replace(probe, data={**probe.data, **fields})
        facets = kind.unborn if entity is None else entity.facets
        steps = kind.select(probe.trigger, facets, tree, probe.id, probe.data).steps
        return bool(steps) and not isinstance(attributes_of(tree, kind, entity, steps, probe), Refusal)
    except Exception:  # noqa: BLE001  # a rule fails on this data: such an event would be rejected as a fault
        return False
