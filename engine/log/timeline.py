"""The states of entities over time: lanes of intervals, one for each facet of each entity.

Belongs here: records made into intervals, ticks for an axis. Does not: reading records (`past`), drawing (`cli`).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from phaseline.machines.language.table import ABSENT, DELETED
from phaseline.schemas.records import SECOND, State, Transition
from phaseline.schemas.subjects import natural

HOUR = 3600 * SECOND
STEPS = tuple(
    int(seconds * SECOND)
    for seconds in (
        0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600,
        7200, 10800, 21600, 43200, 86400, 172800, 604800, 1209600, 2592000, 7776000, 31536000,
    )
)  # fmt: skip
"""Distances between ticks that people can read, ns."""


class Interval(NamedTuple):
    """A facet in one state, from `start` to `end` (ns). `record`: what brought it there, be it before the left edge."""

    state: State
    base: State
    start: int
    end: int
    record: Transition

    @property
    def viewed(self) -> bool:
        """Whether the state is one that only a view showed."""
        return self.state != self.base


@dataclass(slots=True)
class Lane:
    """One facet of one entity over time, without gaps from its first record on; while it is Deleted there is no interval.

    depth: how far it is under the entity that was asked for.
    """

    kind: str
    id: str
    facet: str
    depth: int = 0
    several: bool = False
    """Whether the entity has further facets."""
    intervals: list[Interval] = field(default_factory=list)


class Timeline(NamedTuple):
    """Lanes, parents before children, between two moments (ns)."""

    lanes: list[Lane]
    start: int
    end: int


def timeline(
    before: Iterable[Transition], records: Iterable[Transition], start: int, end: int, depth: int | None = None
) -> Timeline:
    """What the records say of the time between two moments; down to `depth` levels below the topmost entity.

    before: the last record of each entity at the left edge.
    """
    found: dict[tuple[str, str, str], list[Transition]] = {}
    for record in (*before, *records):
        for name in record.entity.names:
            found.setdefault((record.entity.kind, record.entity.id, name), []).append(record)
    least = min((key[1].count("/") for key in found), default=0)
    made = [_lane(key, history, least, start, end) for key, history in found.items()]
    shown = [lane for lane in made if lane.intervals and (depth is None or lane.depth <= depth)]
    return Timeline(sorted(shown, key=lambda lane: (natural(lane.id), lane.kind)), start, end)


def _lane(key: tuple[str, str, str], history: list[Transition], least: int, start: int, end: int) -> Lane:
    kind, entity_id, name = key
    lane = Lane(kind, entity_id, name, entity_id.count("/") - least, len(history[0].entity.names) > 1)
    moves = list(_moves(name, history))
    for at, (state, base, record) in enumerate(moves):
        begins = max(start, record.time)
        ends = max(begins, min(end, moves[at + 1][2].time if at + 1 < len(moves) else end))
        if state.phase not in (ABSENT, DELETED):
            lane.intervals.append(Interval(state, base, begins, ends, record))
    return lane


def _moves(name: str, history: list[Transition]) -> Iterator[tuple[State, State, Transition]]:
    """The facet's states one after another, with the record that brought each."""
    last: State | None = None
    for record in history:
        facet = record.entity.facets[record.entity.names.index(name)]
        if facet.state != last:
            yield facet.state, facet.base, record
        last = facet.state


def ticks(start: int, end: int, most: int) -> list[int]:
    """At most `most` round moments between two, in UTC, as far apart as people count time."""
    span = max(1, end - start)
    step = next((step for step in STEPS if span / step <= most), STEPS[-1])
    first = -(-start // step) * step
    return list(range(first, end + 1, step))[: max(1, most)]
