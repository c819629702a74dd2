"""Fields of custom kinds that have a Kubernetes type (knownTypeFields in Argo CD).

Belongs here: the canonical form of such a field. Does not: which fields of which kinds (`kubernetes.overrides`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from phaseline.machines.kubernetes.diff.canonical import canonical, quantity
from phaseline.machines.kubernetes.durations import NoDuration, seconds

MAPS = {"ResourceList": "limits"}
"""Types that are maps of quantities, and the name of a built-in field of that type."""


@dataclass(frozen=True, slots=True)
class KnownType:
    """A field by its path (`spec.template.spec`, also through lists), and its type (`core/v1/PodSpec`)."""

    field: str
    type: str


def canonical_fields(found: Any, fields: tuple[KnownType, ...]) -> Any:
    """An object with these fields in canonical form; a value that is not of its type stays as it is."""
    for one in fields:
        found = _at(found, one.field.split("."), one.type.rpartition("/")[2])
    return found


def _at(found: Any, path: list[str], type_: str) -> Any:
    if isinstance(found, list):
        return [_at(one, path, type_) for one in found]
    if not path:
        return _canonical(found, type_)
    if not isinstance(found, Mapping) or path[0] not in found:
        return found
    return {**found, path[0]: _at(found[path[0]], path[1:], type_)}


def _canonical(found: Any, type_: str) -> Any:
    if type_ == "Quantity":
        return quantity(found)
    if type_ == "Duration":
        try:
            return str(seconds(found).normalize()) if isinstance(found, str) else found
        except NoDuration:
            return found
    return canonical(found, MAPS.get(type_, ""))
