"""The times of one entity by what they count as, and how often and how long it was bad.

Belongs here: `EntityTimes`, which takes pieces of time in their order; `Outage`. Does not: when something changes
(`fold`), availability (`reckoning`).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, NamedTuple

from phaseline.engine.log.changes import returns
from phaseline.engine.products.levels.fold.spans import Span, Spans
from phaseline.engine.products.levels.fold.spared import SparedTime, covered
from phaseline.machines.language.table import StateClass
from phaseline.schemas.records import Transition, utc

Part = Literal["good", "busy", "bad", "excused", "window", "excuse", "unknown", "silent", "server", "gone"]
"""What a piece of time counts as: a class of states, or what goes before it. window, excuse: excused. silent, server:
unknown, because nothing was heard of it, or the server could take no event."""
CLASS_OF: Final[dict[Part, StateClass]] = {
    "good": "good", "busy": "busy", "bad": "bad", "excused": "excused", "window": "excused", "excuse": "excused",
    "unknown": "unknown", "silent": "unknown", "server": "unknown", "gone": "gone",
}  # fmt: skip
"""The class that each part counts to."""
Times = dict[Part, int]
"""By what it counts as, ns. What is absent is 0."""


class Outage(NamedTuple):
    """A stay of an entity in the class bad. Times in ns.

    begin_ns: possibly before the range. end_ns: None if it lasts at the end of the range. bad: how much of it lies
    in the range and is bad: without windows, and without what was unknown. counted: the same without what was
    excused later. record: the transition that began it; None if that lies before the range and later ones followed.
    """

    kind: str
    id: str
    begin_ns: int
    end_ns: int | None
    bad: int
    counted: int
    record: Transition | None

    @property
    def begin(self) -> datetime:
        """When it began."""
        return utc(self.begin_ns)

    @property
    def end(self) -> datetime | None:
        """When it ended."""
        return None if self.end_ns is None else utc(self.end_ns)


@dataclass(slots=True)
class BadStay:
    """A stay in the class bad that is under way, or ended just now. bad, counted: as in `Outage`."""

    begin: int
    record: Transition | None
    end: int | None = None
    bad: int = 0
    counted: int = 0


@dataclass(slots=True)
class Failures:
    """How many outages there were, how many of them ended, and how long those were together, ns."""

    number: int = 0
    ended: int = 0
    ended_time: int = 0

    def add(self, lasted: int, *, has_ended: bool) -> None:
        """Count an outage. One of which nothing counts is none."""
        if lasted > 0:
            self.number += 1
            if has_ended:
                self.ended += 1
                self.ended_time += lasted

    def join(self, other: "Failures") -> None:
        """Add those of others."""
        self.number += other.number
        self.ended += other.ended
        self.ended_time += other.ended_time


@dataclass(slots=True)
class EntityTimes:
    """The times of one entity from `first` on, all of which lie in the range. Times in ns.

    at: up to when it is counted. forgiven: what the time that was excused later would have counted as. failures:
    outages of which something counts; recorded: the same without what was excused later. days: by number of the day,
    the times that are not good. flaps: how often a facet returned to a phase that it had left. transitions: all.
    """

    kind: str
    id: str
    spared: SparedTime
    first: int
    at: int
    slice_length: int
    state_class: StateClass = "unknown"
    is_silent: bool = False
    label: str = ""
    times: Times = field(default_factory=dict)
    forgiven: Times = field(default_factory=dict)
    failures: Failures = field(default_factory=Failures)
    recorded: Failures = field(default_factory=Failures)
    days: dict[int, Times] = field(default_factory=dict)
    stay: BadStay | None = None
    transitions: int = 0
    flaps: int = 0
    last_flap: int = 0
    seen: dict[str, set[str]] = field(default_factory=dict)

    def count(self, until: int, windows: list[Span]) -> None:
        """Count the time up to `until`. windows: those that intents opened, as far as they are known."""
        begin, self.at = self.at, max(self.at, until)
        if begin >= until:
            return
        if self.state_class == "gone":
            self._add(begin, until, "gone", until - begin)
            return
        opened = covered(windows, begin, until) if windows else None
        if not opened:
            self._count(begin, until)
            return
        for one, other in opened:
            self._add(one, other, "window", other - one)
        for one, other in Spans([(begin, until)]) - opened:
            self._count(one, other)

    def _count(self, begin: int, until: int) -> None:
        """Count a time without windows that intents opened."""
        for one, other in _cut(begin, until, self.slice_length):
            self._piece(one, other)

    def _piece(self, begin: int, until: int) -> None:
        """Count a time within one day."""
        spared = self.spared
        part: Part = "silent" if self.is_silent else self.state_class
        window, away = spared.window.within(begin, until), spared.away.within(begin, until)
        excused, forgiven = spared.excused.within(begin, until), spared.away_excused.within(begin, until)
        left = until - begin - window - away - excused
        for name, time in (("window", window), ("server", away), ("excuse", excused), (part, left)):
            self._add(begin, until, name, time)  # type: ignore[arg-type]  # these are names of parts
        if excused:
            self.forgiven["server"] = self.forgiven.get("server", 0) + forgiven
            self.forgiven[part] = self.forgiven.get(part, 0) + excused - forgiven
        if part == "bad" and self.stay is not None:
            self.stay.counted += left
            self.stay.bad += left + excused - forgiven

    def _add(self, begin: int, until: int, part: Part, time: int) -> None:
        if not time:
            return
        self.times[part] = self.times.get(part, 0) + time
        if part == "good":
            return
        if self.slice_length and time == until - begin:
            for one, other in _cut(begin, until, self.slice_length):
                self._of_day(one, part, other - one)
        elif self.slice_length:
            self._of_day(begin, part, time)

    def _of_day(self, begin: int, part: Part, time: int) -> None:
        day = self.days.setdefault(begin // self.slice_length, {})
        day[part] = day.get(part, 0) + time

    def begin_with(self, state_class: StateClass, since: int, record: Transition) -> None:
        """What the entity is in where the range begins, and since when. The last call counts."""
        self.state_class = state_class
        known = record if since == record.time_ns else None
        self.stay = BadStay(since, known) if state_class == "bad" else None

    def enter(self, state_class: StateClass, time: int, record: Transition) -> Outage | None:
        """The entity is in a class from a time on, up to which it is counted; returns the outage that this settles.

        What begins again at the time at which it ended has not ended: an entity may be well in between the records of
        one event.
        """
        was, self.state_class = self.state_class, state_class
        if (was == "bad") == (state_class == "bad"):
            return None
        stay, settled = self.stay, None
        if state_class != "bad":
            if stay is not None:
                stay.end = time
        elif stay is not None and stay.end == time:
            stay.end = None
        else:
            settled, self.stay = self.settle(), BadStay(time, record)
        return settled

    def settle(self) -> Outage | None:
        """The outage that ended last, or lasts; counted now, once. None if there is none."""
        stay, self.stay = self.stay, None
        if stay is None:
            return None
        self.failures.add(stay.counted, has_ended=stay.end is not None)
        self.recorded.add(stay.bad, has_ended=stay.end is not None)
        if not stay.bad:
            return None
        return Outage(self.kind, self.id, stay.begin, stay.end, stay.bad, stay.counted, stay.record)

    def of_days(self) -> Iterator[tuple[int, Times]]:
        """The times of each slice, those that are good included; nothing where there are no slices."""
        for begin, until in _cut(self.first, self.at, self.slice_length) if self.slice_length else ():
            times = self.days.get(begin // self.slice_length, {})
            good = until - begin - sum(times.values())
            yield begin // self.slice_length, {**times, "good": good} if good else times

    def moved(self, record: Transition) -> None:
        """Count a transition, and whether a facet returned by it to a phase that it had left."""
        self.transitions += 1
        if returns(self.seen, record):
            self.flaps += 1
            self.last_flap = record.time_ns


def _cut(begin: int, until: int, slice_length: int) -> Iterator[Span]:
    """The parts of a time that lie in one slice each; the whole where there are no slices."""
    while slice_length and (edge := (begin // slice_length + 1) * slice_length) < until:
        yield begin, edge
        begin = edge
    yield begin, until
