"""One object read in two served versions: what it says in one, said in the other.

Belongs here: conversions between versions of a kind, and what can be compared where there is none. Does not: the types
of each version (`types`).
"""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from phaseline.machines.kinds.kubernetes.diff.types import FieldType, type_of
from phaseline.machines.kinds.kubernetes.manifest_id import Manifest
from phaseline.schemas import codec

Object = dict[str, Any]
ANNOTATION = "autoscaling.alpha.kubernetes.io/"
"""What begins the annotations in which autoscaling/v1 keeps what it has no field for."""


class Conversion(NamedTuple):
    """To which version an object is converted, and how."""

    to: str
    convert: Callable[[Manifest], Object]


def _map(found: Any, name: str) -> Object:
    inner = found.get(name) if isinstance(found, Mapping) else None
    return dict(inner) if isinstance(inner, Mapping) else {}


def _moved(part: Object, **names: str) -> Object:
    """The fields of `part` that have one of these names, each under its new name."""
    return {new: part[old] for old, new in names.items() if part.get(old) is not None}


# ---- autoscaling


def _target(part: Object, value: str = "targetValue") -> Object:
    """The target of a metric: its type is that of the value that is set."""
    for name, type_, field in (
        ("targetAverageUtilization", "Utilization", "averageUtilization"),
        ("targetAverageValue", "AverageValue", "averageValue"),
        ("averageValue", "AverageValue", "averageValue"),
        (value, "Value", "value"),
    ):
        if part.get(name) is not None:
            return {"type": type_, field: part[name]}
    return {}


def _metric(found: Any) -> Any:
    """A metric of v1 (in its annotation) or v2beta1, as v2 writes it."""
    if not isinstance(found, Mapping):
        return found
    made = dict(found)
    for name in ("resource", "containerResource"):
        if part := _map(found, name):
            made[name] = {**_moved(part, name="name", container="container"), "target": _target(part)}
    for name in ("pods", "object", "external"):
        if part := _map(found, name):
            metric = _moved(part, metricName="name", selector="selector", metricSelector="selector")
            made[name] = {"metric": metric, "target": _target(part), **_moved(part, target="describedObject")}
    return made


def _metrics(found: Any) -> list[Any]:
    return [_metric(one) for one in found] if isinstance(found, list) else []


def _read(text: Any) -> Any:
    try:
        return codec.decode_text(text) if isinstance(text, str) else None
    except codec.Undecodable:
        return None


def _autoscaler_v1(found: Manifest) -> Object:
    spec, metadata = _map(found, "spec"), _map(found, "metadata")
    notes = _map(metadata, "annotations")
    metrics = _metrics(_read(notes.get(f"{ANNOTATION}metrics")))
    percent = spec.pop("targetCPUUtilizationPercentage", None)
    if percent is not None:
        target = {"type": "Utilization", "averageUtilization": percent}
        metrics.append({"type": "Resource", "resource": {"name": "cpu", "target": target}})
    if metrics:
        spec["metrics"] = metrics
    if isinstance(behavior := _read(notes.get(f"{ANNOTATION}behavior")), Mapping):
        spec["behavior"] = behavior
    kept = {name: value for name, value in notes.items() if not name.startswith(ANNOTATION)}
    return _sorted_metrics({**found, "metadata": {**metadata, "annotations": kept}, "spec": spec})


def _autoscaler_v2beta1(found: Manifest) -> Object:
    spec = _map(found, "spec")
    if "metrics" in spec:
        spec["metrics"] = _metrics(spec["metrics"])
    return _sorted_metrics({**found, "spec": spec})


def _sorted_metrics(found: Manifest) -> Object:
    """With its metrics in one order: a conversion does not keep it."""
    spec = _map(found, "spec")
    if isinstance(metrics := spec.get("metrics"), list):
        spec["metrics"] = sorted(metrics, key=lambda one: json.dumps(one, sort_keys=True, default=str))
    return {**found, "spec": spec}


# ---- ingress


def _backend(found: Any) -> Any:
    """A backend as v1 writes it."""
    if not isinstance(found, Mapping) or not {"serviceName", "servicePort"} & set(found):
        return found
    port = found.get("servicePort")
    kept = {name: value for name, value in found.items() if name not in ("serviceName", "servicePort")}
    service = {"name": found.get("serviceName"), "port": {"number" if isinstance(port, int) else "name": port}}
    return {**kept, "service": service}


def _path(found: Any) -> Any:
    if not isinstance(found, Mapping):
        return found
    made = {"pathType": "ImplementationSpecific", **found}
    return {**made, "backend": _backend(found["backend"])} if "backend" in found else made


def _ingress_rule(found: Any) -> Any:
    http = found.get("http") if isinstance(found, Mapping) else None
    if not isinstance(http, Mapping) or not isinstance(http.get("paths"), list):
        return found
    return {**found, "http": {**http, "paths": [_path(one) for one in http["paths"]]}}


