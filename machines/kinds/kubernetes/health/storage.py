"""Health of storage. Belongs here: PersistentVolumeClaim. Does not: the Pods that mount it (`pods`)."""

from phaseline.machines.kinds.kubernetes.health.reader import ManifestPart
from phaseline.machines.kinds.kubernetes.health.result import HealthResult, degraded, healthy, progressing, unknown
from phaseline.machines.kinds.kubernetes.profiles import Profile

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
