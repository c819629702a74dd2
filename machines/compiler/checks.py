"""Checks the names and references of one table. Each problem says what is wrong, where, and what to write instead.

The rules are in docs/spec/reading-the-tables.md, section What a table may not be.
Belongs here: everything that one table shows without following its rows; the error `WrongTable`.
Does not: where rows lead (`reachability`), checks across kinds (`check_kinds`), rules without a name (`fingerprint`).
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from phaseline.machines.compiler import fingerprint, reachability, shapes
from phaseline.machines.compiler.classes.state_classes import derived
from phaseline.machines.compiler.conditions import own_condition, phases_of, stands_alone, starts_of
from phaseline.machines.compiler.retiring import check_lines
from phaseline.machines.language import brake, contact, deadlines, signals
from phaseline.machines.language.endings import END, MOVED, SHOWS
from phaseline.machines.language.fields import ANOTHER, ATTRIBUTES, FREE
from phaseline.machines.language.language_tags import ENGLISH, as_tag, is_tag
from phaseline.machines.language.rules import declaration_of
from phaseline.machines.language.table import (
    ABSENT,
    CLASSES,
    COMMON,
    DELETED,
    FROM_DATA,
    OWNER_GONE,
    REPORTED,
    SAME,
    At,
    Cascade,
    Facet,
    Field,
    Label,
    Live,
    Row,
    Table,
    Timeout,
    View,
)
from phaseline.schemas import subjects
from phaseline.schemas.errors import did_you_mean
from phaseline.schemas.records import SIGNALS

LOG_WORDS = ("mark", "checkpoint", "transition")
"""Words that subjects of the log contain where the others contain a kind."""
DATA_WORDS = (*(field.name for field in COMMON), "phase", "conditions", ATTRIBUTES, ANOTHER)
"""Fields that have a meaning in every event's data."""

Pairs = set[tuple[str, str | None]]
"""Phases with their conditions, as the labels of a facet name them."""


class WrongTable(ValueError):
    """A table that cannot work.

    kind: the kind of the table.
    problems: everything that is wrong; each text says what to write instead.
    """

    def __init__(self, kind: str, problems: list[str]) -> None:
        """Name the kind and its problems."""
        self.kind, self.problems = kind, problems
        super().__init__(f"the table of {kind} cannot work:\n" + "\n".join(f"  - {problem}" for problem in problems))


def check_shapes(table: object) -> None:
    """Raise `WrongTable` if a table has a value of a wrong sort, which nothing could read."""
    if problems := [*dict.fromkeys(shapes.problems(table))]:
        kind = table.kind if isinstance(table, Table) and isinstance(table.kind, str) else "a kind"
        raise WrongTable(kind, problems)


def check_place(table: Table) -> None:
    """Raise `WrongTable` if a table has something of its own with the name of what contact or a deadline brings."""
    if (
        table.place
        and table.facets
        and table.facets[-1] is not contact.FACET
        and (problems := [*contact.problems(table), *brake.problems(table)])
    ):
        raise WrongTable(table.kind, problems)
    if problems := [*deadlines.problems(table), *signals.problems(table)]:
        raise WrongTable(table.kind, problems)


def check_table(table: Table) -> None:
    """Raise `WrongTable` unless `table` can work by itself."""
    problems = list(_names(table)) or [*_triggers(table), *(p for f in table.facets for p in _references(table, f))]
    problems += _rules(table)
    if not problems:
        problems = [p for facet in table.facets for p in reachability.problems(table, facet)]
    if problems:
        raise WrongTable(table.kind, problems)


def _rules(table: Table) -> Iterator[str]:
    """Rules that declare no name and revision, and names that two rules share."""
    yield from fingerprint.undeclared(table)
    rules: dict[str, object] = {}
    for rule in fingerprint.rules_of(table):
        declared = declaration_of(rule)
        code = rule if hasattr(rule, "__qualname__") else type(rule)
        if declared is not None and rules.setdefault(declared.revision.name, code) is not code:
            yield f"two rules have the name {declared.revision.name}: give one of them another name in @rule(...)"


