"""Checks that each value of a table is of the type that its column takes, before anything reads the table.

mypy says so earlier, and Python itself where a call has wrong columns. This pass lets the other checks rely on it.
Belongs here: the types, after the annotations of the classes. Does not: names and references (`checks`).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from phaseline.machines.compiler.fingerprint import WORDS
from phaseline.machines.language.predicates import Above, AnyBelow, AttributeIs, Child, Predicate
from phaseline.machines.language.table import Cascade, FanOut, Interpret, Table
from phaseline.schemas.records import State

PARTS = {
    "facets": "name", "labels": "phase", "rows": "trigger", "views": "to", "timeouts": "phase", "retired": "phase",
    "cascades": "trigger", "attributes": "name", "on_tally": "trigger", "signal_names": "name",
}  # fmt: skip
"""The columns whose items are parts of a table, with the column that names such a part."""
NOT_EMPTY = {
    (Above, "phases"), (AnyBelow, "phases"), (Child, "phases"), (AttributeIs, "value"),
    (Cascade, "at"), (FanOut, "triggers"), (FanOut, "on"), (Interpret, "on"),
}  # fmt: skip
"""Columns in which an empty tuple means nothing. `AllBelow` may name no phase: then all must be Deleted."""
LONGEST = 60
"""The most characters of a value that a sentence repeats."""


class AnyText(str):
    """The type of a column whose text may be empty. Names may not be."""

    __slots__ = ()


TEXTS = {"doc": AnyText, "en": AnyText, "options": tuple[AnyText, ...]}
"""The columns with such texts."""


def problems(table: object) -> Iterator[str]:
    """Which values of a table are not of the type of their column."""
    if isinstance(table, Table):
        yield from _object(table, "")
    else:
        yield f"{_shown(table)} is no kind: write a Table(kind=..., id=..., facets=(...), intents=(...))"


def is_of(value: object, type_: Any) -> bool:
    """Whether a value itself is of a type, whatever is inside it."""
    origin, inner = get_origin(type_), get_args(type_)
    if origin in (Union, UnionType):
        return any(is_of(value, one) for one in inner)
    if type_ is Any or type_ is object:
        return True
    if origin is Literal:
        return isinstance(value, str) and value in inner
    if origin is tuple:
        return type(value) is tuple and (inner[-1] is Ellipsis or len(value) == len(inner))
    if origin is not None and origin is not Mapping:
        return callable(value) and not isinstance(value, type) and type(value) not in WORDS
    if type_ is Predicate:
        return not isinstance(value, type) and hasattr(value, "holds") and hasattr(value, "text")
    if type_ is str:
        return isinstance(value, str) and value != ""
    if type_ in (int, float):
        return isinstance(value, int | type_) and not isinstance(value, bool)
    return isinstance(value, str if type_ is AnyText else origin or type_)


@cache
def _columns(cls: Any) -> tuple[tuple[str, Any], ...]:
    """The columns of a class with their types."""
    if cls is State:
        return tuple(get_type_hints(cls).items())
    types = {**get_type_hints(cls), **TEXTS}
    return tuple((each.name, types[each.name]) for each in fields(cls))


def _object(found: Any, where: str) -> Iterator[str]:
    of: Any = type(found)
    for name, type_ in _columns(of):
        value = getattr(found, name)
        if value == () and (of, name) in NOT_EMPTY:
            yield _sentence(where, name, "(), an empty tuple", "at least one")
        else:
            yield from _value(value, type_, where, name)


def _value(value: Any, type_: Any, where: str, name: str) -> Iterator[str]:
    """The problems of a value, and of what is inside it."""
    choices = get_args(type_) if get_origin(type_) in (Union, UnionType) else (type_,)
    fitting = next((one for one in choices if is_of(value, one)), None)
    if fitting is None:
        yield _sentence(where, name, _shown(value), _advice(value, type_, choices))
    elif type(value) in WORDS or type(value) is State:
        yield from _object(value, where)
    elif get_origin(fitting) is tuple:
        inner = get_args(fitting)
        for index, item in enumerate(value):
            yield from _value(item, inner[0 if inner[-1] is Ellipsis else index], _part(where, name, item, index), name)
    elif get_origin(fitting) is Mapping:
        for key, held in value.items():
            yield from _value(key, str, where, f"{name}, key")
            yield from _value(held, get_args(fitting)[1], where, f"{name}[{key!r}]")


def _part(where: str, column: str, item: Any, index: int) -> str:
    """The place of an item of a column, with its name if it has one."""
    if column not in PARTS:
        return where
    name = getattr(item, PARTS[column], None)
    part = f"{column.removesuffix('s')} {index + 1}"
    if isinstance(name, str):
        part = name if column == "facets" else f"{part} ({name})"
    return ", ".join(filter(None, (where, part)))


def _advice(value: Any, type_: Any, choices: tuple[Any, ...]) -> str:
    """What to write in place of a value: a forgotten comma, or the types that the column takes."""
    inside = [get_args(one)[0] for one in choices if get_origin(one) is tuple and get_args(one)[-1] is Ellipsis]
    if value is not None and any(is_of(value, one) for one in inside):
        return "it in brackets, with a comma after it"
    if type_ is type:
        return "str, int, float, bool or dict, without quotes"
    if value == "":
        return "a name, or leave the column out"
    name = type_.__name__ if isinstance(type_, type) and get_origin(type_) is None else str(type_)
    return f"a value of the type {re.sub(r'[a-z_.]+[.](?=[A-Z])', '', name).replace('AnyText', 'str')}"


def _sentence(where: str, name: str, found: str, write: str) -> str:
    return f"{', '.join(filter(None, (where, f'{name}=')))}: found {found}: write {write}"


def _shown(value: object) -> str:
    text = value.__name__ if isinstance(value, type) else repr(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
