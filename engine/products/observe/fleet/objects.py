"""The adapter for Fleet's own objects: GitRepo, HelmOp, Bundle, BundleDeployment, Cluster (docs/spec/fleet.md).

Belongs here: their ids, errors, lists and check-ins as events. Does not: reading lists that are cut (`lists`) or
conditions (`conditions`), counts, which follow from the states.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from phaseline.engine.products.observe.events import (
    Manifest,
    ObservedEvent,
    being_deleted,
    mapping,
    maps,
    text,
    without_empty,
)
from phaseline.engine.products.observe.fleet.conditions import EVER, Conditions, Errors, errors, failures, said
from phaseline.engine.products.observe.fleet.lists import FleetLists, read_lists

GROUP = "fleet.cattle.io"
REPO, HELM, BUNDLE, CLUSTER, NAMESPACE, COMMIT = (
    f"{GROUP}/{name}"
    for name in ("repo-name", "fleet-helm-name", "bundle-name", "cluster", "cluster-namespace", "commit")
)
READ = ("GitRepo", "HelmOp", "HelmApp", "Bundle", "BundleDeployment", "Cluster")
"""The kinds that are read. HelmApp is what HelmOp was called in Fleet 0.12 and before."""
LEFT_OUT = f"of Fleet's objects only {', '.join(READ)} say what is deployed, and how it is"
NEVER = "0001-01-01"
"""How the time begins that Go prints for no time."""
LONGEST = 4_096


class FleetObjects:
    """Turns Fleet's objects into events, and remembers what an object alone does not say.

    That is: which resources of a deployment were listed before, which deployment has which object of a cluster, and
    when the agents of clusters were seen.
    """

    def __init__(self) -> None:
        self._births = itertools.count(1)
        self._listed: dict[str, dict[str, int]] = {}
        """By deployment, the ends of its listed resources, each with the number of its first listing."""
        self._owners: dict[tuple[str, str], str] = {}
        """By cluster and end, the deployment to which a living object belongs."""
        self._foreign: dict[tuple[str, str], set[str]] = {}
        """By cluster and end, the deployments that declare an object which belongs to another one."""
        self._deployments: dict[str, dict[str, None]] = {}
        """By cluster, its deployments."""
        self._seen: dict[str, str | None] = {}
        """By cluster, when its agent was seen last; None for never."""
        self._declaring: dict[str, dict[tuple[str, str], Errors]] = {}
        """By name, the objects that declare bundles, by kind and namespace, with their errors."""

    def adapters(self) -> dict[tuple[str, str], Callable[..., Iterator[ObservedEvent]]]:
        """The adapters by group and kind."""
        return {
            **dict.fromkeys([(GROUP, kind) for kind in ("GitRepo", "HelmOp", "HelmApp")], self.declaring),
            (GROUP, "Bundle"): bundle,
            (GROUP, "BundleDeployment"): self.bundle_deployment,
            (GROUP, "Cluster"): self.cluster,
        }

    def declaring(self, manifest: Manifest, *, gone: bool) -> Iterator[ObservedEvent]:
        """The events of a GitRepo or a HelmOp: what was fetched or why fetching failed, and its own errors.

        Objects of the same name in other namespaces, or of the other kind, declare bundles of the same entity.
        """
        metadata, known = mapping(manifest, "metadata"), said(manifest)
        name, key = text(metadata, "name"), (text(manifest, "kind"), text(metadata, "namespace"))
        others = self._declaring.setdefault(name, {})
        if gone:
            others.pop(key, None)
            if not others:
                yield ObservedEvent("git_repo", "removed", name)
                return
        else:
            others[key] = errors(known, text(mapping(manifest, "status"), "gitJobStatus")).beside(
                being_deleted(manifest)
            )
            yield _fetched(name, manifest, known)
        yield _error("git_repo", name, others.values())

    def cluster(self, manifest: Manifest, *, gone: bool) -> Iterator[ObservedEvent]:
        """The events of a Cluster: for each of its deployments, when its agent was seen last."""
        metadata, status = mapping(manifest, "metadata"), mapping(manifest, "status")
        names = {_joined(text(metadata, "namespace"), text(metadata, "name")), text(status, "namespace")}
        last_seen = text(mapping(status, "agent"), "lastSeen")
        for name in sorted(filter(None, names)):
            if gone:
                self._seen.pop(name, None)
                continue
            self._seen[name] = None if last_seen.startswith(NEVER) else last_seen or None
            for entity_id in self._deployments.get(name, ()):
                yield self._checked_in(entity_id, name)

    def _checked_in(self, entity_id: str, cluster: str) -> ObservedEvent:
        last_seen = self._seen[cluster]
        message = "its agent was never seen" if last_seen is None else f"its agent was last seen {last_seen}"
        data = {"last_seen": last_seen, "message": message[:LONGEST]}
        return ObservedEvent("bundle_deployment", "checked_in", entity_id, data)

    def bundle_deployment(self, manifest: Manifest, *, gone: bool) -> Iterator[ObservedEvent]:
        """The events of a BundleDeployment: its ids and flags, its resources, when the agent was seen."""
        metadata = mapping(manifest, "metadata")
        labels = mapping(metadata, "labels")
        name = text(labels, BUNDLE) or text(metadata, "name")
        cluster = _joined(text(labels, NAMESPACE), text(labels, CLUSTER) or text(metadata, "namespace") or "-")
        entity_id = "/".join([_declared_by(labels) or name, name, cluster])
        if gone:
            yield ObservedEvent("bundle_deployment", "removed", entity_id)
            self._deployments.get(cluster, {}).pop(entity_id, None)
            for end in self._listed.pop(entity_id, ()):
                self._disown(cluster, end, entity_id)
            return
        status = mapping(manifest, "status")
        found = read_lists(status)
        if found is not None and not (text(status, "appliedDeploymentID") or found.named or found.counted):
            found = None  # the agent has not reported yet
        yield self._observed(manifest, found, entity_id)
        if found is not None:
            yield from self._resources(found, entity_id, cluster)
        self._deployments.setdefault(cluster, {})[entity_id] = None
        if cluster in self._seen:
            yield self._checked_in(entity_id, cluster)

    def _observed(self, manifest: Manifest, found: FleetLists | None, entity_id: str) -> ObservedEvent:
        """The event about the deployment itself. It lists the resources if they are others than before."""
        data = _report(manifest)
        if found is None:
            return ObservedEvent("bundle_deployment", "observed", entity_id, data)
        listed, known = sorted(found.named), self._listed.get(entity_id)
        data |= without_empty(counted=found.counted, counted_names=found.names or None)
        told_before = known is not None and known.keys() == found.named.keys()
        return ObservedEvent(
            "bundle_deployment", "observed", entity_id, data if told_before else {**data, "listed": listed},
            [data, listed],
        )  # fmt: skip

    def _resources(self, found: FleetLists, entity_id: str, cluster: str) -> Iterator[ObservedEvent]:
        known = self._listed.get(entity_id, {})
        listed = {end: known.get(end) or next(self._births) for end in sorted(found.named)}
        for end in sorted(known.keys() - listed.keys()):
            self._disown(cluster, end, entity_id)
            left = {"lives": False}
            yield ObservedEvent("bundle_resource", "undeclared", f"{entity_id}/{end}", left, [known[end]])
        self._listed[entity_id] = listed
        for end, birth in listed.items():
            trigger, why = found.named[end]
            if trigger == "not_owned":
                if self._owners.get((cluster, end)) == entity_id:  # it was so; its own word counts
                    del self._owners[cluster, end]
                self._foreign.setdefault((cluster, end), set()).add(entity_id)
                why = self._owner(cluster, end)
            else:
                self._foreign.get((cluster, end), set()).discard(entity_id)
            yield _resource(trigger, f"{entity_id}/{end}", why, birth)
        for end in found.living:
            if end not in found.named or found.named[end].trigger != "not_owned":
                yield from self._own(cluster, end, entity_id)

    def _own(self, cluster: str, end: str, entity_id: str) -> Iterator[ObservedEvent]:
        """Note whose object it is, and tell those that declare it too."""
        if self._owners.get((cluster, end)) == entity_id:
            return
        self._owners[cluster, end] = entity_id
        for other in sorted(self._foreign.get((cluster, end), ())):
            birth = self._listed[other][end]
            yield _resource("not_owned", f"{other}/{end}", self._owner(cluster, end), birth)

    def _disown(self, cluster: str, end: str, entity_id: str) -> None:
        self._foreign.get((cluster, end), set()).discard(entity_id)
        if self._owners.get((cluster, end)) == entity_id:
            del self._owners[cluster, end]

    def _owner(self, cluster: str, end: str) -> str:
        owner = self._owners.get((cluster, end))
        return f"it exists, and belongs to {owner or 'somebody else'}"


def _resource(trigger: str, entity_id: str, why: str, birth: int) -> ObservedEvent:
    """An event about a resource. A resource that was gone and is listed again is told again: `birth` differs."""
    data = without_empty(message=why[:LONGEST])
    return ObservedEvent("bundle_resource", trigger, entity_id, data, [trigger, why, birth])


def _declared_by(labels: Manifest) -> str:
    """The GitRepo or HelmOp that declares what has these labels."""
    return text(labels, REPO) or text(labels, HELM)


def _fetched(name: str, manifest: Manifest, known: Conditions) -> ObservedEvent:
    """What a GitRepo or a HelmOp says of fetching."""
    spec, status, is_repo = mapping(manifest, "spec"), mapping(manifest, "status"), text(manifest, "kind") == "GitRepo"
    helm, polling = mapping(spec, "helm"), known.get("GitPolling" if is_repo else "Polled")
    kind = {"declared_as": text(manifest, "kind")}
    if polling is not None and polling.status == "False":
        return ObservedEvent("git_repo", "fetch_failed", name, {**kind, "message": polling.why[:LONGEST]})
    data = without_empty(
        commit=text(status, "commit"), job=text(status, "gitJobStatus"), version=text(status, "version"),
        url=text(spec if is_repo else helm, "repo"), chart="" if is_repo else text(helm, "chart"), **kind,
    )  # fmt: skip
    is_fetched = polling is not None or "commit" in data or "version" in data
    return ObservedEvent("git_repo", "fetched" if is_fetched else "created", name, data)


def bundle(manifest: Manifest, *, gone: bool) -> Iterator[ObservedEvent]:
    """The events of a Bundle: that it exists, how its rollout stands, and its own error."""
    metadata, known = mapping(manifest, "metadata"), said(manifest)
    labels, name = mapping(metadata, "labels"), text(metadata, "name")
    entity_id = f"{_declared_by(labels) or name}/{name}"
    if gone:
        yield ObservedEvent("bundle", "removed", entity_id)
        return
    found = errors(known).beside(being_deleted(manifest))
    rollout = {**_rollout(manifest), **without_empty(commit=text(labels, COMMIT), unobserved=_unobserved(manifest))}
    if mapping(manifest, "spec").get("paused") is True:
        rollout["paused"] = True
    if not (found.standing or found.overruled) and (targets := _targets(manifest)) is not None:
        rollout["targets"] = targets
    yield ObservedEvent("bundle", "rollout" if rollout else "created", entity_id, rollout or None)
    yield _error("bundle", entity_id, [found])


def _unobserved(manifest: Manifest) -> str:
    """That Fleet's controller has not seen the present object; empty if it has, or does not say what it has seen."""
    generation, seen = (
        mapping(manifest, "metadata").get("generation"),
        mapping(manifest, "status").get("observedGeneration"),
    )
    if type(generation) is not int or type(seen) is not int or seen >= generation:
        return ""
    return f"generation {generation} has not been observed yet, the last one that was is {seen}"


