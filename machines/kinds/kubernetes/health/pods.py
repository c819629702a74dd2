"""Health of Pod and Job, and which objects are hooks.

Hooks run around a synchronisation and are not part of the application.
Belongs here: these two rules, the annotations of hooks. Does not: controllers that keep Pods running (`workloads`).
"""

from collections.abc import Iterator, Sequence

from phaseline.machines.kinds.kubernetes.health.reader import ManifestPart, UnreadableManifest
from phaseline.machines.kinds.kubernetes.health.result import (
    Evidence,
    HealthResult,
    degraded,
    healthy,
    paused,
    progressing,
    unknown,
)
from phaseline.machines.kinds.kubernetes.health.view import evidence_of
from phaseline.machines.kinds.kubernetes.profiles import HEALTHY, Profile

IGNORE_RESTART_POLICY = "argocd.argoproj.io/ignore-restart-policy"
BACK_OFF = "BackOff"


def pod(live: ManifestPart, profile: Profile) -> HealthResult:
    """v1 Pod: containers first, then the phase. What is not well names the containers that say why."""
    found = _judged(live, profile)
    if found.status == HEALTHY:
        return found
    told = _told(live.map("status"))
    why = told[0].message or told[0].reason if told and not profile.follows_argo else ""
    return HealthResult(found.status, found.message or why, (*told,))


def _judged(live: ManifestPart, profile: Profile) -> HealthResult:
    status, phase = live.map("status"), live.map("status").text("phase")
    lasting = _is_long_lived(live)
    stuck = [*_stuck(status, names_reason=not profile.follows_argo)] if lasting else []
    if profile.sees_init:
        stuck += _backing_off(status)
    if stuck:
        return degraded(", ".join(stuck))
    message = status.text("message")
    if phase == "Pending":
        return progressing(message)
    if phase == "Succeeded":
        return healthy(message)
    if phase == "Failed":
        return degraded(message or _failure(status))
    if phase == "Running" and lasting:
        return _running(status, profile)
    if phase == "Running" and live.map("spec").text("restartPolicy") in ("OnFailure", "Never"):
        return _running_once(live, profile, message)
    return unknown(message or (f"its phase is {phase}" if phase else "no phase has been reported yet"))


def _running_once(live: ManifestPart, profile: Profile, message: str) -> HealthResult:
    """A running Pod that is not restarted always. One that a controller keeps is there to stay."""
    policy = live.map("spec").text("restartPolicy")
    owned = any(one.flag("controller") for one in live.map("metadata").maps("ownerReferences"))
    ready = (one for one in live.map("status").maps("conditions") if one.text("type") == "Ready")
    if policy != "Never" or not owned or not any(one.text("status") == "True" for one in ready):
        return progressing(message)
    if profile.follows_argo:
        return progressing(message or "it runs and is ready; with restartPolicy Never it counts once it has ended")
    return healthy(message)


def _is_long_lived(live: ManifestPart) -> bool:
    metadata = live.map("metadata")
    always = live.map("spec").text("restartPolicy") == "Always"
    return always or (metadata.map("annotations").text(IGNORE_RESTART_POLICY) == "true" and not is_hook(metadata))


def _stuck(status: ManifestPart, *, names_reason: bool) -> Iterator[str]:
    """Messages of main containers that are waiting with an error. names_reason: with the reason in front."""
    for container in status.maps("containerStatuses"):
        waiting = container.map("state").map("waiting")
        reason = waiting.text("reason")
        if reason.startswith("Err") or reason.endswith(("Error", BACK_OFF)):
            message = waiting.text("message")
            yield f"{reason}: {message}" if names_reason and message and reason not in message else message or reason


def _told(status: ManifestPart) -> Sequence[Evidence]:
    """The evidence. A part of the status that cannot be read decides nothing here."""
    try:
        return [*_evidence(status)]
    except UnreadableManifest:
        return ()


def _evidence(status: ManifestPart) -> Iterator[Evidence]:
    """What the Pod says of why it is not well: it fits nowhere, its containers wait, or have ended with a failure."""
    for one in status.maps("conditions"):
        if one.text("type") == "PodScheduled" and one.text("status") == "False":
            yield evidence_of(one.found)
    for container in (*status.maps("initContainerStatuses"), *status.maps("containerStatuses")):
        name, state = f"container {container.text('name')}", container.map("state")
        waiting, ended = state.map("waiting"), state.map("terminated")
        if waiting.text("reason"):
            yield Evidence(name, "waiting", waiting.text("reason"), waiting.text("message"))
        if _failed(ended):
            yield _end(name, "terminated", ended)
        if _failed(last := container.map("lastState").map("terminated")):
            yield _end(f"the last run of {name}", "over", last)