def meant(name: str, known: Iterable[str | None]) -> str:
    """A question to put behind a wrong name: which known one it may have been, or two of them without a comma."""
    names = [one for one in dict.fromkeys(known) if one is not None]
    for first in names:
        if name.startswith(first) and name.removeprefix(first) in names:
            return f" (is a comma missing between {first!r} and {name.removeprefix(first)!r}?)"
    return did_you_mean(name, names)


def no_attribute(name: str, table: Table) -> str:
    """That a table has no such attribute, and what to write."""
    near = meant(name, [attribute.name for attribute in table.attributes])
    return f"{name} is not an attribute{near}: add it to `attributes`, or correct the name"


def _names(table: Table) -> Iterator[str]:
    fields = [*table.attributes, *(field for fields in table.fields.values() for field in fields)]
    fields += [field for interpret in table.interprets for field in interpret.fields]
    words = [table.kind, *(facet.name for facet in table.facets), *table.triggers, *(field.name for field in fields)]
    for word in words:
        if not subjects.check_word(word):
            better = re.sub(r"\W+", "_", word.strip()).lower()
            near = f" (did you mean {better!r}?)" if subjects.check_word(better) else ""
            yield (
                f"{word!r} cannot be a name{near}: write lower-case letters, digits and _ (it becomes a part of a "
                "subject)"
            )
    for facet in table.facets:
        yield from (f"{facet.name}: {problem}" for problem in _labels(facet))
    for name in _twice([facet.name for facet in table.facets]):
        yield f"two facets have the name {name}: rename one"
    if FREE in {field.name for field in table.attributes}:
        yield f"in the attribute {FREE} the engine keeps attributes that no table lists: rename yours"
    if END in {field.name for field in table.attributes}:
        yield f"in the attribute {END} the engine says how a life ended: rename yours"
    for field in fields:
        if field.name in DATA_WORDS:
            yield f"{field.name!r} already has a meaning in every event's data: rename the field or attribute"
        if field.name == MOVED.name and field.type is not bool:
            yield f"{field.name!r} says that a thing only left its place: make it a bool, or rename it"
        yield from _values(field)
    yield from _earlier_names(table)
    if table.kind in LOG_WORDS:
        yield f"{table.kind!r} is a word that subjects of the log contain: rename the kind"
    if not table.id:
        yield "the table has no `id`: name the parts of its ids, for example id=('site', 'lamp')"
    if not table.facets:
        yield "the table has no facet: write at least one in `facets`"


def _earlier_names(table: Table) -> Iterator[str]:
    """Earlier names that are still there or stand twice, and those of what no entity keeps."""
    present, seen = {field.name for field in table.attributes}, dict[str, str]()
    for field in table.attributes:
        for name in field.was:
            if name in present:
                yield f"{field.name} was {name}, but {name} still is an attribute: remove that, or the earlier name"
            elif name in (FREE, END, SHOWS):
                yield f"{field.name} was {name}, but the engine keeps something of its own there: remove it from was="
            elif name in seen:
                yield f"{field.name} and {seen[name]} were {name}: remove the earlier name from one of them"
            seen.setdefault(name, field.name)
    data = (field for fields in table.fields.values() for field in fields)
    added = (field for interpret in table.interprets for field in interpret.fields)
    for field in (*data, *added):
        if field.was:
            yield f"{field.name} has an earlier name, but no entity keeps a field of data: remove was="


def _values(field: Field) -> Iterator[str]:
    """Values of a field that are none of its type, and a pattern that is none."""
    if field.pattern is not None and (problem := pattern_problem(field.pattern)):
        yield f"{field.name} has the pattern {field.pattern!r}, which is no regular expression: {problem}"
    for option in field.options:
        if (wrong := unfit(field, option)) is not None:
            yield f"{field.name} has the option {option!r}: {wrong}"
    defaults = field.default if field.many and isinstance(field.default, list | tuple) else (field.default,)
    for default in defaults:
        if default is not None and (wrong := unfit(field, default)) is not None:
            yield f"{field.name} has the default {default!r}: {wrong}"


