"""The command `changes`: what differs between two moments.

Belongs here: its options, and the layout of changes. Does not: finding them (`phaseline.engine.log.changes`).
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import click

from phaseline.engine.log.changes import Change
from phaseline.engine.log.questions.selector import Selector
from phaseline.engine.log.when import A_MOMENT, When
from phaseline.engine.surfaces.cells.reading import InCell
from phaseline.engine.surfaces.cli import cells, names, options, render, selection, similar_ids, terminal, undecided
from phaseline.engine.surfaces.cli.cells import Installations
from phaseline.engine.surfaces.cli.help import Page
from phaseline.engine.surfaces.cli.layout import WIDE, Column
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.cli.styled import Text
from phaseline.engine.surfaces.client import maps
from phaseline.engine.surfaces.client.selection import by_field
from phaseline.machines.language.language_tags import ENGLISH
from phaseline.schemas.records import State
from phaseline.schemas.subjects import natural

COLOURS = {
    "created": "green",
    "gone": "bright_black",
    "changed": "yellow",
    "same again": "",
    "came and went": "bright_black",
}


FIELDS: dict[str, Callable[[Change], Any]] = {
    "kind": lambda change: change.kind,
    "id": lambda change: change.id,
    "change": lambda change: change.what,
    "transitions": lambda change: change.transitions,
    "flaps": lambda change: change.flaps,
    "first": lambda change: change.first_ns,
    "last": lambda change: change.last_ns,
}
"""What changes can be sorted by."""


@click.command(
    cls=Page,
    examples=[
        ("phaseline changes --from 2h", "changes of the last two hours"),
        ("phaseline changes --from 03:00 --to 03:30 --tree c1", "half an hour, in one tree"),
        ("phaseline changes --from 1d -l default=true --sort-by flaps", "default pools, those that flap most last"),
        ("phaseline changes --from 1d --json | jq 'select(.flaps > 3)'", "entities that flap"),
    ],
)
@click.option("--from", "start", type=options.WHEN, default="1h", show_default=True,
              help=f"The earlier moment: {A_MOMENT}.")  # fmt: skip
@click.option("--to", "end", type=options.WHEN, help="The later moment.  [default: now]")
@names.tree
@click.option("--kind", type=names.KIND, metavar="KIND", help="Only this kind.")
@selection.selector
@selection.sort_by_column(FIELDS, "by id")
@cells.reading
@options.output("json", "yaml", "wide", "name")
def changes(
    installations: Installations, *, start: When, end: When | None, tree: str | None, kind: str | None,
    selector: Selector, sort_by: str | None, output: Output,
) -> int | None:  # fmt: skip
    """Show what differs between two moments: the entities, their states, and how often they changed in between.

    A flap is a return to a phase that the entity had left in between. "same again" is an entity that changed and is
    back in its first state. "came and went" is an entity that was created and deleted in between.

    -l selects by the attributes after the last change. A line counts all changes of an entity, so the first one is
    printed after the last record was read; `phaseline watch --from 2h --no-follow` prints each record as it is read.

    With --cell, show the changes of several installations, each with the name of its cell.
    """
    for param, when in (("--from", start), ("--to", end)):
        installations.check_common(param, when)

    async def work() -> int:
        kinds = installations.kinds
        async with installations.reading(tree, end) as reading:
            await undecided.tell_archived(await reading.clients(), start)
            await similar_ids.tell_absent(await reading.clients(), tree)
            read = await reading.each(lambda client: client.changes(start, end, tree=tree, kind=kind))
            selector.check(kinds, kind)
            every = [InCell(cell, change) for cell, changes in read for change in changes]
            found = [one for one in every if selector.selects(one.value)] if selector.requirements else every
            if sort_by is not None:
                found = by_field(found, sort_by, {name: partial(_value, field) for name, field in FIELDS.items()})
            else:
                found = reading.in_order(found, lambda one: (natural(one.value.id), one.value.kind))
            if output.is_data:
                for cell, change in found:
                    output.show(cells.named(cell, maps.change_map(change)), f"{change.kind}/{change.id}")
                return cells.end(reading, output)
            described = render.Described(kinds, ENGLISH)
            output.table(COLUMNS, (ChangeRow(described, *one) for one in found))
            output.flush()
            terminal.say(summary(found))
            return cells.end(reading, output)

    return terminal.run(work())


def _value(field: Callable[[Change], Any], one: InCell[Change]) -> Any:
    return field(one.value)


def summary(found: Sequence[InCell[Change]]) -> str:
    """The changes in numbers: `3 changed, 1 created, 2 the same again`."""
    counts = Counter(one.value.what for one in found)
    text = ", ".join(
        f"{count:,} {'the same again' if what == 'same again' else what}" for what, count in counts.most_common()
    )
    return text or "no changes"


class ChangeRow(NamedTuple):
    """A change in the table, and the cell of the entity; empty where there is one installation."""

    described: render.Described
    cell: str
    change: Change

    def states(self, found: Mapping[str, State] | None) -> Text:
        """The states of all facets; `new` before it was there."""
        if found is None:
            return render.NEW
        return self.described[self.change.kind, tuple(found), tuple(found.values())][0]


def _flaps(change: Change) -> Text:
    return render.word(f"{change.flaps:,}", "red") if change.flaps else render.NOTHING


def _time(time_ns: int) -> Text:
    return Text(render.local_time(time_ns), "bright_black")


COLUMNS: Final[tuple[Column[ChangeRow], ...]] = (
    Column("CELL", lambda row: render.word(row.cell)),
    Column("KIND", lambda row: render.word(row.change.kind), worth=60),
    Column("ID", lambda row: Text(row.change.id)),
    Column("CHANGE", lambda row: render.word(row.change.what, COLOURS[row.change.what]), worth=90),
    Column("FROM", lambda row: row.states(row.change.before), worth=70, wraps=True),
    Column("TO", lambda row: row.states(row.change.after), wraps=True),
    Column("TRANSITIONS", lambda row: render.word(f"{row.change.transitions:,}"), worth=20),
    Column("FLAPS", lambda row: _flaps(row.change), worth=80),
    Column("LAST", lambda row: _time(row.change.last_ns), worth=40),
    Column("FIRST", lambda row: _time(row.change.first_ns), WIDE),
)