def _failed(ended: ManifestPart) -> bool:
    return ended.count("exitCode") != 0 or ended.text("reason") not in ("", "Completed")


def _end(name: str, status: str, ended: ManifestPart) -> Evidence:
    """How a container ended: `exit code 137, OOMKilled`, and when."""
    signal = ended.count("signal")
    words = (f"exit code {ended.count('exitCode')}", f"signal {signal}" if signal else "", ended.text("reason"))
    return Evidence(name, status, ", ".join(filter(None, words)), ended.text("message"), ended.text("finishedAt"))


def _backing_off(status: ManifestPart) -> Iterator[str]:
    """Messages of init containers and sidecars that are waiting in a back-off."""
    for container in status.maps("initContainerStatuses"):
        waiting = container.map("state").map("waiting")
        if waiting.text("reason").endswith(BACK_OFF):
            yield waiting.text("message") or f'init container "{container.text("name")}": {waiting.text("reason")}'


def _failure(status: ManifestPart) -> str:
    """The reason for a failed Pod without a message: the first container that gives one, else the Pod's own."""
    for container in (*status.maps("initContainerStatuses"), *status.maps("containerStatuses")):
        name, ended = container.text("name"), container.map("state").map("terminated")
        if ended.text("message"):
            return ended.text("message")
        if ended.text("reason") == "OOMKilled":
            return f'container "{name}" ran out of memory (OOMKilled)'
        if (code := ended.count("exitCode")) != 0:
            return f'container "{name}" failed with exit code {code}'
    return status.text("reason")


def _running(status: ManifestPart, profile: Profile) -> HealthResult:
    message = status.text("message")
    containers = [*status.maps("containerStatuses")]
    conditions = status.maps("conditions")
    if any(one.text("type") == "Ready" and one.text("status") == "True" for one in conditions):
        for container in containers if profile.restarts is not None else ():
            if (restarts := container.count("restartCount")) > (profile.restarts or 0):
                return degraded(f'container "{container.text("name")}" has been restarted {restarts} times')
        return healthy(message)
    if any(container.map("lastState").has("terminated") for container in containers):
        return degraded(message)
    return progressing(message)


def job(live: ManifestPart, profile: Profile) -> HealthResult:
    """batch/v1 Job. In the profiles of Argo CD a condition counts if it is present, whatever its status."""
    return _job_by_conditions(live) if profile.follows_argo else _job(live)


def _job_by_conditions(live: ManifestPart) -> HealthResult:
    """As Argo CD reads a Job: only Suspended must be True."""
    conditions = [*live.map("status").maps("conditions")]
    failed, suspended, complete = (
        [one for one in conditions if one.text("type") == name] for name in ("Failed", "Suspended", "Complete")
    )
    if failed:
        return degraded(failed[0].text("message"))
    if any(one.text("status") == "True" for one in suspended):
        return paused(suspended[0].text("message"))
    if complete or suspended:
        return healthy((complete or suspended)[0].text("message"))
    return progressing()


def _job(live: ManifestPart) -> HealthResult:
    """A Job by the conditions that are True, and by how often it has succeeded.

    FailureTarget: it will fail once its Pods have ended.
    """
    spec, status = live.map("spec"), live.map("status")
    true = {one.text("type"): one for one in status.maps("conditions") if one.text("status") == "True"}
    for name, verdict in (
        ("Failed", degraded),
        ("FailureTarget", degraded),
        ("Suspended", paused),
        ("Complete", healthy),
    ):
        if (found := true.get(name)) is not None:
            return verdict(found.text("message") or found.text("reason")).resting_on(evidence_of(found.found))
    succeeded, wanted = status.count("succeeded"), spec.number("completions") or 1
    if succeeded >= wanted:
        return healthy()
    if spec.flag("suspend"):
        return paused("it is suspended")
    failed = status.count("failed")
    return progressing(f"{succeeded} of {wanted} completions{f', {failed} Pods have failed' if failed else ''}")


HOOK, HELM_HOOK = "argocd.argoproj.io/hook", "helm.sh/hook"


def is_hook(metadata: ManifestPart) -> bool:
    """Whether an object is a hook. Argo CD's annotation takes precedence over Helm's."""
    if "annotations" not in metadata.found:
        return False
    annotations = metadata.map("annotations")
    if annotations.has(HOOK):
        words = [word.strip() for word in annotations.text(HOOK).split(",")]
        return words != ["Skip"]
    return annotations.has(HELM_HOOK) and annotations.text(HELM_HOOK) != "crd-install"
