"""Fleet's objects as Fleet prints them, and what is counted after each (docs/spec/fleet.md, Fleet's own objects)."""

from typing import Any

import pytest

from phaseline.engine.products.fleet.counts import FleetCounts, counts
from phaseline.schemas.records import Transition
from tests.support import fleet_objects as fleet
from tests.support.contacts import Contacts
from tests.support.fleet_history import FleetHistory
from tests.support.fleet_objects import Resource, bundle_deployment, condition, status_of

ON = "infra/web/fleet-default+c1"
BUNDLE, REPO = "infra/web", "infra"


def resources(count: int, **truth: Any) -> list[Resource]:
    return [Resource(f"r{number:02}", **truth) for number in range(count)]


def printed(found: list[Resource], before: dict[str, Any] | None = None) -> dict[str, Any]:
    return bundle_deployment(status_of(found, "v1", before))


def shown(life: FleetHistory, entity_id: str = REPO) -> FleetCounts:
    return life.counts(("git_repo", "bundle", "bundle_deployment")[entity_id.count("/")], entity_id)


def ready(life: FleetHistory) -> str:
    return shown(life)["display"]["ready_resources"]


def names(life: FleetHistory) -> dict[str, str]:
    """The known resources that are not deleted, and their states."""
    found = life.history.tree.entities["bundle_resource"].values()
    return {
        one.id.removeprefix(f"{ON}/"): str(one.facets[0].state) for one in found if one.facets[0].state.phase != "Deleted"
    }  # fmt: skip


# ---- cut lists and exact numbers


def test_all_twelve_are_deleted() -> None:
    life = FleetHistory().see(printed(resources(12)))
    assert ready(life) == "12/12"
    life.see(printed(resources(12, exists=False)))
    found = shown(life)
    assert (found["display"]["ready_resources"], found["resources"]["missing"]) == ("0/12", 12)
    assert found["display"]["message"].endswith("; and 2 more")
    assert set(names(life).values()) == {"Missing"}
    assert len(names(life)) == 10
    assert life.state("git_repo", REPO) == "Modified"


def test_eleven_of_which_one_is_deleted_by_hand() -> None:
    life = FleetHistory().see(printed(resources(11)), printed([*resources(10), Resource("r10", exists=False)]))
    found = shown(life)
    assert (found["display"]["ready_resources"], found["resources"]["missing"]) == ("10/11", 1)
    assert found["display"]["message"] == f"{ON}/core:ConfigMap/shop/r10 Missing"


def test_more_than_ten_are_not_ready_and_nobody_says_which() -> None:
    life = FleetHistory().see(printed([*resources(18), *(Resource(f"u{n:02}", ready=False) for n in range(12))]))
    found = shown(life)
    assert (found["display"]["ready_resources"], found["resources"]["not_ready"]) == ("18/30", 12)
    assert found["display"]["message"].endswith("; and 2 more")
    states = [*names(life).values()]
    assert (states.count("NotReady"), states.count("Counted"), len(states)) == (10, 20, 30)
    assert life.state("bundle", BUNDLE) == "NotReady"
    life.see(printed([*resources(18), *(Resource(f"u{n:02}", ready=n > 0) for n in range(12))]))
    assert (ready(life), {*names(life).values()}) == ("29/30", {"Ready", "NotReady"})


def test_the_rest_is_named_where_only_one_state_is_left() -> None:
    life = FleetHistory().see(printed(resources(12, ready=False)))
    assert [*names(life).values()] == ["NotReady"] * 12
    assert ready(life) == "0/12"


def test_the_flag_stands_for_ever_and_the_numbers_decide() -> None:
    broken = status_of(resources(12, exists=False), "v1")
    mended = status_of(resources(12), "v1", broken)
    assert mended["incompleteState"] is True
    life = FleetHistory().see(bundle_deployment(broken), bundle_deployment(mended))
    assert (ready(life), {*names(life).values()}, life.state("git_repo", REPO)) == ("12/12", {"Ready"}, "Ready")
    life.see(printed([*resources(11), Resource("r11", exists=False)], mended))
    assert (ready(life), names(life)["core:ConfigMap/shop/r11"]) == ("11/12", "Missing")