def _ingress_beta(found: Manifest) -> Object:
    spec = _map(found, "spec")
    if "backend" in spec:
        spec["defaultBackend"] = _backend(spec.pop("backend"))
    if isinstance(rules := spec.get("rules"), list):
        spec["rules"] = [_ingress_rule(one) for one in rules]
    return {**found, "spec": spec}


_SCALING, _NETWORK = "autoscaling/v2", "networking.k8s.io/v1"
CONVERSIONS: Mapping[tuple[str, str], Conversion] = {
    ("autoscaling/v1", "HorizontalPodAutoscaler"):      Conversion(_SCALING, _autoscaler_v1),
    ("autoscaling/v2beta1", "HorizontalPodAutoscaler"): Conversion(_SCALING, _autoscaler_v2beta1),
    ("autoscaling/v2beta2", "HorizontalPodAutoscaler"): Conversion(_SCALING, _sorted_metrics),
    ("autoscaling/v2", "HorizontalPodAutoscaler"):      Conversion(_SCALING, _sorted_metrics),
    ("extensions/v1beta1", "Ingress"):                  Conversion(_NETWORK, _ingress_beta),
    ("networking.k8s.io/v1beta1", "Ingress"):           Conversion(_NETWORK, _ingress_beta),
}  # fmt: skip
"""Versions with fields of their own. Other versions are converted where all their fields are the same."""


def identity(found: Manifest) -> tuple[str, str]:
    """The apiVersion and kind of an object; empty if they are no texts."""
    version, kind = found.get("apiVersion"), found.get("kind")
    return version if isinstance(version, str) else "", kind if isinstance(kind, str) else ""


def in_one_version(desired: Manifest, live: Manifest) -> tuple[Manifest, Manifest] | None:
    """Both objects in one version; None if no conversion between theirs is known."""
    one, other = identity(desired), identity(live)
    if one == other:
        return desired, live
    there = [CONVERSIONS[side].to if side in CONVERSIONS else side[0] for side in (one, other)]
    types = [type_of(version, side[1]) for version, side in zip(there, (one, other), strict=True)]
    if None in types or one[1] != other[1] or not (there[0] == there[1] or same_fields(*types)):
        return None
    made = [
        {**(CONVERSIONS[key].convert(side) if key in CONVERSIONS else side), "apiVersion": there[0]}
        for side, key in ((desired, one), (live, other))
    ]
    return made[0], made[1]


@lru_cache(maxsize=256)
def same_fields(one: FieldType, other: FieldType) -> bool:
    """Whether two types have the same fields of the same forms."""
    return _same(one, other, set())


def _same(one: FieldType, other: FieldType, asked: set[tuple[int, int]]) -> bool:
    """asked: the fields of structs that are compared already, since a struct may hold itself."""
    if one is other or ((pair := (id(one.fields), id(other.fields))) in asked and one.form == other.form == "struct"):
        return True
    if (one.form, one.key) != (other.form, other.key) or one.fields.keys() != other.fields.keys():
        return False
    if one.form in ("list", "map"):
        return _same(one.item, other.item, asked)
    asked.add(pair)
    return all(_same(part, other.fields[name], asked) for name, part in one.fields.items())


def common(desired: Any, live: Any) -> Any:
    """What of the desired object can be compared with a live one of a version that nobody can convert.

    A field that only the desired object has may have another name in the live one; a value of another type may have
    another notation.
    """
    if isinstance(desired, Mapping) and isinstance(live, Mapping):
        return {name: common(value, live[name]) for name, value in desired.items() if live.get(name) is not None}
    if isinstance(desired, list) and isinstance(live, list) and len(desired) == len(live):
        return [common(one, other) for one, other in zip(desired, live, strict=True)]
    return desired if type(desired) is type(live) else live


def incomparable(desired: Any, live: Any, path: str = "") -> Iterator[str]:
    """The paths of what Git says and `common` leaves out."""
    if isinstance(desired, Mapping) and isinstance(live, Mapping):
        for name, value in desired.items():
            if value is not None and (path or name not in ("metadata", "status")):
                yield from incomparable(value, live.get(name), f"{path}/{name}")
    elif isinstance(desired, list) and isinstance(live, list) and len(desired) == len(live):
        for index, (one, other) in enumerate(zip(desired, live, strict=True)):
            yield from incomparable(one, other, f"{path}/{index}")
    elif type(desired) is not type(live):
        yield path


def another_version(desired: Manifest, live: Manifest) -> str:
    """What to say of two objects of which no conversion is known; empty if they can be compared as they are."""
    if in_one_version(desired, live) is not None:
        return ""
    return f"another version: Git has {identity(desired)[0]:.100}, the cluster {identity(live)[0]:.100}"
