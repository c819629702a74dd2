"""The adapters for Argo CD's own objects: Application and ApplicationSet (docs/spec/gitops.md, What observe publishes).

Belongs here: their settings, operations and conditions as events. Does not: the objects that an application deploys
(`generic`), whose an object is (`ownership`).
"""

from collections.abc import Iterator

from phaseline.engine.observe.events import (
    Manifest,
    ObservedEvent,
    conditions,
    id_suffix,
    mapping,
    maps,
    text,
    without_empty,
)
from phaseline.machines.kubernetes.pairs import ObjectKey

UNDER_WAY, OVER = ("Running", "Terminating"), ("Succeeded", "Failed", "Error")
DESTINATION = {"namespace": "namespace", "server": "server", "cluster": "name"}
RULE = ("group", "kind", "name", "namespace", "jsonPointers", "jqPathExpressions", "managedFieldsManagers")
CONDITIONS = {
    "ErrorOccurred": "error_occurred",
    "RolloutProgressing": "rollout_progressing",
    "ResourcesUpToDate": "resources_up_to_date",
}


def application(manifest: Manifest, entity_id: str, *, gone: bool) -> Iterator[ObservedEvent]:
    """The events of an Application: its settings, and the state of its last operation."""
    if gone:
        yield ObservedEvent("application", "removed", entity_id)
        return
    spec = mapping(manifest, "spec")
    to = mapping(spec, "destination")
    rules = [{name: value for name, value in one.items() if name in RULE} for one in maps(spec, "ignoreDifferences")]
    names = {ours: text(to, theirs) for ours, theirs in DESTINATION.items()}
    yield ObservedEvent(
        "application",
        "configure",
        entity_id,
        {"profile": "argocd", "ignore_differences": rules, **without_empty(**names)},
    )
    yield from _operation(manifest, entity_id)


def _operation(manifest: Manifest, entity_id: str) -> Iterator[ObservedEvent]:
    state = mapping(manifest, "status", "operationState")
    phase, result = text(state, "phase"), mapping(state, "syncResult")
    revision = text(result, "revision") or text(mapping(state, "operation", "sync"), "revision")
    began = text(state, "startedAt")
    if phase in UNDER_WAY:
        automatic = bool(mapping(state, "operation", "initiatedBy").get("automated"))
        yield ObservedEvent(
            "application", "sync", entity_id, without_empty(revision=revision, automatic=automatic or None), began
        )
    elif phase in OVER:
        data = without_empty(result=phase, revision=revision, message=text(state, "message")[:4096])
        yield ObservedEvent("application", "sync_finished", entity_id, data, [began, text(state, "finishedAt")])
        for one in maps(result, "resources"):
            key = ObjectKey(text(one, "group"), text(one, "kind"), text(one, "namespace"), text(one, "name"))
            if one.get("status") == "SyncFailed" and key.kind and key.name:
                why = without_empty(reason="SyncFailed", message=text(one, "message")[:4096])
                yield ObservedEvent("resource", "sync_failed", f"{entity_id}/{id_suffix(key)}", why, [began, why])


def application_set(manifest: Manifest, entity_id: str, *, gone: bool) -> Iterator[ObservedEvent]:
    """The events of an ApplicationSet: its profile, and what its controller reports."""
    if gone:
        yield ObservedEvent("application_set", "removed", entity_id)
        return
    yield ObservedEvent("application_set", "configure", entity_id, {"profile": "argocd"})
    known = conditions(manifest)
    reported = {ours: known[theirs].get("status") == "True" for theirs, ours in CONDITIONS.items() if theirs in known}
    if reported:
        yield ObservedEvent("application_set", "reported", entity_id, reported)
