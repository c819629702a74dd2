"""Fields of custom kinds that have a Kubernetes type (knownTypeFields in Argo CD).

Belongs here: the type of a custom kind of which some fields are known, and the kinds of which we know fields. Does not:
which fields of which kinds users name (`kubernetes.overrides`), the types (`types`).
"""

from collections.abc import Iterable, Mapping
from copy import copy
from functools import lru_cache

import msgspec

from phaseline.machines.kinds.kubernetes.diff.types import ANY, FieldType, type_called


class KnownType(msgspec.Struct, frozen=True):
    """A field by its path (`spec.template.spec`, also through lists), and its type (`core/v1/PodSpec`)."""

    field: str
    type: str


METADATA = KnownType("metadata", "meta/v1/ObjectMeta")
"""What all kinds have."""
BUILT_IN: Mapping[tuple[str, str], tuple[KnownType, ...]] = {
    ("argoproj.io", "Rollout"): (KnownType("spec.template", "core/v1/PodTemplateSpec"),),
}
"""By group and kind: fields of custom kinds whose types need not be named."""


def custom_type(group: str, kind: str, fields: tuple[KnownType, ...], schema: FieldType | None) -> FieldType:
    """The type of a custom kind: that of its schema, else any JSON, but for the fields of which the type is known."""
    if schema is None:
        return _custom_type(group, kind, fields)
    known = (*BUILT_IN.get((group, kind), ()), *fields)
    return with_fields(known, schema) if known else schema


@lru_cache(maxsize=256)
def _custom_type(group: str, kind: str, fields: tuple[KnownType, ...]) -> FieldType:
    return with_fields((METADATA, *BUILT_IN.get((group, kind), ()), *fields))


def with_fields(fields: Iterable[KnownType], type_: FieldType = ANY) -> FieldType:
    """A type with these fields. A path goes through lists; a type that is not known says nothing."""
    for one in fields:
        named = type_called(one.type)
        if named is not None:
            type_ = _placed(type_, one.field.split("."), named)
    return type_


def _placed(before: FieldType, path: list[str], type_: FieldType) -> FieldType:
    """The type with one more field at a path."""
    if not path:
        return type_
    made = copy(before)
    if before.form == "list":
        made.item = _placed(before.item, path, type_)
        return made
    made.item = made if before.item is before else before.item
    made.fields = {**before.fields, path[0]: _placed(before.of(path[0]), path[1:], type_)}
    return made