def _targets(manifest: Manifest) -> int | None:
    """How many targets Fleet counts; None if its controller has not seen the present bundle."""
    status, generation = mapping(manifest, "status"), mapping(manifest, "metadata").get("generation")
    count = mapping(status, "summary").get("desiredReady")
    is_present = type(generation) is int and status.get("observedGeneration") == generation
    return count if is_present and type(count) is int else None


def _error(kind: str, entity_id: str, found: Iterable[Errors]) -> ObservedEvent:
    """The event about the errors of an entity's own objects, or that there are none."""
    found = list(found)
    standing = dict.fromkeys(one for each in found for one in each.standing)
    overruled = dict.fromkeys(one for each in found for one in each.overruled)
    message = "; ".join([*standing, *overruled])[:LONGEST]
    return ObservedEvent(kind, "failed" if standing else "recovered", entity_id, without_empty(message=message))


def _rollout(manifest: Manifest) -> dict[str, Any]:
    """The numbers of a rollout; empty if the Bundle has no status yet."""
    status = mapping(manifest, "status")
    numbers = {
        "unavailable": (status, "unavailable"),
        "max_unavailable": (status, "maxUnavailable"),
        "unavailable_partitions": (status, "unavailablePartitions"),
        "max_unavailable_partitions": (status, "maxUnavailablePartitions"),
        "max_new": (mapping(manifest, "spec", "rolloutStrategy"), "maxNew"),
    }
    found: dict[str, Any] = {
        name: number for name, (of, theirs) in numbers.items() if (number := _number(of, theirs)) is not None
    }  # fmt: skip
    pending, created = mapping(status, "summary").get("pending"), status.get("newlyCreated")
    if type(pending) is int:  # Fleet counts before it creates.
        found["waiting"] = max(0, pending - (created if type(created) is int else 0))
    partitions = [_partition(one) for one in maps(status, "partitions")]
    return {**found, "partitions": partitions} if partitions else found


