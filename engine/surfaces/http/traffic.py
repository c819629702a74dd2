"""What all requests of one server share: counts of them, how many may follow transitions, turns to read the past.

Belongs here: `Traffic`, `Seats`. Does not: names of metrics (`telemetry.metric_table`), the answer with them
(`reading.about`), refusals and connections (`http.connections`), the frames that readers get (`live.hub`).
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from phaseline.engine.surfaces.http.connections.clients import LIMITS, Clients, HttpLimits
from phaseline.engine.surfaces.http.live.hub import Topic
from phaseline.engine.surfaces.http.live.log_places import LogPlaces
from phaseline.engine.worker.measures import Distribution
from phaseline.schemas.errors import InvalidInput, NoAnswer, PhaselineError

ALL_STREAMS, STREAMS_OF_ONE = 0.75, 0.5
"""How much of the room for connections streams may take: all together, and those of one caller."""
FILTERS = 256
"""The most different filters of all streams."""


class Seats:
    """Who follows what. clients: the server's, whose room they share with all other requests."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients
        self._taken: Counter[tuple[str, Topic]] = Counter()

    def check(self, caller: str, topic: Topic) -> None:
        """Raise `InvalidInput.too_many_streams` or `NoAnswer.server_full` if there is no seat for one more."""
        try:
            self._check(caller, topic)
        except PhaselineError:
            self._clients.refuse("streams", caller)
            raise

    def _check(self, caller: str, topic: Topic) -> None:
        room = self._clients.room
        own = sum(number for (name, _), number in self._taken.items() if name == caller)
        if own >= room * STREAMS_OF_ONE:
            raise InvalidInput.too_many_streams(name=caller, what="streams", most=int(room * STREAMS_OF_ONE))
        if self._taken.total() >= room * ALL_STREAMS:
            raise NoAnswer.server_full(what="streams")
        if topic.is_plain or (caller, topic) in self._taken:
            return
        filters = [(name, one) for name, one in self._taken if not one.is_plain]
        most = self._clients.limits.filters
        if sum(name == caller for name, _ in filters) >= most:
            raise InvalidInput.too_many_streams(name=caller, what="streams with different filters", most=most)
        if len({one for _, one in filters} | {topic}) > FILTERS:
            raise NoAnswer.server_full(what="streams with different filters")

    @contextmanager
    def taken(self, caller: str, topic: Topic) -> Iterator[None]:
        """Take a seat while the block runs; raises as `check`."""
        self.check(caller, topic)
        key = (caller, topic)
        self._taken[key] += 1
        try:
            yield
        finally:
            self._taken[key] -= 1
            if not self._taken[key]:
                del self._taken[key]


SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Traffic:
    """Counts of one server."""

    def __init__(self, limits: HttpLimits = LIMITS) -> None:
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
