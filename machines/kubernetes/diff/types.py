"""The published types of Kubernetes' own kinds: what a field holds is said by its place in its kind.

Belongs here: reading `types.json` (written by a script from Kubernetes' OpenAPI definitions, see CONTRIBUTING.md), the
type of a kind, types by name for fields of custom kinds. Does not: what follows from a type (`canonical`, `merge`),
the defaults of the API server (`defaults`).
"""

import json
from collections.abc import Mapping
from copy import copy
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from phaseline.machines.kubernetes.diff.defaults import DEFAULTS, Adds

TABLE = "types.json"
SCALARS: Final = {
    "s": "string", "b": "boolean", "i": "integer", "n": "number", "q": "quantity", "y": "bytes", "t": "time",
    "d": "duration", "x": "integer or string", "j": "any",
}  # fmt: skip
"""The letters of the table. `any` is what nothing is known about: JSON, as in custom kinds."""
Members = Mapping[str, "FieldType"]


class FieldType:
    """What a field holds.

    form: `struct`, `map`, `list` or one of `SCALARS`. item: the type of the members of a map or list, else the type
    itself. key: for a list that merges, the key of its members, empty if they are merged as they are; None for any
    other list. fields: of a struct, or those of a custom kind that have a type. adds: adds the API server's defaults to
    a struct. tells_zero: zero (or an empty struct) is not the same as absent. atomic: a map or struct that is one
    value; whole: it is also replaced as one.
    """

    __slots__ = ("adds", "atomic", "fields", "form", "item", "key", "tells_zero", "whole")

    def __init__(
        self, form: str, *, item: "FieldType | None" = None, key: str | None = None, tells_zero: bool = False
    ) -> None:
        """A type. The fields and defaults of a struct are set afterwards."""
        self.form, self.key, self.tells_zero = form, key, tells_zero
        self.item = item if item is not None else self
        self.fields: Members = _NO_FIELDS
        self.adds: Adds | None = None
        self.atomic = self.whole = False

    def of(self, name: str) -> "FieldType":
        """The type of a member of a map or struct."""
        return self.item if self.form == "map" else self.fields.get(name, ANY)


_NO_FIELDS: Members = {}
ANY: Final = FieldType("any")
"""The type of a custom kind, and of a field that no type has: maps, lists and values as in JSON."""


@lru_cache(maxsize=1)
def _table() -> Mapping[str, Any]:
    """The table. It is a part of this package as much as its code is."""
    found: Mapping[str, Any] = json.loads(files(__package__).joinpath(TABLE).read_bytes())
    return found


@lru_cache(maxsize=512)
def type_of(api_version: str, kind: str) -> FieldType | None:
    """The type of a kind that comes with Kubernetes; None for any other kind."""
    name = _table()["kinds"].get(f"{api_version} {kind}")
    return None if name is None else _struct(name)


@lru_cache(maxsize=256)
def type_called(name: str) -> FieldType | None:
    """The type called `core/v1/PodSpec`, `core/Quantity` or `meta/v1/Duration` in Argo CD's settings."""
    known = {"Quantity": "q", "ResourceList": "{}q", "Duration": "d", "IntOrString": "x", "Time": "t", "MicroTime": "t"}
    last = name.rpartition("/")[2]
    if last in known:
        return _read(known[last])
    return _struct(name.replace("/", ".")) if name.replace("/", ".") in _table()["types"] else None


@lru_cache(maxsize=1)
def kinds() -> tuple[tuple[str, str], ...]:
    """Each apiVersion and kind of the table."""
    return tuple((version, kind) for version, _, kind in (one.partition(" ") for one in _table()["kinds"]))


@lru_cache(maxsize=1)
def groups_of_kinds() -> Mapping[str, tuple[str, ...]]:
    """The groups in which each kind is found; empty for core."""
    found: dict[str, dict[str, None]] = {}
    for version, kind in kinds():
        group, slash, _ = version.partition("/")
        found.setdefault(kind, {})[group if slash else ""] = None
    return {kind: tuple(sorted(groups)) for kind, groups in found.items()}


@lru_cache(maxsize=1024)
def _struct(name: str) -> FieldType:
    made = FieldType("struct")
    made.adds = DEFAULTS.get(_without_version(name))
    made.fields = {field: _read(code) for field, code in _table()["types"][name].items()}
    return made


def _without_version(name: str) -> str:
    """`core.Container` for `core.v1.Container`: defaults hold for all versions."""
    group, _, rest = name.partition(".")
    return f"{group}.{rest.rpartition('.')[2]}"


@lru_cache(maxsize=4096)
def _read(code: str) -> FieldType:
    """The type that a code of the table stands for."""
    if code[0] == "[":
        key, _, item = code[1:].partition("]")
        return FieldType("list", item=_read(item), key=None if not key else key.removeprefix("="))
    if code.startswith("{}"):
        return FieldType("map", item=_read(code[2:]))
    if code[0] in "=!":
        made = copy(_read(code[1:]))
        made.atomic, made.whole = True, made.whole or code[0] == "="
        return made
    if code[0] == "@":
        named = _struct(code[1:].removesuffix("+"))
        made = FieldType("struct", tells_zero=code.endswith("+"))
        made.fields, made.adds = named.fields, named.adds
        return made
    return FieldType(SCALARS[code[0]], tells_zero=code.endswith("?"))
