"""JSON Schemas (2020-12) of everything on the wire: the envelope, the data of each event, each sort of record.

Belongs here: schemas made from tables and from `schemas.wire_types`. Does not: a second definition of any field;
channels (`asyncapi`); the layout of the files (`pages`).
"""

import inspect
import re
from typing import Any

import msgspec

from phaseline.machines.compiler.conditions import phases_of
from phaseline.machines.compiler.kinds import Kind, Kinds
from phaseline.machines.docs import wording
from phaseline.machines.language.fields import BY_ROLE
from phaseline.machines.language.table import ABSENT, COMMON, MAX_TEXT, Facet, Field
from phaseline.schemas.cloudevents import actors
from phaseline.schemas.envelope import SCHEMA_VERSION, Event
from phaseline.schemas.wire_codec import RECORD_VERSION
from phaseline.schemas.wire_types import LossData, MarkData, RecordMap, RejectionData, TransitionData

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
ROLES = {"intent": "An intent: it requests a change.", "observation": "An observation: it reports a fact."}
RECORDS: dict[str, Any] = {
    "Transition": RecordMap[TransitionData],
    "Rejection": RecordMap[RejectionData],
    "Mark": RecordMap[MarkData],
    "Loss": RecordMap[LossData],
}
VERBS = {"Transition": "transitioned", "Rejection": "rejected", "Mark": "marked", "Loss": "lost"}
"""The last word of the `type` of each sort of record."""
ACTOR: Schema = {
    "type": "string",
    "minLength": 1,
    "maxLength": actors.LONGEST,
    "description": "Whom the HTTP server had authenticated, which sets it; it takes no event that has it. Any "
    "publisher on NATS may set it, so it proves nothing: the actor that is proven stands in the cause of the record.",
}
"""The extension attribute that Phaseline itself sets."""
NARROWED = ("Transition", "Mark")
"""The records whose data follows a kind's table."""


def files(kinds: Kinds) -> dict[str, Schema]:
    """Every schema by its path: `envelope.json`, `records.json`, and `kinds/<kind>.json` for a kind's events."""
    found = {"envelope": envelope(HERE), "records": records(kinds)}
    found |= {f"kinds/{kind.name}": events(kind) for kind in kinds.values()}
    return {f"{path}.json": _identified(path, schema) for path, schema in found.items()}


def events(kind: Kind) -> Schema:
    """The events of a kind: what `data` may hold for each `type`. The envelope around it has a schema of its own."""
    triggers = outside(kind)
    return {
        "title": f"Events of kind {kind.name}",
        "description": f"The `data` of `{kind.name}.<trigger>` is `#/$defs/<trigger>`.",
        "type": "object",
        "required": ["type"],
        "oneOf": [event(kind, trigger, HERE.format(name=trigger)) for trigger in triggers],
        "$defs": {**{trigger: event_data(kind, trigger, HERE) for trigger in triggers}, **common(kind)},
    }


def event(kind: Kind, trigger: str, data: str) -> Schema:
    """What `type` and `data` of an event are. `data`: the reference to the schema of its data."""
    required = any(field.required for field in kind.fields[trigger])
    return {
        "type": "object",
        "properties": {"type": {"const": f"{kind.name}.{trigger}"}, "data": {"$ref": data}},
        **({"required": ["data"]} if required else {}),
    }


def common(kind: Kind | None = None) -> dict[str, Schema]:
    """The fields that every event of a role may have, by the names under which `event_data` refers to them.

    kind: only those that events of this kind may have.
    """
    fields = dict.fromkeys((*COMMON, *(field for of_role in BY_ROLE.values() for field in of_role)))
    if kind is not None:
        fields = dict.fromkeys(field for trigger in outside(kind) for field in kind.common[trigger])
    return {field.name.title(): _field(field) for field in fields}


def name_of(*words: str) -> str:
    """The name of a model in generated programs, as the title of its schema: `node_pool`, `data` -> `NodePoolData`."""
    return "".join(part.capitalize() for word in words for part in re.split(r"[^a-zA-Z0-9]", word))


