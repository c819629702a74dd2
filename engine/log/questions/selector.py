"""Selectors of entities by attributes and labels, in kubectl's syntax.

Belongs here: reading a selector, whether an entity is selected, which attributes there are. Does not: all that selects
together (`selection`), an order (`surfaces.client.selection`).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.fields import free_attributes
from phaseline.schemas import codec
from phaseline.schemas.errors import NameUnknown
from phaseline.schemas.records import CONTACT, SIGNALS, Transition

LABELS = "labels"
"""The attribute in which a kind keeps labels, if it has any: a map."""
FORM = "write a=b, a!=b, 'a in (x,y)', 'a notin (x,y)', a, or !a, several separated by commas"
_KEY = r"[^\s,()=!]+"
_REQUIREMENT = re.compile(
    rf"\s*(?:(?P<lacks>!)\s*(?P<lacking>{_KEY})"
    rf"|(?P<key>{_KEY})(?:\s*(?P<sign>==|=|!=)\s*(?P<value>[^\s,()=!]*)"
    rf"|\s+(?P<word>in|notin)\s*\((?P<values>[^()]*)\))?)\s*(?:,|$)"
)


class HasAttributes(Protocol):
    """What a selector looks at: an entity, or what changed of one."""

    @property
    def attributes(self) -> Mapping[str, Any]:
        """The attributes."""


class Requirement(NamedTuple):
    """What a selector asks of one attribute. values: for `in` and `notin`."""

    key: str
    how: Literal["in", "notin", "exists", "lacks"]
    values: frozenset[str] = frozenset()

    def holds(self, entity: HasAttributes) -> bool:
        """Whether the entity has it. As in kubectl, `a!=b` holds for an entity without `a` too."""
        found = _texts(entity, self.key)
        if self.how in ("exists", "lacks"):
            return (found is not None) is (self.how == "exists")
        return bool(self.values.intersection(found or ())) is (self.how == "in")


class Selector(NamedTuple):
    """Entities that have all that is required."""

    requirements: tuple[Requirement, ...] = ()

    @classmethod
    def read(cls, text: str) -> "Selector":
        """The selector in a text; raises `ValueError`."""
        found, at = [], 0
        while at < len(text) or not text.strip():
            match = _REQUIREMENT.match(text, at)
            if match is None or match.end() == at:
                raise ValueError(f"{text[at:][:80]!r} is no selector: {FORM}")
            found.append(_requirement(match))
            at = match.end()
        if text.rstrip().endswith(","):
            raise ValueError(f"{text[:80]!r} ends with a comma: {FORM}")
        return cls(tuple(found))

    def selects(self, entity: HasAttributes) -> bool:
        """Whether the entity is one of these."""
        return all(one.holds(entity) for one in self.requirements)

    def check(self, kinds: Kinds, kind: str | None, found: Iterable[Transition] = ()) -> None:
        """Raise `NameUnknown` for an attribute that no entity of the kind can have. found: all that there are."""
        for one in self.requirements:
            check_attribute("attribute", one.key, (), kinds, kind, found)


EVERYTHING = Selector()


def _requirement(match: re.Match[str]) -> Requirement:
    if match["lacks"]:
        return Requirement(match["lacking"], "lacks")
    if match["sign"]:
        return Requirement(match["key"], "notin" if match["sign"] == "!=" else "in", frozenset({match["value"]}))
    if match["word"]:
        values = frozenset(value.strip() for value in match["values"].split(","))
        return Requirement(match["key"], "in" if match["word"] == "in" else "notin", values)
    return Requirement(match["key"], "exists")


def attributes_of(kinds: Kinds, kind: str | None) -> list[str]:
    """The attributes that entities of a kind can have; of all kinds without one."""
    among = [kinds[kind]] if kind is not None and kind in kinds else kinds.values()
    return list(dict.fromkeys(field.name for one in among for field in one.table.attributes))


def _computes(kinds: Kinds, kind: str | None) -> bool:
    """Whether a rule may give entities of the kind attributes that no table lists."""
    among = [kinds[kind]] if kind is not None and kind in kinds else kinds.values()
    own = (facet for one in among for facet in one.table.facets if facet.name not in (CONTACT, SIGNALS))
    return any(row.computes is not None for facet in own for row in facet.rows)


def check_attribute(
    what: str, key: str, words: Iterable[str], kinds: Kinds, kind: str | None, found: Iterable[Transition]
) -> None:
    """Raise `NameUnknown` for a name that is no word, is in no table and that none of the entities has."""
    name, declared = key.partition(".")[0], attributes_of(kinds, kind)
    if key in declared or name in declared or LABELS in declared:
        return
    kept = [record.entity.attributes for record in found]
    held = dict.fromkeys(name for attributes in kept for name in (*attributes, *free_attributes(attributes)))
    if name in held or key in held or (not held and _computes(kinds, kind)):
        return
    raise NameUnknown.among(what, key, [*words, *declared, *held])


def value_of(entity: HasAttributes, key: str) -> Any:
    """An attribute, one of the labels, or with dots something inside of a map; None if there is none."""
    attributes = entity.attributes
    labels = attributes.get(LABELS)
    if key not in attributes and isinstance(labels, Mapping) and key in labels:
        return labels[key]
    if key in attributes:
        return attributes[key]
    if key in (free := free_attributes(attributes)):
        return free[key]
    found: Any = attributes
    for part in key.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _texts(entity: HasAttributes, key: str) -> Sequence[str] | None:
    """The value as texts: of a list each element. None if there is no value."""
    found = value_of(entity, key)
    if found is None:
        return None
    return [codec.plain_value(one) for one in (found if isinstance(found, list | tuple) else [found])]
