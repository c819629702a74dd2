"""The command `serve`: the page and the API of an installation, by HTTP.

Belongs here: its options and messages. Does not: the server (`phaseline.engine.http`).
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import click

from phaseline.engine.cli import options, terminal
from phaseline.engine.cli.help import Page
from phaseline.engine.settings import Settings
from phaseline.engine.worker import system
from phaseline.machines.built_in import installed
from phaseline.schemas import libraries

NEEDED = ("starlette", "uvicorn", "httptools")


@click.command(
    cls=Page,
    examples=[
        ("phaseline serve", "the page is at http://127.0.0.1:8223"),
        ("phaseline serve --nats nats://nats.example:4222 --listen 127.0.0.1:9000", ""),
        ("phaseline serve --listen 127.0.0.1:0 -v", "on any free port, with all log lines"),
    ],
)
@click.option("--listen", default="127.0.0.1:8223", metavar="HOST:PORT", envvar="PHASELINE_LISTEN", show_envvar=True,
              show_default=True, help="Where to listen. Port 0 picks a free one.")  # fmt: skip
@click.option("--history", type=click.IntRange(0), default=2_000_000, metavar="N", envvar="PHASELINE_HISTORY",
              show_envvar=True, show_default=True,
              help="Transitions of the past that are kept in memory, 30 bytes each.")  # fmt: skip
@options.connected
def serve(settings: Settings, *, listen: str, history: int) -> int | None:
    """Serve the page and the API of an installation by HTTP, until Ctrl-C.

    The process keeps nothing. It folds the log into memory and follows it; run as many as you like. Without NATS it
    waits, and answers as soon as there is an installation.
    """
    check_libraries()
    from phaseline.engine.http import server  # noqa: PLC0415  # it needs the libraries that were looked for

    terminal.log_like_a_server(quiet=True)

    async def work() -> None:
        stop = system.stopped_by_signals()
        async with server.serving(settings, installed(), listen, history) as serving:
            terminal.say(f"The page and the API are at {serving.url}. Stop with Ctrl-C.")
            await stop.wait()

    return terminal.run(work())


@asynccontextmanager
async def served(settings: Settings, port: int | None) -> AsyncIterator[str]:
    """The page and the API on this machine while the block runs: where they are. Empty without a port."""
    if port is None:
        yield ""
        return
    from phaseline.engine.http import server  # noqa: PLC0415  # it needs libraries that not everybody has

    async with server.serving(settings, installed(), f"127.0.0.1:{port}") as serving:
        yield serving.url


def check_libraries() -> None:
    """Raise `NotInstalled` unless all libraries of the extra `http` are there."""
    for module in NEEDED:
        libraries.require(module, "HTTP")
