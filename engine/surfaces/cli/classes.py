"""How a class of states looks to people: its word in its colour, and how long an entity has been in it.

Belongs here: what several commands say of classes. Does not: the class of an entity (`machines.compiler.classes`).
"""

from typing import Final

from phaseline.engine.surfaces.cli import render
from phaseline.engine.surfaces.cli.styled import Text
from phaseline.machines.compiler.classes.entity_classes import class_of_entity, class_since
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.records import Entity

TELLING: Final = ("bad", "unknown", "busy")
"""The classes of which a tree says for how long: those that call for somebody, or will end."""


def lasting(found: str, ns: int) -> Text:
    """`bad for 12 m 4 s`, in the colour of the class."""
    return render.word(f"{found} for {render.duration(ns)}", render.CLASS_COLOURS[found])


def dwell(kinds: Kinds, entity: Entity, now: int) -> Text:
    """`bad for 12 m 4 s`: the class of an entity, and for how long it has been in it, until `now`, ns."""
    return lasting(class_of_entity(kinds, entity), now - class_since(kinds, entity))


def telling_dwell(kinds: Kinds, entity: Entity, now: int) -> Text:
    """The same, where it tells something: empty for what is good, excused or gone."""
    return dwell(kinds, entity, now) if class_of_entity(kinds, entity) in TELLING else render.NOTHING
