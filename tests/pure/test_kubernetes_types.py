"""The table of Kubernetes' types: it is what the script writes, and agrees with what else is known of them."""

import json
from functools import cache
from hashlib import blake2b
from importlib.metadata import version
from typing import Any

import pytest

from phaseline.machines.kinds.kubernetes.diff.compare import COMPARISON
from phaseline.machines.kinds.kubernetes.diff.types import ANY, FieldType, kinds, type_called, type_of
from phaseline.machines.kinds.kubernetes.diff.versions import same_fields
from tests.support import kubernetes_types
from tests.support.conformance import read

DIGEST = ("6", "4f3c38e0bb8581c8")
"""The revision of the comparison, and the digest of the table that it was made with."""


@cache
def table() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(kubernetes_types.TABLE.read_text(encoding="utf-8"))
    return found


def test_the_table_is_what_the_script_writes() -> None:
    """Run `python -m tests.support.kubernetes_types` with the version of the package that the table names."""
    assert version(kubernetes_types.PACKAGE) == table()["source"][kubernetes_types.PACKAGE]
    made = kubernetes_types.table(before=table())
    assert kubernetes_types.written(made) == kubernetes_types.TABLE.read_text(encoding="utf-8")


def test_another_table_is_another_revision_of_the_comparison() -> None:
    """A log is judged again by the table of its day: raise COMPARISON, run `dev.py rules`, write the digest here."""
    found = blake2b(kubernetes_types.TABLE.read_bytes(), digest_size=8).hexdigest()
    assert (str(COMPARISON.number), found) == DIGEST


def test_merge_keys_are_those_of_kubernetes_own_code() -> None:
    compared = 0
    structs = read("k8s_patch_meta.json").get("structs", {})
    if not structs:
        pytest.skip("the cases are not at hand")
    for name, fields in structs.items():
        *_, group, rest = name.replace("/", ".").rsplit(".", 3)[-3:]
        known = table()["types"].get(f"{name.rpartition('/')[0].rpartition('/')[2]}.{group}.{rest}", {})
        for field, facts in fields.items():
            if field in known and facts["strategy"] != "retainKeys":
                code = known[field]
                key = facts.get("merge_key") or "="
                assert code.startswith(("=", f"[{key}]", f"[{key},")), (name, field, code)
                compared += 1
    assert compared > 30


@pytest.mark.parametrize(("version_", "kind", "path", "form", "tells_zero"), [
    ("apps/v1", "Deployment", "spec.replicas", "integer", True),
    ("apps/v1", "Deployment", "spec.minReadySeconds", "integer", False),
    ("apps/v1beta1", "Deployment", "spec.template.spec.hostNetwork", "boolean", False),
    ("v1", "Pod", "spec.automountServiceAccountToken", "boolean", True),
    ("v1", "Pod", "spec.containers.resources.limits.cpu", "quantity", False),
    ("v1", "LimitRange", "spec.limits.max.memory", "quantity", False),
    ("v1", "ConfigMap", "binaryData.a", "bytes", False),
    ("v1", "ConfigMap", "data.memory", "string", False),
    ("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "webhooks.clientConfig.caBundle", "bytes", False),
    ("v1", "Service", "spec.ports.targetPort", "integer or string", False),
    ("v1", "Pod", "spec.volumes.emptyDir", "struct", True),
    ("networking.k8s.io/v1", "NetworkPolicy", "spec.podSelector", "struct", True),
    ("v1", "Pod", "spec.securityContext", "struct", False),
    ("v1", "PersistentVolumeClaim", "spec.storageClassName", "string", True),
    ("storage.k8s.io/v1", "StorageClass", "parameters.memory", "string", False),
])  # fmt: skip
def test_a_type_is_that_of_its_place(version_: str, kind: str, path: str, form: str, tells_zero: bool) -> None:
    found = type_of(version_, kind) or ANY
    for step in path.split("."):
        found = found.of(step) if found.form != "list" else found.item.of(step)
    assert (found.form, found.tells_zero) == (form, tells_zero)


def test_custom_kinds_have_no_type() -> None:
    assert type_of("example.io/v1", "Widget") is None


def test_a_definition_is_of_a_known_kind_and_its_schemas_hold_schemas() -> None:
    found = type_of("apiextensions.k8s.io/v1", "CustomResourceDefinition") or ANY
    schema = found.of("spec").of("versions").item.of("schema").of("openAPIV3Schema")
    inner = schema.of("properties").item.of("items").of("properties").item
    assert (inner.fields.keys(), inner.of("required").form) == (schema.fields.keys(), "list")


@pytest.mark.parametrize(("name", "form"), [
    ("core/v1/PodSpec", "struct"), ("core/Quantity", "quantity"), ("meta/v1/Duration", "duration"),
    ("core/v1/ResourceList", "map"), ("core/v1/Nothing", None),
])  # fmt: skip
def test_types_by_the_names_that_argo_cd_gives_them(name: str, form: str | None) -> None:
    found: FieldType | None = type_called(name)
    assert (found and found.form) == form


def test_all_versions_of_all_kinds_can_be_held_against_each_other() -> None:
    """Some hold themselves."""
    by_kind: dict[str, list[FieldType]] = {}
    for version_, kind in kinds():
        by_kind.setdefault(kind, []).append(type_of(version_, kind) or ANY)
    found = {kind for kind, types in by_kind.items() if all(same_fields(types[0], one) for one in types)}
    assert "Workload" in by_kind
    assert {"CustomResourceDefinition", "CronJob", "PodDisruptionBudget"} <= found
    assert not {"HorizontalPodAutoscaler", "ResourceClaim"} & found
