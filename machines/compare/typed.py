"""Fields of custom kinds that are of a type of Kubernetes' (Argo CD's `knownTypeFields`; behaviour 3.3).

Belongs here: bringing such a field to one way of writing. Does not: which fields, of which kinds (`customs`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from phaseline.machines.compare.values import quantity, told_once
from phaseline.machines.durations import NoDuration, seconds

MAPS = {"ResourceList": "limits"}
"""Types that are maps of quantities, and a field of that type."""


@dataclass(frozen=True, slots=True)
class Typed:
    """A field by its path (`spec.template.spec`, through lists too), and its type (`core/v1/PodSpec`, `core/Quantity`)."""

    field: str
    type: str


def told(found: Any, fields: tuple[Typed, ...]) -> Any:
    """An object with these fields written in one way; what does not read as its type stays."""
    for one in fields:
        found = _at(found, one.field.split("."), one.type.rpartition("/")[2])
    return found


def _at(found: Any, path: list[str], type_: str) -> Any:
    if isinstance(found, list):
        return [_at(one, path, type_) for one in found]
    if not path:
        return _told(found, type_)
    if not isinstance(found, Mapping) or path[0] not in found:
        return found
    return {**found, path[0]: _at(found[path[0]], path[1:], type_)}


def _told(found: Any, type_: str) -> Any:
    if type_ == "Quantity":
        return quantity(found)
    if type_ == "Duration":
        try:
            return str(seconds(found).normalize()) if isinstance(found, str) else found
        except NoDuration:
            return found
    return told_once(found, MAPS.get(type_, ""))
