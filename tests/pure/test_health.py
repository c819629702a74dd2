"""The health rules, row by row (docs/spec/gitops.md, Health by kind)."""

import json
from typing import Any

import pytest

from phaseline.machines.kinds.kubernetes.health.registry import RULES, assess_health
from phaseline.machines.kinds.kubernetes.profiles import ALAUDA, PROFILES
from tests.support.manifests import kubernetes_object

ARGO = PROFILES["argocd"]
H, P, D, S, U = "Healthy", "Progressing", "Degraded", "Paused", "Unknown"


def said(found: dict[str, Any], profile: Any = ARGO) -> str | None:
    health = assess_health(found, profile)
    return health.status if health.is_assessed else None


def condition(type_: str, status: str = "True", **rest: Any) -> dict[str, Any]:
    return {"type": type_, "status": status, **rest}


def test_a_paused_deployment_is_paused_whatever_else() -> None:
    late = [condition("Progressing", "False", reason="ProgressDeadlineExceeded")]
    found = kubernetes_object(
        "apps/v1",
        "Deployment",
        metadata={"generation": 4},
        spec={"paused": True},
        status={"observedGeneration": 1, "conditions": late},
    )
    assert said(found) == S


@pytest.mark.parametrize(("generation", "spec", "status", "expected"), [
    (0, {}, {}, H),  # nothing known is as much as was asked for
    (2, {}, {"observedGeneration": 1}, P),
    (2, {}, {"observedGeneration": 2}, H),
    (2, {}, {"observedGeneration": 3}, H),
    (0, {}, {"conditions": [condition("Progressing", "True", reason="ProgressDeadlineExceeded")]}, D),  # its status is not read
    (0, {}, {"conditions": [condition("Progressing", reason="NewReplicaSetAvailable"), condition("Progressing", reason="ProgressDeadlineExceeded")]}, H),
    (0, {}, {"conditions": [condition("Available", "False")], "unavailableReplicas": 3}, H),
    (0, {"replicas": 3}, {"updatedReplicas": 2, "replicas": 2, "availableReplicas": 2}, P),
    (0, {"replicas": 3}, {"updatedReplicas": 3, "replicas": 4, "availableReplicas": 3}, P),
    (0, {"replicas": 3}, {"updatedReplicas": 3, "replicas": 3, "availableReplicas": 2}, P),
    (0, {"replicas": 3}, {"updatedReplicas": 3, "replicas": 3, "availableReplicas": 3}, H),
    (0, {"replicas": 3}, {"updatedReplicas": 3, "replicas": 3, "availableReplicas": 3, "readyReplicas": 0}, H),
    (0, {"replicas": 1}, {"updatedReplicas": 3, "replicas": 3, "availableReplicas": 3}, H),  # scaling down, all of them new
    (0, {"replicas": 0}, {}, H),
])  # fmt: skip
def test_deployment(generation: int, spec: dict[str, Any], status: dict[str, Any], expected: str) -> None:
    assert (
        said(kubernetes_object("apps/v1", "Deployment", metadata={"generation": generation}, spec=spec, status=status))
        == expected
    )


ROLLING = {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}


