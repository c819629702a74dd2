"""What an event would do to its entity, and what stands in its way. Pure.

Belongs here: reading the event's data, the bases and attributes that its steps lead to, the children that must follow.
Does not: the order in which an event is judged, its records (`decide`), what publishers could send now (`rejections`).
"""

from collections.abc import Iterable, Mapping
from typing import Any

from phaseline.engine.core.beside.free_attributes import merged, with_free
from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.tree import Tree
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.compiler.machine import Step
from phaseline.machines.language.fields import ATTRIBUTES
from phaseline.machines.language.table import ABSENT, DELETED, FROM_DATA, Cascade, Refusal, Row, RuleEvent
from phaseline.schemas.records import Entity, State

Steps = list[tuple[int, Step]]
"""The steps that an event takes, each with the index of its facet."""


def interpretation(tree: Tree, kind: Kind, entity: Entity | None, arrival: Arrival) -> Mapping[str, Any] | Refusal:
    """The fields that the kind's rule for this trigger adds to the event's data."""
    rule = kind.interprets[arrival.trigger]
    return rule(tree, arrival.id, attributes_before(kind, entity), rule_event(arrival))


def rule_event(arrival: Arrival) -> RuleEvent:
    """The event as rules see it."""
    return RuleEvent(arrival.data, arrival.cause.sequence, arrival.time)


def attributes_before(kind: Kind, entity: Entity | None) -> Mapping[str, Any]:
    """The attributes before the event; the defaults if the entity is unknown or deleted."""
    if entity is not None:
        for facet in entity.facets[: kind.own]:
            if facet.base.phase not in (ABSENT, DELETED):
                return entity.attributes
    return kind.attributes


def attributes_after(
    kind: Kind, steps: Iterable[tuple[int, Step]], attributes: Mapping[str, Any], rule_event: RuleEvent
) -> Mapping[str, Any] | Refusal:
    """The attributes after these steps; the same mapping if no row sets any; a `Refusal` if a rule refuses."""
    for row in dict.fromkeys(step.row for _, step in steps):
        if row.assigns or row.forgets or row.computes is not None:
            after = _after_row(kind, row, attributes, rule_event)
            if isinstance(after, Refusal):
                return after
            attributes = after
    return merged(attributes, rule_event.data) if ATTRIBUTES in rule_event.data else attributes


def _after_row(
    kind: Kind, row: Row, attributes: Mapping[str, Any], rule_event: RuleEvent
) -> Mapping[str, Any] | Refusal:
    if row.assigns:
        data = rule_event.data
        given = {name: data[name] for name in kind.table.assigned(row) if data.get(name) is not None}
        attributes = {**attributes, **given} if given else attributes
    if row.forgets:
        ended = [name for name in row.forgets if name in attributes and rule_event.data.get(name) is None]
        attributes = {name: value for name, value in attributes.items() if name not in ended} if ended else attributes
    if row.computes is None:
        return attributes
    after = row.computes(attributes, rule_event)
    return after if isinstance(after, Refusal) else with_free(attributes, after)


def impossible_base(kind: Kind, steps: Steps, data: Mapping[str, Any]) -> str | None:
    """Why the base that `data` names is impossible; None if it is possible, or if no step takes its base from data."""
    if all(step.row.to != FROM_DATA for _, step in steps):
        return None
    for index, step in steps:
        base = step.result(kind.unborn[index].base, data)
        if State(base.phase, tuple(sorted(base.conditions))) not in kind.bases[index]:
            return f"data: no row of {kind.name} leads to {base}: name a base that can arise"
    return None


def attributes_of(
    tree: Tree, kind: Kind, entity: Entity | None, steps: Steps, arrival: Arrival,
    before: Mapping[str, Any] | None = None,
) -> Mapping[str, Any] | Refusal:  # fmt: skip
    """The attributes after these steps; a `Refusal` if a rule refuses, or if a child cannot take what it must take.

    before: those that the event finds, if not those of the entity.
    """
    before = attributes_before(kind, entity) if before is None else before
    attributes = attributes_after(kind, steps, before, rule_event(arrival))
    if not isinstance(attributes, Refusal):
        for cascade in kind.table.cascades:
            if cascade.required and arrival.trigger in cascade.on:
                problem = _child_problem(tree, cascade, attributes, arrival)
                if problem is not None:
                    return Refusal(problem)
    return attributes


def _child_problem(tree: Tree, cascade: Cascade, attributes: Mapping[str, Any], arrival: Arrival) -> str | None:
    """Why one child cannot take the trigger that the cascade fires at it; None if it can."""
    kind, child_id = tree.kinds[cascade.at[0]], f"{arrival.id}/{attributes.get(str(cascade.only_child))}"
    child = tree.get(kind.name, child_id)
    needs = f"{arrival.trigger} needs that {kind.name} {child_id} takes {cascade.trigger}"
    if child is None:
        return f"{needs}, but that is unknown"
    data = {name: attributes.get(of) for name, of in cascade.data.items()}
    steps = kind.select(cascade.trigger, child.facets, tree, child_id, data).steps
    if steps and impossible_base(kind, steps, data) is None:
        return None
    found = ", ".join(str(facet.state) for facet in child.facets[: kind.own])
    return f"{needs}, but that is {found}, {cascade.trigger} needs {kind.starts[cascade.trigger]}"
