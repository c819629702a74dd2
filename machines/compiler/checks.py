"""What is wrong with the words of a single table (docs/spec/reading-the-tables.md, What a table may not be).

Belongs here: names and references of one table, each problem saying what to write instead.
Does not: where its rows lead (`motion`), checks across kinds (`forest`).
"""

from collections.abc import Iterator
from typing import Any

from phaseline.machines.compiler import fingerprint, reachability
from phaseline.machines.compiler.conditions import own_condition, stands_alone
from phaseline.machines.compiler.machine import phases_of, starts_of
from phaseline.machines.language.rules import declaration_of
from phaseline.machines.language.table import (
    ABSENT,
    COMMON,
    DELETED,
    FROM_DATA,
    SAME,
    Cascade,
    Facet,
    Live,
    Row,
    Table,
    Timeout,
    View,
)
from phaseline.schemas import subjects

LOG_WORDS = ("mark", "checkpoint", "transition")
"""What stands where the log's subjects name a kind."""
DATA_WORDS = (*(field.name for field in COMMON), "phase", "conditions")
"""What an event's data may hold whatever the kind."""

Pairs = set[tuple[str, str | None]]


class WrongTable(ValueError):
    """A table that could not work. `problems`: each says what is wrong and what to write instead."""

    def __init__(self, kind: str, problems: list[str]) -> None:
        """Name the kind and everything that is wrong with it."""
        self.kind, self.problems = kind, problems
        super().__init__(f"the table of {kind} cannot work:\n" + "\n".join(f"  - {problem}" for problem in problems))


def check_table(table: Table) -> None:
    """Raise `WrongTable` unless `table` can work by itself."""
    problems = list(_names(table)) or [*_triggers(table), *(p for f in table.facets for p in _references(table, f))]
    problems += _rules(table)
    if not problems:
        problems = [p for facet in table.facets for p in reachability.problems(facet, table.intents)]
    if problems:
        raise WrongTable(table.kind, problems)


def _rules(table: Table) -> Iterator[str]:
    """Code in the table that declares no name and revision, and names that two rules share."""
    yield from fingerprint.undeclared(table)
    codes: dict[str, object] = {}
    for found in fingerprint.rules_of(table):
        declared = declaration_of(found)
        code = found if hasattr(found, "__qualname__") else type(found)
        if declared is not None and codes.setdefault(declared.revision.name, code) is not code:
            yield f"two rules are called {declared.revision.name}: give one of them another name"


def _names(table: Table) -> Iterator[str]:
    fields = [*table.attributes, *(field for found in table.fields.values() for field in found)]
    fields += [word for read in table.interprets for word in read.fields]
    words = [table.kind, *(facet.name for facet in table.facets), *table.triggers, *(field.name for field in fields)]
    for word in words:
        if not subjects.check_word(word):
            yield f"{word!r} cannot be a name: write lower-case letters, digits and _ (it becomes a part of a subject)"
    for facet in table.facets:
        for label in facet.labels:
            if not (subjects.check_state(label.phase) and subjects.check_state(label.condition or label.phase)):
                yield f"{label.phase} [{label.condition}] cannot be a state: write letters, digits, _ and - only"
            if label.phase in (ABSENT, DELETED):
                yield f"{label.phase} has its own labels: take this one out, or name the phase otherwise"
        for phase, condition in _twice([(label.phase, label.condition) for label in facet.labels]):
            yield f"{facet.name}: {phase} [{condition}] has two labels: drop one"
    for name in _twice([facet.name for facet in table.facets]):
        yield f"two facets are called {name}: rename one"
    for field in fields:
        if field.name in DATA_WORDS:
            yield f"{field.name!r} means something in every event's data: name the field or attribute otherwise"
    if table.kind in LOG_WORDS:
        yield f"{table.kind!r} is a word of the log itself: name the kind otherwise"
    if not table.id or not table.facets:
        yield "a table needs the names of its id's parts (`id`) and at least one facet"


def _twice(words: list[Any]) -> list[Any]:
    return [word for word in dict.fromkeys(words) if words.count(word) > 1]


