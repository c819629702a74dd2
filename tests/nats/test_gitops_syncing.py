"""Applications that synchronise themselves: at once, in their windows, again where they may heal themselves.

See docs/spec/gitops.md, Auto-sync, Sync windows.
"""

import asyncio
from typing import Any

import pytest

from phaseline.machines.language.table import Attributes
from tests.support.gitops_history import APP, KINDS, SET, resource_id
from tests.support.installation import Settings, Wire, inspect, until_decided
from tests.support.log_check import assert_log_is_the_fold
from tests.support.manifests import kubernetes_object
from tests.support.own_installation import Client
from tests.support.virtual_clock import Clock

DAY = 1_772_409_600
"""2026-03-02 00:00:00 UTC, a Monday."""
PART = kubernetes_object("v1", "ConfigMap", data={"a": "1"})
DRIFTED = kubernetes_object("v1", "ConfigMap", data={"a": "2"})


def at(hour: float) -> float:
    return DAY + hour * 3600


class Apps(Clock):
    def configure(self, hour: float, entity_id: str = APP, **data: Any) -> "Apps":
        self.say(at(hour), "application" if "/" in entity_id else "application_set", "configure", entity_id, **data)
        return self

    def drift(self, seconds: float, *, gone: bool = False) -> "Apps":
        live = PART if gone else DRIFTED
        self.say(seconds, "resource", "observed", resource_id(PART), live=live, desired=PART)
        return self

    def end(self, seconds: float, result: str = "Succeeded") -> "Apps":
        self.say(seconds, "application", "sync_finished", APP, result=result)
        return self

    @property
    def app(self) -> dict[str, Any]:
        return dict(self.processor.tree.entities["application"][APP].attributes)


def drifted(**data: Any) -> Apps:
    apps = Apps(KINDS).configure(9, auto_sync=True, target_revision="v1", **data)
    return apps.drift(at(10))


def test_it_begins_by_itself_once_it_has_been_out_of_sync_for_a_second() -> None:
    apps = drifted()
    assert apps.due == [at(10) + 1]
    apps.fire(at(10) + 1)
    assert (apps.app["operation"], apps.app["automatic"], apps.app["revision"], apps.app["attempts"]) == (
        "Running",
        True,
        "v1",
        1,
    )
    assert apps.due == []


def test_an_operation_that_failed_goes_on_where_windows_let_it_run_over() -> None:
    for overruns in (True, False):
        window = {"kind": "allow", "schedule": "0 10 * * *", "duration": "1h", "applications": ["*"]}
        apps = Apps(KINDS).configure(9, sync_windows=[{**window, "syncOverrun": overruns}])
        apps.say(at(10.9), "application", "sync", APP, revision="v1")
        apps.end(at(11.1), "Failed")
        apps.say(at(11.2), "application", "sync", APP, revision="v1")
        assert apps.app["operation"] == "Failed"  # another operation begins now, and the window is closed
        apps.say(at(11.2), "application", "sync", APP, retry=True)
        assert apps.app["operation"] == ("Running" if overruns else "Failed")
    apps.say(at(34.5), "application", "sync", APP, retry=True)
    assert (apps.app["operation"], apps.app["retries"], apps.app["revision"]) == ("Running", 1, "v1")
    assert apps.app["operation_began"] == int(at(10.9) * 1_000_000_000)
    apps.end(at(34.6))
    apps.say(at(34.7), "application", "sync", APP, retry=True)
    assert apps.app["operation"] == "Succeeded"
    apps.say(at(34.8), "application", "sync", APP)
    assert "retries" not in apps.app


@pytest.mark.parametrize(
    ("trigger", "told"),
    [
        ("sync_finished", {"result": "Failed"}),
        ("observed", {"operation": "Failed"}),
        ("observed", {"operation": "Error", "retries": 2**64 - 1}),
        ("observed", {"operation": "Error", "operation_began": 2**64 - 1, "retries": -(2**63)}),
    ],
)
def test_an_operation_of_which_only_the_end_is_known_is_tried_again(trigger: str, told: Attributes) -> None:
    """Nobody knows that it began in a window that is over, so it needs a window that is open now."""
    window = {"kind": "allow", "schedule": "0 10 * * *", "duration": "1h", "applications": ["*"], "syncOverrun": True}
    apps = Apps(KINDS).configure(9, sync_windows=[window])
    apps.say(at(10.2), "application", trigger, APP, **told)
    apps.say(at(11.2), "application", "sync", APP, retry=True)
    assert apps.app["operation"] in ("Failed", "Error")
    apps.say(at(34.2), "application", "sync", APP, retry=True)
    assert apps.app["operation"] == "Running"
    assert apps.processor.counts.faults == 0


