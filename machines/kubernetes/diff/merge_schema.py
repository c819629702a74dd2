"""Merge schemas of the built-in kinds: which lists merge by a key, which parts get defaults from the API server.

Belongs here: the schema of each kind. Does not: the defaults (`defaults`), merging (`merge`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from phaseline.machines.kubernetes.diff import defaults
from phaseline.machines.kubernetes.diff.defaults import Adds


@dataclass(frozen=True, slots=True)
class MergeSchema:
    """The schema of a part of a kind.

    has: schemas of its fields, or of the members of its lists. keys: by list that merges, the key of its members; empty
    if they are strings. whole: maps that are replaced, not merged. adds: adds the API server's defaults.
    """

    has: "Mapping[str, MergeSchema]" = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)
    whole: tuple[str, ...] = ()
    adds: Adds | None = None


NO_SCHEMA = MergeSchema()

# fmt: off
PROBE = MergeSchema(has={"httpGet": MergeSchema(adds=defaults.http_get)}, adds=defaults.probe)
HANDLER = MergeSchema(has={"httpGet": MergeSchema(adds=defaults.http_get)})
FIELD_REF = MergeSchema(has={"fieldRef": MergeSchema(adds=defaults.field_ref)})
ENV = MergeSchema(has={"valueFrom": FIELD_REF})
CONTAINER = MergeSchema(
    has={
        "env": ENV, "ports": MergeSchema(adds=defaults.protocol),
        "livenessProbe": PROBE, "readinessProbe": PROBE, "startupProbe": PROBE,
        "lifecycle": MergeSchema(has={"preStop": HANDLER, "postStart": HANDLER}),
    },
    keys={"env": "name", "ports": "containerPort", "volumeDevices": "devicePath", "volumeMounts": "mountPath"},
    adds=defaults.container,
)
DOWNWARD = MergeSchema(has={"items": FIELD_REF}, adds=defaults.mode)
CLAIM = MergeSchema(has={"spec": MergeSchema(adds=defaults.claim_spec)})
PROJECTION = MergeSchema(has={
    "serviceAccountToken": MergeSchema(adds=defaults.token), "downwardAPI": MergeSchema(has={"items": FIELD_REF}),
})
VOLUME = MergeSchema(
    has={
        "configMap": MergeSchema(adds=defaults.mode), "secret": MergeSchema(adds=defaults.mode),
        "downwardAPI": DOWNWARD, "projected": MergeSchema(has={"sources": PROJECTION}, adds=defaults.mode),
        "hostPath": MergeSchema(adds=defaults.host_path), "iscsi": MergeSchema(adds=defaults.iscsi),
        "rbd": MergeSchema(adds=defaults.rbd), "azureDisk": MergeSchema(adds=defaults.azure_disk),
        "scaleIO": MergeSchema(adds=defaults.scale_io), "ephemeral": MergeSchema(has={"volumeClaimTemplate": CLAIM}),
    },
    adds=defaults.volume,
)
POD_KEYS = {
    "containers": "name", "initContainers": "name", "ephemeralContainers": "name", "hostAliases": "ip",
    "imagePullSecrets": "name", "resourceClaims": "name", "schedulingGates": "name",
    "topologySpreadConstraints": "topologyKey", "volumes": "name",
}
POD_PARTS = {"containers": CONTAINER, "initContainers": CONTAINER, "ephemeralContainers": CONTAINER, "volumes": VOLUME}
METADATA = MergeSchema(keys={"finalizers": "", "ownerReferences": "uid"})
POD_SPEC = MergeSchema(has=POD_PARTS, keys=POD_KEYS, adds=defaults.pod_spec)
LONE_POD_SPEC = MergeSchema(has=POD_PARTS, keys=POD_KEYS, adds=defaults.lone_pod_spec)
POD = MergeSchema(has={"spec": LONE_POD_SPEC, "metadata": METADATA})
TEMPLATE = MergeSchema(has={"spec": POD_SPEC, "metadata": METADATA})
JOB_SPEC = MergeSchema(has={"template": TEMPLATE}, adds=defaults.job_spec)
JOB_TEMPLATE = MergeSchema(has={"spec": MergeSchema(has={"template": TEMPLATE})})
SERVICE_SPEC = MergeSchema(
    has={"ports": MergeSchema(adds=defaults.service_port)}, keys={"ports": "port"}, adds=defaults.service_spec,
)
SCALING = MergeSchema(has={
    "scaleUp": MergeSchema(adds=defaults.scale_up), "scaleDown": MergeSchema(adds=defaults.scale_down),
})
BINDING = MergeSchema(has={
    "metadata": METADATA, "roleRef": MergeSchema(adds=defaults.role_ref),
    "subjects": MergeSchema(adds=defaults.subject),
})
SLICE_PORT = MergeSchema(adds=defaults.slice_port)
CLIENT = MergeSchema(has={"service": MergeSchema(adds=defaults.webhook_service)})
WEBHOOK = MergeSchema(
    has={"clientConfig": CLIENT, "rules": MergeSchema(adds=defaults.webhook_rule)},
    keys={"matchConditions": "name"}, adds=defaults.webhook,
)
MUTATING = MergeSchema(has=WEBHOOK.has, keys=WEBHOOK.keys, adds=defaults.mutating_webhook)
POLICY = MergeSchema(keys={"matchConditions": "name", "variables": "name"})
RULES = MergeSchema(has={"ports": MergeSchema(adds=defaults.protocol)})
NETWORK_POLICY_SPEC = MergeSchema(has={"ingress": RULES, "egress": RULES}, adds=defaults.network_policy_spec)
VOLUME_SOURCES = {name: VOLUME.has[name] for name in ("hostPath", "iscsi", "rbd", "azureDisk", "scaleIO")}


def _specified(spec: MergeSchema) -> MergeSchema:
    return MergeSchema(has={"spec": spec, "metadata": METADATA})


def _webhooks(webhook: MergeSchema) -> MergeSchema:
    return MergeSchema(has={"webhooks": webhook, "metadata": METADATA}, keys={"webhooks": "name"})


def _workload(adds: Adds) -> MergeSchema:
    return _specified(MergeSchema(has={"template": TEMPLATE, "volumeClaimTemplates": CLAIM}, adds=adds))


SCHEMAS: Mapping[tuple[str, str], MergeSchema] = {
    ("apps", "Deployment"):  _workload(defaults.deployment_spec),
    ("apps", "StatefulSet"): _workload(defaults.stateful_set_spec),
    ("apps", "DaemonSet"):   _workload(defaults.daemon_set_spec),
    ("apps", "ReplicaSet"):  _workload(defaults.replicas),
    ("extensions", "Deployment"): _workload(defaults.deployment_spec),
    ("extensions", "DaemonSet"):  _workload(defaults.daemon_set_spec),
    ("extensions", "ReplicaSet"): _workload(defaults.replicas),
    ("", "ReplicationController"): _workload(defaults.replicas),
    ("", "PodTemplate"):     MergeSchema(has={"template": TEMPLATE, "metadata": METADATA}),
    ("", "Pod"):             POD,
    ("batch", "Job"):        _specified(JOB_SPEC),
    ("batch", "CronJob"):    _specified(MergeSchema(has={"jobTemplate": JOB_TEMPLATE}, adds=defaults.cron_job_spec)),
    ("", "Service"):         _specified(SERVICE_SPEC),
    ("", "ServiceAccount"):  MergeSchema(has={"metadata": METADATA}, keys={"secrets": "name"}),
    ("", "Secret"):          MergeSchema(has={"metadata": METADATA}, adds=defaults.secret),
    ("", "Namespace"):       MergeSchema(has={"metadata": METADATA}, adds=defaults.namespace),
    ("", "Node"):            _specified(MergeSchema(keys={"podCIDRs": ""})),
    ("", "PersistentVolume"):      _specified(MergeSchema(has=VOLUME_SOURCES, adds=defaults.persistent_volume_spec)),
    ("", "PersistentVolumeClaim"): _specified(MergeSchema(adds=defaults.claim_spec)),
    ("", "LimitRange"):      _specified(MergeSchema(has={"limits": MergeSchema(adds=defaults.limit)})),
    ("", "Endpoints"):       MergeSchema(has={"subsets": RULES, "metadata": METADATA}),
    ("autoscaling", "HorizontalPodAutoscaler"): _specified(
        MergeSchema(has={"behavior": SCALING}, adds=defaults.autoscaler_spec)
    ),
    ("networking.k8s.io", "NetworkPolicy"): _specified(NETWORK_POLICY_SPEC),
    ("extensions", "NetworkPolicy"): _specified(NETWORK_POLICY_SPEC),
    ("policy", "PodDisruptionBudget"): _specified(MergeSchema(whole=("selector",))),
    ("rbac.authorization.k8s.io", "RoleBinding"):        BINDING,
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): BINDING,
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"):   _webhooks(MUTATING),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): _webhooks(WEBHOOK),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"): _specified(POLICY),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"):   _specified(POLICY),
    ("storage.k8s.io", "StorageClass"): MergeSchema(has={"metadata": METADATA}, adds=defaults.storage_class),
    ("storage.k8s.io", "CSIDriver"):    _specified(MergeSchema(adds=defaults.csi_driver_spec)),
    ("storage.k8s.io", "CSINode"):      _specified(MergeSchema(keys={"drivers": "name"})),
    ("scheduling.k8s.io", "PriorityClass"): MergeSchema(has={"metadata": METADATA}, adds=defaults.priority_class),
    ("discovery.k8s.io", "EndpointSlice"):  MergeSchema(has={"metadata": METADATA, "ports": SLICE_PORT}),
}
# fmt: on
OTHER_KIND = MergeSchema(has={"metadata": METADATA})
"""The schema of every other built-in kind."""