def outside(kind: Kind) -> tuple[str, ...]:
    """The triggers that a publisher may send: all except those that only the engine fires."""
    return tuple(trigger for trigger, role in kind.roles.items() if role != "derived")


def event_data(kind: Kind, trigger: str, ref: str) -> Schema:
    """What `data` of `<kind>.<trigger>` may hold. Only observations may have fields that the table does not name.

    ref: where the schemas of `common` stand.
    """
    own = kind.fields[trigger]
    required = [field.name for field in own if field.required]
    shared = {field.name: {"$ref": ref.format(name=field.name.title())} for field in kind.common[trigger]}
    return {
        "title": name_of(kind.name, trigger, "data"),
        "description": " ".join([ROLES[kind.roles[trigger]], *_rows(kind, trigger)]),
        "type": "object" if required else ["object", "null"],
        "properties": {**shared, **{field.name: _field(field, kind.name, trigger) for field in own}},
        **({"required": required} if required else {}),
        **({"additionalProperties": False} if kind.roles[trigger] == "intent" else {}),
    }


def envelope(ref: str) -> Schema:
    """The envelope of every event. `ref`: where the schemas to which it refers stand."""
    found = _components(Event, ref)["Event"]
    return {**found, "properties": {**found["properties"], actors.ATTRIBUTE: ACTOR}}


def _components(shape: Any, ref: str) -> dict[str, Schema]:
    """The schemas of a wire type and of those in it, by name. Python before 3.13 keeps the indent of docstrings."""
    _, named = msgspec.json.schema_components([shape], ref_template=ref)
    named = _null_last(named)
    return {name: {**schema, "description": inspect.cleandoc(schema["description"])} for name, schema in named.items()}


