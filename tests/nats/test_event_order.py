"""Reading by the publishers' clock: a day that was imported in a second.

Belongs here: histories and timelines by it, on a server. Does not: the order itself (`tests/pure/test_event_time`).
"""

from datetime import UTC, datetime
from typing import Any

import pytest

from phaseline.schemas.errors import InvalidInput, NameUnknown, TreeUnknown
from tests.support.command import Shell
from tests.support.own_installation import Client
from tests.support.raising import raises

DAY: tuple[tuple[str, str, str, str | None, dict[str, Any]], ...] = (
    ("node", "adopt", "c1/p/n", "2026-03-02T08:00:00Z", {"phase": "Running"}),
    ("node", "not_ready", "c1/p/n", "2026-03-02T17:00:00+08:00", {}),
    ("node", "ready", "c1/p/n", "2026-03-02T12:00:00Z", {}),
    ("node", "cordon", "c1/p/n", "2026-03-02T10:30:00Z", {}),
    ("component", "adopt", "c1/dns", "2026-03-02T11:00:00Z", {"phase": "Running"}),
    ("component", "crash_loop", "c1/dns", None, {}),
    ("component", "degraded", "c1/dns", "0001-01-01T00:00:00Z", {}),
)


def at(hour: int, minute: int = 0) -> datetime:
    return datetime(2026, 3, 2, hour, minute, tzinfo=UTC)


@pytest.fixture
async def day(client: Client) -> Client:
    for kind, trigger, entity_id, time, data in DAY:
        done = await (
            client.publish_and_wait(kind, trigger, entity_id, data)
            if time is None
            else client.publish_and_wait(kind, trigger, entity_id, data, time=time)
        )
        assert done.transitions, (trigger, done)
    return client


async def test_a_history_in_the_order_of_its_events(day: Client) -> None:
    watch = day.history("node", "c1/p/n", clock="event")
    found = [(record.trigger, str(record.before), str(record.after)) async for record in watch]
    assert found == [
        ("adopt", "None", "Running [Ok]"),
        ("not_ready", "Running [Ok]", "Failed [NotReady]"),
        ("cordon", "Failed [NotReady]", "Running [Unschedulable]"),
        ("ready", "Running [Unschedulable]", "Running [Ok]"),
    ]
    assert getattr(watch, "without_time", None) == 0
    other = day.history("component", "c1/dns", clock="event")
    assert [record.trigger async for record in other] == ["adopt", "crash_loop", "degraded"]
    assert getattr(other, "without_time", None) == 1
    with raises(InvalidInput.wrong_clock, match="still to come"):
        day.history("node", "c1/p/n", follow=True, clock="event")


async def test_a_timeline_between_two_times_of_the_events(day: Client) -> None:
    found = await day.timeline("c1/p/n", clock="event")
    [lane] = found.lanes
    assert (found.start_ns, found.end_ns) == (int(at(8).timestamp()) * 10**9, int(at(12).timestamp()) * 10**9)
    assert [str(one.state) for one in lane.intervals] == [
        "Running [Ok]", "Failed [NotReady]", "Running [Unschedulable]", "Running [Ok]",
    ]  # fmt: skip
    later = await day.timeline("c1/p/n", start=at(9, 30), end=at(11), clock="event")
    assert [str(one.state) for one in later.lanes[0].intervals] == ["Failed [NotReady]", "Running [Unschedulable]"]
    with pytest.raises(TreeUnknown):
        await day.timeline("c9", clock="event")
    with pytest.raises(TreeUnknown, match="there was no entity in the tree 'c1' at place 0 of the log"):
        await day.timeline("c1", end=0)
    with raises(InvalidInput.start_after_end, match=r"from 2026-.*T11:00:00.* to .*T09:30"):
        await day.timeline("c1/p/n", start=at(11), end=at(9, 30), clock="event")
    with raises(InvalidInput.wrong_clock, match="with the clock `event`, name a time"):
        await day.timeline("c1/p/n", start=3, clock="event")
    with pytest.raises(NameUnknown):
        await day.timeline("c1/p/n", start="soon", clock="event")
    assert (await day.timeline("c1/dns", clock="event")).without_time == 1


async def test_a_history_makes_no_claim_about_the_log_from_the_order_of_events(client: Client, shell: Shell) -> None:
    """The first event of a publisher need not be the first that was stored."""
    for trigger, time in (("create", "2026-03-02T10:00:00Z"), ("created", "2026-03-02T09:00:00Z")):
        assert (await client.publish_and_wait("cluster", trigger, "clk", time=time)).transitions
    for words in ((), ("--clock", "event")):
        shown = await shell("history", "cluster", "clk", *words)
        assert (shown.code, shown.err, len(shown.out.splitlines())) == (0, "", 3)
