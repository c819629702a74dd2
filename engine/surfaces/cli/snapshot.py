"""The command `snapshot`: all that a reporter sees below an entity, from a file.

Belongs here: its options, and the outcome of its events. Does not: cutting it into events and reading files
(`engine.publish.snapshots`), the outcome of one event (`publish`).
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from phaseline.engine.publish import compose, snapshots
from phaseline.engine.publish.outcomes import Outcome
from phaseline.engine.publish.pipeline import PublishResult
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli import options, publish, publish_many, render, render_dry_run, terminal
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.client.client import WAIT, Client
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.records import Transition


@click.command(
    cls=publish.WaitingPage,
    examples=[
        ("phaseline snapshot cluster c1 --kind node nodes.yaml --wait", "make good what was lost, and show it"),
        ("phaseline snapshot cluster c1 --kind node nodes.json --seen 4711", "the file was written after event 4711"),
        ("phaseline snapshot cluster c1 --kind node nodes.json --dry-run", "show what differs; nothing is sent"),
        ("my-agent list-pools | phaseline snapshot cluster c1 --kind node_pool -", ""),
    ],
)
@click.argument("kind")
@click.argument("entity_id", metavar="ID")
@click.argument("file", type=click.Path(allow_dash=True, dir_okay=False, path_type=Path))
@click.option("--kind", "below", required=True, metavar="KIND", help="Kind of the items, below the entity.")
@click.option("--seen", type=click.IntRange(0), metavar="N",
              help="The highest event number in the records that the reporter has read.  [default: none]")  # fmt: skip
@click.option("--log", type=click.IntRange(1), metavar="N",
              help="The identity of the log in which --seen counts.  [default: this one, whichever it is]")  # fmt: skip
@click.option("--confirm", is_flag=True,
              help="End what is not listed even if that is more than the brake allows. It needs --seen.")  # fmt: skip
@click.option("--about", multiple=True, metavar="CONDITION",
              help="Clear no other condition than this. May be repeated.  [default: all but sticky ones]")  # fmt: skip
@click.option("--after", metavar="ID", help="Speak of ids above this one only, in byte order.")
@click.option("--upto", metavar="ID", help="Speak of ids up to this one only, in byte order.")
@click.option("--source", metavar="URI", help="Source of the events.  [default: /phaseline/cli/<user>]")
@click.option("--id", "event_id", metavar="TEXT", help="Id of the event; of several, -1, -2 ... are added.")
@click.option("--epoch", type=click.IntRange(0), metavar="N",
              help="In which --sequence counts: of a greater one all is newer.")  # fmt: skip
@click.option("--sequence", type=click.IntRange(0), metavar="N", help="Number of the first event, per source.")
@click.option("--time", metavar="TIME", help="When it was so, RFC 3339.  [default: now]")
@click.option(publish.WAIT_OPTION, type=click.FloatRange(0, min_open=True), metavar="[SECONDS]",
              help=f"Wait for the outcome, and show it.  [default without a number: {WAIT:g}]")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Show what would change now. Nothing is sent.")
@options.connected
@options.output("json", "yaml")
def snapshot(
    settings: Settings, *, kind: str, entity_id: str, file: Path, below: str, seen: int | None,
    log: int | None, confirm: bool,
    about: tuple[str, ...], after: str | None, upto: str | None, wait: float | None, dry_run: bool, output: Output,
    **details: Any,
) -> int | None:  # fmt: skip
    """Publish all that there is of one kind below the entity KIND ID.

    FILE holds the items: a list in JSON or YAML, JSON lines, or a msgpack stream; - is standard input. An item has an
    id (the part below the entity), a phase, and what else a report has: conditions, about, attributes, reason, message.

    What differs from an item changes; what is not listed is gone; what fits no table is left out and shown
    (exit code 1). A snapshot of more than 700 kB is cut into several events. An empty list says that nothing is left;
    an empty file is refused.

    A snapshot that would end more than 30 % of what lives in its range, and more than two things, may be a list that
    was cut short: its items are taken, and nothing ends (exit code 1). --confirm ends it. The attribute `brake` of a
    place, which configure sets, is another percentage.

    --dry-run sends nothing. It says what the snapshot would take, end, leave out and hold back, and shows it.
    """
    details = {name: value for name, value in details.items() if value is not None}
    if dry_run and wait is not None:
        raise click.UsageError("--dry-run sends nothing: leave out --wait")
    if confirm and seen is None:
        raise click.UsageError("--confirm needs --seen: the highest event number in the records that were read")
    items = snapshots.read_file(file, sys.stdin.buffer.read() if str(file) == "-" else None)

    async def work() -> int:
        async with Client.open(settings, source=compose.default_source("cli")) as client:
            if dry_run:
                found = snapshots.events(below, items, seen, after, upto, confirm=confirm, about=about or None, log=log)
                return await render_dry_run.show_snapshots(client, kind, entity_id, found, details, output=output)
            with publish_many.progress_bar(None) as bar:
                outcomes = await client.snapshot(
                    kind, entity_id, below, items, seen=seen, after=after, upto=upto, confirm=confirm, wait=wait,
                    log=log, about=about or None, progress=lambda sent, _: bar(PublishResult(stored=sent)), **details,
                )  # fmt: skip
            return show(client.kinds, len(items), outcomes, waited=wait is not None, output=output)

    return terminal.run(work())


def show(kinds: Kinds, items: int, outcomes: Sequence[Outcome], *, waited: bool, output: Output) -> int:
    """Print the events of a snapshot and their outcomes, and a line that counts; return the exit code."""
    codes = [publish.show_outcome(kinds, outcome, waited=waited, output=output) for outcome in outcomes]
    if waited and not output.is_data:
        records = [logged.record for outcome in outcomes for logged in outcome.records]
        changes = sum(isinstance(record, Transition) for record in records)
        left_out, held, later = (
            len(render_dry_run.parts_not_taken(records, why)) for why in ("left_out", "brake", "stale")
        )
        braked = f", {held:,} not ended" if held else ""
        braked += f", {later:,} not listed have come since it was seen, and stay" if later else ""
        render.show_line(
            render.text_of(f"{items:,} items: {changes:,} transitions, {left_out:,} items left out{braked}")
        )
    return max(codes)
