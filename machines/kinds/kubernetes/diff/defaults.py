"""What the API server makes of a manifest: the defaults that functions add to a part in place, what it allocates.

Belongs here: the values, when they apply, and to which types. Does not: the types (`types`).
"""

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

Object = dict[str, Any]
Adds = Callable[[Object], None]


def _fill(part: Object, **values: Any) -> None:
    for name, value in values.items():
        if part.get(name) is None:
            part[name] = deepcopy(value)


def _maps(part: Object, name: str) -> list[Object]:
    found = part.get(name)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _constant(**values: Any) -> Adds:
    return lambda part: _fill(part, **values)


# ---- containers

probe = _constant(timeoutSeconds=1, periodSeconds=10, successThreshold=1, failureThreshold=3)
resource_ref = _constant(divisor="0")
certificate = _constant(maxExpirationSeconds=86_400)
field_ref = _constant(apiVersion="v1")
protocol = _constant(protocol="TCP")
slice_port = _constant(protocol="TCP", name="")
token = _constant(expirationSeconds=3600)
mode = _constant(defaultMode=0o644)
grpc = _constant(service="")
host_path = _constant(type="")
iscsi = _constant(iscsiInterface="default")
rbd = _constant(pool="rbd", user="admin", keyring="/etc/ceph/keyring")
azure_disk = _constant(cachingMode="ReadWrite", kind="Shared", fsType="ext4", readOnly=False)
scale_io = _constant(storageMode="ThinProvisioned", fsType="xfs")


def http_get(part: Object) -> None:
    """The path and scheme of a probe or lifecycle hook."""
    if part.get("path") in (None, ""):
        part["path"] = "/"
    if part.get("scheme") in (None, ""):
        part["scheme"] = "HTTP"


def container(part: Object) -> None:
    """An image without a tag, or with `latest`, is always pulled."""
    if part.get("imagePullPolicy") in (None, "") and isinstance(part.get("image"), str):
        part["imagePullPolicy"] = _pull_policy(part["image"])
    _fill(part, terminationMessagePath="/dev/termination-log", terminationMessagePolicy="File")


def _pull_policy(image: object) -> str:
    name, _, digest = image.partition("@") if isinstance(image, str) else ("", "", "")
    tag = name.rpartition("/")[2].partition(":")[2]
    return "Always" if tag == "latest" or not (tag or digest) else "IfNotPresent"


def volume(part: Object) -> None:
    """A volume without a source is an empty directory. An image is pulled as that of a container is."""
    if set(part) <= {"name"}:
        part["emptyDir"] = {}
    if isinstance(image := part.get("image"), dict) and image.get("pullPolicy") in (None, ""):
        image["pullPolicy"] = _pull_policy(image.get("reference"))


def pod_spec(part: Object) -> None:
    """Policies, and the old name of the service account."""
    _fill(part, dnsPolicy="ClusterFirst", restartPolicy="Always", schedulerName="default-scheduler")
    _fill(part, terminationGracePeriodSeconds=30)
    names = ("serviceAccountName", "serviceAccount")
    name = next((part[one] for one in names if part.get(one)), None)
    if name:
        _fill(part, serviceAccountName=name)
        part["serviceAccount"] = part["serviceAccountName"]


TOLERATED = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
"""The taints of a node that each Pod tolerates for five minutes, unless it says otherwise."""