@pytest.mark.parametrize(("spec", "status", "expected"), [
    ({}, {}, P),  # never observed
    ({"replicas": 3}, {"observedGeneration": 1, "readyReplicas": 2}, P),
    ({"replicas": 3, "updateStrategy": {"type": "OnDelete"}}, {"observedGeneration": 1, "readyReplicas": 2}, P),
    ({"replicas": 3, "updateStrategy": {"type": "OnDelete"}}, {"observedGeneration": 1, "readyReplicas": 3, "updateRevision": "b"}, H),
    ({"replicas": 3, "updateStrategy": ROLLING}, {"observedGeneration": 1, "readyReplicas": 3, "updatedReplicas": 0}, P),
    ({"replicas": 3, "updateStrategy": ROLLING}, {"observedGeneration": 1, "readyReplicas": 3, "updatedReplicas": 1, "updateRevision": "b"}, H),
    ({"replicas": 3, "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {}}}, {"observedGeneration": 1, "readyReplicas": 3, "updateRevision": "b"}, H),
    ({"replicas": 3, "updateStrategy": {"type": "RollingUpdate"}}, {"observedGeneration": 1, "readyReplicas": 3, "updateRevision": "b"}, P),
    ({"replicas": 3}, {"observedGeneration": 1, "readyReplicas": 3, "updateRevision": "b", "currentRevision": "a"}, P),
    ({"replicas": 3}, {"observedGeneration": 1, "readyReplicas": 3, "updateRevision": "b", "currentRevision": "b"}, H),
])  # fmt: skip
def test_stateful_set(spec: dict[str, Any], status: dict[str, Any], expected: str) -> None:
    assert (
        said(kubernetes_object("apps/v1", "StatefulSet", metadata={"generation": 1}, spec=spec, status=status))
        == expected
    )


@pytest.mark.parametrize(("spec", "status", "expected"), [
    ({"replicas": 2}, {"availableReplicas": 2, "conditions": [condition("ReplicaFailure", message="quota")]}, D),
    ({"replicas": 2}, {"availableReplicas": 2, "conditions": [condition("ReplicaFailure", "False")]}, H),
    ({"replicas": 2}, {"availableReplicas": 1}, P),
    ({}, {}, H),
])  # fmt: skip
def test_replica_set(spec: dict[str, Any], status: dict[str, Any], expected: str) -> None:
    assert said(kubernetes_object("apps/v1", "ReplicaSet", spec=spec, status=status)) == expected


@pytest.mark.parametrize(("spec", "status", "expected"), [
    ({"updateStrategy": {"type": "OnDelete"}}, {"desiredNumberScheduled": 3}, H),
    ({}, {"desiredNumberScheduled": 3, "updatedNumberScheduled": 2, "numberAvailable": 3}, P),
    ({}, {"desiredNumberScheduled": 3, "updatedNumberScheduled": 3, "numberAvailable": 2}, P),
    ({}, {"desiredNumberScheduled": 3, "updatedNumberScheduled": 3, "numberAvailable": 3, "numberMisscheduled": 9}, H),
    ({}, {}, H),
])  # fmt: skip
def test_daemon_set(spec: dict[str, Any], status: dict[str, Any], expected: str) -> None:
    assert said(kubernetes_object("apps/v1", "DaemonSet", spec=spec, status=status)) == expected


def pod(
    phase: str,
    policy: str = "Always",
    *,
    ready: str | None = None,
    annotations: dict[str, str] | None = None,
    **status: Any,
) -> dict[str, Any]:
    conditions = [condition("Ready", ready)] if ready else []
    return kubernetes_object(
        "v1",
        "Pod",
        metadata={"annotations": annotations or {}},
        spec={"restartPolicy": policy},
        status={"phase": phase, "conditions": conditions, **status},
    )


def waiting(reason: str, name: str = "web") -> list[dict[str, Any]]:
    return [{"name": name, "state": {"waiting": {"reason": reason, "message": f"{reason}!"}}}]


IGNORE = {"argocd.argoproj.io/ignore-restart-policy": "true"}
ENDED = [{"name": "web", "lastState": {"terminated": {"exitCode": 0}}}]


@pytest.mark.parametrize(("found", "expected"), [
    (pod("Running", ready="True", containerStatuses=waiting("ErrImagePull")), D),  # beats readiness
    (pod("Pending", containerStatuses=waiting("CreateContainerConfigError")), D),
    (pod("Pending", containerStatuses=waiting("ImagePullBackOff")), D),
    (pod("Pending", containerStatuses=waiting("InvalidImageName")), P),
    (pod("Pending", containerStatuses=waiting("ContainerCreating")), P),
    (pod("Pending", "OnFailure", containerStatuses=waiting("ImagePullBackOff")), P),
    (pod("Pending", initContainerStatuses=waiting("CrashLoopBackOff")), P),
    (pod("Succeeded"), H),
    (pod("Failed"), D),
    (pod("Running", ready="True"), H),
    (pod("Running", ready="True", containerStatuses=[{"name": "web", "restartCount": 50}]), H),
    (pod("Running", ready="False", containerStatuses=ENDED), D),
    (pod("Running", ready="False"), P),
    (pod("Running", "Never", ready="True"), P),
    (pod("Running", "OnFailure"), P),
    (pod("Running", "Never", ready="True", annotations=IGNORE), H),
    (pod("Running", "Never", ready="True", annotations={**IGNORE, "helm.sh/hook": "test"}), P),
    (pod("Running", "Never", ready="True", annotations={**IGNORE, "helm.sh/hook": "crd-install"}), H),
    (pod("Running", "Never", ready="True", annotations={**IGNORE, "argocd.argoproj.io/hook": "Skip"}), H),
    (pod("Running", ""), U),
    (pod("Unknown"), U),
    (pod(""), U),
])  # fmt: skip
def test_pod(found: dict[str, Any], expected: str) -> None:
    assert said(found) == expected


@pytest.mark.parametrize(("found", "expected"), [
    (pod("Running", ready="True", containerStatuses=[{"name": "web", "restartCount": 5}]), H),
    (pod("Running", ready="True", containerStatuses=[{"name": "web", "restartCount": 6}]), D),
    (pod("Pending", initContainerStatuses=waiting("CrashLoopBackOff")), D),
    (pod("Running", ready="True", initContainerStatuses=waiting("ImagePullBackOff", "sidecar")), D),
    (pod("Pending", initContainerStatuses=waiting("PodInitializing")), P),
])  # fmt: skip
def test_pod_as_the_source_reads_it(found: dict[str, Any], expected: str) -> None:
    assert said(found, ALAUDA) == expected


@pytest.mark.parametrize(("status", "message"), [
    ({"message": "evicted"}, "evicted"),
    ({"containerStatuses": [{"name": "a", "state": {"terminated": {"message": "no disk", "exitCode": 2}}}]}, "no disk"),
    ({"containerStatuses": [{"name": "a", "state": {"terminated": {"reason": "OOMKilled"}}}]}, 'container "a" ran out of memory (OOMKilled)'),
    ({"containerStatuses": [{"name": "a", "state": {"terminated": {"exitCode": 0}}}, {"name": "b", "state": {"terminated": {"exitCode": 3}}}]}, 'container "b" failed with exit code 3'),
    ({"reason": "NodeLost"}, "NodeLost"),
    ({"initContainerStatuses": [{"name": "i", "state": {"terminated": {"exitCode": 1}}}], "containerStatuses": [{"name": "b", "state": {"terminated": {"exitCode": 3}}}]}, 'container "i" failed with exit code 1'),
])  # fmt: skip
def test_a_failed_pod_says_why(status: dict[str, Any], message: str) -> None:
    found = assess_health(pod("Failed", **status), ARGO)
    assert found is not None
    assert found.message == message


@pytest.mark.parametrize(("conditions", "expected"), [
    ([], P),
    ([condition("Failed", "False")], D),  # that it is there counts
    ([condition("Suspended"), condition("Failed")], D),
    ([condition("Complete"), condition("Suspended")], S),
    ([condition("Suspended", "False")], H),  # resumed, and still listed
    ([condition("Complete", "False")], H),
    ([condition("FailureTarget")], P),
    ([condition("SuccessCriteriaMet")], P),
])  # fmt: skip
def test_job(conditions: list[dict[str, Any]], expected: str) -> None:
    assert (
        said(kubernetes_object("batch/v1", "Job", spec={"suspend": True}, status={"conditions": conditions}))
        == expected
    )


@pytest.mark.parametrize(("spec", "status", "expected"), [
    ({}, {"conditions": [condition("Failed", "False")]}, P),
    ({}, {"conditions": [condition("Failed")]}, D),
    ({}, {"conditions": [condition("FailureTarget")]}, D),  # it will fail once its Pods have ended
    ({}, {"conditions": [condition("Complete", "False")]}, P),
    ({}, {"conditions": [condition("Complete")]}, H),
    ({}, {"active": 1, "conditions": [condition("Suspended", "False")]}, P),  # resumed, and not done yet
    ({}, {"conditions": [condition("Suspended")]}, S),
    ({"suspend": True}, {}, S), ({"suspend": True}, {"succeeded": 1}, H),
    ({"completions": 5}, {"succeeded": 2}, P), ({"completions": 5}, {"succeeded": 5}, H),
    ({}, {"conditions": [condition("SuccessCriteriaMet")]}, P),
])  # fmt: skip
def test_job_as_the_source_reads_it(spec: dict[str, Any], status: dict[str, Any], expected: str) -> None:
    assert said(kubernetes_object("batch/v1", "Job", spec=spec, status=status), ALAUDA) == expected


@pytest.mark.parametrize(("api", "kind"), [
    ("apps/v1", "Deployment"), ("apps/v1", "StatefulSet"), ("apps/v1", "ReplicaSet"), ("apps/v1", "DaemonSet"),
    ("networking.k8s.io/v1", "Ingress"), ("v1", "PersistentVolumeClaim"), ("v1", "Pod"), ("batch/v1", "Job"),
    ("autoscaling/v2", "HorizontalPodAutoscaler"), ("apiregistration.k8s.io/v1", "APIService"),
    ("argoproj.io/v1alpha1", "Workflow"),
])  # fmt: skip
@pytest.mark.parametrize("parts", [{}, {"status": {}}, {"status": None}, {"spec": {"replicas": 0}}])
def test_what_has_reported_nothing_is_under_way_and_not_well(api: str, kind: str, parts: dict[str, Any]) -> None:
    assert said(kubernetes_object(api, kind, **parts), ALAUDA) == P


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "ReplicaSet"])
def test_who_does_not_say_how_many_wants_one(kind: str) -> None:
    found = kubernetes_object("apps/v1", kind, status={"observedGeneration": 1, "replicas": 0})
    assert (said(found), said(found, ALAUDA)) == (H, P)


