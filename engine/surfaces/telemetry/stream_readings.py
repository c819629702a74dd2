"""How the streams of an installation grow. One worker asks: the owner of the first partition.

Belongs here: asking the server, at most every `FRESH` seconds. Does not: what else a worker knows (`readings`).
"""

import asyncio
import time
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from phaseline.engine.log.installation import Installation
from phaseline.engine.nats.stream_settings.fill import Fill
from phaseline.engine.surfaces.telemetry.readings import Reading
from phaseline.schemas.errors import ApiFailed, NoAnswer, NotPermitted

if TYPE_CHECKING:
    from phaseline.engine.surfaces.telemetry.metric_table import Value

FRESH = 5.0
"""Seconds for which an answer is used again, however often somebody asks."""
PATIENCE = 2.0
"""Seconds to wait for the server. Then the streams are left out."""
NO_TIME = "0001-01-01"
"""How the server writes the time of the first message where there is none."""


class StreamReadings:
    """What the server says about the streams."""

    def __init__(self) -> None:
        self._known: list[dict[str, Any]] = []
        self._until = 0.0

    async def read(self, installation: Installation) -> list[Reading]:
        """The values; none where the server does not answer in time."""
        if time.monotonic() > self._until:
            try:
                async with asyncio.timeout(PATIENCE):
                    names = installation.layout.streams
                    self._known = [await installation.wire.api(f"STREAM.INFO.{name}") for name in names]
            except (TimeoutError, NoAnswer, ApiFailed, NotPermitted):
                self._known = []
            self._until = time.monotonic() + FRESH
        return list(_values(self._known))


def _values(known: list[dict[str, Any]]) -> Iterator[Reading]:
    found: dict[str, dict[tuple[str, ...], Value]] = {}
    for info in known:
        for name, value in _of_stream(info):
            found.setdefault(f"phaseline_stream_{name}", {})[info["config"]["name"],] = value
    yield from found.items()


def _of_stream(info: dict[str, Any]) -> Iterator[tuple[str, float]]:
    state, config = info["state"], info["config"]
    yield "messages", state["messages"]
    yield "bytes", state["bytes"]
    yield "last_sequence", state["last_seq"]
    if (limit := Fill.of(info).limit) > 0:
        yield "limit_bytes", limit
    if state["messages"] and not (first := str(state["first_ts"])).startswith(NO_TIME):
        yield "first_timestamp_seconds", datetime.fromisoformat(first).timestamp()
    others = (info.get("cluster") or {}).get("replicas") or ()
    yield "replicas", config["num_replicas"]
    yield "replicas_current", 1 + sum(bool(one.get("current")) for one in others)
