"""Follows the rows of one facet: which bases can arise, and which rows, phases and labels can never be used.

Belongs here: the bases that rows lead to, and the problems that they show. Does not: names and references (`checks`),
checks across kinds (`check_kinds`).
"""

from collections.abc import Collection, Iterator
from itertools import combinations

from phaseline.machines.compiler.completion import ENDS_WITH_OWNER
from phaseline.machines.compiler.conditions import own_condition, returns, state_shown
from phaseline.machines.compiler.machine import FacetMachine, Step
from phaseline.machines.language.table import DELETED, FROM_DATA, Facet, Row, Table
from phaseline.schemas.records import State, state

MAX_BASES = 5000
"""The largest number of bases that a facet may have."""


def problems(table: Table, facet: Facet) -> Iterator[str]:
    """The problems of a facet of `table`."""
    machine, intents = FacetMachine(facet), table.intents
    yield from _overlaps(machine)
    bases = reachable(machine, intents)
    if len(bases) > MAX_BASES:
        yield f"{facet.name}: more than {MAX_BASES} bases can arise: let fewer conditions accumulate in one phase"
    yield from _unreached(facet, machine, bases)
    yield from _without_effect(table, machine, bases)
    ways = ((base, found) for base in bases for found in moves(machine, base, intents, but=ENDS_WITH_OWNER))
    left = {base.phase for base, found in ways if found.phase != base.phase}
    yield from _never_reported(table, machine)
    for phase in machine.phases:
        if phase not in left and phase != DELETED and any(base.phase == phase for base in bases):
            yield f"{facet.name}: no row leads out of {phase}: add one (a final phase must be {DELETED})"


def _unreached(facet: Facet, machine: FacetMachine, bases: frozenset[State]) -> Iterator[str]:
    by_view = {view.to for view in facet.views}
    for phase in machine.phases:
        if phase not in by_view and not any(base.phase == phase for base in bases):
            yield f"{facet.name}: no row leads to {phase}: add one, or remove its label"
    viewed = {(view.to, view.condition or own_condition(facet, view.to)) for view in facet.views}
    kept = {c for base in bases for c in base.conditions}
    viewed |= {(v.to, c) for v in facet.views if isinstance(v.keeps, tuple) for c in v.keeps if c in kept}
    for label in facet.labels:
        phase, condition = label.phase, label.condition
        arises = any(b.phase == phase and (condition is None or condition in b.conditions) for b in bases)
        if not arises and (phase, condition) not in viewed:
            name = phase if condition is None else f"{phase} [{condition}]"
            yield f"{facet.name}: {name} can never arise: add a row that leads to it, or remove its label"


def _without_effect(table: Table, machine: FacetMachine, bases: frozenset[State]) -> Iterator[str]:
    """Timeouts whose trigger has no row that fits when they fire. A derived trigger is judged by the base."""
    facet = machine.facet
    elsewhere = {row.trigger for other in table.facets if other is not facet for row in other.rows}
    for timeout in (timeout for timeout in facet.timeouts if timeout.trigger not in elsewhere):
        phase, trigger = timeout.phase, timeout.trigger
        under = [b for b in bases if b.phase == phase or any(view.to == phase for view in machine.views[b.phase])]
        steps = machine.steps[trigger]
        if not any(s.is_offered(b, b) for b in under for s in steps.get(b.phase, ())):
            phases = ", ".join(dict.fromkeys(p for p in machine.phases if any(b.phase == p for b in under)))
            yield (
                f"{facet.name}, timeout of {phase}: no row of {trigger} fits there, so it changes nothing: "
                f"let a row start from the base under {phase} ({phases})"
            )


def _never_reported(table: Table, machine: FacetMachine) -> Iterator[str]:
    """Pending phases that no report can end, unless the reporter has read the request, and that no view covers."""
    facet = machine.facet
    left = {
        step.source
        for trigger, by_source in machine.steps.items()
        for steps in by_source.values()
        for step in steps
        if table.role(trigger) == "observation" and step.dest != step.source
    }
    for phase in facet.pending_phases:
        if phase not in left and not any(phase in view.base for view in facet.views):
            yield (
                f"{facet.name}: {phase} is pending, but no observation leads out of {phase}, so no report could be the "
                f"answer: add a row for an observation, or remove {phase} from pending="
            )


def _overlaps(machine: FacetMachine) -> Iterator[str]:
    """Rows that are never taken because an earlier row always fits."""
    facet = machine.facet.name
    for trigger, by_source in machine.steps.items():
        for source, steps in by_source.items():
            for earlier, later in combinations(steps, 2):
                if _covers(earlier, later):
                    yield (
                        f"{facet}: {trigger} from {source}: the row to {later.dest} is never taken, because the row to "
                        f"{earlier.dest} before it always fits: narrow the earlier row (when=, given=, At(...)), or "
                        "remove one of the two"
                    )


def _covers(earlier: Step, later: Step) -> bool:
    """Whether `earlier` fits wherever `later` does."""
    first, second = earlier.start, later.start
    return (
        not earlier.row.when
        and earlier.row.given.items() <= later.row.given.items()
        and (earlier.row.to != FROM_DATA or (later.row.to == FROM_DATA and earlier.dest == later.dest))
        and first.has in (None, second.has)
        and first.base in (None, second.base)
        and set(first.lacks) <= set(second.lacks)
        and earlier.last in (None, later.last)
        and (earlier.last is None or earlier.dest == later.dest)
    )


def reachable(machine: FacetMachine, intents: Collection[str]) -> frozenset[State]:
    """Every base that rows lead to from the beginning, guards and data aside; conditions sorted."""
    begins = state(machine.facet.begins)
    seen, queue, phases = {begins}, [begins], {begins.phase, *_named_back(machine.facet)}
    while queue and len(seen) <= MAX_BASES:
        base = queue.pop()
        for found in moves(machine, base, intents, back_to=phases):
            if found not in seen:
                seen.add(found)
                queue.append(found)
                if found.phase not in phases:  # causes may have interrupted this phase, too
                    phases.add(found.phase)
                    queue += (one for one in seen if one.phase == machine.facet.accumulates_in)
    return frozenset(seen)


def _named_back(facet: Facet) -> Iterator[str]:
    """The phases that data may name as interrupted, whether rows lead there or not."""
    if any(row.to == FROM_DATA for row in facet.rows):
        yield from returns(facet)


def moves(
    machine: FacetMachine,
    base: State,
    intents: Collection[str],
    but: Row | None = None,
    back_to: Collection[str] | None = None,
) -> Iterator[State]:
    """The bases that one row leads to from `base`; conditions sorted. For intents, under any view of the base.

    but: a row that is left out. back_to: the phases that causes can have interrupted; None for all.
    """
    views = [state_shown(machine.facet, view, base) for view in machine.views[base.phase]]
    for trigger, by_source in machine.steps.items():
        for judged in (base, *views) if trigger in intents else (base,):
            for step in by_source.get(judged.phase, ()):
                if (
                    step.row is not but
                    and (step.over is None or back_to is None or step.over in back_to)
                    and step.row.to != FROM_DATA
                    and step.fits(judged, base, step.row.given, step.over)
                ):
                    yield in_order(step.result(base, step.row.given))


def in_order(found: State) -> State:
    """A state with its conditions sorted."""
    return found if len(found.conditions) < 2 else state(found.phase, tuple(sorted(found.conditions)))
