"""Attributes whose names the tables changed: what an entity keeps under an earlier name goes to the name of now. Pure.

Belongs here: which attributes of an entity have a new name, changing them. Does not: the names
(`Table.earlier_names`), the order in which entities change (`moving`).
"""

from collections.abc import Mapping
from typing import Any

from phaseline.engine.core.changeset import Changeset, Origin
from phaseline.machines.compiler.checks import unfit
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.language.fields import Field
from phaseline.schemas.records import Entity


def new_names(kind: Kind, entity: Entity) -> Mapping[str, str]:
    """By earlier name, what attributes of an entity are called now. A value that does not fit stays where it is."""
    earlier, held = kind.table.earlier_names, entity.attributes
    return {name: field.name for name, field in earlier.items() if name in held and _fits(field, held[name])}


def rename(changeset: Changeset, kind: Kind, entity: Entity, names: Mapping[str, str], origin: Origin) -> None:
    """Give attributes their new names, and compute the views again that look at them.

    What an entity has under the new name already comes before what it has under an earlier one.
    """
    change = changeset.change(kind.name, entity.id)
    moved = {names[name]: value for name, value in entity.attributes.items() if name in names}
    change.attributes = {**moved, **{name: value for name, value in entity.attributes.items() if name not in names}}
    change.origins.setdefault(0, origin)
    changeset.dirty.setdefault((kind.name, entity.id), origin)
    for name, below in kind.inherited:
        for one in changeset.descendants(kind.name, entity.id, below) if name in moved else ():
            changeset.dirty.setdefault((below, one), Origin(origin.trigger, "view", f"{kind.name}/{entity.id}"))


def said(names: Mapping[str, str]) -> str:
    """`region is called zone, size is called number`."""
    return ", ".join(f"{old} is called {new}" for old, new in names.items())


def _fits(field: Field, value: Any) -> bool:
    """Whether an attribute may have a value."""
    if field.many:
        return isinstance(value, list | tuple) and all(unfit(field, one) is None for one in value)
    return unfit(field, value) is None
