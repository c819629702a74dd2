"""The command `overview`: what is bad now, since when and because of what, on one screen.

Belongs here: its options and layout. Does not: making the overview (`surfaces.overview`).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import click

from phaseline.engine.log.when import When
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli import names, options, render, terminal, undecided
from phaseline.engine.surfaces.cli.help import Page
from phaseline.engine.surfaces.cli.layout import Column
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.cli.render import counted
from phaseline.engine.surfaces.cli.styled import Text
from phaseline.engine.surfaces.overview.overview import Noticed, Overview, TreeClasses, Trouble, as_map
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.table import CLASSES
from phaseline.schemas.records import own_facets

TROUBLES, TREES, OTHERS = 8, 5, 2
"""The most lines about each, so that it fits one screen. A line more says how many there are beside them."""
MOST_SAID = 60
"""The most characters of a message in a narrow terminal; `why` says all."""
LIVING = [name for name in CLASSES if name != "gone"]


@click.command(
    cls=Page,
    examples=[
        ("phaseline overview", "what a person asks in the morning"),
        ("phaseline overview --tree c1", "one tree"),
        ("phaseline overview --at 08:00", "as it was at eight"),
        ("phaseline overview --json | jq '.troubles[0]'", "what is bad for the longest time, for programs"),
    ],
)
@names.tree
@options.at
@options.connected
@options.archived
@options.output("json", "yaml", "wide")
def overview(settings: Settings, *, tree: str | None, at: When | None, output: Output) -> int | None:
    """Show what is bad now, the longest first, grouped by cause; and what else calls for somebody.

    A line stands for one cause: an entity whose state explains others is shown once, with their number. Time counts
    from when it became bad, whatever states it has had since.
    """

    async def work() -> None:
        async with undecided.reading(settings, tree, at) as client:
            view = await client.at(at)
            found = await view.overview(tree=tree)
            undecided.say_unanswered(view)
            if output.is_data:
                output.show(as_map(found))
                return
            render.time_of(view)
            OverviewScreen(client.kinds, output, found).print()

    return terminal.run(work())


class OverviewScreen:
    """Prints an overview for people."""

    def __init__(self, kinds: Kinds, output: Output, found: Overview) -> None:
        self._kinds, self._output, self._found = kinds, output, found

    def print(self) -> None:
        """Print it."""
        found, output = self._found, self._output
        total, trees = sum(found.classes.values()), found.numbers["trees"]
        output.line(f"{counted(total, 'entity', 'entities')} in {counted(trees, 'tree')}{_classes(found.classes)}")
        self._section("bad now", found.troubles, found.numbers["troubles"], TROUBLES, "list --class bad")
        if found.lately:
            output.line(f"in the last hour: {', '.join(lately(found.lately))}")
        for title, some, name in (
            ("silent", found.silent, "silent"),
            ("waits too long for an answer", found.stalled, "stalled"),
            ("left behind", found.left_behind, "left_behind"),
        ):
            alone = [Trouble(one, {}) for one in some]
            self._section(title, alone, found.numbers[name], OTHERS, MORE[name])
        if found.not_assessed:
            output.line(f"not assessed: {found.not_assessed:,} of {total:,}: phaseline list --class unknown")
        self._trees(found.trees, trees)

    def _section(self, title: str, some: Sequence[Trouble], number: int, most: int, command: str) -> None:
        if not some:
            if title == "bad now":
                self._output.line(self._nothing_bad())
            return
        self._output.line(render.text_of(f"{title}: {number:,}", "bold"))
        rows = [TroubleRow(self._kinds, one, self._found.now_ns) for one in some[:most]]
        is_narrow = self._output.width is not None and self._output.width < render.NARROW
        self._output.table(NARROW if is_narrow else COLUMNS, rows, indent=2)
        if number > len(rows):
            self._output.line(f"  and {number - len(rows):,} more: phaseline {command}")

    def _nothing_bad(self) -> Text:
        """What is said where nothing is bad: that is good only where all is known."""
        found = self._found
        if not found.classes:
            return render.text_of("nothing is known")
        if found.not_assessed or found.silent:
            return render.text_of("nothing is bad of what is known", "yellow")
        return render.text_of("nothing is bad", "green")

    def _trees(self, trees: Sequence[TreeClasses], number: int) -> None:
        unwell = [one for one in trees if set(one.classes) - {"good", "excused"}]
        if not unwell:
            return
        self._output.line(render.text_of("trees", "bold"))
        self._output.table(TREE_COLUMNS, unwell[:TREES], indent=2)
        if number > len(unwell[:TREES]):
            self._output.line(f"  and {counted(number - len(unwell[:TREES]), 'more tree')}")


MORE = {
    "silent": "list --state Silent",
    "stalled": "list --condition Stalled",
    "left_behind": "list --left-behind",
}
"""By sort, the command that shows all."""


def lately(classes: Mapping[str, int]) -> Iterator[str]:
    """`12 became bad`, `3 became gone`."""
    for name, number in classes.items():
        yield f"{number:,} became {name}"


def _classes(classes: Mapping[str, int]) -> str:
    """`: 3 bad, 40 good`."""
    return f": {', '.join(f'{number:,} {name}' for name, number in classes.items())}" if classes else ""


class TroubleRow(NamedTuple):
    """A trouble in the table. Durations end at `now`, ns."""

    kinds: Kinds
    trouble: Trouble
    now: int

    @property
    def head(self) -> Noticed:
        """What explains the others."""
        return self.trouble.head

    @property
    def states(self) -> Text:
        """The states of the head, without those that are as they should be."""
        entity = self.head.entity
        found = [
            render.state(self.kinds, entity.kind, name, facet.state)
            for name, facet in zip(entity.names, own_facets(entity), strict=False)
        ]
        return Text(", ").join(found)

    @property
    def told(self) -> Text:
        """The states, and what the last record says, as far as it fits one screen."""
        message = self.head.message
        return Text.assemble(self.states, ": ", Text(message).clipped(MOST_SAID)) if message else self.states

    @property
    def others(self) -> Text:
        """`41 more: 40 nodes, 1 component`."""
        by_kind = ", ".join(counted(number, kind) for kind, number in self.trouble.others.items())
        return render.text_of(f"+{by_kind}" if by_kind else "")


COLUMNS: Final[tuple[Column[TroubleRow], ...]] = (
    Column("FOR", lambda row: render.text_of(render.duration(row.now - row.head.since_ns))),
    Column("WHAT", lambda row: Text(f"{row.head.entity.kind} {row.head.entity.id}")),
    Column("STATE", lambda row: row.states, wraps=True),
    Column("OTHERS", lambda row: row.others, wraps=True),
    Column("MESSAGE", lambda row: Text(row.head.message), worth=10, wraps=True),
)
NARROW: Final[tuple[Column[TroubleRow], ...]] = (
    *COLUMNS[:2],
    Column("STATE", lambda row: row.told, wraps=True),
    COLUMNS[3],
)
"""In a narrow terminal the message stands behind the state."""
TREE_COLUMNS: Final[tuple[Column[TreeClasses], ...]] = (
    Column("TREE", lambda row: Text(row.root)),
    *(
        Column(name.upper(), lambda row, name=name: render.text_of(  # type: ignore[misc]
            f"{row.classes[name]:,}" if name in row.classes else "", render.CLASS_COLOURS[name]))
        for name in LIVING
    ),
)  # fmt: skip
