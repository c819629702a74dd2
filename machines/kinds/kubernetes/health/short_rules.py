"""Health of kinds whose rule is short.

Belongs here: Ingress, Service, APIService, PersistentVolumeClaim, Argo's Workflow. Does not: the Gateway API
(`kubernetes.known`), Argo CD's Application (`kubernetes.rollup`).
"""

from phaseline.machines.kinds.kubernetes.health.reader import ManifestPart
from phaseline.machines.kinds.kubernetes.health.result import HealthResult, degraded, healthy, progressing, unknown
from phaseline.machines.kinds.kubernetes.profiles import Profile

UNASSIGNED = "no load balancer is assigned yet"
"""The message where none is assigned. Argo CD gives none."""


def ingress(live: ManifestPart, profile: Profile) -> HealthResult:
    """Ingress of any version."""
    return healthy() if _is_assigned(live) else progressing("" if profile.follows_argo else UNASSIGNED)


def service(live: ManifestPart, profile: Profile) -> HealthResult:
    """v1 Service."""
    waits = live.map("spec").text("type") == "LoadBalancer" and not _is_assigned(live)
    return progressing("" if profile.follows_argo else UNASSIGNED) if waits else healthy()


def api_service(live: ManifestPart, _: Profile) -> HealthResult:
    """apiregistration.k8s.io APIService. Never Degraded."""
    for condition in live.map("status").maps("conditions"):
        if condition.text("type") == "Available":
            message = f"{condition.text('reason')}: {condition.text('message')}"
            return healthy(message) if condition.text("status") == "True" else progressing(message)
    return progressing("no condition Available yet")


def _is_assigned(live: ManifestPart) -> bool:
    """Whether a load balancer is assigned."""
    found = live.map("status").map("loadBalancer").found.get("ingress")
    return isinstance(found, list) and bool(found)


PROVISIONERS = ("volume.kubernetes.io/storage-provisioner", "volume.beta.kubernetes.io/storage-provisioner")
"""The annotations by which a claim is handed to the program that makes its volume."""
NOBODY = "no provisioner has begun: it may wait for the first Pod that uses it (WaitForFirstConsumer)"


def volume_claim(live: ManifestPart, profile: Profile) -> HealthResult:
    """v1 PersistentVolumeClaim."""
    rules = {"Bound": healthy, "Pending": progressing, "Lost": degraded}
    phase = live.map("status").text("phase")
    if phase not in rules:
        return unknown(f"its phase is {phase}" if phase else "no phase has been reported yet")
    if phase == "Lost" and not profile.follows_argo:
        return degraded("its volume is gone")
    if phase == "Pending" and not profile.follows_argo:
        annotations = live.map("metadata").map("annotations")
        return progressing("" if any(map(annotations.has, PROVISIONERS)) else NOBODY)
    return rules[phase]()


def workflow(live: ManifestPart, _: Profile) -> HealthResult:
    """argoproj.io Workflow."""
    status = live.map("status")
    rules = {"Succeeded": healthy, "Failed": degraded, "Error": degraded}
    rules |= dict.fromkeys(("", "Pending", "Running"), progressing)
    phase, message = status.text("phase"), status.text("message")
    if phase not in rules:
        return unknown(message or f"its phase is {phase}, which is not known")
    return rules[phase](message)
