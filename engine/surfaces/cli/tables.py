"""The command `tables`: what a change of tables would do, before any worker decides by them.

Belongs here: its options, its tables, its exit code. Does not: the report (`worker.ownership.tables_change`), the
tables themselves (`machines`), other decisions on recorded events (`replay`).
"""

from typing import Final, NamedTuple

import click

from phaseline.engine.log.installation import Installation
from phaseline.engine.nats.streams import inspect
from phaseline.engine.nats.wire import Wire
from phaseline.engine.replay.load_tables import INSTALLED, load_kinds
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli import log_source, options, terminal
from phaseline.engine.surfaces.cli.help import Page
from phaseline.engine.surfaces.cli.layout import Column
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.cli.styled import Text
from phaseline.engine.worker.ownership.tables_change.tables_report import KindChange, TablesReport, tables_report
from phaseline.machines.built_in import installed
from phaseline.schemas.errors import Exit
from phaseline.schemas.records import State


@click.command(
    cls=Page,
    examples=[
        ("phaseline kinds check", "before workers with the tables installed here are started"),
        ("phaseline kinds check --with backups/table.py:KINDS --json", "with tables that are not installed"),
    ],
)
@click.option(
    "--with", "changed", metavar="TABLES", default=INSTALLED, show_default=True,
    help="The tables to change to, as in `phaseline log replay --with`. They replace the tables of the same kind.",
)  # fmt: skip
@options.connected
@options.output("json", "yaml")
def tables(settings: Settings, *, changed: str, output: Output) -> int | None:
    """Show what a change of tables would do: which kinds differ from those that decide, and who would be stranded.

    It is a dry run. It reads the present state of every entity and stores nothing. It counts the entities that are in a
    state which the tables do not have, and says where the map of states (`retired` of a facet) moves them. Those for
    which it has no line would be stranded: workers do not take such tables up. The exit code is 1 then.
    """

    async def work() -> int:
        kinds = load_kinds(changed, installed(settings.prefix))
        async with Wire.open(settings, name="phaseline-tables") as wire:
            installation = Installation(wire, await inspect(wire, settings), kinds)
            with log_source.progress_bar("reading", "entities") as bar:
                task = bar.add_task("", total=None)
                report = await tables_report(installation, lambda entities: bar.advance(task, entities))
        _show(report, output)
        return Exit.NO if report.count("stranded") else Exit.DONE

    return terminal.run(work())


def _show(report: TablesReport, output: Output) -> None:
    if output.is_data:
        output.show(report.shown())
        output.flush()
        return
    if report.kinds:
        output.table(KINDS, report.kinds)
        output.line()
    if report.groups:
        output.table(GROUPS, (GroupRow(count, *group) for group, count in report.groups.most_common()))
        output.line()
    output.line(_sum(report))
    output.flush()
    for remedy in report.remedies:
        terminal.say(remedy)


KINDS: Final[tuple[Column[KindChange], ...]] = (
    Column("KIND", lambda one: Text(one.kind)),
    Column("DECIDES BY", lambda one: Text(", ".join(one.before) or "-"), wraps=True),
    Column("HERE", lambda one: Text(one.after or "-")),
)


class GroupRow(NamedTuple):
    """Entities with the same fate, and their number."""

    entities: int
    kind: str
    facet: str
    state: State
    to: State | None
    fate: str


def _to(row: GroupRow) -> Text:
    return Text("stranded", "bold red") if row.fate == "stranded" else Text(str(row.to or "as its views say"))


GROUPS: Final[tuple[Column[GroupRow], ...]] = (
    Column("ENTITIES", lambda row: Text(f"{row.entities:,}")),
    Column("KIND", lambda row: Text(row.kind)),
    Column("FACET", lambda row: Text(row.facet or "-"), worth=50),
    Column("FROM", lambda row: Text(str(row.state)), wraps=True),
    Column("TO", _to, wraps=True),
)


def _sum(report: TablesReport) -> str:
    others = sum(len(found) for digest, found in report.deciding.items() if digest != report.digest)
    of = sum(map(len, report.deciding.values()))
    by = f"other tables decide {others} of {of} partitions" if others else "these tables decide every partition"
    by = by if report.deciding else "no tables have decided yet"
    found = f"{report.count('moves') + report.count('shown anew'):,} would move, {report.count('stranded'):,} stranded"
    return f"digest {report.digest}: {by}; {report.entities:,} entities, {found}"
