"""Since when an entity is in its class of states: what its memory says where its states do not tell. Pure.

A node that becomes NotReady, in arrears, and NotReady again is bad since the first, although its state is younger. The
memory says so only where it differs from what the states tell; most records hold nothing of it.
Belongs here: what is noted with a change. Does not: classes, and reading since when (`machines.compiler.classes`).
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec.structs import replace

from phaseline.machines.compiler.classes.entity_classes import class_of_facets, shown_since, since_of
from phaseline.machines.compiler.classes.state_classes import REMEMBERED, class_of, has_phase
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.language.table import DELETED, StateClass
from phaseline.schemas.records import NO_MEMORY, Entity, FacetState, Memory, State, Stay, timestamp


def may_last(kind: Kind, before: State, after: State) -> bool:
    """Whether an entity may stay in its class when a facet of it moves from one state to another."""
    if before == after:
        return False
    if kind.own > 1:
        return True
    facet = kind.table.facets[0]
    return class_of(facet, before) == class_of(facet, after)


def memory_after(
    kind: Kind, before: Entity | None, facets: Sequence[FacetState], attributes: Mapping[str, Any],
    memory: Memory | None, time: int,
) -> Memory | None:  # fmt: skip
    """The memory of an entity after a change, with since when it is in its class if its states do not tell.

    before: the entity before the event, not before the record: what it is in between does not count. facets,
    attributes, memory: those after the change. time: that of the event, ns.
    """
    stay = None if _tells(kind, before, facets, time) else _stay(kind, before, facets, attributes, time)
    if memory is None:
        return None if stay is None else Memory(stay=stay)
    if memory.stay == stay:
        return memory
    left = replace(memory, stay=stay)
    return None if left == NO_MEMORY else left


def _tells(kind: Kind, before: Entity | None, facets: Sequence[FacetState], time: int) -> bool:
    """Whether it is plain that the first facet tells since when an entity is in its class. Nearly always it is.

    A phase of an earlier table says nothing of its class.
    """
    if kind.own > 1 or _told(kind, facets):
        return False
    after = facets[0]
    if before is None:
        return after.since_ns == time
    first = before.facets[0]
    if DELETED in (first.state.phase, after.state.phase) or (before.memory is not None and before.memory.stay):
        return False
    if first.since_ns == after.since_ns:
        return True
    return has_phase(kind.table.facets[0], first.state.phase) and not may_last(kind, first.state, after.state)


def _stay(
    kind: Kind, before: Entity | None, facets: Sequence[FacetState], attributes: Mapping[str, Any], time: int
) -> Stay | None:
    """Since when an entity is in its class; None if its states tell."""
    state_class = class_of_facets(kind, facets, attributes)
    since = time if before is None else _since_before(kind, before, state_class, time)
    return None if since == shown_since(kind, facets, state_class) else Stay(state_class, timestamp(since))


def _told(kind: Kind, facets: Sequence[FacetState]) -> bool:
    """Whether somebody told a signal of an entity, now or earlier."""
    return kind.signals is not None and facets[kind.signals].since_ns > 0


def _since_before(kind: Kind, before: Entity, state_class: StateClass, time: int) -> int:
    """Since when an entity is in the class in which it is now: since before, if it was in it."""
    if not _are_known(kind, tuple([one.state.phase for one in before.facets])):
        # A map of states moves it from a phase of an earlier table: that renames what it is in.
        return since_of(kind, before, state_class)
    was = class_of_facets(kind, before.facets, before.attributes)
    return since_of(kind, before, was) if was == state_class else time


@lru_cache(maxsize=REMEMBERED)
def _are_known(kind: Kind, phases: tuple[str, ...]) -> bool:
    """Whether the table has these phases of its facets."""
    return all(map(has_phase, kind.table.facets, phases))
