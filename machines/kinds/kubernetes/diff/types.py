"""The published types of Kubernetes' own kinds: what a field holds is said by its place in its kind.

Belongs here: reading `types.json` (written by a script from Kubernetes' OpenAPI definitions, see
docs/developing/changes.md), the type of a kind, types by name for fields of custom kinds. Does not: what follows from a
type (`canonical`, `merge`), the defaults of the API server (`defaults`).
"""

import json
from collections.abc import Mapping, Sequence
from copy import copy
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from phaseline.machines.kinds.kubernetes.diff.defaults import ALLOCATED, DEFAULTS, ORDERLESS, Adds

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
    itself. key: for a list that merges, the key of its members (several with commas), empty if they are merged as they
    are; None for any other list. fields: of a struct, or those of a custom kind that have a type. adds: adds the API
    server's defaults to a struct. tells_zero: zero (or an empty struct) is not the same as absent. atomic: a map or
    struct that is one value; whole: it is also replaced as one. open: a list that is merged member by member where both
    have one length. orderless: for a list whose order has no meaning, the field of its members that does not tell
    one from another. allocated: the fields of a struct that the server or a controller fills in. unwritten: a value of
    `any` form that says false, nothing or empty is not written by its controller, so it is the same as an absent one.
    """

    __slots__ = (
        "adds",
        "allocated",
        "atomic",
        "fields",
        "form",
        "item",
        "key",
        "open",
        "orderless",
        "tells_zero",
        "unwritten",
        "whole",
    )

    def __init__(
        self, form: str, *, item: "FieldType | None" = None, key: str | None = None, tells_zero: bool = False
    ) -> None:
        """A type. The fields and defaults of a struct are set afterwards."""
        self.form, self.key, self.tells_zero = form, key, tells_zero
        self.item = item if item is not None else self
        self.fields: Members = _NO_FIELDS
        self.adds: Adds | None = None
        self.atomic = self.whole = self.unwritten = False
        self.orderless = ""
        self.open = form == "any"
        self.allocated: Sequence[str] = ()

    def of(self, name: str) -> "FieldType":
        """The type of a member of a map or struct."""
        return self.item if self.form == "map" else self.fields.get(name, ANY)


_NO_FIELDS: Members = {}
ANY: Final = FieldType("any")
"""The type of a field of which nothing is known: maps, lists and values as in JSON."""


@lru_cache(maxsize=1)
def _table() -> Mapping[str, Any]:
    """The table. It is a part of this package as much as its code is."""
    found: Mapping[str, Any] = json.loads(files(__package__).joinpath(TABLE).read_bytes())
    return found


_MADE: dict[str, FieldType] = {}
"""The structs that were made, by name."""


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
        return _read(known[last], {})
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


def _struct(name: str) -> FieldType:
    """The struct of this name."""
    if name not in _MADE:
        making: dict[str, FieldType] = {}
        _make(name, making)
        _MADE.update(making)  # all at once: a struct may hold itself, and nobody may see one that is not complete
    return _MADE[name]


def _make(name: str, making: dict[str, FieldType]) -> FieldType:
    """The struct of this name. making: those that are being made."""
    if name in _MADE or name in making:
        return _MADE.get(name) or making[name]
    made = making[name] = FieldType("struct")
    plain = _without_version(name)
    made.adds, made.allocated = DEFAULTS.get(name) or DEFAULTS.get(plain), ALLOCATED.get(plain, ())
    fields: dict[str, FieldType] = {}
    made.fields = fields
    fields |= {field: _read(code, making) for field, code in _table()["types"][name].items()}
    for field, aim in ORDERLESS.get(plain, {}).items():
        if field in fields:
            fields[field].orderless = aim
    return made


def _without_version(name: str) -> str:
    """`core.Container` for `core.v1.Container`: defaults hold for all versions."""
    group, _, rest = name.partition(".")
    return f"{group}.{rest.rpartition('.')[2]}"


def _read(code: str, making: dict[str, FieldType]) -> FieldType:
    """The type that a code of the table stands for. making: the structs that are being made."""
    if code[0] == "[":
        key, _, item = code[1:].partition("]")
        return FieldType("list", item=_read(item, making), key=None if not key else key.removeprefix("="))
    if code.startswith("{}"):
        return FieldType("map", item=_read(code[2:], making))
    if code[0] in "=!":
        made = copy(_read(code[1:], making))
        made.atomic, made.whole = True, made.whole or code[0] == "="
        return made
    if code[0] == "@":
        named = _make(code[1:].removesuffix("+"), making)
        made = FieldType("struct", tells_zero=code.endswith("+"))
        made.fields, made.adds, made.allocated = named.fields, named.adds, named.allocated
        return made
    return _scalar(code)


@lru_cache(maxsize=64)
def _scalar(code: str) -> FieldType:
    return FieldType(SCALARS[code[0]], tells_zero=code.endswith("?"))
