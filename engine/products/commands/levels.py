"""The commands about levels: `levels show`, and `excuse`, `excuses` and `withdraw`.

Belongs here: their options and layout. Does not: counting (`levels.fold`), reading the log
(`phaseline.engine.products.levels`).
"""

from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

import click

from phaseline.engine.log.when import A_MOMENT, When
from phaseline.engine.products.levels.fold.reckoning import (
    ENTITY,
    OBJECTIVE,
    Level,
    LevelsReport,
    classes_of,
    excuse_map,
    levels_map,
    read_grouping,
    worst,
)
from phaseline.engine.products.levels.fold.spared import Excuse
from phaseline.engine.products.levels.fold.tallies import CLASS_OF, Outage, Part
from phaseline.engine.products.levels.views import Levels
from phaseline.engine.publish.operations import operator
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli import entity_name, names, options, render, similar_ids, terminal, undecided
from phaseline.engine.surfaces.cli.help import DefaultGroup, Page
from phaseline.engine.surfaces.cli.layout import Column
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.cli.render import counted
from phaseline.engine.surfaces.cli.styled import Text
from phaseline.engine.surfaces.cli.terminal import when_slow
from phaseline.engine.surfaces.cli.timeline import GLYPHS
from phaseline.engine.surfaces.client.client import Client
from phaseline.machines.built_in import installed
from phaseline.machines.language.table import StateClass

SHOWN: Final = 10
"""How many rows, and how many outages, people see unless they ask for more."""
PARTS: Final[dict[Part, str]] = {
    "window": "in windows", "excuse": "excused later", "silent": "silent", "server": "server away",
}  # fmt: skip
"""What is told of a class beside its states."""


def _grouping(text: str) -> str:
    """The text, if entities can be grouped so: `entity`, `tree`, `kind`, or `label=NAME`."""
    read_grouping(text)
    return text


@click.group(
    cls=DefaultGroup,
    default="show",
    examples=[
        ("phaseline levels", "all entities, the last thirty days"),
        ("phaseline levels c1 --from 7d", "one tree"),
        ("phaseline levels node --by tree", "how available the nodes of each tree were"),
        ("phaseline levels --windows notices.yaml", "without maintenance"),
        ("phaseline levels --flaps --from 1d", "who comes and goes"),
        ("phaseline levels excuses", "what was excused later"),
    ],
)
def levels() -> None:
    """Show availability, outages and error budgets, from the intervals of the log.

    The default command is `show`. docs/levels.md says what counts as what.
    """


@levels.command(
    cls=Page,
    examples=[
        ("phaseline levels show c1 --from 2026-03-01 --to 2026-04-01", "one tree in March"),
        ("phaseline levels show node --by label=zone --objective 99.5", "nodes, by zone"),
        ("phaseline levels show --slice 12h", "a sign for each half day"),
        ("phaseline levels show --archive /backup/pl --from start --json", "all that is known, for programs"),
    ],
)
@click.argument("what", type=entity_name.FirstWordType(), metavar="[TREE|KIND]", required=False)
@click.option("--from", "start", type=options.WHEN, default="30d", show_default=True,
              help=f"Where to begin: start, {A_MOMENT}.")  # fmt: skip
@click.option("--to", "end", type=options.WHEN, help="Where to end.  [default: now]")
@click.option("--objective", type=options.Decimal(0, 100), default=OBJECTIVE, show_default=True, metavar="PERCENT",
              help="The share of the time in which it should be available.")  # fmt: skip
@click.option("--by", type=options.ParsedText("grouping", _grouping), default=ENTITY, show_default=True,
              metavar="[entity|tree|kind|label=NAME]", help="What makes a row.")  # fmt: skip
@click.option("--kind", type=names.KIND, metavar="KIND", help="Only this kind.")
@click.option("--windows", "file", type=options.FILE, metavar="FILE",
              help="A file of rules of notices, whose windows are excused.")  # fmt: skip
@click.option("--slice", "slice_", type=options.DURATION,
              help="Show the worst class in each piece of so long, such as 1d, from 00:00 UTC on.")  # fmt: skip
@click.option("--flaps", is_flag=True, help="Show who comes and goes most often.")
@click.option("--limit", type=options.WholeNumber(1), default=SHOWN, show_default=True, metavar="N",
              help="The most rows, and outages, that people see; programs get all rows.")  # fmt: skip
