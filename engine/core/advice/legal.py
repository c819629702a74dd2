"""What publishers could send now: the triggers that an entity would take, each with some data. Pure.

Belongs here: trying each trigger with data that may fit. Does not: whether one given event is legal (`decide`).
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice, product
from typing import Any, NamedTuple

from msgspec.structs import replace

from phaseline.engine.core.adoption import has_all_above, missing_parent
from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.judgement import attributes_before, attributes_of, interpretation
from phaseline.engine.core.tree import Tree
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.compiler.machine import Step
from phaseline.machines.language.table import DELETED, FROM_DATA, Cascade, Field, Refusal, Role
from phaseline.schemas.records import NONE, Entity, FacetState

MOST = 1_000
"""The most data that are tried for one row."""
ROLES: tuple[Role, ...] = ("intent", "observation")
"""The roles of the triggers that publishers send."""
UNKNOWN = object()
"""Stands for the values of a field that nobody can list."""


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
