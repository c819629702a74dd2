"""The publishers' clock: which times count, and the order of records by it.

Belongs here: what needs no server. Does not: histories and timelines by it (`tests/nats/test_event_order`).
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from phaseline.engine.log.event_order import AHEAD, ahead, event_time, in_event_order
from phaseline.schemas.records import SECOND, Cause, Transition, nanoseconds, timestamp
from tests.support.edge_worlds import KINDS
from tests.support.strategies import History, event

NOON = nanoseconds("2026-03-02T12:00:00Z")
TIMES = {
    "2026-03-02T12:00:00Z": NOON,
    "2026-03-02T20:00:00+08:00": NOON,
    "2026-03-02T05:30:00-06:30": NOON,
    "2026-03-02T12:00:00.123456789Z": NOON + 123_456_789,
    "2026-03-02T20:00:00.1234567+08:00": NOON + 123_456_700,
    "2026-03-02T12:00:00.5+00:00": NOON + SECOND // 2,
    "1996-01-01T00:00:00Z": nanoseconds("1996-01-01T00:00:00Z"),
    "1970-01-01T00:00:00Z": None,
    "1969-07-20T20:17:00Z": None,
    "0001-01-01T00:00:00+23:59": None,
    "9999-12-31T23:59:59-23:59": None,
    "2262-04-11T23:47:17Z": None,
    "yesterday": None,
    "": None,
    "2026-03-02T12:00:00.1²Z": None,
    "2026-13-02T12:00:00Z": None,
}


@pytest.mark.parametrize(("text", "time"), TIMES.items())
def test_which_times_count(text: str, time: int | None) -> None:
    assert event_time(text, NOON) == time


def test_without_a_time() -> None:
    assert event_time(None, NOON) is None


def test_a_clock_that_is_ahead_is_not_believed() -> None:
    stored = nanoseconds("2026-03-02T12:00:00Z")
    assert event_time("2026-03-02T12:05:00Z", stored) == stored + AHEAD
    assert event_time("2026-03-02T12:05:00.000000001Z", stored) is None
    assert ahead("2026-03-02T14:00:01+02:00", stored - AHEAD) == AHEAD + SECOND
    assert [ahead(text, stored) for text in ("2026-03-02T14:05:00+02:00", "yesterday", None)] == [0, 0, 0]


@given(st.text(max_size=40) | st.datetimes().map(str) | st.datetimes().map(lambda one: f"{one.isoformat()}+14:00"))
def test_no_text_is_a_fault(text: str) -> None:
    event_time(text, NOON)


@given(st.integers(0, 7_258_118_400 * SECOND))
def test_times_keep_their_nanoseconds(time: int) -> None:
    assert nanoseconds(timestamp(time)) == time
    assert nanoseconds(timestamp(time).replace("Z", "+00:00")) == time


def told(*events: tuple[str, str, str | None]) -> list[Transition]:
    """The transitions of these events about cluster and nodes: kind and id, trigger, the publisher's time."""
    made = History(KINDS)
    made.take(event("node", "adopt", "c/p/n", {"phase": "Running"}, time="2026-03-02T08:00:00Z"))
    for what, trigger, time in events:
        kind, _, entity_id = what.partition(" ")
        sent = event(kind, trigger, entity_id) if time is None else event(kind, trigger, entity_id, time=time)
        assert made.take(sent).accepted
    found = [one for step in made.steps for one in step.records if isinstance(one, Transition)]
    return [replace(one, time_ns=one.time_ns + NOON) for one in found]


def test_records_stand_in_the_order_of_their_events() -> None:
    records = told(
        ("node c/p/n", "cordon", "2026-03-02T10:00:00Z"), ("node c/p/n", "not_ready", "2026-03-02T17:00:00+08:00")
    )
    ordered = in_event_order(records)
    nodes = [one for one in ordered.records if one.entity.kind == "node"]
    assert [(one.trigger, timestamp(one.time_ns)[11:16]) for one in nodes] == [
        ("adopt", "08:00"), ("not_ready", "09:00"), ("cordon", "10:00"),
    ]  # fmt: skip
    assert [one.before for one in nodes] == [None, nodes[0].after, nodes[1].after]
    assert ordered.without_time == 0


def test_the_servers_time_counts_where_there_is_none() -> None:
    records = told(("node c/p/n", "cordon", None), ("node c/p/n", "drain", "0001-01-01T00:00:00Z"))
    ordered = in_event_order(records)
    assert ordered.without_time == 1  # `drain` changes nothing
    assert ordered.records[-1].trigger == "cordon"
    assert ordered.records[-1].time_ns == records[-1].time_ns


def test_what_one_event_moves_stays_together() -> None:
    records = told(("cluster c", "overdue", "2026-03-02T09:00:00Z"), ("cluster c", "renewed", "2026-03-02T08:30:00Z"))
    ordered = in_event_order(records).records
    late = [one for one in ordered if one.cause.sequence == 2]
    assert [one.entity.kind for one in late] == ["cluster", "node_pool"]
    assert ordered[-2:] == late


@given(st.lists(st.integers(0, 9), min_size=1, max_size=12), st.randoms())
def test_one_clock_makes_one_order(times: list[int], dice: object) -> None:
    [first, *_] = told()
    records = [
        replace(first, cause=Cause(n, "e", "/t", "event", None, timestamp(NOON + t * SECOND)), time_ns=NOON + n)
        for n, t in enumerate(times)
    ]
    found = in_event_order(records).records
    assert [one.time_ns for one in found] == sorted(one.time_ns for one in found)
    assert [one.cause.sequence for one in found] == [n for _, n in sorted((t, n) for n, t in enumerate(times))]
