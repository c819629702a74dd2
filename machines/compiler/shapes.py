"""Checks that each value of a table is of the sort that its column takes, before anything reads the table.

A newcomer forgets the comma of a tuple with one part, puts a type in quotes, or writes one guard where several may
stand. Each such value is answered with what to write.
Belongs here: the sorts of values, after the annotations of the classes. Does not: names and references (`checks`),
calls with wrong columns (`language.misfits`).
"""

import re
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields
from datetime import timedelta
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from phaseline.machines.compiler.fingerprint import WORDS
from phaseline.machines.language.misfits import Misfit, short
from phaseline.machines.language.predicates import Above, AnyBelow, AttributeIs, Child, Predicate
from phaseline.machines.language.table import Cascade, FanOut, Interpret, Table
from phaseline.schemas.records import State
from phaseline.schemas.similar import did_you_mean

EXAMPLES = {"Predicate": "AttributeIs(kind, name, value)", "State": "State('Running', ('Ok',))", "bool": "True"}
"""An example of a sort, by its name."""
TYPES = {
    "str": "str", "string": "str", "text": "str", "int": "int", "integer": "int", "float": "float", "number": "float",
    "bool": "bool", "boolean": "bool", "dict": "dict", "map": "dict", "object": "dict",
}  # fmt: skip
"""What newcomers call a type, with the type."""
PARTS = {
    #             what           named by
    "labels":     ("label",      "phase"),
    "rows":       ("row",        "trigger"),
    "views":      ("view",       "to"),
    "timeouts":   ("timeout of", "phase"),
    "retired":    ("retired",    "phase"),
    "cascades":   ("cascade",    "trigger"),
    "attributes": ("attribute",  "name"),
    "on_tally":   ("on_tally",   "trigger"),
}  # fmt: skip
"""How the sentences of `checks` call the parts of a table, by column."""
NUMBERED = ("labels", "rows")
ATTRIBUTE_NAMES = ("seconds_from", "repeat_after", "restart_on", "only_child", "message_from", "named")
"""The columns that hold the name of an attribute."""
KNOWN = (*WORDS, State)
"""The classes whose columns are looked at."""


NOT_EMPTY = {
    (Above, "phases"), (AnyBelow, "phases"), (Child, "phases"), (AttributeIs, "value"),
    (Cascade, "at"), (FanOut, "triggers"), (FanOut, "on"), (Interpret, "on"),
}  # fmt: skip
"""Columns in which an empty tuple means nothing. `AllBelow` may name no phase: then all must be Deleted."""


class AnyText(str):
    """The sort of a column whose text may be empty. Names may not be."""

    __slots__ = ()


TEXTS = {"doc": AnyText, "en": AnyText, "options": tuple[AnyText, ...]}
"""The columns with such texts."""


class TableColumn(NamedTuple):
    """A place in a table. where: the part that it belongs to, such as `phase, row 2 (dim)`. name: of the column."""

    where: str
    name: str

    def says(self, found: str, write: str) -> str:
        """The sentence about the value that was found there."""
        return f"{', '.join(filter(None, (self.where, f'{self.name}=')))}: found {found}: write {write}"


def problems(table: object) -> Iterator[str]:
    """What is wrong with the sorts of a table's values, each with what to write instead."""
    if isinstance(table, Table):
        if not _is_sound_object(table):
            yield from _object(table, "")
    elif isinstance(table, Misfit):
        yield table.problem
    else:
        yield f"{short(table)} is no kind: write a Table(kind=..., id=..., facets=(...), intents=(...))"


def _object(found: Any, where: str) -> Iterator[str]:
    of: Any = type(found)
    for name, hint in hints(of):
        value, column = getattr(found, name), TableColumn(where, name)
        if value == () and (of, name) in NOT_EMPTY:
            yield column.says("(), an empty tuple", "at least one")
        else:
            yield from _value(value, hint, column)


@cache
def hints(cls: Any) -> tuple[tuple[str, Any], ...]:
    """The columns of a class with their annotations."""
    named = {**get_type_hints(cls), **(TEXTS if cls is not State else {})}
    return tuple((name, named[name]) for name in named if cls is State or name in {each.name for each in fields(cls)})


class _Sort(NamedTuple):
    """One sort of values that a column takes. `origin` and `inner`: what `get_origin` and `get_args` say of it."""

    hint: Any
    origin: Any
    inner: tuple[Any, ...]
    fits: Callable[[Any], bool]


@cache
def _sorts(hint: Any) -> tuple[_Sort, ...]:
    """The sorts of values that an annotation allows."""
    each = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    return tuple(_Sort(one, get_origin(one), get_args(one), _test(one)) for one in each)


