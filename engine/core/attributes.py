"""The attributes of an entity after an event. Pure.

Belongs here: the values that a row takes from the data, and those that it computes. Does not: which row is taken
(`decide`).
"""

from collections.abc import Iterable, Mapping
from typing import Any

from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.compiler.machine import Step
from phaseline.machines.language.table import ABSENT, DELETED, Refusal, Row, RuleEvent
from phaseline.schemas.records import Entity


def attributes_before(kind: Kind, entity: Entity | None) -> Mapping[str, Any]:
    """The attributes before the event; the defaults if the entity is unknown or deleted."""
    if entity is None or all(facet.base.phase in (ABSENT, DELETED) for facet in entity.facets):
        return kind.attributes
    return entity.attributes


def attributes_after(
    kind: Kind, steps: Iterable[tuple[int, Step]], attributes: Mapping[str, Any], rule_event: RuleEvent
) -> Mapping[str, Any] | Refusal:
    """The attributes after these steps; the same mapping if no row sets any; a `Refusal` if a rule refuses."""
    for row in dict.fromkeys(step.row for _, step in steps):
        if row.assigns or row.computes is not None:
            after = _after_row(kind, row, attributes, rule_event)
            if isinstance(after, Refusal):
                return after
            attributes = after
    return attributes


def _after_row(
    kind: Kind, row: Row, attributes: Mapping[str, Any], rule_event: RuleEvent
) -> Mapping[str, Any] | Refusal:
    data = rule_event.data
    given = {name: data[name] for name in kind.table.assigned(row) if data.get(name) is not None}
    if given:
        attributes = {**attributes, **given}
    return attributes if row.computes is None else row.computes(attributes, rule_event)
