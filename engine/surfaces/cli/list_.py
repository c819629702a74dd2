"""The command `list`: entities, at a moment.

Belongs here: its options and layout. Does not: reading states (`phaseline.engine.log.state_view`).
"""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import click
from msgspec.structs import replace

from phaseline.engine.log.explain import identities
from phaseline.engine.log.explain.identities import NOTHING_DOUBLED, Doubled
from phaseline.engine.log.latest import Progress
from phaseline.engine.log.questions import listing
from phaseline.engine.log.questions.selection import ClassChoice, Selection
from phaseline.engine.log.questions.selector import Selector
from phaseline.engine.log.state_view import Key
from phaseline.engine.log.when import Moment, When
from phaseline.engine.surfaces.cells.reading import Reading
from phaseline.engine.surfaces.cli import (
    cells,
    following,
    names,
    options,
    render,
    selection,
    similar_ids,
    terminal,
    undecided,
)
from phaseline.engine.surfaces.cli.cells import Installations
from phaseline.engine.surfaces.cli.help import Page
from phaseline.engine.surfaces.cli.layout import WIDE, Column
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.cli.styled import Text
from phaseline.engine.surfaces.cli.terminal import when_slow
from phaseline.engine.surfaces.client import maps
from phaseline.engine.surfaces.client.entity_view import EntityView, states_of
from phaseline.engine.surfaces.client.reading_client import ReadingClient
from phaseline.engine.surfaces.client.selection import by_id, order_of
from phaseline.engine.surfaces.client.surroundings import ALONE, Surroundings, SurroundingsReader
from phaseline.machines.compiler.classes.entity_classes import class_of_entity, class_since
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.labels import Language
from phaseline.machines.language.endings import state_for_people
from phaseline.schemas.errors import Exit, NameUnknown
from phaseline.schemas.records import Entity, Transition

FIRST, FURTHER = 50, 1_000
"""Entities that are printed at once where they are printed as they are read: at first, and later."""
LONG = 20_000
"""Entities from which on it is said how far the reading is, if it takes long."""


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
        ("phaseline list --json --sort-by none", "many entities: the first line comes at once"),
        ("phaseline list cluster --watch", "all clusters, and then each change"),
        ("phaseline list --class bad --for 10m --sort-by bad-since", "what is bad for ten minutes, the longest first"),
        ("phaseline list --left-behind", "what is Deleted and was reported to be there still"),
        ("phaseline list --duplicates", "things that stand at two places of a tree, by their identities"),
        ("phaseline list node --json | jq -r .id", ""),
        ("phaseline list --cell east=nats://east:4222 --cell west=@west", "of two installations"),
    ],
)
@names.optional_kind
@names.tree
@names.state
@names.condition
@names.class_
@names.lasting
@selection.selector
@selection.sort_by
@options.include_deleted
@click.option("--left-behind", is_flag=True, help="Only what is Deleted and was reported to be there still.")
@click.option(
    "--duplicates",
    is_flag=True,
    help="Only what has an identity that stands elsewhere in its tree too (docs/lives.md).",
)
@following.follow
@options.at
@options.language
@cells.reading
@options.output("json", "yaml", "wide", "name")
def list_(
    installations: Installations, kind: str | None, *, tree: str | None, at: When | None, lang: Language,
    sort_by: str | None, follow: bool, output: Output, **which: Any,
) -> int | None:  # fmt: skip
    """List entities with their states, sorted by id. With --at, list them as they were at an earlier moment.

    They are sorted by id. If workers name those that are meant, lines come at once; otherwise the first one comes when
    the last entity was read. With --sort-by none each is printed as soon as it is read, in no order.

    With --watch, list them, and then each one again whenever it changes, until it no longer fits.

    With --cell, list those of several installations, each with the name of its cell. Cells that cannot be read are
    named at the end; the exit code is then that of the first error.
    """
    if follow:
        following.check(at)
    installations.check_common("--at", at)
    wanted = ListFilter(**which)
    if wanted.duplicates and (follow or sort_by == selection.UNSORTED):
        raise click.UsageError("--duplicates compares all entities: it goes with neither --watch nor --sort-by none")
    shown_list = ListQuery(wanted, kind, tree, at, follow_on=follow)

    async def work() -> int:
        async with installations.reading(tree, at) as reading:
            if sort_by in (None, selection.UNSORTED) and not (follow or wanted.duplicates or reading.names):
                printing = ListPrinter(shown_list, output, lang, in_order=sort_by is None)
                [(_, number)] = await reading.each(printing.print)
                await shown_list.check(reading, installations.kinds, bool(number))
                await similar_ids.tell_absent(await reading.clients(), tree if number == 0 else None)
                say_how_many(number, output)
                return cells.end(reading, output)
            listed = dict(await reading.each(shown_list.read))
            shown = [one for cell, found in listed.items() for one in found.lines(cell)]
            await shown_list.check(reading, installations.kinds, bool(shown))
            if sort_by not in (None, selection.UNSORTED):
                key = order_of(installations.kinds, [one.record for one in shown], sort_by, kind, lang)
                shown.sort(key=lambda one: key(one.record))
            elif sort_by is None:
                shown = reading.in_order(shown, lambda one: by_id(one.record))
            now = max(0 if output.is_data else render.time_at(found.moment, cell) for cell, found in listed.items())
            page = EntityLines(installations.kinds, output, lang, now, with_class=wanted.by_class(sort_by))
            page.print(shown)
            await similar_ids.tell_absent(await reading.clients(), None if shown else tree)
            if not follow:
                say_how_many(len(shown), output)
                return cells.end(reading, output)
            async for _, one in reading.follow(partial(shown_list.follow, listed), partial(cells.tell, output)):
                page.add(one)
                output.flush_when_idle()
            return Exit.DONE

    return terminal.run(work())