def pattern_problem(pattern: str) -> str:
    """Why a text is no regular expression; empty if it is one."""
    try:
        re.compile(pattern)
    except re.error as error:
        return str(error)
    return ""


def unfit(field: Field, value: object) -> str | None:
    """What to write in place of a value that a field never has; None if it may have it."""
    if field.type in (str, int, float, bool, dict) and not shapes.is_of(value, field.type):
        return f"it is {field.type.__name__}, write such a value, or correct its type"
    if field.options and value not in field.options:
        return f"it takes {', '.join(map(repr, field.options))}{meant(str(value), field.options)}, write one of them"
    return None


def _labels(facet: Facet) -> Iterator[str]:
    for label in facet.labels:
        if not (subjects.check_state(label.phase) and subjects.check_state(label.condition or label.phase)):
            yield f"{_pair(label)} cannot be a state: write letters, digits, _ and - only"
        if label.phase in (ABSENT, DELETED):
            yield f"{label.phase} has a label in every kind: remove this one, or rename the phase"
        yield from _texts(label)
        if clash := {one.phase for one in facet.labels}.intersection(label.aliases):
            yield f"{_pair(label)} has the alias {min(clash)}, which is a phase: remove it"
    for pair in _twice([_pair(label) for label in facet.labels]):
        yield f"{pair} has two labels: remove one"


def _classes(facet: Facet) -> Iterator[str]:
    """Labels that say not what their state means, where nothing follows from the table."""
    for label in facet.labels:
        if label.state_class is None and derived(facet, label.phase, label.condition) is None:
            classes = ", ".join(map(repr, CLASSES))
            yield f"{_pair(label)} has no class, and none follows: say what it means by state_class=, one of {classes}"


def _texts(label: Label) -> Iterator[str]:
    if not label.en.strip():
        yield f"{_pair(label)} has no English label: write what consoles call it, for example {label.phase!r}"
    for tag in label.others:
        if tag.lower() == ENGLISH:
            yield f"{_pair(label)} has a second English label in others=: remove it, or write it as en"
        elif not is_tag(tag):
            near = f" (did you mean {as_tag(tag)}?)" if is_tag(as_tag(tag)) else ""
            yield f"{_pair(label)}: {tag!r} in others= is no language{near}: write a tag such as zh or pt-BR"


def _pair(label: Label) -> str:
    return label.phase if label.condition is None else f"{label.phase} [{label.condition}]"


def _twice(words: list[Any]) -> list[Any]:
    return [word for word in dict.fromkeys(words) if words.count(word) > 1]


def _triggers(table: Table) -> Iterator[str]:
    named: dict[str, list[Iterable[str]]] = {
        "intents": [table.intents],
        "derived": [table.derived],
        "fields": [table.fields],
        "carries": [table.carries],
        "cascades": [cascade.on for cascade in table.cascades],
        "fan_outs": [fan_out.on for fan_out in table.fan_outs],
        "interprets": [interpret.on for interpret in table.interprets],
        "replaced_by": [table.replaced_by or ()],
    }
    for place, groups in named.items():
        for trigger in dict.fromkeys(trigger for group in groups for trigger in group):
            if trigger not in table.triggers:
                near = meant(trigger, table.triggers)
                yield f"{place}: trigger {trigger} has no row{near}: add a row, or remove the trigger there"
    for trigger in filter(table.derived.__contains__, table.intents):
        yield f"trigger {trigger} is in `intents` and in `derived`: remove it from one of them"
    for trigger in table.triggers:
        if sum(row.trigger == trigger and row.to == FROM_DATA for facet in table.facets for row in facet.rows) > 1:
            yield f"trigger {trigger} has two rows to FROM_DATA, but data names one base: let one lead to a phase"
    for cascade in table.cascades:
        yield from (f"cascade {cascade.trigger}: {problem}" for problem in _cascade(table, cascade))
    for trigger in _twice([on for interpret in table.interprets for on in interpret.on]):
        yield f"interprets: the data of {trigger} is read by two rules: let one rule return all fields"


