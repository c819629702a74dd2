"""Calls of the table language that went wrong: too few or too many columns, a name that no column has, a missing comma.

Such a call makes no error of Python at once. It leaves a `Misfit` in the table, so that the check of the table can say
in which kind, facet and row it stands.
Belongs here: `Misfit`, the decorator `columns`. Does not: values of a wrong sort (`compiler.shapes`).
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from functools import wraps
from types import MappingProxyType
from typing import Any, TypeVar

from phaseline.schemas.similar import did_you_mean

T = TypeVar("T", bound=type[Any])
NOTHING: Mapping[str, Any] = MappingProxyType({})
LONGEST = 60
"""The most characters of a value that a sentence repeats."""
SYNONYMS: Mapping[str, Mapping[str, str]] = {
    "Row": {"guard": "when", "guards": "when", "condition_": "condition", "target": "to", "from_": "source",
            "sources": "source", "event": "trigger", "if_": "when", "attributes": "assigns", "sets_condition": "sets"},
    "View": {"when": "while_", "shows": "to", "if_": "while_", "over": "base"},
    "Label": {"label": "en", "name": "en", "text": "en", "zh": "others", "translations": "others"},
    "Facet": {"states": "labels", "transitions": "rows", "timers": "timeouts", "initial": "begins"},
    "Table": {"name": "kind", "facet": "facets", "commands": "intents", "requests": "intents", "data": "fields",
              "children": "parent", "description": "doc"},
    "Timeout": {"after": "seconds", "in_": "phase", "state": "phase", "every": "repeat_after", "fires": "trigger"},
    "Retired": {"from_": "phase", "state": "phase", "into": "to"},
    "Field": {"description": "doc", "help": "doc", "choices": "options", "minimum": "least", "min": "least"},
    "Cascade": {"when": "on", "to": "at", "fires": "trigger", "kinds": "at"},
    "OnTally": {"fires": "trigger", "predicate": "when"},
    "Above": {"phase": "phases", "state": "phases", "states": "phases"},
    "AnyBelow": {"phase": "phases", "below": "kind", "parent": "of"},
    "AllBelow": {"phase": "phases", "below": "kind", "parent": "of"},
    "AttributeIs": {"attribute": "name", "equals": "value", "values": "value"},
}  # fmt: skip
"""What newcomers call a column, by class, with its name."""


class Misfit:
    """Stands in a table where a call went wrong. problem: what is wrong with the call, and what to write."""

    __slots__ = ("problem",)

    def __init__(self, problem: str) -> None:
        """Keep the sentence."""
        self.problem = problem


def short(value: object) -> str:
    """A value as a sentence repeats it."""
    if isinstance(value, tuple) and value:
        text = f"({', '.join(map(short, value))}{',' if len(value) == 1 else ''})"
    elif isinstance(value, list):
        text = f"[{', '.join(map(short, value))}]"
    elif isinstance(value, type) or callable(getattr(value, "__wrapped__", None)):
        text = getattr(value, "__name__", repr(value))
    elif hasattr(value, "__dataclass_fields__"):
        text = f"{type(value).__name__}(...)"
    elif hasattr(value, "__qualname__"):
        text = str(getattr(value, "__name__", value))
    else:
        text = repr(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def columns(cls: T) -> T:
    """A class of the table language whose calls leave a `Misfit` where Python would raise a `TypeError`."""
    written: Callable[..., None] = vars(cls)["__init__"]

    @wraps(written)
    def filled(self: Any, *values: Any, **named: Any) -> None:
        try:
            written(self, *values, **named)
        except TypeError:
            _fill(self, values, named)

    def call(self: object, *_values: object, **_named: object) -> Misfit:
        called = _call(type(self), _given(self))
        return Misfit(f"{called} is called like a function: put a comma after it, or remove the brackets after it")

    for name, function in (("__init__", filled), ("__call__", call)):
        setattr(cls, name, function)
    return cls


def _fill(made: Any, values: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Give the object all columns that fit, and a `Misfit` in the first one that is missing, or in the last one."""
    names = [field.name for field in fields(made)]
    given = {**dict(zip(names, values, strict=False)), **{name: named[name] for name in named if name in names}}
    missing = [field.name for field in fields(made) if _is_required(field) and field.name not in given]
    misfit = Misfit(f"{_call(type(made), values, named)} {_advice(type(made), values, named, missing)}")
    for field in fields(made):
        default = field.default if field.default_factory is MISSING else field.default_factory()
        value = misfit if field.name in missing else given.get(field.name, default)
        object.__setattr__(made, field.name, None if value is MISSING else value)
    if not missing:
        object.__setattr__(made, names[-1], misfit)


def _is_required(field: Any) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _advice(cls: Any, values: tuple[Any, ...], named: Mapping[str, Any], missing: list[str]) -> str:
    names = [field.name for field in fields(cls)]
    needed = ", ".join(field.name for field in fields(cls) if _is_required(field))
    unknown = next((name for name in named if name not in names), None)
    twice = next((name for name in names[: len(values)] if name in named), None)
    if unknown is not None:
        known = SYNONYMS.get(cls.__name__, {}).get(unknown)
        hint = f" (did you mean {known}?)" if known else did_you_mean(unknown, names)
        return f"has no column {unknown}{hint}: its columns are {', '.join(names)}"
    if twice is not None:
        return f"has {twice} twice, by its place and by {twice}=: remove one of them"
    if missing:
        return f"lacks {' and '.join(missing)}: write {cls.__name__}({needed}), and the other columns by name"
    return f"has {len(values)} columns, but there are {len(names)}: write those after {needed} by name"


def _call(cls: type, values: tuple[Any, ...], named: Mapping[str, Any] = NOTHING) -> str:
    shown = [*map(short, values), *(f"{name}={short(value)}" for name, value in named.items())]
    return f"{cls.__name__}({', '.join(shown)})"


def _given(made: Any) -> tuple[Any, ...]:
    """The values of an object up to the last one that is not its default."""
    found = [(getattr(made, field.name), _is_required(field)) for field in fields(made)]
    return tuple(value for value, required in found if required)
