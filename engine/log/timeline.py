"""The states of entities over time: a lane of intervals for each facet of each entity.

Belongs here: intervals made of records, ticks for a time axis. Does not: reading records (`log_records`), drawing
(`surfaces.cli`).
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

import msgspec

from phaseline.machines.language.table import ABSENT, DELETED
from phaseline.schemas.records import SECOND, State, Transition, facets_of, utc
from phaseline.schemas.subjects import natural

HOUR = 3600 * SECOND
STEPS = tuple(
    int(seconds * SECOND)
    for seconds in (
        0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600,
        7200, 10800, 21600, 43200, 86400, 172800, 604800, 1209600, 2592000, 7776000, 31536000,
    )
)  # fmt: skip
"""Distances between ticks that people read easily, ns."""


class Interval(NamedTuple):
    """A facet in one state, from `start` to `end`. `record` brought it there, possibly before `start`."""

    state: State
    base: State
    start_ns: int
    end_ns: int
    record: Transition

    @property
    def start(self) -> datetime:
        """When it begins."""
        return utc(self.start_ns)

    @property
    def end(self) -> datetime:
        """When it ends."""
        return utc(self.end_ns)

    @property
    def viewed(self) -> bool:
        """Whether a view showed the state, so that the base differs."""
        return self.state != self.base


class Lane(msgspec.Struct):
    """One facet of one entity over time. It has no gap after the first record, except while the entity is Deleted.

    depth: how many levels the entity is below the topmost entity of the timeline.
    """

    kind: str
    id: str
    facet: str
    depth: int = 0
    several: bool = False
    """Whether the entity has further facets."""
    intervals: list[Interval] = msgspec.field(default_factory=list)


class Timeline(NamedTuple):
    """Lanes between two times, parents before children.

    without_time: by the publishers' clock, how many of the records read had no usable time of their own.
    """

    lanes: list[Lane]
    start_ns: int
    end_ns: int
    without_time: int = 0

    @property
    def start(self) -> datetime:
        """When it begins."""
        return utc(self.start_ns)

    @property
    def end(self) -> datetime:
        """When it ends."""
        return utc(self.end_ns)


def timeline(
    before: Iterable[Transition], records: Iterable[Transition], start: int, end: int, depth: int | None = None
) -> Timeline:
    """The timeline between two times, down to `depth` levels below the topmost entity.

    before: the last record of each entity at `start`. records: all records after it.
    """
    histories: dict[tuple[str, str, str], list[Transition]] = {}
    for record in (*before, *records):
        for name, _ in facets_of(record.entity):
            histories.setdefault((record.entity.kind, record.entity.id, name), []).append(record)
    top = min((key[1].count("/") for key in histories), default=0)
    lanes = [_lane(key, history, top, start, end) for key, history in histories.items()]
    shown = [lane for lane in lanes if lane.intervals and (depth is None or lane.depth <= depth)]
    return Timeline(sorted(shown, key=lambda lane: (natural(lane.id), lane.kind)), start, end)


def _lane(key: tuple[str, str, str], history: list[Transition], top: int, start: int, end: int) -> Lane:
    kind, entity_id, name = key
    lane = Lane(kind, entity_id, name, entity_id.count("/") - top, len([*facets_of(history[-1].entity)]) > 1)
    moves = list(_moves(name, history))
    for index, (state, base, record) in enumerate(moves):
        begins = max(start, record.time_ns)
        ends = max(begins, min(end, moves[index + 1][2].time_ns if index + 1 < len(moves) else end))
        if state.phase not in (ABSENT, DELETED):
            lane.intervals.append(Interval(state, base, begins, ends, record))
    return lane


def _moves(name: str, history: list[Transition]) -> Iterator[tuple[State, State, Transition]]:
    """The facet's states in order, each with its base and the record that brought it."""
    last: State | None = None
    for record in history:
        facet = record.entity.facets[record.entity.names.index(name)]
        if facet.state != last:
            yield facet.state, facet.base, record
        last = facet.state


def ticks(start: int, end: int, most: int) -> list[int]:
    """At most `most` round times (UTC) between two times, at one of the distances `STEPS`."""
    span = max(1, end - start)
    step = next((step for step in STEPS if span / step <= most), STEPS[-1])
    first = -(-start // step) * step
    return list(range(first, end + 1, step))[: max(1, most)]
