"""What became of the events of a partition: how many, by kind and by what happened. Plain numbers. Pure.

Belongs here: counting, adding up. Does not: deciding (`decide`), names and labels of metrics (`surfaces.telemetry`).
"""

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from phaseline.engine.core.counts.by_source import BySource
from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.timers import Schedule
from phaseline.engine.core.transitions import REPEAT, Decision
from phaseline.engine.core.tree import Tree
from phaseline.machines.language.deadlines import counted_as
from phaseline.machines.language.table import STALLED
from phaseline.schemas.records import Record, Rejection, Transition

Move = tuple[str, str, str, str]
"""A kind, a facet, what the state before counts as (`counted_as`), and that after. The former is empty for a new
entity."""
Outcome = Literal["transitions", "partly", "rejected", "fault", "unchanged", "repeat"]
"""What became of an event. partly: a snapshot, some items of which were left out. repeat: or a timer that was over."""
NO_KIND = "-"
"""The kind of rejected events whose kind is not installed."""


@dataclass(slots=True)
class EventCounts:
    """How many events were decided, and with which answers."""

    events: int = 0
    transitions: int = 0
    rejections: int = 0
    without_effect: int = 0
    faults: int = 0


class Outcomes:
    """Counts of the events that were decided."""

    __slots__ = (
        "cascades", "events", "fired", "late", "moves", "rejections", "single", "sources", "timers",
    )  # fmt: skip

    def __init__(self) -> None:
        self.single: dict[Move, int] = {}
        """The events with one record, which is a transition. Nearly all events are such; they are counted only here."""
        self.events: Counter[tuple[str, Outcome]] = Counter()
        """The other events, by kind."""
        self.moves: Counter[Move] = Counter()
        """The transitions of these."""
        self.rejections: Counter[tuple[str, str]] = Counter()
        """By kind and reason."""
        self.fired: Counter[str] = Counter()
        """By kind, the timers that fired and were not over."""
        self.late: Counter[str] = Counter()
        """By kind, how late these came, ns together."""
        self.cascades: Counter[int] = Counter()
        """How many of these events made how many transitions, of those that made any."""
        self.timers: Counter[str] = Counter()
        """By kind, how many more timers are set than at the beginning; negative if they are fewer."""
        self.sources = BySource()
        """By source."""

    def add(self, arrival: Arrival | Rejection | Decision, decision: Decision, kinds: Container[str]) -> None:
        """Count an event, unless its only record is a transition."""
        kind, moved = arrival.kind if isinstance(arrival, Arrival) else NO_KIND, 0
        for record in decision.records:
            if isinstance(record, Transition):
                self.moves[move_of(record)] += 1
                moved += 1
            elif isinstance(record, Rejection):
                kind = record.kind if record.kind in kinds else NO_KIND
                self.rejections[kind, record.reason] += 1
        self.events[kind, outcome_of(decision, moved=moved > 0)] += 1
        if moved:
            self.cascades[moved] += 1
        self.sources.note(arrival, decision)
        if isinstance(arrival, Arrival) and arrival.timer is not None and decision is not REPEAT:
            self.fired[kind] += 1
            self.late[kind] += arrival.time - arrival.timer[1]

    def repeat(self, count: int) -> None:
        """Count events that were not even read, because they came before."""
        self.events[NO_KIND, "repeat"] += count

    def time(self, tree: Tree, schedules: Iterable[Schedule]) -> None:
        """Count the timers that are set and cancelled, before the tree takes in the records."""
        for one in schedules:
            entity = tree.get(one.kind, one.id)
            was_set = entity is not None and one.facet in entity.timers_ns
            self.timers[one.kind] += (one.due is not None) - was_set

    def take_in(self, other: "Outcomes") -> None:
        """Add the counts of another partition. Copies are added, because a thread may go on counting there."""
        for move, count in other.single.copy().items():
            self.single[move] = self.single.get(move, 0) + count
        for name in ("events", "moves", "rejections", "fired", "late", "cascades", "timers"):
            getattr(self, name).update(getattr(other, name).copy())
        self.sources.take_in(other.sources)

    def all_moves(self) -> Counter[Move]:
        """How often which transition was made."""
        found = Counter(self.single.copy())
        found.update(self.moves.copy())
        return found

    def all_events(self) -> Counter[tuple[str, Outcome]]:
        """The number of events by kind and outcome."""
        found = self.events.copy()
        for (kind, *_), count in self.single.copy().items():
            found[kind, "transitions"] += count
        return found

    def all_cascades(self) -> Counter[int]:
        """How many events made how many transitions, of those that made any."""
        found = self.cascades.copy()
        found[1] += sum(self.single.copy().values())
        return found

    def counts(self) -> EventCounts:
        """The sums."""
        by_outcome: Counter[Outcome] = Counter()
        for (_, outcome), count in self.all_events().items():
            by_outcome[outcome] += count
        faults = by_outcome["fault"]
        return EventCounts(
            by_outcome.total(), self.all_moves().total(), by_outcome["rejected"] + by_outcome["partly"] + faults,
            by_outcome["unchanged"] + by_outcome["repeat"], faults,
        )  # fmt: skip


def sum_of(parts: Sequence[Outcomes]) -> Outcomes:
    """The counts of several partitions together."""
    found = Outcomes()
    for part in parts:
        found.take_in(part)
    return found


def move_of(record: Transition) -> Move:
    """What a transition counts as."""
    before, after = record.before, record.after
    left = "" if before is None else before.phase if STALLED not in before.conditions else counted_as(before)
    return record.entity.kind, record.facet, left, after.phase if STALLED not in after.conditions else counted_as(after)


def outcome_of(decision: Decision, *, moved: bool) -> Outcome:
    """What became of an event. moved: whether it made transitions."""
    records: list[Record] = decision.records
    if decision is REPEAT:
        return "repeat"
    if decision.fault is not None:
        return "fault"
    if records and isinstance(records[-1], Rejection):
        return "partly" if moved else "rejected"
    return "transitions" if moved else "unchanged"
