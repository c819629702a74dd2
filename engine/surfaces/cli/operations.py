"""The command `operations`: what operators did by the command; and what commands of operators share.

Belongs here: its layout, the words; opening an installation, and what is said when a note is left. Does not: the notes
(`phaseline.engine.publish.operations`).
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import click

from phaseline.engine.log.installation import Installation
from phaseline.engine.nats.streams import inspect
from phaseline.engine.nats.wire import Wire
from phaseline.engine.publish import operations as notes
from phaseline.engine.publish.operations import Operation
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli import options, render, terminal
from phaseline.engine.surfaces.cli.help import Page
from phaseline.engine.surfaces.cli.layout import Column
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.cli.styled import Text
from phaseline.machines.built_in import installed
from phaseline.schemas.records import timestamp

COLUMNS: Final[tuple[Column[Operation], ...]] = (
    Column("PLACE", lambda one: Text(str(one.place)), worth=60),
    Column("TIME", lambda one: Text(render.local_time(one.time_ns))),
    Column("COMMAND", lambda one: render.text_of(one.command)),
    Column("WHAT", lambda one: render.text_of(one.what), wraps=True),
    Column("BY", lambda one: render.text_of(one.by), wraps=True),
)


@click.command(
    cls=Page,
    examples=[
        ("phaseline admin operations", "who changed what"),
        ("phaseline admin operations --json | jq 'select(.command == \"purge\")'", "what was purged"),
    ],
)
@options.connected
@options.output("json", "yaml", "wide")
def operations(settings: Settings, *, output: Output) -> int | None:
    """Show what operators did by the command: what was purged, archived, changed, removed, sent again, imported.

    Each of these commands leaves a note in the log. The time is that of the server, and only operators and workers may
    write a note. Who it was is what the command said of itself: the user of its machine, and that of NATS. For all that
    was done through `phaseline serve`, the records have the caller.
    """

    async def work() -> None:
        async with on_installation(settings, "operations") as installation:
            found = [one async for one in notes.operations(installation)]
        output.list(COLUMNS, found, _shown)
        if not found:
            terminal.say("the log has no note of an operation")

    return terminal.run(work())


def _shown(one: Operation) -> dict[str, object]:
    """A note for programs."""
    return {"place": one.place, "time": timestamp(one.time_ns), "command": one.command, "what": one.what, "by": one.by}


@asynccontextmanager
async def on_installation(settings: Settings, command: str) -> AsyncIterator[Installation]:
    """The installation, for a command, while the block runs; raises `NotProvisioned`."""
    async with Wire.open(settings, name=f"phaseline-{command}") as wire:
        yield Installation(wire, await inspect(wire, settings), installed(settings.prefix))


async def leave_note(wire: Wire, settings: Settings, command: str, what: str) -> None:
    """Note in the log that somebody calls a command, before it changes anything; say so if that is not permitted."""
    if (error := await notes.leave(wire, settings, command, what)) is not None:
        terminal.say(f"the log has no note of this, because it was not permitted: {error}")
