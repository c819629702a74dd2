"""The time that a publisher gave an event, and transitions put in the order of these times. Pure.

Belongs here: reading the time, ordering, the states before and after in that order. Does not: reading records.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from msgspec.structs import replace

from phaseline.schemas.records import SECOND, FacetState, State, Transition, nanoseconds

Clock = Literal["server", "event"]
"""Which time of a record counts: when the server stored its event, or the one that the publisher gave."""
SERVER: Clock = "server"
EARLIEST, LATEST = 0, 7_258_118_400 * SECOND
"""The times that are believed to be times: from 1970 to 2200, ns."""


class Ordered(NamedTuple):
    """Transitions by the publishers' clock. without_time: how many had no usable time of their own."""

    records: list[Transition]
    without_time: int


def event_time(text: str | None) -> int | None:
    """The time in ns that a publisher gave; None if it gave none, or one that cannot be meant."""
    if text is None:
        return None
    try:
        found = nanoseconds(text)
    except (ValueError, OverflowError):
        return None
    return found if EARLIEST < found < LATEST else None


def in_event_order(records: Sequence[Transition]) -> Ordered:
    """Each transition at its event's own time, in that order; those of one time in the order of the log.

    The server's time counts where an event has none. Where the order differs from that of the log, `before` and the
    other facets of an entity are those that were seen before by this clock.
    """
    timed, without = [], 0
    for index, record in enumerate(records):
        time = event_time(record.cause.time_text)
        without += time is None
        timed.append((record.time_ns if time is None else time, index, record))
    known: dict[tuple[str, str], dict[str, FacetState]] = {}
    found = []
    for time, _, record in sorted(timed, key=lambda one: one[:2]):
        entity = record.entity
        key = (entity.kind, entity.id)
        before = _before(record, known.get(key))
        facets = known.setdefault(key, {})
        old, new = facets.get(record.facet), entity.facets[entity.names.index(record.facet)]
        since = old.since_ns if old is not None and old.state == new.state else time
        facets[record.facet] = replace(new, since_ns=since)
        whole = tuple(facets.get(name, own) for name, own in zip(entity.names, entity.facets, strict=False))
        found.append(replace(record, before=before, time_ns=time, entity=replace(entity, facets=whole)))
    return Ordered(found, without)


def _before(record: Transition, facets: dict[str, FacetState] | None) -> State | None:
    """The state of the record's facet before it; None for the first record of an entity."""
    if facets is None:
        return None
    return facets[record.facet].state if record.facet in facets else record.before