def say_how_many(count: int, output: Output) -> None:
    """Say how many entities were printed."""
    if not output.is_data:
        terminal.say(render.counted(count, "entity", "entities") if count else "no entities found")


class ListedEntity(NamedTuple):
    """What is printed of an entity: its cell, its last transition, and what others tell of it.

    doubled: which of its identities stand elsewhere too.
    """

    cell: str
    record: Transition
    around: Surroundings = ALONE
    doubled: Mapping[str, Sequence[Key]] = {}


class ListResult(NamedTuple):
    """What was read of one installation. start: where a watch goes on. everything: what was read, `found` or more."""

    moment: Moment | None
    start: int
    everything: Sequence[Transition]
    found: Sequence[Transition]
    around: Surroundings
    doubled: Doubled = NOTHING_DOUBLED

    def lines(self, cell: str) -> Iterator[ListedEntity]:
        """What is to be printed of it."""
        for one in self.found:
            yield ListedEntity(cell, one, self.around, self.doubled.get((one.entity.kind, one.entity.id), {}))


class ListQuery(NamedTuple):
    """Which entities are listed, and when. follow_on: whether their changes are shown too."""

    wanted: "ListFilter"
    kind: str | None
    tree: str | None
    at: When | None
    follow_on: bool

    async def read(self, client: ReadingClient) -> ListResult:
        """The entities of one installation."""
        view = await client.at(self.at)
        start = await view.next_place() if self.follow_on else 0
        found = everything = await self.wanted.read(view, self.kind, self.tree, whole=self.follow_on)
        undecided.say_unanswered(view)
        if self.follow_on:
            found = [record for record in everything if self.wanted.fits(record.entity)]
        found, twice = await self._doubled(view, found) if self.wanted.duplicates else (found, NOTHING_DOUBLED)
        around = await SurroundingsReader(states_of(view)).of([record.entity for record in found])
        return ListResult(view.moment, start, everything, found, around, twice)

    async def _doubled(
        self, view: EntityView[Moment | None], found: Sequence[Transition]
    ) -> tuple[Sequence[Transition], Doubled]:
        """Those of which an identity stands elsewhere too, those of one thing beside each other."""
        everything = [one.entity for one in await view.last_of(tree=self.tree)]
        known = await identities.all_remembered(states_of(view), everything, self.tree)
        twice, entities = identities.doubled(known), {(one.kind, one.id): one for one in known}
        keys = [(one, (one.entity.kind, one.entity.id)) for one in found]
        some = [replace(one, entity=entities[key]) for one, key in keys if key in twice]
        return sorted(some, key=lambda one: min(twice[one.entity.kind, one.entity.id])), twice

    async def check(self, reading: Reading, kinds: Kinds, any_selected: bool) -> None:
        """Raise `NameUnknown` for an attribute that nothing has. Only if nothing is selected are the others read."""
        selector = self.wanted.selector
        if any_selected or not selector.requirements:
            return
        try:
            selector.check(kinds, self.kind)
        except NameUnknown:
            held = await reading.each(self._all)
            selector.check(kinds, self.kind, [one for _, found in held for one in found])

    async def _all(self, client: ReadingClient) -> Sequence[Transition]:
        """All entities of the kind and the tree, whatever is selected."""
        return await (await client.at(self.at)).last_of(self.kind, tree=self.tree, deleted=self.wanted.deleted)

    async def follow(
        self, listed: dict[str, ListResult], cell: str, client: ReadingClient
    ) -> AsyncIterator[ListedEntity]:
        """The changes after what was listed. A cell that was not listed, or has failed since, is listed first."""
        before = listed.pop(cell, None)
        if before is None:
            before = await self.read(client)
            for one in before.lines(cell):
                yield one
        async for found in following.after(
            client, before.start, before.everything, self.wanted.fits, kind=self.kind, tree=self.tree
        ):
            yield ListedEntity(cell, found.record)


