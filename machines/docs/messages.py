"""The messages of the AsyncAPI document: one for each event that may be sent and each record that may arrive.

Belongs here: payloads, composed from schemas, and examples. Does not: the schemas themselves (`json_schema`), the
subjects of messages (`asyncapi`).
"""

from typing import Any

from phaseline.machines.compiler.kinds import Kind, Kinds
from phaseline.machines.docs import json_schema
from phaseline.machines.language.fields import Field
from phaseline.machines.language.table import REPORTED
from phaseline.schemas.cloudevents import content_types

Map = dict[str, Any]
SCHEMAS = "#/components/schemas/{name}"
MSGPACK = content_types.MSGPACK_EVENT

TRAITS: Map = {
    "event": {
        "contentType": MSGPACK,
        "headers": {
            "type": "object",
            "properties": {
                "Nats-Msg-Id": {
                    "type": "string",
                    "description": "NATS subject, `source` and `id`, encoded, with blanks between; or their hash under "
                    "a secret. The server drops repeats.",
                }
            },
        },
    },
    "record": {"contentType": MSGPACK},
}


def of_events(kinds: Kinds) -> dict[str, Map]:
    """The messages of events, by `type`."""
    return {
        f"{kind.name}.{trigger}": _event_message(kind, trigger)
        for kind in kinds.values()
        for trigger in json_schema.outside(kind)
    }


def _event_message(kind: Kind, trigger: str) -> Map:
    name = f"{kind.name}.{trigger}"
    narrowing = json_schema.event(kind, trigger, SCHEMAS.format(name=f"{name}.data"))
    return {
        "name": name,
        "summary": json_schema.event_data(kind, trigger, SCHEMAS)["description"],
        "payload": {
            "title": json_schema.name_of(kind.name, trigger),
            "allOf": [{"$ref": SCHEMAS.format(name="Event")}, narrowing],
        },
        "traits": [{"$ref": "#/components/messageTraits/event"}],
        "examples": [{"payload": _example(kind, trigger)}],
    }


SAMPLES: dict[type, Any] = {str: "c1", int: 1, float: 0.5, bool: True}


def _sample(field: Field) -> Any:
    if field.many:
        return []
    return field.options[0] if field.options else None if field.null else SAMPLES.get(field.type)


def _example(kind: Kind, trigger: str) -> Map:
    fields = [field for field in kind.fields[trigger] if (field.options and not field.many) or field.required]
    data = {field.name: _sample(field) for field in fields}
    if trigger == REPORTED:
        data["phase"] = kind.table.facets[0].adopted.phase
    found = {
        "specversion": "1.0",
        "id": "1",
        "source": "/me",
        "type": f"{kind.name}.{trigger}",
        "subject": f"{kind.name}/{'/'.join(f'{part}-1' for part in kind.table.id)}",
    }
    return {**found, "data": data} if data else found


def of_records(kinds: Kinds) -> dict[str, Map]:
    """The messages of records: `<kind>.transitioned` by kind; the others are the same for all kinds."""
    found = {}
    for kind in kinds:
        narrowing = {
            "type": "object",
            "properties": {
                "type": {"const": f"{kind}.transitioned"},
                "data": {"$ref": SCHEMAS.format(name=f"{kind}.record")},
            },
        }
        payload = {
            "title": json_schema.name_of(kind, "transitioned"),
            "allOf": [{"$ref": SCHEMAS.format(name="Transition")}, narrowing],
        }
        found[f"{kind}.transitioned"] = _record_message(f"{kind}.transitioned", "Transition", payload)
    for sort in ("Rejection", "Mark", "Loss"):
        name = json_schema.VERBS[sort]
        found[name] = _record_message(name, sort, {"$ref": SCHEMAS.format(name=sort)})
    return found


def _record_message(name: str, sort: str, payload: Map) -> Map:
    schema, _ = json_schema.record(sort, SCHEMAS)
    return {
        "name": name,
        "summary": schema["description"],
        "payload": payload,
        "traits": [{"$ref": "#/components/messageTraits/record"}],
    }


def schemas(kinds: Kinds) -> dict[str, Map]:
    """All schemas to which payloads refer."""
    found: dict[str, Map] = {"Event": json_schema.envelope(SCHEMAS), **json_schema.common()}
    for name in json_schema.RECORDS:
        schema, named = json_schema.record(name, SCHEMAS)
        found |= {name: schema, **named}
    for kind in kinds.values():
        found |= json_schema.narrowed(kind, SCHEMAS)
        for trigger in json_schema.outside(kind):
            data = json_schema.event_data(kind, trigger, SCHEMAS)
            del data["description"]  # the message's summary says it
            found[f"{kind.name}.{trigger}.data"] = data
    return found
