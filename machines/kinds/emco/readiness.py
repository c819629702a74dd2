"""Readiness of a resource in a ResourceBundleState, by EMCO's rules.

Belongs here: one rule per kind, on the resource as the report holds it. Does not: health (`kubernetes.health`).
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from phaseline.machines.language.rules import Revision

READINESS = Revision("emco.readiness", 2)
"""Raise it when another answer is given for the same resource."""
Resource = Mapping[str, Any]


def is_ready(kind: str, found: Resource) -> bool:
    """Whether a listed resource is ready; a kind without a rule is always ready."""
    rule = RULES.get(kind)
    return rule is None or rule(found, _map(found.get("spec")), _map(found.get("status")))


def _map(found: object) -> Resource:
    return found if isinstance(found, Mapping) else {}


def _number(found: object, default: int = 0) -> int:
    return found if isinstance(found, int) and not isinstance(found, bool) else default


def _pod(found: Resource, _: Resource, status: Resource) -> bool:
    if "job-name" in _map(_map(found.get("metadata")).get("labels")):
        return status.get("phase") in ("Succeeded", "Failed")
    return _is_true(status, "Ready")


def _is_true(status: Resource, condition: str) -> bool:
    conditions = status.get("conditions")
    given = [_map(one) for one in conditions] if isinstance(conditions, list) else []
    return any(one.get("type") == condition and one.get("status") == "True" for one in given)


def _job(_: Resource, spec: Resource, status: Resource) -> bool:
    backoff, completions = _number(spec.get("backoffLimit"), 6), _number(spec.get("completions"), 1)
    return _number(status.get("failed")) <= backoff and _number(status.get("succeeded")) >= completions


def _service(_: Resource, spec: Resource, status: Resource) -> bool:
    if spec.get("type") == "ExternalName":
        return True
    if not spec.get("clusterIP"):
        return False
    return spec.get("type") != "LoadBalancer" or bool(
        spec.get("externalIPs") or _map(status.get("loadBalancer")).get("ingress")
    )


def _deployment(_: Resource, spec: Resource, status: Resource) -> bool:
    replicas = _number(spec.get("replicas"), 1)
    unavailable = _share(_map(_map(spec.get("strategy")).get("rollingUpdate")).get("maxUnavailable"), replicas)
    return spec.get("paused") is True or _number(status.get("readyReplicas")) >= replicas - unavailable


def _daemon_set(_: Resource, spec: Resource, status: Resource) -> bool:
    strategy = _map(spec.get("updateStrategy"))
    if strategy.get("type", "RollingUpdate") != "RollingUpdate":
        return True
    wanted = _number(status.get("desiredNumberScheduled"))
    unavailable = _share(_map(strategy.get("rollingUpdate")).get("maxUnavailable"), wanted)
    ready = _number(status.get("numberReady")) >= wanted - unavailable
    return ready and _number(status.get("updatedNumberScheduled")) == wanted


def _stateful_set(_: Resource, spec: Resource, status: Resource) -> bool:
    strategy, replicas = _map(spec.get("updateStrategy")), _number(spec.get("replicas"), 1)
    if strategy.get("type", "RollingUpdate") != "RollingUpdate":
        return True
    updated = replicas - _number(_map(strategy.get("rollingUpdate")).get("partition"))
    return _number(status.get("updatedReplicas")) == updated and _number(status.get("readyReplicas")) == replicas


def _share(found: object, of: int) -> int:
    """A number, or a percentage rounded down, as Kubernetes computes `maxUnavailable`."""
    if isinstance(found, str) and re.fullmatch(r"[0-9]{1,9}%", found):
        return of * int(found[:-1]) // 100
    return _number(found)


RULES: Mapping[str, Callable[[Resource, Resource, Resource], bool]] = {
    "Pod": _pod,
    "Job": _job,
    "Service": _service,
    "Deployment": _deployment,
    "DaemonSet": _daemon_set,
    "StatefulSet": _stateful_set,
}
"""By kind, from the resource, its spec and its status."""
