"""The command `sources`: who sends events, and what became of them.

Belongs here: its layout. Does not: counting (`engine.core.counts`), asking workers (`engine.publish.source_counts`).
"""

from typing import Final

import click

from phaseline.engine.publish.source_counts import SourceRow, counts_map
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli import options, render, terminal
from phaseline.engine.surfaces.cli.help import Page
from phaseline.engine.surfaces.cli.layout import Column
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.cli.styled import Text
from phaseline.engine.surfaces.client.client import Client
from phaseline.schemas.errors import Exit

COLUMNS: Final[tuple[Column[SourceRow], ...]] = (
    Column("SOURCE", lambda one: render.text_of(one.source), wraps=True),
    Column("EVENTS", lambda one: Text(f"{one.counts.events:,}")),
    Column("TAKEN", lambda one: Text(f"{one.counts.taken:,}"), worth=70),
    Column("REJECTED", lambda one: Text(f"{one.counts.rejected:,}"), worth=80),
    Column("REPEATS", lambda one: Text(f"{one.counts.repeats:,}", "red" if one.counts.is_in_trouble else "")),
    Column("EPOCH", lambda one: Text(str(one.counts.epoch or "-")), worth=40),
    Column("NUMBER", lambda one: Text("-" if one.counts.number is None else str(one.counts.number)), worth=50),
    Column("HEARD", lambda one: Text(render.local_time(one.counts.heard_ns)), worth=60),
    Column("SINCE", lambda one: Text(render.local_time(one.counts.since_ns)), worth=30),
    Column("TROUBLE", lambda one: render.text_of(one.counts.trouble, "red"), wraps=True),
)


@click.command(
    cls=Page,
    examples=[
        ("phaseline admin sources", "who sends events, those in trouble first"),
        ("phaseline admin sources --json | jq 'select(.repeats > 0)'", "whose events came again"),
    ],
)
@options.connected
@options.output("json", "yaml", "wide")
def sources(settings: Settings, *, output: Output) -> int | None:
    """Show by source how many events came, were taken, rejected, or were repeats.

    Workers count since they took their partitions over: SINCE is when the first event that is counted was stored, HEARD
    the last one. EPOCH and NUMBER are those of the last event that has a number. A repeat has no effect. If all that a
    source sends are repeats, it counts from the beginning again without a greater epoch, or two programs send under its
    name; TROUBLE says so, and so does `phaseline doctor`. Each worker counts 500 sources one by one, and up to 500 more
    of which an event was refused; all others together. Where owners of partitions do not answer, their counts are
    missing, and the exit code is 3.
    """

    async def work() -> int:
        async with Client.open(settings) as client:
            report = await client.sources()
        rows = [*report.rows()]
        output.list(COLUMNS, rows, lambda one: counts_map(one.source, one.counts))
        if not rows and not report.silent:
            terminal.say("no event was decided since the workers took their partitions over")
        if report.by_source.others is not None:
            terminal.say(
                f"{report.by_source.others.events:,} more events came of sources that are not counted one by one"
            )
        if report.silent:
            terminal.say(f"partitions whose owner does not answer are missing: {', '.join(map(str, report.silent))}")
        return Exit.NO_ANSWER if report.silent else Exit.DONE

    return terminal.run(work())
