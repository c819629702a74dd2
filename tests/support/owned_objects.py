"""A Deployment with what it owns, as a cluster has it: a ReplicaSet, a Pod that crashes, and the Events about them.

Belongs here: these objects. Does not: the tests that use them.
"""

from typing import Any

from tests.support.gitops_history import APP
from tests.support.manifests import Manifest, kubernetes_object

POD = "web-5d9f7c6b8d-abcde"
REPLICA_SET = "web-5d9f7c6b8d"
BACK_OFF = f"back-off 5m0s restarting failed container=app pod={POD}_shop(u-{POD})"


def named(name: str, owner: Manifest | None = None, **rest: Any) -> Manifest:
    """The metadata of an object, with its uid and its owner."""
    found: Manifest = {"name": name, "uid": f"u-{name}", "resourceVersion": "7", **rest}
    return found if owner is None else {**found, "ownerReferences": [reference(owner)]}


def reference(owner: Manifest, **rest: Any) -> Manifest:
    """A reference to an owner, as its controller writes it."""
    metadata = owner["metadata"]
    uid = {"uid": metadata["uid"]} if "uid" in metadata else {}
    found = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": metadata["name"], **uid}
    return {**found, "controller": True, **rest}


def web(name: str = "web", *, available: int = 0, **metadata: Any) -> Manifest:
    """A Deployment that waits for its only replica, or has it."""
    status = {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "availableReplicas": available}
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": name}}}
    return kubernetes_object(
        "apps/v1", "Deployment", metadata=named(name, generation=1, **metadata), spec=spec, status=status
    )


def replica_set(owner: Manifest | None, name: str = REPLICA_SET, *, available: int = 0, **metadata: Any) -> Manifest:
    """The ReplicaSet of a Deployment."""
    status = {"observedGeneration": 1, "replicas": 1, "availableReplicas": available}
    return kubernetes_object(
        "apps/v1",
        "ReplicaSet",
        metadata=named(name, owner, generation=1, **metadata),
        spec={"replicas": 1},
        status=status,
    )


def waiting(reason: str = "CrashLoopBackOff", message: str = BACK_OFF, code: int | None = 1) -> Manifest:
    """The status of a Pod whose container `app` waits. code: with which its last run ended."""
    ended = {"exitCode": code, "reason": "Error", "finishedAt": "2026-03-02T08:09:00Z"}
    last = {} if code is None else {"lastState": {"terminated": ended}}
    container = {"name": "app", "restartCount": 7, "state": {"waiting": {"reason": reason, "message": message}}, **last}
    return {"phase": "Running" if code is not None else "Pending", "containerStatuses": [container]}


READY: Manifest = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


def pod(owner: Manifest | None, name: str = POD, status: Manifest | None = None, **metadata: Any) -> Manifest:
    """A Pod that its ReplicaSet made; it crashes, unless its status says otherwise."""
    return kubernetes_object(
        "v1", "Pod", metadata=named(name, owner, **metadata), spec={"restartPolicy": "Always"},
        status=waiting() if status is None else status,
    )  # fmt: skip


def happening(about: Manifest, reason: str, message: str, *, count: int = 1, last: str = "2026-03-02T08:10:00Z",
              **rest: Any) -> Manifest:  # fmt: skip
    """An Event of core/v1 about an object."""
    metadata = about["metadata"]
    of = {"apiVersion": about["apiVersion"], "kind": about["kind"], "namespace": metadata["namespace"]}
    name = f"{metadata['name']}.{reason.lower()}"
    return {
        **kubernetes_object("v1", "Event", metadata={"name": name, "uid": f"u-{name}", "resourceVersion": str(count)}),
        "involvedObject": {**of, "name": metadata["name"], "uid": metadata.get("uid", "")},
        "type": "Warning", "reason": reason, "message": message, "count": count,
        "firstTimestamp": "2026-03-02T08:00:00Z", "lastTimestamp": last, "source": {"component": "kubelet"}, **rest,
    }  # fmt: skip


def newer_happening(about: Manifest, reason: str, note: str, *, count: int = 1) -> Manifest:
    """An Event of events.k8s.io/v1 about an object."""
    old = happening(about, reason, note, count=count)
    return {
        "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": old["metadata"], "regarding": old["involvedObject"],
        "type": "Warning", "reason": reason, "note": note, "eventTime": "2026-03-02T08:00:00.000000Z",
        "series": {"count": count, "lastObservedTime": "2026-03-02T08:10:00.000000Z"},
        "reportingController": "kubelet",
    }  # fmt: skip


WEB = f"{APP}/apps:Deployment/shop/web"
OF_SET = f"{WEB}/apps:ReplicaSet:shop:{REPLICA_SET}"
OF_POD = f"{OF_SET}~core:Pod:shop:{POD}"
"""The ids of a Deployment, of its ReplicaSet, and of the Pod of that."""
DEPLOYED = web()
SET = replica_set(DEPLOYED)
CRASHING = pod(SET)
