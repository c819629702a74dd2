"""The commands `watch` and `history`: records of the log, as they come and as they came.

Belongs here: options and layout of these two. Does not: reading the log (`phaseline.engine.log.watch`).
"""

from itertools import pairwise
from typing import Any

import click

from phaseline.engine.cli import options, render, terminal
from phaseline.engine.cli.help import Page
from phaseline.engine.client.client import Client
from phaseline.engine.log.watch import Watch
from phaseline.engine.log.when import When
from phaseline.engine.settings import Settings
from phaseline.machines.compiler.labels import Language
from phaseline.schemas.records import Transition


@click.command(
    cls=Page,
    examples=[
        ("phaseline watch", "everything, from now on"),
        ("phaseline watch node --state Failed", "nodes that fail"),
        ("phaseline watch --tree c1 --from 15m", "one cluster, since 15 minutes ago"),
        ("phaseline watch --from start --no-follow --json the whole log, for programs", ""),
    ],
)
@click.argument("kind", required=False)
@click.option("--state", metavar="STATE", help="Only transitions into this state, like Failed.")
@click.option("--facet", metavar="FACET", help="Only this state machine, of kinds that have several.")
@click.option("--tree", metavar="ID", help="Only this entity and what is under it.")
@click.option("--from", "start", type=options.WhenType(), default="now", show_default=True,
              help="start, now, a place in the log, a time, or how long ago (15m).")  # fmt: skip
@click.option("--rejections", is_flag=True, help="Also what was refused.")
@click.option("--no-follow", is_flag=True, help="End when all that is there has been shown.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="End after N records.")
@options.as_json
@options.connected
def watch(
    settings: Settings, *, start: When, no_follow: bool, limit: int | None, as_json: bool, **which: Any
) -> int | None:
    """Show transitions as they happen, or caught up from the past and then live, without a gap between.

    The number at the start of each line is its place in the log: `--from` that number plus one goes on after it.
    """

    async def work() -> None:
        async with Client.open(settings) as client:
            wanted = client.watch(which["kind"], start=start, follow=not no_follow, facet=which["facet"],
                                  state=which["state"], tree=which["tree"], rejections=which["rejections"])  # fmt: skip
            await show_records(client, wanted, limit, as_json=as_json)

    return terminal.run(work())


async def show_records(client: Client, wanted: Watch[Any], limit: int | None, *, as_json: bool) -> int:
    """Show what a watch brings, `limit` at most; how many it were."""
    shown = 0
    async with wanted:
        async for record in wanted:
            if as_json:
                render.show_json(render.record_map(wanted.sequence, wanted.wire))
            else:
                render.show_line(render.line(client.kinds, wanted.sequence, record))
            shown += 1
            if shown == limit:
                break
    return shown


@click.command(
    cls=Page,
    examples=[
        ("phaseline history node c1/pool-a/n7", ""),
    ],
)
@click.argument("kind")
@click.argument("entity_id", metavar="ID")
@options.language
@options.as_json
@options.connected
def history(settings: Settings, kind: str, entity_id: str, *, lang: Language, as_json: bool) -> int | None:
    """Show the transitions of one entity: when, from what, to what, for how long, by which event."""

    async def work() -> None:
        async with Client.open(settings) as client:
            found = client.history(kind, entity_id)
            if as_json:
                await show_records(client, found, None, as_json=True)
            else:
                render.show(table(client, [record async for record in found], lang))

    return terminal.run(work())


def table(client: Client, records: list[Transition], language: Language) -> Any:
    """An entity's life in rows."""
    several = len(records[-1].entity.names) > 1
    titles = [
        "VERSION",
        "WHEN",
        *(["FACET"] if several else []),
        "FROM",
        "TO",
        "LABEL",
        "FOR",
        "BECAUSE",
        "EVENT",
        "WHY",
    ]
    shown = render.columns(*titles)
    for record, lasted in zip(records, durations(records), strict=True):
        entity, kinds = record.entity, client.kinds
        before = (
            render.text_of("")
            if record.before is None
            else render.state(kinds, entity.kind, record.facet, record.before)
        )
        shown.add_row(
            render.text_of(entity.version), render.text_of(render.moment(record.time)),
            *([render.text_of(record.facet)] if several else []),
            before, render.state(kinds, entity.kind, record.facet, record.after),
            render.label(kinds, entity.kind, record.facet, record.after, language),
            render.text_of(lasted), render.because(record),
            render.text_of(f"{record.cause.sequence} {record.cause.event}"), render.words(record.reason, record.message),
        )  # fmt: skip
    return shown


def durations(records: list[Transition]) -> list[str]:
    """For each record, how long its facet was as it says; the last ones are so still."""
    found = [""] * len(records)
    for facet in {record.facet for record in records}:
        places = [place for place, record in enumerate(records) if record.facet == facet]
        for here, after in pairwise(places):
            found[here] = render.span(records[after].time - records[here].time)
        found[places[-1]] = f"{render.span(render.now_ns() - records[places[-1]].time)} so far"
    return found
