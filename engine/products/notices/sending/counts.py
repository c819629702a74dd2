"""How many messages a sender has sent, by receiver and what came of them, and whom it does not reach.

Belongs here: the numbers, and their metrics. Does not: the words of metrics (`surfaces.telemetry.metric_table`).
"""

import time
from collections import Counter
from collections.abc import Callable
from typing import Literal

from phaseline.engine.surfaces.telemetry.metric_table import Values

SendOutcome = Literal["sent", "repeated", "failed", "given_up"]
"""repeated: the states of open alerts, sent again to an Alertmanager."""
REACHED: tuple[SendOutcome, ...] = ("sent", "repeated")


class DeliveryCounts:
    """Numbers since this process began."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Nothing was sent yet. clock: in seconds."""
        self.outcomes: Counter[tuple[str, str, SendOutcome]] = Counter()
        self._failing: dict[tuple[str, str], float | None] = {}
        self._clock = clock

    def note(self, receiver: str, type_: str, outcome: SendOutcome) -> None:
        """Count one."""
        self.outcomes[receiver, type_, outcome] += 1
        since = self._failing.get((receiver, type_))
        is_reached = outcome in REACHED
        self._failing[receiver, type_] = None if is_reached else self._clock() if since is None else since

    def values(self) -> Values:
        """The values of their metrics."""
        now = self._clock()
        return {
            "phaseline_deliveries_total": {name: float(number) for name, number in self.outcomes.items()},
            "phaseline_receiver_failing_seconds": {
                name: 0.0 if since is None else now - since for name, since in self._failing.items()
            },
        }
