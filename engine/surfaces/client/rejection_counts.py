"""Rejections in numbers: how many, by reason, kind, source and actor, with the last one of each as an example.

Belongs here: counting. Does not: reading the log (`engine.log.watch`), printing (`cli.rejections`).
"""

from msgspec import Struct

from phaseline.schemas.records import Rejection

MOST = 10_000
"""The most combinations that are counted apart: publishers choose their sources freely."""
OTHERS = "(others)"
"""The source of the rejections beyond that."""


class RejectionCount(Struct):
    """The rejections with the same reason, kind, source and actor.

    source: the source of the events; empty where it could not be read. actor: in whose name `phaseline serve` sent
    them; empty for other ones. count: how many. place: the place of the last one in the log. last: the last one, as an
    example.
    """

    reason: str
    kind: str
    source: str
    actor: str
    count: int
    place: int
    last: Rejection


class RejectionCounts:
    """Counts rejections, in whatever order they come."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str, str], RejectionCount] = {}

    def take(self, place: int, record: Rejection) -> None:
        """Count the rejection at this place of the log."""
        key = (record.reason, record.kind, record.cause.source, record.cause.actor)
        if key not in self._found and len(self._found) >= MOST:
            key = (record.reason, record.kind, OTHERS, "")
        found = self._found.get(key)
        if found is None:
            self._found[key] = RejectionCount(*key, 1, place, record)
            return
        found.count += 1
        if place > found.place:
            found.place, found.last = place, record

    def sorted(self) -> list[RejectionCount]:
        """The counts, the largest first; among equals, by reason, kind, source and actor."""
        return sorted(self._found.values(), key=lambda one: (-one.count, one.reason, one.kind, one.source, one.actor))