@options.connected
@options.archived
@options.output("json", "yaml", "wide")
def show(
    settings: Settings, *, what: str | None, start: When, end: When | None, objective: float, by: str,
    kind: str | None, file: Path | None, slice_: float | None, flaps: bool, limit: int, output: Output,
) -> int | None:  # fmt: skip
    """Show availability, the time in each class, outages and the error budget; the worst first.

    Time in windows, and what was excused, counts for nothing. Time in which something was silent, or the server could
    take no event, is unknown: it counts, but never as good. Time without a worker is known, since the log catches up.
    """
    tree, kind = _named(what, kind)

    async def work() -> None:
        async with undecided.reading(settings, tree, end) as client:
            await undecided.tell_archived({"": client}, start)
            got = await Levels(client).measure(
                start, end, tree=tree or (), kind=kind, by=by, objective=objective, windows=file, slices=slice_ or 0,
                flaps=flaps, progress=when_slow("reading the log", "records"),
            )  # fmt: skip
        if output.is_data:
            output.show(levels_map(got))
        else:
            LevelsScreen(output, got, limit, flaps=flaps).print()

    return terminal.run(work())


def _named(what: str | None, kind: str | None) -> tuple[str | None, str | None]:
    """The tree and the kind that are asked for. A word that is a kind is one; else it is an id."""
    if what is None:
        return None, kind
    kinds = installed()
    if (spelt := names.spelt(what, kinds)) in kinds:
        if kind not in (None, spelt):
            raise click.UsageError(f"the kind is named twice: {spelt}, and --kind {kind}")
        return None, spelt
    return entity_name.read(kinds, what, None).id, kind


WHY: Final = click.option("--why", required=True, metavar="WORDS", help="Why, for those who read it later.")


@levels.command(
    cls=Page,
    examples=[
        ("phaseline levels excuse c1 --from 2026-03-01T02:00Z --to 2026-03-01T03:00Z --why 'new switches'", ""),
    ],
)
@click.argument("tree", type=names.ID, metavar="ID")
@click.option("--from", "start", type=options.WHEN, required=True,
              help=f"Where it begins: {A_MOMENT}.")  # fmt: skip
@click.option("--to", "end", type=options.WHEN, required=True, help="Where it ends.")
@WHY
@options.connected
def excuse(settings: Settings, *, tree: str, start: When, end: When, why: str) -> int | None:
    """Excuse a time of an entity and of all below it: it counts neither for nor against them.

    The log keeps a note of it, with who says to have done it. Levels show what was excused, and how available it would
    be without.
    """

    async def work() -> None:
        async with Client.open(settings, source=operator(settings)) as client:
            await similar_ids.tell_absent({"": client}, tree)
            given = await Levels(client).excuse(tree, start, end, why)
        terminal.say(f"excused: {tree}, {render.duration(given.end_ns - given.begin_ns)}")

    return terminal.run(work())


@levels.command(cls=Page, examples=[("phaseline levels excuses", "what was excused, by whom and why")])
@options.connected
@options.output("json", "yaml", "wide")
def excuses(settings: Settings, *, output: Output) -> int | None:
    """List what was excused later, oldest first, with its place in the log."""

    async def work() -> None:
        async with Client.open(settings) as client:
            found = await Levels(client).excuses()
        output.list(EXCUSES, found, excuse_map)
        if not found:
            terminal.say("nothing was excused")

    return terminal.run(work())


@levels.command(cls=Page, examples=[("phaseline levels withdraw 4711 --why 'the wrong tree'", "it counts again")])
@click.argument("place", type=options.WholeNumber(1), metavar="PLACE")
@WHY
@options.connected
def withdraw(settings: Settings, *, place: int, why: str) -> int | None:
    """Withdraw an excuse: its time counts again. The log keeps a note of that too."""

    async def work() -> None:
        async with Client.open(settings, source=operator(settings)) as client:
            found = await Levels(client).withdraw(place, why)
        terminal.say(f"withdrawn: {found.tree}, {render.duration(found.end_ns - found.begin_ns)}: {found.why}")

    return terminal.run(work())


EXCUSES: Final[tuple[Column[Excuse], ...]] = (
    Column("PLACE", lambda one: Text(str(one.place))),
    Column("ID", lambda one: render.text_of(one.tree)),
    Column("FROM", lambda one: Text(_minute(one.begin_ns))),
    Column("FOR", lambda one: Text(render.duration(one.end_ns - one.begin_ns))),
    Column("WHY", lambda one: render.text_of(one.why), wraps=True),
    Column("BY", lambda one: render.text_of(one.by), worth=50, wraps=True),
    Column("GIVEN", lambda one: Text(_minute(one.given_ns)), worth=30),
)


