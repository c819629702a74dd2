"""How a class of states looks to people: its colour, its sign, and how long an entity has been in it.

Belongs here: what several commands say of classes. Does not: the class of an entity (`machines.compiler.classes`).
"""

from collections.abc import Mapping
from typing import Final

from phaseline.engine.cli import render
from phaseline.engine.cli.styled import Text
from phaseline.machines.compiler.classes.entity_classes import class_of_entity, class_since
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.records import Entity

STYLES: Final[Mapping[str, str]] = {
    "bad": "red", "unknown": "magenta", "busy": "yellow", "excused": "bright_black", "good": "green",
    "gone": "bright_black",
}  # fmt: skip
TELLING: Final = ("bad", "unknown", "busy")
"""The classes of which a tree says since when: those that call for somebody, or will end."""


def lasting(found: str, ns: int) -> Text:
    """`bad for 12 m 4 s`, in the colour of the class."""
    return render.word(f"{found} for {render.duration(ns)}", STYLES.get(found, ""))


def dwell(kinds: Kinds, entity: Entity, now: int) -> Text:
    """`bad for 12 m 4 s`: the class of an entity, and for how long it has been in it, until `now`, ns."""
    return lasting(class_of_entity(kinds, entity), now - class_since(kinds, entity))
