"""What is no difference between two objects, whatever their kind or for one of them (spec: GitOps, Comparing; behaviour 3.1).

Belongs here: what the server owns, and the kinds that say one thing in two ways. Does not: values (`values`), defaults.
"""

import base64
import json
from collections.abc import Mapping
from typing import Any

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
SERVER_OWNED = ("creationTimestamp", "uid", "resourceVersion", "generation", "selfLink", "managedFields", "deletionTimestamp",
                "deletionGracePeriodSeconds")  # fmt: skip
AGGREGATED = "aggregationRule"

Object = dict[str, Any]


def last_applied(live: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What `kubectl apply` or its like applied last, from its annotation; None where there is none that can be read."""
    metadata = live.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, Mapping) else None
    text = annotations.get(LAST_APPLIED) if isinstance(annotations, Mapping) else None
    try:
        found = json.loads(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return found if isinstance(found, Mapping) else None


def normal(found: Mapping[str, Any], *, in_namespace: bool, aggregates: bool) -> Object:
    """An object without what the server owns, its kind's two ways told in one.

    in_namespace: keep its namespace, which is left out where the other side has none. aggregates: leave out the rules of an
    aggregated ClusterRole, which a controller writes.
    """
    made = {name: value for name, value in found.items() if name != "status"}
    metadata = made.get("metadata")
    if isinstance(metadata, Mapping):
        made["metadata"] = _metadata(metadata, in_namespace=in_namespace)
    rule = _KINDS.get((group_of(found), str(found.get("kind"))))
    if rule is not None:
        rule(made, aggregates)
    return made


def group_of(found: Mapping[str, Any]) -> str:
    """The group of an object's kind; empty for core."""
    version = str(found.get("apiVersion") or "")
    return version.partition("/")[0] if "/" in version else ""


def _metadata(metadata: Mapping[str, Any], *, in_namespace: bool) -> Object:
    made = {name: value for name, value in metadata.items() if name not in SERVER_OWNED}
    if not in_namespace:
        made.pop("namespace", None)
    annotations = made.get("annotations")
    if isinstance(annotations, Mapping):
        made["annotations"] = {name: value for name, value in annotations.items() if name != LAST_APPLIED}
    if not made.get("annotations"):
        made.pop("annotations", None)
    return made


def _secret(made: Object, _: bool) -> None:
    """`stringData` as `data`; null as the empty word."""
    plain, data = made.pop("stringData", None), made.get("data")
    coded = {name: "" if value is None else value for name, value in data.items()} if isinstance(data, Mapping) else {}
    if isinstance(plain, Mapping):
        for name, value in plain.items():
            if isinstance(value, str):
                coded[name] = base64.b64encode(value.encode()).decode()
            else:
                made.setdefault("stringData", {})[name] = value
    if coded:
        made["data"] = coded


def _role(made: Object, aggregates: bool) -> None:
    if not made.get("rules") or (aggregates and made.get(AGGREGATED) is not None):
        made.pop("rules", None)


def _endpoints(made: Object, _: bool) -> None:
    """In any order: ports TCP where they do not say, addresses and ports sorted."""
    subsets = made.get("subsets")
    if not isinstance(subsets, list):
        return
    sorted_ = []
    for subset in subsets:
        parts = dict(subset) if isinstance(subset, Mapping) else {}
        for name in ("addresses", "notReadyAddresses", "ports"):
            if isinstance(members := parts.get(name), list):
                if name == "ports":
                    members = [{"protocol": "TCP", **one} if isinstance(one, Mapping) else one for one in members]
                parts[name] = sorted(members, key=_text)
        sorted_.append(parts)
    made["subsets"] = sorted(sorted_, key=_text)


def _text(found: object) -> str:
    return json.dumps(found, sort_keys=True, default=str)


_RBAC = "rbac.authorization.k8s.io"
_KINDS = {("", "Secret"): _secret, (_RBAC, "Role"): _role, (_RBAC, "ClusterRole"): _role, ("", "Endpoints"): _endpoints}
