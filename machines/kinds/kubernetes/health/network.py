"""Health of what requests go through.

Belongs here: Ingress, Service, APIService. Does not: the Gateway API (`kubernetes.known`).
"""

from phaseline.machines.kinds.kubernetes.health.reader import ManifestPart
from phaseline.machines.kinds.kubernetes.health.result import HealthResult, healthy, progressing
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
