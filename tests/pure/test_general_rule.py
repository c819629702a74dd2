"""Health of kinds that nobody listed, and histories of real systems that were once called Healthy.

Belongs here: each line of docs/spec/gitops.md, Any other kind; objects after public reports, with the right answer.
Does not: kinds with rows (`test_known_kinds`), figures (`test_health_figures`).
"""

from typing import Any

import pytest
from hypothesis import given

from phaseline.machines.kinds.kubernetes.health import words
from phaseline.machines.kinds.kubernetes.health.general import by_general_rule
from phaseline.machines.kinds.kubernetes.health.registry import assess_health
from phaseline.machines.kinds.kubernetes.profiles import ALAUDA, PROFILES
from tests.support.strategies import VALUES

ARGO = PROFILES["argocd"]
H, P, D, S, U, N = "Healthy", "Progressing", "Degraded", "Paused", "Unknown", "NotAssessed"


def condition(type_: str, status: str = "True", **rest: Any) -> dict[str, Any]:
    return {"type": type_, "status": status, **rest}


def widget(*conditions: Any, spec: Any = None, metadata: Any = None, **status: Any) -> dict[str, Any]:
    found = {**status, "conditions": [*conditions]} if conditions else status
    metadata = {"name": "it", "generation": 3, **(metadata or {})}
    return {"apiVersion": "example.io/v1", "kind": "Widget", "metadata": metadata, "spec": spec or {}, "status": found}


READY = condition("Ready")
NESTED = {"parents": [{"conditions": [condition("Accepted", "False", reason="NoMatchingParent")]}]}


@pytest.mark.parametrize(("found", "expected"), [
    (widget(), N), (widget(observedGeneration=3), N), (widget(condition("Odd")), N),
    (widget(READY), H), (widget(condition("Ready", "False")), P), (widget(condition("Ready", "Unknown")), P),
    (widget(condition("Ready", "False", reason="Denied")), D), (widget(condition("Ready", "False", reason="Creating")), P),
    (widget(condition("Accepted", "False")), D), (widget(condition("Synced", "False", reason="ReconcileError")), D),
    (widget(condition("Synced", "False")), P), (widget(condition("Complete", reason="JobFailed")), D),
    (widget(condition("NotReady")), D), (widget(condition("NotReady", reason="Creating")), P),
    (widget(READY, condition("Stalled")), D), (widget(READY, condition("QuotaExceeded")), D),
    (widget(READY, condition("UploadFailed", "False")), H), (widget(READY, condition("Reconciling")), P),
    (widget(READY, condition("Progressing", reason="NewReplicaSetAvailable")), H),
    (widget(READY, condition("Progressing", "False", reason="ProgressDeadlineExceeded")), D),
    (widget(READY, condition("Stalled", severity="Info")), H), (widget(READY, condition("Stalled", severity="Warning")), P),
    (widget(READY, condition("SidecarReady", "False")), P), (widget(condition("AllReplicasReady")), H),
    (widget(condition("Ready", observedGeneration=2)), P), (widget(condition("Ready", observedGeneration=3)), H),
    (widget(READY, observedGeneration="2"), P), (widget(READY, observedGeneration="3"), H),
    (widget(**NESTED), D), (widget(READY, **NESTED), D),
    (widget(READY, podStatus={"conditions": [condition("PodReady", "False")]}), P),
    (widget(phase="Ready"), H), (widget(phase="Failed"), D), (widget(phase="ScalingDown"), P), (widget(phase="odd"), N),
    (widget(state="Paused"), S), (widget(health="yellow"), P), (widget(phase="Unknown"), U),
    (widget(READY, phase="Degraded"), D), (widget(updateStatus="operational"), H), (widget(desiredState="Ready"), N),
    (widget(lastOperationStatus="Failed", phase="Bound"), D), (widget(statuses={"a": {"state": "Rejected"}}), D),
    (widget(shards=[{"phase": "Ready"}]), N), (widget(READY, shards=[{"phase": "pending"}]), P),
    (widget(ready=True), H), (widget(ready=False), P), (widget(healthy=False), D), (widget(READY, error={"message": "x"}), D),
    (widget(spec={"replicas": 3}, replicas=3, readyReplicas=3), H), (widget(spec={"replicas": 3}, readyReplicas=2), P),
    (widget(spec={"replicas": 3}, replicas=3), P),
    (widget(READY, spec={"suspend": True}), S), (widget(condition("Ready", "False"), spec={"paused": True}), S),
    (widget(condition("Failed"), spec={"paused": True}), D), (widget(READY, condition("Paused")), S),
    (widget(condition("Synced", "False", reason="ReconcilePaused")), S),
    (widget(READY, metadata={"annotations": {"crossplane.io/paused": "true"}}), S),
    (widget(READY, metadata={"labels": {"acme.io/status": "unhealthy"}}), D),
])  # fmt: skip
def test_a_kind_that_is_not_listed(found: dict[str, Any], expected: str) -> None:
    health = assess_health(found, ALAUDA)
    assert health.status == expected, health
    assert health.message
    assert not assess_health(found, ARGO).is_assessed


