"""Computes the version of a table: a short digest of everything in the table that influences decisions.

Texts for people are left out: translating a label or changing a description changes no version.
Belongs here: the digest, the stable words for the classes and fields of the table language, what is left out. Does not:
declaring a rule (`language.rules`), where versions are kept.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, lru_cache
from types import NoneType
from typing import Any, NamedTuple

from msgspec import NODEFAULT, Struct, structs

from phaseline.machines.language.fields import Field
from phaseline.machines.language.predicates import Above, AllBelow, AnyBelow, AttributeIs, Child
from phaseline.machines.language.rules import Declaration, Revision, declaration_of
from phaseline.machines.language.sources import At, Live
from phaseline.machines.language.table import (
    Cascade,
    Facet,
    FanOut,
    Interpret,
    Label,
    OnTally,
    Pending,
    Retired,
    Row,
    Signal,
    Table,
    Timeout,
    View,
    Wants,
)

LENGTH = 12
LANGUAGE = Revision("phaseline.tables", 8)
"""A part of every version. Raise it when the meaning of a class or field of the table language changes."""


class Word(NamedTuple):
    """The stable word for a class of the table language, and for each field; None for what influences no decision."""

    name: str
    fields: Mapping[str, str | None]


WORDS: Mapping[type, Word] = {
    Table: Word("table", {
        "kind": "kind", "id": "id", "facets": "facets", "intents": "intents", "derived": "derived", "parent": "parent",
        "attributes": "attributes", "fields": "fields", "cascades": "cascades", "fan_outs": "fan_outs",
        "interprets": "interprets", "on_tally": "on_tally", "tallies": "tallies", "known_by": "known_by", "place": "place",
        "current": None, "silence_after": "silence_after", "doc": None, "nested_by": None,
        "replaced_by": "replaced_by", "carries": "carries", "signals": "signals", "signal_names": None,
    }),
    Facet: Word("facet", {
        "name": "name", "labels": "labels", "rows": "rows", "views": "views", "sticky": "sticky",
        "own_reporter": "own_reporter", "accumulates_in": "accumulates_in", "healthy": "healthy", "order": "order", "adopted": "adopted", "begins": "begins",
        "timeouts": "timeouts", "message_from": "message_from", "message_names": "message_names", "pending": "pending",
        "retired": "retired", "unknown_parts": None, "parts_apart": None,
        "evidence_from": None, "wants": None, "news_from": None, "explained_by": None, "unschedulable_while": None,
        "details": None,
        "signal_names": None,
    }),
    Label: Word("label", {
        "phase": "phase", "condition": "condition", "en": None, "others": None, "schedulable": "schedulable",
        "state_class": "class", "advice": None,
        "aliases": "aliases",
    }),
    Row: Word("row", {
        "source": "source", "trigger": "trigger", "to": "to", "condition": "condition", "sets": "sets",
        "clears": "clears", "given": "given", "when": "when", "assigns": "assigns", "computes": "computes",
        "forgets": "forgets",
    }),
    View: Word("view", {
        "to": "to", "while_": "while", "condition": "condition", "base": "base", "unless": "unless", "keeps": "keeps",
        "message_from": "message_from",
    }),
    Cascade: Word("cascade", {
        "trigger": "trigger", "at": "at", "on": "on", "into": "into", "unless": "unless", "then": "then",
        "only_child": "only_child", "required": "required", "data": "data", "targets": "targets",
    }),
    FanOut: Word("fan_out", {"triggers": "triggers", "at": "at", "on": "on", "rule": "rule"}),
    Interpret: Word("interpret", {"on": "on", "fields": "fields", "rule": "rule"}),
    OnTally: Word("on_tally", {"when": "when", "trigger": "trigger"}),
    Retired: Word("retired", {"phase": "phase", "to": "to", "has": "has", "condition": "condition"}),
    Timeout: Word("timeout", {
        "phase": "phase", "trigger": "trigger", "seconds": "seconds", "seconds_from": "seconds_from",
        "times": "times", "restart_on": "restart_on", "repeat_after": "repeat_after", "deadline": "deadline",
        "base": "base",
    }),
    Pending: Word("pending", {"phase": "phase", "deadline": "deadline"}),
    Signal: Word("signal", {"name": None, "en": None, "others": None, "state_class": None}),
    Wants: Word("wants", {"kind": None, "number": None, "same": None}),
    Field: Word("field", {
        "name": "name", "type": "type", "doc": None, "options": "options", "default": "default", "many": "many",
        "required": "required", "null": "null", "least": "least", "numbers": "numbers", "pattern": "pattern",
        "known": None, "was": "was",
    }),
    At: Word("at", {"phase": "phase", "has": "has", "lacks": "lacks", "base": "base"}),
    Live: Word("live", {"but": "but", "has": "has"}),
    Above: Word("above", {"kind": "kind", "phases": "phases", "facet": "facet", "base": "base", "or_has": "or_has"}),
    AttributeIs: Word("attribute_is", {"kind": "kind", "name": "name", "value": "value", "or_of": "or_of"}),
    Child: Word("child", {"of": "of", "kind": "kind", "named": "named", "phases": "phases", "none": "none", "or_has": "or_has"}),
    AnyBelow: Word("any_below", {
        "of": "of", "kind": "kind", "phases": "phases", "facet": "facet", "has": "has", "lacks": "lacks",
        "fewer_than": "fewer_than",
    }),
    AllBelow: Word("all_below", {
        "of": "of", "kind": "kind", "phases": "phases", "facet": "facet", "has": "has", "lacks": "lacks", "some": "some",
    }),
}  # fmt: skip
"""The words are a part of every version. To rename a class or field in Python, change only the left side here."""
TYPES: Mapping[type, str] = {str: "string", int: "integer", float: "number", bool: "boolean", dict: "map"}
"""The stable words for the types of fields and attributes."""
PLAIN = (str, NoneType, bool, int, float)
"""The types of most values in a table."""


class Undeclared(TypeError):
    """A value in a table that has no stable name."""


def version_of(table: Table) -> str:
    """Twelve hexadecimal digits, the same for the same behaviour in every process. Raises `Undeclared`."""
    return _digest([*LANGUAGE, canonical(table)])


def digest_of(versions: Mapping[str, str]) -> str:
    """One digest over the versions of all kinds."""
    return _digest(dict(versions))


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:LENGTH]


def canonical(value: Any) -> Any:
    """`value` as JSON can hold it, the same for equal values. Raises `Undeclared` if a part has no stable name."""
    if isinstance(value, PLAIN):
        return value
    if type(value) in WORDS:
        word = WORDS[type(value)]
        return [word.name, {word.fields[name]: canonical(found) for name, found in _set(value) if word.fields[name]}]
    if isinstance(value, tuple | list):
        return [canonical(found) for found in value]
    if isinstance(value, Mapping):
        return {str(name): canonical(found) for name, found in value.items()}
    if isinstance(value, AbstractSet):
        return sorted((canonical(found) for found in value), key=repr)
    if isinstance(value, type) and value in TYPES:
        return TYPES[value]
    return _declared(value)


def _declared(value: Any) -> Any:
    """A rule as JSON can hold it: its name and revision, the revisions that it uses, the fields of a predicate."""
    found = declaration_of(value)
    if found is None:
        raise Undeclared(_advice(value))
    held = {name: canonical(each) for name, each in _set(value)} if _has_fields(value) else {}
    return ["rule", *found.revision, [list(one) for one in found.used], held]


def _set(value: Any) -> Iterator[tuple[str, Any]]:
    """The fields whose value is not the default. So a new field of the language changes no version by itself."""
    for name, default in _defaults(value.__class__):
        found = getattr(value, name)
        if found != default:
            yield name, found


@cache
def _defaults(type_: Any) -> tuple[tuple[str, Any], ...]:
    """The fields of a struct or a dataclass, each with its default."""
    if issubclass(type_, Struct):
        every = structs.fields(type_)
        return tuple((e.name, e.default if e.default_factory is NODEFAULT else e.default_factory()) for e in every)
    return tuple(
        (field.name, field.default if field.default_factory is MISSING else field.default_factory())
        for field in fields(type_)
    )


def _has_fields(value: Any) -> bool:
    return isinstance(value, Struct) or (is_dataclass(value) and not isinstance(value, type))


def undeclared(value: Any, where: str = "the table") -> Iterator[str]:
    """For each value in a table that has no stable name: where it is, and what to write."""
    if isinstance(value, PLAIN):
        return
    if isinstance(value, Mapping):
        for name, found in value.items():
            yield from undeclared(found, f"{where}[{name!r}]")
    elif isinstance(value, tuple | list | AbstractSet):
        for index, found in enumerate(value):
            yield from undeclared(found, f"{where}[{index}]")
    elif type(value) in WORDS or (declaration_of(value) is not None and _has_fields(value)):
        word = WORDS.get(type(value))
        for name, found in _set(value):
            if word is None or word.fields[name] is not None:
                yield from undeclared(found, f"{where}.{name}" if where != "the table" else name)
    else:
        try:
            canonical(value)
        except Undeclared as problem:
            yield f"{where} {problem}"


def rules_of(value: Any) -> Iterator[Any]:
    """Every function in a table and every predicate with its own code, as often as the table contains it."""
    if isinstance(value, PLAIN):
        return
    if declaration_of(value) is not None:
        yield value
    if isinstance(value, Mapping):
        value = tuple(value.values())
    if isinstance(value, tuple | list | AbstractSet):
        for found in value:
            yield from rules_of(found)
    elif _has_fields(value):
        for _, found in _set(value):
            yield from rules_of(found)


@lru_cache(maxsize=1_000)
def declarations(table: Table) -> tuple[Declaration, ...]:
    """What the rules of a table declare, each once. It is remembered: every start of a worker or partition asks."""
    found = (declaration_of(rule) for rule in rules_of(table))
    return tuple(dict.fromkeys(one for one in found if one is not None))


def _advice(value: Any) -> str:
    """What is wrong with a value that has no stable name, and what to write instead."""
    if value in (list, tuple, set):
        return f"is the type {value.__name__}: write the type of its items, and many=True"
    if isinstance(value, type):
        return f"is the type {value.__name__}: write one of {', '.join(kind.__name__ for kind in TYPES)}"
    name = getattr(value, "__name__", None)
    what = f"the function {name}" if name else f"an instance of {type(value).__name__}"
    if name == "<lambda>":
        advice = "write a function, with @rule('<yours>.<name>', revision=1) above it"
        return f"is a lambda, which cannot declare a name: {advice}"
    above = "the function" if name else "its class"
    yours = (name or type(value).__name__).lower()
    return (
        f"is {what}, which declares no name and revision: write @rule('<yours>.{yours}', revision=1) above {above} "
        "(from phaseline.tables import rule)"
    )
