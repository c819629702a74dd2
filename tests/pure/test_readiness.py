"""EMCO's rules of readiness, each at its edge (docs/spec/emco.md, Readiness)."""

from typing import Any

import pytest

from phaseline.machines.kinds.emco.readiness import is_ready

Case = tuple[str, dict[str, Any], bool]
READY = {"conditions": [{"type": "Initialized", "status": "True"}, {"type": "Ready", "status": "True"}]}
UNREADY = {"conditions": [{"type": "Ready", "status": "False"}]}


def job_pod(phase: str) -> dict[str, Any]:
    return {"metadata": {"labels": {"job-name": "j"}}, "status": {"phase": phase, **UNREADY}}


def service(
    kind: str = "ClusterIP", ip: str = "10.0.0.1", status: dict[str, Any] | None = None, **spec: Any
) -> dict[str, Any]:
    return {"spec": {"type": kind, "clusterIP": ip, **spec}, "status": status or {}}


def deployment(ready: int, replicas: int = 4, unavailable: Any = None, **spec: Any) -> dict[str, Any]:
    rolling = {} if unavailable is None else {"strategy": {"rollingUpdate": {"maxUnavailable": unavailable}}}
    return {"spec": {"replicas": replicas, **rolling, **spec}, "status": {"readyReplicas": ready}}


def daemon(
    updated: int, ready: int, wanted: int = 3, unavailable: Any = None, kind: str = "RollingUpdate"
) -> dict[str, Any]:
    rolling = {} if unavailable is None else {"rollingUpdate": {"maxUnavailable": unavailable}}
    status = {"desiredNumberScheduled": wanted, "updatedNumberScheduled": updated, "numberReady": ready}
    return {"spec": {"updateStrategy": {"type": kind, **rolling}}, "status": status}


def stateful(
    updated: int, ready: int, replicas: int = 3, partition: int = 0, kind: str = "RollingUpdate"
) -> dict[str, Any]:
    strategy = {"type": kind, "rollingUpdate": {"partition": partition}}
    return {
        "spec": {"replicas": replicas, "updateStrategy": strategy},
        "status": {"updatedReplicas": updated, "readyReplicas": ready},
    }


CASES: list[Case] = [
    ("Pod", {"status": READY}, True),
    ("Pod", {"status": UNREADY}, False),
    ("Pod", {"status": {"phase": "Running"}}, False),
    ("Pod", job_pod("Succeeded"), True),
    ("Pod", job_pod("Failed"), True),
    ("Pod", job_pod("Running"), False),
    ("Job", {"spec": {"completions": 2}, "status": {"succeeded": 2}}, True),
    ("Job", {"spec": {"completions": 2}, "status": {"succeeded": 1}}, False),
    ("Job", {"status": {"succeeded": 1}}, True),
    ("Job", {"spec": {"backoffLimit": 1}, "status": {"succeeded": 1, "failed": 2}}, False),
    ("Job", {"spec": {"backoffLimit": 1}, "status": {"succeeded": 1, "failed": 1}}, True),
    ("Service", service("ExternalName", ip=""), True),
    ("Service", service(), True),
    ("Service", service(ip=""), False),
    ("Service", service("LoadBalancer"), False),
    ("Service", service("LoadBalancer", externalIPs=["1.2.3.4"]), True),
    ("Service", service("LoadBalancer", status={"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}}), True),
    ("Deployment", deployment(4), True),
    ("Deployment", deployment(3), False),
    ("Deployment", deployment(3, unavailable=1), True),
    ("Deployment", deployment(3, unavailable="25%"), True),
    ("Deployment", deployment(2, unavailable="49%"), False),
    ("Deployment", deployment(0, paused=True), True),
    ("Deployment", {"status": {"readyReplicas": 1}}, True),
    ("Deployment", {}, False),
    ("DaemonSet", daemon(3, 3), True),
    ("DaemonSet", daemon(2, 3), False),
    ("DaemonSet", daemon(3, 2), False),
    ("DaemonSet", daemon(3, 2, unavailable=1), True),
    ("DaemonSet", daemon(0, 0, kind="OnDelete"), True),
    ("StatefulSet", stateful(3, 3), True),
    ("StatefulSet", stateful(2, 3), False),
    ("StatefulSet", stateful(2, 3, partition=1), True),
    ("StatefulSet", stateful(3, 2), False),
    ("StatefulSet", stateful(0, 0, kind="OnDelete"), True),
    ("ConfigMap", {}, True),
    ("CertificateSigningRequest", {}, True),
    ("ProviderNetwork", {"status": {"state": "Failed"}}, True),
]


@pytest.mark.parametrize(("kind", "found", "ready"), CASES)
def test_a_rule(kind: str, found: dict[str, Any], ready: bool) -> None:
    assert is_ready(kind, found) is ready


@pytest.mark.parametrize("kind", ["Pod", "Job", "Service", "Deployment", "DaemonSet", "StatefulSet"])
@pytest.mark.parametrize(
    "odd",
    [
        {"spec": None, "status": None},
        {"spec": 7, "status": "up"},
        {"metadata": [], "status": {"conditions": {}}},
        {"status": {"conditions": [7, None]}, "spec": {"replicas": "three", "strategy": []}},
        {"spec": {"updateStrategy": "RollingUpdate", "strategy": {"rollingUpdate": {"maxUnavailable": "much"}}}},
        {"status": {"readyReplicas": True, "failed": "many", "loadBalancer": 1}},
    ],
)
def test_what_makes_no_sense_is_no_error(kind: str, odd: dict[str, Any]) -> None:
    assert is_ready(kind, odd) in (True, False)
