"""Tables as plain maps for programs: the output of `phaseline kinds show KIND --format json`.

Belongs here: the keys and the nesting of the maps; a key has the name of the field in the table language. Does not: the
phrases under `text` (`wording`).
"""

from collections.abc import Callable
from dataclasses import asdict, fields, is_dataclass
from typing import Any

from phaseline.machines.compiler.classes.state_classes import class_of_label
from phaseline.machines.compiler.conditions import phases_of
from phaseline.machines.compiler.judging import PendingPhase
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.docs import wording
from phaseline.machines.language.predicates import Predicate
from phaseline.machines.language.rules import declaration_of
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
    """The whole table of a kind, as JSON can hold it. Only the code of rules is missing."""
    table = found.table
    return {
        "kind": table.kind,
        "version": found.version,
        "id": list(table.id),
        "parent": table.parent,
        "doc": table.doc,
        "known_by": table.known_by,
        "place": table.place,
        "nested_by": table.nested_by,
        "replaced_by": None if table.replaced_by is None else list(table.replaced_by),
        "carries": list(table.carries),
        "signals": table.signals,
        "signal_names": [asdict(one) for one in table.signal_names],
        "silence_after": table.silence_after,
        "attributes": [_field(attribute) for attribute in table.attributes],
        "triggers": [_trigger(found, trigger) for trigger in table.triggers],
        "reports": [] if found.judge is None else [_pending(one) for one in found.judge.pending_phases()],
        "facets": [_facet(table, facet) for facet in table.facets],
        "cascades": [_cascade(cascade) for cascade in (*table.cascades, *found.implied)],
        "fan_outs": [_fan_out(fan_out) for fan_out in table.fan_outs],
        "interprets": [_interpret(interpret) for interpret in table.interprets],
        "on_tally": [{"when": _predicate(one.when), "trigger": one.trigger} for one in table.on_tally],
        "tallies": [{"kind": below, "facet": facet} for below, facet in table.tallies],
        "current": None if table.current is None else {"attribute": table.current[0], "kind": table.current[1]},
    }


def _trigger(found: Kind, trigger: str) -> dict[str, Any]:
    return {
        "trigger": trigger,
        "role": found.roles[trigger],
        "fields": [_field(field) for field in found.fields[trigger]],
    }


def _pending(found: PendingPhase) -> dict[str, Any]:
    return {"phase": found.phase, "taken": list(found.taken), "held": list(found.held)}


def _facet(table: Table, facet: Facet) -> dict[str, Any]:
    named = facet.message_names
    return {
        "facet": facet.name,
        "phases": list(phases_of(facet)),
        "begins": facet.begins,
        "healthy": facet.healthy,
        "accumulates_in": facet.accumulates_in,
        "sticky": list(facet.sticky),
        "own_reporter": list(facet.own_reporter),
        "order": list(facet.order),
        "adopted": {"state": facet.adopted.phase, "conditions": list(facet.adopted.conditions)},
        "labels": [_label(facet, label) for label in facet.labels],
        "rows": [_row(table, facet, row) for row in facet.rows],
        "views": [_view(facet, view) for view in facet.views],
        "timeouts": [_timeout(timeout) for timeout in facet.timeouts],
        "pending": list(facet.pending_phases),
        "retired": [{field.name: getattr(one, field.name) for field in fields(one)} for one in facet.retired],
        "message_from": facet.message_from,
        "message_names": None if named is None else {"kind": named[0], "facet": named[1]},
        "unknown_parts": facet.unknown_parts,
        "parts_apart": list(facet.parts_apart),
        "evidence_from": facet.evidence_from,
        "wants": None if facet.wants is None else asdict(facet.wants),
        "news_from": facet.news_from,
        "explained_by": facet.explained_by,
        "unschedulable_while": [one.text() for one in facet.unschedulable_while],
        "details": dict(facet.details),
        "signal_names": [asdict(one) for one in facet.signal_names],
    }


def _timeout(timeout: Timeout) -> dict[str, Any]:
    return {
        **{field.name: getattr(timeout, field.name) for field in fields(timeout)},
        "text": wording.duration(timeout),
    }


