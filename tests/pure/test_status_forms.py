"""The same thing said in another form has the same verdict: spellings, places, counters, generations, pauses, deletion.

Belongs here: laws over the tables of words, one small object for each form. Does not: what a word means
(`test_general_rule`), known kinds (`test_no_guessed_green`), which kinds have a rule (`test_late_kinds`).
"""

from typing import Any

import pytest

from phaseline.machines.kinds.kubernetes.health import polarity, words
from phaseline.machines.kinds.kubernetes.health.general import by_general_rule
from phaseline.machines.kinds.kubernetes.health.registry import assess_health
from phaseline.machines.kinds.kubernetes.known.table import STATUSLESS
from tests.support.kubernetes_types import definitions

D, H, N, P, S, U = "Degraded", "Healthy", "NotAssessed", "Progressing", "Paused", "Unknown"
READY = {"type": "Ready", "status": "True"}
RUNS = {"phase": "Running"}
PLAIN_TYPES = [name for name, *_ in words.CONDITIONS if name.isalpha()]
SAYS_OTHERWISE = {("", "ComponentStatus"), ("storage.k8s.io", "CSINode")}
"""A kind with conditions that are not in a status, and one that got a status in the newest definitions."""


def thing(status: Any, spec: dict[str, Any] | None = None, **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "acme.dev/v1", "kind": "Thing", "metadata": metadata, "spec": spec or {}, "status": status}


def told(name: str, value: Any, **more: Any) -> dict[str, Any]:
    return thing({**RUNS, name: value}, **more)


def with_words(name: str, joint: str) -> str:
    """`DiskPressure` as `disk_pressure`, `disk pressure`."""
    return "".join(f"{joint}{letter}" if letter.isupper() and at else letter for at, letter in enumerate(name)).lower()


@pytest.mark.parametrize("name", PLAIN_TYPES)
@pytest.mark.parametrize("joint", ["_", " "])
def test_a_type_of_a_condition_is_the_same_in_every_spelling(name: str, joint: str) -> None:
    spelled = with_words(name, joint)
    assert polarity.of_type(spelled) == polarity.of_type(spelled.upper()) == polarity.of_type(name)


@pytest.mark.parametrize(("status", "word"), [
    (True, "True"), ("true", "True"), ("TRUE", "True"), (1, "True"), ("1", "True"), (False, "False"), ("false", "False"),
    (0, "False"), ("FALSE", "False"), ("unknown", "Unknown"),
])  # fmt: skip
@pytest.mark.parametrize("kind", ["Ready", "Degraded", "Progressing", "Paused", "Odd"])
def test_a_condition_is_true_however_that_is_written(kind: str, status: Any, word: str) -> None:
    written, plain = ({"type": kind, "status": one, "reason": "X"} for one in (status, word))
    assert by_general_rule(told("conditions", [written])) == by_general_rule(told("conditions", [plain]))


BROKEN = {"type": "Degraded", "status": "True", "reason": "Broken", "message": "it is broken"}


@pytest.mark.parametrize("status", [
    {**RUNS, "conditions": [BROKEN]}, {**RUNS, "condition": BROKEN}, {**RUNS, "nodeConditions": [BROKEN]}, [READY, BROKEN],
    {**RUNS, "worker": {"condition": BROKEN}}, {**RUNS, "pools": [{"name": "a", "podConditions": [BROKEN]}]},
    {**RUNS, "conditions": [{"type": "DatabaseReady", "status": "Failed", "message": "it is broken"}]},
    {**RUNS, "conditions": [{"type": "DatabaseReady", "state": "Failed", "message": "it is broken"}]},
])  # fmt: skip
def test_a_condition_counts_wherever_it_stands(status: Any) -> None:
    found = by_general_rule(thing(status))
    assert (found.status, found.message) == (D, "it is broken")