def test_running_is_work_for_what_is_there_to_end() -> None:
    assert by_general_rule({**widget(phase="Running"), "kind": "Mirror"}).status == H
    assert by_general_rule({**widget(phase="Running"), "kind": "MirrorJob"}).status == P


def test_a_verdict_names_its_evidence_what_contradicts_it_and_what_else_fails() -> None:
    since = "2026-01-10T10:00:00Z"
    found = by_general_rule(widget(
        condition("Ready", lastTransitionTime=since), condition("Synced", "False", reason="ReconcileError", message="no"),
        condition("Old", "False"), condition("Stalled", severity="Info", message="told only"),
    ))  # fmt: skip
    assert (found.status, found.message) == (D, "no")
    assert [(one.condition, one.status, one.since) for one in found.evidence] == [
        ("Synced", "False", ""),
        ("Ready", "True", since),
    ]
    assert [str(one) for one in found.concerns] == ["Stalled True: told only"]
    assert by_general_rule(widget(condition("Odd"), condition("Other"))).message.endswith("(Odd, Other)")


@given(VALUES)
def test_whatever_an_object_holds_there_is_a_verdict_with_a_message_where_nothing_is_known(value: Any) -> None:
    for found in (
        widget(value),
        {**widget(), "status": value},
        {**widget(), "metadata": value},
        widget(parents=[value]),
    ):
        health = by_general_rule(found)
        assert health.status in (H, P, D, S, U, N)
        assert health.message or health.status not in (U, N)


def test_no_word_has_two_meanings() -> None:
    for table in (words.CONDITIONS, words.REASONS, words.PHASES, words.ANNOTATIONS):
        named = [row[0] for row in table]
        assert len(set(named)) == len(named), {word for word in named if named.count(word) > 1}


def reported(api: str, kind: str, *conditions: Any, spec: Any = None, **status: Any) -> dict[str, Any]:
    return {**widget(*conditions, spec=spec, **status), "apiVersion": api, "kind": kind}


LISTENER = {
    "listeners": [{"name": "https", "conditions": [condition("ResolvedRefs", "False", message="no certificate")]}]
}


@pytest.mark.parametrize(("found", "expected", "said"), [
    (reported("kafka.strimzi.io/v1beta2", "KafkaUser", condition("NotReady", message="no rules"), observedGeneration=3), D, "no rules"),
    (reported("eks.aws.upbound.io/v1beta1", "NodeGroup", READY, condition("Synced", "False", message="cannot change"),
              condition("LastAsyncOperation", "False", message="refused")), D, "cannot change"),
    (reported("gateway.networking.k8s.io/v1", "HTTPRoute", parents=[{"parentRef": {"name": "edge"}, "conditions": [
        condition("Accepted", "False", message="no listener"), condition("ResolvedRefs")]}]), D, "edge: no listener"),
    (reported("gateway.networking.k8s.io/v1", "Gateway", condition("Accepted"), condition("Programmed", "False", message="no address"), **LISTENER), P, "no address"),
    (reported("argoproj.io/v1alpha1", "Rollout", phase="Degraded", observedGeneration="3", message="aborted"), D, "aborted"),
    (reported("kustomize.toolkit.fluxcd.io/v1", "Kustomization", READY, spec={"suspend": True}), S, "it is suspended"),
    (reported("helm.toolkit.fluxcd.io/v2", "HelmRelease", condition("Ready", "False", reason="UpgradeFailed", message="exhausted")), D, "exhausted"),
    (reported("batch/v1", "CronJob", spec={"suspend": True}), S, "CronJob is suspended"),
    (reported("policy/v1", "PodDisruptionBudget", condition("DisruptionAllowed", "False", reason="SyncFailed", message="no controller")), D, "no controller"),
    (reported("v1", "ReplicationController", spec={"replicas": 3}, observedGeneration=3, replicas=3), P, "0 of 3 replicas are ready"),
    (reported("apps/v1", "DaemonSet", spec={"updateStrategy": {"type": "OnDelete"}}, observedGeneration=3, desiredNumberScheduled=3), P, "0 of 3 pods are available"),
    (reported("apps/v1", "Deployment", condition("ReplicaFailure", message="exceeded quota"), spec={"replicas": 2}, observedGeneration=3), P,
     "Waiting for rollout to finish: 0 of 2 replicas are new: exceeded quota"),
    (reported("apiextensions.k8s.io/v1", "CustomResourceDefinition", condition("Established"), condition("NonStructuralSchema", message="x")), D, "x"),
    (reported("snapshot.storage.k8s.io/v1", "VolumeSnapshot", readyToUse=False, error={"message": "no space"}), D, "no space"),
])  # fmt: skip
def test_what_was_once_called_healthy(found: dict[str, Any], expected: str, said: str) -> None:
    health = assess_health(found, ALAUDA)
    assert (health.status, health.message) == (expected, said)


