"""Fields of custom kinds that have a Kubernetes type (knownTypeFields in Argo CD).

Belongs here: the type of a custom kind of which some fields are known, and the kinds of which we know fields. Does not:
which fields of which kinds users name (`kubernetes.overrides`), the types (`types`).
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache

import msgspec

from phaseline.machines.kubernetes.diff.types import ANY, FieldType, type_called


class KnownType(msgspec.Struct, frozen=True):
    """A field by its path (`spec.template.spec`, also through lists), and its type (`core/v1/PodSpec`)."""

    field: str
    type: str


BUILT_IN: Mapping[tuple[str, str], tuple[KnownType, ...]] = {
    ("argoproj.io", "Rollout"): (KnownType("spec.template", "core/v1/PodTemplateSpec"),),
}
"""By group and kind: fields of custom kinds whose types need not be named."""


@lru_cache(maxsize=256)
def custom_type(group: str, kind: str, fields: tuple[KnownType, ...]) -> FieldType:
    """The type of a custom kind: any JSON, but for the fields of which the type is known."""
    return with_fields((*BUILT_IN.get((group, kind), ()), *fields))


def with_fields(fields: Iterable[KnownType]) -> FieldType:
    """Any JSON, but for these fields. A path goes through lists; a type that is not known says nothing."""
    root: FieldType | None = None
    for one in fields:
        named = type_called(one.type)
        if named is not None:
            root = _placed(root, one.field.split("."), named)
    return root or ANY


def _placed(before: FieldType | None, path: list[str], type_: FieldType) -> FieldType:
    """The type with one more field at a path."""
    if not path:
        return type_
    made = FieldType("any")
    inside = dict(before.fields) if before is not None and before.form == "any" else {}
    inside[path[0]] = _placed(inside.get(path[0]), path[1:], type_)
    made.fields = inside
    return made
