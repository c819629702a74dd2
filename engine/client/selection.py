"""Which entities are shown, and in which order: selectors in kubectl's syntax, the fields to sort by.

Belongs here: reading selectors and fields, whether an entity is selected, its place in an order. Does not: states and
conditions (`schemas.state_choice`), options of commands (`cli.selection`).
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

from phaseline.engine.client import maps
from phaseline.machines.compiler.classes.entity_classes import class_of_entity, class_since
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.labels import Language
from phaseline.machines.docs import wording
from phaseline.machines.language.beside.free import free_attributes
from phaseline.machines.language.endings import told
from phaseline.machines.language.state_classes import CLASSES
from phaseline.schemas.errors import NameUnknown
from phaseline.schemas.records import CONTACT, SIGNALS, Transition
from phaseline.schemas.subjects import natural

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
            _check("attribute", one.key, (), attributes_of(kinds, kind), found, may_compute=_computes(kinds, kind))


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


def _check(
    what: str,
    key: str,
    words: Iterable[str],
    declared: Sequence[str],
    found: Iterable[Transition],
    *,
    may_compute: bool,
) -> None:
    """Raise `NameUnknown` for a name that is no word, is in no table and that none of the entities has."""
    name = key.partition(".")[0]
    if key in declared or name in declared or LABELS in declared:
        return
    kept = [record.entity.attributes for record in found]
    held = dict.fromkeys(name for attributes in kept for name in (*attributes, *free_attributes(attributes)))
    if name in held or key in held or (may_compute and not held):
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
    return [wording.plain_value(one) for one in (found if isinstance(found, list | tuple) else [found])]


def _bad_since(kinds: Kinds, record: Transition) -> int | None:
    """Since when an entity is bad, ns; None if it is not."""
    return class_since(kinds, record.entity) if class_of_entity(kinds, record.entity) == "bad" else None


T = TypeVar("T")
FIELDS: dict[str, Callable[[Kinds, Transition, Language], Any]] = {
    "kind": lambda _, record, __: record.entity.kind,
    "id": lambda _, record, __: record.entity.id,
    "state": lambda _, record, __: str(record.entity.facets[0].state),
    "label": lambda kinds, record, language: maps.label(
        kinds,
        record.entity.kind,
        record.entity.names[0],
        told(record.entity.facets[0].state, record.entity.attributes),
        language,
    ),
    "since": lambda _, record, __: max(facet.since_ns for facet in record.entity.facets),
    "for": lambda _, record, __: -max(facet.since_ns for facet in record.entity.facets),
    "bad-since": lambda kinds, record, _: _bad_since(kinds, record),
    "class": lambda kinds, record, _: CLASSES.index(class_of_entity(kinds, record.entity)),
    "class-since": lambda kinds, record, _: class_since(kinds, record.entity),
    "version": lambda _, record, __: record.entity.version,
    "reason": lambda _, record, __: record.reason,
    "message": lambda _, record, __: record.message,
    "trigger": lambda _, record, __: record.trigger,
    "time": lambda _, record, __: record.time_ns,
}
"""What entities can be sorted by, beside their attributes."""


def in_order(
    kinds: Kinds, found: Sequence[Transition], by: str, kind: str | None, language: Language = "en"
) -> list[Transition]:
    """The transitions sorted by a field or an attribute; what lacks it comes last. Raises `NameUnknown`."""
    return sorted(found, key=order_of(kinds, found, by, kind, language))


def order_of(
    kinds: Kinds, found: Sequence[Transition], by: str, kind: str | None, language: Language = "en"
) -> Callable[[Transition], Any]:
    """The key that sorts transitions by a field or an attribute. Raises `NameUnknown` for what none of them has.

    by: the name, also as kubectl writes paths: `.since`, `{.since}`. language: that of the labels.
    """
    name = _name_in(by)
    field = FIELDS.get(name.casefold())
    if field is None:
        _check("field", name, FIELDS, attributes_of(kinds, kind), found, may_compute=_computes(kinds, kind))

    def key(record: Transition) -> Any:
        return _sortable(value_of(record.entity, name) if field is None else field(kinds, record, language))

    return key


def by_id(record: Transition) -> tuple[str, str]:
    """The key that sorts transitions by id, in natural order, then by kind."""
    return natural(record.entity.id), record.entity.kind


def by_field(found: Iterable[T], by: str, fields: Mapping[str, Callable[[T], Any]]) -> list[T]:
    """The rows of a table sorted by one of its fields. Raises `NameUnknown`."""
    name = _name_in(by)
    field = fields.get(name.casefold())
    if field is None:
        raise NameUnknown.among("field", name, fields)
    return sorted(found, key=lambda one: _sortable(field(one)))


def _name_in(path: str) -> str:
    return path.strip().removeprefix("{").removesuffix("}").removeprefix(".").removeprefix("attributes.")


def _sortable(value: Any) -> tuple[int, Any]:
    """A key that can be compared with those of other types: numbers before texts, nothing last."""
    if value is None:
        return 2, ""
    if isinstance(value, int | float):
        return 0, value
    return 1, natural(wording.plain_value(value))
