"""The command `up`: a whole system on an embedded NATS server.

Belongs here: its options and messages. Does not: starting and draining (`phaseline.engine.worker.system`).
"""

from collections.abc import Iterator
from pathlib import Path

import click
from click.core import ParameterSource

from phaseline.engine.nats.embedded.server import EmbeddedServer
from phaseline.engine.settings import DEFAULT_URL, Settings
from phaseline.engine.surfaces.cli import options, terminal
from phaseline.engine.surfaces.cli.help import Page
from phaseline.engine.surfaces.cli.serve import check_libraries, served
from phaseline.engine.surfaces.cli.telemetry import Telemetry
from phaseline.engine.surfaces.cli.telemetry import options as telemetry_options
from phaseline.engine.surfaces.cli.worker import installation
from phaseline.engine.surfaces.telemetry.listening import HTTP_LISTEN, HTTP_PORT
from phaseline.engine.worker import system
from phaseline.machines.built_in import installed


@click.command(
    cls=Page,
    examples=[
        ("phaseline up", "with a temporary directory, deleted at the end"),
        ("phaseline up --data ./phaseline-data --port 4222", "keep the data, on a fixed port"),
        ("phaseline up --data ./phaseline-data --http", f"with the page on http://{HTTP_LISTEN}"),
        ("phaseline up --data ./phaseline-data --workers 2 --sync always", "survive power cuts"),
    ],
)
@click.option("--data", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
              envvar="PHASELINE_DATA", show_envvar=True,
              help="Data directory.  [default: a temporary one]")  # fmt: skip
@click.option("--port", type=options.WholeNumber(0, 65535), default=4222, metavar="P",
              envvar="PHASELINE_PORT", show_envvar=True, show_default=True,
              help="Port on the loopback interface. 0 picks a free port.")  # fmt: skip
@click.option(
    "--workers",
    type=options.WholeNumber(1, 64),
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
@click.option("--open", "is_open", is_flag=True, envvar="PHASELINE_OPEN", show_envvar=True,
              help="Let every user of this machine connect, without a key.")  # fmt: skip
@click.option("--http", type=options.WholeNumber(0, 65535), is_flag=False, flag_value=HTTP_PORT, metavar="[PORT]",
              envvar="PHASELINE_HTTP", show_envvar=True,
              help=f"Serve the page and the API too, on this machine. PORT: {HTTP_PORT} if left out.")  # fmt: skip
@telemetry_options
@options.connected
@options.archived
@installation
def up(
    settings: Settings, *, data: Path | None, port: int, workers: int, sync: str, is_open: bool, http: int | None,
    telemetry: Telemetry,
) -> int | None:  # fmt: skip
    """Run a whole system on an embedded NATS server, on the loopback interface, until Ctrl-C.

    It is meant for development, demonstrations and single machines. Only the user who starts it may connect, with the
    key `phaseline.nk` in the data directory. Commands of the same user find the key by themselves. Other NATS clients
    need it, for example `nats --nkey DIR/phaseline.nk`.

    The command says where everything is, and then shows warnings and errors only. -v shows all log lines.

    With --archive, the page and the API of --http show what was archived too.
    """
    if http is not None:
        check_libraries()
    elif click.get_current_context().get_parameter_source("archive") == ParameterSource.COMMANDLINE:
        raise click.UsageError("--archive is for the page and the API: give --http too")
    terminal.log_like_a_server(quiet=True)
    quiet, goes_on = not terminal.is_verbose(), data is not None and (data / "jetstream").exists()

    async def work() -> None:
        stop = system.stopped_by_signals()
        further = telemetry.of_others(workers)
        async with (
            telemetry.serving(settings) as watch,
            system.system(
                settings, installed(settings.prefix), data, port,
                workers=workers, sync_always=sync == "always", is_open=is_open, quiet=quiet, watch=watch,
                further=further,
            ) as (server, inner, task),
            served(inner, http) as url,
        ):  # fmt: skip
            for line in welcome(server, workers, url, kept=data is not None, goes_on=goes_on):
                terminal.say(line)
            await system.until(stop, task)
            terminal.say("stopping, after the commits under way ...")

    return terminal.run(work())


def welcome(server: EmbeddedServer, workers: int, url: str, *, kept: bool, goes_on: bool) -> Iterator[str]:
    """What a system that has started says about itself, one line per thing.

    url: where the page is; empty if it is not served. kept: whether its data stays. goes_on: whether there was some.
    """
    option = "" if server.url == DEFAULT_URL else f" --nats {server.url}"
    yield f"Phaseline listens on {server.url}. Stop it with Ctrl-C."
    yield f"  data     {server.data}{'' if kept else ', which is deleted at the end'}"
    if server.key is None:
        yield "  access   every user of this machine"
    else:
        yield f"  access   only you; other NATS clients need the key {server.data / server.key.path.name}"
    yield f"  workers  {workers}; each takes a share of the trees"
    if url:
        yield f"  page     {url}, with the API under /v1"
    yield f"  log      warnings appear here, -v shows more; the server writes to {server.log}"
    words = f"overview{option}" if goes_on else f"publish{option} cluster create c1 --wait"
    yield f"  try      phaseline {words}"
