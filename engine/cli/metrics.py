"""The options about metrics that `worker` and `up` share.

Belongs here: the options, and the addresses of several workers. Does not: the endpoint (`engine.telemetry`).
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import click

from phaseline.engine.cli.options import Function
from phaseline.engine.errors import BadSetting
from phaseline.engine.listening import address_of
from phaseline.engine.worker.system import Watch
from phaseline.machines.built_in import installed

PORT = 9464


def options(function: Function) -> Function:
    """Add the options; `function` gets them as `metrics_at` and `metrics_entities`."""
    at = click.option(
        "--metrics", "metrics_at", is_flag=False, flag_value=f"127.0.0.1:{PORT}", metavar="[HOST:PORT]",
        envvar="PHASELINE_METRICS", show_envvar=True,
        help=f"Serve /metrics for Prometheus, /livez and /readyz. HOST:PORT: 127.0.0.1:{PORT} if left out.",
    )  # fmt: skip
    entities = click.option(
        "--metrics-entities", "metrics_entities", metavar="KIND", envvar="PHASELINE_METRICS_ENTITIES",
        show_envvar=True, help="Give each entity of this kind a metric of its own, at most 1,000.",
    )  # fmt: skip
    return at(entities(function))


@asynccontextmanager
async def exposing(listen: str | None, entities_of: str | None) -> AsyncIterator[Watch | None]:
    """Serve the metrics of this process while the block runs: what to call with its worker, if any."""
    if listen is None:
        if entities_of is not None:
            raise BadSetting(name="metrics_entities", problem="needs --metrics, which says where to serve them")
        yield None
        return
    from phaseline.engine.telemetry.exposing import exposing as expose  # noqa: PLC0415  # not everybody wants it

    async with expose(listen, installed(), entities_of or "") as own:
        yield own.watch


def of_others(listen: str | None, entities_of: str | None, workers: int) -> list[list[str]]:
    """The options of the worker processes beside the first worker: each has the next port."""
    if listen is None:
        return [[] for _ in range(workers - 1)]
    host, port = address_of(listen, "metrics", PORT)
    if port and port + workers - 1 > 65_535:
        raise BadSetting(name="metrics", problem=f"{workers} workers need the ports {port} to {port + workers - 1}")
    shown = f"[{host}]" if ":" in host else host
    kind = [] if entities_of is None else [f"--metrics-entities={entities_of}"]
    return [[f"--metrics={shown}:{port + number if port else 0}", *kind] for number in range(1, workers)]