def _tolerations(part: Object) -> None:
    listed = part.get("tolerations")
    if not isinstance(listed, list) or not listed:
        return
    said = {one.get("key") for one in _maps(part, "tolerations") if one.get("effect") in (None, "", "NoExecute")}
    if None not in said and "" not in said:
        more = [key for key in TOLERATED if key not in said]
        made = [{"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300} for key in more]
        part["tolerations"] = [*listed, *made]


def pod(found: Object) -> None:
    """A Pod itself, no template: also requests from limits, and host ports if it uses the host's network."""
    part = found.get("spec")
    if not isinstance(part, dict):
        return
    _fill(part, enableServiceLinks=True)
    if not part.get("serviceAccountName"):
        part["serviceAccountName"] = part["serviceAccount"] = part.get("serviceAccount") or "default"
    _tolerations(part)
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


def deployment_spec(part: Object) -> None:
    """A rolling update by 25 per cent."""
    _fill(part, replicas=1, revisionHistoryLimit=10, progressDeadlineSeconds=600, strategy={})
    _rolling(part.get("strategy"), maxSurge="25%", maxUnavailable="25%")


def stateful_set_spec(part: Object) -> None:
    """Pods in order, and a rolling update of all of them."""
    _fill(part, replicas=1, revisionHistoryLimit=10, podManagementPolicy="OrderedReady", updateStrategy={})
    _fill(part, persistentVolumeClaimRetentionPolicy={})
    if isinstance(claims := part["persistentVolumeClaimRetentionPolicy"], dict):
        _fill(claims, whenDeleted="Retain", whenScaled="Retain")
    _rolling(part.get("updateStrategy"), partition=0)


def daemon_set_spec(part: Object) -> None:
    """A rolling update of one node at a time."""
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


def _template_labels(found: Object, part: Object) -> Any:
    """The labels of the Pods, which the object itself gets if it has none."""
    template, metadata = part.get("template"), found.get("metadata")
    inner = template.get("metadata") if isinstance(template, dict) else None
    labels = inner.get("labels") if isinstance(inner, dict) else None
    if labels and isinstance(metadata, dict) and not metadata.get("labels"):
        metadata["labels"] = deepcopy(labels)
    return labels


def job(found: Object) -> None:
    """One completion, six retries; only in a Job itself, not in the template of a CronJob."""
    part = found.get("spec")
    if not isinstance(part, dict):
        return
    _template_labels(found, part)
    if part.get("completions") is None and part.get("parallelism") is None:
        part["completions"] = 1
    _fill(part, parallelism=1, backoffLimit=6, completionMode="NonIndexed", suspend=False, manualSelector=False)
    failing = isinstance(part.get("podFailurePolicy"), dict)
    _fill(part, podReplacementPolicy="Failed" if failing else "TerminatingOrFailed")


def replication_controller(found: Object) -> None:
    """Labels and selector from its template."""
    part = found.get("spec")
    labels = _template_labels(found, part) if isinstance(part, dict) else None
    if labels and isinstance(part, dict) and not part.get("selector"):
        part["selector"] = deepcopy(labels)


failing_pod = _constant(status="True")
cron_job_spec = _constant(
    concurrencyPolicy="Allow", suspend=False, successfulJobsHistoryLimit=3, failedJobsHistoryLimit=1,
)  # fmt: skip


def autoscaler_spec(part: Object) -> None:
    """At least one replica."""
    _fill(part, minReplicas=1)


def scaler_spec(part: Object) -> None:
    """At least one replica; 80 per cent of the CPU, if it has no metrics."""
    _fill(part, minReplicas=1)
    if not part.get("metrics"):
        target = {"type": "Utilization", "averageUtilization": 80}
        part["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]


def scaling(part: Object) -> None:
    """Up by four Pods or double, down by any number, every 15 seconds."""
    percent = {"type": "Percent", "value": 100, "periodSeconds": 15}
    pods = {"type": "Pods", "value": 4, "periodSeconds": 15}
    if isinstance(up := part.get("scaleUp"), dict):
        _fill(up, stabilizationWindowSeconds=0, selectPolicy="Max", policies=[pods, percent])
    if isinstance(down := part.get("scaleDown"), dict):
        _fill(down, selectPolicy="Max", policies=[percent])


# ---- network


def service_spec(part: Object) -> None:
    """A cluster IP, and the traffic policies of its type."""
    _fill(part, type="ClusterIP", sessionAffinity="None")
    kind = part["type"]
    if part["sessionAffinity"] == "None":
        part.pop("sessionAffinityConfig", None)
    if part["sessionAffinity"] == "ClientIP":
        _fill(part, sessionAffinityConfig={"clientIP": {"timeoutSeconds": 10800}})
    if kind in ("NodePort", "LoadBalancer"):
        _fill(part, externalTrafficPolicy="Cluster")
    if kind in ("NodePort", "LoadBalancer", "ClusterIP"):
        _fill(part, internalTrafficPolicy="Cluster")
    if kind == "LoadBalancer":
        _fill(part, allocateLoadBalancerNodePorts=True)


def service_port(part: Object) -> None:
    """The target port is the port."""
    _fill(part, protocol="TCP")
    if part.get("targetPort") in (None, 0, "") and "port" in part:
        part["targetPort"] = part["port"]


def network_policy_spec(part: Object) -> None:
    """Both policy types if it has egress rules."""
    _fill(part, policyTypes=["Ingress", "Egress"] if part.get("egress") else ["Ingress"])


# ---- storage and the rest


def ingress_class_spec(part: Object) -> None:
    """Parameters that are cluster-wide."""
    if isinstance(parameters := part.get("parameters"), dict):
        _fill(parameters, scope="Cluster")


flow_schema_spec = _constant(matchingPrecedence=1_000)
exempt_level = _constant(nominalConcurrencyShares=0, lendablePercent=0)
limited_level = _constant(nominalConcurrencyShares=30, lendablePercent=0)
queuing = _constant(handSize=8, queues=64, queueLengthLimit=50)


def device_request(part: Object) -> None:
    """One device, unless another mode is asked for."""
    if part.get("deviceClassName"):  # in older versions a choice of requests stands beside these fields
        _fill(part, allocationMode="ExactCount")
        if part["allocationMode"] == "ExactCount":
            _fill(part, count=1)


def definition_spec(part: Object) -> None:
    """The names that follow from the kind, and no conversion."""
    _fill(part, conversion={"strategy": "None"})
    names = part.get("names")
    if isinstance(names, dict) and isinstance(kind := names.get("kind"), str) and kind:
        _fill(names, singular=kind.lower(), listKind=f"{kind}List")


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


def mutating_webhook(part: Object) -> None:
    """The defaults of any webhook, and no reinvocation."""
    webhook(part)
    _fill(part, reinvocationPolicy="Never")


def subject(part: Object) -> None:
    """The API group of users and groups."""
    if part.get("kind") in ("User", "Group"):
        _fill(part, apiGroup="rbac.authorization.k8s.io")


def namespace(part: Object) -> None:
    """The label with its name."""
    metadata = part.get("metadata")
    if isinstance(metadata, dict) and isinstance(metadata.get("name"), str):
        labels = metadata.setdefault("labels", {})
        if isinstance(labels, dict):
            _fill(labels, **{"kubernetes.io/metadata.name": metadata["name"]})


def limit(part: Object) -> None:
    """For containers: the default from the maximum; the default request from the default, else from the minimum."""
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


matching = _constant(matchPolicy="Equivalent", namespaceSelector={}, objectSelector={})
policy = _constant(failurePolicy="Fail")

# fmt: off
DEFAULTS: Mapping[str, Adds] = {
    "core.Container": container, "core.EphemeralContainer": container, "core.Probe": probe,
    "core.HTTPGetAction": http_get, "core.GRPCAction": grpc, "core.ContainerPort": protocol, "core.EndpointPort": protocol,
    "core.ObjectFieldSelector": field_ref, "core.Volume": volume, "core.HostPathVolumeSource": host_path,
    **dict.fromkeys((f"core.{one}VolumeSource" for one in ("ConfigMap", "Secret", "DownwardAPI", "Projected")), mode),
    "core.ResourceFieldSelector": resource_ref, "core.PodCertificateProjection": certificate,
    "core.ServiceAccountTokenProjection": token, "core.ISCSIVolumeSource": iscsi,
    "core.ISCSIPersistentVolumeSource": iscsi, "core.RBDVolumeSource": rbd, "core.RBDPersistentVolumeSource": rbd,
    "core.AzureDiskVolumeSource": azure_disk, "core.ScaleIOVolumeSource": scale_io,
    "core.ScaleIOPersistentVolumeSource": scale_io, "core.PodSpec": pod_spec, "core.Pod": pod,
    "core.PersistentVolumeClaimSpec": claim_spec, "core.PersistentVolumeSpec": persistent_volume_spec,
    "core.ReplicationControllerSpec": replicas, "core.ReplicationController": replication_controller, "core.ServiceSpec": service_spec, "core.ServicePort": service_port,
    "core.Secret": secret, "core.Namespace": namespace, "core.LimitRangeItem": limit,
    "apps.DeploymentSpec": deployment_spec, "apps.StatefulSetSpec": stateful_set_spec,
    "apps.DaemonSetSpec": daemon_set_spec, "apps.ReplicaSetSpec": replicas,
    "batch.Job": job, "batch.CronJobSpec": cron_job_spec,
    "batch.PodFailurePolicyOnPodConditionsPattern": failing_pod,
    "autoscaling.v1.HorizontalPodAutoscalerSpec": autoscaler_spec,
    "autoscaling.HorizontalPodAutoscalerSpec": scaler_spec, "autoscaling.HorizontalPodAutoscalerBehavior": scaling,
    "networking.NetworkPolicySpec": network_policy_spec, "networking.NetworkPolicyPort": protocol,
    "networking.IngressClassSpec": ingress_class_spec,
    "flowcontrol.FlowSchemaSpec": flow_schema_spec, "flowcontrol.QueuingConfiguration": queuing,
    "flowcontrol.ExemptPriorityLevelConfiguration": exempt_level,
    "flowcontrol.LimitedPriorityLevelConfiguration": limited_level,
    "resource.ExactDeviceRequest": device_request, "resource.DeviceSubRequest": device_request,
    "resource.DeviceRequest": device_request,
    "apiextensions.CustomResourceDefinitionSpec": definition_spec, "apiextensions.ServiceReference": webhook_service,
    "apiregistration.ServiceReference": webhook_service,
    "rbac.RoleRef": role_ref, "rbac.Subject": subject,
    "admissionregistration.MutatingWebhook": mutating_webhook, "admissionregistration.ValidatingWebhook": webhook,
    "admissionregistration.ServiceReference": webhook_service, "admissionregistration.RuleWithOperations": webhook_rule,
    "admissionregistration.NamedRuleWithOperations": webhook_rule, "admissionregistration.MatchResources": matching,
    "admissionregistration.ValidatingAdmissionPolicySpec": policy,
    "admissionregistration.MutatingAdmissionPolicySpec": policy,
    "storage.StorageClass": storage_class, "storage.CSIDriverSpec": csi_driver_spec,
    "scheduling.PriorityClass": priority_class, "discovery.EndpointPort": slice_port,
}
# fmt: on
"""By type, without its version: what the API server adds to a part of that type."""
REACHES: Mapping[Adds | None, tuple[str, ...]] = {
    pod: ("spec",), namespace: ("metadata",), deployment_spec: ("strategy",), daemon_set_spec: ("updateStrategy",),
    stateful_set_spec: ("updateStrategy",), job: ("metadata",), replication_controller: ("metadata",),
}  # fmt: skip
"""The members of a part deep inside of which something is added that depends on what else the part or member says."""
# fmt: off
ALLOCATED: Mapping[str, tuple[str, ...]] = {
    "core.ServiceSpec": (
        "clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "healthCheckNodePort", "loadBalancerClass",
    ),
    "core.ServicePort": ("nodePort",),
    "core.ServiceAccount": ("secrets", "imagePullSecrets"),
    "core.PersistentVolumeClaimSpec": ("volumeName", "storageClassName", "volumeAttributesClassName"),
    "core.PersistentVolumeSpec": ("claimRef",),
    "core.PodSpec": ("nodeName",),
    "core.NodeSpec": ("podCIDR", "podCIDRs", "providerID"),
    "core.NamespaceSpec": ("finalizers",),
    "batch.JobSpec": ("selector",),
    "certificates.CertificateSigningRequestSpec": ("username", "uid", "groups", "extra"),
    "admissionregistration.WebhookClientConfig": ("caBundle",),
    "apiextensions.WebhookClientConfig": ("caBundle",),
    "apiregistration.APIServiceSpec": ("caBundle",),
}
# fmt: on
"""By type, without its version: the fields that the server, or a controller, fills in where Git leaves them empty."""
ORDERLESS: Mapping[str, Mapping[str, str]] = {"autoscaling.HorizontalPodAutoscalerSpec": {"metrics": "target"}}
"""By type, without its version: lists that the server may give back in another order, which means nothing; and the
field of their members that does not tell one from another."""
