"""The command `demo`: a scenario, played on an embedded server.

Belongs here: its options and layout. Does not: the events (`surfaces.demo`).
"""

import asyncio
import os
import shutil
import sys
import webbrowser
from collections.abc import Mapping
from typing import Any

import click

from phaseline.engine.publish.outcomes import Outcome
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces import demo as scenario
from phaseline.engine.surfaces.cli import options, render, terminal
from phaseline.engine.surfaces.cli.help import Page
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.cli.serve import NEEDED, served
from phaseline.engine.surfaces.cli.styled import Text
from phaseline.engine.surfaces.cli.tree import Forest
from phaseline.engine.surfaces.client.client import Client
from phaseline.engine.worker import system
from phaseline.machines.built_in import installed
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.labels import Language
from phaseline.schemas import libraries
from phaseline.schemas.records import Transition

SETTLED = 0.3
"""Seconds after which STATE, the copy that states are read from, has the last record."""


@click.command(
    cls=Page,
    examples=[
        ("phaseline demo", ""),
        ("phaseline demo --speed 0 --lang zh", "as fast as possible, with Chinese labels"),
    ],
)
@click.option(
    "--speed",
    type=options.Decimal(0),
    default=6.0,
    show_default=True,
    metavar="N",
    envvar="PHASELINE_SPEED",
    show_envvar=True,
    help="Events per second. 0 is as fast as possible.",
)
@options.language
@options.verbose
def demo(*, speed: float, lang: Language) -> int | None:
    """Play the morning of a small fleet on an embedded server: each event, with the records that it makes.

    Clusters are created, one meets a stock-out, a pool scales, a node is maintained, an account is overdue and then
    paid, a clean-up fails. The events are those of examples/morning.jsonl. The page shows them too; on a terminal it is
    opened, and stays until Ctrl-C.
    """
    return terminal.run(_play(speed, lang))


async def _play(speed: float, lang: Language) -> None:
    stop = system.stopped_by_signals()
    kinds = installed()
    port = 0 if all(map(libraries.is_installed, NEEDED)) else None
    async with (
        system.system(Settings(), kinds, None, 0) as (server, settings, task),
        served(settings, port) as url,
        Client.open(settings) as client,
    ):
        terminal.say(f"A NATS server listens on {server.url}. One worker decides the events.")
        if url:
            terminal.say(f"The page is at {url}.")
            await _open(url)
        events = scenario.scenario()
        async for event, outcome in scenario.play(client, events, 1 / speed if speed else 0):
            _show_event(kinds, event, outcome)
            if stop.is_set() or task.done():
                return
        await asyncio.sleep(SETTLED)
        roots = sorted({event["subject"].partition("/")[2].partition("/")[0] for event in events})
        render.show_line("")
        render.show_line(Text("The fleet at the end of the morning", "bold"))
        for root in roots:
            forest = Forest(kinds, await client.tree(root, deleted=True))
            for top in forest.tops:
                with Output() as output:
                    output.tree(forest.drawn(top, lang, None))
        if url and sys.stdout.isatty():
            terminal.say(f"The page stays at {url} until Ctrl-C.")
            await system.until(stop, task)
    terminal.say(f"The demo has ended and its data is deleted. Next: {_called()} up --data ./phaseline-data")


def _called() -> str:
    """How a shell calls this command: by its name, or by its path where no folder of PATH has it."""
    return "phaseline" if shutil.which("phaseline") else os.path.relpath(sys.argv[0])


async def _open(url: str) -> None:
    """Open the page for a person with a desktop."""
    has_desktop = sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if sys.stdout.isatty() and has_desktop:
        await asyncio.to_thread(webbrowser.open, url)


def _show_event(kinds: Kinds, event: Mapping[str, Any], outcome: Outcome) -> None:
    """Print the event, then each of its records on a line."""
    kind, _, trigger = event["type"].partition(".")
    message = render.reason_and_message(None, (event.get("data") or {}).get("message"))
    render.show_line(
        Text.assemble(
            render.text_of(f"{event['time'][11:19]}  ", "bright_black"),
            render.text_of(f"{kind} {event['subject'].partition('/')[2]} ", "bold"),
            render.text_of(trigger, "bold cyan"),
            render.text_of(f"  from {event['source']}  ", "bright_black"),
            message,
        )
    )
    lines = [_transition(kinds, record) for record in outcome.transitions]
    if outcome.rejection is not None:
        lines.append(render.text_of(f"rejected: {outcome.rejection.message}", "red"))
    for line in lines or [render.text_of("no effect", "bright_black")]:
        render.show_line(Text.assemble(" " * 12, line))


def _transition(kinds: Kinds, record: Transition) -> Text:
    cause = record.cause
    why = "" if cause.by == "event" else f"  ({cause.by} of {cause.origin})"
    name = render.text_of(f"{record.entity.kind} {record.entity.id}  ")
    return Text.assemble(name, render.change(kinds, record), render.text_of(why, "bright_black"))
