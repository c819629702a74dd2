"""Adds to a table what every kind has for reports: the observation of a whole state, and deletions without a request.

The rules are in docs/reports.md.
Belongs here: the rows and fields that the compiler adds, all fields of a trigger, the checks of pending phases. Does
not: whether one report is taken (`judging`).
"""

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from phaseline.machines.compiler import relations
from phaseline.machines.compiler.conditions import aliases_of, phases_of, returns, starts_of
from phaseline.machines.compiler.machine import INTERRUPTED
from phaseline.machines.compiler.relations import path
from phaseline.machines.language.fields import Attributes, RuleEvent, reason_and_message
from phaseline.machines.language.rules import rule
from phaseline.machines.language.table import (
    ABSENT,
    DELETED,
    FROM_DATA,
    LIVE,
    REPORTED,
    SAME,
    Facet,
    Field,
    Live,
    Row,
    Table,
)
from phaseline.schemas.records import CONTACT, SIGNALS
from phaseline.schemas.value import Value

UNREQUESTED = "deleted"
"""The observation that an entity is gone, which may come without a request."""
SNAPSHOT = "snapshot"
"""The observation of all that a reporter sees below an entity."""
RECENT = "recent"
"""A field that the engine adds to the data of both: whether the reporter has seen the last request."""
PHASE, CONDITIONS, SEEN = "phase", "conditions", "seen"
"""Fields of a report."""
STAYED = "stayed"
"""A field that the engine adds to the data of a report, a tuple: the conditions that it left alone."""
ABOUT = "about"
"""The field of a report that names its scope: the conditions that it speaks of."""
_SCOPE = "the conditions that it speaks of: of these, those that it does not name are cleared, and no others"
CONFIRM = "confirm"
"""The field of a snapshot that releases the brake."""
ITEMS = (
    Field(
        "items",
        dict,
        "what is there: `id` below this entity, `phase`, `conditions`, `about`, `attributes`",
        many=True,
        required=True,
    ),
    Field(ABOUT, str, f"for all items that do not say it: {_SCOPE}", many=True),
    Field("after", str, "the snapshot speaks of ids above this one only, in byte order"),
    Field("upto", str, "the snapshot speaks of ids up to this one only, in byte order"),
    Field(CONFIRM, bool, "whether to end what is not listed even if that is more than the brake allows; needs `seen`"),
)
ANSWERS = "answers"
"""The field of an observation that names the request which it answers."""
ANSWERS_FIELD = Field(
    ANSWERS, int, "the `cause.sequence` of the request that it answers; left out, of the last one", least=0
)
SEEN_FIELD = Field(SEEN, int, "the highest `cause.sequence` that the reporter has read in this tree", default=0)


@rule("phaseline.report_reason", revision=1)
class ReportReason(Value, frozen=True):
    """Keeps what a report says of its phase as the reason; a reason of an earlier phase ends.

    attribute: the one that holds the reason.
    """

    attribute: str

    def __call__(self, attributes: Attributes, event: RuleEvent) -> Attributes:
        """The attributes after the report."""
        if event.data.get(self.attribute) is not None:
            return attributes
        said = reason_and_message(event)
        if not said and self.attribute not in attributes:
            return attributes
        return {**{name: value for name, value in attributes.items() if name != self.attribute}, **self._kept(said)}

    def _kept(self, said: str) -> Attributes:
        return {self.attribute: said} if said else {}


def with_reports(table: Table, below: tuple[str, ...] = ()) -> Table:
    """The table with the rows and fields for reports. `below`: the kinds below it that have the observation."""
    facets, fields = table.facets, dict(table.fields)
    if takes_reports(table):
        facets = tuple(
            facet if facet.name in (CONTACT, SIGNALS) else replace(facet, rows=tuple(_rows(table, index, facet)))
            for index, facet in enumerate(facets)
        )
        for trigger in sorted(frozenset((REPORTED,)).union(*about_ends(replace(table, facets=facets)))):
            fields[trigger] = (SEEN_FIELD, *fields.get(trigger, ()))
    for trigger in answering(table):
        fields[trigger] = (*fields.get(trigger, ()), ANSWERS_FIELD)
    if below:
        facets = (replace(facets[0], rows=(*facets[0].rows, Row((LIVE,), SNAPSHOT, SAME))), *facets[1:])
        fields[SNAPSHOT] = (Field("kind", str, "the kind of the items", below, required=True), *ITEMS, SEEN_FIELD)
    return replace(table, facets=facets, fields=fields)


