"""In which order entities are shown: the fields to sort by.

Belongs here: reading fields, the place of an entity in an order. Does not: which entities are shown
(`log.questions`), options of commands (`cli.selection`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from phaseline.engine.log.questions.selector import check_attribute, value_of
from phaseline.engine.surfaces.client import maps
from phaseline.machines.compiler.classes.entity_classes import class_of_entity, class_since
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.labels import Language
from phaseline.machines.language.endings import state_for_people
from phaseline.machines.language.table import CLASSES
from phaseline.schemas import codec
from phaseline.schemas.errors import NameUnknown
from phaseline.schemas.records import Transition
from phaseline.schemas.subjects import natural


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
        state_for_people(record.entity.facets[0].state, record.entity.attributes),
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
        check_attribute("field", name, FIELDS, kinds, kind, found)

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
    return 1, natural(codec.plain_value(value))
