"""Tables laid out for people: the same sections for a terminal and for a page (docs/spec).

Belongs here: which sections a kind has, their columns and cells, all plain text. Does not: the phrases in the cells
(`wording`), marks and colours of a format (`markdown`, `mermaid`, the command's terminal).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.docs import wording
from phaseline.machines.language.table import ADOPTED, Facet, Table

TRIGGER, ROLE = "trigger", "role"
SAID = {True: "yes", False: "no", None: ""}


class Section(NamedTuple):
    """A table on a page. `rows` are as wide as `columns`; `notes` are sentences that go below it.

    facet: whose it is, where a kind has several; empty where it is the whole kind's.
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
    """Everything a kind's table says, in the order of the spec's pages; sections without rows are left out."""
    found: list[Section] = []
    for facet in kind.table.facets:
        name = facet.name if len(kind.table.facets) > 1 else ""
        found += [_states(name, facet), _rows(name, kind.table, facet), _views(name, facet), _timers(name, facet)]
    found += [_fired(kind.table), _reached(kind.table), _attributes(kind.table), _fields(kind.table), _read(kind.table)]
    return tuple(section for section in found if section.rows)


def _states(name: str, facet: Facet) -> Section:
    rows = [(label.phase, label.condition or "", label.zh, label.en, SAID[label.schedulable]) for label in facet.labels]
    columns = ("phase", "own condition", "zh", "en", "schedulable")
    return _section("states", columns, rows, name, wording.collecting(facet))


def _rows(name: str, table: Table, facet: Facet) -> Section:
    rows = [
        (
            row.trigger,
            table.role(row.trigger),
            wording.starts(row),
            wording.data(row),
            wording.becomes(facet, row),
            wording.needs(row),
        )
        for row in facet.rows
    ]
    return _section("rows", (TRIGGER, ROLE, "from", "data", "base becomes", "only while"), rows, name)


def _views(name: str, facet: Facet) -> Section:
    rows = [(wording.shown(facet, view), wording.while_(view)) for view in facet.views]
    return _section("views", ("view (first that holds)", "while"), rows, name)


def _timers(name: str, facet: Facet) -> Section:
    rows = [(after.phase, wording.lasting(after), after.trigger) for after in facet.timeouts]
    return _section("timers", ("having been in", "for", "fires at itself"), rows, name)


def _fired(table: Table) -> Section:
    rows = [(wording.firing(fired), fired.trigger, wording.targets(fired)) for fired in table.cascades]
    rows += [wording.telling(told) for told in table.fan_outs]
    return _section("fired downward", ("fired downward on", "trigger", "at"), rows)


def _reached(table: Table) -> Section:
    rows = [(wording.reaching(reached), reached.trigger) for reached in table.on_tally]
    return _section("fired at itself", ("fired at itself", "trigger"), rows)


def _attributes(table: Table) -> Section:
    rows = [(field.name, wording.takes(field), field.doc) for field in table.attributes]
    return _section("attributes", ("attribute", "holds", "says"), rows)


def _fields(table: Table) -> Section:
    rows = [
        (trigger, f"data.{field.name}", wording.takes(field), field.doc)
        for trigger, fields in table.fields.items()
        for field in fields
    ]
    return _section("data of events", (TRIGGER, "field", "holds", "says"), rows)


def _read(table: Table) -> Section:
    rows = [wording.reading(read) for read in table.interprets]
    return _section("data that is read", ("data of", "becomes the words", "that are"), rows)


def _section(
    title: str, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]], facet: str = "", notes: Sequence[str] = ()
) -> Section:
    """A section without the columns in which no row says anything."""
    kept = [index for index in range(len(columns)) if any(row[index] for row in rows)]
    return Section(
        title,
        facet,
        tuple(columns[index] for index in kept),
        tuple(tuple(row[index] for index in kept) for row in rows),
        tuple(notes),
    )


def remarks(kind: Kind) -> Iterator[str]:
    """What a page says of a kind before its sections."""
    table = kind.table
    if table.doc:
        yield table.doc
    if table.parent:
        yield f"Its parent is the {table.parent} that its id begins with."
    if table.known_by == "itself":
        yield "What is below one that is unknown is rejected."
        return
    said = "Whatever is said of something" if table.known_by == "anything" else "An observation of something"
    for facet in table.facets:
        if facet.adopted != ADOPTED or table.known_by == "anything":
            of = f", {facet.name}" if len(table.facets) > 1 else ""
            yield f"{said} below one that is unknown adopts it as {facet.adopted}{of}."
