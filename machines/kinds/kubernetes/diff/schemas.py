"""The type of a custom kind, from the schema in its CustomResourceDefinition.

Belongs here: reading a schema, cutting it to what a comparison needs. Does not: finding definitions
(`kubernetes.kind_facts`), fields that users name (`known_types`).
"""

from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Any

from phaseline.machines.kinds.kubernetes.diff.types import ANY, FieldType, type_called

Schema = Mapping[str, Any]
QUANTITY = "numkMGTPE"
"""What stands in the pattern of a quantity, and of nothing else."""
KEEPS, EMBEDS = "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"
INT_OR_TEXT, LIST, KEYS = "x-kubernetes-int-or-string", "x-kubernetes-list-type", "x-kubernetes-list-map-keys"
FORMS = {"byte": "bytes", "date-time": "time", "duration": "duration"}
SAID = ("type", "format", "default", KEEPS, EMBEDS, INT_OR_TEXT, LIST, KEYS)
"""The words of a schema that say how values are compared, beside those that hold schemas, and the pattern."""


def type_of_schema(schema: Schema) -> FieldType:
    """The type of the objects of a schema. Whatever it does not say in the words of Kubernetes is any JSON."""
    return _with_object_fields(_read(schema))


def _read(schema: Any) -> FieldType:
    if not isinstance(schema, Mapping):
        return ANY
    if QUANTITY in str(schema.get("pattern", "")):
        return FieldType("quantity", tells_zero=True)
    if schema.get(INT_OR_TEXT) is True:
        return FieldType("number or text", tells_zero=True)
    kind = schema.get("type")
    if kind == "array":
        return _list(schema)
    if kind == "object" or "properties" in schema:
        return _object(schema)
    if kind == "string":
        return FieldType(FORMS.get(str(schema.get("format")), "string"), tells_zero=True)
    return FieldType(kind, tells_zero=True) if kind in ("integer", "number", "boolean") else ANY


def _list(schema: Schema) -> FieldType:
    how, keys = schema.get(LIST), schema.get(KEYS)
    key = None
    if how == "set":
        key = ""
    elif how == "map" and isinstance(keys, list) and keys and all(isinstance(one, str) for one in keys):
        key = ",".join(keys)
    made = FieldType("list", item=_read(schema.get("items")), key=key, tells_zero=True)
    made.open = key is None
    return made


def _object(schema: Schema) -> FieldType:
    properties, others = schema.get("properties"), schema.get("additionalProperties")
    if isinstance(others, Mapping) and not properties:
        return FieldType("map", item=_read(others), tells_zero=True)
    if not isinstance(properties, Mapping) and schema.get(EMBEDS) is not True:
        return ANY
    is_open = schema.get(KEEPS) is True or others not in (None, False)
    made = FieldType("any" if is_open else "struct", tells_zero=True)
    members = properties if isinstance(properties, Mapping) else {}
    made.fields = {str(name): _read(one) for name, one in members.items()}
    defaults = {str(name): one for name, one in members.items() if isinstance(one, Mapping) and "default" in one}
    if defaults:
        made.adds = _Defaults(defaults)
    return _with_object_fields(made) if schema.get(EMBEDS) is True else made


class _Defaults:
    """Adds the defaults of a schema to a part. They are shared by all parts, which nobody changes but to add more."""

    def __init__(self, members: Mapping[str, Schema]) -> None:
        self._values = {name: deepcopy(one["default"]) for name, one in members.items()}

    def __call__(self, part: dict[str, Any]) -> None:
        for name, value in self._values.items():
            if part.get(name) is None:
                part[name] = value


def _with_object_fields(type_: FieldType) -> FieldType:
    """The type with what every object has."""
    if type_.form not in ("any", "struct"):
        return type_
    made = FieldType(type_.form, tells_zero=type_.tells_zero)
    text = FieldType("string")
    made.fields = {
        **type_.fields,
        "apiVersion": text,
        "kind": text,
        "metadata": type_called("meta/v1/ObjectMeta") or ANY,
    }
    made.adds = type_.adds
    return made


def cut(schema: Schema, said: Iterable[Any]) -> dict[str, Any]:
    """A schema without what a comparison with these values does not need: what they do not say, but for defaults."""
    values = [one for one in said if one is not None]
    made = {name: schema[name] for name in SAID if name in schema}
    if QUANTITY in str(schema.get("pattern", "")):
        made["pattern"] = QUANTITY
    values += [schema["default"]] if schema.get("default") is not None else []
    maps = [one for one in values if isinstance(one, Mapping)]
    properties, others, items = (schema.get(name) for name in ("properties", "additionalProperties", "items"))
    if isinstance(properties, Mapping):
        made["properties"] = dict(_properties(properties, maps))
    if isinstance(others, Mapping):
        members = [value for one in maps for value in one.values()]
        made["additionalProperties"] = cut(others, members) if members else {}
    elif others is not None:
        made["additionalProperties"] = bool(others)
    if isinstance(items, Mapping):
        members = [value for one in values if isinstance(one, list) for value in one]
        made["items"] = cut(items, members) if members else {}
    return made


def _properties(found: Schema, maps: list[Schema]) -> Iterator[tuple[str, Any]]:
    for name, one in found.items():
        members = [value[name] for value in maps if name in value]
        if isinstance(one, Mapping) and (members or "default" in one):
            yield name, cut(one, members)
