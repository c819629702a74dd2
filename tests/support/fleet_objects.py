"""Fleet's objects as Fleet prints them, made from what is true.

Belongs here: a small model of Fleet's agent (lists cut after ten entries, `incompleteState` that is never set back,
exact `resourceCounts`) and of its controllers. Does not: our reading of them, histories, tests.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

CUT = 10
API = "fleet.cattle.io/v1alpha1"
LABEL = "fleet.cattle.io"


class Resource(NamedTuple):
    """What is true of one object: declared or not, there or not, whose, changed or not, ready or not."""

    name: str
    declared: bool = True
    exists: bool = True
    ours: bool = True
    changed: bool = False
    ready: bool = True
    kind: str = "ConfigMap"
    namespace: str = "shop"

    @property
    def key(self) -> dict[str, str]:
        version = "apps/v1" if self.kind == "Deployment" else "v1"
        return {"kind": self.kind, "apiVersion": version, "namespace": self.namespace, "name": self.name}

    @property
    def end(self) -> str:
        group = "apps" if self.kind == "Deployment" else "core"
        return f"{group}:{self.kind}/{self.namespace}/{self.name}"

    @property
    def state(self) -> str | None:
        """The word under which it must be counted; None if nobody counts it."""
        if not self.declared:
            return "orphaned" if self.exists and self.ours else None
        if not self.exists:
            return "missing"
        if not self.ours:
            return "not_owned"
        return "modified" if self.changed else "ready" if self.ready else "not_ready"


def truth(resources: Iterable[Resource]) -> dict[str, int]:
    """The counts that must be shown. What is there and somebody else's is not ready."""
    counts = dict.fromkeys(("desired_ready", "ready", "not_ready", "modified", "missing", "orphaned"), 0)
    for word in (one.state for one in resources):
        if word is not None:
            counts["not_ready" if word == "not_owned" else word] += 1
            counts["desired_ready"] += word != "orphaned"
    return counts


def status_of(resources: Iterable[Resource], applied: str, before: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The status that Fleet's agent writes. before: the last one, whose `incompleteState` stays."""
    found = [*resources]
    living = [one for one in found if one.declared and one.exists and one.ours]
    unready = [
        {"uid": f"uid-{one.name}", **one.key, "summary": {"state": "updating", "transitioning": True, "message": ["0 of 1"]}}
        for one in sorted(living, key=lambda one: f"uid-{one.name}")
        if not one.ready
    ]  # fmt: skip
    changed: list[dict[str, Any]] = [
        *({**one.key, "missing": True} for one in found if one.state == "missing"),
        *({**one.key, "missing": True, "exist": True} for one in found if one.state == "not_owned"),
        *({**one.key, "delete": True} for one in found if one.state == "orphaned"),
        *({**one.key, "patch": '{"data":null}'} for one in living if one.changed),
    ]
    changed.sort(key=lambda one: "/".join(str(one[name]) for name in ("apiVersion", "kind", "namespace", "name")))
    counts = truth(found)
    foreign = sum(one.state == "not_owned" for one in found)
    status: dict[str, Any] = {
        "appliedDeploymentID": applied,
        "release": "shop/web:1",
        "resourceCounts": {
            "desiredReady": counts["desired_ready"], "ready": counts["ready"], "waitApplied": 0, "unknown": 0,
            "modified": counts["modified"], "orphaned": counts["orphaned"],
            "missing": counts["missing"] + foreign, "notReady": counts["not_ready"] - foreign,
        },
    }  # fmt: skip
    # Go leaves out empty lists and flags that are false.
    flags = {
        "ready": not unready,
        "nonModified": not changed,
        "incompleteState": max(len(unready), len(changed)) > CUT or bool((before or {}).get("incompleteState")),
    }
    lists = {
        "resources": [one.key for one in living],
        "nonReadyStatus": unready[:CUT],
        "modifiedStatus": changed[:CUT],
    }
    return {**status, **{name: value for name, value in {**flags, **lists}.items() if value}}


def bundle_deployment(
    status: Mapping[str, Any], cluster: str = "c1", bundle: str = "web", repo: str = "infra", wanted: str = "v1",
    staged: str | None = None,
) -> dict[str, Any]:  # fmt: skip
    labels = {
        f"{LABEL}/repo-name": repo, f"{LABEL}/bundle-name": bundle, f"{LABEL}/bundle-namespace": "fleet-default",
        f"{LABEL}/cluster": cluster, f"{LABEL}/cluster-namespace": "fleet-default", f"{LABEL}/managed": "true",
    }  # fmt: skip
    return {
        "apiVersion": API,
        "kind": "BundleDeployment",
        "metadata": {"name": bundle, "namespace": f"cluster-fleet-default-{cluster}", "labels": labels},
        "spec": {"deploymentID": wanted, "stagedDeploymentID": staged or wanted},
        "status": dict(status),
    }


def condition(name: str, status: str, message: str = "", reason: str = "") -> dict[str, str]:
    texts = {"message": message, "reason": reason}
    return {"type": name, "status": status, "lastUpdateTime": "2026-03-02T08:00:00Z", **{n: t for n, t in texts.items() if t}}  # fmt: skip


def bundle(
    name: str = "web", repo: str = "infra", spec: Mapping[str, Any] | None = None, **status: Any
) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "fleet-default", "labels": {f"{LABEL}/repo-name": repo}}
    return {"apiVersion": API, "kind": "Bundle", "metadata": metadata, "spec": dict(spec or {}), "status": status}


def git_repo(name: str = "infra", **status: Any) -> dict[str, Any]:
    spec = {"repo": "https://git.example/infra", "branch": "main"}
    metadata = {"name": name, "namespace": "fleet-default"}
    return {"apiVersion": API, "kind": "GitRepo", "metadata": metadata, "spec": spec, "status": status}


def cluster(last_seen: str | None, name: str = "c1") -> dict[str, Any]:
    return {
        "apiVersion": API,
        "kind": "Cluster",
        "metadata": {"name": name, "namespace": "fleet-default"},
        "status": {
            "namespace": f"cluster-fleet-default-{name}",
            "agent": {"lastSeen": last_seen, "namespace": "cattle-fleet-system"},
        },
    }