@pytest.mark.parametrize(("status", "expected"), [
    ("Failed", D), ("Ready", H), ("odd", N), (["odd"], N), ([READY], H),
    ({**RUNS, "previousConditions": [BROKEN]}, H), ({**RUNS, "lastConditions": [BROKEN]}, H),
    ({"conditions": [{"type": "Ready", "status": "NotReady"}]}, P), ({"conditions": [{"type": "Ready", "status": "Ready"}]}, H),
    ({"conditions": [{"type": "Ready", "status": "odd"}]}, U), ({"conditions": [{"type": "Odd", "status": "Ready"}]}, N),
    ({"phase": "DegradedRunning"}, D), ({"phase": "Not-Running"}, P), ({"phase": "ClusterRunning"}, H),
    ({**RUNS, "ready": "false"}, P), ({**RUNS, "degraded": "True"}, D), ({"ready": "1"}, N),
    ({**RUNS, "deprecated": {"v1beta1": {"conditions": [BROKEN]}}}, H),
    ({**RUNS, "deprecated": {"v1beta1": {"failureMessage": "no"}}}, D), ({"deprecated": RUNS}, N),
    ({"conditions": [READY], "deprecated": {"v1beta1": {"unavailableReplicas": 1, "phase": "Pending", "ready": "1/3"}}}, H),
    ({"conditions": [READY], "v1beta1": {"unavailableReplicas": 1}}, P), ({"conditions": [READY], "v1beta1": {"phase": "Pending"}}, P),
    ({"conditions": [READY], "deprecated": {"v1beta1": {"phase": "Failed"}}}, D),
    ({"conditions": [{"type": "Finished", "status": "True", "reason": "Failed"}]}, D),
])  # fmt: skip
def test_odd_forms_of_a_status(status: Any, expected: str) -> None:
    assert by_general_rule(thing(status)).status == expected


@pytest.mark.parametrize(("kind", "status", "expected"), [
    ("Monitoring", "Disabled", H), ("Upgrade", "Pending", H), ("Database", "Failed", H), ("Database", "Unknown", H),
    ("Paused", "Disabled", H), ("Paused", "Pending", H), ("Degraded", "Disabled", H), ("Running", "Stopped", H),
    ("Upgrading", "Pending", P), ("Upgrading", "Failed", D), ("Degraded", "Failed", D),
    ("StorageReady", "Disabled", S), ("StorageReady", "Pending", P), ("StorageReady", "Failed", D),
])  # fmt: skip
def test_a_word_in_place_of_true_counts_where_the_type_is_known(kind: str, status: str, expected: str) -> None:
    assert by_general_rule(thing({"conditions": [READY, {"type": kind, "status": status}]})).status == expected


@pytest.mark.parametrize(("kind", "expected"), [
    ("NonRootReady", H), ("NonVotingMembersReady", H), ("NonDisruptiveUpgradeReady", H), ("UnSealedNodesReady", H),
    ("ZeroDowntimeReady", H), ("ZeroTouchProvisioned", H), ("PreInstallHookSucceeded", H), ("LostUpdatesSynced", H),
    ("PreUpgradeCheckSucceeded", H), ("PreDrainDeleteHookSucceeded", H), ("NoneBlockingReady", H),
    ("NonCompliant", D), ("UnReady", D), ("NodeUnReady", D), ("NodesNonHealthy", D), ("NotRootReady", D), ("NoPodsReady", D),
    ("ZeroReady", D), ("NoneAvailable", D), ("LostSynced", D), ("PreReady", P), ("UnScheduled", P),
])  # fmt: skip
def test_a_word_in_front_counts_for_the_word_that_it_belongs_to(kind: str, expected: str) -> None:
    conditions = [READY, {"type": kind, "status": "True"}]
    assert by_general_rule(thing({"conditions": conditions})).status == expected


@pytest.mark.parametrize(("kind", "status", "reason", "expected"), [
    ("Thing", "False", "", H), ("Thing", "Unknown", "", H), ("Thing", "False", "Failed", D), ("Thing", "True", "", H),
    ("ScanJob", "False", "", P), ("ScanJob", "Unknown", "", P), ("ScanJob", "False", "Failed", D), ("ScanJob", "True", "", H),
])  # fmt: skip
def test_what_is_not_there_to_end_may_not_have_finished(kind: str, status: str, reason: str, expected: str) -> None:
    condition = {"type": "Finished", "status": status, "reason": reason}
    found = by_general_rule({**thing({"conditions": [READY, condition]}), "kind": kind})
    assert (found.status, [one.condition for one in found.concerns]) == (expected, [])


@pytest.mark.parametrize(("status", "expected"), [("True", H), ("False", P), ("Unknown", P)])
def test_the_last_reconciliation_may_be_all_that_is_said(status: str, expected: str) -> None:
    conditions = [{"type": "LastReconcileSucceeded", "status": status}]
    assert by_general_rule(thing({"conditions": conditions})).status == expected


def test_a_status_that_is_a_word_is_named() -> None:
    assert by_general_rule(thing("odd")).message == "its status is 'odd', which says nothing that is known"


FRONT = [(word, means) for names, means in words.AHEAD for word in names]


