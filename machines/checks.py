"""What is wrong with a single table (style: a wrong table cannot be constructed).

Belongs here: checks of one table by itself, each saying what to write instead. Does not: checks across kinds (`forest`).
"""

from collections.abc import Iterator
from itertools import pairwise

from phaseline.machines.arithmetic import own_condition
from phaseline.machines.machine import FacetMachine, Step, phases_of, starts_of
from phaseline.machines.table import ABSENT, DELETED, NAMED, SAME, Facet, Row, Table
from phaseline.schemas import subjects
from phaseline.schemas.records import State, state

MAX_BASES = 5000


class WrongTable(ValueError):
    """A table that could not work. `problems`: each says what is wrong and what to write instead."""

    def __init__(self, kind: str, problems: list[str]) -> None:
        """Name the kind and everything that is wrong with it."""
        self.kind, self.problems = kind, problems
        super().__init__(f"the table of {kind} cannot work:\n" + "\n".join(f"  - {problem}" for problem in problems))


def check_table(table: Table) -> None:
    """Raise `WrongTable` unless `table` can work by itself."""
    problems = list(_names(table)) or [p for facet in table.facets for p in _references(table, facet)]
    if not problems:
        problems = [p for facet in table.facets for p in _motion(facet)]
    if problems:
        raise WrongTable(table.kind, problems)


def _names(table: Table) -> Iterator[str]:
    words = [table.kind, *(facet.name for facet in table.facets), *table.triggers, *(a.name for a in table.attributes)]
    for word in words:
        if not subjects.check_word(word):
            yield f"{word!r} cannot be a name: write lower-case letters, digits and _ (it becomes a part of a subject)"
    for facet in table.facets:
        for label in facet.labels:
            if not (subjects.check_state(label.phase) and subjects.check_state(label.condition)):
                yield f"{label.phase} [{label.condition}] cannot be a state: write letters, digits, _ and - only"
    if table.kind in ("mark", "checkpoint"):
        yield f"{table.kind!r} is a word of the log itself: name the kind otherwise"
    if not table.id or not table.facets:
        yield "a table needs the names of its id's parts (`id`) and at least one facet"


def _references(table: Table, facet: Facet) -> Iterator[str]:
    phases, pairs = phases_of(facet), {(label.phase, label.condition) for label in facet.labels}
    for number, row in enumerate(facet.rows, 1):
        where = f"{facet.name}, row {number} ({row.trigger})"
        yield from (f"{where}: {problem}" for problem in _row(facet, row, phases, pairs))
    for view in facet.views:
        for phase in (view.to, *view.base, *view.unless):
            if phase not in phases:
                yield f"{facet.name}, view {view.to}: phase {phase} is unknown: add a label for it, or correct the name"
        if view.because and (view.to, view.because) not in pairs:
            yield f"{facet.name}, view {view.to}: {view.because} has no label there: add one"
    for trigger in (*table.intents, *table.derived, *table.fields, *(on for fired in table.fired for on in fired.on)):
        if trigger not in table.triggers:
            yield f"trigger {trigger} has no row: add one, or take it out of the list"


def _row(facet: Facet, row: Row, phases: tuple[str, ...], pairs: set[tuple[str, str]]) -> Iterator[str]:
    conditions = {condition for _, condition in pairs}
    for at in (at for start in row.start for at in starts_of(start, phases)):
        if at.phase not in phases or (at.base or at.phase) not in phases:
            yield f"it starts from {at.phase}, which is unknown: add a label for it, or correct the name"
    if row.to not in (*phases, SAME, NAMED):
        yield f"it leads to {row.to}, which is unknown: add a label for it, or correct the name"
    elif row.to not in (SAME, NAMED, DELETED) and not row.because and own_condition(facet, row.to) is None:
        yield f"{row.to} has several conditions: say which with because="
    if row.because and (row.to, row.because) not in pairs:
        yield f"{row.to} [{row.because}] has no label: add one, or correct the name"
    for condition in filter(None, (row.sets, *row.clears)):
        if condition not in conditions:
            yield f"condition {condition} has no label: add one, or correct the name"
    if row.sets and row.sets not in facet.standing:
        yield f"it sets {row.sets}, which is not in the facet's standing conditions: add it there"


def _motion(facet: Facet) -> Iterator[str]:
    machine = FacetMachine(facet)
    yield from _overlaps(machine)
    bases = reachable(machine)
    if len(bases) >= MAX_BASES:
        yield f"{facet.name}: more than {MAX_BASES} bases can arise: collect fewer conditions in one phase"
    yield from _unreached(facet, machine, bases)
    for phase in machine.phases:
        leaves = any(s.dest != phase for by in machine.steps.values() for s in by.get(phase, ()))
        if not leaves and phase != DELETED:
            yield f"{facet.name}: nothing leads out of {phase}: add a row from it (a last word is called {DELETED})"


def _unreached(facet: Facet, machine: FacetMachine, bases: frozenset[State]) -> Iterator[str]:
    by_view = {view.to for view in facet.views}
    for phase in machine.phases:
        if phase not in by_view and not any(base.phase == phase for base in bases):
            yield f"{facet.name}: no row leads to {phase}: add one, or take out its label"
    shown = {(view.to, view.because or own_condition(facet, view.to)) for view in facet.views}
    for label in facet.labels:
        pair = (label.phase, label.condition)
        if pair not in shown and not any(b.phase == pair[0] and pair[1] in b.conditions for b in bases):
            yield f"{facet.name}: {pair[0]} [{pair[1]}] can never arise: add a row to it, or take out its label"


def _overlaps(machine: FacetMachine) -> Iterator[str]:
    for trigger, by_source in machine.steps.items():
        for source, steps in by_source.items():
            for earlier, later in pairwise(steps):
                if earlier.row.to != NAMED and _always(earlier):
                    yield (
                        f"{trigger} from {source}: the row to {later.dest} is never reached, the one to {earlier.dest} "
                        "before it always applies: give the earlier one a condition (when=, given=, At(...)), or drop one"
                    )


def _always(step: Step) -> bool:
    start, row = step.start, step.row
    narrow = start.has or start.lacks or start.base or row.given or row.when
    return not narrow and step.last is None


def reachable(machine: FacetMachine) -> frozenset[State]:
    """Every base that rows lead to from Absent, guards and data aside, its conditions sorted."""
    seen, queue = {state(ABSENT)}, [state(ABSENT)]
    while queue and len(seen) < MAX_BASES:
        base = queue.pop()
        for by_source in machine.steps.values():
            for step in by_source.get(base.phase, ()):
                if step.row.to == NAMED or not step.fits(base, base, step.row.given):
                    continue
                found = step.result(base, step.row.given)
                found = state(found.phase, tuple(sorted(found.conditions)))
                if found not in seen:
                    seen.add(found)
                    queue.append(found)
    return frozenset(seen)
