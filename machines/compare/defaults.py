"""What the API server fills in where a manifest is silent (spec: GitOps, Comparing). Each adds to a part, in place.

Belongs here: the values, and when. Does not: to which part of which kind (`shapes`).
"""

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

Part = dict[str, Any]
Adds = Callable[[Part], None]


def _fill(part: Part, **values: Any) -> None:
    for name, value in values.items():
        if part.get(name) is None:
            part[name] = deepcopy(value)


def _maps(part: Part, name: str) -> list[Part]:
    found = part.get(name)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _constant(**values: Any) -> Adds:
    return lambda part: _fill(part, **values)


# ---- containers

probe = _constant(timeoutSeconds=1, periodSeconds=10, successThreshold=1, failureThreshold=3)
field_ref = _constant(apiVersion="v1")
protocol = _constant(protocol="TCP")
slice_port = _constant(protocol="TCP", name="")
token = _constant(expirationSeconds=3600)
mode = _constant(defaultMode=0o644)
host_path = _constant(type="")
iscsi = _constant(iscsiInterface="default")
rbd = _constant(pool="rbd", user="admin", keyring="/etc/ceph/keyring")
azure_disk = _constant(cachingMode="ReadWrite", kind="Shared", fsType="ext4", readOnly=False)
scale_io = _constant(storageMode="ThinProvisioned", fsType="xfs")


def http_get(part: Part) -> None:
    """Where a probe or hook asks."""
    if part.get("path") in (None, ""):
        part["path"] = "/"
    if part.get("scheme") in (None, ""):
        part["scheme"] = "HTTP"


def container(part: Part) -> None:
    """An image without a tag, or with `latest`, is pulled each time."""
    image = part.get("image")
    if part.get("imagePullPolicy") in (None, "") and isinstance(image, str):
        name, _, digest = image.partition("@")
        tag = name.rpartition("/")[2].partition(":")[2]
        part["imagePullPolicy"] = "Always" if tag == "latest" or not (tag or digest) else "IfNotPresent"
    _fill(part, terminationMessagePath="/dev/termination-log", terminationMessagePolicy="File")


def volume(part: Part) -> None:
    """A volume without a source is an empty directory."""
    if set(part) <= {"name"}:
        part["emptyDir"] = {}


pod_spec = _constant(
    dnsPolicy="ClusterFirst", restartPolicy="Always", schedulerName="default-scheduler", terminationGracePeriodSeconds=30,
)  # fmt: skip


def lone_pod_spec(part: Part) -> None:
    """A Pod of its own: also limits as requests, and the host's ports where it uses the host's network."""
    pod_spec(part)
    _fill(part, enableServiceLinks=True)
    for one in (*_maps(part, "containers"), *_maps(part, "initContainers")):
        resources = one.get("resources")
        if isinstance(resources, dict) and isinstance(resources.get("limits"), dict):
            requests = resources.get("requests")
            resources["requests"] = {**resources["limits"], **(requests if isinstance(requests, dict) else {})}
        for port in _maps(one, "ports") if part.get("hostNetwork") is True else ():
            if not port.get("hostPort") and "containerPort" in port:
                port["hostPort"] = port["containerPort"]


# ---- workloads

replicas = _constant(replicas=1)


def deployment_spec(part: Part) -> None:
    """A rolling update of a quarter at a time."""
    _fill(part, replicas=1, revisionHistoryLimit=10, progressDeadlineSeconds=600, strategy={})
    _rolling(part.get("strategy"), maxSurge="25%", maxUnavailable="25%")


def stateful_set_spec(part: Part) -> None:
    """Pods one after the other, all of them new."""
    kept = {"whenDeleted": "Retain", "whenScaled": "Retain"}
    _fill(part, replicas=1, revisionHistoryLimit=10, podManagementPolicy="OrderedReady", updateStrategy={})
    _fill(part, persistentVolumeClaimRetentionPolicy=kept)
    _rolling(part.get("updateStrategy"), partition=0)


def daemon_set_spec(part: Part) -> None:
    """One node at a time."""
    _fill(part, revisionHistoryLimit=10, updateStrategy={})
    _rolling(part.get("updateStrategy"), maxSurge=0, maxUnavailable=1)


def _rolling(strategy: object, **values: Any) -> None:
    if not isinstance(strategy, dict):
        return
    if strategy.get("type") in (None, ""):
        strategy["type"] = "RollingUpdate"
    if strategy["type"] == "RollingUpdate":
        _fill(strategy, rollingUpdate={})
        if isinstance(strategy["rollingUpdate"], dict):
            _fill(strategy["rollingUpdate"], **values)


