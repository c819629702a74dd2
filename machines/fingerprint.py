"""Which tables decided something: a short digest of all that a table makes things do.

Belongs here: the digest, and what counts for it. Does not: where it is kept. Texts for people do not count: a label may be
translated anew without making other machines of it.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from phaseline.machines.checks import WrongTable
from phaseline.machines.table import Label, Table

LENGTH = 12
TEXTS = {Label: ("zh", "en"), Table: ("doc",)}
"""Fields that only people read."""


def version_of(table: Table) -> str:
    """Twelve hexadecimal digits, the same for the same behaviour in every process. Raises `WrongTable`."""
    try:
        return _digest(canonical(table))
    except TypeError as error:
        raise WrongTable(table.kind, [str(error)]) from None


def digest_of(versions: Mapping[str, str]) -> str:
    """One digest over the versions of all kinds."""
    return _digest(dict(versions))


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:LENGTH]


def canonical(value: Any) -> Any:
    """`value` as JSON can hold it, the same for equal values; raises `TypeError` for what has no such form."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, Mapping):
        return {str(name): canonical(found) for name, found in value.items()}
    if isinstance(value, AbstractSet):
        return sorted((canonical(found) for found in value), key=repr)
    if isinstance(value, type):
        return value.__name__
    if is_dataclass(value):
        return [type(value).__name__, {name: canonical(found) for name, found in _said(value)}]
    if isinstance(value, tuple | list):
        return [canonical(found) for found in value]
    return _name(value)


def _said(value: Any) -> Iterator[tuple[str, Any]]:
    """The fields that say something: a field that tables get later, left at its default, changes no digest."""
    for field in fields(value):
        default = field.default if field.default_factory is MISSING else field.default_factory()
        found = getattr(value, field.name)
        if field.name not in TEXTS.get(type(value), ()) and found != default:
            yield field.name, found


def _name(value: Any) -> str:
    if callable(value) and "<" not in getattr(value, "__qualname__", "<"):
        return f"{value.__module__}.{value.__qualname__}"
    raise TypeError(
        f"{type(value).__name__} in a table has no lasting name: make it a dataclass, or a function at the top of a module"
    )
