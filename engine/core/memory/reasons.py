"""Reasons: the word that somebody gives for a condition, kept as long as the condition stands. Pure.

Another reason for the same condition is news, and so makes a transition with equal states; another message alone is
none. The rules are in docs/reports.md, Reasons.
Belongs here: what is a reason, which conditions it is about, what an entity keeps of it. Does not: how often something
was said (`log.explain.said`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec.structs import replace

from phaseline.machines.compiler.conditions import own_condition
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.compiler.machine import Step
from phaseline.machines.compiler.reports import CONDITIONS, PHASE, STAYED
from phaseline.machines.language.table import DELETED, FROM_DATA, OK, SAME, STALLED, Facet, Row
from phaseline.schemas.records import NO_MEMORY, NONE, Entity, FacetState, Memory, State, of_reasons

REASON, MESSAGE = "reason", "message"
"""Fields of data."""
REMEMBERED = 4_096
"""The most moves of which it is remembered which reasons are left after them."""
WORD = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
"""What a reason is: a word for programs."""


def worded(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The data, with the reason as a part of the message if it is no word."""
    reason, message = data.get(REASON), data.get(MESSAGE)
    if not reason or is_word(reason):
        return data
    said = f"{reason}: {message}" if message and message != reason else reason
    return {**{name: value for name, value in data.items() if name != REASON}, MESSAGE: said}


@lru_cache(maxsize=4096)
def is_word(reason: str) -> bool:
    """Whether a text is a reason, and no message."""
    return WORD.fullmatch(reason) is not None


def told_about(facet: Facet, row: Row, base: State, stayed: Sequence[str] = ()) -> tuple[str, ...]:
    """The conditions that an event which takes a row is about; the phase itself if it has none.

    That all is well has no reason, and what an event clears needs none. base: the one after the row. stayed: the
    conditions that a report left alone.
    """
    if (one := row.sets or row.condition) is not None:
        return (one,)
    if row.to == SAME or row.clears:
        return ()
    own = own_condition(facet, base.phase)
    named = base.conditions if row.to == FROM_DATA else () if own is None else (own,)
    return tuple(one for one in named if one not in (OK, STALLED, *stayed)) or _of_phase(facet, base)


def _of_phase(facet: Facet, base: State) -> tuple[str, ...]:
    """The phase of a base without conditions, if it is one that needs a reason."""
    return () if base.conditions or base.phase in (facet.healthy, DELETED) else (base.phase,)


def reasons_of(kind: Kind, index: int, memory: Memory | None) -> dict[str, str]:
    """The reasons of one facet, by condition."""
    if memory is None or not memory.reasons:
        return {}
    start = _start(kind, index)
    return {name[len(start) :]: why for name, why in memory.reasons.items() if _is_of(name, start)}


def after(
    kind: Kind, index: int, told: tuple[str, ...], before: State, base: State, reason: str | None, memory: Memory | None
) -> Memory | None:
    """What an entity remembers after a move of one facet.

    A reason ends with its condition, and that of a phase's own condition with the phase. told: the conditions that the
    event is about.
    """
    known = NONE if memory is None else memory.reasons
    if not known and not (reason and told):
        return memory
    was, new, found = _after(kind, index, told, before, base, reason, tuple(known.items()))
    if new == known:
        return memory
    return found if memory is None or memory is was else _with(memory, new)


@lru_cache(maxsize=REMEMBERED)
def _after(
    kind: Kind, index: int, told: tuple[str, ...], before: State, base: State, reason: str | None,
    known: tuple[tuple[str, str], ...],
) -> tuple[Memory | None, Mapping[str, str], Memory | None]:  # fmt: skip
    """The reasons of all facets after a move of one, and the memories that hold nothing else: before and after it."""
    start, stays, facet = _start(kind, index), before.phase == base.phase, kind.table.facets[index]
    old = {name[len(start) :]: why for name, why in known if _is_of(name, start)}
    new = {
        name: why
        for name, why in old.items()
        if (name in base.conditions and (stays or name in facet.sticky)) or (stays and name == base.phase)
    }
    if reason and is_word(reason):
        new |= {one: reason for one in told if one in base.conditions or one == base.phase}
    others = {name: why for name, why in known if not _is_of(name, start)}
    everything = tuple(sorted({**others, **{f"{start}{name}": why for name, why in new.items()}}.items()))
    was, found = (of_reasons(one) if one else None for one in (known, everything))
    return was, NONE if found is None else found.reasons, found


def _with(memory: Memory, known: Mapping[str, str]) -> Memory | None:
    """A memory with these reasons; None if it holds nothing then."""
    found = replace(memory, reasons=known)
    return None if not known and found == NO_MEMORY else found


def of_step(
    kind: Kind, index: int, step: Step, before: State, base: State, data: Mapping[str, Any], memory: Memory | None
) -> Memory | None:
    """What an entity remembers after a step of one facet."""
    if not data.get(REASON) and (memory is None or not memory.reasons):
        return memory
    stayed = data.get(STAYED) if step.row.to == FROM_DATA else ()
    told = told_about(kind.table.facets[index], step.row, base, stayed if isinstance(stayed, tuple) else ())
    return after(kind, index, told, before, base, data.get(REASON), memory)


def _start(kind: Kind, index: int) -> str:
    """What the names of a facet's conditions begin with in the memory: nothing for the first facet."""
    return f"{kind.names[index]}:" if index else ""


def _is_of(name: str, start: str) -> bool:
    return name.startswith(start) if start else ":" not in name


# ---- what is already so, with another reason


def is_news(kind: Kind, entity: Entity, data: Mapping[str, Any]) -> bool:
    """Whether a report of what is already so gives another reason for a condition that it names."""
    reason, facet = data.get(REASON), entity.facets[0]
    base, named = facet.base, data.get(CONDITIONS)
    if not reason or data.get(PHASE) != base.phase or not is_word(reason):
        return False
    standing = tuple(one for one in base.conditions if one not in (OK, STALLED))
    named = (standing if len(standing) == 1 else ()) if named is None else named
    told = tuple(one for one in named if one in standing)
    known = reasons_of(kind, 0, entity.memory)
    return any(known.get(one) != reason for one in told or _of_phase(kind.table.facets[0], base))


def unnamed(base: State, data: Mapping[str, Any]) -> tuple[str, ...]:
    """The conditions of a base that a report of it does not name."""
    named = data.get(CONDITIONS)
    return () if named is None else tuple(one for one in base.conditions if one not in named)


def again(kind: Kind, entity: Entity, trigger: str, data: Mapping[str, Any]) -> tuple[int, Memory] | None:
    """The facet that an observation of what is already so gives another reason for, and what is remembered then."""
    if kind.roles[trigger] != "observation" or trigger in kind.reports or not data.get(REASON):
        return None
    for index, step in kind.reporting(trigger, entity.facets, data):
        base = entity.facets[index].base
        found = of_step(kind, index, step, base, base, data, entity.memory)
        if found is not None and found is not entity.memory:
            return index, found
    return None


def standing(kind: Kind, entity: Entity) -> Iterator[tuple[str, FacetState, dict[str, str]]]:
    """The facets of an entity for whose conditions a reason is kept, each with its reasons."""
    for index, (name, facet) in enumerate(zip(entity.names, entity.facets, strict=True)):
        if found := reasons_of(kind, index, entity.memory):
            yield name, facet, found