def job_spec(part: Part) -> None:
    """Once, with six tries."""
    if part.get("completions") is None and part.get("parallelism") is None:
        part["completions"] = 1
    _fill(part, parallelism=1, backoffLimit=6, completionMode="NonIndexed", suspend=False, manualSelector=False)
    failing = isinstance(part.get("podFailurePolicy"), dict)
    _fill(part, podReplacementPolicy="Failed" if failing else "TerminatingOrFailed")


cron_job_spec = _constant(
    concurrencyPolicy="Allow", suspend=False, successfulJobsHistoryLimit=3, failedJobsHistoryLimit=1,
)  # fmt: skip


def autoscaler_spec(part: Part) -> None:
    """From one replica on; by the CPU where nothing is said (v2 only: v1 has another field for that)."""
    _fill(part, minReplicas=1)


def scale_up(part: Part) -> None:
    """Fast."""
    policies = [
        {"type": "Pods", "value": 4, "periodSeconds": 15}, {"type": "Percent", "value": 100, "periodSeconds": 15},
    ]  # fmt: skip
    _fill(part, stabilizationWindowSeconds=0, selectPolicy="Max", policies=policies)


scale_down = _constant(selectPolicy="Max", policies=[{"type": "Percent", "value": 100, "periodSeconds": 15}])

# ---- network


def service_spec(part: Part) -> None:
    """A cluster's own address, and where traffic may go."""
    _fill(part, type="ClusterIP", sessionAffinity="None")
    kind = part["type"]
    if part["sessionAffinity"] == "ClientIP":
        _fill(part, sessionAffinityConfig={"clientIP": {"timeoutSeconds": 10800}})
    if kind in ("NodePort", "LoadBalancer"):
        _fill(part, externalTrafficPolicy="Cluster")
    if kind in ("NodePort", "LoadBalancer", "ClusterIP"):
        _fill(part, internalTrafficPolicy="Cluster")
    if kind == "LoadBalancer":
        _fill(part, allocateLoadBalancerNodePorts=True)


def service_port(part: Part) -> None:
    """The same port behind it."""
    _fill(part, protocol="TCP")
    if part.get("targetPort") in (None, 0, "") and "port" in part:
        part["targetPort"] = part["port"]


def network_policy_spec(part: Part) -> None:
    """Of both kinds where it says anything of egress."""
    _fill(part, policyTypes=["Ingress", "Egress"] if part.get("egress") else ["Ingress"])


# ---- storage and the rest

claim_spec = _constant(volumeMode="Filesystem")
persistent_volume_spec = _constant(persistentVolumeReclaimPolicy="Retain", volumeMode="Filesystem")
storage_class = _constant(reclaimPolicy="Delete", volumeBindingMode="Immediate")
priority_class = _constant(preemptionPolicy="PreemptLowerPriority")
secret = _constant(type="Opaque")
role_ref = _constant(apiGroup="rbac.authorization.k8s.io")
csi_driver_spec = _constant(
    attachRequired=True, podInfoOnMount=False, storageCapacity=False, fsGroupPolicy="ReadWriteOnceWithFSType",
    volumeLifecycleModes=["Persistent"], requiresRepublish=False, seLinuxMount=False,
)  # fmt: skip
webhook_service = _constant(port=443)
webhook_rule = _constant(scope="*")
webhook = _constant(
    failurePolicy="Fail", matchPolicy="Equivalent", namespaceSelector={}, objectSelector={}, timeoutSeconds=10,
)  # fmt: skip


def mutating_webhook(part: Part) -> None:
    """As any webhook; asked once."""
    webhook(part)
    _fill(part, reinvocationPolicy="Never")


def subject(part: Part) -> None:
    """Users and groups belong to a group of their own."""
    if part.get("kind") in ("User", "Group"):
        _fill(part, apiGroup="rbac.authorization.k8s.io")


def namespace(part: Part) -> None:
    """Its name as a label."""
    metadata = part.get("metadata")
    if isinstance(metadata, dict) and isinstance(metadata.get("name"), str):
        labels = metadata.setdefault("labels", {})
        if isinstance(labels, dict):
            _fill(labels, **{"kubernetes.io/metadata.name": metadata["name"]})


def limit(part: Part) -> None:
    """For containers: the default from the most, the default request from the default, or else from the least."""
    if part.get("type") != "Container":
        return
    most, least, given, asked = (
        dict(found) if isinstance(found := part.get(name), Mapping) else {}
        for name in ("max", "min", "default", "defaultRequest")
    )
    given = {**most, **given}
    asked = {**least, **given, **asked}
    if given:
        part["default"] = given
    if asked:
        part["defaultRequest"] = asked
