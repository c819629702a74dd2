"""What the HTTP server counts: requests and readers, its clients, and what it refused to them. Plain numbers.

Belongs here: `Traffic`, `Clients`. Does not: names of metrics (`telemetry.metric_table`), the answer with them
(`reading.metrics`), when to refuse (`guard`, `live.seats`).
"""

import asyncio
from collections import Counter

from phaseline.engine import logs
from phaseline.engine.worker.measures import Distribution

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
PAUSE = 1.0
"""Seconds between two lines about refusals in the log."""

log = logs.get_logger(__name__)


class Clients:
    """The connections of a server, and what it refused to its clients, by reason. room: for so many connections."""

    def __init__(self, room: int = 1_000) -> None:
        """Nobody is there yet."""
        self.room = room
        self.connections = 0
        self.refused: Counter[str] = Counter()
        self._untold: Counter[str] = Counter()
        self._pause: asyncio.TimerHandle | None = None

    def refuse(self, reason: str, address: str) -> None:
        """Count a refusal, and log it: at most one line a second, with how many there were since the last one."""
        self.refused[reason] += 1
        self._untold[reason] += 1
        if self._pause is None:
            self._tell(address)

    def _tell(self, address: str) -> None:
        self._pause = None
        if self._untold:
            log.warning("http_refused", connections=self.connections, last=address, **self._untold)
            self._untold.clear()
            self._pause = asyncio.get_running_loop().call_later(PAUSE, self._tell, address)


class Traffic:
    """Counts of one server. clients: shared by the services of all cells."""

    def __init__(self) -> None:
        """Nobody has asked anything yet."""
        self.requests: Counter[tuple[str, str, str]] = Counter()
        """By method, route and status."""
        self.seconds = Distribution(SECONDS)
        """From a request until its answer begins."""
        self.resyncs = 0
        """How often a reader of transitions was too slow."""
        self.clients = Clients()
