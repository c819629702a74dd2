"""The messages of the AsyncAPI document: one per event that may be sent, one per record that may come.

Belongs here: payloads, put together from schemas, and examples. Does not: the schemas themselves (`json_schema`), where
messages go (`asyncapi`).
"""

from typing import Any

from phaseline.machines import json_schema
from phaseline.machines.kinds import Kind, Kinds

Map = dict[str, Any]
SCHEMAS = "#/components/schemas/{name}"
MSGPACK = "application/msgpack"

TRAITS: Map = {
    "event": {
        "contentType": MSGPACK,
        "headers": {
            "type": "object",
            "properties": {
                "Nats-Msg-Id": {
                    "type": "string",
                    "description": "`source` and `id`, percent-encoded, with a blank between: the server drops a repeat.",
                }
            },
        },
    },
    "record": {"contentType": MSGPACK},
}
RECORD_WORDS = {
    "transition": "A committed change of one facet of one entity.",
    "rejection": "The committed answer to an event that was not taken.",
    "mark": "A publisher's `sequence`, remembered although its event had no effect.",
}


def of_events(kinds: Kinds) -> dict[str, Map]:
    """By `type`."""
    return {
        f"{kind.name}.{trigger}": _event_message(kind, trigger)
        for kind in kinds.values()
        for trigger in json_schema.outside(kind)
    }


def _event_message(kind: Kind, trigger: str) -> Map:
    name = f"{kind.name}.{trigger}"
    required = any(field.required for field in kind.fields[trigger])
    data = {"$ref": SCHEMAS.format(name=f"{name}.data")}
    narrowing = {
        "type": "object",
        "properties": {"type": {"const": name}, "data": data if required else {"anyOf": [data, {"type": "null"}]}},
        **({"required": ["data"]} if required else {}),
    }
    return {
        "name": name,
        "title": name,
        "summary": json_schema.event_data(kind, trigger)["description"],
        "payload": {"allOf": [{"$ref": SCHEMAS.format(name="Event")}, narrowing]},
        "traits": [{"$ref": "#/components/messageTraits/event"}],
        "examples": [{"payload": _example(kind, trigger)}],
    }


SAMPLES: dict[type, Any] = {str: "c1", int: 1, float: 0.5, bool: True}


def _example(kind: Kind, trigger: str) -> Map:
    data = {
        field.name: field.options[0] if field.options else None if field.null else SAMPLES.get(field.type)
        for field in kind.fields[trigger]
        if (field.options and not field.many) or field.required
    }
    found = {
        "specversion": "1.0",
        "id": "1",
        "source": "/me",
        "type": f"{kind.name}.{trigger}",
        "subject": f"{kind.name}/{'/'.join(f'{part}-1' for part in kind.table.id)}",
    }
    return {**found, "data": data} if data else found


def of_records(kinds: Kinds) -> dict[str, Map]:
    """Transitions by `type`; `rejected` and `marked` for all kinds, and for what is no kind."""
    found = {}
    for kind in kinds:
        narrowing = {
            "type": "object",
            "properties": {
                "type": {"const": f"{kind}.transitioned"},
                "data": {"$ref": SCHEMAS.format(name=f"{kind}.record")},
            },
        }
        payload = {"allOf": [{"$ref": SCHEMAS.format(name="Transition")}, narrowing]}
        found[f"{kind}.transitioned"] = _record_message(f"{kind}.transitioned", "transition", payload)
    for record, name in (("rejection", "rejected"), ("mark", "marked")):
        found[name] = _record_message(name, record, {"$ref": SCHEMAS.format(name=record.title())})
    return found


def _record_message(name: str, record: str, payload: Map) -> Map:
    return {
        "name": name,
        "title": name,
        "summary": RECORD_WORDS[record],
        "payload": payload,
        "traits": [{"$ref": "#/components/messageTraits/record"}],
    }


def schemas(kinds: Kinds) -> dict[str, Map]:
    """Everything that payloads refer to."""
    found: dict[str, Map] = {"Event": json_schema.envelope(SCHEMAS)}
    for name in json_schema.RECORDS:
        schema, named = json_schema.record(name, SCHEMAS)
        found |= {name.title(): schema, **named}
    for kind in kinds.values():
        found[f"{kind.name}.record"] = json_schema.narrowed(kind)
        for trigger in json_schema.outside(kind):
            found[f"{kind.name}.{trigger}.data"] = json_schema.event_data(kind, trigger)
    return found