@pytest.mark.parametrize(("word", "means"), FRONT)
@pytest.mark.parametrize("success", ["Ready", "Synced", "Available", "UpToDate", "Healthy", "Succeeded"])
def test_a_word_in_front_of_a_success_makes_it_less(word: str, means: str, success: str) -> None:
    says = {words.FAILURE: D, words.WORK: P, words.STEP: H}[means]
    for kind in (f"{word}{success}", f"{word.lower()}_{success}"):
        condition = {"type": kind, "status": "True"}
        assert by_general_rule(told("conditions", [condition])).status == says, kind
        assert by_general_rule(thing({"conditions": [condition]})).status != H, kind
    for phase in (f"{word}Running", f"{word} Running", f"{word}-running"):
        assert by_general_rule(thing({"phase": phase})).status == {H: N}.get(says, says), phase


@pytest.mark.parametrize("word", [*words.DENYING, "not", "NON", "Un"])
def test_a_phase_that_denies_that_it_runs_is_not_healthy(word: str) -> None:
    assert by_general_rule(thing({"phase": f"{word} running"})).status == P
    assert by_general_rule(thing({"phase": f"{word.capitalize()}Running"})).status == P


@pytest.mark.parametrize("kind", ["PreflightReady", "LasterReady", "SomethingReady", "UnionReady", "NonceReady"])
def test_a_word_that_only_begins_so_is_another_word(kind: str) -> None:
    assert by_general_rule(thing({"conditions": [{"type": kind, "status": "True"}]})).status == H


# ---- counters


@pytest.mark.parametrize(("how", "what"), [
    (how, what) for how in words.WELL for what in (words.SERVING if how == "available" else words.COUNTED)
])  # fmt: skip
def test_too_few_are_not_healthy_wherever_it_says_how_many(how: str, what: str) -> None:
    name, wanted = f"{how}{what}", what[0].lower() + what[1:]
    few = [
        told(name, 1, spec={wanted: 3}),
        told("worker", {wanted: 3, name: 1}),
        told("pools", [{wanted: 3, name: "1"}]),
    ]
    if what == "Replicas":
        few.append(told(name, 1, spec={"size": 3}))
    for one in few:
        found = by_general_rule(one)
        assert (found.status, found.message) == (P, f"{name} is 1, 3 are wanted"), one
    enough = [
        told(name, 3, spec={wanted: 3, "size": 100}),
        told(name, 3, spec={wanted: 3}),
        told(name, 3, spec={wanted: [1]}),
        told("worker", {wanted: 0, name: 0}),
    ]
    assert {by_general_rule(one).status for one in enough} == {H}


@pytest.mark.parametrize("name", [
    *(f"{how}{what}" for how in words.NOT_WELL for what in words.COUNTED), *words.ALONE,
])  # fmt: skip
def test_what_is_not_well_is_not_healthy(name: str) -> None:
    assert [by_general_rule(told(name, count)).status for count in (0, 2)] == [H, P]
    assert by_general_rule(told("worker", {name: 2})).message == f"{name} is 2"


@pytest.mark.parametrize(
    "name", ["failedPods", "failedInstances", "failed", "failedJobs", "available", "unavailableSince", "availableIPs"]
)
def test_other_counters_say_nothing(name: str) -> None:
    assert by_general_rule(told(name, 2, spec={"iPs": 9, "ips": 9})).status == H


@pytest.mark.parametrize(("status", "spec", "expected"), [
    ({"availableAgents": 2, "agents": 5}, {}, H), ({"availableServers": 2, "servers": 5}, {}, H),
    ({"availableMachines": 0, "machines": 5}, {}, H), ({"availableNodes": 2, "nodes": 5}, {}, P),
    ({"readyAgents": 2, "agents": 5}, {}, P), ({"unavailableServers": 2}, {}, P),
    ({"readyReplicas": 3}, {"size": 100}, H), ({"workers": {"readyReplicas": 3, "size": 100}}, {}, H),
    ({"readyReplicas": 3}, {"size": 100, "replicas": 5}, P),
    ({"total": 5, "ready": 3, "completed": 2}, {}, H), ({"total": 5, "ready": 3, "succeeded": 2}, {}, H),
    ({"total": 5, "ready": 3}, {}, P), ({"desired": 5, "ready": 3, "completed": 2}, {}, P),
])  # fmt: skip
def test_what_may_count_something_else_says_nothing_beside_ready(status: Any, spec: Any, expected: str) -> None:
    assert by_general_rule(thing({"conditions": [READY], **status}, spec)).status == expected


