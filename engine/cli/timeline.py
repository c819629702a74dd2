"""The command `timeline`: states over time, in the terminal or as a picture.

Belongs here: the command, and lanes in a terminal. Does not: making lanes (`phaseline.engine.log.timeline`), SVG (`picture`).
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from phaseline.engine.cli import options, render, terminal
from phaseline.engine.cli.help import Page
from phaseline.engine.cli.svg import Words, label, picture, tick
from phaseline.engine.client.client import Client
from phaseline.engine.log.timeline import Interval, Lane, ticks
from phaseline.engine.log.when import When
from phaseline.engine.settings import Settings
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas import wire_codec
from phaseline.schemas.records import SECOND, State, timestamp

GLYPHS = {"red": "█", "yellow": "▒", "magenta": "▓", "green": "━", "bright_black": "·"}
"""A glyph for how a state is, the worst first: so that it can be read without colour too."""
SAID = {"red": "failed", "yellow": "on its way", "magenta": "otherwise", "green": "as it should be"}
LABEL = 40
"""Characters of a lane's label, at most."""
SHORT = 24
"""Characters of an axis between two ticks, about."""


@click.command(
    cls=Page,
    examples=[
        ("phaseline timeline c1/pool-a/n7", "one node"),
        ("phaseline timeline c1 --from 2h --depth 1", "a cluster and its pools, the last two hours"),
        ("phaseline timeline c1 --from 03:00 --to 03:30 --svg night.svg", "a picture for the post-mortem"),
    ],
)
@click.argument("entity_id", metavar="ID")
@click.option("--kind", metavar="KIND", help="Only this kind.")
@click.option("--from", "start", type=options.WhenType(), metavar="MOMENT",
              help="From then on: a place in the log, a time, or how long ago (2h).  [default: its beginning]")  # fmt: skip
@click.option("--to", "end", type=options.WhenType(), metavar="MOMENT", help="Up to then, likewise.  [default: now]")
@click.option("--depth", type=click.IntRange(0), metavar="N", help="Show N levels below it.")
@click.option("--svg", type=options.FILE, metavar="FILE", help="Write a picture.")
@options.as_json
@options.connected
def timeline(
    settings: Settings, entity_id: str, *, kind: str | None, start: When | None, end: When | None, depth: int | None,
    svg: Path | None, as_json: bool,
) -> int | None:  # fmt: skip
    """Show the states of an entity, and of all that is under it, over time: one lane each.

    Each character of a lane is a piece of time and shows the worst state in it: failed before on its way, before otherwise,
    before as it should be. An entity by itself also has its states listed.
    """

    async def work() -> None:
        async with Client.open(settings) as client:
            found = await client.timeline(entity_id, kind=kind, start=start, end=end, depth=depth)
            if as_json:
                for lane in found.lanes:
                    render.show_json(lane_map(lane))
            if svg is not None:
                words = Words(entity_id, _how(client.kinds), render.span, datetime.now().astimezone().tzinfo or UTC)
                svg.write_text(picture(found.lanes, found.start, found.end, words), encoding="utf-8")  # noqa: ASYNC240  # it is done
                terminal.say(f"{len(found.lanes):,} lanes in {svg}")
            if svg is None and not as_json:
                show(client.kinds, found.lanes, found.start, found.end)

    return terminal.run(work())


def _how(kinds: Kinds) -> Any:
    def how(kind: str, facet: str, state: State) -> str:
        return render.colour(state, render.facet_of(kinds, kind, facet))

    return how


def show(kinds: Kinds, lanes: Sequence[Lane], start: int, end: int) -> None:
    """Lanes, an axis, a legend; and each interval where there is one lane."""
    room = min(LABEL, max(len(label(lane)) + 2 * lane.depth for lane in lanes))
    width = max(20, render.width() - room - 2)
    render.show_line(Text.assemble(" " * (room + 2), axis(start, end, width)))
    for lane in lanes:
        named = f"{'  ' * lane.depth}{label(lane)}"
        said = named if len(named) <= room else f"{named[: room - 1]}…"
        render.show_line(Text.assemble(render.text_of(f"{said:<{room}}  "), bar(kinds, lane, start, end, width)))
    legend = [render.text_of(f"{GLYPHS[colour]} {said}", colour) for colour, said in SAID.items()]
    render.show_line(Text.assemble(" " * (room + 2), Text("   ").join(legend)))
    if len(lanes) == 1:
        render.show_line(Text())
        render.show(intervals(kinds, lanes[0]))


def axis(start: int, end: int, width: int) -> Text:
    """Moments above their places."""
    line = [" "] * width
    found = ticks(start, end, max(2, width // SHORT))
    step = found[1] - found[0] if len(found) > 1 else 60 * SECOND
    for time in found:
        at = (time - start) * width // max(1, end - start)
        said = f"╷{tick(datetime.fromtimestamp(time / 1e9, UTC).astimezone(), step)}"
        if at + len(said) <= width:
            line[at : at + len(said)] = said
    return render.text_of("".join(line), "bright_black")


def bar(kinds: Kinds, lane: Lane, start: int, end: int, width: int) -> Text:
    """A lane's line: the worst of each piece of time."""
    order = list(GLYPHS)
    cells = [len(order)] * width
    facet = render.facet_of(kinds, lane.kind, lane.facet)
    for interval in lane.intervals:
        rank = order.index(render.colour(interval.state, facet))
        first = min(width - 1, (interval.start - start) * width // max(1, end - start))
        last = min(width - 1, max(first, -(-(interval.end - start) * width // max(1, end - start)) - 1))
        for place in range(first, last + 1):
            cells[place] = min(cells[place], rank)
    pieces = [(GLYPHS[order[rank]], order[rank]) if rank < len(order) else (" ", "") for rank in cells]
    return Text.assemble(*pieces)


def intervals(kinds: Kinds, lane: Lane) -> Any:
    """When, in which state, for how long, by what."""
    table = render.columns("FROM", "STATE", "FOR", "BY")
    for one in lane.intervals:
        state = render.state(kinds, lane.kind, lane.facet, one.state)
        shown = Text.assemble(state, render.text_of(" (a view)", "bright_black") if one.viewed else "")
        table.add_row(
            render.text_of(render.moment(one.start)),
            shown,
            render.text_of(render.span(one.end - one.start)),
            render.because(one.record),
        )
    return table


def lane_map(lane: Lane) -> dict[str, Any]:
    """A lane as JSON shows it."""
    return {
        "kind": lane.kind, "id": lane.id, "facet": lane.facet, "intervals": [_interval_map(one) for one in lane.intervals]
    }  # fmt: skip


def _interval_map(one: Interval) -> dict[str, Any]:
    return {
        **wire_codec.state_map(one.state),
        "base": wire_codec.state_map(one.base),
        "from": timestamp(one.start),
        "to": timestamp(one.end),
        "trigger": one.record.trigger,
        "cause": {"sequence": one.record.cause.sequence, "event": one.record.cause.event, "source": one.record.cause.source,
                  "by": one.record.cause.by, "from": one.record.cause.origin},
    }  # fmt: skip