def _null_last(schema: Any) -> Any:
    """A schema of plain JSON values in which null is the last of several types, unlike in some versions of msgspec."""
    if isinstance(schema, list | tuple):
        return [_null_last(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: _null_last(one) for name, one in schema.items()}
    if "anyOf" in found:
        found["anyOf"].sort(key=lambda one: one == {"type": "null"})
    return found


def record(name: str, ref: str) -> tuple[Schema, dict[str, Schema]]:
    """The envelope of a sort of record, and by name the schemas to which it refers. `ref`: where those stand."""
    named = _components(RECORDS[name], ref)
    schema = named.pop(f"RecordMap_{name}Data_")
    schema["properties"]["type"]["pattern"] = rf"\.{VERBS[name]}$"
    return {**schema, "title": name, "description": named[f"{name}Data"]["description"]}, named


def records(kinds: Kinds) -> Schema:
    """Any record; what a kind's table says about it applies if `kind` in its data names that kind."""
    named: dict[str, Schema] = {}
    for name in RECORDS:
        schema, parts = record(name, HERE)
        named |= {name: schema, **parts}
    for name in NARROWED:
        named[f"{name}Data"]["allOf"] = [{"$ref": HERE.format(name="ByKind")}]
    named["ByKind"] = {
        "description": "What the table of each built-in or installed kind says about the data of its records.",
        "allOf": [
            {
                "if": {"type": "object", "properties": {"kind": {"const": kind}}},
                "then": {"$ref": HERE.format(name=f"{kind}.record")},
            }
            for kind in kinds
        ],
    }
    for kind in kinds.values():
        named |= narrowed(kind, HERE)
    return {
        "title": "Record",
        "description": "A record that Phaseline commits to its log and sends to the live feed.",
        "anyOf": [{"$ref": HERE.format(name=name)} for name in RECORDS],
        "$defs": named,
    }


def narrowed(kind: Kind, ref: str) -> dict[str, Schema]:
    """What a kind's table says about the data of its records, as `<kind>.record`, and the states of each facet."""
    facets = kind.table.facets
    states = {facet.name: f"{kind.name}.state.{facet.name}" for facet in facets}
    refs = {facet: {"$ref": ref.format(name=name)} for facet, name in states.items()}
    any_state = (
        next(iter(refs.values()))
        if len(refs) == 1
        else {"title": name_of(kind.name, "state"), "anyOf": list(refs.values())}
    )
    held = {
        facet: {"title": name_of(kind.name, facet, "facet"), "type": "object", **state, "properties": {"base": state}}
        for facet, state in refs.items()
    }
    data = {
        "title": name_of(kind.name, "record"),
        "type": "object",
        "properties": {
            "kind": {"const": kind.name},
            "facet": {"title": name_of(kind.name, "facet", "name"), "enum": list(kind.names)},
            "from": any_state,
            "to": any_state,
            "entity": {
                "title": name_of(kind.name, "entity"),
                "type": "object",
                "properties": {
                    "facets": {
                        "title": name_of(kind.name, "facets"),
                        "type": "object",
                        "properties": held,
                        "required": [*kind.names[: kind.own]],
                        "additionalProperties": False,
                    },
                    "attributes": {
                        "title": name_of(kind.name, "attributes"),
                        "type": "object",
                        "properties": {field.name: _field(field, kind.name) for field in kind.table.attributes},
                    },
                },
            },
        },
    }
    unborn = len(facets[: kind.own]) > 1
    return {
        f"{kind.name}.record": data,
        **{states[facet.name]: _state(kind, facet, unborn=unborn) for facet in facets},
    }


def _state(kind: Kind, facet: Facet, *, unborn: bool) -> Schema:
    """unborn: whether the facet may still be Absent while another one is not."""
    phases = phases_of(facet)[0 if unborn or facet.begins != ABSENT else 1 :]
    conditions = dict.fromkeys(label.condition for label in facet.labels if label.condition)
    words = (kind.name, facet.name)
    one = {"title": name_of(*words, "condition"), "enum": list(conditions)}
    phase = {"title": name_of(*words, "phase"), "enum": list(phases)}
    allowed = {"type": "array", **({"items": one} if conditions else {"maxItems": 0})}
    # The state before the first record of an entity is null.
    return {
        "title": name_of(*words, "state"),
        "type": ["object", "null"],
        "properties": {"state": phase, "conditions": allowed},
    }


def _field(field: Field, *owner: str) -> Schema:
    """The schema of a field. `owner`: the words that come before the field's in the name of a choice."""
    one: Schema = {"type": TYPES[field.type]} if field.type in TYPES else {}
    if field.options:
        one = {"title": name_of(*owner, field.name), **one, "enum": list(field.options)}
    elif field.pattern:
        one["pattern"] = f"^{field.pattern}$"
    elif field.type is str:
        one["maxLength"] = MAX_TEXT
    number = {} if field.least is None else {"minimum": field.least}
    if field.numbers:
        numbers = {name: {"type": "number", **number} for name in field.numbers}
        one = {"title": name_of(*owner, field.name), **one, "properties": numbers, "additionalProperties": False}
    else:
        one |= number
    unique = {} if field.type in (dict, list) else {"uniqueItems": True}
    found = {"type": "array", "items": one, **unique} if field.many else one
    default = {} if field.default is None else {"default": field.default}
    null = field.null or not field.required
    return {"description": field.doc, **default, **(_or_null(found) if null else found)}


def _or_null(schema: Schema) -> Schema:
    """The schema, with null allowed too."""
    found = {**schema, "type": [schema["type"], "null"]} if "type" in schema else schema
    return {**found, "enum": [*schema["enum"], None]} if "enum" in schema else found


def _rows(kind: Kind, trigger: str) -> list[str]:
    found = []
    for facet in kind.table.facets:
        for row in (row for row in facet.rows if row.trigger == trigger):
            data = f" with {wording.data(row)}" if row.given else ""
            needs = f", only while {wording.guards(row)}" if row.when else ""
            found.append(f"From {wording.sources(row)}{data}: {wording.becomes(facet, row)}{needs}.")
    return found


def _identified(path: str, schema: Schema) -> Schema:
    version = SCHEMA_VERSION if path.startswith(("kinds/", "envelope")) else RECORD_VERSION
    return {"$schema": DIALECT, "$id": f"urn:phaseline:{version}:{path.replace('/', ':')}", **schema}
