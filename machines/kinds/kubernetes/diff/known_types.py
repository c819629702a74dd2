"""Fields of custom kinds that have a Kubernetes type (knownTypeFields in Argo CD).

Belongs here: the type of a custom kind of which some fields are known, and the kinds of which we know fields. Does not:
which fields of which kinds users name (`kubernetes.overrides`), the types (`types`).
"""

from collections.abc import Iterable, Mapping
from copy import copy
from functools import lru_cache

import msgspec

from phaseline.machines.kinds.kubernetes.diff.types import ANY, FieldType, type_called


class KnownType(msgspec.Struct, frozen=True):
    """A field by its path (`spec.template.spec`, also through lists), and its type (`core/v1/PodSpec`)."""

    field: str
    type: str


METADATA = KnownType("metadata", "meta/v1/ObjectMeta")
"""What all kinds have."""
UNWRITTEN = "unwritten"
"""The type of a field that is not written where it is false, nothing or empty."""
LENGTH, QUANTITY = "meta/v1/Duration", "core/Quantity"
FLUX = ("interval", "retryInterval", "timeout")
HELM = (
    "apiVersions", "fileParameters", "ignoreMissingValueFiles", "kubeVersion", "namespace", "parameters", "passCredentials",
    "releaseName", "skipCrds", "skipSchemaValidation", "skipTests", "valueFiles", "values", "version",
)  # fmt: skip
KUSTOMIZE = (
    "commonAnnotations", "commonLabels", "components", "forceCommonAnnotations", "forceCommonLabels", "images",
    "ignoreMissingComponents", "labelIncludeTemplates", "labelWithoutSelector", "namePrefix", "nameSuffix", "namespace",
    "patches", "version",
)  # fmt: skip
SOURCE = (
    "chart", "directory.exclude", "directory.include", "directory.recurse", "path", "ref", "targetRevision",
    *(f"helm.{name}" for name in HELM), *(f"kustomize.{name}" for name in KUSTOMIZE),
)  # fmt: skip
ARGO = (
    "ignoreDifferences", "info", "syncPolicy.automated.allowEmpty", "syncPolicy.automated.prune",
    "syncPolicy.automated.selfHeal", "syncPolicy.retry.limit", "syncPolicy.syncOptions",
    *(f"{where}.{name}" for where in ("source", "sources") for name in SOURCE),
)  # fmt: skip
"""The fields of an Application's spec that Argo CD does not write where they say nothing."""
# fmt: off
_FIELDS = (
    #   group                            kinds                                            type                        fields of spec
    ("argoproj.io",                      ("Rollout",),                                    "core/v1/PodTemplateSpec",  ("template",)),
    ("argoproj.io",                      ("Application",),                                UNWRITTEN,                  ARGO),
    ("argoproj.io",                      ("ApplicationSet",),                             UNWRITTEN,                  tuple(f"template.spec.{name}" for name in ARGO)),
    ("cert-manager.io",                  ("Certificate", "CertificateRequest"),           LENGTH,                     ("duration", "renewBefore")),
    ("cluster.x-k8s.io",                 ("Machine",),                                    LENGTH,                     ("nodeDeletionTimeout", "nodeDrainTimeout", "nodeVolumeDetachTimeout")),
    ("cluster.x-k8s.io",                 ("MachineDeployment", "MachinePool", "MachineSet"), LENGTH,                  ("template.spec.nodeDeletionTimeout", "template.spec.nodeDrainTimeout", "template.spec.nodeVolumeDetachTimeout")),
    ("cluster.x-k8s.io",                 ("MachineHealthCheck",),                         LENGTH,                     ("nodeStartupTimeout", "unhealthyConditions.timeout")),
    ("external-secrets.io",              ("ExternalSecret", "PushSecret"),                LENGTH,                     ("refreshInterval",)),
    ("external-secrets.io",              ("ClusterExternalSecret",),                      LENGTH,                     ("refreshTime", "externalSecretSpec.refreshInterval")),
    ("helm.toolkit.fluxcd.io",           ("HelmRelease",),                                LENGTH,                     FLUX),
    ("image.toolkit.fluxcd.io",          ("ImageRepository", "ImageUpdateAutomation"),    LENGTH,                     FLUX),
    ("kustomize.toolkit.fluxcd.io",      ("Kustomization",),                              LENGTH,                     FLUX),
    ("source.toolkit.fluxcd.io",         ("Bucket", "GitRepository", "HelmChart", "HelmRepository", "OCIRepository"), LENGTH, FLUX),
    ("karpenter.sh",                     ("NodePool",),                                   "core/v1/ResourceList",     ("limits",)),
    ("kueue.x-k8s.io",                   ("ClusterQueue",),                               QUANTITY,                   tuple(f"resourceGroups.flavors.resources.{name}" for name in ("borrowingLimit", "lendingLimit", "nominalQuota"))),
    ("velero.io",                        ("Backup",),                                     LENGTH,                     ("itemOperationTimeout", "csiSnapshotTimeout", "ttl")),
    ("velero.io",                        ("Schedule",),                                   LENGTH,                     ("template.itemOperationTimeout", "template.csiSnapshotTimeout", "template.ttl")),
)
# fmt: on
BUILT_IN: Mapping[tuple[str, str], tuple[KnownType, ...]] = {
    (group, kind): tuple(KnownType(f"spec.{field}", type_) for field in fields)
    for group, kinds, type_, fields in _FIELDS
    for kind in kinds
}
"""By group and kind: fields of custom kinds whose types need not be named. Their controllers write them back anew."""


_UNWRITTEN = FieldType("any")
_UNWRITTEN.unwritten = True


def custom_type(group: str, kind: str, fields: tuple[KnownType, ...], schema: FieldType | None) -> FieldType:
    """The type of a custom kind: that of its schema, else any JSON, but for the fields of which the type is known."""
    if schema is None:
        return _custom_type(group, kind, fields)
    known = (*BUILT_IN.get((group, kind), ()), *fields)
    return with_fields(known, schema) if known else schema


@lru_cache(maxsize=256)
def _custom_type(group: str, kind: str, fields: tuple[KnownType, ...]) -> FieldType:
    return with_fields((METADATA, *BUILT_IN.get((group, kind), ()), *fields))


def with_fields(fields: Iterable[KnownType], type_: FieldType = ANY) -> FieldType:
    """A type with these fields. A path goes through lists; a type that is not known says nothing."""
    for one in fields:
        named = _UNWRITTEN if one.type == UNWRITTEN else type_called(one.type)
        if named is not None:
            type_ = _placed(type_, one.field.split("."), named)
    return type_


def _placed(before: FieldType, path: list[str], type_: FieldType) -> FieldType:
    """The type with one more field at a path."""
    if not path:
        return type_
    made = copy(before)
    if before.form == "list":
        made.item = _placed(before.item, path, type_)
        return made
    made.item = made if before.item is before else before.item
    made.fields = {**before.fields, path[0]: _placed(before.of(path[0]), path[1:], type_)}
    return made
