"""The command `worker`: one worker on an existing NATS server or cluster.

Belongs here: its options, and those that `up` shares with it. Does not: the worker (`phaseline.engine.worker.system`).
"""

import functools
from dataclasses import replace
from typing import Any

import click

from phaseline.engine.settings import (
    DEFAULT_LEASE,
    DEFAULT_PARTITIONS,
    DEFAULT_WINDOW,
    FEEDS,
    MAX_BYTES,
    MAX_PARTITIONS,
    Settings,
)
from phaseline.engine.surfaces.cli import options, terminal
from phaseline.engine.surfaces.cli.connection import flag, variable
from phaseline.engine.surfaces.cli.help import Function, Page, option
from phaseline.engine.surfaces.cli.telemetry import Telemetry
from phaseline.engine.surfaces.cli.telemetry import options as telemetry_options
from phaseline.engine.worker import system
from phaseline.machines.built_in import installed
from phaseline.schemas.errors import BadSetting

AS_IT_IS = "  [default: as it is; new streams: {}]"
STREAMS: dict[str, dict[str, Any]] = {
    "replicas": {
        "type": options.OneOfNumbers(["1", "3", "5"]),
        "help": f"Number of copies of each stream.{AS_IT_IS.format(1)}",
    },
    "storage": {
        "type": click.Choice(["file", "memory"]),
        "help": f"Where streams keep their messages.{AS_IT_IS.format('file')}",
    },
    "placement_cluster": {
        "type": str, "metavar": "NAME",
        "help": f"Cluster of NATS servers in which the streams are.{AS_IT_IS.format('any')}",
    },
    "placement_tags": {
        "type": options.WORDS, "metavar": "TAG,...",
        "help": f"Tags that servers with a copy of a stream have.{AS_IT_IS.format('any')}",
    },
    "dedupe_window": {
        "type": options.DURATION,
        "help": "Time, like 120s or 5m, in which the server drops an event with an id that it has seen."
                f"{AS_IT_IS.format(f'{DEFAULT_WINDOW / 60:g}m')}",
    },
    "events_max_age": {
        "type": options.DURATION,
        "help": f"How long events are kept, like 30d. 0 keeps them for ever.{AS_IT_IS.format('0s')}",
    },
    **{
        name: {
            "type": options.SIZE, "metavar": "SIZE",
            "help": f"Bytes, like 20GB, that {name.partition('_')[0].upper()} may hold. At the limit nothing more "
                    f"is stored, and nothing is lost. 0 is no limit.{AS_IT_IS.format(0)}",
        }
        for name in MAX_BYTES
    },
}  # fmt: skip
"""The options of streams. One that is not given leaves the streams as they are."""
OPTIONS: dict[str, dict[str, Any]] = {
    "partitions": {
        "type": options.WholeNumber(1, MAX_PARTITIONS), "metavar": "N",
        "help": "Number of partitions with which the installation is made, and which it keeps.  "
                f"[default: as it exists, or {DEFAULT_PARTITIONS}]",
    },
    "feed": {
        "type": click.Choice(FEEDS),
        "help": "Format of records and live feed. The "
                "installation keeps it; workers that run already take it when they are restarted.  "
                "[default: as it is kept, or json]",
    },
    **STREAMS,
    "silence_after": {
        "type": options.DURATION, "default": "0s",
        "help": "Time without an observation, like 120s or 5m, after which a place such as a cluster falls silent, "
                "unless it has a time of its own. It reaches no other kinds. 0 is never.",
    },
    "accept_tables": {
        "type": str, "default": "", "metavar": "DIGEST",
        "help": "Digest of the tables installed here, to continue with them where other tables decided before.",
    },
    "accept_stranded": {
        "type": str, "default": "", "metavar": "DIGEST",
        "help": "Digest of the tables installed here, to take them up although they lack states in which entities are. "
                "These entities stay as they are.",
    },
    "accept_loss": {
        "is_flag": True, "default": False,
        "help": "Go on from STATE where the log was emptied. What the log held is lost for good.",
    },
    "lease": {
        "type": options.DURATION, "default": f"{DEFAULT_LEASE:g}s",
        "help": "How long a worker may be silent, like 5s, before others take its partitions.",
    },
}  # fmt: skip


def installation(function: Function) -> Function:
    """Add the options of an installation; `function` gets them in `settings`."""
    return _added(function, OPTIONS)


def of_streams(function: Function) -> Function:
    """Add the options of streams; `function` gets them in `settings`."""
    return _added(function, STREAMS)


def of_replicas(function: Function) -> Function:
    """Add only the option `--replicas` of streams."""
    return _added(function, {"replicas": STREAMS["replicas"]})


def _added(function: Function, added: dict[str, dict[str, Any]]) -> Function:
    @functools.wraps(function)
    def call(settings: Settings, **values: Any) -> int | None:
        try:
            wanted = replace(settings, **{name: values.pop(name) for name in added})
        except BadSetting as error:
            raise click.BadParameter(error.problem, param_hint=flag(error.name)) from error
        return function(settings=wanted, **values)

    wrapped: Function = call
    for name, details in reversed(added.items()):
        shown = "default" in details
        group = "streams" if name in STREAMS else "workers"
        add = option(group, flag(name), name, **details, envvar=variable(name), show_default=shown)
        wrapped = add(wrapped)
    return wrapped


@click.command(
    cls=Page,
    examples=[
        ("phaseline worker --nats nats://a:4222,nats://b:4222,nats://c:4222 --replicas 3", ""),
        ("PHASELINE_NATS=tls://nats.example:4222 PHASELINE_CREDS=worker.creds phaseline worker", ""),
        ("phaseline worker --metrics 0.0.0.0:9464", "with metrics and probes for other machines"),
    ],
)
@click.option("--quiet", is_flag=True, envvar="PHASELINE_QUIET", show_envvar=True,
              help="Log warnings and errors only.")  # fmt: skip
@telemetry_options
@options.connected
@installation
def worker(settings: Settings, *, quiet: bool, telemetry: Telemetry) -> int | None:
    """Run a worker on an existing NATS server or cluster.

    The worker creates missing streams and shares the partitions with the other workers. It runs until Ctrl-C or
    SIGTERM, and then finishes the commits under way. While NATS is unreachable, it waits. It needs NATS 2.15 or newer.
    """
    terminal.log_like_a_server(quiet=quiet)

    async def work() -> None:
        stop = system.stopped_by_signals()
        async with telemetry.serving(settings) as watch:
            await system.run_worker(settings, installed(settings.prefix), stop, watch=watch)

    return terminal.run(work())
