"""The command `get`: one entity, at a moment.

Belongs here: its options and layout. Does not: reading states (`phaseline.engine.log.state_view`).
"""

from collections.abc import Iterator

import click

from phaseline.engine.cli import entity_name, following, options, render, terminal, undecided
from phaseline.engine.cli.as_of import time_of
from phaseline.engine.cli.help import Page
from phaseline.engine.cli.output import Output
from phaseline.engine.cli.styled import Text
from phaseline.engine.client import maps
from phaseline.engine.log.when import When
from phaseline.engine.settings import Settings
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.labels import Language, facet_named, schedulable
from phaseline.machines.docs import wording
from phaseline.schemas.records import Transition


@click.command(
    cls=Page,
    examples=[
        ("phaseline get node c1/pool-a/n7", ""),
        ("phaseline get node c1/pool-a/n7 --at 03:12", "as it was at 03:12"),
        ("phaseline get node c1/pool-a/n7 --json | jq .facets.phase.state", ""),
    ],
)
@options.at
@options.language
@following.follow
@options.connected
@options.archived
@options.output("json", "yaml", "wide", "name")
@entity_name.argument()
def get(
    settings: Settings,
    kind: str | None,
    entity_id: str,
    *,
    at: When | None,
    lang: Language,
    follow: bool,
    output: Output,
) -> int | None:
    """Show one entity: its state and label, since when, its attributes, and the last cause.

    With --at, show it as it was at an earlier moment. With --watch, go on with a line for each change.
    """
    if follow:
        following.check(at)

    async def work() -> None:
        async with undecided.reading(settings, entity_id, at) as client:
            view = await client.at(at)
            start = await view.next_place() if follow else 0
            name = kind or await view.kind_of(entity_id)
            last = await view.last(name, entity_id)
            entity = last.entity
            stale = (await view.stale_since_ns([entity])).get((entity.kind, entity.id))
            if output.is_data:
                output.show(maps.entity_map(client.kinds, last, lang, stale), maps.name_of(entity))
            else:
                output.pairs(described(client.kinds, last, lang, time_of(view), stale))
            if follow:
                await following.show(
                    client, start, [last], lambda one: one.id == entity_id, output, lang, kind=name, tree=entity_id
                )

    return terminal.run(work())


def described(
    kinds: Kinds, last: Transition, language: Language, now: int, stale: int | None
) -> Iterator[tuple[str, Text]]:
    """The facts about one entity, by name. `stale`: since when its states are stale, ns."""
    entity = last.entity
    yield entity.kind, render.text_of(entity.id, "bold")
    if stale is not None:
        yield "stale", Text.assemble(render.as_of(stale, now), f": nothing was heard since {render.local_time(stale)}")
    for name, facet in zip(entity.names, entity.facets, strict=True):
        label = render.label(kinds, entity.kind, name, facet.state, language)
        state = render.state(kinds, entity.kind, name, facet.state)
        yield name if len(entity.names) > 1 else "state", Text.assemble(state, "  " if label else "", label)
        if facet.base != facet.state:
            yield "base", render.state(kinds, entity.kind, name, facet.base)
        yield "since", render.text_of(f"{render.local_time(facet.since_ns)}, {render.duration(now - facet.since_ns)}")
        if name in entity.timers_ns:
            due = entity.timers_ns[name]
            yield "timer", render.text_of(f"{render.local_time(due)}, in {render.duration(due - now)}")
        known = facet_named(kinds, entity.kind, name)
        fit = None if known is None else schedulable(known, facet.state)
        if fit is not None:
            yield "schedulable", render.text_of("yes" if fit else "no")
    for name, value in entity.attributes.items():
        is_time = name in maps.TIMES and isinstance(value, int)
        yield name, render.text_of(render.local_time(value) if is_time else wording.plain_value(value))
    message = render.reason_and_message(last.reason, last.message)
    yield "version", render.text_of(entity.version)
    yield "cause", Text.assemble(render.cause(last), ": " if message else "", message)
