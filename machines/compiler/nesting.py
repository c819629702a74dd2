"""Below what an entity is shown: its parent, or another entity of its kind, where the kind is nested.

Belongs here: reading the names in the last part of such an id. Does not: drawing trees (surfaces), the parents by which
tables look upwards (`compiler.kinds`).
"""

from collections.abc import Container, Iterator, Mapping

from phaseline.machines.compiler.kinds import Kind
from phaseline.schemas.subjects import ancestor_id

Name = tuple[str, str]
"""A kind and an id."""


def shown_below(kinds: Mapping[str, Kind], kind: str, entity_id: str) -> Iterator[Name]:
    """What an entity stands below, the nearest first: those of its own kind in which it is nested, then its parent."""
    known = kinds.get(kind)
    if known is None or known.parent is None:
        return
    if separator := known.table.nested_by:
        head, _, last = entity_id.rpartition("/")
        while separator in last:
            last = last.rpartition(separator)[0]
            yield kind, f"{head}/{last}"
    yield known.parent, ancestor_id(entity_id, known.parent_arity)


def nearest(kinds: Mapping[str, Kind], kind: str, entity_id: str, found: Container[Name]) -> Name | None:
    """The nearest of these that is among what was found; None if none is."""
    return next((one for one in shown_below(kinds, kind, entity_id) if one in found), None)


def parent_of(kinds: Mapping[str, Kind], kind: str, entity_id: str) -> Name | None:
    """The nearest of these, whether it is there or not; None for a root."""
    return next(shown_below(kinds, kind, entity_id), None)


def with_all_above(kinds: Mapping[str, Kind], kind: str, entity_id: str) -> Iterator[Name]:
    """An entity, and everything below which it is shown, the nearest first; whether that is there or not."""
    name: Name | None = (kind, entity_id)
    while name is not None:
        yield name
        name = parent_of(kinds, *name)