def test_a_daemon_set_for_no_node_is_well_and_one_that_does_not_say_for_how_many_is_not() -> None:
    counts = {"desiredNumberScheduled": 0, "currentNumberScheduled": 0, "numberReady": 0}
    assert said(kubernetes_object("apps/v1", "DaemonSet", status=counts), ALAUDA) == H
    assert said(kubernetes_object("apps/v1", "DaemonSet", status={"observedGeneration": 1}), ALAUDA) == P


def test_a_job_that_succeeded_without_a_condition() -> None:
    found = kubernetes_object("batch/v1", "Job", status={"succeeded": 1})
    assert (said(found), said(found, ALAUDA)) == (P, H)
    assert (
        said(kubernetes_object("batch/v1", "Job", status={"succeeded": 1, "conditions": [condition("Failed")]}), ALAUDA)
        == D
    )


@pytest.mark.parametrize(("api", "kind", "parts", "expected"), [
    ("networking.k8s.io/v1", "Ingress", {}, P),
    ("networking.k8s.io/v1", "Ingress", {"status": {"loadBalancer": {"ingress": []}}}, P),
    ("extensions/v1beta1", "Ingress", {"status": {"loadBalancer": {"ingress": [{}]}}}, H),
    ("v1", "Service", {}, H),
    ("v1", "Service", {"spec": {"type": "LoadBalancer"}}, P),
    ("v1", "Service", {"spec": {"type": "LoadBalancer"}, "status": {"loadBalancer": {"ingress": [{"ip": "1"}]}}}, H),
    ("serving.knative.dev/v1", "Service", {}, P),
    ("v1", "PersistentVolumeClaim", {"status": {"phase": "Bound"}}, H),
    ("v1", "PersistentVolumeClaim", {"status": {"phase": "Pending"}}, P),
    ("v1", "PersistentVolumeClaim", {"status": {"phase": "Lost"}}, D),
    ("v1", "PersistentVolumeClaim", {}, U),
    ("apiregistration.k8s.io/v1", "APIService", {}, P),
    ("apiregistration.k8s.io/v1beta1", "APIService", {"status": {"conditions": [condition("Available")]}}, H),
    ("apiregistration.k8s.io/v1", "APIService", {"status": {"conditions": [condition("Available", "Unknown")]}}, P),
    ("argoproj.io/v1alpha1", "Workflow", {}, P),
    ("argoproj.io/v1alpha1", "Workflow", {"status": {"phase": "Error"}}, D),
    ("argoproj.io/v1alpha1", "Workflow", {"status": {"phase": "Succeeded"}}, H),
    ("argoproj.io/v1alpha1", "Workflow", {"status": {"phase": "Odd"}}, U),
    ("argoproj.io/v1alpha1", "Application", {"status": {"health": {"status": "Degraded"}}}, None),
    ("v1", "ConfigMap", {}, None),
    ("batch/v1", "CronJob", {}, P),
    ("apps/v1beta1", "Deployment", {}, U),  # known, of a version that is not
    ("batch/v1beta1", "Job", {}, U),
    ("autoscaling/v2beta2", "HorizontalPodAutoscaler", {}, U),
])  # fmt: skip
def test_other_kinds(api: str, kind: str, parts: dict[str, Any], expected: str | None) -> None:
    assert said(kubernetes_object(api, kind, **parts)) == expected


