"""`why`: from an entity's state back to the outside events behind it.

Belongs here: the command. Does not: finding the explanation (`phaseline.engine.inquiry`), its lines (`explaining`).
"""

from datetime import datetime
from typing import Any

import click

from phaseline.engine.cli import looks, options, talk
from phaseline.engine.cli.explaining import Drawing
from phaseline.engine.cli.pages import Page
from phaseline.engine.client import Client
from phaseline.engine.explanation import Explanation, as_map
from phaseline.engine.past import Moment
from phaseline.engine.settings import Settings


@click.command(
    cls=Page,
    examples=[
        ("phaseline why c1/pool-a/n7", ""),
        ("phaseline why c1/pool-a --at 15m", "as it was a quarter of an hour ago"),
        ("phaseline why c1/dns --kind component", "where there is a node_pool c1/dns too"),
    ],
)
@click.argument("entity_id", metavar="ID")
@click.option("--kind", metavar="KIND", help="Its kind, where several have an entity of that id.")
@click.option("--at", type=options.Moment(), metavar="MOMENT",
              help="As it was then: a place in the log, a time, or how long ago (15m).")  # fmt: skip
@options.as_json
@options.connected
def why(settings: Settings, entity_id: str, *, kind: str | None, at: Any, as_json: bool) -> int | None:
    """Show why an entity is as it is: back to the events from outside.

    Where a view shows another state than the entity's own (its base), it says which: what is above it or below it, and why
    that is as it is. Then what the base stands on: each cause, who brought it, and what had set that off.
    """
    moment: Moment | None = {"start": 0, "now": None}.get(at, at)

    async def work() -> None:
        async with Client.open(settings) as client:
            named = await client.kind_of(entity_id, kind, at=moment)
            found = await client.why(named, entity_id, at=moment)
            if as_json:
                looks.show_json(as_map(found))
            else:
                looks.show(Drawing(client.kinds, moment_of(found, moment)).whole(found))

    return talk.run(work())


def moment_of(found: Explanation, at: Moment | None) -> int:
    """The moment that is explained, ns: as it was asked for, or when that place was stored, or now."""
    if isinstance(at, datetime):
        return int(at.timestamp() * 1e9)
    return found.time or looks.now_ns()