class ListFilter:
    """Which entities are listed."""

    def __init__(
        self, state: str | None, condition: tuple[str, ...], selector: Selector, class_: tuple[str, ...],
        lasting: float, *, deleted: bool, left_behind: bool, duplicates: bool,
    ) -> None:  # fmt: skip
        """What the options say."""
        self.classes, self.lasting = class_, lasting
        self._of_class, self._kinds, self._wanted = ClassChoice.read(class_, lasting), Kinds(()), Selection()
        self.state, self.condition, self.selector = state, condition, selector
        self.deleted, self.left_behind, self.duplicates = deleted or left_behind, left_behind, duplicates

    async def read(
        self, view: EntityView[Moment | None], kind: str | None, tree: str | None, *, whole: bool
    ) -> Sequence[Transition]:
        """Those that are chosen. whole: all of the kind and of the tree, for `fits` to choose."""
        wanted = self._selection(view, kind, tree)
        if not whole:
            return await listing.selected(states_of(view), wanted, view.now_ns)
        return await view.last_of(kind, tree=tree, deleted=True)

    def each(
        self, view: EntityView[Moment | None], kind: str | None, tree: str | None, progress: Progress, *, in_order: bool
    ) -> AsyncIterator[Sequence[Transition]]:
        """Those that are chosen, some at a time. progress: is told how many are read, if many have to be."""
        states, chosen = states_of(view), self._selection(view, kind, tree)
        return listing.each_selected(states, chosen, view.now_ns, progress, in_order=in_order)

    def _selection(self, view: EntityView[Moment | None], kind: str | None, tree: str | None) -> Selection:
        """What the options say, of a kind and a tree."""
        self._kinds, self._wanted = view.kinds, listing.selection(
            view.kinds, kind, tree=tree, state=self.state, condition=self.condition, class_=self.classes,
            lasting=self.lasting, deleted=self.deleted, selector=self.selector, left_behind=self.left_behind,
        )  # fmt: skip
        return self._wanted

    def fits(self, entity: Entity) -> bool:
        """Whether an entity is chosen."""
        return self._wanted.selects(self._kinds, entity, render.now_ns())

    def by_class(self, sort_by: str | None) -> bool:
        """Whether the class is what somebody looks for."""
        return not self._of_class.selects_all or sort_by in ("bad-since", "class", "class-since")


class ListPrinter(NamedTuple):
    """Prints the entities of one installation as they come: sorted by id, or in no order. It holds few of them."""

    query: ListQuery
    output: Output
    language: Language
    in_order: bool

    async def print(self, client: ReadingClient) -> int:
        """Print them; returns how many."""
        query, output = self.query, self.output
        view = await client.at(query.at)
        now, with_class = 0 if output.is_data else render.time_at(view.moment, ""), query.wanted.by_class(None)
        page, count = EntityLines(view.kinds, output, self.language, now, with_class=with_class), 0
        reader = SurroundingsReader(states_of(view), with_shut=output.is_data)
        found = query.wanted.each(view, query.kind, query.tree, told_when_slow(view), in_order=self.in_order)
        async for records in some_at_a_time(found):
            around = await reader.of([one.entity for one in records])
            page.print([ListedEntity("", one, around) for one in records])
            count += len(records)
        return count


def told_when_slow(view: EntityView[Moment | None]) -> Progress:
    """Says which partitions no worker answered for, before they are read, and now and then how far the reading is."""
    told: list[Progress] = []

    def tell(count: int) -> None:
        if not told:
            undecided.say_unanswered(view)
            told.append(when_slow("reading", "entities"))
        if count >= LONG:
            told[0](count)

    return tell


