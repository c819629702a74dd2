"""Normalisation of an object before it is compared.

Belongs here: removing fields that the server owns, and the kinds with two notations for one thing. Does not: spellings
of values (`canonical`), defaults (`defaults`).
"""

import base64
import json
from collections.abc import Mapping
from typing import Any

from phaseline.machines.kinds.kubernetes.manifest_id import MAPS, group_kind
from phaseline.schemas import codec

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
SERVER_OWNED = frozenset({
    "creationTimestamp", "uid", "resourceVersion", "generation", "selfLink", "managedFields", "deletionTimestamp",
    "deletionGracePeriodSeconds",
})  # fmt: skip
AGGREGATED = "aggregationRule"

Object = dict[str, Any]


def last_applied(live: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The manifest of the last client-side apply, from its annotation; None if absent or unreadable."""
    metadata = live.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, MAPS) else None
    text = annotations.get(LAST_APPLIED) if isinstance(annotations, MAPS) else None
    if not isinstance(text, str):
        return None
    try:
        found = codec.decode_text(text)
    except codec.Undecodable:
        return None
    return found if isinstance(found, Mapping) else None


def normalize(found: Mapping[str, Any], *, in_namespace: bool, aggregates: bool) -> Object:
    """An object without server-owned fields, in one notation.

    in_namespace: keep the namespace; it is dropped if one of the sides has none. aggregates: leave out the rules of an
    aggregated ClusterRole, which a controller writes.
    """
    made = dict(found)
    made.pop("status", None)
    metadata = made.get("metadata")
    if isinstance(metadata, MAPS):
        made["metadata"] = _metadata(metadata, in_namespace=in_namespace)
    rule = _KINDS.get(group_kind(found))
    if rule is not None:
        rule(made, aggregates)
    return made


def _metadata(metadata: Mapping[str, Any], *, in_namespace: bool) -> Object:
    made = dict(metadata)
    for name in SERVER_OWNED.intersection(made):
        del made[name]
    if not in_namespace:
        made.pop("namespace", None)
    annotations = made.get("annotations")
    if isinstance(annotations, MAPS) and LAST_APPLIED in annotations:
        made["annotations"] = {name: value for name, value in annotations.items() if name != LAST_APPLIED}
    if not made.get("annotations"):
        made.pop("annotations", None)
    return made


def _secret(made: Object, _: bool) -> None:
    """Move `stringData` into `data`; null becomes the empty string."""
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
    if aggregates and made.get(AGGREGATED) is not None:
        made.pop("rules", None)


def _endpoints(made: Object, _: bool) -> None:
    """Sort addresses and ports, and add the protocol TCP, since order does not matter here."""
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
    return json.dumps(_said(found), sort_keys=True, default=str)


def _said(found: Any) -> Any:
    """A value without empty members, which may be left out on one side."""
    if isinstance(found, Mapping):
        inner = {str(name): _said(value) for name, value in found.items()}
        return {name: value for name, value in inner.items() if value not in (None, "", [], {})}
    return [_said(value) for value in found] if isinstance(found, list) else found


_RBAC = "rbac.authorization.k8s.io"
_KINDS = {("", "Secret"): _secret, (_RBAC, "Role"): _role, (_RBAC, "ClusterRole"): _role, ("", "Endpoints"): _endpoints}
