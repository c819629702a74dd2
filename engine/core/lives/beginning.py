"""The beginning of a life: the one place where an entity that was not there comes to be. Pure.

Belongs here: what an entity forgets and keeps when a life begins, and what shows that it is there. Does not: which
event begins one (`core.decide`, `core.changeset`), a life that takes the place of another one (`renewal`).
"""

from collections.abc import Mapping
from typing import Protocol

from phaseline.engine.core.lives.memory import of_new_life, of_shown_life, of_version
from phaseline.engine.core.sources.numbers import in_new_life
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.language.table import DELETED, REPORTED
from phaseline.schemas.records import Entity, Memory, State


class Living(Protocol):
    """What of an entity within a changeset belongs to one life of it."""

    born: int
    sequences: Mapping[str, int]
    memory: Memory | None


def begin(change: Living, sequence: int, *, awaited: bool) -> None:
    """Let a life begin with the event `sequence`. awaited: whether that only asks for it."""
    change.born = sequence
    change.sequences, change.memory = in_new_life(change.sequences, change.memory)
    change.memory = of_new_life(change.memory, awaited=awaited)


def show(change: Living, sequence: int) -> None:
    """Note that the event `sequence` is the first one to show that the life is there."""
    if change.memory is not None and change.memory.awaited:
        change.born, change.memory = sequence, of_shown_life(change.memory)


def lived_on(kind: Kind, entity: Entity, memory: Memory, facet: int, shown: int | None) -> tuple[int, Memory | None]:
    """`born` and the memory of an entity after one move of a facet.

    memory: with what the event itself brings. shown: the event, if it shows that the entity is there.
    """
    is_shown = shown is not None and memory.awaited
    born, after = (shown or 0, of_shown_life(memory)) if is_shown else (entity.born, memory)
    return born, of_version(after, entity, is_contact=facet == kind.contact)


def shows(kind: Kind, facet: int, trigger: str, before: State, after: State) -> bool:
    """Whether a move shows that an entity is there: an observation of it, but that nothing came of the request."""
    if kind.roles.get(trigger) != "observation" or after.phase == DELETED:
        return False
    judge = kind.judge
    if facet != 0 or trigger == REPORTED or judge is None or before.phase not in judge.arriving:
        return True
    return after.phase != kind.table.facets[0].accumulates_in
