"""The endpoint of a worker process: `/metrics`, `/livez`, `/readyz`.

Belongs here: joining values, checks and requests; the beat that shows that the event loop turns.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import CancelledError
from contextlib import asynccontextmanager
from typing import Any, TypeVar
from urllib.parse import parse_qs

from phaseline.engine import logs
from phaseline.engine.surfaces.telemetry import checks, endpoint, listening
from phaseline.engine.surfaces.telemetry.checks import ProbeCheck
from phaseline.engine.surfaces.telemetry.class_readings import ClassReadings
from phaseline.engine.surfaces.telemetry.endpoint import TEXT, ProbeAnswer, ProbeRequest
from phaseline.engine.surfaces.telemetry.metric_table import Values
from phaseline.engine.surfaces.telemetry.readings import StreamReadings, of_program, readings
from phaseline.engine.worker.worker import Worker
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas import libraries
from phaseline.schemas.errors import NameUnknown

T = TypeVar("T")
BEAT = 1.0
"""Seconds between two turns of the event loop that are noted."""
PATIENCE = 5.0
"""Seconds that a request waits for the event loop."""
STUCK = f"the event loop did not answer within {PATIENCE:g} s\n".encode()

log = logs.get_logger(__name__)


class Exposing:
    """What is exposed of this process. `watch` names the worker, once there is one."""

    def __init__(self, kinds: Kinds, entities_of: str = "") -> None:
        """entities_of: a kind whose entities have series of their own."""
        if entities_of and entities_of not in kinds:
            raise NameUnknown.among("kind", entities_of, kinds)
        self._kinds, self._entities_of = kinds, entities_of
        self._worker: Worker | None = None
        self._further: list[Callable[[], Values]] = []
        self._streams, self._classes = StreamReadings(), ClassReadings()
        self._loop = asyncio.get_running_loop()
        self._turned = time.monotonic()

    def watch(self, worker: Worker) -> None:
        """Expose this worker."""
        self._worker = worker

    def add(self, values: Callable[[], Values]) -> None:
        """Expose these values beside those of the worker."""
        self._further.append(values)

    async def beat(self) -> None:
        """Note that the event loop turns, until cancelled."""
        while True:
            self._turned = time.monotonic()
            await asyncio.sleep(BEAT)

    # ---- called in threads

    def metrics(self, request: ProbeRequest) -> ProbeAnswer:
        """All values."""
        # the library was looked for
        from phaseline.engine.surfaces.telemetry.exposition import exposed  # noqa: PLC0415

        values = self._in_loop(self._values())
        if values is None:
            return ProbeAnswer(503, TEXT, STUCK)
        headers, body = exposed(values, request.headers.get("accept", ""), request.headers.get("accept-encoding", ""))
        return ProbeAnswer(200, headers, body)

    def livez(self, request: ProbeRequest) -> ProbeAnswer:
        """Whether the event loop turns. Otherwise only a new start helps."""
        return _answer("livez", [self._loop_check()], request)

    def readyz(self, request: ProbeRequest) -> ProbeAnswer:
        """Whether the worker can work."""
        found = self._in_loop(self._readiness())
        return (
            ProbeAnswer(503, TEXT, STUCK) if found is None else _answer("readyz", [self._loop_check(), *found], request)
        )

    def _loop_check(self) -> ProbeCheck:
        return checks.loop(time.monotonic() - self._turned)

    def _in_loop(self, work: Coroutine[Any, Any, T]) -> T | None:
        """The result of some work in the event loop, where nothing changes meanwhile; None if it takes too long."""
        try:
            asked = asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError:  # the event loop is closed
            work.close()
            return None
        try:
            return asked.result(PATIENCE)
        except (TimeoutError, CancelledError):
            asked.cancel()
            return None

    # ---- called in the event loop

    async def _readiness(self) -> list[ProbeCheck]:
        return list(checks.readiness(self._worker))

    async def _values(self) -> Values:
        worker = self._worker
        further = {name: one for values in self._further for name, one in values().items()}
        if worker is None:
            return {**dict(of_program(self._kinds)), "phaseline_nats_connected": {(): 0}, **further}
        values = {**dict(readings(worker, self._entities_of)), **await self._classes.read(worker), **further}
        if worker.installation is not None and 0 in worker.owned:
            values.update(await self._streams.read(worker.installation))
        return values


def _answer(name: str, found: list[ProbeCheck], request: ProbeRequest) -> ProbeAnswer:
    is_fine = all(check.is_fine for check in found)
    is_verbose = "verbose" in parse_qs(request.query, keep_blank_values=True)
    text = checks.text(found, name) if is_verbose or not is_fine else "ok\n"
    return ProbeAnswer(200 if is_fine else 503, TEXT, text.encode())


@asynccontextmanager
async def exposing(listen: str, kinds: Kinds, entities_of: str = "") -> AsyncIterator[Exposing]:
    """Answer at `HOST:PORT` while the block runs. Raises `BadSetting`, `SetupError`, `NameUnknown`, `NotInstalled`."""
    libraries.require("prometheus_client", "metrics")
    own = Exposing(kinds, entities_of)
    host, port = listening.address_of(listen, "metrics", listening.METRICS_PORT)
    bound = listening.bound(host, port, "metrics")
    beating = asyncio.create_task(own.beat())
    paths = {"/metrics": own.metrics, "/livez": own.livez, "/readyz": own.readyz}
    try:
        async with endpoint.answering(bound, paths):
            log.info("metrics_served", url=f"{listening.url_of(host, bound)}/metrics")
            yield own
    finally:
        beating.cancel()