def _cascade(table: Table, cascade: Cascade) -> Iterator[str]:
    if cascade.trigger == OWNER_GONE and cascade.into == DELETED:
        yield "the engine fires it itself, at everything alive below an entity that becomes Deleted: remove the cascade"
    phases = {phase for facet in table.facets for phase in phases_of(facet)}
    for name, phase in (("into", cascade.into), ("then", cascade.then)):
        if phase is not None and phase not in phases:
            near = meant(phase, phases)
            yield f"phase {phase} in {name}= is unknown{near}: correct the name, or add a label for it"
    if not cascade.on and cascade.into is None:
        yield "it never fires: name the triggers (on=) or the phase to enter (into=) on which it fires"
    if cascade.unless is not None and not any(cascade.unless[0] in _fields(table, on) for on in cascade.on):
        yield f"field {cascade.unless[0]} in unless= is unknown: add it to `fields` of the trigger, or correct the name"
    if cascade.required and cascade.only_child is None:
        yield "required=True needs one child: name the attribute that names it with only_child="
    if cascade.targets is not None and (cascade.only_child is not None or cascade.data):
        yield "targets= names the entities and passes on the event's data: remove only_child= and data="
    if cascade.required and not cascade.on:
        yield "required=True needs an event that can be rejected: name the triggers with on="
    for name in filter(None, (cascade.only_child, *cascade.data.values())):
        if name not in {attribute.name for attribute in table.attributes}:
            yield no_attribute(name, table)


def _fields(table: Table, trigger: str) -> set[str]:
    """The names of the fields that the data of a trigger can have, beside those of every event."""
    rows = (row for facet in table.facets for row in facet.rows if row.trigger == trigger)
    assigned = {name for row in rows for name in table.assigned(row)}
    added = {field.name for interpret in table.interprets if trigger in interpret.on for field in interpret.fields}
    named = ("phase",) if trigger == REPORTED else ()
    return assigned.union(added, named, (field.name for field in table.fields.get(trigger, ())))


def _references(table: Table, facet: Facet) -> Iterator[str]:
    phases, pairs = phases_of(facet), {(label.phase, label.condition) for label in facet.labels}
    attributes = {attribute.name for attribute in table.attributes}
    yield from (f"{facet.name}: {problem}" for problem in _facet(facet, phases, pairs))
    yield from (f"{facet.name}: {problem}" for problem in _classes(facet))
    named = {facet.message_from, *(view.message_from for view in facet.views)} - {None, *attributes}
    yield from (f"{facet.name}, message_from: {no_attribute(str(name), table)}" for name in named)
    for word in ("evidence_from", "news_from"):
        if (name := getattr(facet, word)) not in {None, *attributes}:
            yield f"{facet.name}, {word}: {no_attribute(str(name), table)}"
    for word, name in facet.details.items():
        if word not in (known := [*phases, *sorted(condition for _, condition in pairs if condition)]):
            yield f"{facet.name}, details: {word} is no phase or condition{meant(word, known)}: correct the name"
        if name not in attributes:
            yield f"{facet.name}, details: {no_attribute(name, table)}"
    for number, row in enumerate(facet.rows, 1):
        where = f"{facet.name}, row {number} ({row.trigger})"
        yield from (f"{where}: {problem}" for problem in _sources(row, phases, pairs))
        yield from (f"{where}: {problem}" for problem in _row(facet, row, phases, pairs))
        if facet.name != SIGNALS:  # whose field the engine adds
            yield from (f"{where}: {problem}" for problem in _given(table, row))
        for name in sorted({*table.assigned(row), *row.forgets}.difference(attributes)):
            yield f"{where}: {no_attribute(name, table)}"
    for timeout in facet.timeouts:
        problems = _timeout(table, facet, timeout)
        yield from (f"{facet.name}, timeout of {timeout.phase}: {problem}" for problem in problems)
    for view in facet.views:
        yield from (f"{facet.name}, view {view.to}: {problem}" for problem in _view(facet, view, phases, pairs))
    yield from check_lines.problems(facet)


