"""The command `up`: a whole system on an embedded NATS server.

Belongs here: its options and messages. Does not: starting and draining (`phaseline.engine.worker.system`).
"""

from pathlib import Path

import click

from phaseline.engine.cli import options, terminal
from phaseline.engine.cli.help import Page
from phaseline.engine.cli.worker import installation
from phaseline.engine.settings import Settings
from phaseline.engine.worker import system
from phaseline.machines.built_in import installed


@click.command(
    cls=Page,
    examples=[
        ("phaseline up", "with a temporary directory, deleted at the end"),
        ("phaseline up --data ./phaseline-data --port 4222", "keep the data, on a fixed port"),
        ("phaseline up --data ./phaseline-data --workers 2 --sync always", "survive power cuts"),
    ],
)
@click.option("--data", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
              envvar="PHASELINE_DATA", show_envvar=True,
              help="Data directory.  [default: a temporary one]")  # fmt: skip
@click.option("--port", type=click.IntRange(0, 65535), default=4222, metavar="P",
              envvar="PHASELINE_PORT", show_envvar=True, show_default=True,
              help="Port on the loopback interface. 0 picks a free port.")  # fmt: skip
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    metavar="N",
    envvar="PHASELINE_WORKERS",
    show_envvar=True,
    help="Number of worker processes.",
)
@click.option(
    "--sync",
    type=click.Choice(["default", "always"]),
    default="default",
    envvar="PHASELINE_SYNC",
    show_envvar=True,
    show_default=True,
    help="`always` writes to disk before each answer: it survives power cuts, and is much slower.",
)
@options.connected
@installation
def up(settings: Settings, *, data: Path | None, port: int, workers: int, sync: str) -> int | None:
    """Run a whole system on an embedded NATS server, on the loopback interface, until Ctrl-C.

    It is meant for development, demonstrations and single machines. Any NATS client can connect.
    """
    terminal.log_like_a_server()

    async def work() -> None:
        stop = system.stopped_by_signals()
        always = sync == "always"
        async with system.system(settings, installed(), data, port, workers=workers, sync_always=always) as (
            server,
            _,
            task,
        ):
            kept = data or "temporary, deleted at the end"
            terminal.say(f"Phaseline listens on {server.url}. Data directory: {kept}. Stop with Ctrl-C.")
            option = "" if server.url == "nats://127.0.0.1:4222" else f" --nats {server.url}"
            terminal.say(f"Try in another terminal: phaseline publish{option} cluster create c1 --wait")
            await system.until(stop, task)
            terminal.say("stopping, after the commits under way ...")

    return terminal.run(work())
