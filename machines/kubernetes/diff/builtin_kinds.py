"""The kinds that are built into Kubernetes; all others are custom.

Belongs here: their names. Does not: their fields (`merge_schema`).
"""

_NAMES = {
    "admissionregistration.k8s.io/v1": (
        "MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding "
        "ValidatingWebhookConfiguration"
    ),
    "admissionregistration.k8s.io/v1alpha1": (
        "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding ValidatingAdmissionPolicy "
        "ValidatingAdmissionPolicyBinding"
    ),
    "admissionregistration.k8s.io/v1beta1": (
        "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration "
        "ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration"
    ),
    "apps/v1": "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet",
    "apps/v1beta1": "ControllerRevision Deployment DeploymentRollback Scale StatefulSet",
    "apps/v1beta2": "ControllerRevision DaemonSet Deployment ReplicaSet Scale StatefulSet",
    "authentication.k8s.io/v1": "SelfSubjectReview TokenRequest TokenReview",
    "authentication.k8s.io/v1alpha1": "SelfSubjectReview",
    "authentication.k8s.io/v1beta1": "SelfSubjectReview TokenReview",
    "authorization.k8s.io/v1": (
        "LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview"
    ),
    "authorization.k8s.io/v1beta1": (
        "LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview"
    ),
    "autoscaling/v1": "HorizontalPodAutoscaler Scale",
    "autoscaling/v2": "HorizontalPodAutoscaler",
    "autoscaling/v2beta1": "HorizontalPodAutoscaler",
    "autoscaling/v2beta2": "HorizontalPodAutoscaler",
    "batch/v1": "CronJob Job",
    "batch/v1beta1": "CronJob",
    "certificates.k8s.io/v1": "CertificateSigningRequest",
    "certificates.k8s.io/v1alpha1": "ClusterTrustBundle PodCertificateRequest",
    "certificates.k8s.io/v1beta1": "CertificateSigningRequest ClusterTrustBundle",
    "coordination.k8s.io/v1": "Lease",
    "coordination.k8s.io/v1alpha2": "LeaseCandidate",
    "coordination.k8s.io/v1beta1": "Lease LeaseCandidate",
    "discovery.k8s.io/v1": "EndpointSlice",
    "discovery.k8s.io/v1beta1": "EndpointSlice",
    "events.k8s.io/v1": "Event",
    "events.k8s.io/v1beta1": "Event",
    "extensions/v1beta1": "DaemonSet Deployment DeploymentRollback Ingress NetworkPolicy ReplicaSet Scale",
    "flowcontrol.apiserver.k8s.io/v1": "FlowSchema PriorityLevelConfiguration",
    "flowcontrol.apiserver.k8s.io/v1beta1": "FlowSchema PriorityLevelConfiguration",
    "flowcontrol.apiserver.k8s.io/v1beta2": "FlowSchema PriorityLevelConfiguration",
    "flowcontrol.apiserver.k8s.io/v1beta3": "FlowSchema PriorityLevelConfiguration",
    "internal.apiserver.k8s.io/v1alpha1": "StorageVersion",
    "networking.k8s.io/v1": "IPAddress Ingress IngressClass NetworkPolicy ServiceCIDR",
    "networking.k8s.io/v1beta1": "IPAddress Ingress IngressClass ServiceCIDR",
    "node.k8s.io/v1": "RuntimeClass",
    "node.k8s.io/v1alpha1": "RuntimeClass",
    "node.k8s.io/v1beta1": "RuntimeClass",
    "policy/v1": "Eviction PodDisruptionBudget",
    "policy/v1beta1": "Eviction PodDisruptionBudget",
    "rbac.authorization.k8s.io/v1": "ClusterRole ClusterRoleBinding Role RoleBinding",
    "rbac.authorization.k8s.io/v1alpha1": "ClusterRole ClusterRoleBinding Role RoleBinding",
    "rbac.authorization.k8s.io/v1beta1": "ClusterRole ClusterRoleBinding Role RoleBinding",
    "resource.k8s.io/v1": "DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice",
    "resource.k8s.io/v1alpha3": "DeviceTaintRule",
    "resource.k8s.io/v1beta1": "DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice",
    "resource.k8s.io/v1beta2": "DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice",
    "scheduling.k8s.io/v1": "PriorityClass",
    "scheduling.k8s.io/v1alpha1": "PriorityClass",
    "scheduling.k8s.io/v1beta1": "PriorityClass",
    "storage.k8s.io/v1": "CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass",
    "storage.k8s.io/v1alpha1": "CSIStorageCapacity VolumeAttachment VolumeAttributesClass",
    "storage.k8s.io/v1beta1": (
        "CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass"
    ),
    "storagemigration.k8s.io/v1alpha1": "StorageVersionMigration",
    "v1": (
        "Binding ComponentStatus ConfigMap Endpoints Event LimitRange Namespace Node PersistentVolume "
        "PersistentVolumeClaim Pod PodStatusResult PodTemplate RangeAllocation ReplicationController "
        "ResourceQuota Secret SerializedReference Service ServiceAccount"
    ),
}

BUILTIN_KINDS = frozenset((version, kind) for version, kinds in _NAMES.items() for kind in kinds.split())
"""`(apiVersion, kind)`, as of Kubernetes 1.34."""