def _number(of: Manifest, name: str) -> int | None:
    """A number of Fleet's; None for anything else, and for one below 0, which counts nothing."""
    found = of.get(name)
    return found if type(found) is int and found >= 0 else None


def _partition(one: Manifest) -> dict[str, Any]:
    numbers = {"count": "count", "unavailable": "unavailable", "max_unavailable": "maxUnavailable"}
    found: dict[str, Any] = {ours: _number(one, theirs) or 0 for ours, theirs in numbers.items()}
    summary = one.get("summary")
    if isinstance(summary, Mapping):
        waiting = [summary.get(name) for name in ("pending", "waitApplied", "errApplied", "outOfSync")]
        found["waiting"] = sum(number for number in waiting if type(number) is int and number > 0)
    return {**without_empty(name=text(one, "name")[:LONGEST]), **found}


def _report(manifest: Manifest) -> dict[str, Any]:
    """The ids, flags and message of a BundleDeployment."""
    spec, status, known = mapping(manifest, "spec"), mapping(manifest, "status"), said(manifest)
    wanted, applied = text(spec, "deploymentID"), text(status, "appliedDeploymentID")
    data = without_empty(
        target=wanted, staged=text(spec, "stagedDeploymentID"), applied=applied,
        commit=text(mapping(manifest, "metadata", "labels"), COMMIT),
        paused=spec.get("paused") is True or None, off_schedule=spec.get("offSchedule") is True or None,
    )  # fmt: skip
    data |= {} if applied else {"applied": ""}  # also where the status that had one is gone
    deployed, ready = known.get("Deployed"), known.get("Ready")
    failed = deployed is not None and deployed.status == "False" and wanted not in ("", applied)
    # All but Deployed speak of the applied version: what they say of another one than the wanted is no reason here.
    bad = [*failures(known, ("Deployed", *(("Installed", "Monitored", "Ready") if wanted in ("", applied) else ())))]
    since = ready.at if ready is not None and ready.status == "True" and not failed else EVER
    old, bad = [one for one in bad if one.at < since], [one for one in bad if one.at >= since]
    texts = [next((one.message for one in bad if one.message), "")] if applied or failed else []
    texts += [f"{one.words}: {one.why}; {ready.words}" for one in old if ready is not None]
    if spec.get("waitingForValues") is True:
        texts.append("it waits for the secret with its values")
    if applied:  # Fleet leaves out flags that are false.
        contradicted = since > EVER and any(one.at > since for one in bad)
        data |= {
            "ready": status.get("ready") is True and not contradicted, "unmodified": status.get("nonModified") is True,
        }  # fmt: skip
    if leaves := being_deleted(manifest):
        texts.insert(0, leaves)
        data |= {"ready": False} if applied else {}
    at = deployed.since if failed and deployed is not None else ""
    message = "; ".join(filter(None, texts))[:LONGEST]
    return {**data, **without_empty(apply_failed=failed or None, failed_at=at, message=message)}


def _joined(namespace: str, name: str) -> str:
    """`<namespace>+<name>` of a cluster: several clusters may have the same name."""
    return "+".join(filter(None, (namespace, name)))