def test_lists_without_numbers() -> None:
    """As Fleet printed them before 0.12. A full list and the flag mean that the rest is not known."""
    found = status_of([*resources(5), *(Resource(f"u{n:02}", ready=False) for n in range(12))], "v1")
    del found["resourceCounts"]
    life = FleetHistory().see(bundle_deployment(found))
    counts = shown(life)["resources"]
    assert (counts["desired_ready"], counts["ready"], counts["not_ready"], counts["unknown"]) == (17, 0, 10, 7)
    healed = status_of([*resources(17)], "v1", found)
    del healed["resourceCounts"]
    assert ready(life.see(bundle_deployment(healed))) == "17/17"


def test_numbers_of_zero_beside_lists_are_no_numbers() -> None:
    found = status_of(resources(3), "v1")
    found["resourceCounts"] = dict.fromkeys(found["resourceCounts"], 0)
    assert ready(FleetHistory().see(bundle_deployment(found))) == "3/3"


def test_the_count_that_lied_for_a_while() -> None:
    """Fleet 0.12 before its first beta left a missing object out of desiredReady."""
    found = status_of([*resources(10), Resource("r10", exists=False)], "v1")
    found["resourceCounts"]["desiredReady"] = 10
    assert ready(FleetHistory().see(bundle_deployment(found))) == "10/11"


def test_both_not_ready_and_changed_is_counted_once() -> None:
    both = [Resource(f"b{n:02}", ready=False, changed=True) for n in range(12)]
    life = FleetHistory().see(printed([*resources(3), *both]))
    counts = shown(life)["resources"]
    assert (counts["desired_ready"], counts["ready"], counts["modified"], counts["not_ready"]) == (15, 3, 12, 0)


def test_both_are_counted_once_where_two_lists_are_cut() -> None:
    """Behind the end of the list of modified resources, nobody knows which of those that are not ready is modified."""
    both = [Resource(f"r{n:02}", ready=False, changed=True) for n in range(10)]
    others = [Resource("r10", ready=False), Resource("a", changed=True, kind="Deployment")]
    counts = shown(FleetHistory().see(printed([*both, *others])))["resources"]
    assert (counts["desired_ready"], counts["modified"], counts["not_ready"]) == (12, 11, 1)


# ---- what leaves the lists


def test_a_resource_that_is_not_declared_any_more_is_gone() -> None:
    life = FleetHistory().see(printed(resources(3)), printed(resources(2)))
    assert (ready(life), len(names(life))) == ("2/2", 2)
    life.see(printed(resources(3)))
    assert ready(life) == "3/3"


def test_it_is_gone_too_if_the_observer_was_away() -> None:
    life = FleetHistory().see(printed(resources(3))).restart().see(printed(resources(2)))
    assert (ready(life), len(names(life))) == ("2/2", 2)


def test_an_orphan_stays_as_long_as_it_is_listed() -> None:
    life = FleetHistory().see(printed(resources(3)), printed([*resources(2), Resource("r02", declared=False)]))
    found = shown(life)
    assert (found["display"]["ready_resources"], found["resources"]["orphaned"]) == ("2/2", 1)
    assert (names(life)["core:ConfigMap/shop/r02"], life.state("bundle", BUNDLE)) == ("Orphaned", "Modified")
    life.see(printed(resources(2)))
    assert (shown(life)["resources"]["orphaned"], life.state("bundle", BUNDLE)) == (0, "Ready")


def test_a_status_without_resources_says_nothing_about_them() -> None:
    life = FleetHistory().see(printed(resources(3)))
    life.see(bundle_deployment({"appliedDeploymentID": "v1", "ready": True, "nonModified": True}))
    assert ready(life) == "3/3"


def test_a_deployment_that_comes_back_is_told_again() -> None:
    there = printed(resources(3))
    life = FleetHistory().see(fleet.git_repo(commit="abc"), there).see(there, gone=True)
    assert life.state("bundle_deployment", ON) == "Deleted"
    assert ready(life.see(there)) == "3/3"
    life.see(fleet.git_repo(commit="abc"), gone=True).see(fleet.git_repo(commit="abc"), fleet.bundle(), there)
    assert life.state("git_repo", REPO) != "Deleted"


def test_desired_comes_from_what_is_declared() -> None:
    life = FleetHistory().see(printed([*resources(8), *(Resource(f"m{n}", exists=False) for n in range(3))]))
    found = shown(life)["resources"]
    assert (found["desired_ready"], found["ready"], found["missing"]) == (11, 8, 3)