def _value(value: Any, hint: Any, column: TableColumn) -> Iterator[str]:
    """The problems of a value, and of what is inside it."""
    if isinstance(value, Misfit):
        yield f"{column.where}: {value.problem}" if column.where else value.problem
        return
    fitting = next((sort for sort in _sorts(hint) if sort.fits(value)), None)
    if fitting is None:
        yield _advice(value, tuple(sort.hint for sort in _sorts(hint)), column)
    elif type(value) in KNOWN:
        yield from _object(value, column.where)
    elif fitting.origin is tuple:
        inner = fitting.inner
        for index, item in enumerate(value):
            sort = inner[0] if inner[-1] is Ellipsis else inner[index]
            yield from _value(item, sort, TableColumn(_part(column, item, index), column.name))
    elif fitting.origin is not None and isinstance(value, Mapping):
        for key, held in value.items():
            if not _test(str)(key):
                yield column.says(f"the key {short(key)}, {_what(key)}", "a name in quotes")
            yield from _value(held, fitting.inner[1], TableColumn(column.where, f"{column.name}[{key!r}]"))


def _part(column: TableColumn, item: Any, index: int) -> str:
    """The place of an item: that of the column, with the item's own name where it is a part of the table."""
    if column.name == "facets":
        name = getattr(item, "name", None)
        return name if isinstance(name, str) else f"facet {index + 1}"
    if column.name not in PARTS:
        return column.where
    what, key = PARTS[column.name]
    name = getattr(item, key, None)
    named = isinstance(name, str)
    if column.name in NUMBERED:
        text = f"{what} {index + 1} ({name})" if named else f"{what} {index + 1}"
    else:
        text = f"{what} {name}" if named else f"{what.removesuffix(' of')} {index + 1}"
    return ", ".join(filter(None, (column.where, text)))


@cache
def _test(sort: Any) -> Callable[[Any], bool]:
    """The question whether a value itself is of a sort, whatever is inside it."""
    origin, inner = get_origin(sort), get_args(sort)
    if origin in (Union, UnionType):
        tests = [_test(one) for one in inner]
        return lambda value: any(test(value) for test in tests)
    if sort is Any or sort is object:
        return lambda value: type(value) is not Misfit
    if origin is Literal:
        return lambda value: isinstance(value, str) and value in inner
    if origin is tuple:
        length = None if inner[-1] is Ellipsis else len(inner)
        return lambda value: type(value) is tuple and length in (None, len(value))
    if origin is Mapping:
        return lambda value: isinstance(value, Mapping)
    if origin is not None:
        return lambda value: callable(value) and not isinstance(value, type) and type(value) not in WORDS
    if sort is Predicate:
        return lambda value: not isinstance(value, type) and hasattr(value, "holds") and hasattr(value, "text")
    if sort is str:
        return lambda value: isinstance(value, str) and value != ""
    if sort is AnyText:
        return lambda value: isinstance(value, str)
    if sort in (int, float):
        return lambda value: isinstance(value, int | sort) and not isinstance(value, bool)
    return lambda value: isinstance(value, sort)


def is_of(value: object, sort: Any) -> bool:
    """Whether a value is of one of the types of fields."""
    return _test(sort)(value)


@cache
def _is_sound(sort: Any) -> Callable[[Any], bool]:
    """The question whether a value and all that is inside it are of a sort. Most tables need no other question."""
    origin, inner = get_origin(sort), get_args(sort)
    if origin in (Union, UnionType):
        questions = [_is_sound(one) for one in inner]
        return lambda value: any(question(value) for question in questions)
    fits = _test(sort)
    if origin is tuple and inner[-1] is Ellipsis:
        part = _is_sound(inner[0])
        return lambda value: fits(value) and all(map(part, value))
    if origin is tuple:
        parts = [_is_sound(one) for one in inner]
        return lambda value: fits(value) and all(part(item) for part, item in zip(parts, value, strict=True))
    if origin is Mapping:
        named, held = _is_sound(inner[0]), _is_sound(inner[1])
        return lambda value: fits(value) and all(map(named, value)) and all(map(held, value.values()))
    if sort in WORDS or sort in (State, Predicate):
        return lambda value: fits(value) and (type(value) not in KNOWN or _is_sound_object(value))
    return fits


def _is_sound_object(found: Any) -> bool:
    of: Any = type(found)
    return all(question(getattr(found, name)) for name, question in _questions(of))


@cache
def _questions(cls: Any) -> tuple[tuple[str, Callable[[Any], bool]], ...]:
    return tuple((name, _is_filled(cls, name, _is_sound(hint))) for name, hint in hints(cls))


