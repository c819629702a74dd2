"""The adapters for Fleet's own objects: GitRepo, Bundle, BundleDeployment (docs/spec/fleet.md, Fleet's own objects).

Belongs here: their ids and their lists of resources as events. Does not: counts, which follow from the states.
"""

from collections.abc import Iterator, Mapping
from typing import Any

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

GROUP = "fleet.cattle.io"
REPO, BUNDLE, CLUSTER, NAMESPACE = (
    f"{GROUP}/{name}" for name in ("repo-name", "bundle-name", "cluster", "cluster-namespace")
)


def git_repo(manifest: Manifest, *, gone: bool) -> Iterator[ObservedEvent]:
    """The event of a GitRepo: which commit was fetched, or why fetching failed."""
    name, known = text(mapping(manifest, "metadata"), "name"), conditions(manifest)
    if gone:
        yield ObservedEvent("git_repo", "removed", name)
        return
    bad = [known.get(kind, {}) for kind, status in (("GitPolling", "False"), ("Accepted", "False"), ("Stalled", "True"))
           if known.get(kind, {}).get("status") == status]  # fmt: skip
    if bad:
        yield ObservedEvent("git_repo", "fetch_failed", name, without_empty(message=text(bad[0], "message")[:4096]))
    elif text(mapping(manifest, "status"), "commit"):
        yield ObservedEvent("git_repo", "fetched", name, {"commit": text(mapping(manifest, "status"), "commit")})
    else:
        yield ObservedEvent("git_repo", "created", name, without_empty(url=text(mapping(manifest, "spec"), "repo")))


def bundle(manifest: Manifest, *, gone: bool) -> Iterator[ObservedEvent]:
    """The event of a Bundle: that it exists, or was removed."""
    name = text(mapping(manifest, "metadata"), "name")
    repo = text(mapping(manifest, "metadata", "labels"), REPO) or name
    yield ObservedEvent("bundle", "removed" if gone else "created", f"{repo}/{name}")


def bundle_deployment(manifest: Manifest, *, gone: bool) -> Iterator[ObservedEvent]:
    """The events of a BundleDeployment: its deployment ids, a failure to apply, its flags, its resources."""
    metadata = mapping(manifest, "metadata")
    labels = mapping(metadata, "labels")
    name = text(labels, BUNDLE) or text(metadata, "name")
    entity_id = "/".join([text(labels, REPO) or name, name, _cluster(labels, metadata)])
    if gone:
        yield ObservedEvent("bundle_deployment", "removed", entity_id)
        return
    spec, status = mapping(manifest, "spec"), mapping(manifest, "status")
    wanted, staged, applied = (
        text(spec, "deploymentID"),
        text(spec, "stagedDeploymentID"),
        text(status, "appliedDeploymentID"),
    )
    for trigger, ident in (("target", wanted), ("staged", staged), ("applied", applied)):
        if ident:
            yield ObservedEvent("bundle_deployment", trigger, entity_id, {"deployment_id": ident})
    failed = conditions(manifest).get("Deployed", {})
    if wanted and wanted != applied and failed.get("status") == "False":
        message = without_empty(message=text(failed, "message")[:4096])
        yield ObservedEvent("bundle_deployment", "apply_failed", entity_id, message, [wanted, message])
    if applied:
        # The condition Installed counts only if the applied version is the wanted one.
        names = ("Deployed", *(("Installed",) if wanted in ("", applied) else ()), "Monitored", "Ready")
        known = (conditions(manifest).get(name, {}) for name in names)
        why = next((text(one, "message") for one in known if one.get("status") == "False" and text(one, "message")), "")
        # Fleet leaves out flags that are false.
        flags = {"ready": status.get("ready") is True, "unmodified": status.get("nonModified") is True}
        yield ObservedEvent("bundle_deployment", "reported", entity_id, {**flags, **without_empty(message=why[:4096])})
    for end, (trigger, why) in sorted(_resources(status).items()):
        yield ObservedEvent(
            "bundle_resource", trigger, f"{entity_id}/{end}", without_empty(message=why[:4096]), [trigger, why]
        )


def _cluster(labels: Manifest, metadata: Manifest) -> str:
    """`<namespace>+<name>` of the cluster: several clusters may have the same name."""
    parts = [text(labels, NAMESPACE), text(labels, CLUSTER) or text(metadata, "namespace") or "-"]
    return "+".join(filter(None, parts))


def _resources(status: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """The trigger and the message of each resource. If the lists are cut off, those in no list are left out."""
    found: dict[str, tuple[str, str]] = {}
    if status.get("incompleteState") is not True:
        found = {_end(one): ("ready", "") for one in maps(status, "resources")}
    for one in maps(status, "nonReadyStatus"):
        summary = mapping(one, "summary")
        messages = summary.get("message")
        words = [
            text(summary, "state"),
            *(one for one in (messages if isinstance(messages, list) else ()) if isinstance(one, str)),
        ]
        found[_end(one)] = ("not_ready", ": ".join(filter(None, words)))
    for one in maps(status, "modifiedStatus"):
        trigger = "missing" if one.get("missing") else "orphaned" if one.get("delete") else "modified"
        found[_end(one)] = (trigger, text(one, "patch") if trigger == "modified" else "")
    return found


def _end(one: Manifest) -> str:
    group, slash, _ = text(one, "apiVersion").partition("/")
    return id_suffix(ObjectKey(group if slash else "", text(one, "kind"), text(one, "namespace"), text(one, "name")))
