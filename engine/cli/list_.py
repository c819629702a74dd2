"""The command `list`: entities, at a moment.

Belongs here: its options and layout. Does not: reading states (`phaseline.engine.log.state_view`).
"""

from collections.abc import Iterator, Mapping, Sequence

import click

from phaseline.engine.cli import maps, names, options, render, terminal, undecided
from phaseline.engine.cli.as_of import time_of
from phaseline.engine.cli.help import Page
from phaseline.engine.cli.layout import ALWAYS, Column, Grid, Row
from phaseline.engine.cli.output import Output
from phaseline.engine.cli.styled import Text, width_of
from phaseline.engine.log.event_clock.event_time import Clock
from phaseline.engine.log.when import When
from phaseline.engine.settings import Settings
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.labels import Language
from phaseline.schemas.records import Entity, Transition


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
@options.connected
@options.output("json", "yaml", "wide", "name")
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
    output: Output,
) -> int | None:
    """List entities with their states, sorted by id. With --at, list them as they were at an earlier moment."""

    async def work() -> None:
        async with undecided.reading(settings, tree, at) as client:
            view = await client.at(at, clock=clock)
            found = await view.last_of(kind, tree=tree, state=state, condition=condition, deleted=deleted)
            terminal.without_time(view.without_time)
            stale = await view.stale_since_ns([record.entity for record in found])
            if output.is_data:
                for record in found:
                    since = stale.get((record.entity.kind, record.entity.id))
                    output.show(maps.entity_map(client.kinds, record, lang, since), maps.name_of(record.entity))
                return
            now = time_of(view)
            if found:
                output.table(table(client.kinds, found, lang, now, stale))
                output.flush()
            terminal.say(
                f"{len(found):,} {'entity' if len(found) == 1 else 'entities'}" if found else "no entities found"
            )

    return terminal.run(work())


def table(
    kinds: Kinds, found: Sequence[Transition], language: Language, now: int, stale: Mapping[tuple[str, str], int]
) -> Grid:
    """Entities in rows. Durations end at `now`, ns. `stale`: since when the stale ones are stale, ns."""
    columns = [
        Column("KIND", worth=70),
        Column("ID", ALWAYS, known=[width_of(record.entity.id) for record in found]),
        Column("STATE", worth=90, may_cut=True, least=24),
        Column("LABEL", worth=40, may_cut=True),
        Column("FOR", worth=60),
        Column("VERSION", worth=20),
        *([Column("STALE", worth=80)] if stale else []),
        Column("REASON", only_wide=True),
        Column("MESSAGE", only_wide=True),
        Column("CAUSE", only_wide=True),
    ]
    return Grid(columns, _rows(kinds, found, language, now, stale))


def _rows(
    kinds: Kinds, found: Sequence[Transition], language: Language, now: int, stale: Mapping[tuple[str, str], int]
) -> Iterator[Row]:
    for record in found:
        entity = record.entity
        pairs = [*zip(entity.names, entity.facets, strict=True)]
        yield (
            render.text_of(entity.kind),
            render.text_of(entity.id),
            render.named_states(kinds, entity.kind, [(name, facet.state) for name, facet in pairs]),
            _labels(kinds, entity, language),
            render.text_of(render.duration(now - max([facet.since_ns for facet in entity.facets]))),
            render.text_of(entity.version),
            *([render.as_of(stale.get((entity.kind, entity.id)), now)] if stale else []),
            render.text_of(record.reason or ""),
            render.text_of(record.message or ""),
            render.cause(record),
        )


def _labels(kinds: Kinds, entity: Entity, language: Language) -> Text:
    labels = [
        render.label(kinds, entity.kind, name, facet.state, language)
        for name, facet in zip(entity.names, entity.facets, strict=True)
    ]
    return labels[0] if len(labels) == 1 else render.COMMA.join(filter(None, labels))
