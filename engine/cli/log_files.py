"""`export` and `import`: logs as files.

Belongs here: options and words of these two. Does not: writing (`phaseline.engine.replay.export_log`), playing (`.importing`).
"""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from phaseline.engine.cli import log_source, options, render, terminal
from phaseline.engine.cli.help import Page
from phaseline.engine.cli.log_source import Part
from phaseline.engine.cli.render_replay import counted
from phaseline.engine.jetstream.streams import inspect
from phaseline.engine.jetstream.wire import Wire
from phaseline.engine.log.installation import Installation
from phaseline.engine.replay.export_log import export
from phaseline.engine.replay.import_log import Clock, ImportResult, import_log
from phaseline.engine.replay.log_format import Header
from phaseline.engine.settings import Settings
from phaseline.machines.built_in import installed


class Speed(click.ParamType):  # type: ignore[type-arg]  # click 8.1 has no types for its values
    """`1x`, `10x`, `0.5x` or `max`."""

    name = "speed"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | str:
        """How many times as fast as it was, or `max`."""
        if value == "max":
            return "max"
        if isinstance(value, float):
            return value
        found = re.fullmatch(r"(\d+(?:\.\d+)?)x", str(value))
        if found is None or not float(found[1]):
            self.fail(f"{value!r} is no speed: write 1x, 10x or max", param, ctx)
        return float(found[1])


@click.command(
    name="export",
    cls=Page,
    examples=[
        ("phaseline export day.plog.zst --from 24h", "the last day's events, msgpack, compressed"),
        ("phaseline export c1.jsonl --tree c1 --records", "one tree, with what came of its events, to read"),
        ("phaseline export tests/c1.jsonl --tree c1 --as-test", "a regression test: see docs/testing.md"),
        ("phaseline export - | jq -c .event", "to standard output"),
    ],
)
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path, allow_dash=True))
@click.option("--records", is_flag=True, help="With the records that the events made, so that the file can be audited.")
@click.option("--as-test", "expect", is_flag=True, help="With the states at the end, so that the file is a test.")
@log_source.part
@options.as_json
@options.connected
def export_(settings: Settings, file: Path, *, records: bool, expect: bool, part: Part, as_json: bool) -> int | None:
    """Write the log of events to a file: all of it, one tree, or a part.

    FILE.jsonl is JSON lines, any other name a msgpack stream; .zst or .gz after it compresses. A header says what is in it,
    a checksum at the end that it is whole. Where it does not begin at the first event of all, it begins with the states
    there are then. The file appears when it is complete. `-` is standard output, JSON lines.
    """

    async def work() -> None:
        async with log_source.of_server(settings, part, installed(), records=records or expect) as source:
            with log_source.progress_bar("writing") as bar:
                task = bar.add_task("", total=log_source.total(source))
                counts = await export(
                    source, file, records=records, expect=expect, progress=lambda n: bar.advance(task, n)
                )
            undecided = source.undecided
        told = {f"{word}s": counts.get(word, 0) for word in ("state", "event", "record")}
        told["expected"] = counts.get("expected", 0)
        if as_json and str(file) != "-":
            render.show_json({"file": str(file), **told, "undecided": undecided})
            return
        if undecided:
            terminal.say(f"{counted(undecided, 'event')} not decided yet: left out")
        named = {"expected": "states that are expected"}
        words = ", ".join(f"{count:,} {named.get(name, name)}" for name, count in told.items() if count) or "no events"
        size = "" if str(file) == "-" else f" in {file}, {file.stat().st_size:,} bytes"  # noqa: ASYNC240  # it is done
        terminal.say(f"{words}{size}")

    return terminal.run(work())


@click.command(
    name="import",
    cls=Page,
    examples=[
        ("phaseline import day.plog.zst", "as fast as it goes"),
        ("phaseline import day.plog.zst --speed 10x --shift-time", "a recorded day in 2.4 hours, as if it were today"),
        ("phaseline import day.plog.zst --prefix rehearsal", "into another installation on the same servers"),
    ],
)
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--speed", type=Speed(), default="max", show_default=True, help="1x as it was, 10x faster, or max.")
@click.option(
    "--shift-time", "shift", is_flag=True, help="Move the events' own `time` to now, as far apart as they are played."
)
@click.option("--partial", is_flag=True, help="Take of a damaged file what can be read.")
@options.as_json
@options.connected
def import_(
    settings: Settings, file: Path, *, speed: float | str, shift: bool, partial: bool, as_json: bool
) -> int | None:
    """Play a log that `phaseline export` wrote into an installation, in order.

    The file is checked first: nothing of a damaged one is sent. The states it begins with are sent as `adopt` events. The
    same file again within ten minutes is recognised, so an import that broke off can simply be repeated.
    """

    def clock(header: Header) -> Clock:
        return Clock(header, None if isinstance(speed, str) else speed, shift=shift, now=datetime.now(UTC))

    async def work() -> None:
        async with Wire.open(settings, name="phaseline-import") as wire:
            with log_source.progress_bar("sending") as bar:
                task = bar.add_task("", total=None)
                done = await import_log(
                    Installation(wire, await inspect(wire, settings), installed()), file, clock, partial=partial,
                    progress=lambda n: bar.advance(task, n), begin=lambda count: bar.update(task, total=count),
                )  # fmt: skip
        show_import(done, as_json=as_json)

    return terminal.run(work())


def show_import(done: ImportResult, *, as_json: bool) -> None:
    """What was sent, and what could not be."""
    if as_json:
        render.show_json({
            "stored": done.stored, "duplicates": done.duplicates, "states": done.states, "left_out": dict(done.left_out),
            "partly": dict(+done.partly),
            "damage": done.damage,
        })  # fmt: skip
        return
    for kind, count in done.left_out.items():
        terminal.say(f"{counted(count, 'state')} of {kind} cannot be adopted: left out")
    for kind, count in (+done.partly).items():
        terminal.say(f"{counted(count, 'state')} of {kind} adopted in one facet only: an `adopt` names no more")
    if done.damage:
        terminal.say(f"as far as it goes: {done.damage}")
    already = f", {done.duplicates:,} were there already" if done.duplicates else ""
    states = f", {counted(done.states, 'state')} among them, as adopt events" if done.states else ""
    render.show_line(render.text_of(f"{counted(done.stored, 'event')} stored{already}{states}"))