def test_what_is_for_information_only_decides_nothing_and_is_told() -> None:
    found = assess_health(widget(condition("Ready", "False", severity="Info", reason="Reconciling", message="wait")))
    assert (found.status, found.message) == (
        N,
        "its conditions decide nothing (severity Info): Ready False (Reconciling): wait",
    )


def test_a_listener_that_fails_is_a_concern_of_its_gateway() -> None:
    gateway = reported("gateway.networking.k8s.io/v1", "Gateway", condition("Programmed", "False"), **LISTENER)
    assert [one.message for one in assess_health(gateway).concerns] == ["no certificate"]


@pytest.mark.parametrize(("owner", "expected"), [(True, H), (False, P)])
def test_a_pod_that_is_not_restarted_and_that_an_operator_keeps(owner: bool, expected: str) -> None:
    metadata = {"ownerReferences": [{"kind": "Cluster", "controller": True}]} if owner else {}
    pod = {
        **widget(READY, spec={"restartPolicy": "Never"}, metadata=metadata, phase="Running"),
        "apiVersion": "v1",
        "kind": "Pod",
    }
    assert assess_health(pod, ALAUDA).status == expected
    said = assess_health(pod, ARGO)
    assert (said.status, bool(said.message)) == (P, owner)


def test_what_is_being_deleted_says_since_when_and_why_it_is_stuck() -> None:
    gone = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    assert assess_health(widget(READY, metadata=gone))[:2] == (P, "being deleted since 2026-01-01T00:00:00Z")
    stuck = assess_health(widget(condition("Failed", message="it hangs"), metadata=gone))
    assert stuck[:2] == (D, "being deleted since 2026-01-01T00:00:00Z: it hangs")
    assert stuck.evidence[-1].since == "2026-01-01T00:00:00Z"
    assert assess_health(widget(READY, metadata=gone), ARGO)[:2] == (P, "Pending deletion")


AFFIRMED = sorted({name for name, true, _ in words.CONDITIONS if true in words.HELD_BY})


@pytest.mark.parametrize("affirmed", AFFIRMED)
def test_what_denies_a_condition_of_success_is_none(affirmed: str) -> None:
    """`NotSynced` True beside Ready True is no success, and False it holds nothing back."""
    name = affirmed.strip("*")
    for denied in (f"Not{name}", f"No{name}", *([f"NodeNot{name}"] if affirmed.startswith("*") else [])):
        alone, beside = (by_general_rule(widget(*one)) for one in ([condition(denied)], [READY, condition(denied)]))
        assert (alone.status, beside.status) in ((D, D), (P, P)), denied
        assert by_general_rule(widget(READY, condition(denied, "False"))).status == H, denied
        assert by_general_rule(widget(condition(denied, "False"))).status == N, denied


@pytest.mark.parametrize("word", sorted({word.strip("*") for word, means in words.PHASES if means == words.SUCCESS}))
def test_what_denies_a_phase_of_success_is_none(word: str) -> None:
    for denied in (
        f"Not{word.capitalize()}",
        f"NOT_{word.upper()}",
        f"not {word}",
        f"no longer {word}",
        f"Never {word}",
    ):
        assert by_general_rule(widget(phase=denied)).status in (D, P), denied


