"""The command `timeline`: states over time.

Belongs here: its options, and lanes in a terminal. Does not: making lanes (`phaseline.engine.log.timeline`).
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Final, NamedTuple

import click

from phaseline.engine.log import latest
from phaseline.engine.log.explain.staleness import Marks, Stale
from phaseline.engine.log.timeline import HOUR, Interval, Lane, Timeline, ticks
from phaseline.engine.log.watch import SERVER, Clock
from phaseline.engine.log.when import A_MOMENT, START, When
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli import cells, entity_name, options, render, terminal, undecided
from phaseline.engine.surfaces.cli.help import Page
from phaseline.engine.surfaces.cli.layout import Column
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.cli.styled import Text
from phaseline.engine.surfaces.client import maps
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.labels import Language, facet_named
from phaseline.schemas.errors import EntityUnknown
from phaseline.schemas.records import SECOND, Entity

GLYPHS = {"red": "█", "yellow": "▒", "magenta": "▓", "green": "━", "bright_black": "·"}
"""A glyph for each colour of a state, the worst first, so that a lane can be read without colours."""
LEGEND = {"red": "bad", "yellow": "busy", "magenta": "excused, unknown", "green": "good"}
STALE = "~"
"""The glyph of a time of which nothing was heard."""
USUAL, SHORTEST = 100, 20
"""The width where stdout is no terminal; the least number of characters of a lane beside its label."""
SHORT = 24
"""About the number of characters between two ticks of an axis."""


@click.command(
    cls=Page,
    examples=[
        ("phaseline timeline c1/pool-a/n7", "one node"),
        ("phaseline timeline c1 --from 2h --depth 1", "a cluster and its pools, for the last two hours"),
    ],
)
@entity_name.option
@click.option(
    "--from",
    "start",
    type=options.WHEN,
    help=f"First moment: {A_MOMENT}.  [default: its creation]",
)
@click.option("--to", "end", type=options.WHEN, help="Last moment.  [default: now]")
@options.clock
@click.option("--depth", type=options.WholeNumber(0), metavar="N", help="Show N levels only.")
@options.language
@cells.locating
@options.output("json", "yaml", "wide")
@entity_name.argument()
def timeline(
    settings: Settings, kind: str | None, entity_id: str, *, start: When | None, end: When | None, depth: int | None,
    clock: Clock, lang: Language, output: Output,
) -> int | None:  # fmt: skip
    """Show the states of an entity and of everything below it over time, one lane each.

    Each character of a lane stands for a piece of time, and shows the worst state in it. From worst to best the order
    is: bad, busy, excused or unknown, good. While an entity is silent, or what is above it, its lane shows ~ instead,
    because the state may have changed meanwhile. For a single lane, the states are listed too.
    """

    async def work() -> None:
        async with undecided.reading(settings, entity_id, end) as client:
            await undecided.tell_archived({"": client}, START if start is None else start)
            found = await client.timeline(entity_id, start=start, end=end, depth=depth, clock=clock)
            if kind is not None:
                latest.check_name(client.kinds, kind, entity_id)
                lanes = [one for one in found.lanes if entity_name.is_part_of(client.kinds, one.kind, kind)]
                if not any(lane.id == entity_id for lane in lanes):
                    raise EntityUnknown(kind=kind, id=entity_id)
                found = found._replace(lanes=lanes)
            stale: Marks = {}
            if clock == SERVER:
                stale = await (await client.at(end)).stale(entities_of(found.lanes))
            if output.is_data:
                for lane in found.lanes:
                    output.show(maps.lane_map(client.kinds, lane, lang, stale.get((lane.kind, lane.id))))
            else:
                show(client.kinds, found, output, stale)
            terminal.without_time(found.without_time)

    return terminal.run(work())


def entities_of(lanes: Sequence[Lane]) -> list[Entity]:
    """The entities of some lanes, as their last records show them."""
    last: dict[tuple[str, str], Entity] = {}
    for lane in lanes:
        entity = lane.intervals[-1].record.entity
        key = (entity.kind, entity.id)
        if key not in last or last[key].version < entity.version:
            last[key] = entity
    return [*last.values()]


def show(kinds: Kinds, found: Timeline, output: Output, stale: Marks) -> None:
    """Print lanes, an axis and a legend; and each interval if there is one lane only."""
    lanes, width = found.lanes, output.width or USUAL
    labels = [Text(f"{'  ' * lane.depth}{label(lane)}") for lane in lanes]
    room = min(max(name.width for name in labels), max(1, width - SHORTEST - 2))
    margin, span = " " * (room + 2), max(1, width - room - 2)
    output.line(Text.assemble(margin, axis(found.start_ns, found.end_ns, span)))
    for lane, name in zip(lanes, labels, strict=True):
        title = name.clipped(room)
        since = stale.get((lane.kind, lane.id))
        drawn = bar(kinds, lane, found.start_ns, found.end_ns, span, since)
        output.line(Text.assemble(title, " " * (room + 2 - title.width), drawn))
    legend = [render.text_of(f"{GLYPHS[colour]} {meaning}", colour) for colour, meaning in LEGEND.items()]
    legend += [render.text_of(f"{STALE} may have changed", "bright_black")] if stale else []
    told = Text("   ").join(legend)
    output.line(Text.assemble(" " * max(0, min(len(margin), width - told.width)), told))
    if len(lanes) == 1:
        output.line(Text())
        output.table(INTERVALS, (IntervalRow(kinds, lanes[0], one) for one in lanes[0].intervals))


def label(lane: Lane) -> str:
    """The label of a lane: `node n7` below its parent, the whole id at the top."""
    name = lane.id if lane.depth == 0 else lane.id.rpartition("/")[2]
    return f"{lane.kind} {name}{' ' + lane.facet if lane.several else ''}"


def axis(start: int, end: int, width: int) -> Text:
    """The times above the lanes."""
    line = [" "] * width
    found = ticks(start, end, max(2, width // SHORT))
    step = found[1] - found[0] if len(found) > 1 else 60 * SECOND
    for time in found:
        at = (time - start) * width // max(1, end - start)
        text = f"╷{tick(datetime.fromtimestamp(time / 1e9, UTC).astimezone(), step)}"
        if at + len(text) <= width:
            line[at : at + len(text)] = text
    return render.text_of("".join(line), "bright_black")


def tick(moment: datetime, step: int) -> str:
    """A time on an axis, as exact as the distance between two ticks (ns) requires."""
    if step < SECOND:
        return f"{moment:%H:%M:%S.%f}"[:-3]
    return (
        f"{moment:%H:%M:%S}"
        if step < 60 * SECOND
        else f"{moment:%H:%M}"
        if step < 6 * HOUR
        else f"{moment:%m-%d %H:%M}"
        if step < 20 * 24 * HOUR
        else f"{moment:%Y-%m-%d}"
    )


def bar(kinds: Kinds, lane: Lane, start: int, end: int, width: int, stale: Stale | None = None) -> Text:
    """The line of a lane: the worst state of each piece of time. stale: why it is."""
    order = list(GLYPHS)
    cells = [len(order)] * width
    facet = facet_named(kinds, lane.kind, lane.facet)
    for interval in lane.intervals:
        rank = order.index(render.colour(interval.state, facet))
        first = min(width - 1, (interval.start_ns - start) * width // max(1, end - start))
        last = min(width - 1, max(first, -(-(interval.end_ns - start) * width // max(1, end - start)) - 1))
        for index in range(first, last + 1):
            cells[index] = min(cells[index], rank)
    unsure = width if stale is None else max(0, (stale.since_ns - start) * width // max(1, end - start) + 1)
    pieces = []
    for (cell, is_stale), run in groupby(range(width), lambda at: (cells[at], at >= unsure)):
        colour = order[cell] if cell < len(order) else ""
        glyph = STALE if is_stale and colour else GLYPHS.get(colour, " ")
        pieces.append((glyph * len([*run]), colour))
    return Text.of(pieces)


class IntervalRow(NamedTuple):
    """A time in one state, in the table."""

    kinds: Kinds
    lane: Lane
    interval: Interval


def _state(row: IntervalRow) -> Text:
    state = render.state(row.kinds, row.lane.kind, row.lane.facet, row.interval.state)
    return Text.assemble(state, Text(" (a view)", "bright_black")) if row.interval.viewed else state


INTERVALS: Final[tuple[Column[IntervalRow], ...]] = (
    Column("FROM", lambda row: Text(render.local_time(row.interval.start_ns)), worth=80),
    Column("STATE", _state, wraps=True),
    Column("FOR", lambda row: Text(render.duration(row.interval.end_ns - row.interval.start_ns)), worth=60),
    Column("CAUSE", lambda row: render.cause(row.interval.record), wraps=True),
)
"""When, in which state, for how long, by which cause."""
