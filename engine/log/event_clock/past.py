"""States at a moment, and histories, by the publishers' clock.

Belongs here: `EventPast`, `EventWatch`, timelines and changes, the time that a `When` names. Does not: the order itself
(`event_time`).
All records that were asked for are read, because any of them may name an early time.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple, Self

from phaseline.engine.errors import TreeUnknown, WrongClock
from phaseline.engine.log import latest, log_records
from phaseline.engine.log.as_of import AsOf, resolve, transition_filter
from phaseline.engine.log.changes import ChangeList, Changes
from phaseline.engine.log.event_clock.event_time import Ordered, in_event_order
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log_records import Logged
from phaseline.engine.log.state_view import Pattern
from phaseline.engine.log.timeline import Timeline, timeline
from phaseline.engine.log.watch import Watch
from phaseline.engine.log.when import NOW, START, Moment, Time, When, parse
from phaseline.engine.range_errors import StartAfterEnd
from phaseline.schemas.records import Rejection, Transition, timestamp


def time_named(when: When | None) -> int | None:
    """The time in ns that `when` names; None for the start or the end. Raises `NameUnknown`, `WrongClock`."""
    if isinstance(when, Moment):
        return when.time_ns
    if when is None or (isinstance(when, str) and when in (START, NOW)):
        return None
    found = parse(when)
    if not isinstance(found, Time):
        raise WrongClock(problem=f"{when!r} is a place in the log, and a place has no time by the publishers' clock")
    return found.ns + max(0, found.width - 1)


async def read_in_order(installation: Installation, patterns: Sequence[Pattern]) -> Ordered:
    """All transitions of these entities by the publishers' clock."""
    end = await resolve(installation, NOW)
    found: list[tuple[int, Transition]] = []
    for pattern in patterns:
        read = log_records.records(installation, transition_filter(installation, pattern), 0, end.place)
        found += [(one.sequence, one.record) async for one in read if isinstance(one.record, Transition)]
    return in_event_order([record for _, record in sorted(found, key=lambda one: one[0])])


class EventSpan(NamedTuple):
    """Records between two times. before: the last one of each entity at the first time."""

    before: list[Transition]
    between: list[Transition]
    without_time: int


async def _span(
    installation: Installation, kind: str | None, below: str | None, start: When | None, end: When | None
) -> EventSpan:
    first, last = time_named(start), time_named(end)
    if first is not None and last is not None and first > last:
        raise StartAfterEnd(start=timestamp(first), end=timestamp(last))
    ordered = await read_in_order(installation, latest.patterns(installation, kind, below))
    before = {(r.entity.kind, r.entity.id): r for r in ordered.records if first is not None and r.time_ns <= first}
    after = [record for record in ordered.records if first is None or record.time_ns > first]
    between = [record for record in after if last is None or record.time_ns <= last]
    return EventSpan([*before.values()], between, ordered.without_time)


async def timeline_by_event(
    installation: Installation, kind: str | None, entity_id: str, start: When | None, end: When | None,
    depth: int | None,
) -> Timeline:  # fmt: skip
    """The states of an entity and of those below it; raises `TreeUnknown`. Without `end` it ends with the last time."""
    span = await _span(installation, kind, entity_id, start, end)
    times = [record.time_ns for record in (*span.before, *span.between)]
    if not times:
        raise TreeUnknown(root=entity_id)
    first, last = time_named(start), time_named(end)
    begins = min(times) if first is None else first
    ends = max(begins, max(times) if last is None else last)
    return timeline(span.before, span.between, begins, ends, depth)._replace(without_time=span.without_time)


async def changes_by_event(
    installation: Installation, kind: str | None, below: str | None, start: When | None, end: When | None
) -> ChangeList:
    """How entities differ between two times, and what happened to them in between."""
    span, found = await _span(installation, kind, below, start, end), Changes()
    for record in span.between:
        found.take(record)
    return found.sorted(span.without_time)


class EventPast(AsOf):
    """The states at a time of the publishers' clock. without_time: how many of the records read had none."""

    def __init__(self, installation: Installation, moment: Moment, until: int | None) -> None:
        """Make the view without reading anything yet. `until`: the time, ns; None for the end."""
        super().__init__(installation, moment)
        self.until, self.without_time, self.read = until, 0, 0

    @classmethod
    async def by_event(cls, installation: Installation, when: When) -> Self:
        """The view of the time that `when` names; raises `NameUnknown`, `WrongClock`."""
        until = time_named(when)
        end = await resolve(installation, NOW)
        return cls(installation, Moment(end.place, end.time_ns if until is None else until), until)

    async def exists(self, kind: str, entity_id: str) -> bool:
        """Whether the entity has a transition at or before the time."""
        return bool(await self.matching([self._pattern(kind, entity_id)]))

    async def matching(self, patterns: Sequence[Pattern]) -> list[Transition]:
        """The entities that at least one pattern selects."""
        found = {(one.entity.kind, one.entity.id): one for one in await self._until(patterns)}
        return list(found.values())

    async def history(self, kind: str, entity_id: str) -> list[Transition]:
        """The transitions of one entity up to the time, oldest first."""
        return await self._until([self._pattern(kind, entity_id)])

    async def _until(self, patterns: Sequence[Pattern]) -> list[Transition]:
        ordered = await read_in_order(self.installation, patterns)
        self.without_time += ordered.without_time
        self.read += len(ordered.records)
        return [one for one in ordered.records if self.until is None or one.time_ns <= self.until]


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
