"""Tables as sections of plain text, the same for a terminal and for a page.

Belongs here: the sections of a kind, their columns and cells. Does not: the phrases in the cells (`wording`),
the syntax and colours of a format (`markdown`, `mermaid`, the command's terminal).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from phaseline.machines.compiler.classes.state_classes import class_of_label
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.docs import wording
from phaseline.machines.language.language_tags import ENGLISH
from phaseline.machines.language.predicates import or_list
from phaseline.machines.language.table import ADOPTED, Facet, Table
from phaseline.schemas.records import State

TRIGGER, ROLE = "trigger", "role"
YES_NO = {True: "yes", False: "no", None: ""}


class Section(NamedTuple):
    """A table on a page. Each of `rows` has a cell for each of `columns`; `notes` are sentences below the table.

    facet: the facet that it belongs to; empty if it belongs to the kind, or if the kind has one facet only.
    """

    title: str
    facet: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def heading(kind: Kind) -> str:
    """`node_pool: id <cluster>/<pool>`."""
    return f"{kind.name}: id {wording.id_shape(kind.table.id)}"


def sections(kind: Kind) -> tuple[Section, ...]:
    """All sections of a kind, without those that have no rows."""
    found: list[Section] = []
    table = kind.table
    for facet in table.facets:
        name = facet.name if len(table.facets) > 1 else ""
        found += [_states(name, facet), _rows(name, table, facet), _views(name, facet), _timeouts(name, facet)]
        found.append(_retired(name, facet))
    found += [
        _reports(kind),
        _cascades(kind),
        _fan_outs(table),
        _on_tally(table),
        _attributes(table),
        _fields(table),
        _interprets(table),
    ]
    return tuple(section for section in found if section.rows)


def _states(name: str, facet: Facet) -> Section:
    others = sorted({tag for label in facet.labels for tag in label.others})
    rows = [
        (label.phase, label.condition or "", label.en, *(label.others.get(tag, "") for tag in others),
         YES_NO[label.schedulable], class_of_label(facet, label))
        for label in facet.labels
    ]  # fmt: skip
    columns = ("phase", "condition", ENGLISH, *others, "schedulable", "class")
    return _section("states", columns, rows, name, wording.notes(facet))


def _rows(name: str, table: Table, facet: Facet) -> Section:
    rows = [
        (
            row.trigger,
            table.role(row.trigger),
            wording.sources(row),
            wording.data(row),
            wording.becomes(facet, row),
            wording.guards(row),
        )
        for row in facet.rows
    ]
    return _section("rows", (TRIGGER, ROLE, "from", "data", "base becomes", "only while"), rows, name)


def _views(name: str, facet: Facet) -> Section:
    rows = [(wording.shows(facet, view), wording.while_(view)) for view in facet.views]
    return _section("views", ("shows", "while"), rows, name)


def _timeouts(name: str, facet: Facet) -> Section:
    rows = [(timeout.phase, wording.duration(timeout), timeout.trigger) for timeout in facet.timeouts]
    return _section("timeouts", ("in phase", "for", "fires at itself"), rows, name)


def _retired(name: str, facet: Facet) -> Section:
    rows = [
        (
            str(State(one.phase, (one.has,) if one.has else ())),
            str(State(one.to, (one.condition,) if one.condition else ())),
        )
        for one in facet.retired
    ]
    return _section("retired states", ("a state of earlier tables", "its entities go to"), rows, name)


def _reports(kind: Kind) -> Section:
    found = () if kind.judge is None else kind.judge.pending_phases()
    rows = [(one.phase, ", ".join(one.taken), ", ".join(one.held)) for one in found]
    columns = ("in pending phase", "reports that are taken", "reports that are held to be older than the request")
    notes = ("A report that is held to be older is taken if its `seen` is at or above `asked` of the entity.",)
    return _section("reports", columns, rows, notes=notes)


def _cascades(kind: Kind) -> Section:
    cascades = (*kind.table.cascades, *kind.implied)
    rows = [(wording.fires_on(cascade), cascade.trigger, wording.targets(cascade)) for cascade in cascades]
    return _section("cascades", ("on", "fires", "at"), rows)


def _fan_outs(table: Table) -> Section:
    rows = [
        (or_list(fan_out.on), ", ".join(fan_out.triggers), f"every {fan_out.at}", wording.summary(fan_out.rule))
        for fan_out in table.fan_outs
    ]
    return _section("fan-outs", ("on", "fires one of", "at", "rule"), rows)


def _on_tally(table: Table) -> Section:
    rows = [(one.when.text(), one.trigger) for one in table.on_tally]
    return _section("on-tally triggers", ("as soon as", "fires at itself"), rows)


def _attributes(table: Table) -> Section:
    rows = [(field.name, wording.value_of(field), wording.meaning(field)) for field in table.attributes]
    return _section("attributes", ("attribute", "value", "meaning"), rows)


def _fields(table: Table) -> Section:
    rows = [
        (trigger, f"data.{field.name}", wording.value_of(field), field.doc)
        for trigger, fields in table.fields.items()
        for field in fields
    ]
    return _section("fields of data", (TRIGGER, "field", "value", "meaning"), rows)


def _interprets(table: Table) -> Section:
    rows = [
        (or_list(one.on), ", ".join(field.name for field in one.fields), wording.summary(one.rule))
        for one in table.interprets
    ]
    return _section("interpretations", ("data of", "gets the fields", "rule"), rows)


def _section(
    title: str, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]], facet: str = "", notes: Sequence[str] = ()
) -> Section:
    """A section without the columns that are empty in every row."""
    kept = [index for index in range(len(columns)) if any(row[index] for row in rows)]
    return Section(
        title,
        facet,
        tuple(columns[index] for index in kept),
        tuple(tuple(row[index] for index in kept) for row in rows),
        tuple(notes),
    )


def remarks(kind: Kind) -> Iterator[str]:
    """The sentences that stand before the sections of a kind."""
    table = kind.table
    if table.doc:
        yield table.doc
    if table.parent:
        yield f"Its parent is the {table.parent} `{wording.id_shape(table.id[: kind.parent_arity])}`."
    if table.replaced_by is None:
        yield "Its id is a declared place: the identity of what stands there (`uid`) is only shown."
    elif table.replaced_by:
        yield f"Another identity (`uid`) in {or_list(table.replaced_by)} begins a new life."
    if table.known_by == "itself":
        yield f"Events below an unknown {table.kind} are rejected."
        return
    event = "event" if table.known_by == "anything" else "observation"
    own = table.facets[: kind.own]
    if table.known_by == "anything" or any(facet.adopted != ADOPTED for facet in own):
        bases = (f"{facet.adopted} ({facet.name})" if len(own) > 1 else str(facet.adopted) for facet in own)
        yield f"An {event} below an unknown {table.kind} adopts it as {' and '.join(bases)}."
