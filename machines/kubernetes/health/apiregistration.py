"""Health of aggregated APIs. Belongs here: APIService. Does not: the Service behind it (`network`)."""

from phaseline.machines.kubernetes.health.reader import ManifestPart
from phaseline.machines.kubernetes.health.result import HealthResult, healthy, progressing
from phaseline.machines.kubernetes.profiles import Profile


def api_service(live: ManifestPart, _: Profile) -> HealthResult:
    """apiregistration.k8s.io APIService. Never Degraded."""
    for condition in live.map("status").maps("conditions"):
        if condition.text("type") == "Available":
            message = f"{condition.text('reason')}: {condition.text('message')}"
            return healthy(message) if condition.text("status") == "True" else progressing(message)
    return progressing("no condition Available yet")
