"""Fleet's own cases of counts and states, told by its own objects, where they are at hand.

The spec differs in two cases: a repository without deployments is Pending (Fleet: Ready, 0/0), and resources are
counted one by one, even if a report has lists but no counts.
"""

from typing import Any

import pytest

from phaseline.engine.client.fleet_counts import cluster_counts
from phaseline.engine.observe.observer import Observer
from phaseline.engine.observe.stream import ObjectChange
from phaseline.machines.fleet.bundle import RANKED
from tests.support.conformance import cases
from tests.support.fleet_history import FleetHistory

CASES = cases("fleet.json")
WORDS = {
    "desiredReady": "desired_ready",
    "notReady": "not_ready",
    "waitApplied": "wait_applied",
    "errApplied": "err_applied",
    "outOfSync": "out_of_sync",
}


def of(operation: str) -> list[Any]:
    return [pytest.param(case, id=case["id"]) for case in CASES if case["op"] == operation]


def deployment(found: dict[str, Any], **status: Any) -> dict[str, Any]:
    made = {
        "apiVersion": "fleet.cattle.io/v1alpha1",
        "kind": "BundleDeployment",
        **found,
        "status": {**found.get("status", {}), **status},
    }
    labels = {"fleet.cattle.io/repo-name": "repo", **made.get("metadata", {}).get("labels", {})}
    return {**made, "metadata": {"name": "bd", "namespace": "ns", **made.get("metadata", {}), "labels": labels}}


def seen(*deployments: dict[str, Any]) -> FleetHistory:
    return FleetHistory().do("git_repo", "created", "repo").see(*deployments)


@pytest.mark.parametrize("case", of("resource_counts"))
def test_resources_are_counted(case: dict[str, Any]) -> None:
    given = case["input"]
    ids = {"spec": {"deploymentID": "d", "stagedDeploymentID": "d"}, "status": {"appliedDeploymentID": "d"}}
    lists = {
        "resources": given.get("resources", []),
        "modifiedStatus": given.get("modified", []),
        "nonReadyStatus": given.get("nonReady", []),
    }
    flags = {name: case["expected"][name] for name in ("ready", "nonModified")}
    found = seen(deployment(ids, **lists, **flags)).counts("git_repo", "repo")
    expected = {WORDS.get(name, name): count for name, count in case["expected"]["resourceCounts"].items()}
    assert {name: found["resources"][name] for name in expected} == expected
    assert (found["deployments"]["not_ready"] == 0) == case["expected"]["ready"]


@pytest.mark.parametrize("case", of("bd_state"))
def test_a_deployments_state(case: dict[str, Any]) -> None:
    assert seen(deployment(case["input"])).state("bundle_deployment", "repo/bd/ns") == case["expected"]["state"]


@pytest.mark.parametrize(
    "case", [case for case in of("target_flags") if case.values[0]["input"]["deployment"] is not None]
)
def test_a_targets_state(case: dict[str, Any]) -> None:
    life = seen(deployment(case["input"]["deployment"]))
    life.do("bundle_deployment", "target", "repo/bd/ns", deployment_id=case["input"]["deploymentID"])
    assert life.state("bundle_deployment", "repo/bd/ns") == case["expected"]["state"]


@pytest.mark.parametrize("case", of("summary_state"))
def test_the_worst_by_rank(case: dict[str, Any]) -> None:
    states = [one["bundleState"] for one in case["input"].get("nonReadyResources", ())]
    assert min(states, key=RANKED.index, default="") == case["expected"]["state"]


ONE = [case for case in of("bundle_status") if case.values[0]["id"].startswith("bun-")]


@pytest.mark.parametrize("case", ONE)
def test_a_bundle_of_one_target(case: dict[str, Any]) -> None:
    [target] = case["input"]["targets"]
    life = seen(deployment(target["deployment"]))
    [entity_id] = life.history.tree.entities["bundle_deployment"]
    life.do("bundle_deployment", "target", entity_id, deployment_id=target["deploymentID"])
    found = life.counts("bundle", entity_id.rpartition("/")[0])
    assert found["state"] == case["expected"]["display"].get("state", "Ready")
    assert found["display"]["ready_deployments"] == case["expected"]["display"]["readyClusters"]
    if "not installed" in (case["expected"]["readyCondition"]["message"] or ""):
        assert "not installed: unknown field" in found["display"]["message"]


@pytest.mark.parametrize("case", [case for case in of("gitrepo_status") if case.id not in ("git-ut-01", "git-it-02")])
def test_a_repositorys_counts(case: dict[str, Any]) -> None:
    life = seen(*(deployment(found) for found in case["input"]["bundleDeployments"]))
    found, expected = life.counts("git_repo", "repo"), case["expected"]
    assert found["display"]["ready_deployments"] == expected["display"]["readyBundleDeployments"]
    assert found["state"] == expected["display"].get("state", "Ready")
    summary = {WORDS.get(name, name): count for name, count in expected["summary"].items() if not name.endswith("Len")}
    assert {name: found["deployments"][name] for name in summary} == summary


def test_two_clusters_of_one_name_are_two() -> None:
    given = [case for case in CASES if case["id"] == "git-ut-01"]
    for case in given:
        life = seen(*(deployment(found) for found in case["input"]["bundleDeployments"]))
        assert set(life.counts("git_repo", "repo")["per_cluster"]) >= {"c-ns1+cluster1", "c-ns2+cluster1"}
    labels = {"fleet.cattle.io/cluster": "c", "fleet.cattle.io/cluster-namespace": "one"}
    both = [
        deployment(
            {
                "spec": {"deploymentID": "d"},
                "metadata": {"labels": {**labels, "fleet.cattle.io/cluster-namespace": name}},
            }
        )
        for name in ("one", "two")
    ]
    assert set(seen(*both).counts("git_repo", "repo")["per_cluster"]) == {"one+c", "two+c"}


@pytest.mark.parametrize("case", [case for case in of("message_from_deployment") if case.values[0]["input"]])
def test_the_message_of_a_deployment(case: dict[str, Any]) -> None:
    told = Observer("/fleet").see(ObjectChange(deployment(case["input"])))
    said = [event["data"].get("message", "") for event in told if event["type"] == "bundle_deployment.observed"]
    assert said == [case["expected"]["message"]]


@pytest.mark.parametrize("case", of("cluster_status"))
def test_a_clusters_counts(case: dict[str, Any]) -> None:
    life = seen(*(deployment(found) for found in case["input"]["bundleDeployments"]))
    entities = life.history.tree.entities
    both = [*entities["bundle_deployment"].values(), *entities["bundle_resource"].values()]
    found, expected = cluster_counts("c-ns+c1", both), case["expected"]
    assert found["display"]["ready_deployments"] == expected["display"]["readyBundles"]
    for counted, name in ((found["deployments"], "summary"), (found["resources"], "resourceCounts")):
        counts = {WORDS.get(word, word): n for word, n in expected[name].items() if not word.endswith("Len")}
        assert {word: counted[word] for word in counts} == counts
