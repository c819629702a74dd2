"""What is Progressing and does not get on becomes Degraded; with time as it is given, and on the real server."""

import asyncio
from typing import Any

from tests.support.gitops_history import APP, KINDS, resource_id
from tests.support.installation import Settings, Wire, inspect, until_decided
from tests.support.log_check import assert_log_is_the_fold
from tests.support.manifests import deployment, kubernetes_object
from tests.support.own_installation import Client
from tests.support.virtual_clock import Clock

WEB = resource_id(deployment())


def rolling(available: int, *, restarted: str = "", **metadata: Any) -> dict[str, Any]:
    status = {
        "replicas": 3,
        "updatedReplicas": 3,
        "availableReplicas": available,
        "conditions": [{"type": "Available", "reason": restarted}],
    }
    return {**deployment(replicas=3, metadata=metadata), "status": status}


def begun(**settings: Any) -> Clock:
    clock = Clock(KINDS)
    if settings:
        clock.say(1, "application", "configure", APP, **settings)
    clock.say(10, "resource", "observed", WEB, live=rolling(1))
    return clock


def health(clock: Clock) -> str:
    return clock.shown("resource", WEB)


def message(clock: Clock) -> str:
    return str(clock.processor.tree.entities["resource"][WEB].attributes["health_message"])


def test_ten_minutes_where_nothing_else_is_said() -> None:
    clock = begun()
    assert clock.due == [610]
    clock.say(300, "resource", "observed", WEB, live=rolling(1, restarted="again"))
    assert clock.due == [610]
    clock.fire(610.1)
    assert (health(clock), clock.shown("application", APP), clock.due) == ("Degraded", "Degraded", [])
    assert (
        message(clock)
        == "Waiting for rollout to finish: 1 of 3 new replicas are available (it does not get on, for 600 s)"
    )


def test_getting_on_begins_the_time_anew() -> None:
    clock = begun(progress_deadline=60)
    assert clock.due == [70]
    clock.say(50, "resource", "observed", WEB, live=rolling(2))
    assert clock.due == [110]
    clock.say(60, "resource", "observed", WEB, live=rolling(3))
    assert (health(clock), clock.due) == ("Healthy", [])


def test_degraded_until_something_better_is_seen() -> None:
    clock = begun(progress_deadline=60)
    clock.fire(70)
    clock.say(80, "resource", "observed", WEB, live=rolling(1, restarted="again"))
    assert (health(clock), clock.due) == ("Degraded", [])
    assert message(clock).endswith("(it does not get on, for 60 s)")
    clock.say(90, "resource", "observed", WEB, live=rolling(2))
    assert (health(clock), clock.due) == ("Progressing", [150])
    clock.say(95, "resource", "observed", WEB, live=rolling(1))
    assert (health(clock), clock.due) == ("Progressing", [155])


def test_what_never_reports_a_status_is_unknown_after_the_deadline() -> None:
    silent = {name: part for name, part in rolling(1).items() if name != "status"}
    clock = begun(progress_deadline=60)
    clock.say(50, "resource", "observed", WEB, live=silent)
    assert (health(clock), clock.due) == ("Progressing", [110])
    clock.fire(110)
    assert (health(clock), clock.shown("application", APP)) == ("Unknown", "Unknown")
    assert message(clock).endswith("(it does not get on, for 60 s)")
    clock.say(120, "resource", "observed", WEB, live=silent)
    assert health(clock) == "Unknown"
    clock.say(130, "resource", "observed", WEB, live=rolling(1))
    assert (health(clock), clock.due) == ("Progressing", [190])
    clock.fire(190)
    assert health(clock) == "Degraded"


def test_the_annotation_comes_first_and_the_set_last() -> None:
    clock = begun(progress_deadline=60)
    clock.say(20, "resource", "observed", WEB, live=rolling(1, annotations={"phaseline.io/progress-deadline": "5"}))
    assert clock.due == [25]
    clock = Clock(KINDS)
    clock.say(1, "application_set", "configure", "shop", progress_deadline=7)
    clock.say(10, "resource", "observed", WEB, live=rolling(1))
    assert clock.due == [17]
    clock.say(11, "resource", "observed", WEB, live=rolling(1, annotations={"phaseline.io/progress-deadline": "soon"}))
    assert clock.due == [17]


def test_never() -> None:
    assert begun(progress_deadline=0).due == []
    assert begun(profile="argocd").due == []


def test_a_late_timer_of_a_stay_that_is_over_does_nothing() -> None:
    clock = begun(progress_deadline=60)
    [late] = clock.timers.values()
    clock.say(50, "resource", "observed", WEB, live=rolling(2))
    current = dict(clock.timers)
    clock.timers = {"late": late}
    clock.fire(70)
    clock.timers = current
    assert (health(clock), clock.due) == ("Progressing", [110])


async def test_on_the_real_server(working: Settings, wire: Wire) -> None:
    async with Client.open(working) as client:
        await client.publish("application", "configure", APP, {"progress_deadline": 1})
        await client.publish("resource", "observed", WEB, {"live": rolling(1), "desired": deployment(replicas=3)})
        service = kubernetes_object("v1", "Service", spec={"type": "LoadBalancer"}, status={"loadBalancer": {}})
        await client.publish("resource", "observed", resource_id(service), {"live": service, "desired": service})
        layout = await inspect(wire, working)
        await until_decided(wire, layout)
        async with asyncio.timeout(60):
            while (await client.get("application", APP)).facets[0].state.phase != "Degraded":
                await asyncio.sleep(0.05)
        async with asyncio.timeout(60):
            while (await client.get("resource", resource_id(service))).facets[0].state.phase != "Degraded":
                await asyncio.sleep(0.05)
        await client.publish("resource", "observed", WEB, {"live": rolling(3), "desired": deployment(replicas=3)})
        await until_decided(wire, layout)
        history = [str(record.after) async for record in client.history("resource", WEB) if record.facet == "health"]
        assert history == ["Progressing", "Degraded", "Healthy"]
        await assert_log_is_the_fold(wire, layout, KINDS)
