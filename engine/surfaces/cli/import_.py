"""The command `import`: the events of a file, played into an installation.

Belongs here: its options and messages. Does not: playing the file (`phaseline.engine.replay.import_log`).
"""

import re
from datetime import UTC, datetime
from pathlib import Path

import click

from phaseline.engine.replay.import_log import Clock, ImportResult, import_log
from phaseline.engine.replay.log_format import Header
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli import log_source, options, render, terminal
from phaseline.engine.surfaces.cli.help import Page
from phaseline.engine.surfaces.cli.operations import leave_note, on_installation
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.cli.render import counted


def _speed(text: str) -> float | str:
    """The factor of `1x`, `10x`, `0.5x`; or `max`."""
    if text == "max":
        return text
    match = re.fullmatch(r"(\d+(?:\.\d+)?)x", text)
    if match is None or not float(match[1]):
        raise ValueError(f"{text!r} is not a speed: use 1x, 10x or max")
    return float(match[1])


@click.command(
    name="import",
    cls=Page,
    examples=[
        ("phaseline log import day.plog.zst", "as fast as possible"),
        ("phaseline log import day.plog.zst --speed 10x --shift-time", "a day in 2.4 hours, with today's times"),
        ("phaseline log import day.plog.zst --prefix rehearsal", "into another installation"),
    ],
)
@click.argument("file", type=options.FILE)
@click.option(
    "--speed",
    type=options.ParsedText("speed", _speed),
    default="max",
    show_default=True,
    help="Speed: 1x as recorded, 10x faster, or max.",
)
@click.option(
    "--shift-time", "shift", is_flag=True, help="Move the `time` of the events to now, keeping their distances."
)
@log_source.max_unpacked
@click.option("--partial", is_flag=True, help="Import a damaged file as far as it can be read.")
@options.connected
@options.output("json", "yaml")
def import_(
    settings: Settings, file: Path, *, speed: float | str, shift: bool, partial: bool, most: int | None, output: Output
) -> int | None:
    """Publish the events of a file that `phaseline log export` wrote, in order.

    The file is checked first: nothing of a damaged file is sent. States at its beginning are sent as `adopt` events.
    Events that were stored within the last ten minutes are not stored again, so an interrupted import can be
    repeated.
    """

    def clock(header: Header) -> Clock:
        return Clock(header, None if isinstance(speed, str) else speed, shift=shift, now=datetime.now(UTC))

    async def work() -> None:
        async with on_installation(settings, "import") as installation:
            await leave_note(installation.wire, settings, "import", f"the events of {file.name}")
            with log_source.progress_bar("sending") as bar:
                task = bar.add_task("", total=None)
                done = await import_log(
                    installation, file, clock, partial=partial, most=most,
                    progress=lambda n: bar.advance(task, n), begin=lambda count: bar.update(task, total=count),
                )  # fmt: skip
        show_import(done, output=output)

    return terminal.run(work())


def show_import(done: ImportResult, *, output: Output) -> None:
    """Print what was imported and what was not."""
    if output.is_data:
        output.show(
            {
                "stored": done.stored,
                "duplicates": done.duplicates,
                "states": done.states,
                "left_out": dict(done.left_out),
                "partly": dict(+done.partly),
                "damage": done.damage,
            }
        )
        return
    for kind, count in done.left_out.items():
        terminal.say(f"{counted(count, 'state')} of {kind} left out: cannot be adopted")
    for kind, count in (+done.partly).items():
        terminal.say(f"{counted(count, 'state')} of {kind} imported for one facet only: `adopt` names one facet")
    if done.damage:
        terminal.say(f"imported in part: {done.damage}")
    duplicates = f", {counted(done.duplicates, 'duplicate')}" if done.duplicates else ""
    states = f", {counted(done.states, 'state')} of them as adopt events" if done.states else ""
    render.show_line(render.text_of(f"{counted(done.stored, 'event')} stored{duplicates}{states}"))