@pytest.mark.parametrize(("found", "expected"), [
    (widget(READY, condition("Unverified")), P), (widget(READY, condition("Unschedulable")), P),
    (widget(READY, condition("Unavailable")), D), (widget(READY, condition("Unsynced")), D),
    (widget(READY, condition("Unsynced", "False")), H), (widget(READY, condition("Union")), H),
    (widget(READY, condition("Notebook")), H), (widget(READY, condition("NoWarnings", "False")), H),
    (widget(READY, condition("NodeNotReady", reason="Waiting")), P),
    (widget(READY, condition("OutOfSync")), P), (widget(READY, condition("InSync", "False")), P),
    (widget(condition("Progressing", reason="NotCompleted")), P), (widget(condition("Progressing", reason="Completed")), H),
    (widget(phase="ClusterRunning"), H), (widget(phase="ClusterNotRunning"), P),
    # yes and no
    (widget(phase="Active", degraded=True), D), (widget(phase="Active", degraded=False), H),
    (widget(phase="Active", paused=True), S), (widget(phase="Active", inSync=False), P), (widget(inSync=True), N),
    (widget(READY, nodes=[{"name": "a", "notReady": True}]), P), (widget(available=True), H), (widget(available=False), P),
    # what is over
    (widget(phase="Running", history=[{"state": "Failed"}, {"state": "Completed"}]), H),
    (widget(phase="Running", revisionHistory={"a": {"status": "Failed", "conditions": [condition("Failed")]}}), H),
    (widget(phase="Running", phaseTransitionTimestamps=[{"phase": "Pending"}, {"phase": "Running"}]), H),
    (widget(READY, stateTransitions=[{"state": "Failed", "desiredReplicas": 3, "readyReplicas": 1}]), H),
    (widget(READY, previousPhase="Failed"), H), (widget(READY, previousRun={"error": "no"}), H),
    (widget(READY, runs={"history": [{"conditions": [condition("Failed")]}]}), H),
    (widget(READY, lastOperation={"state": "Failed"}), D), (widget(READY, lastError="no"), D),
    (widget(READY, current=[{"state": "Failed"}]), D),
    # how many of how many
    (widget(phase="Running", ready="2/3"), P), (widget(phase="Running", ready="3/3"), H), (widget(ready="0/1"), P),
    (widget(ready="3/3"), N), (widget(phase="Running", ready="0/0"), H), (widget(phase="Running", ratio="1/3"), H),
    (widget(READY, display={"readyClusters": "1/2"}), P), (widget(READY, pools=[{"availableReplicas": "1/2"}]), P),
    (widget(READY, ready="two/3"), H), (widget(READY, ready="4/3"), H),
])  # fmt: skip
def test_words_and_numbers_that_deny(found: dict[str, Any], expected: str) -> None:
    assert by_general_rule(found).status == expected, by_general_rule(found)


FAILURES = sorted(
    word.strip("*") for word, means in words.PHASES if means == words.FAILURE and " " not in word and "_" not in word
)


@pytest.mark.parametrize("word", FAILURES)
def test_a_phase_of_failure_says_the_same_as_a_condition(word: str) -> None:
    kind = word.capitalize()
    expected = H if word in words.NO_TYPE else D
    assert by_general_rule(widget(READY, condition(kind))).status == expected
    assert by_general_rule(widget(READY, condition(kind, "False"))).status == H
    assert by_general_rule(widget(phase=kind)).status == D


@pytest.mark.parametrize(("found", "expected"), [
    (widget(READY, condition("SplitBrain")), D), (widget(READY, condition("VolumeFull")), D),
    (widget(READY, condition("LicenseExpired")), D), (widget(READY, condition("DependenciesNotMet")), P),
    (widget(READY, condition("CredentialsValid", "False")), D), (widget(READY, condition("HasQuorum", "False")), P),
    (widget(READY, condition("Serving")), H), (widget(READY, condition("Serving", "False")), P),
    (widget(READY, condition("Warning")), H), (widget(READY, condition("Active", "False")), H),
    (widget(READY, condition("RestartRequired")), H), (widget(phase="Successful"), H),
    (widget(phase="UPDATE_ROLLBACK_COMPLETE"), D), (widget(phase="ACTIVE_WITH_ERRORS"), D), (widget(phase="storage-full"), D),
    (widget(phase="UnderMaintenance"), S), (widget(phase="OutOfDate"), P),
])  # fmt: skip
def test_more_words(found: dict[str, Any], expected: str) -> None:
    assert by_general_rule(found).status == expected, by_general_rule(found)


@pytest.mark.parametrize("word", FAILURES)
def test_what_denies_a_failure_is_none(word: str) -> None:
    """`NotExpired` says nothing, as a condition and as a phase; `0/3` that are not ready say nothing either."""
    denied = f"Not{word.capitalize()}"
    if has_own_meaning(denied):  # it has a meaning of its own
        return
    assert by_general_rule(widget(READY, condition(denied))).status == H
    assert by_general_rule(widget(READY, phase=denied)).status == H
    assert by_general_rule(widget(READY, notReady="0/3", nodesNotReady="0/3")).status == H


def has_own_meaning(word: str) -> bool:
    return any(word.lower() == name for name, _ in words.PHASES)