def _is_filled(cls: Any, name: str, question: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return (lambda value: value != () and question(value)) if (cls, name) in NOT_EMPTY else question


def _advice(value: Any, sorts: tuple[Any, ...], column: TableColumn) -> str:
    """What a value is that its column does not take, and what to write."""
    sort = next((sort for sort in sorts if sort not in (NoneType, bool)), sorts[0])
    origin, inner, name = get_origin(sort), get_args(sort), column.name
    if origin is tuple and inner[-1] is Ellipsis:
        return column.says(*_no_tuple(value, inner[0], name))
    found = ", ".join(filter(None, (short(value), _what(value))))
    if origin is Literal:
        near = did_you_mean(value, inner) if isinstance(value, str) else ""
        return column.says(f"{short(value)}{near}", f"one of {', '.join(map(repr, inner))}")
    if origin is tuple:
        return column.says(found, f"a pair, ({', '.join(map(_sample, inner))})")
    if origin is Mapping:
        return column.says(found, f"a map, {name}={{{_content(value, inner[1])}}}")
    return column.says(found, _instead(value, sort, name))


def _no_tuple(value: Any, inner: Any, name: str) -> tuple[str, str]:
    """What was found where a tuple of `inner` belongs, and what to write."""
    if isinstance(value, str) and _test(inner)(value):
        words = re.split(r"[,\s]+", value.strip())
        return f"{value!r}, a text in place of a tuple", f"{name}={short(tuple(words))}"
    if isinstance(value, list | AbstractSet):
        return f"{short(value)}, {_what(value)}", f"a tuple, {name}={short(tuple(value))}"
    if _test(inner)(value) and value is not None:
        return f"{short(value)}, one value in place of a tuple", f"{name}=({short(value)},) with a comma"
    return (
        f"{short(value)}, {_what(value)}",
        f"{name}=() for none" if value is None else f"a tuple, {name}=({_sample(inner)},)",
    )


def _instead(value: Any, sort: Any, name: str) -> str:
    """What to write in place of a value that is no `sort`, which is neither a tuple nor a map."""
    if isinstance(value, tuple) and value and all(_test(sort)(item) for item in value):
        return f"{value[0]!r} without brackets and comma" if sort is str and len(value) == 1 else "* before the tuple"
    if value == "":
        return "a name, or leave the column out"
    if sort in (str, AnyText):
        word = "the name of an attribute in quotes" if name in ATTRIBUTE_NAMES else "a text in quotes"
        return f"its name, {value.kind!r}" if isinstance(value, Table) else word
    if sort is bool:
        return f"{name}=True or {name}=False"
    if sort in (int, float):
        return _as_number(value, name)
    if sort is type:
        return _as_type(value, name)
    if sort is Predicate:
        return f"a predicate, such as {_sample(sort)}"
    if sort is State:
        return f"State({value!r})" if isinstance(value, str) else _sample(sort)
    if get_origin(sort) is not None:
        return (
            f"{name}={value} without quotes" if isinstance(value, str) else "the name of the function, without a call"
        )
    article = "an" if sort.__name__[0] in "AEIOU" else "a"
    return f"{sort.__name__}{short(value)}" if isinstance(value, tuple) else f"{article} {_sample(sort)}"


def _as_number(value: Any, name: str) -> str:
    if isinstance(value, timedelta):
        return f"the seconds, {name}={value.total_seconds():g}"
    digits = re.fullmatch(r"\d+(\.\d+)?", value.strip()) if isinstance(value, str) else None
    return f"{name}={digits[0]} without quotes" if digits else "a number"


def _as_type(value: Any, name: str) -> str:
    known = TYPES.get(value.lower()) if isinstance(value, str) else None
    return f"{name}={known} without quotes" if known else f"{name}=str, int, float, bool or dict"


def _sample(sort: Any) -> str:
    """A value of a sort, as an example."""
    inner = [one for one in get_args(sort) if one is not NoneType]
    if sort in (str, AnyText) or str in inner:
        return "'...'"
    if get_origin(sort) is tuple:
        return f"({', '.join(map(_sample, inner))})"
    name = getattr(sort, "__name__", "...")
    return "0" if sort in (int, float) else EXAMPLES.get(name, f"{name}(...)")


def _content(value: Any, held: Any) -> str:
    """The example of a map's content. A text that stands alone becomes its key, or its value."""
    if isinstance(value, AbstractSet) and value:
        return f"{min(map(str, value))!r}: ..."
    return f"'...': {value!r}" if isinstance(value, str) and held is str else "'...': ..."


def _what(value: Any) -> str:
    """The sort of a value in words; empty for an object of the table language, which names itself."""
    words = {str: "a text", bool: "a truth value", int: "a number", float: "a number", tuple: "a tuple", list: "a list",
             set: "a set", frozenset: "a set", dict: "a map", NoneType: "", timedelta: "a span of time"}  # fmt: skip
    if value == "":
        return "an empty text"
    if type(value) in words or type(value) in WORDS:
        return words.get(type(value), "")
    return "a class" if isinstance(value, type) else "a function" if callable(value) else "an object"