def _given(table: Table, row: Row) -> Iterator[str]:
    """The fields of data that a row asks for."""
    known = _fields(table, row.trigger)
    for name in sorted(set(row.given).difference(known)):
        near = meant(name, known)
        yield f"field {name} in given= is unknown{near}: add it to `fields` of the trigger, or correct the name"
    added = (field for interpret in table.interprets if row.trigger in interpret.on for field in interpret.fields)
    for field in (*table.fields.get(row.trigger, ()), *added, *table.attributes):
        value = row.given.get(field.name)
        if value is not None and (problem := unfit(field, value)):
            yield f"given= asks for {field.name} {value!r}, which it never is: {problem}"


def _facet(facet: Facet, phases: tuple[str, ...], pairs: Pairs) -> Iterator[str]:
    conditions = {condition for _, condition in pairs}
    for name, found in (("sticky", facet.sticky), ("own_reporter", facet.own_reporter), ("order", facet.order)):
        for condition in found:
            if condition not in conditions:
                near = meant(condition, conditions)
                yield f"condition {condition} in {name}= has no label{near}: add a label, or correct the name"
    for phase in facet.pending_phases:
        if phase not in phases or phase in (ABSENT, DELETED):
            yield f"phase {phase} in pending= is unknown{meant(phase, phases)}: correct the name, or add a label for it"
    if facet.accumulates_in is not None and facet.accumulates_in not in phases:
        near = meant(facet.accumulates_in, phases)
        yield f"phase {facet.accumulates_in} in accumulates_in= is unknown{near}: add a label, or correct the name"
    elif facet.accumulates_in is not None and facet.healthy not in phases:
        yield (
            f"phase {facet.healthy}, which follows {facet.accumulates_in} when its last condition is cleared, "
            f"is unknown{meant(facet.healthy, phases)}: name another phase with healthy="
        )


def _timeout(table: Table, facet: Facet, timeout: Timeout) -> Iterator[str]:
    if timeout.phase not in phases_of(facet) or timeout.phase in (ABSENT, DELETED):
        near = meant(timeout.phase, phases_of(facet))
        yield f"no state can last in phase {timeout.phase}{near}: name a phase that has a label"
    if sum(other.phase == timeout.phase for other in facet.timeouts) > 1:
        yield "this phase has two timeouts, but a facet has one timer: remove one"
    if timeout.trigger not in table.derived:
        near = meant(timeout.trigger, table.derived)
        yield f"trigger {timeout.trigger} is not derived{near}: add it to `derived`, and add a row for it"
    if not timeout.deadline and (timeout.seconds > 0) == (timeout.seconds_from is not None):
        yield (
            f"found seconds={timeout.seconds:g} and seconds_from={timeout.seconds_from!r}: "
            "write either seconds above 0, or the attribute that holds them"
        )
    if not timeout.times > 0:
        yield f"found times={timeout.times:g}: write a number above 0"
    named = next((field for field in table.attributes if field.name == timeout.seconds_from), None)
    if timeout.seconds_from is not None and (named is None or named.type not in (int, float)):
        near = meant(timeout.seconds_from, [field.name for field in table.attributes if field.type in (int, float)])
        yield f"{timeout.seconds_from} is not an attribute with a number{near}: add it to `attributes` as int or float"
    asked = {timeout.restart_on, timeout.repeat_after} - {None, *(field.name for field in table.attributes)}
    yield from (no_attribute(str(name), table) for name in asked)


def _sources(row: Row, phases: tuple[str, ...], pairs: Pairs) -> Iterator[str]:
    conditions = {condition for _, condition in pairs}
    if not row.source:
        yield "it has no source: name the phases from which it starts"
    for phase in (phase for source in row.source if isinstance(source, Live) for phase in source.but):
        if phase not in phases:
            yield f"phase {phase} in Live(but=...) is unknown{meant(phase, phases)}: correct the name"
    starts = [at for source in row.source for at in starts_of(source, phases)]
    for at in starts:
        if at.phase not in phases or (at.base or at.phase) not in phases:
            unknown = at.phase if at.phase not in phases else str(at.base)
            if unknown == DELETED:
                yield f"it starts from {DELETED}, but no row leads there: add such a row, or remove this source"
            else:
                near = meant(unknown, phases)
                yield f"it starts from {unknown}, which is unknown{near}: add a label for it, or correct the name"
    for condition in dict.fromkeys(condition for at in starts for condition in (at.has, *at.lacks)):
        if condition is not None and condition not in conditions:
            near = meant(condition, conditions)
            yield f"condition {condition} in its source has no label{near}: add a label, or correct the name"


