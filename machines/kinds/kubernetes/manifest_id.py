"""The identity of a manifest: its group and kind, and whether it belongs to an entity's id.

Belongs here: reading the identity, which types are maps; which kinds that come with Kubernetes are cluster-wide, from
its published API: their objects have no namespace, whatever a manifest says. Does not: custom kinds, whose definitions
say it (`kubernetes.kind_facts`), anything else a manifest says.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

Manifest = Mapping[str, Any]
"""An object of Kubernetes, as it is or as Git declares it."""
NO_NAMESPACE = "-"
"""What stands in an id in the place of a namespace."""
MAPS = (dict, Mapping)
"""For `isinstance`: a map of any type. The usual one stands first, because to ask for the other takes long."""
MOVED = {
    ("extensions", "DaemonSet"): "apps",
    ("extensions", "Deployment"): "apps",
    ("extensions", "Ingress"): "networking.k8s.io",
    ("extensions", "NetworkPolicy"): "networking.k8s.io",
    ("extensions", "PodSecurityPolicy"): "policy",
    ("extensions", "ReplicaSet"): "apps",
}
"""The kinds that Kubernetes moved to another group, and that group. An object is the same in both."""


def group_kind(found: Mapping[str, Any]) -> tuple[str, str]:
    """The group (empty for core) and kind of an object."""
    version, kind = found.get("apiVersion"), found.get("kind")
    group, slash, _ = version.partition("/") if isinstance(version, str) else ("", "", "")
    return (group if slash else ""), kind if isinstance(kind, str) else ""


def made_name(found: Mapping[str, Any]) -> str:
    """How the names begin that the API server makes for a manifest without a name; empty if it has one."""
    metadata = found.get("metadata")
    named = metadata if isinstance(metadata, MAPS) else {}
    start = named.get("generateName")
    return start if isinstance(start, str) and not named.get("name") else ""


def present_group(group: str, kind: str) -> str:
    """The group in which a kind is served now."""
    return MOVED.get((group, kind), group)


def _present(kind: str) -> str:
    group, _, name = kind.partition(":")
    return f"{present_group(group, name)}:{name}"


class ManifestId(msgspec.Struct, frozen=True, gc=False):
    """The object that a manifest is of. name, namespace: as the manifest says, which may hold anything there."""

    kind: str
    """`<group>:<Kind>`, `core:<Kind>` for the core group."""
    name: Any
    namespace: Any

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> "ManifestId":
        """The identity of a manifest."""
        group, kind = group_kind(found)
        metadata = found.get("metadata")
        named = metadata if isinstance(metadata, MAPS) else {}
        return cls(f"{group or 'core'}:{kind}", named.get("name"), named.get("namespace"))

    @property
    def is_cluster_wide(self) -> bool:
        """Whether its kind comes with Kubernetes and is cluster-wide: then its namespace says nothing."""
        group, _, kind = self.kind.partition(":")
        return is_cluster_wide("" if group == "core" else group, kind)

    def mismatch(self, kind: str, namespace: str, name: str) -> str:
        """Why it is not the object of an id that ends in these three parts; empty if it is."""
        if self.kind != kind and _present(self.kind) != _present(kind):
            return f"is of {self.kind}, the id is of {kind}"
        if self.name not in (None, name):
            return f"is called {self.name!r:.60}, the id says {name!r}"
        if self.namespace not in (None, "", namespace) and not (namespace == NO_NAMESPACE and self.is_cluster_wide):
            return f"is in namespace {self.namespace!r:.60}, the id says {namespace!r}"
        return ""


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