def test_an_event_of_ones_own_beside_cut_lists() -> None:
    """What is counted without a name gives way to a state that somebody reports: nothing is counted twice."""
    life = FleetHistory().see(printed([*resources(18), *(Resource(f"u{n:02}", ready=False) for n in range(12))]))
    life.do("bundle_resource", "deleted", f"{ON}/core:ConfigMap/shop/r00")
    found = shown(life)["resources"]
    assert (found["desired_ready"], found["ready"], found["not_ready"], found["missing"]) == (30, 17, 12, 1)


# ---- foreign owners


def test_what_belongs_to_another_bundle_is_never_missing() -> None:
    mine, other = [*resources(2), Resource("shared", ours=False)], [Resource("shared")]
    theirs = bundle_deployment(status_of(other, "v1"), bundle="base")
    life = FleetHistory().see(printed(mine))
    found, shared = shown(life), f"{ON}/core:ConfigMap/shop/shared"
    assert (found["display"]["ready_resources"], found["resources"]["missing"], found["resources"]["not_ready"]) == ("2/3", 0, 1)  # fmt: skip
    assert found["display"]["message"] == f"{shared} NotOwned (it exists, and belongs to somebody else)"
    life.see(theirs)
    assert life.attributes("bundle_resource", shared)["why"] == (
        "it exists, and belongs to infra/base/fleet-default+c1"
    )
    assert life.state("bundle_deployment", ON) == "Modified"
    life.see(printed([*resources(2), Resource("shared")]))
    assert life.state("bundle_resource", shared) == "Ready"


def test_who_owns_it_is_said_whichever_comes_first() -> None:
    theirs = bundle_deployment(status_of([Resource("shared")], "v1"), bundle="base")
    life = FleetHistory().see(theirs, printed([Resource("shared", ours=False)]))
    why = life.attributes("bundle_resource", f"{ON}/core:ConfigMap/shop/shared")["why"]
    assert why == "it exists, and belongs to infra/base/fleet-default+c1"


@pytest.mark.parametrize("owned_before", [False, True])
def test_what_is_not_its_own_never_belongs_to_itself(owned_before: bool) -> None:
    """Its agent may still list the object among what it deployed."""
    life = FleetHistory()
    if owned_before:
        life.see(printed([Resource("shared")]))
    status = status_of([Resource("shared", ours=False)], "v1")
    status["resources"] = [Resource("shared").key]
    for _ in range(2):
        life.see(bundle_deployment(status))
        why = life.attributes("bundle_resource", f"{ON}/core:ConfigMap/shop/shared")["why"]
        assert why == "it exists, and belongs to somebody else"


# ---- own errors


BAD_VALUES = "error while targeting: values: key 'replicas' not found"


def test_an_error_of_a_bundle_is_in_its_state_and_above() -> None:
    life = FleetHistory().see(fleet.git_repo(commit="abc"), printed(resources(2)))
    failing = fleet.bundle(conditions=[condition("Ready", "False", BAD_VALUES, "Error")])
    life.see(failing)
    assert [life.state("bundle", BUNDLE), life.state("git_repo", REPO)] == ["NotReady [Error]", "NotReady [Error]"]
    assert shown(life)["display"]["message"] == f"infra/web NotReady [Error] ({BAD_VALUES})"
    records = [record for step in life.history.steps for record in step.records if isinstance(record, Transition)]
    above = [one.message for one in records if one.entity.kind == "git_repo" and "Error" in one.after.conditions]
    assert above == [f"because of bundle infra/web ({BAD_VALUES})"]
    life.see(fleet.bundle(conditions=[condition("Ready", "True")]))
    assert [life.state("bundle", BUNDLE), life.state("git_repo", REPO)] == ["Ready", "Ready"]


def test_an_error_without_any_deployment_is_not_pending_without_a_word() -> None:
    life = FleetHistory().see(fleet.bundle(conditions=[condition("Ready", "False", BAD_VALUES, "Error")]))
    assert [life.state("bundle", BUNDLE), life.state("git_repo", REPO)] == ["NotReady [Error]", "NotReady [Error]"]
    life.see(printed([*resources(1), Resource("x", changed=True)]))
    assert [life.state("bundle", BUNDLE), life.state("git_repo", REPO)] == ["Modified [Error]", "Modified [Error]"]


