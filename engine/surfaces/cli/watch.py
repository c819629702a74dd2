"""The command `watch`: the records of the log, one line each.

Belongs here: its options; printing the records of a `Watch`. Does not: reading the log (`phaseline.engine.log.watch`).
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any

import click

from phaseline.engine.log.questions.selection import ClassChoice
from phaseline.engine.log.questions.selector import EVERYTHING, Selector
from phaseline.engine.log.when import A_MOMENT, NOW, When
from phaseline.engine.surfaces.cells import places
from phaseline.engine.surfaces.cells.reading import CellRecord
from phaseline.engine.surfaces.cli import cells, names, options, render, selection, similar_ids, terminal, undecided
from phaseline.engine.surfaces.cli.cells import Installations
from phaseline.engine.surfaces.cli.help import Page
from phaseline.engine.surfaces.cli.output import NAME, Output
from phaseline.engine.surfaces.cli.styled import width_of
from phaseline.engine.surfaces.client import maps
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.labels import Language
from phaseline.schemas.records import Rejection


@click.command(
    cls=Page,
    examples=[
        ("phaseline watch", "all transitions, from now on"),
        ("phaseline watch node --state Failed", "nodes that fail"),
        ("phaseline watch --state '{Failed,[Balance,*]}'", "what fails with arrears among the causes"),
        ("phaseline watch --class bad --for 5m", "what has been bad for five minutes, once, and when that is over"),
        ("phaseline watch --tree c1 --from 15m", "one cluster, from 15 minutes ago on"),
        ("phaseline watch --from start --no-follow --json", "the whole log, for programs"),
        ("phaseline watch --cell east=nats://east:4222 --cell west=@west", "two installations"),
    ],
)
@names.optional_kind
@names.state
@names.condition
@names.class_
@names.lasting
@selection.selector
@click.option("--facet", metavar="FACET", help="Only this facet, for kinds with several.")
@names.tree
@click.option("--from", "start", type=cells.START, default="now", show_default=True,
              help=f"Where to begin: start, now, {A_MOMENT}.")  # fmt: skip
@click.option("--rejections", is_flag=True, help="Include rejections.")
@click.option("--no-follow", is_flag=True, help="End at the last record instead of waiting for more.")
@click.option("--limit", type=options.WholeNumber(1), metavar="N", help="End after N records.")
@options.language
@cells.reading
@options.output("json", "yaml", "wide", "name")
def watch(
    installations: Installations, kind: str | None, *, start: When, no_follow: bool, limit: int | None, lang: Language,
    selector: Selector, output: Output, class_: tuple[str, ...], lasting: float, **which: Any,
) -> int | None:  # fmt: skip
    """Show transitions as they happen.

    With --from, show earlier transitions first, and then go on without a gap. Each line starts with the record's
    place in the log. To continue after a record, pass its place plus one as --from.

    With --cell, show those of several installations, each line with the name of its cell. Each cell has a log and
    places of its own, so --from is a time, or names the place of each cell: east=4712,west=13. The last line on stderr
    says it. A cell that cannot be read is named, and joins when it can be.

    With --class, show each entity once when it has been in the class for as long as --for says, whatever states it
    had in it, and once when that is over. What is so already is shown first; what ends before is not shown.
    """
    begins = installations.begins(start)
    wanted = ClassChoice.read(class_, lasting)
    if not wanted.selects_all:
        _check_with_class(wanted, **which)

    async def work() -> int:
        kinds = installations.kinds
        async with installations.opened() as reading:
            selector.check(kinds, kind)
            await undecided.tell_archived(await reading.clients(), start)
            await similar_ids.tell_absent(await reading.clients(), which["tree"])
            if not wanted.selects_all:
                from phaseline.engine.surfaces.cli import watch_classes  # noqa: PLC0415  # few watch by class

                of = watch_classes.class_of_options(wanted, kind, selector, which)
                lines = watch_classes.ClassLines(kinds, of, begins, output, lang)
                await lines.print(reading, limit, follow=not no_follow)
                return cells.end(reading, output)
            records = reading.watch(kind, partial(cells.tell, output), start=begins, follow=not no_follow, **which)
            try:
                shown = await show_records(kinds, records, limit, output, lang, selector, reading.names)
                if not shown and no_follow and not output.is_data:
                    how = "" if begins != NOW else ": --from says where to begin, as in --from start or --from 1h"
                    terminal.say(f"nothing happened there{how}")
            finally:
                if reading.places:
                    output.flush()
                    terminal.say(f"to continue after these records: --from {places.written(reading.places)}")
            return cells.end(reading, output)

    return terminal.run(work())


def _check_with_class(wanted: ClassChoice, *, facet: str | None, rejections: bool, **_: Any) -> None:
    """Raise `UsageError` for options that do not go together."""
    if not wanted.classes:
        raise click.UsageError("--for says how long --class lasts: give --class too, as in --class bad --for 5m")
    if facet is not None or rejections:
        raise click.UsageError("--class is of whole entities: it goes with neither --facet nor --rejections")


async def show_records(
    kinds: Kinds, records: AsyncGenerator[list[CellRecord[Any]], None], limit: int | None, output: Output,
    language: Language = "en", selector: Selector = EVERYTHING, names: Sequence[str] = (),
) -> int:  # fmt: skip
    """Print records, `limit` at most; return their number. names: of the cells, if there are several."""
    shown, room = 0, max(map(width_of, names), default=0)
    async with aclosing(records):
        async for some in records:
            for one in some:
                record = one.record
                if selector.requirements and (isinstance(record, Rejection) or not selector.selects(record.entity)):
                    continue
                if output.is_data:
                    show_record(kinds, one, output, language)
                else:
                    render.show_record(output, render.RecordRow(kinds, one.place, record, cell=f"{one.cell:<{room}}"))
                shown += 1
                if shown == limit:
                    return shown
            output.flush_when_idle()
    return shown


def show_record(kinds: Kinds, one: CellRecord[Any], output: Output, language: Language) -> None:
    """Print a record for programs."""
    record = one.record
    if output.form == NAME:
        entity = record if isinstance(record, Rejection) else record.entity
        output.show(None, f"{entity.kind}/{entity.id}")
    elif one.cell:
        output.show(cells.named(one.cell, maps.record_map(kinds, one.place, record, one.wire, language)))
    else:
        output.show(maps.shown_record(kinds, one.place, record, one.body, language))
