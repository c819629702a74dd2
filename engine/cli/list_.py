"""The command `list`: entities, at a moment.

Belongs here: its options and layout. Does not: reading states (`phaseline.engine.log.state_view`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import click
from rich.text import Text

from phaseline.engine.cli import names, options, render, terminal
from phaseline.engine.cli.as_of import time_of
from phaseline.engine.cli.help import Page
from phaseline.engine.client.client import Client
from phaseline.engine.log.event_clock.event_time import Clock
from phaseline.engine.log.when import When
from phaseline.engine.settings import Settings
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.labels import Language
from phaseline.schemas.records import Entity


@click.command(
    name="list",
    cls=Page,
    examples=[
        ("phaseline list node --state Failed", ""),
        ("phaseline list --tree c1/pool-a", ""),
        ("phaseline list node --condition Balance", "nodes in arrears, whatever else they are"),
        ("phaseline list node --state '{Failed,[Balance,*]}'", "nodes that failed, with arrears among the causes"),
        ("phaseline list node --state Failed --at 2h", "nodes that had failed two hours ago"),
        ("phaseline list node --json | jq -r .id", ""),
    ],
)
@click.argument("kind", type=names.KIND, required=False)
@click.option("--tree", type=names.ID, metavar="ID", help="Only this entity and everything below it.")
@names.state
@names.condition
@options.include_deleted
@options.at
@options.clock
@options.language
@options.as_json
@options.connected
def list_(
    settings: Settings,
    kind: str | None,
    *,
    tree: str | None,
    state: str | None,
    condition: tuple[str, ...],
    deleted: bool,
    at: When | None,
    clock: Clock,
    lang: Language,
    as_json: bool,
) -> int | None:
    """List entities with their states, sorted by id. With --at, list them as they were at an earlier moment."""

    async def work() -> None:
        async with Client.open(settings) as client:
            view = await client.at(at, clock=clock)
            chosen = view.list(kind, tree=tree, state=state, condition=condition, deleted=deleted)
            found = [entity async for entity in chosen]
            terminal.without_time(view.without_time)
            stale = await view.stale_since_ns(found)
            if as_json:
                for entity in found:
                    render.show_json(render.entity_map(entity, stale.get((entity.kind, entity.id))))
                return
            now = time_of(view)
            if found:
                render.show(table(client.kinds, found, lang, now, stale))
            terminal.say(
                f"{len(found):,} {'entity' if len(found) == 1 else 'entities'}" if found else "no entities found"
            )

    return terminal.run(work())


def table(
    kinds: Kinds, found: Sequence[Entity], language: Language, now: int, stale: Mapping[tuple[str, str], int]
) -> Any:
    """Entities in rows. Durations end at `now`, ns. `stale`: since when the stale ones are stale, ns."""
    shown = render.columns("KIND", "ID", "STATE", "LABEL", "FOR", "VERSION", *(["STALE"] if stale else []))
    for entity in found:
        several = len(entity.names) > 1
        pairs = list(zip(entity.names, entity.facets, strict=True))
        states = [
            Text.assemble(f"{name}: " if several else "", render.state(kinds, entity.kind, name, facet.state))
            for name, facet in pairs
        ]
        labels = [render.label(kinds, entity.kind, name, facet.state, language) for name, facet in pairs]
        shown.add_row(
            render.text_of(entity.kind),
            render.text_of(entity.id),
            Text(", ").join(states),
            Text(", ").join(filter(None, labels)),
            render.text_of(render.duration(now - max(f.since_ns for f in entity.facets))),
            render.text_of(entity.version),
            *([render.as_of(stale.get((entity.kind, entity.id)), now)] if stale else []),
        )
    return shown