@pytest.mark.parametrize("message", [
    "NotReady(1) [Cluster fleet-default/c1]; configmap.v1 shop/r0 error", "WaitApplied(2) [Bundle web]",
    "Modified(1) [Cluster fleet-default/c1]; configmap.v1 shop/r0 missing",
])  # fmt: skip
def test_a_summary_of_what_is_below_is_no_error(message: str) -> None:
    # The reason Error stays from an earlier error.
    life = FleetHistory().see(printed(resources(2)), fleet.bundle(conditions=[condition("Ready", "False", message, "Error")]))  # fmt: skip
    life.see(fleet.git_repo(commit="abc", conditions=[condition("Ready", "False", message)]))
    assert (life.state("bundle", BUNDLE), life.state("git_repo", REPO)) == ("Ready", "Ready")


@pytest.mark.parametrize("bad", [
    condition("Accepted", "False", "secret not found"), condition("Stalled", "True", "secret not found"),
    condition("Ready", "False", "secret not found"), condition("ImageSynced", "False", "secret not found"),
])  # fmt: skip
def test_an_error_of_a_repository(bad: dict[str, str]) -> None:
    life = FleetHistory().see(printed(resources(2)), fleet.git_repo(commit="abc", conditions=[bad]))
    assert (life.state("git_repo", REPO), life.attributes("git_repo", REPO)["why"]) == ("NotReady [Error]", "secret not found")  # fmt: skip
    life.see(fleet.git_repo(commit="abc", conditions=[condition(bad["type"], "Unknown")]))
    assert life.state("git_repo", REPO) == "Ready"


def test_git_that_fails_and_an_error_stand_together() -> None:
    polling, stalled = (
        condition("GitPolling", "False", "no route to host"),
        condition("Stalled", "True", "no route to host"),
    )
    life = FleetHistory().see(printed(resources(2)), fleet.git_repo(commit="abc", conditions=[polling, stalled]))
    assert life.state("git_repo", REPO) == "NotReady [GitError]"
    accepted = condition("Accepted", "False", "no such secret")
    life.see(fleet.git_repo(commit="abc", conditions=[polling, accepted]))
    assert life.state("git_repo", REPO) == "NotReady [GitError, Error]"
    life.see(fleet.git_repo(commit="abd", conditions=[accepted]))
    assert (life.state("git_repo", REPO), life.attributes("git_repo", REPO)["commit"]) == ("NotReady [Error]", "abd")
    life.see(fleet.git_repo(commit="abd"))
    assert life.state("git_repo", REPO) == "Ready"


# ---- agents


LATELY, LONG_AGO = "1970-01-01T00:00:01Z", "1969-12-31T20:00:00Z"
"""The clock of a history begins in 1970."""


@pytest.mark.parametrize(("last_seen", "why"), [
    (None, "its agent was never seen"), ("0001-01-01T00:00:00Z", "its agent was never seen"),
    (LONG_AGO, f"its agent was last seen {LONG_AGO}"),
])  # fmt: skip
@pytest.mark.parametrize("cluster_first", [True, False])
def test_an_agent_that_was_not_seen(last_seen: str | None, why: str, *, cluster_first: bool) -> None:
    both = [printed(resources(2)), fleet.cluster(last_seen)]
    life = FleetHistory().see(*(reversed(both) if cluster_first else both))
    found = shown(life)
    assert [life.state("bundle_deployment", ON), life.state("git_repo", REPO)] == ["WaitCheckIn"] * 2
    assert (found["deployments"]["wait_check_in"], found["deployments"]["ready"]) == (1, 0)
    assert found["display"] == {
        "ready_deployments": "0/1", "ready_resources": "2/2", "message": f"{ON} WaitCheckIn ({why})",
    }  # fmt: skip
    life.see(fleet.cluster(LATELY))
    assert (life.state("bundle_deployment", ON), life.state("git_repo", REPO)) == ("Ready", "Ready")


def test_a_time_that_is_none() -> None:
    life = FleetHistory().see(printed(resources(1)))
    assert "write a time such as" in life.refused("bundle_deployment", "checked_in", ON, last_seen="soon").message


def test_a_deployment_of_which_nothing_is_heard() -> None:
    """What was known of it stays known, and it does not count as ready."""
    life = Contacts(default=60)
    for trigger in ("target", "applied"):
        life.say("bundle_deployment", trigger, ON, deployment_id="v1")
    life.say("bundle_resource", "ready", f"{ON}/core:ConfigMap/shop/r0")
    assert life.state("git_repo", REPO) == "Ready"
    life.wait(80)
    entities = [one for found in life.tree.entities.values() for one in found.values()]
    found = counts(life.entity("git_repo", REPO), entities)
    assert (found["state"], found["deployments"]["wait_check_in"], found["deployments"]["ready"]) == (
        "WaitCheckIn",
        1,
        0,
    )
    assert found["display"]["message"].startswith(
        f"{ON} WaitCheckIn (nothing was heard of it since 1970-01-01T00:16:40"
    )
    assert found["display"]["ready_resources"] == "1/1"
    assert (life.beat("bundle_deployment", ON).state("git_repo", REPO), life.state("bundle_deployment", ON)) == (
        "Ready",
        "Ready",
    )


