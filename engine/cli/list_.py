"""The command `list`: entities, at a moment.

Belongs here: its options and layout. Does not: reading states (`phaseline.engine.log.state_view`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import click

from phaseline.engine.cli import following, names, options, render, selection, terminal, undecided
from phaseline.engine.cli.as_of import time_of
from phaseline.engine.cli.help import Page
from phaseline.engine.cli.layout import ALWAYS, Column, Row
from phaseline.engine.cli.output import Output, Rows
from phaseline.engine.cli.styled import Text, width_of
from phaseline.engine.client import maps
from phaseline.engine.client.entity_view import EntityView
from phaseline.engine.client.selection import Selector, in_order
from phaseline.engine.log.event_clock.event_time import Clock
from phaseline.engine.log.latest import matches
from phaseline.engine.log.watch import chosen
from phaseline.engine.log.when import Moment, When
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
        ("phaseline list node_pool -l default=true --sort-by since", "by attributes, the longest in its state first"),
        ("phaseline list cluster --watch", "all clusters, and then each change"),
        ("phaseline list node --json | jq -r .id", ""),
    ],
)
@click.argument("kind", type=names.KIND, required=False)
@click.option("--tree", type=names.ID, metavar="ID", help="Only this entity and everything below it.")
@names.state
@names.condition
@selection.selector
@selection.sort_by
@options.include_deleted
@following.follow
@options.at
@options.clock
@options.language
@options.connected
@options.archived
@options.output("json", "yaml", "wide", "name")
def list_(
    settings: Settings, kind: str | None, *, tree: str | None, at: When | None, clock: Clock, lang: Language,
    sort_by: str | None, follow: bool, output: Output, **which: Any,
) -> int | None:  # fmt: skip
    """List entities with their states, sorted by id. With --at, list them as they were at an earlier moment.

    They are sorted, so the first line is printed when the last entity was read. What prints while it reads is
    `phaseline watch --from start --no-follow`: each transition, in the order of the log.

    With --watch, list them, and then each one again whenever it changes, until it no longer fits.
    """
    if follow:
        following.check(at)
    wanted = Chosen(**which)

    async def work() -> None:
        async with undecided.reading(settings, tree, at) as client:
            view = await client.at(at, clock=clock)
            start = await view.next_place() if follow else 0
            found = everything = await wanted.read(view, kind, tree, whole=follow)
            if follow:
                found = [record for record in everything if wanted.fits(record.entity)]
            if sort_by is not None:
                found = in_order(client.kinds, found, sort_by, kind, lang)
            terminal.without_time(view.without_time)
            stale = await view.stale_since_ns([record.entity for record in found])
            page = EntityLines(client.kinds, output, lang, time_of(view) if not output.is_data else 0, stale)
            page.print(found, more=follow)
            if not output.is_data and not follow:
                terminal.say(
                    f"{len(found):,} {'entity' if len(found) == 1 else 'entities'}" if found else "no entities found"
                )
            if follow:
                async for one in following.after(client, start, everything, wanted.fits, kind=kind, tree=tree):
                    page.add(one.record)
                    output.flush_when_idle()

    return terminal.run(work())


class Chosen:
    """Which entities are listed."""

    def __init__(self, state: str | None, condition: tuple[str, ...], selector: Selector, *, deleted: bool) -> None:
        """What the options say."""
        self.state, self.condition, self.selector, self.deleted = state, condition, selector, deleted
        self._choice = chosen(state, condition)

    async def read(
        self, view: EntityView[Moment | None], kind: str | None, tree: str | None, *, whole: bool
    ) -> Sequence[Transition]:
        """The entities that are chosen. whole: all of the kind and of the tree, for `fits` to choose from."""
        found = await view.last_of(kind, tree=tree, state=self.state, condition=self.condition, deleted=self.deleted)
        self.selector.check(view.kinds, kind, found)
        if whole:
            return await view.last_of(kind, tree=tree, deleted=True)
        return [one for one in found if self.selector.selects(one.entity)] if self.selector.requirements else found

    def fits(self, entity: Entity) -> bool:
        """Whether an entity is chosen."""
        return (
            matches(entity, self._choice.phase, deleted=self.deleted)
            and (not self._choice.looks_at_conditions or any(self._choice.selects(one.state) for one in entity.facets))
            and self.selector.selects(entity)
        )


class EntityLines:
    """Prints entities, a line each: first those that are there, then further ones."""

    def __init__(
        self, kinds: Kinds, output: Output, language: Language, now: int, stale: Mapping[tuple[str, str], int]
    ) -> None:
        """Durations end at `now`, ns. `stale`: since when the stale ones are stale, ns."""
        self.kinds, self.output, self.language, self.now, self.stale = kinds, output, language, now, stale
        self._rows: Rows | None = None

    def print(self, found: Sequence[Transition], *, more: bool) -> None:
        """Print the entities that are there. more: further ones may follow."""
        if self.output.is_data:
            for record in found:
                self._show(record)
        elif found or more:
            self._rows = self.output.rows(columns(found, stale=bool(self.stale)))
            for record in found:
                self._rows.add(row(self.kinds, record, self.language, self.now, self.stale))
            self._rows.settle()
        self.output.flush()

    def add(self, record: Transition) -> None:
        """Print one more."""
        if self._rows is None:
            self._show(record)
            return
        self._rows.add(row(self.kinds, record, self.language, render.now_ns(), self.stale))

    def _show(self, record: Transition) -> None:
        since = self.stale.get((record.entity.kind, record.entity.id))
        self.output.show(maps.entity_map(self.kinds, record, self.language, since), maps.name_of(record.entity))


def columns(found: Sequence[Transition], *, stale: bool) -> list[Column]:
    """The columns for these entities. stale: with a column for what is stale."""
    return [
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


def row(kinds: Kinds, record: Transition, language: Language, now: int, stale: Mapping[tuple[str, str], int]) -> Row:
    """An entity in cells."""
    entity = record.entity
    pairs = [(name, facet.state) for name, facet in zip(entity.names, entity.facets, strict=True)]
    return (
        render.text_of(entity.kind),
        render.text_of(entity.id),
        render.named_states(kinds, entity.kind, pairs),
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
