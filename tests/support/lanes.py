"""What must hold of the lanes of any timeline, and what lived at a moment.

Belongs here: what pure tests and those with a server hold timelines against. Does not: making them.
"""

from itertools import pairwise

from phaseline import Timeline
from phaseline.schemas.records import State, Transition


def assert_sound(found: Timeline) -> None:
    for lane in found.lanes:
        edges = [(one.start_ns, one.end_ns) for one in lane.intervals]
        assert all(found.start_ns <= start <= end <= found.end_ns for start, end in edges)
        assert all(end <= start for (_, end), (start, _) in pairwise(edges))
        assert all(one.state != other.state for one, other in pairwise(lane.intervals) if one.end_ns == other.start_ns)


def at(found: Timeline, moment: int) -> dict[tuple[str, str], State]:
    return {
        (lane.kind, lane.id): one.state
        for lane in found.lanes
        for one in lane.intervals
        if one.start_ns <= moment and (moment < one.end_ns or moment == one.end_ns == found.end_ns)
    }


def alive(records: list[Transition], moment: int) -> dict[tuple[str, str], State]:
    last = {(r.entity.kind, r.entity.id): r.entity for r in records if r.time_ns <= moment}
    return {key: e.facets[0].state for key, e in last.items() if e.facets[0].state.phase != "Deleted"}