@pytest.mark.parametrize(("api", "kind", "parts", "says"), [
    ("v1", "PersistentVolumeClaim", {"status": {"phase": "Pending"}}, "no provisioner has begun: it may wait for the first Pod"),
    ("v1", "PersistentVolumeClaim", {"status": {"phase": "Lost"}}, "its volume is gone"),
    ("v1", "Service", {"spec": {"type": "LoadBalancer"}, "status": {}}, "no load balancer is assigned yet"),
    ("networking.k8s.io/v1", "Ingress", {"status": {"loadBalancer": {}}}, "no load balancer is assigned yet"),
])  # fmt: skip
def test_what_is_not_well_says_why_where_its_status_does_not(
    api: str, kind: str, parts: dict[str, Any], says: str
) -> None:
    found = kubernetes_object(api, kind, **parts)
    assert assess_health(found, ALAUDA).message.startswith(says)
    assert assess_health(found, ARGO).message == ""


def test_a_claim_that_a_provisioner_has_taken_waits_for_it() -> None:
    taken = {"annotations": {"volume.kubernetes.io/storage-provisioner": "csi"}}
    found = kubernetes_object("v1", "PersistentVolumeClaim", metadata=taken, status={"phase": "Pending"})
    assert assess_health(found, ALAUDA) == (P, "")


