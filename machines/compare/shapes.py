"""The parts of Kubernetes' kinds whose lists merge by a key, or to which the API server adds (spec: GitOps, Comparing).

Belongs here: which part has which. Does not: what is added (`defaults`), how lists merge (`merge`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from phaseline.machines.compare import defaults
from phaseline.machines.compare.defaults import Adds


@dataclass(frozen=True, slots=True)
class Shape:
    """A part of a kind.

    has: its own parts, or the parts in its lists. keys: per list that merges, the key of its members; empty where they are
    words. whole: maps that are replaced, not merged. adds: what the API server fills in.
    """

    has: "Mapping[str, Shape]" = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)
    whole: tuple[str, ...] = ()
    adds: Adds | None = None


NOTHING = Shape()

# fmt: off
PROBE = Shape(has={"httpGet": Shape(adds=defaults.http_get)}, adds=defaults.probe)
HANDLER = Shape(has={"httpGet": Shape(adds=defaults.http_get)})
FIELD_REF = Shape(has={"fieldRef": Shape(adds=defaults.field_ref)})
ENV = Shape(has={"valueFrom": FIELD_REF})
CONTAINER = Shape(
    has={
        "env": ENV, "ports": Shape(adds=defaults.protocol), "livenessProbe": PROBE, "readinessProbe": PROBE, "startupProbe": PROBE,
        "lifecycle": Shape(has={"preStop": HANDLER, "postStart": HANDLER}),
    },
    keys={"env": "name", "ports": "containerPort", "volumeDevices": "devicePath", "volumeMounts": "mountPath"},
    adds=defaults.container,
)
DOWNWARD = Shape(has={"items": FIELD_REF}, adds=defaults.mode)
CLAIM = Shape(has={"spec": Shape(adds=defaults.claim_spec)})
PROJECTION = Shape(has={
    "serviceAccountToken": Shape(adds=defaults.token), "downwardAPI": Shape(has={"items": FIELD_REF}),
})
VOLUME = Shape(
    has={
        "configMap": Shape(adds=defaults.mode), "secret": Shape(adds=defaults.mode), "downwardAPI": DOWNWARD,
        "projected": Shape(has={"sources": PROJECTION}, adds=defaults.mode), "hostPath": Shape(adds=defaults.host_path),
        "iscsi": Shape(adds=defaults.iscsi), "rbd": Shape(adds=defaults.rbd), "azureDisk": Shape(adds=defaults.azure_disk),
        "scaleIO": Shape(adds=defaults.scale_io), "ephemeral": Shape(has={"volumeClaimTemplate": CLAIM}),
    },
    adds=defaults.volume,
)
POD_KEYS = {
    "containers": "name", "initContainers": "name", "ephemeralContainers": "name", "hostAliases": "ip", "imagePullSecrets": "name",
    "resourceClaims": "name", "schedulingGates": "name", "topologySpreadConstraints": "topologyKey", "volumes": "name",
}
POD_PARTS = {"containers": CONTAINER, "initContainers": CONTAINER, "ephemeralContainers": CONTAINER, "volumes": VOLUME}
METADATA = Shape(keys={"finalizers": "", "ownerReferences": "uid"})
POD_SPEC = Shape(has=POD_PARTS, keys=POD_KEYS, adds=defaults.pod_spec)
POD = Shape(has={"spec": Shape(has=POD_PARTS, keys=POD_KEYS, adds=defaults.lone_pod_spec), "metadata": METADATA})
TEMPLATE = Shape(has={"spec": POD_SPEC, "metadata": METADATA})
JOB_SPEC = Shape(has={"template": TEMPLATE}, adds=defaults.job_spec)
WEBHOOK = Shape(
    has={"clientConfig": Shape(has={"service": Shape(adds=defaults.webhook_service)}), "rules": Shape(adds=defaults.webhook_rule)},
    keys={"matchConditions": "name"}, adds=defaults.webhook,
)
MUTATING = Shape(has=WEBHOOK.has, keys=WEBHOOK.keys, adds=defaults.mutating_webhook)
POLICY = Shape(keys={"matchConditions": "name", "variables": "name"})
RULES = Shape(has={"ports": Shape(adds=defaults.protocol)})
VOLUME_SOURCES = {name: VOLUME.has[name] for name in ("hostPath", "iscsi", "rbd", "azureDisk", "scaleIO")}


def _specified(spec: Shape) -> Shape:
    return Shape(has={"spec": spec, "metadata": METADATA})


def _workload(adds: Adds) -> Shape:
    return _specified(Shape(has={"template": TEMPLATE, "volumeClaimTemplates": CLAIM}, adds=adds))


SHAPES: Mapping[tuple[str, str], Shape] = {
    ("apps", "Deployment"):  _workload(defaults.deployment_spec),
    ("apps", "StatefulSet"): _workload(defaults.stateful_set_spec),
    ("apps", "DaemonSet"):   _workload(defaults.daemon_set_spec),
    ("apps", "ReplicaSet"):  _workload(defaults.replicas),
    ("extensions", "Deployment"): _workload(defaults.deployment_spec),
    ("extensions", "DaemonSet"):  _workload(defaults.daemon_set_spec),
    ("extensions", "ReplicaSet"): _workload(defaults.replicas),
    ("", "ReplicationController"): _workload(defaults.replicas),
    ("", "PodTemplate"):     Shape(has={"template": TEMPLATE, "metadata": METADATA}),
    ("", "Pod"):             POD,
    ("batch", "Job"):        _specified(JOB_SPEC),
    ("batch", "CronJob"):    _specified(Shape(has={"jobTemplate": Shape(has={"spec": Shape(has={"template": TEMPLATE})})}, adds=defaults.cron_job_spec)),
    ("", "Service"):         _specified(Shape(has={"ports": Shape(adds=defaults.service_port)}, keys={"ports": "port"}, adds=defaults.service_spec)),
    ("", "ServiceAccount"):  Shape(has={"metadata": METADATA}, keys={"secrets": "name"}),
    ("", "Secret"):          Shape(has={"metadata": METADATA}, adds=defaults.secret),
    ("", "Namespace"):       Shape(has={"metadata": METADATA}, adds=defaults.namespace),
    ("", "Node"):            _specified(Shape(keys={"podCIDRs": ""})),
    ("", "PersistentVolume"):      _specified(Shape(has=VOLUME_SOURCES, adds=defaults.persistent_volume_spec)),
    ("", "PersistentVolumeClaim"): _specified(Shape(adds=defaults.claim_spec)),
    ("", "LimitRange"):      _specified(Shape(has={"limits": Shape(adds=defaults.limit)})),
    ("", "Endpoints"):       Shape(has={"subsets": RULES, "metadata": METADATA}),
    ("autoscaling", "HorizontalPodAutoscaler"): _specified(Shape(has={"behavior": Shape(has={"scaleUp": Shape(adds=defaults.scale_up), "scaleDown": Shape(adds=defaults.scale_down)})}, adds=defaults.autoscaler_spec)),
    ("networking.k8s.io", "NetworkPolicy"): _specified(Shape(has={"ingress": RULES, "egress": RULES}, adds=defaults.network_policy_spec)),
    ("extensions", "NetworkPolicy"): _specified(Shape(has={"ingress": RULES, "egress": RULES}, adds=defaults.network_policy_spec)),
    ("policy", "PodDisruptionBudget"): _specified(Shape(whole=("selector",))),
    ("rbac.authorization.k8s.io", "RoleBinding"):        Shape(has={"metadata": METADATA, "roleRef": Shape(adds=defaults.role_ref), "subjects": Shape(adds=defaults.subject)}),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): Shape(has={"metadata": METADATA, "roleRef": Shape(adds=defaults.role_ref), "subjects": Shape(adds=defaults.subject)}),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"):   Shape(has={"webhooks": MUTATING, "metadata": METADATA}, keys={"webhooks": "name"}),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): Shape(has={"webhooks": WEBHOOK, "metadata": METADATA}, keys={"webhooks": "name"}),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"): _specified(POLICY),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"):   _specified(POLICY),
    ("storage.k8s.io", "StorageClass"): Shape(has={"metadata": METADATA}, adds=defaults.storage_class),
    ("storage.k8s.io", "CSIDriver"):    _specified(Shape(adds=defaults.csi_driver_spec)),
    ("storage.k8s.io", "CSINode"):      _specified(Shape(keys={"drivers": "name"})),
    ("scheduling.k8s.io", "PriorityClass"): Shape(has={"metadata": METADATA}, adds=defaults.priority_class),
    ("discovery.k8s.io", "EndpointSlice"):  Shape(has={"metadata": METADATA, "ports": Shape(adds=defaults.slice_port)}),
}
# fmt: on
OTHER = Shape(has={"metadata": METADATA})
"""A known kind of which nothing more is to be known."""
