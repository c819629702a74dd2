"""Health of what runs containers, for ever or to an end (spec: GitOps, Health by kind; behaviour 1.1).

Belongs here: Pod and Job. Does not: what keeps Pods running (`workloads`).
"""

from collections.abc import Iterator

from phaseline.machines.health.part import Part
from phaseline.machines.health.verdict import Health, degraded, healthy, paused, progressing, unknown
from phaseline.machines.profiles import Profile

IGNORE_RESTART_POLICY = "argocd.argoproj.io/ignore-restart-policy"
HOOK, HELM_HOOK = "argocd.argoproj.io/hook", "helm.sh/hook"
BACK_OFF = "BackOff"


def is_hook(metadata: Part) -> bool:
    """Whether something is run around a synchronisation rather than kept. Argo CD's word counts before Helm's."""
    annotations = metadata.map("annotations")
    if annotations.has(HOOK):
        words = [word.strip() for word in annotations.text(HOOK).split(",")]
        return words != ["Skip"]
    return annotations.has(HELM_HOOK) and annotations.text(HELM_HOOK) != "crd-install"


def pod(live: Part, profile: Profile) -> Health:
    """v1 Pod: by its containers, then by its phase."""
    status, phase = live.map("status"), live.map("status").text("phase")
    lasting = _is_long_lived(live)
    stuck = [*_stuck(status)] if lasting else []
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
        return progressing(message)
    return unknown(message)


def _is_long_lived(live: Part) -> bool:
    metadata = live.map("metadata")
    always = live.map("spec").text("restartPolicy") == "Always"
    return always or (metadata.map("annotations").text(IGNORE_RESTART_POLICY) == "true" and not is_hook(metadata))


def _stuck(status: Part) -> Iterator[str]:
    """The messages of main containers that wait with an error."""
    for container in status.maps("containerStatuses"):
        waiting = container.map("state").map("waiting")
        reason = waiting.text("reason")
        if reason.startswith("Err") or reason.endswith(("Error", BACK_OFF)):
            yield waiting.text("message") or reason


def _backing_off(status: Part) -> Iterator[str]:
    """The messages of init containers, sidecars among them, that wait in a back-off."""
    for container in status.maps("initContainerStatuses"):
        waiting = container.map("state").map("waiting")
        if waiting.text("reason").endswith(BACK_OFF):
            yield waiting.text("message") or f'init container "{container.text("name")}": {waiting.text("reason")}'


def _failure(status: Part) -> str:
    """Why a Pod failed that does not say so itself: its first container that tells."""
    for container in (*status.maps("initContainerStatuses"), *status.maps("containerStatuses")):
        name, ended = container.text("name"), container.map("state").map("terminated")
        if ended.text("message"):
            return ended.text("message")
        if ended.text("reason") == "OOMKilled":
            return f'container "{name}" ran out of memory (OOMKilled)'
        if (code := ended.count("exitCode")) != 0:
            return f'container "{name}" failed with exit code {code}'
    return ""


def _running(status: Part, profile: Profile) -> Health:
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


def job(live: Part, profile: Profile) -> Health:
    """batch/v1 Job: that a condition is there counts, whatever its status, except for Suspended."""
    status = live.map("status")
    conditions = [*status.maps("conditions")]
    failed = [one for one in conditions if one.text("type") == "Failed"]
    suspended = [one for one in conditions if one.text("type") == "Suspended"]
    complete = [one for one in conditions if one.text("type") == "Complete"]
    if failed:
        return degraded(failed[0].text("message"))
    if any(one.text("status") == "True" for one in suspended):
        return paused(suspended[0].text("message"))
    if complete or suspended:
        return healthy((complete or suspended)[0].text("message"))
    if profile.counts_jobs and status.count("succeeded") >= 1:
        return healthy()
    return progressing()
