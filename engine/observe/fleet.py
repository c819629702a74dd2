"""What Fleet's own objects say: GitRepo, Bundle, BundleDeployment (docs/spec/fleet.md, Fleet's own objects).

Belongs here: their ids, and their lists of resources, as events. Does not: counts, which follow from the states.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from phaseline.engine.observe.events import Manifest, ObservedEvent, conditions, given, members, part, token, word
from phaseline.machines.kubernetes.pairs import ObjectKey

GROUP = "fleet.cattle.io"
REPO, BUNDLE, CLUSTER, NAMESPACE = (
    f"{GROUP}/{name}" for name in ("repo-name", "bundle-name", "cluster", "cluster-namespace")
)


def git_repo(found: Manifest, *, gone: bool) -> Iterator[ObservedEvent]:
    """What was fetched, or that it could not be."""
    name, known = word(part(found, "metadata"), "name"), conditions(found)
    if gone:
        yield ObservedEvent("git_repo", "removed", name)
        return
    bad = [known.get(kind, {}) for kind, status in (("GitPolling", "False"), ("Accepted", "False"), ("Stalled", "True"))
           if known.get(kind, {}).get("status") == status]  # fmt: skip
    if bad:
        yield ObservedEvent("git_repo", "fetch_failed", name, given(message=word(bad[0], "message")[:4096]))
    elif word(part(found, "status"), "commit"):
        yield ObservedEvent("git_repo", "fetched", name, {"commit": word(part(found, "status"), "commit")})
    else:
        yield ObservedEvent("git_repo", "created", name, given(url=word(part(found, "spec"), "repo")))


def bundle(found: Manifest, *, gone: bool) -> Iterator[ObservedEvent]:
    """That it is there."""
    name = word(part(found, "metadata"), "name")
    repo = word(part(found, "metadata", "labels"), REPO) or name
    yield ObservedEvent("bundle", "removed" if gone else "created", f"{repo}/{name}")


def bundle_deployment(found: Manifest, *, gone: bool) -> Iterator[ObservedEvent]:
    """Its ids, whether applying failed, and each of its resources."""
    metadata = part(found, "metadata")
    labels = part(metadata, "labels")
    name = word(labels, BUNDLE) or word(metadata, "name")
    entity_id = "/".join([word(labels, REPO) or name, name, _cluster(labels, metadata)])
    if gone:
        yield ObservedEvent("bundle_deployment", "removed", entity_id)
        return
    spec, status = part(found, "spec"), part(found, "status")
    wanted, staged, applied = (
        word(spec, "deploymentID"),
        word(spec, "stagedDeploymentID"),
        word(status, "appliedDeploymentID"),
    )
    for trigger, ident in (("target", wanted), ("staged", staged), ("applied", applied)):
        if ident:
            yield ObservedEvent("bundle_deployment", trigger, entity_id, {"deployment_id": ident})
    failed = conditions(found).get("Deployed", {})
    if wanted and wanted != applied and failed.get("status") == "False":
        message = given(message=word(failed, "message")[:4096])
        yield ObservedEvent("bundle_deployment", "apply_failed", entity_id, message, [wanted, message])
    if applied:
        # What was said of installing belongs to the version that is applied.
        names = ("Deployed", *(("Installed",) if wanted in ("", applied) else ()), "Monitored", "Ready")
        known = (conditions(found).get(name, {}) for name in names)
        why = next((word(one, "message") for one in known if one.get("status") == "False" and word(one, "message")), "")
        # What is false is left out of such objects.
        flags = {"ready": status.get("ready") is True, "unmodified": status.get("nonModified") is True}
        yield ObservedEvent("bundle_deployment", "reported", entity_id, {**flags, **given(message=why[:4096])})
    for end, (trigger, why) in sorted(_resources(status).items()):
        yield ObservedEvent("bundle_resource", trigger, f"{entity_id}/{end}", given(message=why[:4096]), [trigger, why])


def _cluster(labels: Manifest, metadata: Manifest) -> str:
    """`<namespace>+<name>` of the cluster: its name alone may be that of several."""
    named = [word(labels, NAMESPACE), word(labels, CLUSTER) or word(metadata, "namespace") or "-"]
    return "+".join(filter(None, named))


def _resources(status: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Each resource's trigger and why. Where the lists are cut, what is in neither of them is not told of."""
    found: dict[str, tuple[str, str]] = {}
    if status.get("incompleteState") is not True:
        found = {_end(one): ("ready", "") for one in members(status, "resources")}
    for one in members(status, "nonReadyStatus"):
        summary = part(one, "summary")
        said = summary.get("message")
        words = [
            word(summary, "state"),
            *(text for text in (said if isinstance(said, list) else ()) if isinstance(text, str)),
        ]
        found[_end(one)] = ("not_ready", ": ".join(filter(None, words)))
    for one in members(status, "modifiedStatus"):
        trigger = "missing" if one.get("missing") else "orphaned" if one.get("delete") else "modified"
        found[_end(one)] = (trigger, word(one, "patch") if trigger == "modified" else "")
    return found


def _end(one: Manifest) -> str:
    group, slash, _ = word(one, "apiVersion").partition("/")
    return token(ObjectKey(group if slash else "", word(one, "kind"), word(one, "namespace"), word(one, "name")))
