"""Counts by source: within bounds, whoever sends, and without losing an event."""

from phaseline.engine.core.counts.by_source import MOST, MOST_REFUSED, RUNS, STREAK, BySource
from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.transitions import REPEAT, Decision
from phaseline.schemas.records import SECOND, Cause, Rejection


def arrival(source: str, number: int = 1) -> Arrival:
    return Arrival("cluster", "created", "c1", {}, Cause(number, "e", source, "event"), number, number * SECOND)


def refused(reason: str = "repeat") -> Decision:
    cause = Cause(1, "e", "/a", "event")
    return Decision([Rejection("cluster", "c1", "created", reason, "", None, (), cause, 1)])  # type: ignore[arg-type]


def test_a_million_sources_are_bounded_and_those_in_trouble_are_seen() -> None:
    counts = BySource()
    for number in range(3_000):
        counts.take([arrival(f"/s{number}")], SECOND)
    for number in range(3_000, 6_000):
        one = arrival(f"/s{number}")
        counts.note(one, REPEAT)
        counts.take([one], SECOND)
    assert (len(counts.counts), MOST, MOST_REFUSED) == (MOST_REFUSED, 500, 1_000)
    assert counts.others is not None
    assert sum(one.events for one in counts.counts.values()) + counts.others.events == 6_000
    assert sum(one.repeats for one in counts.counts.values()) + counts.others.repeats == 3_000
    together = BySource()
    together.take_in(counts)
    together.take_in(counts)
    assert together.others is not None
    assert sum(one.events for one in together.counts.values()) + together.others.events == 12_000


def test_what_is_taken_ends_the_trouble_of_a_source_that_began_anew() -> None:
    counts = BySource()
    for decision in (refused(), REPEAT):
        counts.note(arrival("/a", 2), decision)
        counts.take([arrival("/a", 2)], 2 * SECOND)
    assert counts.counts["/a"].trouble == (
        "its last 2 events were repeats since 1970-01-01T00:00:02Z, and nothing was taken since"
    )
    counts.take([arrival("/a", 3)], 3 * SECOND)
    assert counts.counts["/a"].trouble == ""


def test_two_programs_under_one_name_are_seen() -> None:
    counts = BySource()
    for _ in range(RUNS):
        counts.note(arrival("/a"), refused())
        counts.take([arrival("/a"), arrival("/a", 9)], SECOND)
    assert counts.counts["/a"].trouble.startswith(f"runs of older numbers began {RUNS} times")
    assert counts.counts["/a"].number == 9


def test_the_same_events_for_ever_are_seen() -> None:
    counts = BySource()
    for _ in range(STREAK):
        assert not counts.counts or not counts.counts["/a"].is_in_trouble
        counts.note(arrival("/a"), REPEAT)
        counts.take([arrival("/a")], SECOND)
    assert counts.counts["/a"].is_in_trouble


def test_rejections_and_timers_are_no_repeats() -> None:
    counts = BySource()
    counts.note(arrival("/a"), refused("illegal"))
    timer = Arrival("cluster", "overdue", "c1", {}, Cause(1, "e", "pl", "timer"), None, 1, ("phase", 1))
    counts.note(timer, REPEAT)
    unread = refused("invalid").records[0]
    assert isinstance(unread, Rejection)
    counts.note(unread, Decision([unread]))
    counts.note(arrival("/a"), Decision([]))
    counts.take([arrival("/a"), timer, unread, arrival("/a")], SECOND)
    found = counts.counts["/a"]
    assert (list(counts.counts), found.events, found.taken, found.rejected, found.repeats) == (["/a"], 3, 1, 2, 0)