class LevelsScreen:
    """Prints levels for people."""

    def __init__(self, output: Output, found: LevelsReport, limit: int, *, flaps: bool) -> None:
        self._output, self._found, self._limit, self._flaps = output, found, limit, flaps

    def print(self) -> None:
        """Print it."""
        found, output = self._found, self._output
        span = f"{_minute(found.begin_ns)} to {_minute(found.end_ns)}"
        output.line(f"{span}: {counted(found.total.size, 'entity', 'entities')}")
        if not found.total.whole:
            return
        output.pairs(summary(found))
        self._rows()
        if not self._flaps:
            self._outages()

    def _rows(self) -> None:
        rows, output = self._found.rows[: self._limit], self._output
        titled = [LevelRow(one, self._found) for one in rows]
        if len(self._found.rows) == 1 and not self._flaps and not self._found.slice_length:
            return
        output.line(render.text_of("who flaps" if self._flaps else "the worst first", "bold"))
        output.table(FLAPPING if self._flaps else ROWS, titled, indent=2)
        if self._flaps and not rows:
            output.line(render.text_of("nobody does", "green"))
        self._more(len(self._found.rows) - len(rows), "")

    def _outages(self) -> None:
        found = self._found.outages[: self._limit]
        if found:
            self._output.line(render.text_of("the longest outages", "bold"))
            self._output.table(OUTAGES, [OutageRow(one, self._found.end_ns) for one in found], indent=2)
            self._more(self._found.outage_number - len(found), "outage")

    def _more(self, number: int, word: str) -> None:
        if number > 0:
            self._output.line(
                f"  and {counted(number, f'more {word}') if word else f'{number:,} more'}: --limit, --json"
            )


def summary(found: LevelsReport) -> list[tuple[str, Text]]:
    """The sums, each with its name."""
    total, objective = found.total, found.objective
    lines = [
        ("available", _availability(total)),
        ("time", Text(", ").join([_class(total, name, time) for name, time in total.classes.items() if time])),
        ("budget", _budget(total, objective)),
        ("outages", Text(_failures(total))),
    ]
    recorded = total.as_recorded
    if recorded is not total:
        text = f"{percent(recorded.availability)} available; {_failures(recorded)}"
        lines.append(("unexcused", Text(text)))
    return lines


def _availability(level: Level) -> Text:
    found = render.text_of(percent(level.availability), "bold")
    if level.classes["unknown"]:
        return Text.assemble(found, f"; {percent(level.at_best)} if all that is unknown was good")
    return found


def _class(level: Level, name: StateClass, time: int) -> Text:
    """`excused 3 h 0 m (in windows 2 h 0 m)`."""
    parts = ((part, spent) for part, spent in level.times.items() if part in PARTS and CLASS_OF[part] == name)
    told = [f"{PARTS[part]} {render.duration(spent)}" for part, spent in parts]
    beside = f" ({', '.join(told)})" if told else ""
    return Text.assemble(render.text_of(name, render.CLASS_COLOURS[name]), f" {render.duration(time)}{beside}")


def _budget(level: Level, objective: float) -> Text:
    burn = level.burn(objective)
    used = "" if burn is None else f", {_share(burn)} of it used"
    budget = render.duration(level.budget(objective))
    return Text(f"{budget} at {objective:g} %, lost {render.duration(level.lost)}{used}", _burnt(burn))


def _share(burn: float) -> str:
    return "more than all" if burn == float("inf") else f"{burn * 100:,.0f} %"


def _burnt(burn: float | None) -> str:
    """The colour of a budget."""
    return "" if burn is None or burn < 1 else "red"


def _failures(level: Level) -> str:
    """`3, 12 m to recover, 2 d 3 h between failures`."""
    failures = level.failures
    recover, between = level.to_recover, level.between_failures
    found = [counted(failures.number, "outage")]
    found += [] if recover is None else [f"{render.duration(recover)} to recover"]
    found += [] if between is None else [f"{render.duration(between)} between failures"]
    return ", ".join(found)


def percent(share: float | None) -> str:
    """`99.950 %`, never rounded up to 100 %; `-` where no time counts."""
    if share is None:
        return "-"
    return f"{min(share * 100, 99.999 if share < 1 else 100):.3f} %"


def _minute(time_ns: int) -> str:
    return render.local_time(time_ns)[:16]


