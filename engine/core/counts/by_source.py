"""What became of the events of each source, and when that was counted. Plain numbers. Pure.

Belongs here: counting by source, within bounds. Does not: which event is a repeat (`core.sources`), names and labels of
metrics (`surfaces.telemetry`).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.transitions import REPEAT, Decision
from phaseline.schemas.records import Rejection, Transition, timestamp, utc

MOST = 500
"""The most sources that are counted one by one: anybody who may publish can name sources."""
MOST_REFUSED = 1_000
"""The most of them with those that are counted because an event of theirs was refused."""


RUNS = 3
"""From how many runs of older numbers on a source is in trouble, although it is taken in between."""
STREAK = 10
"""From how many repeats without another event on a source is in trouble, although none of them is older."""


def counted(repeats: int) -> str:
    """`3 events were repeats`."""
    return "event was a repeat" if repeats == 1 else f"{repeats:,} events were repeats"


@dataclass(slots=True)
class SourceCounts:
    """What became of the events of a source.

    since_ns, heard_ns: when the first and the last event that are counted here were stored, ns. repeats: the events
    that were there before, or were older than what was there; runs: how many of these were refused aloud, because a run
    of older numbers began with them. streak: how many events were repeats since the last one that was none;
    repeating_ns: when the first of them was. epoch, number: those of the last event that has a number.
    """

    since_ns: int
    heard_ns: int
    events: int = 0
    rejected: int = 0
    repeats: int = 0
    runs: int = 0
    streak: int = 0
    repeating_ns: int = 0
    epoch: int = 0
    number: int | None = None

    @property
    def taken(self) -> int:
        """How many events were neither rejected nor repeats. They may have changed nothing."""
        return self.events - self.rejected - self.repeats

    @property
    def since(self) -> datetime:
        """When the first event that is counted was stored."""
        return utc(self.since_ns)

    @property
    def heard(self) -> datetime:
        """When the last event was stored."""
        return utc(self.heard_ns)

    @property
    def is_in_trouble(self) -> bool:
        """Whether somebody should look at it."""
        return bool(self.trouble)

    @property
    def trouble(self) -> str:
        """What is wrong with a source; empty if nothing is.

        Older numbers: it counts from the beginning again. Many runs of them while others are taken: two programs send
        under one name. The same events for ever: its outbox is stuck.
        """
        since = timestamp(self.repeating_ns)[:19]
        if self.streak >= STREAK or (self.streak and self.runs):
            return f"its last {counted(self.streak)} since {since}Z, and nothing was taken since"
        if self.runs >= RUNS:
            return f"runs of older numbers began {self.runs:,} times, and others were taken in between"
        return ""

    def take(self, events: int, refused: "NotTaken", time: int, last: Arrival | None) -> None:
        """Count events that were stored at about the same time, ns. last: the last of them that has a number."""
        self.heard_ns = max(self.heard_ns, time)
        self.events += events
        self.rejected += refused.rejected
        self.repeats += refused.repeats
        self.runs += refused.runs
        if refused.repeats < events:
            self.streak = 0
        else:
            self.repeating_ns = self.repeating_ns if self.streak else time
            self.streak += events
        if last is not None:
            self.epoch, self.number = last.epoch, last.sequence

    def take_in(self, other: "SourceCounts") -> None:
        """Add the counts of the same source in another partition."""
        later = max(self, other, key=lambda one: one.heard_ns)
        self.streak, self.repeating_ns = later.streak, later.repeating_ns
        self.epoch, self.number = later.epoch, later.number
        self.since_ns, self.heard_ns = min(self.since_ns, other.since_ns), later.heard_ns
        self.events += other.events
        self.rejected += other.rejected
        self.repeats += other.repeats
        self.runs += other.runs


@dataclass(slots=True)
class NotTaken:
    """The events of a source, among some, that were not taken. events: those of them that could not even be read."""

    events: int = 0
    rejected: int = 0
    repeats: int = 0
    runs: int = 0


ALL_TAKEN = NotTaken()


class BySource:
    """Counts of events by source. `others`: those of all sources beyond the bounds together; None if there are none."""

    __slots__ = ("_refused", "counts", "others")

    def __init__(self) -> None:
        self.counts: dict[str, SourceCounts] = {}
        self.others: SourceCounts | None = None
        self._refused: dict[str, NotTaken] = {}

    def note(self, arrival: Arrival | Rejection | Decision, decision: Decision) -> None:
        """Note what became of an event that made not just one transition, until `take` counts it."""
        if isinstance(arrival, Decision) or (isinstance(arrival, Arrival) and arrival.timer is not None):
            return
        rejection = decision.records[-1] if decision.records else None
        is_repeat = decision is REPEAT
        if not is_repeat and not isinstance(rejection, Rejection):
            return
        found = self._refused.setdefault(arrival.cause.source, NotTaken())
        found.events += isinstance(arrival, Rejection)
        if is_repeat or (isinstance(rejection, Rejection) and rejection.reason == "repeat"):
            found.repeats += 1
            found.runs += not is_repeat
        elif not any(isinstance(record, Transition) for record in decision.records):
            found.rejected += 1

    def take(self, arrivals: Sequence[Arrival | Rejection | Decision], time: int) -> None:
        """Count events, with what was noted of them. time: when the last of them was stored, ns."""
        sources = [one.cause.source for one in arrivals if isinstance(one, Arrival) and one.timer is None]
        numbered = {one.cause.source: one for one in arrivals if isinstance(one, Arrival) and one.sequence is not None}
        events, refused = Counter(sources), self._refused
        if refused:
            self._refused = {}
            events.update({source: one.events for source, one in refused.items()})
        for source, count in events.items():
            some = refused.get(source, ALL_TAKEN)
            self._of(source, time, is_refused=some is not ALL_TAKEN).take(count, some, time, numbered.get(source))

    def _of(self, source: str, time: int, *, is_refused: bool) -> SourceCounts:
        """The counts of a source, or of the others if there are too many. Sources in trouble have more room."""
        found = self.counts.get(source)
        if found is None:
            if len(self.counts) >= (MOST_REFUSED if is_refused else MOST):
                return self._others(time)
            found = self.counts[source] = SourceCounts(time, 0)
        return found

    def _others(self, time: int) -> SourceCounts:
        """The counts of the sources beyond the bounds."""
        self.others = self.others or SourceCounts(time, 0)
        return self.others

    def take_in(self, other: "BySource") -> None:
        """Add the counts of another partition. A copy is added, because a thread may go on counting there."""
        for source, counts in other.counts.copy().items():
            self.add(source, counts)
        if other.others is not None:
            self.add_others(other.others)

    def add(self, source: str, counts: SourceCounts) -> None:
        """Add counts of a source."""
        is_refused = counts.rejected > 0 or counts.repeats > 0
        self._of(source, counts.since_ns, is_refused=is_refused).take_in(counts)

    def add_others(self, counts: SourceCounts) -> None:
        """Add counts of sources that are not counted one by one."""
        self._others(counts.since_ns).take_in(counts)
