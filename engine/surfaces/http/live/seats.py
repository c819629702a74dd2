"""How many may follow transitions at once, and with how many filters: in all, and each caller.

Belongs here: `Seats`. Does not: the frames that they get (`hub`), connections (`http.connections`).
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from phaseline.engine.surfaces.http.connections.clients import Clients
from phaseline.engine.surfaces.http.live.hub import Topic
from phaseline.schemas.errors import InvalidInput, NoAnswer, PhaselineError

ALL, ONE = 0.75, 0.5
"""How much of the room for connections streams may take: all together, and those of one caller."""
FILTERS = 256
"""The most different filters of all streams."""


class Seats:
    """Who follows what. clients: the server's, whose room they share with all other requests."""

    def __init__(self, clients: Clients) -> None:
        """Nobody follows yet."""
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
        if own >= room * ONE:
            raise InvalidInput.too_many_streams(name=caller, what="streams", most=int(room * ONE))
        if self._taken.total() >= room * ALL:
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
