"""The command `changes`: what differs between two moments.

Belongs here: its options, and the layout of changes. Does not: finding them (`phaseline.engine.log.changes`).
"""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

import click

from phaseline.engine.cells.one_cell import InCell
from phaseline.engine.cli import cells, names, options, render, selection, terminal
from phaseline.engine.cli.cells import Installations
from phaseline.engine.cli.help import Page
from phaseline.engine.cli.layout import ALWAYS, Column, Grid, Row
from phaseline.engine.cli.output import Output
from phaseline.engine.cli.styled import Text, width_of
from phaseline.engine.client import maps
from phaseline.engine.client.selection import Selector, by_field
from phaseline.engine.log.changes import Change
from phaseline.engine.log.when import A_MOMENT, When
from phaseline.machines.compiler.kinds import Kinds
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
@click.option("--from", "start", type=options.WhenType(), required=True, metavar="MOMENT",
              help=f"The earlier moment: {A_MOMENT}.")  # fmt: skip
@click.option("--to", "end", type=options.WhenType(), metavar="MOMENT", help="The later moment.  [default: now]")
@click.option("--tree", type=names.ID, metavar="ID", help="Only this entity and everything below it.")
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
        async with installations.opened() as reading:
            await reading.tell_archived(start)
            read = await reading.each(lambda client: client.changes(start, end, tree=tree, kind=kind))
            selector.check(reading.kinds, kind)
            every = [InCell(cell, change) for cell, changes in read for change in changes]
            found = [one for one in every if selector.selects(one.value)] if selector.requirements else every
            if sort_by is not None:
                found = by_field(found, sort_by, {name: partial(_value, field) for name, field in FIELDS.items()})
            elif installations.cells:
                found.sort(key=lambda one: (natural(one.value.id), one.value.kind))
            if output.is_data:
                for cell, change in found:
                    output.show(cells.named(cell, maps.change_map(change)), f"{change.kind}/{change.id}")
                return reading.end(output)
            if found:
                output.table(table(reading.kinds, found, installations.cells, wide=output.is_wide))
                output.flush()
            terminal.say(summary(found))
            return reading.end(output)

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


def table(kinds: Kinds, found: Sequence[InCell[Change]], names: Collection[str] = (), *, wide: bool = False) -> Grid:
    """Changes in rows; flaps are in red. names: of the cells, if there are several. wide: with all columns."""
    columns = [
        *([Column("CELL", known=[*map(width_of, names)])] if names else []),
        Column("KIND", worth=70),
        Column("ID", ALWAYS, known=[width_of(one.value.id) for one in found]),
        Column("CHANGE", worth=90),
        Column("FROM", worth=60, may_cut=True, least=20),
        Column("TO", worth=80, may_cut=True, least=20),
        Column("TRANSITIONS", worth=20),
        Column("FLAPS", worth=50),
        Column("LAST", worth=40),
        *([Column("FIRST")] if wide else []),
    ]
    described = render.Described(kinds, ENGLISH)
    return Grid(columns, (_row(described, one, wide=wide) for one in found))


def _row(described: render.Described, one: InCell[Change], *, wide: bool) -> Row:
    change = one.value
    what = change.what
    return (
        *([render.word(one.cell)] if one.cell else ()),
        render.word(change.kind),
        render.text_of(change.id),
        render.word(what, COLOURS[what]),
        _states(described, change, change.before),
        _states(described, change, change.after),
        render.word(f"{change.transitions:,}"),
        render.word(f"{change.flaps:,}", "red") if change.flaps else render.NOTHING,
        Text(render.local_time(change.last_ns), "bright_black"),
        *([Text(render.local_time(change.first_ns), "bright_black")] if wide else ()),
    )


def _states(described: render.Described, change: Change, states: dict[str, State] | None) -> Text:
    if states is None:
        return render.word("unknown", "bright_black")
    return described[change.kind, tuple(states), tuple(states.values())][0]
