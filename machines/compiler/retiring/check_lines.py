"""Checks the map of states of a facet. Each problem says what is wrong and what to write instead.

Belongs here: lines for states that are still there, lines that lead nowhere or in a circle. Does not: reading a map
(`state_map`), the other checks of a table (`compiler.checks`).
"""

from collections.abc import Iterator, Sequence

from phaseline.machines.compiler.conditions import own_condition, phases_of, stands_alone
from phaseline.machines.language.table import ABSENT, DELETED, Facet, Retired
from phaseline.schemas.errors import did_you_mean


def problems(facet: Facet) -> Iterator[str]:
    """The problems of a facet's map."""
    phases = phases_of(facet)
    for number, line in enumerate(facet.retired):
        where = f"{facet.name}, retired {_state(line)}"
        earlier = facet.retired[:number]
        for problem in (*_source(facet, line, phases), *_target(facet, line, phases), *_repeats(line, earlier)):
            yield f"{where}: {problem}"
    for circle in _circles(facet.retired, phases):
        way = " -> ".join(circle)
        yield f"{facet.name}: retired phases lead in a circle, {way}: name a phase with a label in one of these lines"


def _state(line: Retired) -> str:
    return line.phase if line.has is None else f"{line.phase} [{line.has}]"


def _source(facet: Facet, line: Retired, phases: Sequence[str]) -> Iterator[str]:
    """A line for a state that the facet still has."""
    if line.phase in (ABSENT, DELETED):
        yield f"entities that are {line.phase} stay so in every table: remove this line"
    elif line.phase in phases and line.has is None and _arises(facet, line.phase):
        yield f"{line.phase} still has a label: remove this line, or name the condition that is gone with has="
    elif line.has is not None and any((one.phase, one.condition) == (line.phase, line.has) for one in facet.labels):
        yield f"{_state(line)} still has a label: remove this line, or the label"


def _arises(facet: Facet, phase: str) -> bool:
    """Whether a base can be in a phase. Entities in one that only views show are moved."""
    return phase == facet.adopted.phase or any(row.to == phase for row in facet.rows) or not facet.views


def _target(facet: Facet, line: Retired, phases: Sequence[str]) -> Iterator[str]:
    """A line to a state that the facet has not."""
    further = [one.phase for one in facet.retired if one.phase not in phases]
    if line.to == ABSENT:
        yield f"it leads to {ABSENT}, but an entity that was known stays known: write {DELETED}"
    elif line.to in further and line.to not in phases:
        if line.condition is not None:
            yield f"it leads on to the line of {line.to}, which says the condition: remove condition="
    elif line.to not in phases:
        near = did_you_mean(line.to, phases)
        yield f"it leads to {line.to}, which has neither a label nor a line of its own{near}: name a phase with a label"
    elif line.to == DELETED:
        if line.condition is not None:
            yield f"{DELETED} has no conditions: remove condition="
    elif line.condition is not None and not _can_stand(facet, line.to, line.condition):
        known = [str(one.condition) for one in facet.labels if one.phase == line.to and one.condition]
        near = did_you_mean(str(line.condition), known)
        yield f"it leads to {line.to} [{line.condition}], which has no label{near}: add a label, or correct the name"
    elif not line.condition and own_condition(facet, line.to) is None and not stands_alone(facet, line.to):
        yield f"it leads to {line.to}, which has several conditions: choose one with condition="


def _can_stand(facet: Facet, phase: str, condition: str) -> bool:
    """Whether a condition can stand in a phase: it has a label there, or a row sets it while the phase stays."""
    labelled = any((one.phase, one.condition) == (phase, condition) for one in facet.labels)
    return labelled or any(row.sets == condition and phase in row.source for row in facet.rows)


def _repeats(line: Retired, earlier: Sequence[Retired]) -> Iterator[str]:
    if any((one.phase, one.has) == (line.phase, line.has) for one in earlier):
        yield "this state has two lines: remove one"


def _circles(lines: Sequence[Retired], phases: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The ways along lines that come back to where they began, each once."""
    leads: dict[str, list[str]] = {}
    for line in lines:
        leads.setdefault(line.phase, []).append(line.to)
    found: set[frozenset[str]] = set()
    for start in leads:
        ways: list[tuple[str, ...]] = [(start,)]
        while ways:
            way = ways.pop()
            for to in leads.get(way[-1], ()):
                if to in phases:
                    continue
                if to == start and frozenset(way) not in found:
                    found.add(frozenset(way))
                    yield (*way, start)
                elif to not in way:
                    ways.append((*way, to))
