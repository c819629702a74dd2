"""How many events each caller may send: a budget that fills up again.

Belongs here: `Budgets`. Does not: who asks (`access`), what is sent (`http.intake`).
"""

import time
from collections import OrderedDict

from phaseline.schemas.errors import InvalidInput

RATE = 1_000.0
"""Events per second, unless it is set."""
BURST = 10.0
"""A full budget holds the events of so many seconds, and at least a whole batch."""
LEAST = 1_000
MOST = 10_000
"""Callers whose budgets are kept; the one that was not used for longest is full again."""


class Budgets:
    """The budgets of all callers, by name. rate: events per second; 0: as many as they like."""

    def __init__(self, rate: float = RATE) -> None:
        self.rate = rate
        self._full = max(rate * BURST, LEAST)
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, name: str, events: int = 1) -> None:
        """Take so many events from a budget; raises `InvalidInput.too_many_events`, and then takes nothing."""
        if not self.rate or events < 1:
            return
        now = time.monotonic()
        left, then = self._left.pop(name, (self._full, now))
        left = min(self._full, left + (now - then) * self.rate)
        self._left[name] = (left - events if left >= events else left, now)
        while len(self._left) > MOST:
            self._left.popitem(last=False)
        if left < events:
            raise InvalidInput.too_many_events(name=name, rate=self.rate, seconds=(events - left) / self.rate)
