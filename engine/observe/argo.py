"""What Argo CD's own objects say: Application and ApplicationSet (docs/spec/gitops.md, What observe publishes).

Belongs here: their settings, operations and conditions as events. Does not: the objects that an application deploys (`plain`).
"""

from collections.abc import Iterator

from phaseline.engine.observe.events import Manifest, ObservedEvent, conditions, given, members, part, token, word
from phaseline.machines.kubernetes.pairs import ObjectKey

GROUP = "argoproj.io"
UNDER_WAY, OVER = ("Running", "Terminating"), ("Succeeded", "Failed", "Error")
DESTINATION = {"namespace": "namespace", "server": "server", "cluster": "name"}
RULE = ("group", "kind", "name", "namespace", "jsonPointers", "jqPathExpressions", "managedFieldsManagers")
CONDITIONS = {
    "ErrorOccurred": "error_occurred",
    "RolloutProgressing": "rollout_progressing",
    "ResourcesUpToDate": "resources_up_to_date",
}


def application_id(found: Manifest) -> str:
    """Its id: the set that owns it, or its own name where none does, then its name."""
    name = word(part(found, "metadata"), "name")
    owners = members(part(found, "metadata"), "ownerReferences")
    owner = next((word(one, "name") for one in owners if one.get("kind") == "ApplicationSet"), name)
    return f"{owner}/{name}"


def application(found: Manifest, *, gone: bool) -> Iterator[ObservedEvent]:
    """Its settings, and what became of its last operation."""
    entity_id = application_id(found)
    if gone:
        yield ObservedEvent("application", "removed", entity_id)
        return
    spec = part(found, "spec")
    to = part(spec, "destination")
    rules = [{name: value for name, value in one.items() if name in RULE} for one in members(spec, "ignoreDifferences")]
    names = {ours: word(to, theirs) for ours, theirs in DESTINATION.items()}
    yield ObservedEvent(
        "application", "configure", entity_id, {"profile": "argocd", "ignore_differences": rules, **given(**names)}
    )
    yield from _operation(found, entity_id)


def _operation(found: Manifest, entity_id: str) -> Iterator[ObservedEvent]:
    state = part(found, "status", "operationState")
    phase, result = word(state, "phase"), part(state, "syncResult")
    revision = word(result, "revision") or word(part(state, "operation", "sync"), "revision")
    began = word(state, "startedAt")
    if phase in UNDER_WAY:
        automatic = bool(part(state, "operation", "initiatedBy").get("automated"))
        yield ObservedEvent(
            "application", "sync", entity_id, given(revision=revision, automatic=automatic or None), began
        )
    elif phase in OVER:
        data = given(result=phase, revision=revision, message=word(state, "message")[:4096])
        yield ObservedEvent("application", "sync_finished", entity_id, data, [began, word(state, "finishedAt")])
        for one in members(result, "resources"):
            key = ObjectKey(word(one, "group"), word(one, "kind"), word(one, "namespace"), word(one, "name"))
            if one.get("status") == "SyncFailed" and key.kind and key.name:
                why = given(reason="SyncFailed", message=word(one, "message")[:4096])
                yield ObservedEvent("resource", "sync_failed", f"{entity_id}/{token(key)}", why, [began, why])


def application_set(found: Manifest, *, gone: bool) -> Iterator[ObservedEvent]:
    """Its profile, and what its controller reports."""
    name = word(part(found, "metadata"), "name")
    if gone:
        yield ObservedEvent("application_set", "removed", name)
        return
    yield ObservedEvent("application_set", "configure", name, {"profile": "argocd"})
    known = conditions(found)
    reported = {ours: known[theirs].get("status") == "True" for theirs, ours in CONDITIONS.items() if theirs in known}
    if reported:
        yield ObservedEvent("application_set", "reported", name, reported)
