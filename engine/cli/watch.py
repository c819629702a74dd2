"""The command `watch`: the records of the log, one line each.

Belongs here: its options; printing the records of a `Watch`. Does not: reading the log (`phaseline.engine.log.watch`).
"""

from typing import Any

import click

from phaseline.engine.cli import names, options, render, selection, terminal
from phaseline.engine.cli.help import Page
from phaseline.engine.cli.output import NAME, Output
from phaseline.engine.client import maps
from phaseline.engine.client.client import Client
from phaseline.engine.client.selection import EVERYTHING, Selector
from phaseline.engine.log.watch import Watch
from phaseline.engine.log.when import When
from phaseline.engine.settings import Settings
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.labels import Language
from phaseline.schemas.records import Rejection


@click.command(
    cls=Page,
    examples=[
        ("phaseline watch", "all transitions, from now on"),
        ("phaseline watch node --state Failed", "nodes that fail"),
        ("phaseline watch --state '{Failed,[Balance,*]}'", "what fails with arrears among the causes"),
        ("phaseline watch --tree c1 --from 15m", "one cluster, from 15 minutes ago on"),
        ("phaseline watch --from start --no-follow --json", "the whole log, for programs"),
    ],
)
@click.argument("kind", type=names.KIND, required=False)
@names.state
@names.condition
@selection.selector
@click.option("--facet", metavar="FACET", help="Only this facet, for kinds with several.")
@click.option("--tree", type=names.ID, metavar="ID", help="Only this entity and everything below it.")
@click.option("--from", "start", type=options.WhenType(), default="now", show_default=True,
              help="Where to begin: start, now, a place in the log, a time, or how long ago (15m).")  # fmt: skip
@click.option("--rejections", is_flag=True, help="Include rejections.")
@click.option("--no-follow", is_flag=True, help="End at the last record instead of waiting for more.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="End after N records.")
@options.language
@options.connected
@options.archived
@options.output("json", "yaml", "wide", "name")
def watch(
    settings: Settings, *, start: When, no_follow: bool, limit: int | None, lang: Language, selector: Selector,
    output: Output, **which: Any,
) -> int | None:  # fmt: skip
    """Show transitions as they happen.

    With --from, show earlier transitions first, and then go on without a gap. Each line starts with the record's
    place in the log. To continue after a record, pass its place plus one as --from.
    """

    async def work() -> None:
        async with Client.open(settings) as client:
            selector.check(client.kinds, which["kind"])
            records = client.watch(which.pop("kind"), start=start, follow=not no_follow, **which)
            await show_records(client, records, limit, output, lang, selector)

    return terminal.run(work())


async def show_records(
    client: Client, records: Watch[Any], limit: int | None, output: Output, language: Language = "en",
    selector: Selector = EVERYTHING,
) -> int:  # fmt: skip
    """Print the records of a watch, `limit` at most; return their number."""
    shown = 0
    async with records:
        async for record in records:
            if selector.requirements and (isinstance(record, Rejection) or not selector.selects(record.entity)):
                continue
            if output.is_data:
                show_record(client.kinds, records, record, output, language)
            else:
                output.line(render.line(client.kinds, records.sequence, record, output.width))
            output.flush_when_idle()
            shown += 1
            if shown == limit:
                break
    return shown


def show_record(kinds: Kinds, records: Watch[Any], record: Any, output: Output, language: Language) -> None:
    """Print the last record of a watch for programs."""
    if output.form == NAME:
        entity = record if isinstance(record, Rejection) else record.entity
        output.show(None, f"{entity.kind}/{entity.id}")
    else:
        output.show(maps.record_map(kinds, records.sequence, record, records.wire, language))