def test_what_comes_right_before_that_is_left_alone() -> None:
    apps = drifted().drift(at(10) + 0.5, gone=True)
    assert apps.due == []
    assert "operation" not in apps.app


def test_nothing_begins_where_it_was_not_asked_for() -> None:
    assert Apps(KINDS).configure(9).drift(at(10)).due == []
    apps = drifted()
    apps.configure(10, auto_sync=False)
    assert apps.due == []
    apps.configure(10, auto_sync=True)
    assert apps.due == [at(10) + 1]


def test_a_revision_is_tried_once() -> None:
    for result in ("Succeeded", "Failed", "Error"):
        apps = drifted()
        apps.fire(at(10) + 1)
        apps.end(at(11), result)
        assert apps.due == []
        apps.drift(at(12), gone=True).drift(at(13))
        assert apps.due == []
        apps.configure(14, target_revision="v2")
        assert apps.due == [at(14) + 1]
        apps.fire(at(14) + 1)
        assert (apps.app["operation"], apps.app["revision"], apps.app["attempts"]) == ("Running", "v2", 1)


def test_healing_waits_longer_each_time() -> None:
    apps, now, waited = drifted(self_heal=True), at(10), []
    for _ in range(8):
        [due] = apps.due
        waited.append(due - now)
        apps.fire(due)
        now = due + 60
        apps.end(now)
    assert waited == [1, 2, 6, 18, 54, 162, 300, 300]
    apps.configure(23, target_revision="v2")
    assert apps.due == [at(23) + 1]


def test_what_failed_does_not_heal() -> None:
    apps = drifted(self_heal=True)
    apps.fire(at(10) + 1)
    assert apps.end(at(11), "Failed").due == []


def test_a_window_is_waited_for() -> None:
    apps = drifted(sync_hours=["20:00-22:00"])
    apps.fire(at(10) + 1)
    assert "operation" not in apps.app
    assert apps.app["auto_sync_waits"] == 'the allow window "20:00-22:00" is closed'
    assert apps.due == [at(20) + 1]
    apps.fire(at(20) + 1)
    assert (apps.app["operation"], "auto_sync_waits" in apps.app, apps.due) == ("Running", False, [])


def test_the_sets_windows_count_and_those_that_never_open_are_looked_at_each_day() -> None:
    apps = Apps(KINDS).configure(
        8, SET, sync_windows=[{"kind": "allow", "schedule": "0 0 30 2 *", "duration": "1h", "applications": ["*"]}]
    )
    apps.configure(9, auto_sync=True).drift(at(10))
    apps.fire(at(10) + 1)
    assert apps.due == [at(34) + 1]
    apps.fire(at(34) + 1)
    assert apps.due == [at(58) + 1]


def test_what_is_put_right_while_it_waits_does_not_begin() -> None:
    apps = drifted(sync_hours=["20:00-22:00"])
    apps.fire(at(10) + 1)
    apps.drift(at(12), gone=True)
    assert apps.due == []


def test_nothing_begins_while_something_is_under_way() -> None:
    apps = drifted()
    apps.say(at(10) + 0.5, "application", "sync", APP, revision="v0")
    assert apps.due == []
    assert (apps.app["automatic"], apps.app["attempts"]) == (False, 0)
    apps.end(at(11))
    assert apps.due == [at(11) + 1]


async def test_on_the_real_server(working: Settings, wire: Wire) -> None:
    async with Client.open(working) as client:
        await client.publish(
            "application", "configure", APP, {"auto_sync": True, "self_heal": True, "target_revision": "v1"}
        )
        await client.publish("resource", "observed", resource_id(PART), {"live": DRIFTED, "desired": PART})
        await until_decided(wire, await inspect(wire, working))
        for attempt in (1, 2):
            async with asyncio.timeout(60):
                while (await client.get("application", APP)).attributes.get("attempts") != attempt:
                    await asyncio.sleep(0.05)
            await client.publish("application", "sync_finished", APP, {"result": "Succeeded"})
        await client.publish("resource", "observed", resource_id(PART), {"live": PART, "desired": PART})
        layout = await inspect(wire, working)
        await until_decided(wire, layout)
        history = [record async for record in client.history("application", APP)]
        assert [record.cause.by for record in history if record.trigger == "auto_sync"] == ["timer"] * 2
        await assert_log_is_the_fold(wire, layout, KINDS)
