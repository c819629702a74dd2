"""The command `why`: from an entity's state back to the events from outside.

Belongs here: the command. Does not: finding the explanation (`phaseline.engine.explain.fetch`), its lines (`explaining`).
"""

import click

from phaseline.engine.cli import options, render, terminal
from phaseline.engine.cli.as_of import moment_of
from phaseline.engine.cli.help import Page
from phaseline.engine.cli.render_why import Drawing
from phaseline.engine.client.client import Client
from phaseline.engine.explain.model import as_map
from phaseline.engine.log.when import When
from phaseline.engine.settings import Settings


@click.command(
    cls=Page,
    examples=[
        ("phaseline why c1/pool-a/n7", ""),
        ("phaseline why c1/pool-a --at 03:12", "as it was tonight at 03:12"),
        ("phaseline why c1/dns --kind component", "where there is a node_pool c1/dns too"),
    ],
)
@click.argument("entity_id", metavar="ID")
@click.option("--kind", metavar="KIND", help="Its kind, where several have an entity of that id.")
@options.at
@options.as_json
@options.connected
def why(settings: Settings, entity_id: str, *, kind: str | None, at: When | None, as_json: bool) -> int | None:
    """Show why an entity is as it is: back to the events from outside.

    Where a view shows another state than the entity's own (its base), it says which: what is above it or below it, and why
    that is as it is. Then what the base stands on: each cause, who brought it, and what had set that off.
    """

    async def work() -> None:
        async with Client.open(settings) as client:
            view = await client.at(at)
            found = await view.why(await view.kind_of(entity_id, kind), entity_id)
            if as_json:
                render.show_json(as_map(found))
            else:
                render.show(Drawing(client.kinds, moment_of(view)).whole(found))

    return terminal.run(work())
