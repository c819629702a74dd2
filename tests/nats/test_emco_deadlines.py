"""A context that takes too long says so, and goes on: with time as it is given, and on the real server."""

import asyncio
from collections.abc import Mapping

from phaseline.schemas.records import NONE
from tests.support.emco_history import CTX, GROUP, KINDS, NEW, context, resource
from tests.support.installation import Settings, Wire, inspect, until_decided
from tests.support.log_check import assert_log_is_the_fold, stored
from tests.support.own_installation import Client
from tests.support.virtual_clock import Clock

A, B = resource("dep+Deployment"), resource("svc+Service")


def state(clock: Clock, name: str = CTX) -> str:
    return clock.shown("app_context", context(name))


def under_way(own: Mapping[str, object] = NONE, above: Mapping[str, object] = NONE, **data: object) -> Clock:
    clock = Clock(KINDS)
    clock.say(1, "emco_resource", "create", GROUP, **above)
    clock.say(1, "emco_resource", "approve", GROUP)
    clock.say(1, "app_context", "create", context(), **own, **data)
    clock.say(2, "rsync_resource", "add", A)
    clock.say(2, "rsync_resource", "add", B)
    clock.say(10, "emco_resource", "instantiate", GROUP, context=CTX)
    return clock


def test_an_hour_where_nothing_else_is_said() -> None:
    clock = under_way()
    assert clock.due == [3610]
    clock.fire(3610.1)
    assert state(clock) == "Instantiating [Stalled]"
    clock.say(3700, "rsync_resource", "applied", A)
    assert state(clock) == "Instantiating [Stalled]"
    clock.say(3800, "rsync_resource", "applied", B)
    assert state(clock) == "Instantiated"


def test_the_resource_above_says_it_where_the_context_does_not() -> None:
    for own, due in (({}, 40), ({"deadline": 60}, 70)):
        clock = under_way(own, {"deadline": 30})
        assert clock.due == [due]
    clock = under_way({}, {"deadline": 30})
    clock.say(20, "emco_resource", "terminate", GROUP, deadline=5)
    assert (state(clock), clock.due) == ("PreTerminate", [25])
    assert under_way({}, {"deadline": 0}).due == []


def test_what_is_done_in_time_is_not_told_off() -> None:
    clock = under_way(deadline=60)
    assert clock.due == [70]
    clock.say(20, "rsync_resource", "applied", A)
    clock.say(21, "rsync_resource", "applied", B)
    assert (clock.due, state(clock)) == ([], "Instantiated")


def test_each_stay_has_a_time_and_a_verdict_of_its_own() -> None:
    clock = under_way(deadline=60)
    clock.fire(70)
    clock.say(80, "rsync_resource", "applied", A)
    clock.say(81, "rsync_resource", "applied", B)
    clock.say(90, "rsync_resource", "add", resource("late+ConfigMap"))
    assert (state(clock), clock.due) == ("Instantiating", [150])
    clock.fire(150)
    clock.say(160, "rsync_resource", "applied", resource("late+ConfigMap"))
    clock.say(200, "emco_resource", "terminate", GROUP)
    assert (state(clock), clock.due) == ("Terminating", [260])
    clock.fire(260)
    assert state(clock) == "Terminating [Stalled]"
    for name in (A, B, resource("late+ConfigMap")):
        clock.say(300, "rsync_resource", "terminated", name)
    assert (state(clock), clock.due) == ("Terminated", [])


def test_a_stopped_one_shows_both() -> None:
    clock = under_way(deadline=60)
    clock.say(20, "emco_resource", "stop", GROUP)
    assert clock.due == [80], "each request starts the time anew"
    clock.fire(80)
    assert state(clock) == "Instantiating [Stopped, Stalled]"
    clock.say(90, "app_context", "resume", context())
    assert (state(clock), clock.due) == ("Instantiating", [150])


def test_never() -> None:
    assert under_way(deadline=0).due == []


def test_pre_terminate_ends_with_its_deadline_at_the_latest() -> None:
    clock = under_way(deadline=60)
    clock.say(20, "emco_resource", "terminate", GROUP)
    assert (state(clock), clock.due) == ("PreTerminate", [80])
    clock.say(30, "app_context", "instantiation_stopped", context())
    assert (state(clock), clock.due) == ("Terminating", [90])
    silent = under_way(deadline=60)
    silent.say(15, "rsync_resource", "failed", A)
    silent.say(16, "app_context", "instantiate", context())
    silent.say(20, "emco_resource", "terminate", GROUP)
    silent.say(21, "rsync_resource", "failed", A)
    silent.fire(80)
    assert (state(silent), silent.shown("rsync_resource", A), silent.due) == ("Terminating", "Pending", [140])
    silent.fire(140)
    assert state(silent) == "Terminating [Stalled]"
    seen = under_way(deadline=60)
    seen.say(20, "emco_resource", "terminate", GROUP)
    seen.say(25, "rsync_resource", "terminated", A)
    assert (state(seen), seen.due) == ("Terminating", [85])


def test_without_a_deadline_pre_terminate_waits() -> None:
    clock = under_way(deadline=0)
    clock.say(20, "emco_resource", "terminate", GROUP)
    assert (state(clock), clock.due) == ("PreTerminate", [])


async def test_on_the_real_server(working: Settings, wire: Wire) -> None:
    async with Client.open(working) as client:
        await client.publish("emco_resource", "create", GROUP)
        await client.publish("emco_resource", "approve", GROUP)
        for name in (CTX, NEW):
            await client.publish("app_context", "create", context(name), {"deadline": 0.3})
            await client.publish("rsync_resource", "add", resource(ctx=name))
        await client.publish("emco_resource", "instantiate", GROUP, {"context": CTX})
        await client.publish("rsync_resource", "applied", resource())
        await client.publish("emco_resource", "update", GROUP, {"context": NEW})
        layout = await inspect(wire, working)
        await until_decided(wire, layout)
        async with asyncio.timeout(60):
            while "Stalled" not in (await client.get("app_context", context(NEW))).facets[0].state.conditions:
                await asyncio.sleep(0.05)
        await client.publish("rsync_resource", "applied", resource(ctx=NEW))
        await until_decided(wire, layout)
        async with asyncio.timeout(60):
            while (await client.get("app_context", context(NEW))).facets[0].state.phase != "Instantiated":
                await asyncio.sleep(0.05)
        history = [record async for record in client.history("app_context", context(NEW))]
        assert [str(record.after) for record in history] == [
            "Created", "Instantiating", "Instantiating [Stalled]", "Instantiated",
        ]  # fmt: skip
        assert history[2].cause.by == "timer"
        assert await stored(wire, layout.log, [f"{layout.prefix}.timer.>"]) == []
        await assert_log_is_the_fold(wire, layout, KINDS)
