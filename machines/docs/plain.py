"""Tables as plain maps, complete, for programs: what `phaseline machines KIND --format json` prints.

Belongs here: the names and nesting of those maps. Does not: anything a table does not say.
"""

from dataclasses import fields, is_dataclass
from typing import Any

from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.compiler.machine import phases_of
from phaseline.machines.docs import wording
from phaseline.machines.language.predicates import Predicate
from phaseline.machines.language.table import (
    FROM_DATA,
    SAME,
    At,
    Cascade,
    Facet,
    FanOut,
    Field,
    Interpret,
    Label,
    Live,
    Row,
    Source,
    Table,
    Timeout,
    View,
)


def kind(found: Kind) -> dict[str, Any]:
    """The whole table of a kind, JSON-able: it would do to write the table again, predicates of one's own aside."""
    table = found.table
    return {
        "kind": table.kind,
        "version": found.version,
        "id": list(table.id),
        "parent": table.parent,
        "doc": table.doc,
        "attributes": [_field(attribute) for attribute in table.attributes],
        "triggers": [_trigger(found, trigger) for trigger in table.triggers],
        "facets": [_facet(table, facet) for facet in table.facets],
        "fired": [_fired(fired) for fired in table.cascades],
        "told": [_told(told) for told in table.fan_outs],
        "read": [_read(read) for read in table.interprets],
        "counts": [{"kind": below, "facet": facet} for below, facet in table.tallies],
        "known_by": table.known_by,
        "reached": [{"when": _predicate(reached.when), "trigger": reached.trigger} for reached in table.on_tally],
    }


def _trigger(found: Kind, trigger: str) -> dict[str, Any]:
    return {
        "trigger": trigger,
        "role": found.roles[trigger],
        "fields": [_field(field) for field in found.fields[trigger]],
    }


def _facet(table: Table, facet: Facet) -> dict[str, Any]:
    return {
        "facet": facet.name,
        "phases": list(phases_of(facet)),
        "healthy": facet.healthy,
        "collects": facet.accumulates_in,
        "standing": list(facet.sticky),
        "order": list(facet.order),
        "adopted": {"state": facet.adopted.phase, "conditions": list(facet.adopted.conditions)},
        "labels": [_label(label) for label in facet.labels],
        "rows": [_row(table, facet, row) for row in facet.rows],
        "views": [_view(facet, view) for view in facet.views],
        "after": [_after(after) for after in facet.timeouts],
        "says": facet.message_from,
        "names": None
        if facet.message_names is None
        else {"kind": facet.message_names[0], "facet": facet.message_names[1]},
    }


def _after(after: Timeout) -> dict[str, Any]:
    return {**{field.name: getattr(after, field.name) for field in fields(after)}, "text": wording.lasting(after)}


def _label(label: Label) -> dict[str, Any]:
    return {field.name: getattr(label, field.name) for field in fields(label)}


def _row(table: Table, facet: Facet, row: Row) -> dict[str, Any]:
    return {
        "trigger": row.trigger,
        "role": table.role(row.trigger),
        "start": [_start(where) for where in row.source],
        "to": None if row.to in (SAME, FROM_DATA) else row.to,
        "stays": row.to == SAME,
        "named": row.to == FROM_DATA,
        "because": row.condition,
        "sets": row.sets,
        "clears": list(row.clears),
        "given": dict(row.given),
        "when": [_predicate(guard) for guard in row.when],
        "assigns": list(table.assigned(row)),
        "computes": None if row.computes is None else row.computes.__name__,
        "text": {"from": wording.starts(row), "becomes": wording.becomes(facet, row), "needs": wording.needs(row)},
    }


def _start(where: Source) -> dict[str, Any]:
    if isinstance(where, Live):
        return {"live": True, "but": list(where.but), "has": where.has}
    at = where if isinstance(where, At) else At(where)
    return {"live": False, "phase": at.phase, "has": at.has, "lacks": list(at.lacks), "base": at.base}


def _view(facet: Facet, view: View) -> dict[str, Any]:
    return {
        "to": view.to,
        "because": view.condition,
        "keeps": _listed(view.keeps),
        "base": list(view.base),
        "unless": list(view.unless),
        "while": [_predicate(seen) for seen in view.while_],
        "text": {"shows": wording.shown(facet, view), "while": wording.while_(view)},
    }


def _fired(fired: Cascade) -> dict[str, Any]:
    return {
        "trigger": fired.trigger,
        "at": list(fired.at),
        "on": list(fired.on),
        "into": fired.into,
        "unless": None if fired.unless is None else {"field": fired.unless[0], "is": fired.unless[1]},
        "then": fired.then,
        "one": fired.only_child,
        "must": fired.required,
        "gives": dict(fired.data),
        "text": {"on": wording.firing(fired), "at": wording.targets(fired)},
    }


def _told(told: FanOut) -> dict[str, Any]:
    return {
        "triggers": list(told.triggers),
        "at": told.at,
        "on": list(told.on),
        "says": told.rule.__name__,
        "text": dict(zip(("on", "triggers", "at"), wording.telling(told), strict=True)),
    }


def _read(read: Interpret) -> dict[str, Any]:
    return {
        "on": list(read.on),
        "words": [_field(word) for word in read.fields],
        "says": read.rule.__name__,
        "text": dict(zip(("on", "words", "says"), wording.reading(read), strict=True)),
    }


def _field(field: Field) -> dict[str, Any]:
    return {
        "name": field.name,
        "type": field.type.__name__,
        "many": field.many,
        "required": field.required,
        "null": field.null,
        "options": list(field.options),
        "default": field.default,
        "doc": field.doc,
    }


def _predicate(predicate: Predicate) -> dict[str, Any]:
    """What it says; and for ours, which are plain data, everything it is made of."""
    parts: dict[str, Any] = {}
    if is_dataclass(predicate):
        parts = {field.name: _listed(getattr(predicate, field.name)) for field in fields(predicate)}
    return {"predicate": type(predicate).__name__, **parts, "text": predicate.text()}


def _listed(value: object) -> object:
    return list(value) if isinstance(value, tuple | frozenset) else value