def _ends_all(facet: Facet, phases: tuple[str, ...]) -> bool:
    """Whether rows end whatever lives below what is deleted. Rows before them may keep something of some of it."""
    plain = (row for row in facet.rows if row.trigger == OWNER_GONE and not row.when)
    starts = (at for row in plain for source in row.source for at in starts_of(source, phases))
    return {at.phase for at in starts if at == At(at.phase)} >= set(phases) - {ABSENT, DELETED}


def _row(facet: Facet, row: Row, phases: tuple[str, ...], pairs: Pairs) -> Iterator[str]:
    conditions = {condition for _, condition in pairs}
    timed = {timeout.trigger for timeout in facet.timeouts}
    if row.to not in (*phases, SAME, FROM_DATA):
        yield f"it leads to {row.to}, which is unknown{meant(row.to, phases)}: add a label for it, or correct the name"
    elif row.to not in (SAME, FROM_DATA, DELETED, ABSENT) and not row.condition and _needs_condition(facet, row.to):
        yield f"it leads to {row.to}, which has several conditions: choose one with condition="
    if row.trigger == OWNER_GONE and (row.to != DELETED or row.given or not _ends_all(facet, phases)):
        yield f"nothing lives below what is deleted: write Row((LIVE,), {OWNER_GONE!r}, DELETED), or leave the row out"
    if row.to == ABSENT:
        yield f"it leads to {ABSENT}, but an entity that was known stays known: write {DELETED}"
    if row.condition and (row.to, row.condition) not in pairs:
        near = meant(row.condition, [condition for phase, condition in sorted(pairs, key=str) if phase == row.to])
        yield f"it leads to {row.to} [{row.condition}], which has no label{near}: add a label, or correct the name"
    for name, found in (("sets", (row.sets,)), ("clears", row.clears)):
        for condition in filter(None, found):
            if condition not in conditions:
                near = meant(condition, conditions)
                yield f"condition {condition} in {name}= has no label{near}: add a label, or correct the name"
    if row.sets and row.sets not in facet.sticky and row.trigger not in timed:
        yield f"it sets {row.sets}, which is not sticky: add it to `sticky` of the facet"


def _view(facet: Facet, view: View, phases: tuple[str, ...], pairs: Pairs) -> Iterator[str]:
    for name, found in (("to", (view.to,)), ("base", view.base), ("unless", view.unless)):
        for phase in found:
            if phase not in phases:
                yield f"phase {phase} in {name}= is unknown{meant(phase, phases)}: add a label, or correct the name"
    if view.to in (ABSENT, DELETED):
        yield "a live entity would be shown as one that is not: show a phase that has a label"
    elif view.condition and (view.to, view.condition) not in pairs:
        yield f"{view.to} [{view.condition}] has no label: add a label, or correct the name"
    elif not view.condition and view.to in phases and _needs_condition(facet, view.to):
        yield f"{view.to} has several conditions: choose one with condition="
    for condition in view.keeps if isinstance(view.keeps, tuple) else ():
        if condition not in {label_condition for _, label_condition in pairs}:
            near = meant(condition, [label_condition for _, label_condition in pairs])
            yield f"condition {condition} in keeps= has no label{near}: add a label, or correct the name"
    if not view.while_ and not view.base:
        yield "it always shows, so the base is never seen: add predicates, name its base=, or write rows in its place"
    for later in facet.views[facet.views.index(view) + 1 :] if not view.while_ else ():
        if not set(later.base or phases).difference(view.base, (ABSENT, DELETED)):
            yield f"it has no predicates, so the view {later.to} after it never shows: move this view below that one"


def _needs_condition(facet: Facet, phase: str) -> bool:
    """Whether a row or view to the phase must name a condition: the phase has several."""
    return own_condition(facet, phase) is None and not stands_alone(facet, phase)