class LevelRow(NamedTuple):
    """A level in the table."""

    level: Level
    of: LevelsReport

    @property
    def name(self) -> Text:
        """What it is about."""
        one = self.level
        return Text(f"{one.kind} {one.id}" if one.id else one.name or "-")

    @property
    def used(self) -> Text:
        """How much of its budget it used."""
        burn = self.level.burn(self.of.objective)
        return Text() if not burn else Text(_share(burn), _burnt(burn))

    @property
    def slices(self) -> Text:
        """A sign for each slice: the worst class in it."""
        if not self.of.slice_length:
            return Text()
        first, last = self.of.begin_ns // self.of.slice_length, (self.of.end_ns - 1) // self.of.slice_length
        days = (classes_of(self.level.days.get(number, {})) for number in range(first, last + 1))
        return Text.of([_sign(worst(one)) for one in days])


def _sign(name: StateClass) -> tuple[str, str]:
    colour = render.CLASS_COLOURS[name]
    return (" ", "") if name == "gone" else ("·" if name == "excused" else GLYPHS[colour], colour)


def _time(name: StateClass) -> Callable[[LevelRow], Text]:
    def cell(row: LevelRow) -> Text:
        time = row.level.classes[name]
        return Text(render.duration(time), render.CLASS_COLOURS[name]) if time else Text()

    return cell


def _mean(time: int | None) -> Text:
    return Text() if time is None else Text(render.duration(time))


NAME: Final[Column[LevelRow]] = Column("WHAT", lambda row: row.name)
NUMBER: Final[Column[LevelRow]] = Column(
    "OUTAGES", lambda row: Text(f"{row.level.failures.number:,}" if row.level.failures.number else ""), worth=70
)
RECOVER: Final[Column[LevelRow]] = Column("RECOVER", lambda row: _mean(row.level.to_recover), worth=40)
ROWS: Final[tuple[Column[LevelRow], ...]] = (
    Column("AVAILABLE", lambda row: Text(percent(row.level.availability))),
    NAME,
    Column("BAD", _time("bad"), worth=90),
    Column("UNKNOWN", _time("unknown"), worth=80),
    Column("BUSY", _time("busy"), worth=20),
    Column("EXCUSED", _time("excused"), worth=60),
    NUMBER,
    RECOVER,
    Column("BETWEEN", lambda row: _mean(row.level.between_failures), worth=30),
    Column("BUDGET", lambda row: row.used, worth=50),
    Column("UNEXCUSED", lambda row: _unexcused(row.level), worth=45),
    Column("SLICES", lambda row: row.slices, worth=95),
)
FLAPPING: Final[tuple[Column[LevelRow], ...]] = (
    Column("FLAPS", lambda row: Text(f"{row.level.flaps:,}", "red")),
    NAME,
    Column("TRANSITIONS", lambda row: Text(f"{row.level.transitions:,}"), worth=60),
    NUMBER,
    RECOVER,
    Column("LAST FLAP", lambda row: Text(render.local_time(row.level.last_flap)), worth=80),
)


def _unexcused(level: Level) -> Text:
    """The availability without what was excused later, where that differs."""
    return Text() if level.as_recorded is level else Text(percent(level.as_recorded.availability))


class OutageRow(NamedTuple):
    """An outage in the table. end: of the range, ns."""

    outage: Outage
    end: int

    @property
    def _whole(self) -> int:
        return (self.end if self.outage.end_ns is None else self.outage.end_ns) - self.outage.begin_ns

    @property
    def lasted(self) -> Text:
        """How long it was bad; with `+` if it still is."""
        return Text(f"{render.duration(self._whole)}{'+' if self.outage.end_ns is None else ''}")

    @property
    def counted(self) -> Text:
        """How much of it counts, where that is not all."""
        counted = self.outage.counted
        return Text() if counted == self._whole else Text(render.duration(counted))

    @property
    def cause(self) -> Text:
        """What began it, and what was said then."""
        record = self.outage.record
        if record is None:
            return Text("before: phaseline why", "bright_black")
        said = " ".join(filter(None, (record.reason, record.message)))
        return Text.assemble(render.cause(record), f": {said}" if said else "")


OUTAGES: Final[tuple[Column[OutageRow], ...]] = (
    Column("BEGIN", lambda row: Text(_minute(row.outage.begin_ns)), worth=80),
    Column("FOR", lambda row: row.lasted),
    Column("COUNTS", lambda row: row.counted, worth=60),
    Column("WHAT", lambda row: Text(f"{row.outage.kind} {row.outage.id}")),
    Column("CAUSE", lambda row: row.cause, wraps=True),
)
