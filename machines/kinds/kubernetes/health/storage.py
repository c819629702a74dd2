"""Health of storage. Belongs here: PersistentVolumeClaim. Does not: the Pods that mount it (`pods`)."""

from phaseline.machines.kinds.kubernetes.health.reader import ManifestPart
from phaseline.machines.kinds.kubernetes.health.result import HealthResult, degraded, healthy, progressing, unknown
from phaseline.machines.kinds.kubernetes.profiles import Profile


def volume_claim(live: ManifestPart, _: Profile) -> HealthResult:
    """v1 PersistentVolumeClaim."""
    rules = {"Bound": healthy, "Pending": progressing, "Lost": degraded}
    phase = live.map("status").text("phase")
    if phase not in rules:
        return unknown(f"its phase is {phase}" if phase else "no phase has been reported yet")
    return rules[phase]()
