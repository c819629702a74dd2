"""Reading by the publishers' clock: a day that was imported in a second.

Belongs here: histories, timelines, changes and lists by it, on a server. Does not: the order itself
(`tests/pure/test_event_time`).
"""

from datetime import UTC, datetime
from typing import Any

import pytest

from phaseline.engine.client.client import Client
from phaseline.engine.errors import NameUnknown, TreeUnknown, WrongClock
from phaseline.engine.log.event_clock.past import EventWatch
from phaseline.engine.range_errors import StartAfterEnd

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
    assert isinstance(watch, EventWatch)
    assert watch.without_time == 0
    other = day.history("component", "c1/dns", clock="event")
    assert [record.trigger async for record in other] == ["adopt", "crash_loop", "degraded"]
    assert getattr(other, "without_time", None) == 1
    with pytest.raises(WrongClock, match="still to come"):
        day.history("node", "c1/p/n", follow=True, clock="event")


async def test_the_states_at_a_time_of_the_events(day: Client) -> None:
    async def states(when: Any) -> dict[str, str]:
        view = await day.at(when, clock="event")
        return {entity.id: str(entity.facets[0].state) async for entity in view.list()}

    assert await states(at(7)) == {}
    assert await states(at(8)) == {"c1": "Running [Ok]", "c1/p": "Running [Ok]", "c1/p/n": "Running [Ok]"}
    assert (await states(at(9)))["c1/p/n"] == "Failed [NotReady]"
    assert (await states(at(11)))["c1/dns"] == "Running [Ok]"
    assert (await states("now"))["c1/dns"] == "Failed [CrashLoopBackOff, Degraded]"
    view = await day.at(at(9), clock="event")
    assert (await view.get("node", "c1/p/n")).facets[0].since_ns == int(at(9).timestamp()) * 10**9
    assert [entity.id async for entity in view.list(condition="NotReady")] == ["c1/p/n"]
    whole = await day.at(at(12), clock="event")
    assert len(await whole.tree("c1")) == 4
    assert whole.without_time == 1
    with pytest.raises(WrongClock, match="with the clock `event`, name a time"):
        await day.at(3, clock="event")
    with pytest.raises(NameUnknown):
        await day.at("soon", clock="event")


async def test_a_timeline_and_changes_between_two_times_of_the_events(day: Client) -> None:
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
    with pytest.raises(StartAfterEnd, match=r"from 2026-.*T11:00:00.* to .*T09:30"):
        await day.changes(at(11), at(9, 30), clock="event")
    changes = await day.changes(at(8, 30), at(10), clock="event")
    assert [(one.id, one.what, one.transitions) for one in changes] == [("c1/p/n", "changed", 1)]
    assert getattr(changes, "without_time", 0) == 1
    by_server = await day.changes(at(8, 30), at(10))
    assert list(by_server) == []