def check_names(table: Table, below: tuple[str, ...]) -> None:
    """Raise `WrongTable` if a trigger of the table has the name of an observation that the compiler adds."""
    taken = [(REPORTED, takes_reports(table) and table.role(REPORTED) != "observation"), (SNAPSHOT, bool(below))]
    says = "{0} is the observation of every kind that {1}: give the trigger of this table another name"
    why = {REPORTED: "has observations", SNAPSHOT: "stands above such kinds"}
    problems = [says.format(name, why[name]) for name, clashes in taken if clashes and name in table.triggers]
    problems += _wrong_rows(table)
    if problems:
        from phaseline.machines.compiler.checks import WrongTable  # noqa: PLC0415  # most tables were checked before

        raise WrongTable(table.kind, problems)


def _wrong_rows(table: Table) -> Iterator[str]:
    """What is wrong with the table's own rows for the report of one phase. The first facet alone takes them."""
    for index, facet in enumerate(table.facets):
        for row in (row for row in facet.rows if row.trigger == REPORTED and row.given.get(PHASE) is not None):
            where = f"{facet.name}: the row for {REPORTED} with {PHASE} {row.given[PHASE]}"
            if index > 0:
                yield f"{where}: a report speaks of the first facet, {table.facets[0].name}: write the row there"
            if row.to != SAME and (row.to == FROM_DATA or row.given[PHASE] != DELETED):
                yield f"{where} leads to {row.to}: only what {DELETED} means can be another phase: lead to {SAME}"
            if row.assigns or row.forgets or row.computes is not None:
                yield f"{where} changes attributes: leave out `assigns`, `forgets` and `computes`"


def takes_reports(table: Table) -> bool:
    """Whether a kind has the observation `reported`: whether it has any observation."""
    return any(table.role(trigger) == "observation" for trigger in table.triggers)


def reported_below(table: Table, named: Mapping[str, Table]) -> tuple[str, ...]:
    """The kinds below a kind that have the observation `reported`."""
    return tuple(name for name, one in named.items() if takes_reports(one) and any(path(named, table.kind, name)))


def about_ends(table: Table) -> tuple[frozenset[str], frozenset[str]]:
    """The observations, beside reports, that say that an entity is gone; and those that name its state."""
    observed = [row for row in table.facets[0].rows if table.role(row.trigger) == "observation"]
    return frozenset(relations.ending(observed)), frozenset(row.trigger for row in observed if row.to == FROM_DATA)


def reporting(table: Table, below: Iterable[str]) -> frozenset[str]:
    """The observations that are held against what their entity is and was asked for."""
    found = {REPORTED: takes_reports(table), UNREQUESTED: is_widened(table), SNAPSHOT: any(below)}
    return frozenset(trigger for trigger, holds in found.items() if holds)


def is_widened(table: Table) -> bool:
    """Whether `deleted` is legal from further phases: pending phases are named, and `deleted` only ends the entity."""
    rows = [row for facet in table.facets for row in facet.rows if row.trigger == UNREQUESTED]
    named = any(facet.pending for facet in table.facets) and table.role(UNREQUESTED) == "observation"
    return named and bool(rows) and all(row.to == DELETED for row in rows)


def answering(table: Table) -> tuple[str, ...]:
    """The observations that can be the answer to a request: they start from a pending phase, or name a whole state."""
    found = [REPORTED] if takes_reports(table) and any(facet.pending for facet in table.facets) else []
    for facet in table.facets:
        phases, pending = phases_of(facet), set(facet.pending_phases)
        for row in facet.rows:
            starts = {at.phase for source in row.source for at in starts_of(source, phases)}
            if pending.intersection(starts) and table.role(row.trigger) == "observation":
                found.append(row.trigger)
    return tuple(dict.fromkeys(found))


def arriving(table: Table, facet: Facet) -> tuple[str, ...]:
    """The pending phases in which an entity waits to come into being: an intent leads there from nothing."""
    born = {row.to for row in facet.rows if row.trigger in table.intents and ABSENT in row.source}
    return tuple(phase for phase in facet.pending_phases if phase in born)


