"""Legal messages that are made to break a worker: each is decided or rejected, and none makes a fault or a stall."""

import asyncio
from typing import Any

import pytest_asyncio

from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS
from tests.support.installation import Layout, Settings, Wire, inspect
from tests.support.log_check import assert_log_is_the_fold, rejections
from tests.support.random_events import RandomEvents, Sent, publish


@pytest_asyncio.fixture
async def layout(working: Settings, wire: Wire) -> Layout:
    """An installation with a worker."""
    return await inspect(wire, working)


DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"}}
RESOURCE = "shop/shop/apps:Deployment/shop/web"


def pair(field: str, live: Any, desired: Any) -> dict[str, Any]:
    """Data of an observation whose manifests differ in one field of the spec."""
    return {"live": {**DEPLOYMENT, "spec": {field: live}}, "desired": {**DEPLOYMENT, "spec": {field: desired}}}


def nested(levels: int) -> Any:
    found: Any = 1
    for _ in range(levels):
        found = {"a": found}
    return found


def hpa(text: str) -> dict[str, Any]:
    annotations = {"autoscaling.alpha.kubernetes.io/conditions": text}
    return {
        "apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "namespace": "shop", "annotations": annotations},
    }  # fmt: skip


def applied(text: str) -> dict[str, Any]:
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": text}
    return {"live": {**DEPLOYMENT, "metadata": {**DEPLOYMENT["metadata"], "annotations": annotations}}, "desired": DEPLOYMENT}  # type: ignore[dict-item]  # fmt: skip


RULES = [{"group": "*", "kind": "*", "jsonPointers": ["/spec/\u00b2", "/spec/" + "9" * 5_000, "/spec" + "/a" * 5_000]}]
OBSERVED = [
    pair("template", nested(60), nested(61)),
    {"live": {**DEPLOYMENT, "spec": {"resources": {"limits": {"cpu": "1e1000000000", "memory": "1e-1000000000"}}}},
     "desired": {**DEPLOYMENT, "spec": {"resources": {"limits": {"cpu": "9" * 100_000, "memory": "1" * 60 + ".5"}}}}},
    applied("[" * 100_000), applied('{"spec":{"n":' + "9" * 4_000 + "}}"), applied('{"spec":{"a":"\\ud800"}}'),
    {"live": {**DEPLOYMENT, "metadata": {**DEPLOYMENT["metadata"], "managedFields": [  # type: ignore[dict-item]
        {"manager": "m", "fieldsV1": {"f:spec": {"k:" + "[" * 50_000: {}, "v:" + "9" * 9_000: {}}}}]}},
     "desired": DEPLOYMENT},
    pair("list", [[]] * 20_000, [[]] * 20_001), pair("nan", float("nan"), float("inf")), pair("long", "a" * 200_000, ""),
]  # fmt: skip
CONFIGURED: list[dict[str, Any]] = [
    {"ignore_differences": [{"group": "*", "kind": "{a,b}" * 200, "jsonPointers": ["/spec"]}]},
    {"ignore_differences": [{"group": "*", "kind": "{" * 500, "jsonPointers": ["/spec"]}]},
    {"ignore_differences": [{"group": "*a" * 500, "kind": "*", "jsonPointers": ["/spec"]}]},
    {"ignore_differences": RULES},
    {"known_type_fields": {"{a,b}" * 100 + "/x": [{"field": "spec" + ".a" * 5_000, "type": "core/Quantity"}]}},
    {"sync_windows": [{"kind": "allow", "schedule": "0 8 * * *", "duration": "1" * 100_000, "applications": ["*"]}]},
    {"sync_windows": [{"kind": "deny", "schedule": "0 8 * * *", "duration": "9" * 90 + "h", "applications": ["*"]}]},
    {"sync_windows": [{"kind": "deny", "schedule": "0 8 * * *", "duration": "1h", "applications": ["{a,b}" * 100]}]},
    {"sync_windows": [{"kind": "deny", "schedule": "0 8 * * *", "duration": "1h", "clusters": ["*a" * 400]}]},
    {"health": {f"g{n}/*": "return {}" for n in range(10_000)}}, {"x" * 500_000: 1},
    {"health": {"a/" + "x" * 200_000: 1}}, {"progress_deadline": 2**64 - 1}, {"progress_deadline": 2**62},
]  # fmt: skip


def hostile(fleet: RandomEvents) -> list[Sent]:
    """Each of them follows on what the ones before it left."""
    observed = [fleet.event("resource", "observed", RESOURCE, **data) for data in OBSERVED]
    scaled = [
        fleet.event("resource", "observed", "shop/shop/autoscaling:HorizontalPodAutoscaler/shop/web", live=hpa(text))
        for text in ("[" * 100_000, '[{"a":' * 3_000, "[" + "9" * 10_000 + "]")
    ]
    script = [*observed, *scaled]
    progressing = {"live": {**DEPLOYMENT, "spec": {"replicas": 3}, "status": {"updatedReplicas": 1}}}
    for data in CONFIGURED:
        script += [fleet.event("application", "configure", "shop/shop", **data), observed[0]]
        script.append(fleet.event("resource", "observed", RESOURCE, **progressing))
        script.append(fleet.event("application", "sync", "shop/shop"))
    return script


async def test_no_input_is_a_fault(wire: Wire, layout: Layout) -> None:
    fleet = RandomEvents(layout.prefix)
    script = [Sent(sent.subject, sent.body, f"h{n}") for n, sent in enumerate(hostile(fleet))]
    await publish(wire, [*script, *fleet.cluster("good", 2)])
    found = await rejections(wire, layout, sent=len(script) + 10)
    assert [one.message for one in found if one.reason == "fault"] == []
    await assert_log_is_the_fold(wire, layout, KINDS)


async def test_settings_that_no_record_can_hold(wire: Wire, layout: Layout) -> None:
    """Two events of 600 KB each, whose settings no message of the server can hold together."""
    fleet = RandomEvents(layout.prefix)
    large = [{"group": "a", "kind": f"k{n}", "jsonPointers": ["/" + "x" * 10_000]} for n in range(60)]
    script = [
        fleet.event("application", "configure", "shop/shop", ignore_differences=large),
        fleet.event("application", "configure", "shop/shop", sync_hours=["10:00-18:00"] * 1 + [f"{n:02}:00-1:00" for n in range(24)],
                    health={f"g{n}/*": "x" * 10_000 for n in range(60)}),
        fleet.event("application", "configure", "shop/shop", auto_sync=True),
    ]  # fmt: skip
    async with asyncio.timeout(120):
        await publish(wire, [*script, *fleet.cluster("good", 2)])
        [found] = await rejections(wire, layout, sent=len(script) + 10)
    assert found.reason == "invalid"
    assert "would be larger than" in found.message
    await assert_log_is_the_fold(wire, layout, KINDS)