def _triggers(table: Table) -> Iterator[str]:
    named = (
        [one.on for one in table.cascades] + [one.on for one in table.fan_outs] + [one.on for one in table.interprets]
    )
    firing = (on for found in named for on in found)
    listed = (*table.intents, *table.derived, *table.fields, *firing)
    for trigger in dict.fromkeys(listed):
        if trigger not in table.triggers:
            yield f"trigger {trigger} has no row: add one, or take it out of the list"
    for trigger in filter(table.derived.__contains__, table.intents):
        yield f"{trigger} is asked from outside and fired by the engine: list it in `intents` or in `derived`, not both"
    for trigger in table.triggers:
        if sum(row.trigger == trigger and row.to == FROM_DATA for facet in table.facets for row in facet.rows) > 1:
            yield f"{trigger} names two bases, data only one: let it lead the other facet, or row, to a phase"
    for fired in table.cascades:
        yield from _fired(table, fired)
    for trigger in _twice([on for read in table.interprets for on in read.on]):
        yield f"the data of {trigger} is read twice: let one reading say all of it"


def _fired(table: Table, fired: Cascade) -> Iterator[str]:
    phases = {phase for facet in table.facets for phase in phases_of(facet)}
    for phase in filter(None, (fired.into, fired.then)):
        if phase not in phases:
            yield f"it fires {fired.trigger} into {phase}, which is unknown: correct the name"
    yield from _fires_when(table, fired)
    for name in filter(None, (fired.only_child, *fired.data.values())):
        if name not in {attribute.name for attribute in table.attributes}:
            yield f"firing {fired.trigger} depends on attribute {name}, which is unknown: declare it in `attributes`"


def _fires_when(table: Table, fired: Cascade) -> Iterator[str]:
    if not fired.on and fired.into is None:
        yield f"it never fires {fired.trigger}: say on which triggers (on=), or entering which phase (into=)"
    if fired.unless is not None and not any(fired.unless[0] in _fields(table, on) for on in fired.on):
        yield f"it fires {fired.trigger} unless data.{fired.unless[0]} says so: add that field to `fields`"
    if fired.required and fired.only_child is None:
        yield f"it must fire {fired.trigger}, but at any number of entities: say at which with one="
    if fired.required and not fired.on:
        yield f"it must fire {fired.trigger}, but no event asks for it: say on which triggers (on=)"


def _fields(table: Table, trigger: str) -> set[str]:
    rows = (row for facet in table.facets for row in facet.rows if row.trigger == trigger)
    assigned = {name for row in rows for name in table.assigned(row)}
    words = {word.name for read in table.interprets if trigger in read.on for word in read.fields}
    return assigned.union(words, (field.name for field in table.fields.get(trigger, ())))


def _references(table: Table, facet: Facet) -> Iterator[str]:
    phases, pairs = phases_of(facet), {(label.phase, label.condition) for label in facet.labels}
    yield from (f"{facet.name}: {problem}" for problem in _facet(facet, phases, pairs))
    for number, row in enumerate(facet.rows, 1):
        where = f"{facet.name}, row {number} ({row.trigger})"
        yield from (f"{where}: {problem}" for problem in _start(row, phases, pairs))
        yield from (f"{where}: {problem}" for problem in _row(facet, row, phases, pairs))
        for name in sorted(set(row.given).difference(_fields(table, row.trigger))):
            yield f"{where}: it depends on data.{name}: add that field to `fields`, or correct the name"
        for name in sorted(set(table.assigned(row)).difference(field.name for field in table.attributes)):
            yield f"{where}: it assigns {name}, which is no attribute: declare it in `attributes`, or correct the name"
    yield from (
        f"{facet.name}, after {after.phase}: {problem}"
        for after in facet.timeouts
        for problem in _after(table, facet, after)
    )
    attributes = {field.name for field in table.attributes}
    for name in filter(
        None,
        (facet.message_from, *(name for after in facet.timeouts for name in (after.restart_on, after.repeat_after))),
    ):
        if name not in attributes:
            yield f"{facet.name}: {name} is no attribute: declare it in `attributes`, or correct the name"
    for view in facet.views:
        yield from (f"{facet.name}, view {view.to}: {problem}" for problem in _view(facet, view, phases, pairs))


def _facet(facet: Facet, phases: tuple[str, ...], pairs: Pairs) -> Iterator[str]:
    conditions = {condition for _, condition in pairs}
    for condition in dict.fromkeys((*facet.sticky, *facet.order)):
        if condition not in conditions:
            yield f"condition {condition} has no label: add one, or correct the name"
    if facet.accumulates_in is not None and facet.accumulates_in not in phases:
        yield f"causes collect in {facet.accumulates_in}, which is unknown: add a label for it, or correct the name"
    elif facet.accumulates_in is not None and facet.healthy not in phases:
        yield f"phase {facet.healthy}, without causes, is unknown: name the phase it falls back to with healthy="


