"""Health of the controllers that keep Pods running. In each rule the first match wins.

Belongs here: Deployment, StatefulSet, ReplicaSet, DaemonSet. Does not: Pod and Job (`pods`).
"""

from phaseline.machines.kinds.kubernetes.health.reader import ManifestPart
from phaseline.machines.kinds.kubernetes.health.result import HealthResult, degraded, healthy, paused, progressing
from phaseline.machines.kinds.kubernetes.health.view import evidence_of
from phaseline.machines.kinds.kubernetes.profiles import Profile

ON_DELETE, ROLLING_UPDATE = "OnDelete", "RollingUpdate"
DESIRED = "desiredNumberScheduled"


def _behind(live: ManifestPart, status: ManifestPart) -> HealthResult | None:
    """Progressing if the controller has not observed the newest spec yet."""
    wanted, seen = live.map("metadata").count("generation"), status.count("observedGeneration")
    if wanted > seen:
        return progressing(f"generation {wanted} has not been observed yet, the last one that was is {seen}")
    return None


def _wanted(spec: ManifestPart, profile: Profile) -> int | None:
    """How many replicas are wanted: 1 if the spec does not say, which Argo CD takes for any number."""
    found = spec.number("replicas")
    return 1 if found is None and not profile.follows_argo else found


def deployment(live: ManifestPart, profile: Profile) -> HealthResult:
    """apps/v1 Deployment."""
    spec, status = live.map("spec"), live.map("status")
    if spec.flag("paused"):
        return paused("Deployment is paused")
    if (behind := _behind(live, status)) is not None:
        return behind
    condition = next((one for one in status.maps("conditions") if one.text("type") == "Progressing"), None)
    if condition is not None and condition.text("reason") == "ProgressDeadlineExceeded":
        return degraded(f'Deployment "{live.map("metadata").text("name")}" exceeded its progress deadline').resting_on(
            evidence_of(condition.found)
        )
    return _rolled_out(_wanted(spec, profile), status) or healthy()


def _rolled_out(wanted: int | None, status: ManifestPart) -> HealthResult | None:
    """Progressing until all replicas are new and available, with the reason why Pods cannot be made."""
    updated = status.count("updatedReplicas")
    said = ""
    if wanted is not None and updated < wanted:
        said = f"{updated} of {wanted} replicas are new"
    elif (old := status.count("replicas") - updated) > 0:
        said = f"{old} old replicas are pending termination..."
    elif (available := status.count("availableReplicas")) < updated:
        said = f"{available} of {updated} new replicas are available"
    if not said:
        return None
    failures = (one for one in status.maps("conditions") if one.text("type") == "ReplicaFailure")
    failure = next((one for one in failures if one.text("status") == "True"), None)
    if failure is None:
        return progressing(f"Waiting for rollout to finish: {said}")
    why = failure.text("message") or failure.text("reason")
    return progressing(f"Waiting for rollout to finish: {said}: {why}").resting_on(evidence_of(failure.found))


def stateful_set(live: ManifestPart, profile: Profile) -> HealthResult:
    """apps/v1 StatefulSet. Never Degraded. Progressing until the controller has observed any generation."""
    spec, status = live.map("spec"), live.map("status")
    strategy, wanted, ready = spec.map("updateStrategy"), _wanted(spec, profile), status.count("readyReplicas")
    behind = _behind(live, status)
    if behind is not None or status.count("observedGeneration") == 0:
        return behind or progressing("no generation has been observed yet")
    if wanted is not None and ready < wanted:
        return progressing(f"Waiting for {wanted - ready} of {wanted} pods to be ready")
    if strategy.text("type") == ROLLING_UPDATE and strategy.has("rollingUpdate"):
        return _partitioned(strategy.map("rollingUpdate").number("partition"), wanted, status.count("updatedReplicas"))
    if strategy.text("type") != ON_DELETE and status.text("updateRevision") != status.text("currentRevision"):
        return progressing(f"Waiting for {status.count('updatedReplicas')} pods to go over to the new revision")
    return healthy(f"statefulset has {ready} ready pods")


def _partitioned(partition: int | None, wanted: int | None, updated: int) -> HealthResult:
    if wanted is not None and partition is not None and updated < wanted - partition:
        return progressing(f"Waiting for the partition's rollout: {updated} of {wanted - partition} pods are new")
    return healthy(f"the partition's rollout is complete: {updated} pods are new")


def replica_set(live: ManifestPart, profile: Profile) -> HealthResult:
    """apps/v1 ReplicaSet."""
    status = live.map("status")
    if (behind := _behind(live, status)) is not None:
        return behind
    for condition in status.maps("conditions"):
        if condition.text("type") == "ReplicaFailure" and condition.text("status") == "True":
            return degraded(condition.text("message")).resting_on(evidence_of(condition.found))
    wanted, available = _wanted(live.map("spec"), profile), status.count("availableReplicas")
    if wanted is not None and available < wanted:
        return progressing(f"{available} of {wanted} replicas are available")
    return healthy()


def daemon_set(live: ManifestPart, profile: Profile) -> HealthResult:
    """apps/v1 DaemonSet. Never Degraded."""
    status = live.map("status")
    if (behind := _behind(live, status)) is not None:
        return behind
    if not status.has(DESIRED) and not profile.follows_argo:
        return progressing("it does not say yet on how many nodes it is to run")
    wanted, updated = status.count(DESIRED), status.count("updatedNumberScheduled")
    available = status.count("numberAvailable")
    if live.map("spec").map("updateStrategy").text("type") == ON_DELETE:
        if available < wanted and not profile.follows_argo:
            return progressing(f"{available} of {wanted} pods are available")
        return healthy(f"daemon set {updated} out of {wanted} new pods have been updated")
    if updated < wanted:
        return progressing(f"{updated} of {wanted} pods are new")
    if available < wanted:
        return progressing(f"{available} of {wanted} pods are available")
    return healthy()