ABLE, LIMITED = condition("AbleToScale", message="able"), condition("ScalingLimited", message="limited")


@pytest.mark.parametrize(("conditions", "expected"), [
    ([], P),
    ([ABLE], H),
    ([LIMITED], H),
    ([ABLE, condition("ScalingActive", "True", reason="FailedGetResourceMetric", message="no metric")], D),  # after a healthy one, and True
    ([condition("ScalingActive", "False", reason="ScalingDisabled"), ABLE], H),
    ([condition("ScalingActive", "False", reason="FailedGetContainerResourceMetric")], P),
    ([condition("AbleToScale", "False", reason="FailedUpdateScale")], D),
    ([condition("AbleToScale", "False", reason="InvalidSelector")], P),  # a reason of the other condition
    ([condition("ScalingActive", "False", reason="InvalidSelector")], D),
])  # fmt: skip
@pytest.mark.parametrize("version", ["autoscaling/v1", "autoscaling/v2"])
def test_autoscaler(version: str, conditions: list[dict[str, Any]], expected: str) -> None:
    if version == "autoscaling/v1":
        noted = [{name.upper(): value for name, value in one.items()} for one in conditions]
        metadata = {"annotations": {"autoscaling.alpha.kubernetes.io/conditions": json.dumps(noted)}}
        found = kubernetes_object(version, "HorizontalPodAutoscaler", metadata=metadata)
    else:
        found = kubernetes_object(version, "HorizontalPodAutoscaler", status={"conditions": conditions})
    assert said(found) == expected


@pytest.mark.parametrize(
    "reason", ["FailedGetContainerResourceMetric", "FailedGetPodsMetric", "InvalidMetricSourceType"]
)
def test_an_autoscaler_whose_metrics_fail_is_degraded_whatever_the_metric(reason: str) -> None:
    found = kubernetes_object(
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        status={"conditions": [ABLE, condition("ScalingActive", "False", reason=reason, message="no metric")]},
    )
    assert said(found, ALAUDA) == D


def test_an_autoscaler_that_has_not_got_there() -> None:
    found = kubernetes_object(
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        status={"conditions": [ABLE], "currentReplicas": 2, "desiredReplicas": 4},
    )
    assert (said(found), said(found, ALAUDA)) == (H, P)
    found["status"]["currentReplicas"] = 4
    assert said(found, ALAUDA) == H


def test_what_is_being_deleted_is_progressing_whatever_its_kind() -> None:
    gone = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    for api, kind in (("v1", "ConfigMap"), ("apps/v1", "Deployment"), ("foo.io/v1", "Foo")):
        assert said(kubernetes_object(api, kind, metadata=gone)) == P
    held = {**gone, "finalizers": ["argocd.argoproj.io/hook-finalizer"]}
    assert said(kubernetes_object("v1", "ConfigMap", metadata=held)) is None


