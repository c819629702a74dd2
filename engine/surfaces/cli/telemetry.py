"""The options about metrics and traces that `worker` and `up` share.

Belongs here: the options, what they switch on, and the options of further worker processes. Does not: the endpoint
(`surfaces.telemetry`), spans (`engine.worker.tracing`).
"""

import functools
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli.help import Function, option
from phaseline.engine.surfaces.telemetry.listening import METRICS_LISTEN, METRICS_PORT, address_of
from phaseline.engine.worker.system import Watch
from phaseline.engine.worker.worker import Worker
from phaseline.machines.built_in import installed
from phaseline.schemas import libraries
from phaseline.schemas.errors import BadSetting

if TYPE_CHECKING:
    from phaseline.engine.surfaces.telemetry.exposing import Exposing
    from phaseline.engine.surfaces.telemetry.metric_table import Values
    from phaseline.engine.worker.tracing import Tracing


class Telemetry(NamedTuple):
    """What a worker tells. listen: where it serves metrics; None for nowhere. entities_of: a kind."""

    listen: str | None
    entities_of: str | None
    traces: bool

    @asynccontextmanager
    async def serving(
        self, settings: Settings, further: "Callable[[], Values] | None" = None
    ) -> AsyncIterator[Watch]:  # fmt: skip
        """Serve the metrics of this process while the block runs: what to call with its worker.

        further: what else is served.
        """
        tracing = self._tracing(settings)
        async with self._exposing(settings) as exposing:
            if exposing is not None and further is not None:
                exposing.add(further)

            def watch(worker: Worker) -> None:
                worker.tracing = tracing
                if exposing is not None:
                    exposing.watch(worker)

            yield watch

    def _tracing(self, settings: Settings) -> "Tracing | None":
        if not self.traces:
            return None
        libraries.require("opentelemetry", "traces")
        from phaseline.engine.worker.tracing import Tracing  # noqa: PLC0415  # not everybody has the library

        return Tracing(settings.stream("EVENTS"))

    def _exposing(self, settings: Settings) -> "AbstractAsyncContextManager[Exposing | None]":
        if self.listen is None:
            if self.entities_of is not None:
                raise BadSetting(name="metrics_entities", problem="needs --metrics, which says where to serve them")
            return nullcontext()
        from phaseline.engine.surfaces.telemetry.exposing import exposing  # noqa: PLC0415  # likewise

        return exposing(self.listen, installed(settings.prefix), self.entities_of or "")

    def of_others(self, workers: int) -> list[list[str]]:
        """The options of the worker processes beside the first worker: each has the next port for its metrics."""
        traces = ["--traces"] if self.traces else []
        if self.listen is None:
            return [traces for _ in range(workers - 1)]
        host, port = address_of(self.listen, "metrics", METRICS_PORT)
        if port and port + workers - 1 > 65_535:
            raise BadSetting(name="metrics", problem=f"{workers} workers need the ports {port} to {port + workers - 1}")
        shown = f"[{host}]" if ":" in host else host
        more = [*traces, *([] if self.entities_of is None else [f"--metrics-entities={self.entities_of}"])]
        return [[f"--metrics={shown}:{port + number if port else 0}", *more] for number in range(1, workers)]


def options(function: Function) -> Function:
    """Add the options; `function` gets them as `telemetry`."""

    @functools.wraps(function)
    def call(metrics: str | None, metrics_entities: str | None, *, traces: bool, **values: Any) -> int | None:
        return function(telemetry=Telemetry(metrics, metrics_entities, traces), **values)

    at = option(
        "telemetry", "--metrics", is_flag=False, flag_value=METRICS_LISTEN, metavar="[HOST:PORT]",
        envvar="PHASELINE_METRICS",
        help=f"Serve /metrics for Prometheus, /livez and /readyz. HOST:PORT: {METRICS_LISTEN} if left out.",
    )  # fmt: skip
    entities = option(
        "telemetry", "--metrics-entities", metavar="KIND", envvar="PHASELINE_METRICS_ENTITIES",
        help="Give each entity of this kind a metric of its own, at most 1,000.",
    )  # fmt: skip
    traces = option(
        "telemetry", "--traces", is_flag=True, envvar="PHASELINE_TRACES",
        help="Make spans of commits with OpenTelemetry, whose SDK you bring.",
    )  # fmt: skip
    return at(entities(traces(call)))
