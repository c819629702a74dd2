"""Health of networking. Belongs here: Ingress, Service. Does not: APIService (`apiregistration`)."""

from phaseline.machines.kubernetes.health.reader import ManifestPart
from phaseline.machines.kubernetes.health.result import HealthResult, healthy, progressing
from phaseline.machines.kubernetes.profiles import Profile


def ingress(live: ManifestPart, _: Profile) -> HealthResult:
    """Ingress of any version."""
    return healthy() if _is_assigned(live) else progressing()


def service(live: ManifestPart, _: Profile) -> HealthResult:
    """v1 Service."""
    waits = live.map("spec").text("type") == "LoadBalancer" and not _is_assigned(live)
    return progressing() if waits else healthy()


def _is_assigned(live: ManifestPart) -> bool:
    """Whether a load balancer is assigned."""
    found = live.map("status").map("loadBalancer").found.get("ingress")
    return isinstance(found, list) and bool(found)