def leaving(table: Table, facet: Facet) -> tuple[str, ...]:
    """The pending phases in which an entity waits for its end: observations lead from there to nothing else."""
    phases, to = phases_of(facet), dict[str, set[str]]()
    for row in (row for row in facet.rows if table.role(row.trigger) == "observation"):
        for at in (at for source in row.source for at in starts_of(source, phases)):
            to.setdefault(at.phase, set()).add(row.to)
    beside = {SAME, facet.accumulates_in}
    return tuple(phase for phase in facet.pending_phases if to.get(phase, set()) - beside == {DELETED})


def _rows(table: Table, index: int, facet: Facet) -> Iterator[Row]:
    """The rows of a facet, and after them those for reports.

    A row of the table for `reported` is for no `phase`, or for the one that it names in `given`.
    """
    for row in facet.rows:
        yield replace(row, given={PHASE: None, **row.given}) if row.trigger == REPORTED else row
    if is_widened(table):
        yield from _widened(table, facet)
    unborn = (ABSENT, DELETED) if is_adoptable(table) else ()
    if index == 0:
        keeps = None if facet.message_from is None else ReportReason(facet.message_from)
        yield Row((*unborn, LIVE), REPORTED, FROM_DATA, assigns=observed_attributes(table), computes=keeps)
    elif unborn:
        yield Row(unborn, REPORTED, facet.adopted.phase, condition=next(iter(facet.adopted.conditions), None))
    yield Row((LIVE,), REPORTED, DELETED, given={PHASE: DELETED})


def is_adoptable(table: Table) -> bool:
    """Whether a report makes an unknown entity known: every facet but the first names a base to begin with."""
    return all(
        any(
            (label.phase, label.condition) == (facet.adopted.phase, next(iter(facet.adopted.conditions), None))
            for label in facet.labels
        )
        for facet in table.facets[1:]
        if facet.name not in (CONTACT, SIGNALS)
    )


def _widened(table: Table, facet: Facet) -> Iterator[Row]:
    phases = phases_of(facet)
    rows = [row for row in facet.rows if row.trigger == UNREQUESTED]
    asked = {at.phase for row in rows for source in row.source for at in starts_of(source, phases)}
    waiting = tuple(phase for phase in arriving(table, facet) if phase not in asked)
    but = tuple(phase for phase in phases if (phase in asked or phase in waiting) and phase not in (ABSENT, DELETED))
    if len(but) < sum(phase not in (ABSENT, DELETED) for phase in phases):
        yield Row((Live(but=but),), UNREQUESTED, DELETED)
    if waiting:
        yield Row(waiting, UNREQUESTED, DELETED, given={RECENT: True})


def observed_attributes(table: Table) -> tuple[str, ...]:
    """The attributes that observations of this kind may set. A report may set them too."""
    rows = (row for facet in table.facets for row in facet.rows if table.role(row.trigger) == "observation")
    found = {name for row in rows for name in table.assigned(row)}
    found |= {facet.name for facet in table.facets if facet.name == SIGNALS}
    return tuple(attribute.name for attribute in table.attributes if attribute.name in found and attribute.name != SEEN)


def fields_of(table: Table, trigger: str) -> tuple[Field, ...]:
    """The fields that the data of an event may have beside `COMMON`. Nothing reads any other field."""
    rows = [(facet, row) for facet in table.facets for row in facet.rows if row.trigger == trigger]
    assigned = {name for _, row in rows for name in table.assigned(row)}
    attributes = tuple(field for field in table.attributes if field.name in assigned)
    named: tuple[Field, ...] = ()
    for facet in (facet for facet, row in rows if row.to == FROM_DATA):
        ends = (ABSENT,) if trigger == REPORTED else (ABSENT, DELETED)
        phases = tuple(phase for phase in phases_of(facet) if phase not in ends)
        required = all(row.given.get(PHASE, "") is not None for _, row in rows)
        conditions = tuple(dict.fromkeys(label.condition for label in facet.labels if label.condition is not None))
        named = (
            Field("phase", str, "the phase it is in", (*phases, *aliases_of(facet)), required=required),
            Field(
                "conditions",
                str,
                "its conditions, in order of arrival; the phase's own where left out",
                conditions,
                many=True,
            ),
        )
        if conditions:
            named += (Field(ABOUT, str, _SCOPE, conditions, many=True),)
        if back := tuple(returns(facet)):
            doc = f"the phase that the causes of {facet.accumulates_in} interrupted; it comes back after the last"
            named += (Field(INTERRUPTED, str, doc, back),)
    return (*named, *table.fields.get(trigger, ()), *attributes)
