"""The commands `get`, `list` and `tree`: entities at a moment.

Belongs here: options and layout of these three. Does not: reading states (`phaseline.engine.queries`).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import click
from rich.text import Text
from rich.tree import Tree

from phaseline.engine.cli import looks, options, talk
from phaseline.engine.cli.moments import moment_of
from phaseline.engine.cli.pages import Page
from phaseline.engine.client import Client
from phaseline.engine.settings import Settings
from phaseline.engine.tree import ancestor_id
from phaseline.engine.when import When
from phaseline.machines import wording
from phaseline.machines.kinds import Kinds
from phaseline.machines.labels import Language, schedulable
from phaseline.schemas.records import Entity, Transition

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
                looks.show_json(looks.entity_map(last.entity))
            else:
                looks.show_pairs(described(client.kinds, last, lang, moment_of(view)))

    return talk.run(work())


def described(kinds: Kinds, last: Transition, language: Language, now: int) -> Iterator[tuple[str, Text]]:
    """Everything a person may ask about one entity, by name."""
    entity = last.entity
    yield entity.kind, looks.text_of(entity.id, "bold")
    for name, facet in zip(entity.names, entity.facets, strict=True):
        label = looks.label(kinds, entity.kind, name, facet.state, language)
        state = looks.state(kinds, entity.kind, name, facet.state)
        yield name if len(entity.names) > 1 else "state", Text.assemble(state, "  " if label else "", label)
        if facet.base != facet.state:
            yield "its base", looks.state(kinds, entity.kind, name, facet.base)
        yield "since", looks.text_of(f"{looks.moment(facet.since)}, {looks.span(now - facet.since)}")
        if name in entity.timers:
            due = entity.timers[name]
            yield "timer", looks.text_of(f"{looks.moment(due)}, in {looks.span(due - now)}")
        known = looks.facet_of(kinds, entity.kind, name)
        fit = None if known is None else schedulable(known, facet.state)
        if fit is not None:
            yield "schedulable", looks.text_of("yes" if fit else "no")
    for name, value in entity.attributes.items():
        yield name, looks.text_of(wording.plainly(value))
    said = looks.words(last.reason, last.message)
    yield "version", looks.text_of(entity.version)
    yield "because", Text.assemble(looks.because(last), ": " if said else "", said)


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
                    looks.show_json(looks.entity_map(entity))
                return
            now = moment_of(view)
            if found:
                looks.show(table(client.kinds, found, lang, now))
            talk.say(f"{len(found):,} found" if found else "nothing found")

    return talk.run(work())


def table(kinds: Kinds, found: Sequence[Entity], language: Language, now: int) -> Any:
    """Entities in rows; `now`, ns, is what durations end at."""
    shown = looks.columns("KIND", "ID", "STATE", "LABEL", "FOR", "VERSION")
    for entity in found:
        several = len(entity.names) > 1
        pairs = list(zip(entity.names, entity.facets, strict=True))
        states = [
            Text.assemble(f"{name}: " if several else "", looks.state(kinds, entity.kind, name, facet.state))
            for name, facet in pairs
        ]
        labels = [looks.label(kinds, entity.kind, name, facet.state, language) for name, facet in pairs]
        shown.add_row(
            looks.text_of(entity.kind), looks.text_of(entity.id), Text(", ").join(states),
            Text(", ").join(filter(None, labels)), looks.text_of(looks.span(now - max(f.since for f in entity.facets))),
            looks.text_of(entity.version),
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
                    looks.show_json(forest.nested(top))
                return
            moment_of(view)
            for top in forest.tops:
                looks.show(forest.drawn(top, lang, depth))

    return talk.run(work())


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
        return {**looks.entity_map(entity), "children": [self.nested(child) for child in self.children(entity)]}

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
            looks.text_of(f"{entity.kind} ", "bright_black"), looks.text_of(name, "bold"), "  ",
            looks.states(self.kinds, entity, language),
            "  " if counts else "", looks.text_of(counts, "bright_black"),
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
