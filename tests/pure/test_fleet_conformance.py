"""Fleet's own cases of counts and states, told by its own objects as Fleet prints them, where they are at hand.

docs/spec/fleet.md, What Fleet's own tests say, lists the cases that are not ours, and what is decided otherwise.
"""

from typing import Any

import pytest

from phaseline.engine.products.fleet.counts import cluster_counts
from phaseline.engine.products.observe.observer import Observer
from phaseline.engine.products.observe.stream import ObjectChange
from phaseline.machines.kinds.fleet.bundle import RANKED
from tests.support.conformance import cases
from tests.support.fleet_history import FleetHistory
from tests.support.fleet_objects import bundle

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


def printed(case: dict[str, Any], **numbers: Any) -> dict[str, Any]:
    """The object that Fleet's agent prints in this case: lists cut as expected, and these numbers."""
    given, expected = case["input"], case["expected"]
    lists = {
        "resources": given.get("resources", []),
        "modifiedStatus": given.get("modified", [])[: expected["modifiedStatusLen"]],
        "nonReadyStatus": given.get("nonReady", [])[: expected["nonReadyStatusLen"]],
    }
    ids = {"spec": {"deploymentID": "d", "stagedDeploymentID": "d"}, "status": {"appliedDeploymentID": "d"}}
    flags = {name: expected[name] for name in ("ready", "nonModified", "incompleteState")}
    return deployment(ids, **lists, **flags, **numbers)


def in_our_words(counts: dict[str, int]) -> dict[str, int]:
    return {WORDS.get(word, word): count for word, count in counts.items() if not word.endswith("Len")}


@pytest.mark.parametrize("case", of("resource_counts"))
def test_resources_are_counted(case: dict[str, Any]) -> None:
    expected = in_our_words(case["expected"]["resourceCounts"])
    life = seen(printed(case, resourceCounts=case["expected"]["resourceCounts"]))
    found = life.counts("git_repo", "repo")
    assert {name: found["resources"][name] for name in expected} == expected
    assert (found["deployments"]["not_ready"] == 0) == case["expected"]["ready"]


@pytest.mark.parametrize("case", of("resource_counts"))
def test_the_numbers_of_a_fleet_that_miscounted_are_mended(case: dict[str, Any]) -> None:
    broken = case.get("expected_by_era", {}).get("broken_3203_to_3408", case["expected"]["resourceCounts"])
    expected = in_our_words(case["expected"]["resourceCounts"])
    found = seen(printed(case, resourceCounts=broken)).counts("git_repo", "repo")
    assert {name: found["resources"][name] for name in expected} == expected


@pytest.mark.parametrize("case", [case for case in of("resource_counts") if case.id != "rc-ut-06"])
def test_lists_alone_are_counted_where_they_are_not_cut(case: dict[str, Any]) -> None:
    expected = in_our_words(case["expected"]["resourceCounts"])
    found = seen(printed(case)).counts("git_repo", "repo")
    assert {name: found["resources"][name] for name in expected} == expected


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


@pytest.mark.parametrize("case", [case for case in of("target_flags") if case.values[0]["input"]["deployment"] is None])
def test_a_target_without_a_deployment(case: dict[str, Any]) -> None:
    life = FleetHistory().see(bundle("bd", "repo", summary={"desiredReady": 1, "pending": 1}))
    found = life.counts("git_repo", "repo")
    assert (found["state"], found["deployments"]["pending"]) == (case["expected"]["state"], 1)


@pytest.mark.parametrize("case", [case for case in of("bundle_status") if case.id.startswith("new-")])
def test_targets_that_wait_for_a_deployment(case: dict[str, Any]) -> None:
    expected, staged = case["expected"], [one for one in case["expected"]["afterStaging"] if one["deploymentID"]]
    status = {name: expected[name] for name in ("summary", "newlyCreated", "partitions", "maxUnavailable")}
    made = [
        deployment({
            "spec": {"deploymentID": one["deploymentID"], "stagedDeploymentID": one["stagedDeploymentID"]},
            "metadata": {"labels": {"fleet.cattle.io/cluster": one["cluster"].partition("/")[2]}},
        })
        for one in staged
    ]  # fmt: skip
    found = seen(bundle("bd", "repo", case["input"], **status), *made).counts("bundle", "repo/bd")
    assert found["display"]["ready_deployments"] == expected["display"]["readyClusters"]
    assert found["deployments"]["pending"] == expected["summary"]["pending"] - expected["newlyCreated"]


@pytest.mark.parametrize("case", of("partition_status"))
def test_an_unavailable_partition_holds_a_rollout_back(case: dict[str, Any]) -> None:
    targets, most = len(case["input"]["targets"]), case["input"]["maxUnavailable"]
    partition = {"count": targets, "maxUnavailable": most, "unavailable": case["expected"]["unavailable"]}
    life = FleetHistory().see(bundle("bd", "repo", partitions=[partition]))
    assert ("held_back" in life.attributes("bundle", "repo/bd")) == case["expected"]["partitionUnavailable"]


@pytest.mark.parametrize("case", of("set_ready_condition"))
def test_an_error_that_is_over(case: dict[str, Any]) -> None:
    life = FleetHistory().see(bundle("bd", "repo", conditions=case["input"]["prior"]["conditions"]))
    assert life.state("bundle", "repo/bd") == "NotReady [Error]"
    now = {name: text for name, text in case["expected"]["readyCondition"].items() if text is not None}
    life.see(bundle("bd", "repo", conditions=[{"type": "Ready", **now}]))
    assert life.state("bundle", "repo/bd") == "Pending [NoDeployment]"


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


def test_resources_are_counted_by_cluster() -> None:
    for case in (case for case in CASES if case["id"] == "git-ut-01"):
        life = seen(*(deployment(found) for found in case["input"]["bundleDeployments"]))
        found, expected = life.counts("git_repo", "repo"), case["expected"]
        numbers = {
            name.replace("/", "+"): in_our_words(one) for name, one in expected["perClusterResourceCounts"].items()
        }
        parts = {name: one["resources"] for name, one in found["per_cluster"].items()}
        assert {name: {word: parts[name][word] for word in one} for name, one in numbers.items()} == numbers
        assert {word: found["resources"][word] for word in in_our_words(expected["resourceCounts"])} == in_our_words(
            expected["resourceCounts"]
        )
        assert found["state"] == expected["display"]["state"]


def test_two_clusters_of_one_name_are_two() -> None:
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
