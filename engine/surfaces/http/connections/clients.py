"""The connections of a server, and what it refused to its clients: counted, and logged without flooding the log.

Belongs here: `Clients`. Does not: when to refuse (`guard`, `live.seats`), names of metrics (`telemetry.metric_table`).
"""

import asyncio
from collections import Counter

from phaseline.engine import logs

PAUSE = 1.0
"""Seconds between two lines about refusals in the log."""
ROOM = 1_000
"""Connections of clients, if there are handles for so many."""

log = logs.get_logger(__name__)


class Clients:
    """The clients of one server. room: how many connections there is room for."""

    def __init__(self, room: int = ROOM) -> None:
        """Nobody is there yet."""
        self.room = room
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
