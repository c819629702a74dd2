"""Transitions in the order of the times that publishers gave their events, for histories and timelines.

Belongs here: the time of an event, the order, the states before and after in that order. Does not: the server's clock,
which orders everything else; timers and guards, which never use this one.
All records that were asked for are read, because any of them may name an early time.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from msgspec.structs import replace

from phaseline.engine.log import log_records, state_view
from phaseline.engine.log.as_of import resolve, transition_filter
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log_records import Logged
from phaseline.engine.log.timeline import Timeline, timeline
from phaseline.engine.log.watch import Watch
from phaseline.engine.log.when import NOW, START, Moment, Time, When, parse
from phaseline.schemas.errors import InvalidInput, TreeUnknown
from phaseline.schemas.records import SECOND, FacetState, Rejection, State, Transition, nanoseconds, timestamp

EARLIEST = 0
"""The time from which on a time is believed: 1970, ns."""
AHEAD = 300 * SECOND
"""How far a publisher's time may be ahead of the server's, ns. One that is further ahead is believed for nothing."""


class OrderedTransitions(NamedTuple):
    """Transitions by the publishers' clock. without_time: how many had no usable time of their own."""

    records: list[Transition]
    without_time: int


def event_time(text: str | None, stored: int) -> int | None:
    """The time in ns that a publisher gave; None if it gave none, or one that is not believed.

    stored: when the server stored the event, ns.
    """
    found = _time_in(text)
    return found if found is not None and EARLIEST < found <= stored + AHEAD else None


def ahead(text: str | None, stored: int) -> int:
    """By how many ns the time of a publisher is ahead of the server's, if that is too much to be believed; else 0."""
    found = _time_in(text)
    return found - stored if found is not None and found > stored + AHEAD else 0


def _time_in(text: str | None) -> int | None:
    try:
        return None if text is None else nanoseconds(text)
    except (ValueError, OverflowError):
        return None


def in_event_order(records: Sequence[Transition]) -> OrderedTransitions:
    """Each transition at its event's own time, in that order; those of one time in the order of the log.

    The server's time counts where an event has none. Where the order differs from that of the log, `before` and the
    other facets of an entity are those that were seen before by this clock.
    """
    timed, without = [], 0
    for index, record in enumerate(records):
        time = event_time(record.cause.time_text, record.time_ns)
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
    return OrderedTransitions(found, without)


def _before(record: Transition, facets: dict[str, FacetState] | None) -> State | None:
    """The state of the record's facet before it; None for the first record of an entity."""
    if facets is None:
        return None
    return facets[record.facet].state if record.facet in facets else record.before


class EventWatch(Watch[Transition]):
    """The transitions of one entity by the publishers' clock. It reads them all before it gives the first."""

    without_time = 0
    """How many of them had no usable time of their own, once the first was given."""
    _is_read = False

    async def _next(self) -> list[Logged]:
        if self._is_read:
            raise StopAsyncIteration
        self._is_read = True
        found: list[Logged] = []
        with suppress(StopAsyncIteration):
            while True:
                found += await super()._next()
        if not found:
            raise StopAsyncIteration
        ordered = in_event_order([one.record for one in found if isinstance(one.record, Transition)])
        self.without_time = ordered.without_time
        read = {_key(one.record): one for one in found}
        return [read[_key(record)]._replace(record=record) for record in ordered.records]


def _key(record: Transition | Rejection) -> tuple[int, int]:
    """What tells the transitions of one entity apart."""
    return 0 if isinstance(record, Rejection) else record.entity.version, record.cause.sequence


async def timeline_by_event(
    installation: Installation, kind: str | None, entity_id: str, start: When | None, end: When | None,
    depth: int | None,
) -> Timeline:  # fmt: skip
    """The states of an entity and of those below it; raises `TreeUnknown`, `InvalidInput`.

    Without `end` it ends with the last time.
    """
    first, last = _time_named(start), _time_named(end)
    if first is not None and last is not None and first > last:
        raise InvalidInput.start_after_end(start=timestamp(first), end=timestamp(last))
    ordered = await _read_in_order(installation, kind, entity_id)
    until = [record for record in ordered.records if last is None or record.time_ns <= last]
    if not until:
        raise TreeUnknown(root=entity_id)
    begins = until[0].time_ns if first is None else first
    before = {(r.entity.kind, r.entity.id): r for r in until if first is not None and r.time_ns <= first}
    between = [record for record in until if first is None or record.time_ns > first]
    ends = max(begins, until[-1].time_ns if last is None else last)
    return timeline(before.values(), between, begins, ends, depth)._replace(without_time=ordered.without_time)


def _time_named(when: When | None) -> int | None:
    """The time in ns that `when` names; None for the start or the end. Raises `NameUnknown`, `InvalidInput`."""
    if isinstance(when, Moment):
        return when.time_ns
    if when is None or (isinstance(when, str) and when in (START, NOW)):
        return None
    found = parse(when)
    if not isinstance(found, Time):
        raise InvalidInput.wrong_clock(
            problem=f"{when!r} is a place in the log, and a place has no time by the publishers' clock"
        )
    return found.ns + max(0, found.width - 1)


async def _read_in_order(installation: Installation, kind: str | None, below: str) -> OrderedTransitions:
    """All transitions of these entities by the publishers' clock."""
    end = await resolve(installation, NOW)
    found: list[tuple[int, Transition]] = []
    for pattern in state_view.patterns(installation, kind, below):
        read = log_records.records(installation, transition_filter(installation, pattern), 0, end.place)
        found += [(one.sequence, one.record) async for one in read if isinstance(one.record, Transition)]
    return in_event_order([record for _, record in sorted(found, key=lambda one: one[0])])