# ---- rollouts


def partitions(*unavailable: int, waiting: int = 0) -> list[dict[str, Any]]:
    return [
        {"name": f"Partition {n}", "count": 50, "maxUnavailable": 5, "unavailable": one,
         "summary": {"desiredReady": 50, "ready": 50 - one - waiting, **({"pending": waiting} if waiting else {})}}
        for n, one in enumerate(unavailable)
    ]  # fmt: skip


def test_a_rollout_is_kept_and_says_what_holds_it_back() -> None:
    spec = {"rolloutStrategy": {"maxNew": 10, "maxUnavailable": "10%"}}
    numbers: dict[str, Any] = {
        "maxUnavailable": 20,
        "unavailable": 7,
        "unavailablePartitions": 1,
        "maxUnavailablePartitions": 0,
    }
    found = fleet.bundle(spec=spec, summary={"desiredReady": 150, "pending": 90}, partitions=partitions(0, 7, 0, waiting=30), **numbers)  # fmt: skip
    life = FleetHistory().see(printed(resources(2)), found)
    kept = life.attributes("bundle", BUNDLE)
    assert kept["held_back"] == "held back by partition 2 (Partition 1): 7 of 50 targets are unavailable, 5 may be"
    assert (kept["max_new"], kept["max_unavailable"], kept["waiting"], len(kept["partitions"])) == (10, 20, 90, 3)
    assert shown(life)["rollouts"]["infra/web"]["held_back"] == kept["held_back"]
    assert shown(life)["display"]["ready_deployments"] == "1/91"
    assert [life.state("bundle", BUNDLE), life.state("git_repo", REPO)] == ["Pending [Waiting]", "Pending [Waiting]"]
    life.see(
        fleet.bundle(spec=spec, summary={"desiredReady": 1, "ready": 1}, partitions=partitions(0, 7, 0), **numbers)
    )
    assert "held_back" not in life.attributes("bundle", BUNDLE)
    assert (shown(life)["display"]["ready_deployments"], life.state("git_repo", REPO)) == ("1/1", "Ready")


def test_wrong_numbers_are_refused() -> None:
    life = FleetHistory().see(printed(resources(1)))
    assert "write a number of 0 or more" in life.refused("bundle_deployment", "observed", ON, counted={"ready": -1}).message  # fmt: skip
    assert "under one of ready, not_ready" in life.refused("bundle_deployment", "observed", ON, counted={"fine": 1}).message  # fmt: skip
    assert "write a whole number" in life.refused("bundle", "rollout", BUNDLE, partitions=[{"count": "x"}]).message


def test_a_number_below_zero_in_an_object_hides_nothing_else_of_it() -> None:
    spec, odd = {"rolloutStrategy": {"maxNew": -1}}, [{"count": -2, "unavailable": 1, "summary": {"pending": -1}}]
    life = FleetHistory().see(fleet.bundle(spec=spec, unavailable=-1, summary={"pending": 2}, partitions=odd))
    kept = life.attributes("bundle", BUNDLE)
    assert ("max_new" in kept, "unavailable" in kept, kept["waiting"]) == (False, False, 2)
    assert kept["partitions"] == [{"count": 0, "unavailable": 1, "max_unavailable": 0, "waiting": 0}]


# ---- one object, one step


def test_a_deployment_does_not_flap_on_its_way() -> None:
    life = FleetHistory().see(printed(resources(2)))
    moved = [one for step in life.history.steps for one in step.records if isinstance(one, Transition)]
    moved = [one for one in moved if one.facet == "state"]
    assert [one.after.phase for one in moved if one.entity.kind == "bundle_deployment"] == ["Ready"]
    before = len(life.history.steps)
    life.see(bundle_deployment(status_of(resources(2), "v2"), wanted="v2"))
    moved = [one for step in life.history.steps[before:] for one in step.records if isinstance(one, Transition)]
    assert {one.after.phase for one in moved} == {"Ready"}
