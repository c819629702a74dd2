"""Health of Argo's own kinds. Belongs here: Workflow. Does not: Argo CD's Application (`kubernetes.rollup`)."""

from phaseline.machines.kinds.kubernetes.health.reader import ManifestPart
from phaseline.machines.kinds.kubernetes.health.result import HealthResult, degraded, healthy, progressing, unknown
from phaseline.machines.kinds.kubernetes.profiles import Profile


def workflow(live: ManifestPart, _: Profile) -> HealthResult:
    """argoproj.io Workflow."""
    status = live.map("status")
    rules = {"Succeeded": healthy, "Failed": degraded, "Error": degraded}
    rules |= dict.fromkeys(("", "Pending", "Running"), progressing)
    phase, message = status.text("phase"), status.text("message")
    if phase not in rules:
        return unknown(message or f"its phase is {phase}, which is not known")
    return rules[phase](message)
