"""Attributes that an event brings as a map: those of its kind, and free ones. Pure.

Names that the kind has, or had in earlier tables, are its attributes, as if they stood in `data` itself. All others
are free: they are merged into those of the entity, and null removes one.
Belongs here: reading and merging them. Does not: which rows set the attributes of a kind (`judgement`).
"""

import math
import re
from collections.abc import Mapping
from typing import Any

from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.language.fields import (
    ATTRIBUTES,
    FREE,
    LONGEST_FREE_NAME,
    LONGEST_FREE_TEXT,
    MOST_FREE,
    free_attributes,
)
from phaseline.machines.language.table import ABSENT, DELETED, Refusal
from phaseline.schemas.bounds import MAX_WHOLE, MIN_WHOLE
from phaseline.schemas.envelope import Invalid
from phaseline.schemas.records import Entity

_NAME = re.compile(rf"[^\s,()=!\x00-\x1f]{{1,{LONGEST_FREE_NAME}}}")


def opened(kind: Kind, data: Mapping[str, Any]) -> dict[str, Any]:
    """The data with attributes of the kind in their own fields, and the free ones, checked; raises `Invalid`."""
    given = data[ATTRIBUTES]
    if given is None:
        return {name: value for name, value in data.items() if name != ATTRIBUTES}
    if not isinstance(given, Mapping):
        raise Invalid(f"data.{ATTRIBUTES} must be a map, found {type(given).__name__}")
    own, free = dict[str, Any](), dict[str, Any]()
    for name, value in given.items():
        if name in kind.table.attribute_names:
            if data.get(name) not in (None, value):
                raise Invalid(f"data.{name} and data.{ATTRIBUTES}.{name} differ: say it once")
            own[name] = value
        else:
            free[name] = _checked(name, value)
    return {**data, **own, ATTRIBUTES: free}


def _checked(name: object, value: object) -> object:
    where = f"data.{ATTRIBUTES}.{str(name)[:64]}"
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        raise Invalid(f"{where}: the name must have 1 to {LONGEST_FREE_NAME} characters, without blanks and , ( ) = !")
    if isinstance(value, str) and len(value) > LONGEST_FREE_TEXT:
        raise Invalid(f"{where} is longer than {LONGEST_FREE_TEXT:,} characters")
    if isinstance(value, int) and not MIN_WHOLE <= value <= MAX_WHOLE:
        raise Invalid(f"{where} must have at most 64 bits")
    if isinstance(value, float) and not math.isfinite(value):
        raise Invalid(f"{where} must be a finite number, found {value}")
    if not isinstance(value, str | int | float | bool | None):
        raise Invalid(f"{where} must be a text, a number, true, false or null, found {type(value).__name__}")
    return value


def merged(attributes: Mapping[str, Any], data: Mapping[str, Any]) -> Mapping[str, Any] | Refusal:
    """The attributes with the free ones of an event; the same mapping if it changes none; or why it is refused."""
    given = data.get(ATTRIBUTES)
    if not given:
        return attributes
    before = free_attributes(attributes)
    after = {name: value for name, value in {**before, **given}.items() if value is not None}
    if after == before and list(map(type, after.values())) == list(map(type, before.values())):
        return attributes
    if len(after) > MOST_FREE:
        return Refusal(
            f"it would have {len(after)} free attributes, at most {MOST_FREE} can be kept: remove one with null"
        )
    rest = {name: value for name, value in attributes.items() if name != FREE}
    return {**rest, FREE: dict(sorted(after.items()))} if after else rest


def are_news(entity: Entity, data: Mapping[str, Any]) -> bool:
    """Whether an event brings a living entity free attributes that it has not."""
    if not data.get(ATTRIBUTES) or entity.facets[0].base.phase in (ABSENT, DELETED):
        return False
    return merged(entity.attributes, data) is not entity.attributes


def with_free(before: Mapping[str, Any], after: Mapping[str, Any]) -> Mapping[str, Any]:
    """The attributes that a rule made anew, with the free ones, which no rule of a kind knows."""
    return {**after, FREE: before[FREE]} if FREE in before and FREE not in after else after
