"""What an event makes of an entity's attributes. Pure.

Belongs here: what a row's data sets and what it computes. Does not: which row is taken (`decide`).
"""

from collections.abc import Iterable, Mapping
from typing import Any

from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.compiler.machine import Step
from phaseline.machines.language.table import Refusal, Row, RuleEvent


def assigned(
    kind: Kind, steps: Iterable[tuple[int, Step]], attributes: Mapping[str, Any], happened: RuleEvent
) -> Mapping[str, Any] | Refusal:
    """The attributes after these steps; the same mapping where nothing is set; or why the event cannot be taken."""
    for row in dict.fromkeys(step.row for _, step in steps):
        if row.assigns or row.computes is not None:
            found = _by_row(kind, row, attributes, happened)
            if isinstance(found, Refusal):
                return found
            attributes = found
    return attributes


def _by_row(kind: Kind, row: Row, attributes: Mapping[str, Any], happened: RuleEvent) -> Mapping[str, Any] | Refusal:
    data = happened.data
    given = {name: data[name] for name in kind.table.assigned(row) if data.get(name) is not None}
    if given:
        attributes = {**attributes, **given}
    return attributes if row.computes is None else row.computes(attributes, happened)
