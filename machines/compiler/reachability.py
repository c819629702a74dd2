"""Where the rows of a single facet lead: what can be reached, left, and chosen between.

Belongs here: the bases that can arise, and what is wrong with them. Does not: names (`checks`), other kinds (`forest`).
"""

from collections.abc import Collection, Iterator
from itertools import combinations

from phaseline.machines.compiler.conditions import own_condition, state_shown
from phaseline.machines.compiler.machine import FacetMachine, Step
from phaseline.machines.language.table import ABSENT, DELETED, FROM_DATA, Facet
from phaseline.schemas.records import State, state

MAX_BASES = 5000


def problems(facet: Facet, intents: Collection[str]) -> Iterator[str]:
    """What is wrong with where the facet's rows lead. `intents`: the triggers that are judged by what views show."""
    machine = FacetMachine(facet)
    yield from _overlaps(machine)
    bases = reachable(machine, intents)
    if len(bases) >= MAX_BASES:
        yield f"{facet.name}: more than {MAX_BASES} bases can arise: collect fewer conditions in one phase"
    yield from _unreached(facet, machine, bases)
    left = {base.phase for base in bases for found in moves(machine, base, intents) if found.phase != base.phase}
    for phase in machine.phases:
        if phase not in left and phase != DELETED and any(base.phase == phase for base in bases):
            yield f"{facet.name}: nothing leads out of {phase}: add a row from it (a last word is called {DELETED})"


def _unreached(facet: Facet, machine: FacetMachine, bases: frozenset[State]) -> Iterator[str]:
    by_view = {view.to for view in facet.views}
    for phase in machine.phases:
        if phase not in by_view and not any(base.phase == phase for base in bases):
            yield f"{facet.name}: no row leads to {phase}: add one, or take out its label"
    viewed = {(view.to, view.condition or own_condition(facet, view.to)) for view in facet.views}
    kept = {c for base in bases for c in base.conditions}
    viewed |= {(v.to, c) for v in facet.views if isinstance(v.keeps, tuple) for c in v.keeps if c in kept}
    for label in facet.labels:
        pair = (label.phase, label.condition)
        bare = label.condition is None
        if pair not in viewed and not any(b.phase == pair[0] and (bare or pair[1] in b.conditions) for b in bases):
            yield f"{facet.name}: {pair[0]} [{pair[1]}] can never arise: add a row to it, or take out its label"


def _overlaps(machine: FacetMachine) -> Iterator[str]:
    for trigger, by_source in machine.steps.items():
        for source, steps in by_source.items():
            for earlier, later in combinations(steps, 2):
                if _covers(earlier, later):
                    yield (
                        f"{trigger} from {source}: the row to {later.dest} is never reached, the one to {earlier.dest} "
                        "before it always applies: give the earlier one a condition (when=, given=, At(...)), or drop one"
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
    )


def reachable(machine: FacetMachine, intents: Collection[str]) -> frozenset[State]:
    """Every base that rows lead to from Absent, guards and data aside, its conditions sorted."""
    seen, queue = {state(ABSENT)}, [state(ABSENT)]
    while queue and len(seen) < MAX_BASES:
        base = queue.pop()
        for found in moves(machine, base, intents):
            if found not in seen:
                seen.add(found)
                queue.append(found)
    return frozenset(seen)


def moves(machine: FacetMachine, base: State, intents: Collection[str]) -> Iterator[State]:
    """The bases that one row leads to from `base`, intents as any of its views shows it; conditions sorted."""
    views = [state_shown(machine.facet, view, base) for view in machine.views[base.phase]]
    for trigger, by_source in machine.steps.items():
        for judged in (base, *views) if trigger in intents else (base,):
            for step in by_source.get(judged.phase, ()):
                if step.row.to != FROM_DATA and step.fits(judged, base, step.row.given):
                    found = step.result(base, step.row.given)
                    yield state(found.phase, tuple(sorted(found.conditions)))
