"""The commands `get`, `list` and `tree`: entities at a moment.

Belongs here: options and layout of these three. Does not: reading states (`phaseline.engine.log.latest`).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import click
from rich.text import Text
from rich.tree import Tree

from phaseline.engine.cli import options, render, terminal
from phaseline.engine.cli.as_of import moment_of
from phaseline.engine.cli.help import Page
from phaseline.engine.client.client import Client
from phaseline.engine.log.when import When
from phaseline.engine.settings import Settings
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.labels import Language, schedulable
from phaseline.machines.docs import wording
from phaseline.schemas.records import Entity, Transition
from phaseline.schemas.subjects import ancestor_id

every = click.option("--all", "deleted", is_flag=True, help="Also what is deleted.")


@click.command(
    cls=Page,
    examples=[
        ("phaseline get node c1/pool-a/n7", ""),
        ("phaseline get node c1/pool-a/n7 --at 03:12", "as it was tonight at 03:12"),
        ("phaseline get node c1/pool-a/n7 --json | jq .facets.phase.state", ""),
    ],
)
@click.argument("kind")
@click.argument("entity_id", metavar="ID")
@options.at
@options.language
@options.as_json
@options.connected
def get(settings: Settings, kind: str, entity_id: str, *, at: When | None, lang: Language, as_json: bool) -> int | None:
    """Show one entity as it stands, or as it stood: its state, what it is called, since when and why."""

    async def work() -> None:
        async with Client.open(settings) as client:
            view = await client.at(at)
            last = await view.last(kind, entity_id)
            if as_json:
                render.show_json(render.entity_map(last.entity))
            else:
                render.show_pairs(described(client.kinds, last, lang, moment_of(view)))

    return terminal.run(work())


def described(kinds: Kinds, last: Transition, language: Language, now: int) -> Iterator[tuple[str, Text]]:
    """Everything a person may ask about one entity, by name."""
    entity = last.entity
    yield entity.kind, render.text_of(entity.id, "bold")
    for name, facet in zip(entity.names, entity.facets, strict=True):
        label = render.label(kinds, entity.kind, name, facet.state, language)
        state = render.state(kinds, entity.kind, name, facet.state)
        yield name if len(entity.names) > 1 else "state", Text.assemble(state, "  " if label else "", label)
        if facet.base != facet.state:
            yield "its base", render.state(kinds, entity.kind, name, facet.base)
        yield "since", render.text_of(f"{render.moment(facet.since)}, {render.span(now - facet.since)}")
        if name in entity.timers:
            due = entity.timers[name]
            yield "timer", render.text_of(f"{render.moment(due)}, in {render.span(due - now)}")
        known = render.facet_of(kinds, entity.kind, name)
        fit = None if known is None else schedulable(known, facet.state)
        if fit is not None:
            yield "schedulable", render.text_of("yes" if fit else "no")
    for name, value in entity.attributes.items():
        yield name, render.text_of(wording.plain_value(value))
    said = render.words(last.reason, last.message)
    yield "version", render.text_of(entity.version)
    yield "because", Text.assemble(render.because(last), ": " if said else "", said)


@click.command(
    name="list",
    cls=Page,
    examples=[
        ("phaseline list node --state Failed", ""),
        ("phaseline list --tree c1/pool-a", ""),
        ("phaseline list node --state Failed --at 2h", "what had failed two hours ago"),
        ("phaseline list node --json | jq -r .id", ""),
    ],
)
@click.argument("kind", required=False)
@click.option("--tree", metavar="ID", help="Only this entity and what is under it.")
@click.option("--state", metavar="STATE", help="Only what is in this state, like Failed.")
@every
@options.at
@options.language
@options.as_json
@options.connected
def list_(
    settings: Settings,
    kind: str | None,
    *,
    tree: str | None,
    state: str | None,
    deleted: bool,
    at: When | None,
    lang: Language,
    as_json: bool,
) -> int | None:
    """List entities as they stand, or stood, ids in natural order."""

    async def work() -> None:
        async with Client.open(settings) as client:
            view = await client.at(at)
            found = [entity async for entity in view.list(kind, tree=tree, state=state, deleted=deleted)]
            if as_json:
                for entity in found:
                    render.show_json(render.entity_map(entity))
                return
            now = moment_of(view)
            if found:
                render.show(table(client.kinds, found, lang, now))
            terminal.say(f"{len(found):,} found" if found else "nothing found")

    return terminal.run(work())


def table(kinds: Kinds, found: Sequence[Entity], language: Language, now: int) -> Any:
    """Entities in rows; `now`, ns, is what durations end at."""
    shown = render.columns("KIND", "ID", "STATE", "LABEL", "FOR", "VERSION")
    for entity in found:
        several = len(entity.names) > 1
        pairs = list(zip(entity.names, entity.facets, strict=True))
        states = [
            Text.assemble(f"{name}: " if several else "", render.state(kinds, entity.kind, name, facet.state))
            for name, facet in pairs
        ]
        labels = [render.label(kinds, entity.kind, name, facet.state, language) for name, facet in pairs]
        shown.add_row(
            render.text_of(entity.kind), render.text_of(entity.id), Text(", ").join(states),
            Text(", ").join(filter(None, labels)), render.text_of(render.span(now - max(f.since for f in entity.facets))),
            render.text_of(entity.version),
        )  # fmt: skip
    return shown


@click.command(
    cls=Page,
    examples=[
        ("phaseline tree c1", ""),
        ("phaseline tree c1 --depth 1 --lang zh", ""),
        ("phaseline tree c1/pool-a", ""),
    ],
)
@click.argument("root", metavar="ID")
@click.option(
    "--depth", type=click.IntRange(0), metavar="N", help="Show N levels below it; the counts tell of the rest."
)
@every
@options.at
@options.language
@options.as_json
@options.connected
def tree(
    settings: Settings, root: str, *, depth: int | None, deleted: bool, at: When | None, lang: Language, as_json: bool
) -> int | None:
    """Show an entity and all that is under it, now or then, with states, labels and counts."""

    async def work() -> None:
        async with Client.open(settings) as client:
            view = await client.at(at)
            forest = Forest(client.kinds, await view.tree(root, deleted=deleted))
            if as_json:
                for top in forest.tops:
                    render.show_json(forest.nested(top))
                return
            moment_of(view)
            for top in forest.tops:
                render.show(forest.drawn(top, lang, depth))

    return terminal.run(work())


class Forest:
    """Entities hung under their parents. `tops`: those whose parent is not among them."""

    def __init__(self, kinds: Kinds, found: Sequence[Entity]) -> None:
        """`found` are sorted; children keep that order, kind by kind."""
        self.kinds = kinds
        known = {(entity.kind, entity.id) for entity in found}
        self.below: dict[tuple[str, str], list[Entity]] = {}
        self.tops: list[Entity] = []
        for entity in found:
            above = self._parent(entity)
            (self.below.setdefault(above, []) if above in known else self.tops).append(entity)

    def _parent(self, entity: Entity) -> tuple[str, str] | None:
        kind = self.kinds.get(entity.kind)
        if kind is None or kind.parent is None:
            return None
        return kind.parent, ancestor_id(entity.id, kind.parent_arity)

    def children(self, entity: Entity) -> list[Entity]:
        """What hangs under it."""
        return self.below.get((entity.kind, entity.id), [])

    def nested(self, entity: Entity) -> dict[str, Any]:
        """As JSON shows it."""
        return {**render.entity_map(entity), "children": [self.nested(child) for child in self.children(entity)]}

    def drawn(self, entity: Entity, language: Language, depth: int | None) -> Tree:
        """As a terminal shows it, `depth` levels deep."""
        branch = Tree(self._title(entity, language), guide_style="bright_black")
        for child in self.children(entity) if depth != 0 else ():
            branch.add(self.drawn(child, language, None if depth is None else depth - 1))
        return branch

    def _title(self, entity: Entity, language: Language) -> Text:
        above = self._parent(entity)
        name = entity.id if above is None else entity.id[len(above[1]) + 1 :]
        counts = self._counts(entity)
        return Text.assemble(
            render.text_of(f"{entity.kind} ", "bright_black"), render.text_of(name, "bold"), "  ",
            render.states(self.kinds, entity, language),
            "  " if counts else "", render.text_of(counts, "bright_black"),
        )  # fmt: skip

    def _counts(self, entity: Entity) -> str:
        """`3 nodes: 2 Running, 1 Failed; 1 component: 1 Running` of its children, facet by facet."""
        by_kind: dict[str, list[Counter[str]]] = {}
        for child in self.children(entity):
            counters = by_kind.setdefault(child.kind, [Counter() for _ in child.facets])
            for counter, facet in zip(counters, child.facets, strict=True):
                counter[facet.state.phase] += 1
        return "; ".join(_counted(kind, counters) for kind, counters in by_kind.items())


def _counted(kind: str, counters: Sequence[Counter[str]]) -> str:
    total = counters[0].total()
    parts = (", ".join(f"{count:,} {phase}" for phase, count in phases.most_common()) for phases in counters)
    return f"{total:,} {kind}{'' if total == 1 else 's'}: {' / '.join(parts)}"