@pytest.mark.parametrize(("found", "message"), [
    (kubernetes_object("apps/v1", "Deployment", spec={"replicas": "3"}), ".spec.replicas must be a whole number, found '3'"),
    (kubernetes_object("apps/v1", "Deployment", spec={"replicas": 1.5}), ".spec.replicas must be a whole number, found 1.5"),
    (kubernetes_object("apps/v1", "Deployment", spec={"paused": 1}), ".spec.paused must be a boolean, found 1"),
    (kubernetes_object("apps/v1", "Deployment", spec=[]), ".spec must be a map, found []"),
    (kubernetes_object("apps/v1", "Deployment", status={"conditions": {}}), ".status.conditions must be a list, found {}"),
    (kubernetes_object("apps/v1", "Deployment", status={"conditions": [3]}), ".status.conditions[0] must be a map, found 3"),
    (kubernetes_object("v1", "Pod", status={"phase": 3}), ".status.phase must be a string, found 3"),
    (kubernetes_object("apps/v1beta2", "DaemonSet"), "apiVersion is apps/v1beta2: the rule of DaemonSet reads version v1"),
    (kubernetes_object("autoscaling/v1", "HorizontalPodAutoscaler", metadata={"annotations": {"autoscaling.alpha.kubernetes.io/conditions": "{"}}), ".metadata.annotations['autoscaling.alpha.kubernetes.io/conditions'] must be JSON: it is cut off: the body ends inside a value"),
])  # fmt: skip
def test_what_cannot_be_read_is_unknown_and_says_where(found: dict[str, Any], message: str) -> None:
    health = assess_health(found, ARGO)
    assert (health.status, health.message) == (U, message)


def test_whole_numbers_may_be_written_as_fractions() -> None:
    assert (
        said(kubernetes_object("apps/v1", "Deployment", spec={"replicas": 2.0}, status={"updatedReplicas": 1.0})) == P
    )


def test_nothing_at_all_is_no_health_and_no_crash() -> None:
    for found in ({}, {"kind": 3, "apiVersion": []}, {"metadata": None}):
        assert said(found) is None
    assert said({"metadata": []}) == said({"kind": "Pod"}) == U


def test_every_rule_answers_an_empty_object() -> None:
    for (group, kind), rule in RULES.items():
        version = rule.versions[0] if rule.versions else "v1"
        found = assess_health({"apiVersion": f"{group}/{version}" if group else version, "kind": kind}, ALAUDA)
        assert found.status in ALAUDA.order


@pytest.mark.parametrize(("generation", "status", "expected"), [
    (0, {}, None),
    (0, {"phase": "Ready"}, H),
    (0, {"conditions": []}, None),
    (0, {"conditions": [condition("Nice")]}, None),
    (0, {"conditions": {"Ready": True}}, None),
    (0, {"conditions": ["Ready"]}, None),
    (0, {"conditions": [condition("Ready")]}, H),
    (0, {"conditions": [condition("Ready", "False")]}, P),
    (0, {"conditions": [condition("Ready", "Unknown")]}, P),
    (0, {"conditions": [condition("Ready", "odd")]}, U),
    (0, {"conditions": [condition("Available")]}, H),
    (0, {"conditions": [condition("Available", "False")]}, P),
    (0, {"conditions": [condition("NamesAccepted"), condition("Established")]}, H),
    (0, {"conditions": [condition("Complete")]}, H),
    (0, {"conditions": [condition("Failed")]}, D),
    (0, {"conditions": [condition("Ready"), condition("Failed", "False")]}, H),
    (0, {"conditions": [condition("Ready"), condition("Stalled")]}, D),
    (0, {"conditions": [condition("Ready"), condition("Reconciling")]}, P),
    (0, {"conditions": [condition("Reconciling"), condition("Stalled")]}, D),
    (0, {"conditions": [condition("Reconciling", "False"), condition("Stalled", "False"), condition("Ready")]}, H),
    (3, {"observedGeneration": 2, "conditions": [condition("Ready")]}, P),
    (3, {"observedGeneration": 3}, None),
    (3, {"conditions": [condition("Ready", observedGeneration=2)]}, P),
    (3, {"conditions": [condition("Ready", observedGeneration=3)]}, H),
])  # fmt: skip
def test_a_kind_without_a_rule_has_the_health_of_its_conditions(
    generation: int, status: dict[str, Any], expected: str | None
) -> None:
    found = kubernetes_object("example.io/v1", "Widget", metadata={"generation": generation}, status=status)
    assert said(found, ALAUDA) == expected
    assert said(found) is None
    leaving = {**found, "metadata": {**found["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}
    assert said(leaving, ALAUDA) == (D if expected == D else P)


def test_the_message_is_that_of_the_condition() -> None:
    for one, message in (
        (condition("Ready", "False", reason="Issuing", message="it is issued"), "it is issued"),
        (condition("Ready", "False", reason="Issuing"), "Issuing"),
        (condition("Ready", "False"), "Ready is False"),
    ):
        health = assess_health(kubernetes_object("example.io/v1", "Widget", status={"conditions": [one]}), ALAUDA)
        assert health.message == message