class EntityLines:
    """Prints entities, a line each: first those that are there, then further ones."""

    def __init__(
        self, kinds: Kinds, output: Output, language: Language, now: int, *, with_class: bool = False
    ) -> None:  # fmt: skip
        """Durations end at `now`, ns. with_class: whether the class is shown, however narrow the table is."""
        self.kinds, self.output, self.language, self.now = kinds, output, language, now
        self._rows = output.rows(BY_CLASS if with_class else COLUMNS)
        self._described = render.Described(kinds, language)

    def print(self, found: Sequence[ListedEntity]) -> None:
        """Print the entities that are there."""
        for one in found:
            self._add(one, self.now)
        self._rows.settle()
        self.output.flush()

    def add(self, one: ListedEntity) -> None:
        """Print one more, which changed just now."""
        self._add(one, render.now_ns())
        self._rows.settle()

    def _add(self, one: ListedEntity, now: int) -> None:
        if self.output.is_data:
            shown = maps.entity_map(self.kinds, one.record, self.language, one.around)
            self.output.show(cells.named(one.cell, shown), maps.name_of(one.record.entity))
        else:
            self._rows.add(EntityRow.of(self._described, one, now))


async def some_at_a_time(found: AsyncIterator[Sequence[Transition]]) -> AsyncIterator[list[Transition]]:
    """The same in other lists: the first one is short, so that something is printed at once."""
    most = FIRST
    async for some in found:
        start = 0
        while start < len(some):
            yield [*some[start : start + most]]
            start, most = start + most, FURTHER


class EntityRow(NamedTuple):
    """An entity in the table, with the texts of its states and of their labels. Durations end at `now`, ns."""

    shown: ListedEntity
    entity: Entity
    states: Text
    labels: Text
    now: int
    kinds: Kinds

    @classmethod
    def of(cls, described: render.Described, shown: ListedEntity, now: int) -> "EntityRow":
        """The row of an entity."""
        entity = shown.record.entity
        found = tuple([state_for_people(facet.state, entity.attributes) for facet in entity.facets])
        states, labels = described[entity.kind, entity.names, found]
        if left := render.left_behind(entity):
            states = Text.assemble(states, left)
        for uid, places in shown.doubled.items():
            also = ", ".join(f"{kind} {entity_id}" for kind, entity_id in places)
            states = Text.assemble(states, render.text_of(f"; {uid} is also at {also}", "yellow"))
        if parts := shown.around.parts_of(entity):
            partly = render.COMMA.join(render.text_of(found.text(), "yellow") for found in parts.values())
            states = Text.assemble(states, "; ", partly)
        return cls(shown, entity, states, labels, now, described.kinds)


def _since(row: EntityRow) -> Text:
    return render.word(render.duration(row.now - max([facet.since_ns for facet in row.entity.facets])))


def _class(row: EntityRow) -> Text:
    found, since = class_of_entity(row.kinds, row.entity), class_since(row.kinds, row.entity)
    return render.word(f"{found} {render.duration(row.now - since)}", render.CLASS_COLOURS[found])


COLUMNS: Final[tuple[Column[EntityRow], ...]] = (
    Column("CELL", lambda row: render.word(row.shown.cell) if row.shown.cell else render.NOTHING),
    Column("KIND", lambda row: render.word(row.entity.kind), worth=70),
    Column("ID", lambda row: Text(row.entity.id)),
    Column("STATE", lambda row: row.states, wraps=True),
    Column("LABEL", lambda row: row.labels, worth=40, wraps=True),
    Column("FOR", _since, worth=60),
    Column("VERSION", lambda row: render.word(str(row.entity.version)), worth=20),
    Column(
        "STALE",
        lambda row: render.stale(row.shown.around.stale_of(row.entity), row.entity, row.now),
        worth=80,
        wraps=True,
    ),
    Column("CLASS", _class, WIDE),
    Column("REASON", lambda row: Text(row.shown.record.reason or ""), WIDE),
    Column("MESSAGE", lambda row: Text(row.shown.record.message or ""), WIDE),
    Column("CAUSE", lambda row: render.cause(row.shown.record), WIDE),
)
BY_CLASS: Final = tuple(one._replace(worth=75) if one.title == "CLASS" else one for one in COLUMNS)
"""The columns where somebody looks for classes."""
