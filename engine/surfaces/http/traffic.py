"""What the HTTP server counts: requests and readers. Plain numbers.

Belongs here: `Traffic`. Does not: names of metrics (`telemetry.metric_table`), the answer with them
(`reading.metrics`), refusals (`clients`).
"""

from collections import Counter

from phaseline.engine.surfaces.http.connections.clients import LIMITS, Clients, HttpLimits
from phaseline.engine.surfaces.http.live.log_places import LogPlaces
from phaseline.engine.surfaces.http.live.seats import Seats
from phaseline.engine.worker.measures import Distribution

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Traffic:
    """Counts of one server."""

    def __init__(self, limits: HttpLimits = LIMITS) -> None:
        """Nobody has asked anything yet."""
        self.requests: Counter[tuple[str, str, str]] = Counter()
        """By method, route and status."""
        self.seconds = Distribution(SECONDS)
        """From a request until its answer begins."""
        self.resyncs = 0
        """How often a reader of transitions was too slow."""
        self.clients = Clients(limits)
        self.seats = Seats(self.clients)
        self.past = LogPlaces()
        """Whose turn it is to read the past for one answer."""

    def join(self, other: "Traffic") -> None:
        """Have the clients of another one: both are parts of one server."""
        self.clients, self.seats, self.past = other.clients, other.seats, other.past
