"""The command `history`: the transitions of one entity.

Belongs here: its options and layout. Does not: reading the log (`phaseline.engine.log.watch`).
"""

from itertools import pairwise
from typing import Any

import click

from phaseline.engine.cli import names, options, render, similar_ids, terminal
from phaseline.engine.cli.help import Page
from phaseline.engine.cli.watch import show_records
from phaseline.engine.client.client import Client
from phaseline.engine.log.event_clock.event_time import Clock
from phaseline.engine.log.event_clock.past import EventWatch
from phaseline.engine.settings import Settings
from phaseline.machines.compiler.labels import Language
from phaseline.schemas.records import Transition


@click.command(
    cls=Page,
    examples=[
        ("phaseline history node c1/pool-a/n7", ""),
        ("phaseline history node c1/pool-a/n7 --json", "the records, for programs"),
    ],
)
@click.argument("kind", type=names.KIND)
@click.argument("entity_id", type=names.ID, metavar="ID")
@options.clock
@options.language
@options.as_json
@options.connected
def history(
    settings: Settings, kind: str, entity_id: str, *, clock: Clock, lang: Language, as_json: bool
) -> int | None:
    """Show the transitions of one entity: when, from which state to which, for how long, and the event behind each."""

    async def work() -> None:
        async with Client.open(settings) as client, similar_ids.suggested(client):
            records = client.history(kind, entity_id, clock=clock)
            if as_json:
                await show_records(client, records, None, as_json=True)
            else:
                render.show(table(client, [record async for record in records], lang))
            if isinstance(records, EventWatch):
                terminal.without_time(records.without_time)

    return terminal.run(work())


def table(client: Client, records: list[Transition], language: Language) -> Any:
    """The transitions of an entity in rows."""
    several = len(records[-1].entity.names) > 1
    facet = ["FACET"] if several else []
    titles = ["VERSION", "TIME", *facet, "FROM", "TO", "LABEL", "FOR", "CAUSE", "EVENT", "MESSAGE"]
    shown = render.columns(*titles)
    for previous, record, lasted in zip((None, *records), records, durations(records), strict=False):
        entity, kinds = record.entity, client.kinds
        before = (
            render.text_of("")
            if record.before is None
            else render.state(kinds, entity.kind, record.facet, record.before)
        )
        shown.add_row(
            render.text_of(entity.version),
            render.text_of(render.local_time(record.time_ns)),
            *([render.text_of(record.facet)] if several else []),
            before,
            render.state(kinds, entity.kind, record.facet, record.after),
            render.label(kinds, entity.kind, record.facet, record.after, language),
            render.text_of(lasted),
            render.cause(record),
            render.text_of(f"{record.cause.sequence} {record.cause.event}"),
            render.reason_and_message(record.reason, record.message or _attributes_changed(previous, record)),
        )
    return shown


def _attributes_changed(previous: Transition | None, record: Transition) -> str | None:
    """What a transition that left the state alone changed: `revision 2, context c2`. Lists and maps are left out."""
    if previous is None or record.before != record.after:
        return None
    before, after = previous.entity.attributes, record.entity.attributes
    plain = (str, int, float, bool)
    changed = [
        f"{name} {value}" for name, value in after.items() if before.get(name) != value and isinstance(value, plain)
    ]
    return ", ".join(changed) or None


def durations(records: list[Transition]) -> list[str]:
    """For each record, how long its facet kept the state. The last state of a facet lasts until now."""
    lasted = [""] * len(records)
    for facet in {record.facet for record in records}:
        indexes = [index for index, record in enumerate(records) if record.facet == facet]
        for index, following in pairwise(indexes):
            lasted[index] = render.duration(records[following].time_ns - records[index].time_ns)
        last = indexes[-1]
        lasted[last] = f"{render.duration(render.now_ns() - records[last].time_ns)} so far"
    return lasted
