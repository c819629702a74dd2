"""Health of autoscalers.

Belongs here: HorizontalPodAutoscaler, v1 and v2. Does not: the workload it scales (`workloads`).
"""

from collections.abc import Iterator, Mapping

from phaseline.machines.kinds.kubernetes.health.reader import ManifestPart, UnreadableManifest
from phaseline.machines.kinds.kubernetes.health.result import HealthResult, degraded, healthy, progressing
from phaseline.machines.kinds.kubernetes.profiles import Profile
from phaseline.schemas import codec

V1_CONDITIONS = "autoscaling.alpha.kubernetes.io/conditions"
"""The annotation that holds the conditions of autoscaling/v1, as JSON."""
BROKEN = {
    "AbleToScale": ("FailedGetScale", "FailedUpdateScale"),
    "ScalingActive": (
        "FailedGetResourceMetric", "FailedGetObjectMetric", "FailedGetPodsMetric", "FailedGetExternalMetric",
        "FailedComputeMetricsReplicas", "InvalidSelector",
    ),
}  # fmt: skip
"""By condition, the reasons that make an autoscaler Degraded in Argo CD. Elsewhere Failed... and Invalid... do."""


def autoscaler(live: ManifestPart, profile: Profile) -> HealthResult:
    """HorizontalPodAutoscaler: v2, or v1, which keeps its conditions in an annotation."""
    is_v1 = live.text("apiVersion") == "autoscaling/v1"
    conditions = [*(_annotated(live) if is_v1 else live.map("status").maps("conditions"))]
    for one in conditions:
        if _is_broken(one, profile):
            return degraded(one.text("message") or one.text("reason"))
    status = live.map("status")
    now, wanted = status.number("currentReplicas"), status.number("desiredReplicas")
    if profile.compares_replicas and now != wanted and wanted is not None:
        return progressing(f"{now or 0} replicas, {wanted} are desired")
    for one in conditions:
        if one.text("type") in ("AbleToScale", "ScalingLimited") and one.text("status") == "True":
            return healthy(one.text("message"))
    return progressing("Waiting to Autoscale")


def _is_broken(condition: ManifestPart, profile: Profile) -> bool:
    kind, reason = condition.text("type"), condition.text("reason")
    if profile.follows_argo or kind not in BROKEN:
        return reason in BROKEN.get(kind, ())
    return reason.startswith(("Failed", "Invalid"))


def _annotated(live: ManifestPart) -> Iterator[ManifestPart]:
    """The conditions in the annotation of v1. Their keys are compared without regard to case."""
    text = live.map("metadata").map("annotations").text(V1_CONDITIONS)
    path = f".metadata.annotations[{V1_CONDITIONS!r}]"
    try:
        found = codec.decode_text(text) if text else None
    except codec.Undecodable as error:
        raise UnreadableManifest(f"{path} must be JSON: {str(error).removeprefix('JSON: ')}") from error
    if found is not None and not isinstance(found, list):
        raise UnreadableManifest(f"{path} must be a list, found {type(found).__name__}")
    for index, one in enumerate(found or ()):
        if not isinstance(one, Mapping):
            raise UnreadableManifest(f"{path}[{index}] must be a map, found {type(one).__name__}")
        yield ManifestPart({name.lower(): value for name, value in one.items()}, f"{path}[{index}]")
