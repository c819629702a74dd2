"""JSON Schemas (2020-12) of everything on the wire: the data of each event, the envelope, each record (design: Records).

Belongs here: schemas made from tables and from the typed maps. Does not: a second definition of any field; channels
(`asyncapi`); files (`generate`).
"""

from typing import Any

import msgspec

from phaseline.machines import wording
from phaseline.machines.kinds import Kind, Kinds
from phaseline.machines.machine import phases_of
from phaseline.machines.table import COMMON, MAX_TEXT, Facet, Field
from phaseline.schemas.envelope import SCHEMA_VERSION, Event
from phaseline.schemas.wire_types import MarkData, RecordMap, RejectionData, TransitionData
from phaseline.schemas.upcasting import RECORD_VERSION

Schema = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
HERE = "#/$defs/{name}"

TYPES: dict[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    dict: "object",
    list: "array",
}
ROLES = {"intent": "An intent: it asks.", "observation": "An observation: it reports."}
RECORDS: dict[str, Any] = {
    "transition": RecordMap[TransitionData],
    "rejection": RecordMap[RejectionData],
    "mark": RecordMap[MarkData],
}
NARROWED = {"transition": "transitioned", "mark": "marked"}
"""The records whose data follows a kind's table, and the last word of their `type`."""


def files(kinds: Kinds) -> dict[str, Schema]:
    """Every schema by its path: `envelope.json`, `transition.json`, `events/cluster.create.json`, ..."""
    found = {"envelope": envelope(HERE), **{name: whole_record(kinds, name) for name in RECORDS}}
    for kind in kinds.values():
        for trigger in outside(kind):
            found[f"events/{kind.name}.{trigger}"] = event_data(kind, trigger)
    return {f"{path}.json": _identified(path, schema) for path, schema in found.items()}


def outside(kind: Kind) -> tuple[str, ...]:
    """The triggers that an event may bring: all but those that only the engine fires."""
    return tuple(trigger for trigger, role in kind.roles.items() if role != "derived")


def event_data(kind: Kind, trigger: str) -> Schema:
    """What `data` of `<kind>.<trigger>` may hold. Fields that no table names are let through and mean nothing."""
    fields = (*COMMON, *kind.fields[trigger])
    required = [field.name for field in fields if field.required]
    return {
        "title": f"Data of {kind.name}.{trigger}",
        "description": " ".join([ROLES[kind.roles[trigger]], *_rows(kind, trigger)]),
        "type": "object",
        "properties": {field.name: _field(field) for field in fields},
        **({"required": required} if required else {}),
    }


def envelope(ref: str) -> Schema:
    """The envelope of every event; `ref`: where what it refers to stands."""
    _, named = msgspec.json.schema_components([Event], ref_template=ref)
    found: Schema = named["Event"]
    return found


def record(name: str, ref: str) -> tuple[Schema, dict[str, Schema]]:
    """The envelope of a record, and the maps in it by name; `ref`: where those maps stand."""
    _, named = msgspec.json.schema_components([RECORDS[name]], ref_template=ref)
    schema = named.pop(f"RecordMap_{name.title()}Data_")
    return {**schema, "title": name.title(), "description": named[f"{name.title()}Data"]["description"]}, named


def whole_record(kinds: Kinds, name: str) -> Schema:
    """A record with all it is made of; what a kind's table says of it applies where `type` names that kind."""
    schema, named = record(name, HERE)
    if name in NARROWED:
        schema["allOf"] = [
            {
                "if": {"properties": {"type": {"const": f"{kind}.{NARROWED[name]}"}}},
                "then": {"properties": {"data": {"$ref": HERE.format(name=kind)}}},
            }
            for kind in kinds
        ]
        named |= {kind.name: narrowed(kind) for kind in kinds.values()}
    return {**schema, "$defs": named}


def narrowed(kind: Kind) -> Schema:
    """What a kind's table says of the data of its records: facets, phases, conditions, attributes."""
    facets = kind.table.facets
    state = _state(facets, unborn=len(facets) > 1)
    attributes = {field.name: _field(field) for field in kind.table.attributes}
    held = {facet.name: _facet(facet, unborn=len(facets) > 1) for facet in facets}
    return {
        "title": f"What records say of a {kind.name}",
        "properties": {
            "kind": {"const": kind.name},
            "facet": {"enum": list(kind.names)},
            "from": state,
            "to": state,
            "entity": {
                "properties": {
                    "facets": {"properties": held, "required": list(kind.names), "additionalProperties": False},
                    "attributes": {"properties": attributes},
                }
            },
        },
    }


def _facet(facet: Facet, *, unborn: bool) -> Schema:
    state = _state((facet,), unborn=unborn)
    return {"properties": {**state["properties"], "base": state}}


def _state(facets: tuple[Facet, ...], *, unborn: bool) -> Schema:
    """unborn: whether one facet may still be Absent while another is not."""
    phases = dict.fromkeys(phase for facet in facets for phase in phases_of(facet)[0 if unborn else 1 :])
    conditions = dict.fromkeys(label.condition for facet in facets for label in facet.labels if label.condition)
    said = {"items": {"enum": list(conditions)}} if conditions else {"maxItems": 0}
    return {"properties": {"state": {"enum": list(phases)}, "conditions": said}}


def _field(field: Field) -> Schema:
    one: Schema = {"type": TYPES[field.type]} if field.type in TYPES else {}
    if field.options:
        one["enum"] = list(field.options)
    elif field.type is str:
        one["maxLength"] = MAX_TEXT
    unique = {} if field.type in (dict, list) else {"uniqueItems": True}
    found = {"type": "array", "items": one, **unique} if field.many else one
    default = {} if field.default is None else {"default": field.default}
    return {
        "description": field.doc,
        **default,
        **(found if field.required and not field.null else {"anyOf": [found, {"type": "null"}]}),
    }


def _rows(kind: Kind, trigger: str) -> list[str]:
    found = []
    for facet in kind.table.facets:
        for row in (row for row in facet.rows if row.trigger == trigger):
            said = f" with {wording.data(row)}" if row.given else ""
            needs = f", only while {wording.needs(row)}" if row.when else ""
            found.append(f"From {wording.starts(row)}{said}: {wording.becomes(facet, row)}{needs}.")
    return found


def _identified(path: str, schema: Schema) -> Schema:
    version = SCHEMA_VERSION if path.startswith(("events/", "envelope")) else RECORD_VERSION
    return {"$schema": DIALECT, "$id": f"urn:phaseline:{version}:{path.replace('/', ':')}", **schema}
