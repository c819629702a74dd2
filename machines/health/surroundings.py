"""Health of what workloads stand on (spec: GitOps, Health by kind; behaviour 1.2).

Belongs here: Ingress, Service, PersistentVolumeClaim, HorizontalPodAutoscaler, APIService, Argo's Workflow.
Does not: workloads and Pods.
"""

from collections.abc import Iterator, Mapping

import msgspec

from phaseline.machines.health.part import Part, Unreadable
from phaseline.machines.health.verdict import Health, degraded, healthy, progressing, unknown
from phaseline.machines.profiles import Profile

V1_CONDITIONS = "autoscaling.alpha.kubernetes.io/conditions"
"""The annotation in which autoscaling/v1 has its conditions, as JSON."""
BROKEN = {
    "AbleToScale": ("FailedGetScale", "FailedUpdateScale"),
    "ScalingActive": (
        "FailedGetResourceMetric", "FailedGetObjectMetric", "FailedGetPodsMetric", "FailedGetExternalMetric",
        "FailedComputeMetricsReplicas", "InvalidSelector",
    ),
}  # fmt: skip
"""Per condition, the reasons for which an autoscaler cannot do its work."""


def ingress(live: Part, _: Profile) -> Health:
    """Ingress, of any version."""
    return healthy() if _is_assigned(live) else progressing()


def service(live: Part, _: Profile) -> Health:
    """v1 Service."""
    waits = live.map("spec").text("type") == "LoadBalancer" and not _is_assigned(live)
    return progressing() if waits else healthy()


def _is_assigned(live: Part) -> bool:
    """Whether a load balancer has been given to it."""
    found = live.map("status").map("loadBalancer").found.get("ingress")
    return isinstance(found, list) and bool(found)


def volume_claim(live: Part, _: Profile) -> Health:
    """v1 PersistentVolumeClaim."""
    rules = {"Bound": healthy, "Pending": progressing, "Lost": degraded}
    return rules.get(live.map("status").text("phase"), unknown)()


def api_service(live: Part, _: Profile) -> Health:
    """apiregistration.k8s.io APIService. Never Degraded."""
    for condition in live.map("status").maps("conditions"):
        if condition.text("type") == "Available":
            said = f"{condition.text('reason')}: {condition.text('message')}"
            return healthy(said) if condition.text("status") == "True" else progressing(said)
    return progressing("no condition Available yet")


def workflow(live: Part, _: Profile) -> Health:
    """argoproj.io Workflow."""
    status = live.map("status")
    rules = {"Succeeded": healthy, "Failed": degraded, "Error": degraded}
    rules |= dict.fromkeys(("", "Pending", "Running"), progressing)
    return rules.get(status.text("phase"), unknown)(status.text("message"))


def autoscaler(live: Part, profile: Profile) -> Health:
    """Autoscaling HorizontalPodAutoscaler, v2, or v1 with its conditions in an annotation."""
    is_v1 = live.text("apiVersion") == "autoscaling/v1"
    conditions = [*(_annotated(live) if is_v1 else live.map("status").maps("conditions"))]
    for one in conditions:
        if one.text("reason") in BROKEN.get(one.text("type"), ()):
            return degraded(one.text("message"))
    status = live.map("status")
    now, wanted = status.number("currentReplicas"), status.number("desiredReplicas")
    if profile.compares_replicas and now != wanted and wanted is not None:
        return progressing(f"{now or 0} replicas, {wanted} are desired")
    for one in conditions:
        if one.text("type") in ("AbleToScale", "ScalingLimited") and one.text("status") == "True":
            return healthy(one.text("message"))
    return progressing("Waiting to Autoscale")


def _annotated(live: Part) -> Iterator[Part]:
    """The conditions in the annotation; their keys are read whatever their case."""
    text = live.map("metadata").map("annotations").text(V1_CONDITIONS)
    path = f".metadata.annotations[{V1_CONDITIONS!r}]"
    try:
        found = msgspec.json.decode(text) if text else None
    except msgspec.DecodeError as error:
        raise Unreadable(f"{path} must be JSON: {error}") from error
    if found is not None and not isinstance(found, list):
        raise Unreadable(f"{path} must be a list, found {type(found).__name__}")
    for place, one in enumerate(found or ()):
        if not isinstance(one, Mapping):
            raise Unreadable(f"{path}[{place}] must be a map, found {type(one).__name__}")
        yield Part({name.lower(): value for name, value in one.items()}, f"{path}[{place}]")