@pytest.mark.parametrize("ready", [
    "1/3", "1 / 3", "1 of 3", "1 out of 3", "1/3 ready", "1 of 3 Available", "1/3 (0 failed)", "1/3 running (starts)",
])  # fmt: skip
def test_a_part_of_a_whole_may_be_written_in_words(ready: str) -> None:
    assert by_general_rule(told("ready", ready)).message == "ready is 1, 3 are wanted"


@pytest.mark.parametrize(("name", "value"), [
    ("availableMemory", "3 of 16 GiB"), ("availableAddresses", "200 of 254 addresses are free"),
    ("readySince", "1/2/2026 10:00"), ("readySince", "1/2 10:00"), ("ready", "3/3"), ("ready", "3 of 3 ready"),
])  # fmt: skip
def test_a_measure_or_a_date_is_no_part_of_a_whole(name: str, value: str) -> None:
    assert by_general_rule(thing({"conditions": [READY], name: value})).status == H


# ---- generations, pauses, deletion


@pytest.mark.parametrize("verb", words.OBSERVED_IN)
@pytest.mark.parametrize("last", ["", "last"])
def test_a_status_of_an_older_generation_is_not_healthy_whatever_the_field_is_called(verb: str, last: str) -> None:
    name = f"{last}{verb.capitalize() if last else verb}Generation"
    found = [by_general_rule(told(name, seen, generation=3)).status for seen in (2, "2", 3, 4)]
    assert found == [P, P, H, H]
    assert by_general_rule(told(name, 2, generation=3)).message.endswith("the last one that was is 2")


@pytest.mark.parametrize(("seen", "expected"), [
    ({"observedGeneration": 5, "lastSyncedGeneration": 3}, H), ({"observedGeneration": 5, "lastHandledGeneration": 0}, H),
    ({"observedGeneration": 4, "lastSyncedGeneration": 5}, P), ({"observedGeneration": None, "syncedGeneration": 3}, P),
    ({"lastHandledGeneration": 0}, H), ({"lastHandledGeneration": 0, "appliedGeneration": 3}, P),
    ({"observedGeneration": 0}, P), ({"appliedGeneration": 0}, P),
])  # fmt: skip
def test_the_observed_generation_counts_alone_and_none_yet_says_nothing(seen: Any, expected: str) -> None:
    assert by_general_rule(thing({"conditions": [READY], **seen}, generation=5)).status == expected


@pytest.mark.parametrize(("path", "values"), words.PAUSED_BY)
def test_a_field_of_the_spec_pauses(path: str, values: tuple[str, ...]) -> None:
    *above, last = path.split(".")[1:]
    for value in (*values, *(one.capitalize() for one in values), *([True] if values == ("true",) else [])):
        spec: dict[str, Any] = {last: value}
        for name in reversed(above):
            spec = {name: spec}
        found = by_general_rule(thing({"conditions": [READY]}, spec))
        assert (found.status, found.message.lower()) == (S, f"{path} is {value}".lower())


LEAVING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
SINCE = "being deleted since 2026-01-01T00:00:00Z"


@pytest.mark.parametrize(("metadata", "status", "said"), [
    ({}, {"conditions": [READY]}, SINCE),
    ({"finalizers": ["a.io/x", "b.io/y"]}, {"conditions": [READY]}, f"{SINCE}: it waits for a.io/x, b.io/y"),
    ({}, {"conditions": [{"type": "Deleting", "status": "True", "message": "drain"}]}, f"{SINCE}: drain"),
    ({}, {"conditions": [{"type": "NamespaceContentRemaining", "status": "True", "message": "2 pods"}]}, f"{SINCE}: 2 pods"),
    ({}, {"conditions": [{"type": "NamespaceContentRemaining", "status": "False", "message": "none"}]}, SINCE),
    ({"finalizers": "odd"}, {}, SINCE), ({"finalizers": [3]}, {}, SINCE),
])  # fmt: skip
def test_what_is_being_deleted_says_what_it_waits_for(metadata: Any, status: Any, said: str) -> None:
    found = assess_health(thing(status, **{**LEAVING, **metadata}))
    assert (found.status, found.message) == (P, said)


# ---- kinds without a status


def test_the_kinds_without_a_status_are_those_of_the_published_types() -> None:
    says: dict[tuple[str, str], bool] = {}
    for one in definitions().values():
        fields = one.get("properties", {})
        for named in one.get("x-kubernetes-group-version-kind", ()) if "metadata" in fields else ():
            if not named["kind"].endswith("List"):
                key = named["group"], named["kind"]
                says[key] = says.get(key, False) or "status" in fields
    assert {key for key, has_one in says.items() if not has_one} - SAYS_OTHERWISE == STATUSLESS - SAYS_OTHERWISE