def _after(table: Table, facet: Facet, after: Timeout) -> Iterator[str]:
    if after.phase not in phases_of(facet) or after.phase in (ABSENT, DELETED):
        yield "nothing lasts there: name a phase that has a label"
    if sum(other.phase == after.phase for other in facet.timeouts) > 1:
        yield "two triggers wait there, but an entity has one timer a facet: drop one"
    if after.trigger not in table.derived:
        yield f"{after.trigger} is fired by the engine: list it in `derived`, and give it a row"
    if (after.seconds > 0) == (after.seconds_from is not None):
        yield "say how long: seconds above 0, or the attribute that holds them"
    named = next((field for field in table.attributes if field.name == after.seconds_from), None)
    if after.seconds_from is not None and (named is None or named.type not in (int, float)):
        yield f"{after.seconds_from} is no attribute that holds a number: add it to `attributes`, as int or float"


def _start(row: Row, phases: tuple[str, ...], pairs: Pairs) -> Iterator[str]:
    conditions = {condition for _, condition in pairs}
    if not row.source:
        yield "it starts nowhere: name the phases it starts from"
    for phase in (phase for start in row.source if isinstance(start, Live) for phase in start.but):
        if phase not in phases:
            yield f"it starts from all but {phase}, which is unknown: correct the name"
    for at in (at for start in row.source for at in starts_of(start, phases)):
        if at.phase not in phases or (at.base or at.phase) not in phases:
            unknown = at.phase if at.phase not in phases else at.base
            if unknown == DELETED:
                yield f"it starts from {DELETED}, to which no row leads: add one, or take it out"
            else:
                yield f"it starts from {unknown}, which is unknown: add a label for it, or correct the name"
    for condition in dict.fromkeys(
        c for start in row.source for at in starts_of(start, phases) for c in (at.has, *at.lacks)
    ):
        if condition is not None and condition not in conditions:
            yield f"it asks for condition {condition}, which has no label: add one, or correct the name"


def _row(facet: Facet, row: Row, phases: tuple[str, ...], pairs: Pairs) -> Iterator[str]:
    conditions = {condition for _, condition in pairs}
    timed = {after.trigger for after in facet.timeouts}
    if row.to not in (*phases, SAME, FROM_DATA):
        yield f"it leads to {row.to}, which is unknown: add a label for it, or correct the name"
    elif row.to not in (SAME, FROM_DATA, DELETED, ABSENT) and not row.condition and _unclear(facet, row.to):
        yield f"{row.to} has several conditions: say which with condition="
    if row.to == ABSENT:
        yield f"it leads to {ABSENT}: what was known stays known, write {DELETED}"
    if row.condition and (row.to, row.condition) not in pairs:
        yield f"{row.to} [{row.condition}] has no label: add one, or correct the name"
    for condition in filter(None, (row.sets, *row.clears)):
        if condition not in conditions:
            yield f"condition {condition} has no label: add one, or correct the name"
    if row.sets and row.sets not in facet.sticky and row.trigger not in timed:
        yield f"it sets {row.sets}, which is not in the facet's standing conditions: add it there"


def _view(facet: Facet, view: View, phases: tuple[str, ...], pairs: Pairs) -> Iterator[str]:
    for phase in (view.to, *view.base, *view.unless):
        if phase not in phases:
            yield f"phase {phase} is unknown: add a label for it, or correct the name"
    if view.to in (ABSENT, DELETED):
        yield "it would make what lives look as if it did not: show a phase that has a label"
    elif view.condition and (view.to, view.condition) not in pairs:
        yield f"{view.condition} has no label there: add one"
    elif not view.condition and view.to in phases and _unclear(facet, view.to):
        yield f"{view.to} has several conditions: say which with condition="
    for condition in view.keeps if isinstance(view.keeps, tuple) else ():
        if condition not in {found for _, found in pairs}:
            yield f"it keeps {condition}, which has no label: add one, or correct the name"
    if not view.while_ and not view.base:
        yield "it always shows, so nobody ever sees the base: say while what, or let rows lead there"
    for later in facet.views[facet.views.index(view) + 1 :] if not view.while_ else ():
        if not set(later.base or phases).difference(view.base, (ABSENT, DELETED)):
            yield f"it shows wherever no view before it does, so the one to {later.to} after it never does: move it below"


def _unclear(facet: Facet, phase: str) -> bool:
    """Whether the phase needs a condition and has several."""
    return own_condition(facet, phase) is None and not stands_alone(facet, phase)
