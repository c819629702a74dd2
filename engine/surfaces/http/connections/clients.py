"""The connections of a server, and what it refused to its clients: counted, and logged without flooding the log.

Belongs here: `Clients`, `HttpLimits`. Does not: when to refuse (`guard`, `http.traffic`), names of metrics
(`telemetry.metric_table`).
"""

import asyncio
from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from phaseline.engine import logs

PAUSE = 1.0
"""Seconds between two lines about refusals in the log."""
ROOM = 1_000
"""Connections of clients, if there are handles for so many."""

log = logs.get_logger(__name__)


class HttpLimits(NamedTuple):
    """What a server gives to its clients, and how long it waits for NATS. Times are in seconds."""

    room: int | None = None
    """Connections; None: as many as there are handles for."""
    phases: Mapping[str, float] = MappingProxyType({})
    """By its name, how long a phase of a connection lasts, where that differs from the table (`guard`)."""
    unread: int = 32 << 20
    """Bytes of answers that all clients have not taken."""
    filters: int = 32
    """Different filters of the streams of one caller. Streams without a filter always find room."""
    frames: int = 400
    """The most ticks that are kept for all readers together: what a slow one can be behind."""
    frame_bytes: int = 16 << 20
    """The same in bytes."""
    chunk: int = 200
    """Records after which a frame of what came before ends, as soon as no event is cut."""
    bookmark: float = 5.0
    """Between two bookmarks of a stream."""
    again: float = 1.0
    """Until a stream tries again to read the log, while NATS is away."""
    patience: float = 5.0
    """Whoever waits for NATS gets an answer after so long without it."""
    beat: float = 0.75
    """Between two pings of NATS. Less often the log is asked for its leader."""
    mending: float = 10.0
    """Until the server follows the log again after an error of ours."""


LIMITS = HttpLimits()


class Clients:
    """The clients of one server. room: how many connections there is room for."""

    def __init__(self, limits: HttpLimits = LIMITS) -> None:
        self.limits = limits
        self.room = limits.room or ROOM
        self.connections = 0
        self.refused: Counter[str] = Counter()
        """How much was refused, by reason."""
        self._untold: Counter[str] = Counter()
        self._last = ""
        self._pause: asyncio.TimerHandle | None = None

    def refuse(self, reason: str, who: str) -> None:
        """Count a refusal, and log it: at most one line a second, with how many there were since the last one."""
        self.refused[reason] += 1
        self._untold[reason] += 1
        self._last = who
        if self._pause is None:
            self._tell()

    def _tell(self) -> None:
        self._pause = None
        if self._untold:
            log.warning("http_refused", connections=self.connections, last=self._last, refused=dict(self._untold))
            self._untold.clear()
            self._pause = asyncio.get_running_loop().call_later(PAUSE, self._tell)
