"""Which kinds that come with Kubernetes are cluster-wide: their objects have no namespace, whatever a manifest says.

Belongs here: the list, from Kubernetes' published API. Does not: custom kinds, whose definitions say it
(`kubernetes.kind_facts`).
"""

# fmt: off
KINDS = (
    #  group                           kinds
    ("",                               "ComponentStatus Namespace Node PersistentVolume"),
    ("admissionregistration.k8s.io",   "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding "
                                       "MutatingWebhookConfiguration ValidatingAdmissionPolicy "
                                       "ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration"),
    ("apiextensions.k8s.io",           "CustomResourceDefinition"),
    ("apiregistration.k8s.io",         "APIService"),
    ("authentication.k8s.io",          "SelfSubjectReview TokenReview"),
    ("authorization.k8s.io",           "SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview"),
    ("certificates.k8s.io",            "CertificateSigningRequest ClusterTrustBundle"),
    ("flowcontrol.apiserver.k8s.io",   "FlowSchema PriorityLevelConfiguration"),
    ("internal.apiserver.k8s.io",      "StorageVersion"),
    ("networking.k8s.io",              "IPAddress IngressClass ServiceCIDR"),
    ("node.k8s.io",                    "RuntimeClass"),
    ("policy",                         "PodSecurityPolicy"),
    ("extensions",                     "PodSecurityPolicy"),
    ("rbac.authorization.k8s.io",      "ClusterRole ClusterRoleBinding"),
    ("resource.k8s.io",                "DeviceClass DeviceTaintRule ResourcePoolStatusRequest ResourceSlice"),
    ("scheduling.k8s.io",              "PriorityClass"),
    ("storage.k8s.io",                 "CSIDriver CSINode StorageClass VolumeAttachment VolumeAttributesClass"),
    ("storagemigration.k8s.io",        "StorageVersionMigration"),
)
# fmt: on
CLUSTER_WIDE = frozenset((group, kind) for group, kinds in KINDS for kind in kinds.split())


def is_cluster_wide(group: str, kind: str) -> bool:
    """Whether a kind that comes with Kubernetes is cluster-wide."""
    return (group, kind) in CLUSTER_WIDE
