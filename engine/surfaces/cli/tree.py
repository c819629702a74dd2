"""The command `tree`: an entity and everything below it, at a moment.

Belongs here: its options, and entities drawn as a tree. Does not: reading states (`phaseline.engine.log.state_view`).
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import click

from phaseline.engine.log.explain import unknown_parts
from phaseline.engine.log.questions.selector import Selector
from phaseline.engine.log.when import When
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli import (
    cells,
    entity_name,
    following,
    options,
    render,
    render_waves,
    selection,
    terminal,
    undecided,
)
from phaseline.engine.surfaces.cli.help import Page
from phaseline.engine.surfaces.cli.layout import Branch
from phaseline.engine.surfaces.cli.output import NAME, Output
from phaseline.engine.surfaces.cli.styled import Text
from phaseline.engine.surfaces.client import maps
from phaseline.engine.surfaces.client.surroundings import Surroundings
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.labels import Language
from phaseline.machines.compiler.relations import parent_of, with_all_above
from phaseline.machines.language.deadlines import counted_as
from phaseline.schemas.records import Entity, Transition, own_facets

ALL_DELETED = "everything there is deleted: --all shows it"


@click.command(
    cls=Page,
    examples=[
        ("phaseline tree c1", ""),
        ("phaseline tree c1 --depth 1 --lang zh", ""),
        ("phaseline tree c1/pool-a", ""),
        ("phaseline tree c1 -l default=true", "the default pools, and what is above them"),
        ("phaseline tree proj+vfw+v1+group --current", "without the contexts of earlier revisions"),
    ],
)
@click.option(
    "--depth", type=options.WholeNumber(0), metavar="N", help="Show N levels only. The counts cover all levels."
)
@selection.selector
@options.include_deleted
@click.option(
    "--current", is_flag=True, help="Leave out what is not current, such as the app contexts of earlier revisions."
)
@options.at
@options.language
@following.follow
@cells.locating
@options.output("json", "yaml", "wide", "name")
@entity_name.argument()
def tree(
    settings: Settings, kind: str | None, entity_id: str, *, depth: int | None, selector: Selector, deleted: bool,
    current: bool, at: When | None, lang: Language, follow: bool, output: Output,
) -> int | None:  # fmt: skip
    """Show an entity and everything below it, with states, labels and counts of children.

    With -l, show the entities that are selected, and those above them. The counts are of what is shown.

    With --watch, go on with a line for each change of any of them.
    """
    if follow:
        following.check(at)

    async def work() -> None:
        async with undecided.reading(settings, entity_id, at) as client:
            view = await client.at(at)
            start = await view.next_place() if follow else 0
            if kind is not None:
                await view.last(kind, entity_id)
            everything = await view.last_of_tree(entity_id, deleted=deleted)
            selector.check(client.kinds, None, everything)
            part = TreePart(client.kinds, kind, selector)
            found = part.of(everything if not current else only_current(client.kinds, everything))
            entities = [record.entity for record in found]
            unknown = unknown_parts.count(client.kinds, entities, [record.entity for record in everything])
            shut = await view.shut(entities) if output.is_data else None
            forest = Forest(client.kinds, found, Surroundings(await view.stale(entities), unknown, shut))
            if not output.is_data:
                forest.now = render.time_of(view)
                if not found and not follow:
                    terminal.say("no entities found" if everything else ALL_DELETED)
            for top in forest.tops:
                if output.form == NAME:
                    for entity in filter(part.holds, forest.whole(top)):
                        output.show(None, maps.name_of(entity))
                elif output.is_data:
                    output.show(forest.nested(top, lang))
                else:
                    output.tree(forest.drawn(top, lang, depth))
            if follow:
                levels = None if depth is None else entity_id.count("/") + depth
                await following.show(
                    client, start, everything,
                    lambda one: part.holds(one) and (levels is None or one.id.count("/") <= levels),
                    output, lang, tree=entity_id,
                )  # fmt: skip

    return terminal.run(work())


class TreePart(NamedTuple):
    """Which entities of a tree are shown: those of one kind at its top and what is below them, as selected."""

    kinds: Kinds
    top: str | None
    selector: Selector

    def holds(self, entity: Entity) -> bool:
        """Whether an entity is selected itself."""
        is_inside = self.top is None or entity_name.is_part_of(self.kinds, entity.kind, self.top)
        return is_inside and self.selector.selects(entity)

    def of(self, found: Sequence[Transition]) -> Sequence[Transition]:
        """The entities that are selected, and those above them, in the same order."""
        chosen = [one for one in found if self.holds(one.entity)]
        if len(chosen) == len(found):
            return found
        shown = {name for one in chosen for name in with_all_above(self.kinds, one.entity.kind, one.entity.id)}
        return [one for one in found if (one.entity.kind, one.entity.id) in shown]


def only_current(kinds: Kinds, found: Sequence[Transition]) -> Sequence[Transition]:
    """The entities without the children that are not the current one of what names one, and what is below these."""
    named = {
        (kind.table.current[1], f"{one.entity.id}/{one.entity.attributes.get(kind.table.current[0])}")
        for one in found
        if (kind := kinds.get(one.entity.kind)) is not None and kind.table.current is not None
    }
    wanted = {kind for kind, _ in named}
    old = {(one.entity.kind, one.entity.id) for one in found if one.entity.kind in wanted}.difference(named)
    return [one for one in found if not old.intersection(with_all_above(kinds, one.entity.kind, one.entity.id))]


class Forest(maps.EntityTree):
    """Entities arranged under their parents, as a terminal shows them. now: at which time, ns."""

    now = 0

    def children(self, entity: Entity) -> list[Entity]:
        """The children of an entity; those of an application in the order in which they are synchronised."""
        return render_waves.in_order(entity, super().children(entity))

    def drawn(self, entity: Entity, language: Language, depth: int | None, under: Entity | None = None) -> Branch:
        """The entity as a terminal shows it, `depth` levels deep, under the entity above it."""
        branch = Branch(self._title(entity, language, under))
        children = self.children(entity) if depth != 0 else []
        departed = [*render_waves.departed(entity, children)] if depth != 0 else []
        for child in children:
            while departed and departed[0][0] < render_waves.rank_of(child):
                branch.add(render.text_of(departed.pop(0)[1], "bright_black"))
            branch.add(self.drawn(child, language, None if depth is None else depth - 1, entity))
        for _, line in departed:
            branch.add(render.text_of(line, "bright_black"))
        return branch

    def _title(self, entity: Entity, language: Language, under: Entity | None) -> Text:
        above = parent_of(self.kinds, entity.kind, entity.id) if under is None else (under.kind, under.id)
        name = entity.id if above is None else entity.id[len(above[1]) + 1 :]
        counts, beside = self._summary(entity), render_waves.beside(under, entity)
        stale = render.stale(self.around.stale_of(entity), entity, self.now)
        dwell = render.telling_dwell(self.kinds, entity, self.now) if self.now else render.NOTHING
        return Text.assemble(
            render.text_of(f"{entity.kind} ", "bright_black"), render.text_of(name, "bold"), "  ",
            render.states(self.kinds, entity, language, self.around.parts_of(entity)),
            render.text_of(f"  {beside}" if beside else "", "cyan"),
            "  " if dwell else "", dwell,
            "  " if stale else "", stale,
            "  " if counts else "", render.text_of(counts, "bright_black"),
        )  # fmt: skip

    def _summary(self, entity: Entity) -> str:
        """The counts of its children: `3 nodes: 2 Running, 1 Failed; 1 component: 1 Running`."""
        by_kind: dict[str, list[Counter[str]]] = {}
        for child in self.children(entity):
            facets = own_facets(child)
            counters = by_kind.setdefault(child.kind, [Counter() for _ in facets])
            for counter, facet in zip(counters, facets, strict=True):
                counter[counted_as(facet.state)] += 1
        return "; ".join(_counted(kind, counters) for kind, counters in by_kind.items())


def _counted(kind: str, counters: Sequence[Counter[str]]) -> str:
    total = counters[0].total()
    parts = (", ".join(f"{count:,} {phase}" for phase, count in phases.most_common()) for phases in counters)
    return f"{render.counted(total, kind)}: {' / '.join(parts)}"
