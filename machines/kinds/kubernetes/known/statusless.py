"""The kinds of Kubernetes whose published type has no status: they take no part in health.

Belongs here: their list. Does not: health rules (`health`).
"""

# fmt: off
STATUSLESS = frozenset((group, kind) for group, kinds in (
    ("",                             ("ConfigMap", "Secret", "ServiceAccount", "Endpoints", "LimitRange", "PodTemplate")),
    ("admissionregistration.k8s.io", ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")),
    ("apps",                         ("ControllerRevision",)),
    ("coordination.k8s.io",          ("Lease",)),
    ("discovery.k8s.io",             ("EndpointSlice",)),
    ("networking.k8s.io",            ("IngressClass", "NetworkPolicy")),
    ("node.k8s.io",                  ("RuntimeClass",)),
    ("rbac.authorization.k8s.io",    ("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding")),
    ("scheduling.k8s.io",            ("PriorityClass",)),
    ("storage.k8s.io",               ("StorageClass", "CSIDriver", "CSINode", "VolumeAttributesClass")),
) for kind in kinds)
# fmt: on
"""Group and kind; the core group is empty. After Kubernetes' own type definitions (k8s.io/api)."""
