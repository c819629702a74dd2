"""Objects of a custom kind, its definition, and who claims which fields of an object."""

from copy import deepcopy
from typing import Any

Manifest = dict[str, Any]
GROUP = "shop.example"


def custom(spec: Any, *, kind: str = "Gear", namespace: str | None = "shop", **metadata: Any) -> Manifest:
    """An object of a custom kind."""
    place = {} if namespace is None else {"namespace": namespace}
    return {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": {"name": "it", **place, **metadata}, "spec": spec}


def definition(schema: Any, *, kind: str = "Gear", scope: str = "Namespaced", **spec: Any) -> Manifest:
    """The CustomResourceDefinition of that kind. schema: that of its `spec`."""
    whole = {"type": "object", "properties": {"metadata": {"type": "object"}, "spec": schema}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": whole}}
    names = {"kind": kind, "plural": f"{kind.lower()}s", "singular": kind.lower(), "listKind": f"{kind}List"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.lower()}s.{GROUP}"},
        "spec": {"group": GROUP, "scope": scope, "names": names, "versions": [version], **spec},
    }  # fmt: skip


def claimed(live: Manifest, *claims: tuple[str, str, Any]) -> Manifest:
    """A live object, with claims on its fields: manager, operation, fields."""
    found = deepcopy(live)
    found["metadata"]["managedFields"] = [
        {"manager": manager, "operation": operation, "fieldsType": "FieldsV1", "fieldsV1": fields}
        for manager, operation, fields in claims
    ]
    return found
