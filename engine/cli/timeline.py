"""The command `timeline`: states over time, in the terminal or as a picture.

Belongs here: its options, and lanes in a terminal. Does not: making lanes (`phaseline.engine.log.timeline`), SVG
(`svg`).
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from phaseline.engine.cli import names, options, render, similar_ids, terminal
from phaseline.engine.cli.help import Page
from phaseline.engine.cli.svg import Texts, label, picture, tick
from phaseline.engine.client.client import Client
from phaseline.engine.log.event_clock.event_time import Clock
from phaseline.engine.log.timeline import Interval, Lane, ticks
from phaseline.engine.log.when import When
from phaseline.engine.settings import Settings
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas import wire_codec
from phaseline.schemas.records import SECOND, State, timestamp

GLYPHS = {"red": "█", "yellow": "▒", "magenta": "▓", "green": "━", "bright_black": "·"}
"""A glyph for each colour of a state, the worst first, so that a lane can be read without colours."""
LEGEND = {"red": "failed", "yellow": "in progress", "magenta": "other", "green": "healthy"}
LABEL = 40
"""The largest number of characters of a lane's label."""
SHORT = 24
"""About the number of characters between two ticks of an axis."""


@click.command(
    cls=Page,
    examples=[
        ("phaseline timeline c1/pool-a/n7", "one node"),
        ("phaseline timeline c1 --from 2h --depth 1", "a cluster and its pools, for the last two hours"),
        ("phaseline timeline c1 --from 03:00 --to 03:30 --svg night.svg", "a picture for the post-mortem"),
    ],
)
@click.argument("entity_id", type=names.ID, metavar="ID")
@click.option("--kind", type=names.KIND, metavar="KIND", help="The kind of ID, if several kinds have this id.")
@click.option(
    "--from",
    "start",
    type=options.WhenType(),
    metavar="MOMENT",
    help="First moment: a place in the log, a time, or how long ago (2h).  [default: its creation]",
)
@click.option("--to", "end", type=options.WhenType(), metavar="MOMENT", help="Last moment.  [default: now]")
@options.clock
@click.option("--depth", type=click.IntRange(0), metavar="N", help="Show N levels only.")
@click.option("--svg", type=options.FILE, metavar="FILE", help="Write an SVG picture to this file.")
@options.as_json
@options.connected
def timeline(
    settings: Settings, entity_id: str, *, kind: str | None, start: When | None, end: When | None, depth: int | None,
    clock: Clock, svg: Path | None, as_json: bool,
) -> int | None:  # fmt: skip
    """Show the states of an entity and of everything below it over time, one lane each.

    Each character of a lane stands for a piece of time, and shows the worst state in it. From worst to best the order
    is: failed, in progress, other, healthy. For a single lane, the states are listed too.
    """

    async def work() -> None:
        async with Client.open(settings) as client, similar_ids.suggested(client):
            found = await client.timeline(entity_id, kind=kind, start=start, end=end, depth=depth, clock=clock)
            if as_json:
                for lane in found.lanes:
                    render.show_json(lane_map(lane))
            if svg is not None:
                zone = datetime.now().astimezone().tzinfo or UTC
                texts = Texts(entity_id, _colour(client.kinds), render.duration, zone)
                drawn = picture(found.lanes, found.start_ns, found.end_ns, texts)
                svg.write_text(drawn, encoding="utf-8")  # noqa: ASYNC240  # nothing else runs
                terminal.say(f"{len(found.lanes):,} lanes written to {svg}")
            if svg is None and not as_json:
                show(client.kinds, found.lanes, found.start_ns, found.end_ns)
            terminal.without_time(found.without_time)

    return terminal.run(work())


def _colour(kinds: Kinds) -> Callable[[str, str, State], str]:
    def colour(kind: str, facet: str, state: State) -> str:
        return render.colour(state, render.facet_of(kinds, kind, facet))

    return colour


def show(kinds: Kinds, lanes: Sequence[Lane], start: int, end: int) -> None:
    """Print lanes, an axis and a legend; and each interval if there is one lane only."""
    room = min(LABEL, max(len(label(lane)) + 2 * lane.depth for lane in lanes))
    width = max(20, render.width() - room - 2)
    render.show_line(Text.assemble(" " * (room + 2), axis(start, end, width)))
    for lane in lanes:
        named = f"{'  ' * lane.depth}{label(lane)}"
        short = named if len(named) <= room else f"{named[: room - 1]}…"
        render.show_line(Text.assemble(render.text_of(f"{short:<{room}}  "), bar(kinds, lane, start, end, width)))
    legend = [render.text_of(f"{GLYPHS[colour]} {meaning}", colour) for colour, meaning in LEGEND.items()]
    render.show_line(Text.assemble(" " * (room + 2), Text("   ").join(legend)))
    if len(lanes) == 1:
        render.show_line(Text())
        render.show(intervals(kinds, lanes[0]))


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


def bar(kinds: Kinds, lane: Lane, start: int, end: int, width: int) -> Text:
    """The line of a lane: the worst state of each piece of time."""
    order = list(GLYPHS)
    cells = [len(order)] * width
    facet = render.facet_of(kinds, lane.kind, lane.facet)
    for interval in lane.intervals:
        rank = order.index(render.colour(interval.state, facet))
        first = min(width - 1, (interval.start_ns - start) * width // max(1, end - start))
        last = min(width - 1, max(first, -(-(interval.end_ns - start) * width // max(1, end - start)) - 1))
        for index in range(first, last + 1):
            cells[index] = min(cells[index], rank)
    pieces = [(GLYPHS[order[rank]], order[rank]) if rank < len(order) else (" ", "") for rank in cells]
    return Text.assemble(*pieces)


def intervals(kinds: Kinds, lane: Lane) -> Any:
    """The intervals in rows: when, in which state, for how long, by which cause."""
    table = render.columns("FROM", "STATE", "FOR", "CAUSE")
    for one in lane.intervals:
        state = render.state(kinds, lane.kind, lane.facet, one.state)
        shown = Text.assemble(state, render.text_of(" (a view)", "bright_black") if one.viewed else "")
        table.add_row(
            render.text_of(render.local_time(one.start_ns)),
            shown,
            render.text_of(render.duration(one.end_ns - one.start_ns)),
            render.cause(one.record),
        )
    return table


def lane_map(lane: Lane) -> dict[str, Any]:
    """A lane as JSON shows it."""
    return {
        "kind": lane.kind,
        "id": lane.id,
        "facet": lane.facet,
        "intervals": [_interval_map(one) for one in lane.intervals],
    }


def _interval_map(one: Interval) -> dict[str, Any]:
    return {
        **wire_codec.state_map(one.state),
        "base": wire_codec.state_map(one.base),
        "from": timestamp(one.start_ns),
        "to": timestamp(one.end_ns),
        "trigger": one.record.trigger,
        **({"unasked": True} if one.record.unasked else {}),
        "cause": {
            "sequence": one.record.cause.sequence,
            "event": one.record.cause.event,
            "source": one.record.cause.source,
            "by": one.record.cause.by,
            "from": one.record.cause.origin,
        },
    }