def _label(facet: Facet, label: Label) -> dict[str, Any]:
    return {
        "phase": label.phase,
        "condition": label.condition,
        "en": label.en,
        "others": dict(label.others),
        "schedulable": label.schedulable,
        "class": class_of_label(facet, label),
        "advice": dict(label.advice),
        "aliases": list(label.aliases),
    }


def _row(table: Table, facet: Facet, row: Row) -> dict[str, Any]:
    return {
        "trigger": row.trigger,
        "role": table.role(row.trigger),
        "source": [_source(source) for source in row.source],
        "to": None if row.to in (SAME, FROM_DATA) else row.to,
        "same": row.to == SAME,
        "from_data": row.to == FROM_DATA,
        "condition": row.condition,
        "sets": row.sets,
        "clears": list(row.clears),
        "given": dict(row.given),
        "when": [_predicate(guard) for guard in row.when],
        "assigns": list(table.assigned(row)),
        "forgets": list(row.forgets),
        "computes": None if row.computes is None else _rule(row.computes),
        "text": {"from": wording.sources(row), "becomes": wording.becomes(facet, row), "while": wording.guards(row)},
    }


def _source(source: Source) -> dict[str, Any]:
    if isinstance(source, Live):
        return {"live": True, "but": list(source.but), "has": source.has}
    at = source if isinstance(source, At) else At(source)
    return {"live": False, "phase": at.phase, "has": at.has, "lacks": list(at.lacks), "base": at.base}


def _view(facet: Facet, view: View) -> dict[str, Any]:
    return {
        "to": view.to,
        "condition": view.condition,
        "keeps": _as_list(view.keeps),
        "base": list(view.base),
        "unless": list(view.unless),
        "while": [_predicate(predicate) for predicate in view.while_],
        "message_from": view.message_from,
        "text": {"shows": wording.shows(facet, view), "while": wording.while_(view)},
    }


def _cascade(cascade: Cascade) -> dict[str, Any]:
    return {
        "trigger": cascade.trigger,
        "at": list(cascade.at),
        "on": list(cascade.on),
        "into": cascade.into,
        "unless": None if cascade.unless is None else {"field": cascade.unless[0], "is": cascade.unless[1]},
        "then": cascade.then,
        "only_child": cascade.only_child,
        "required": cascade.required,
        "data": dict(cascade.data),
        "targets": None if cascade.targets is None else _rule(cascade.targets),
        "text": {"on": wording.fires_on(cascade), "at": wording.targets(cascade)},
    }


def _fan_out(fan_out: FanOut) -> dict[str, Any]:
    return {
        "triggers": list(fan_out.triggers),
        "at": fan_out.at,
        "on": list(fan_out.on),
        "rule": _rule(fan_out.rule),
        "text": wording.summary(fan_out.rule),
    }


def _interpret(interpret: Interpret) -> dict[str, Any]:
    return {
        "on": list(interpret.on),
        "fields": [_field(field) for field in interpret.fields],
        "rule": _rule(interpret.rule),
        "text": wording.summary(interpret.rule),
    }


def _rule(rule: Callable[..., Any]) -> dict[str, Any]:
    """The declared name and revision of a rule."""
    declaration = declaration_of(rule)
    return {} if declaration is None else declaration.revision._asdict()


def _field(field: Field) -> dict[str, Any]:
    return {
        "name": field.name,
        "type": field.type.__name__,
        "many": field.many,
        "required": field.required,
        "null": field.null,
        "options": list(field.options),
        "known": wording.summary(field.known) or None,
        "default": field.default,
        "least": field.least,
        "numbers": list(field.numbers),
        "pattern": field.pattern,
        "was": list(field.was),
        "doc": field.doc,
    }


def _predicate(predicate: Predicate) -> dict[str, Any]:
    """Its text, and for a predicate that is a dataclass all its fields."""
    parts: dict[str, Any] = {}
    if is_dataclass(predicate):
        parts = {field.name: _as_list(getattr(predicate, field.name)) for field in fields(predicate)}
    return {"predicate": type(predicate).__name__, **parts, "text": predicate.text()}


def _as_list(value: object) -> object:
    return list(value) if isinstance(value, tuple | frozenset) else value
