"""Fleet's stories: a count must not lie (docs/spec/fleet.md)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phaseline import testing
from phaseline.machines.compiler.classes.state_classes import class_of
from phaseline.machines.kinds.fleet.counts import of_deployments, of_resources
from phaseline.schemas.records import Entity, Rejection, State, Transition
from tests.support.fleet_history import BUNDLE, ON, FleetHistory, part
from tests.support.gitops_history import KINDS, GitOpsHistory
from tests.support.manifests import deployment, kubernetes_object


def test_eleven_resources_one_deleted_by_hand() -> None:
    life = FleetHistory().put(parts=11)
    found = life.counts("git_repo", "infra")
    assert (found["state"], found["display"]) == (
        "Ready",
        {"ready_deployments": "1/1", "ready_resources": "11/11", "message": ""},
    )
    step = life.say("bundle_resource", "deleted", part(7), message="somebody ran kubectl delete")
    found = life.counts("git_repo", "infra")
    assert found["display"] == {
        "ready_deployments": "0/1", "ready_resources": "10/11", "message": f"{part(7)} Missing (somebody ran kubectl delete)",
    }  # fmt: skip
    assert (found["resources"]["missing"], found["resources"]["not_ready"], found["deployments"]["modified"]) == (
        1,
        0,
        1,
    )
    assert [
        life.state(kind, one) for kind, one in (("git_repo", "infra"), ("bundle", BUNDLE), ("bundle_deployment", ON))
    ] == ["Modified"] * 3
    said = {r.entity.kind: r.message for r in step.records if isinstance(r, Transition)}
    assert said["bundle_deployment"] == f"because of bundle_resource {part(7)}"
    assert said["git_repo"] == f"because of bundle_deployment {ON}"
    life.do("bundle_resource", "observed", part(7), live=kubernetes_object("v1", "ConfigMap", metadata={"name": "r7"}))
    assert life.counts("bundle", BUNDLE)["display"]["ready_resources"] == "11/11"


def test_a_missing_resource_can_be_asked_to_make_it_not_ready() -> None:
    life = (
        FleetHistory()
        .put()
        .do("bundle_deployment", "configure", ON, missing_is="not_ready")
        .do("bundle_resource", "missing", part(0))
    )
    assert life.state("bundle_deployment", ON) == "NotReady"
    life.do("bundle_deployment", "configure", ON, missing_is="modified")
    assert life.state("bundle_deployment", ON) == "Modified"


def test_the_order_of_a_deployment_is_not_the_order_of_ranks() -> None:
    life = FleetHistory().put().do("bundle_resource", "not_ready", part(0)).do("bundle_resource", "modified", part(1))
    assert life.state("bundle_deployment", ON) == "NotReady"
    other = f"{BUNDLE}/c2"
    life.put(other).do("bundle_resource", "modified", part(0, other))
    assert [life.state("bundle_deployment", other), life.state("bundle", BUNDLE)] == ["Modified", "Modified"]
    life.do("bundle_deployment", "staged", other, deployment_id="v2")
    assert [life.state("bundle_deployment", other), life.state("bundle", BUNDLE)] == ["OutOfSync", "OutOfSync"]


def test_ids() -> None:
    life = FleetHistory().do("bundle_deployment", "target", ON, deployment_id="v1")
    assert life.state("bundle_deployment", ON) == "WaitApplied"
    life.do("bundle_deployment", "apply_failed", ON, message="no space left")
    assert (life.state("bundle_deployment", ON), life.attributes("bundle_deployment", ON)["why"]) == (
        "ErrApplied",
        "no space left",
    )
    life.do("bundle_deployment", "target", ON, deployment_id="v2")
    assert life.state("bundle_deployment", ON) == "WaitApplied"
    life.do("bundle_deployment", "applied", ON, deployment_id="v1")
    assert life.state("bundle_deployment", ON) == "WaitApplied"
    life.do("bundle_deployment", "applied", ON, deployment_id="v2")
    assert life.state("bundle_deployment", ON) == "NotAssessed"
    life.do("bundle_resource", "ready", part(0))
    assert life.state("bundle_deployment", ON) == "Ready"
    life.do("bundle_deployment", "staged", ON, deployment_id="v3")
    assert life.state("bundle_deployment", ON) == "OutOfSync"
    life.do("bundle_deployment", "target", ON, deployment_id="v3").do(
        "bundle_deployment", "applied", ON, deployment_id="v3"
    )
    assert life.state("bundle_deployment", ON) == "Ready"


def test_what_fails_must_have_been_wanted() -> None:
    life = FleetHistory().do("bundle_deployment", "configure", ON, missing_is="modified")
    assert life.state("bundle_deployment", ON) == "Pending"
    assert "nothing is wanted yet" in life.refused("bundle_deployment", "apply_failed", ON).message


def test_resources_of_a_version_that_waits_keep_what_was_seen() -> None:
    life = (
        FleetHistory()
        .do("bundle_deployment", "target", ON, deployment_id="v1")
        .do("bundle_resource", "declared", part(0))
    )
    assert life.state("bundle_resource", part(0)) == "WaitApplied"
    life.do("bundle_deployment", "applied", ON, deployment_id="v1")
    assert life.state("bundle_resource", part(0)) == "Unknown"
    life.do("bundle_resource", "ready", part(0)).do("bundle_deployment", "target", ON, deployment_id="v2")
    assert life.state("bundle_resource", part(0)) == "Ready"
    assert life.attributes("bundle_deployment", ON)["applied"] == "v1"


def test_no_deployments_is_not_ready_but_pending() -> None:
    life = GitOpsHistory().do("git_repo", "created", "infra").do("bundle", "created", BUNDLE)
    assert (life.states("git_repo", "infra"), life.states("bundle", BUNDLE)) == (
        ("Pending [NoDeployment]",),
        ("Pending [NoDeployment]",),
    )


def test_a_repository_that_cannot_be_fetched_is_never_ready() -> None:
    life = FleetHistory().put()
    assert life.state("git_repo", "infra") == "Ready"
    life.do("git_repo", "fetch_failed", "infra", message="authentication failed")
    assert life.state("git_repo", "infra") == "NotReady [GitError]"
    life.do("git_repo", "fetch_failed", "infra")
    life.do("bundle_resource", "modified", part(0))
    assert life.state("git_repo", "infra") == "Modified [GitError]"
    life.do("bundle_resource", "ready", part(0)).do("git_repo", "fetched", "infra", commit="abc")
    assert (life.state("git_repo", "infra"), life.attributes("git_repo", "infra")["commit"]) == ("Ready", "abc")


RUNS = {**deployment(), "status": {"replicas": 1, "updatedReplicas": 1, "availableReplicas": 1}}


@pytest.mark.parametrize(("live", "desired", "state"), [
    (None, deployment(), "Missing"), (deployment(), None, "Orphaned"), (deployment(replicas=1), deployment(replicas=2), "Modified"),
    (deployment(replicas=2), deployment(replicas=2), "NotReady"), (deployment(), deployment(), "NotReady"), (RUNS, deployment(), "Ready"),
])  # fmt: skip
def test_an_observation_is_judged(live: Any, desired: Any, state: str) -> None:
    found = f"{ON}/apps:Deployment/shop/it"
    life = FleetHistory().put().do("bundle_resource", "observed", found, live=live, desired=desired)
    assert life.state("bundle_resource", found) == state


def test_undeclared_and_gone() -> None:
    life = FleetHistory().put().do("bundle_resource", "undeclared", part(0))
    assert (life.state("bundle_resource", part(0)), life.counts("bundle", BUNDLE)["display"]["ready_resources"]) == (
        "Orphaned",
        "1/1",
    )
    life.do("bundle_resource", "deleted", part(0))
    assert life.state("bundle_resource", part(0)) == "Deleted"
    life.do("bundle_resource", "missing", part(1)).do("bundle_resource", "undeclared", part(1))
    assert life.state("bundle_resource", part(1)) == "Deleted"
    found = life.counts("bundle", BUNDLE)["resources"]
    assert (found["desired_ready"], found["ready"]) == (0, 0)
    assert life.state("bundle_deployment", ON) == "NotAssessed"  # nothing of it is known, and its agent says nothing


def test_per_cluster_and_how_many_more() -> None:
    life = FleetHistory().put(parts=8).put(f"{BUNDLE}/c2", parts=8)
    for number in range(8):
        life.do("bundle_resource", "modified", part(number)).do(
            "bundle_resource", "not_ready", part(number, f"{BUNDLE}/c2")
        )
    found = life.counts("git_repo", "infra")
    assert {
        cluster: (one["resources"]["modified"], one["resources"]["not_ready"])
        for cluster, one in found["per_cluster"].items()
    } == {"c1": (8, 0), "c2": (0, 8)}
    assert found["display"]["message"].endswith("; and 6 more")
    assert life.state("git_repo", "infra") == "Modified"


def test_everything_ends_with_its_repository() -> None:
    life = FleetHistory().put().do("git_repo", "removed", "infra")
    assert {one.facets[0].state.phase for found in life.history.tree.entities.values() for one in found.values()} == {
        "Deleted"
    }


SAID = st.lists(
    st.tuples(
        st.sampled_from(["ready", "not_ready", "modified", "missing", "orphaned", "declared", "undeclared", "deleted"]),
        st.integers(0, 3),
        st.integers(1, 2),
    ),
    max_size=40,
)


@given(SAID, st.lists(st.sampled_from(["target", "applied", "staged", "apply_failed", "removed"]), max_size=5))
def test_tallies_are_a_fresh_count_and_counts_add_up(said: list[tuple[str, int, int]], ids: list[str]) -> None:
    life = FleetHistory()
    for place, (trigger, number, cluster) in enumerate(said):
        life.say("bundle_resource", trigger, part(number, f"{BUNDLE}/c{cluster}"))
        if place < len(ids):
            life.say(
                "bundle_deployment",
                ids[place],
                ON,
                **({"deployment_id": f"v{place % 2}"} if ids[place] not in ("apply_failed", "removed") else {}),
            )
        _check(life)


def _check(life: FleetHistory) -> None:
    tree = life.history.tree
    for kind in ("git_repo", "bundle", "bundle_deployment"):
        for entity_id, top in tree.entities[kind].items():
            for below, count in (("bundle_resource", of_resources), ("bundle_deployment", of_deployments)):
                if KINDS[below].arity <= KINDS[kind].arity:
                    continue
                fresh = [
                    one.facets[0].state.phase
                    for one in tree.entities[below].values()
                    if one.id.startswith(f"{entity_id}/")
                ]
                tally = dict(tree.tally(entity_id, kind, below, 0))
                assert tally == {phase: fresh.count(phase) for phase in set(fresh)}
                found = count(tally)
                words = [word for word in found if word not in ("desired_ready", "orphaned")]
                assert sum(found[word] for word in words) == found["desired_ready"]
            assert isinstance(top, Entity)


def test_what_is_not_ready_by_its_health_is_not_ready_and_what_is_not_assessed_says_so() -> None:
    life = FleetHistory().put(parts=0)
    user = kubernetes_object("kafka.strimzi.io/v1beta2", "KafkaUser", metadata={"name": "u"})
    broken = {**user, "status": {"conditions": [{"type": "Ready", "status": "False", "reason": "InvalidResource"}]}}
    at = f"{ON}/kafka.strimzi.io:KafkaUser/shop/u"
    life.do("bundle_resource", "observed", at, live=broken)
    assert (life.state("bundle_resource", at), life.state("bundle_deployment", ON)) == ("NotReady", "NotReady")
    assert life.counts("git_repo", "infra")["display"]["ready_resources"] == "0/1"
    life.do("bundle_resource", "undeclared", at, lives=False)
    at = f"{ON}/example.io:Widget/shop/w"
    widget = kubernetes_object("example.io/v1", "Widget", metadata={"name": "w"}, status={"blades": 3})
    life.do("bundle_resource", "observed", at, live=widget)
    whole = [
        life.state(kind, one) for kind, one in (("bundle_deployment", ON), ("bundle", BUNDLE), ("git_repo", "infra"))
    ]
    assert (life.state("bundle_resource", at), whole) == ("NotAssessed", ["NotAssessed"] * 3)
    found = life.counts("git_repo", "infra")
    assert (found["display"]["ready_resources"], found["resources"]["not_assessed"]) == ("0/1", 1)
    assert found["display"]["message"].startswith(f"{at} NotAssessed (")
    config = f"{ON}/core:ConfigMap/shop/c"
    life.do("bundle_resource", "observed", config, live=kubernetes_object("v1", "ConfigMap", metadata={"name": "c"}))
    assert (life.state("bundle_resource", config), life.state("git_repo", "infra")) == ("Ready", "Ready")
    assert life.counts("git_repo", "infra")["display"]["ready_resources"] == "1/2"
    life.do("bundle_resource", "undeclared", config, lives=False)
    life.do("bundle_deployment", "observed", ON, ready=True)
    assert life.state("git_repo", "infra") == "Ready"  # its agent has judged it


# ---- what nobody said, what comes late, what no clock can say


def test_declared_resources_of_which_nothing_is_known_make_nothing_ready() -> None:
    life = FleetHistory().do("bundle_deployment", "target", ON, deployment_id="v1")
    life.do("bundle_resource", "declared", part(0)).do("bundle_resource", "declared", part(1))
    life.do("bundle_deployment", "applied", ON, deployment_id="v1")
    assert wholes(life) == ["NotAssessed"] * 3
    assert life.counts("git_repo", "infra")["display"]["ready_resources"] == "0/2"
    life.do("bundle_resource", "ready", part(0))
    assert wholes(life) == ["NotAssessed"] * 3  # a part of which nothing is known
    assert life.counts("git_repo", "infra")["display"]["ready_resources"] == "1/2"
    life.do("bundle_resource", "ready", part(1))
    assert wholes(life) == ["Ready"] * 3


def test_an_agent_that_calls_it_ready_is_believed_though_no_resource_is_known() -> None:
    life = FleetHistory().do("bundle_deployment", "observed", ON, target="v1", applied="v1", ready=True)
    life.do("bundle_resource", "declared", part(0))
    assert wholes(life) == ["Ready"] * 3


def test_a_late_failure_of_another_deployment_is_not_one_of_the_wanted() -> None:
    life = FleetHistory().do("bundle_deployment", "target", ON, deployment_id="v1")
    life.do("bundle_deployment", "target", ON, deployment_id="v2")
    step = life.say("bundle_deployment", "apply_failed", ON, deployment_id="v1", message="v1 is too large")
    [record] = step.records
    assert isinstance(record, Rejection)
    assert (record.reason, "v1 could not be applied, and v2 is wanted" in record.message) == ("guard", True)
    assert life.state("bundle_deployment", ON) == "WaitApplied"
    life.do("bundle_deployment", "apply_failed", ON, deployment_id="v2", message="quota")
    assert life.state("bundle_deployment", ON) == "ErrApplied"


def wholes(life: FleetHistory) -> list[str]:
    """The states of the repository, the bundle and the deployment."""
    return [life.state("git_repo", "infra"), life.state("bundle", BUNDLE), life.state("bundle_deployment", ON)]


def at_noon() -> testing.Given:
    """A ready deployment, at 12:00."""
    ids = {"target": "v1", "applied": "v1", "ready": True}
    return testing.given(KINDS).event("bundle_deployment", "observed", ON, ids).at("2026-01-01T12:00:00Z")


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (["2026-01-01T11:59:00Z", "2026-01-01T10:00:00Z"], "Ready"),  # in another order
        (["2026-01-01T10:00:00Z", "2026-01-01T11:59:00Z"], "Ready"),
        (["2026-01-01T11:59:00Z", "2099-01-01T00:00:00Z"], "Ready"),
        (["2026-01-01T10:00:00Z", "2099-01-01T00:00:00Z"], "WaitCheckIn"),
        (["2099-01-01T00:00:00Z"], "WaitCheckIn"),
        (["2099-01-01T00:00:00Z", "2026-01-01T11:59:00Z"], "Ready"),
        (["2026-01-01T12:04:00Z"], "Ready"),  # clocks differ a little
        (["1970-01-01T00:00:00Z"], "WaitCheckIn"),
        (["2026-01-01T11:59:00Z", None], "WaitCheckIn"),
    ],
)
def test_the_newest_check_in_that_can_be_believed_counts(said: list[str | None], shown: str) -> None:
    life: testing.Given = at_noon()
    for last_seen in said:
        life = life.event("bundle_deployment", "checked_in", ON, {"last_seen": last_seen})
    assert life.entity("bundle_deployment", ON).facets[0].state.phase == shown


def test_a_check_in_from_the_future_does_not_last_for_ever() -> None:
    life = at_noon().event("bundle_deployment", "checked_in", ON, {"last_seen": "2026-01-01T12:00:00Z"})
    life = life.event("bundle_deployment", "checked_in", ON, {"last_seen": "2099-01-01T00:00:00Z"})
    controller = life.later(minutes=50).when("bundle_deployment", "observed", ON, {"ready": True})
    controller.then("bundle_deployment", ON, "WaitCheckIn")


def test_a_check_in_of_a_cluster_brings_no_removed_deployment_back() -> None:
    gone = at_noon().event("bundle_deployment", "removed", ON)
    late = gone.when("bundle_deployment", "checked_in", ON, {"last_seen": "2026-01-01T12:00:00Z"})
    late.then_rejected("illegal").then("bundle_deployment", ON, "Deleted")


def test_the_commit_of_a_repository_that_is_gone_judges_nobody() -> None:
    life = testing.given(KINDS).event("git_repo", "fetched", "infra", {"commit": "c2"})
    gone = life.event("git_repo", "removed", "infra")
    ids = {"target": "v1", "applied": "v1", "ready": True, "commit": "c1", "uid": "k8s:new"}
    gone.when("bundle_deployment", "observed", ON, ids).then("bundle_deployment", ON, "Ready")


def deployed() -> testing.Given:
    """A repository, its bundle, and a deployment of it that is ready."""
    life = testing.given(KINDS).event("git_repo", "fetched", "infra", {"uid": "k8s:repo"})
    life = life.event("bundle", "created", BUNDLE, {"uid": "k8s:bundle"})
    return life.event("bundle_deployment", "observed", ON, {**READY_ON, "uid": "k8s:1"})


READY_ON = {"target": "v1", "applied": "v1", "ready": True}
LATE: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    ("bundle_deployment", "observed", ON, {**READY_ON, "uid": "k8s:1"}), ("bundle_deployment", "observed", ON, READY_ON),
    ("bundle_deployment", "applied", ON, {"deployment_id": "v1"}), ("bundle", "created", BUNDLE, {"uid": "k8s:bundle"}),
    ("bundle", "rollout", BUNDLE, {"waiting": 0}), ("bundle", "failed", BUNDLE, {"message": "no"}),
    ("bundle_resource", "ready", part(1), {}), ("bundle_deployment", "observed", f"{BUNDLE}/c2", READY_ON),
)  # fmt: skip
"""News of what was below a repository, none of which proves that it is there again."""


@pytest.mark.parametrize(("kind", "trigger", "at", "data"), LATE)
def test_late_news_of_what_was_below_brings_no_repository_back(kind: str, trigger: str, at: str, data: Any) -> None:
    gone = deployed().event("git_repo", "removed", "infra")
    late = gone.when(kind, trigger, at, data)
    late.then_rejected("unknown_parent", "is deleted")
    late.then("git_repo", "infra", "Deleted").then("bundle_deployment", ON, "Deleted")


def test_another_thing_shows_that_its_repository_is_there_again() -> None:
    """It is seen before the repository and the bundle are, because they are watched one by one."""
    gone = deployed().event("git_repo", "removed", "infra")
    for at in (ON, f"{BUNDLE}/c2"):
        again = gone.when("bundle_deployment", "observed", at, {**READY_ON, "uid": "k8s:2"})
        again.then("bundle_deployment", at, "Ready").then("git_repo", "infra", "Ready")
    again = gone.when("bundle", "created", BUNDLE, {"uid": "k8s:other"})
    again.then("bundle", BUNDLE, "Pending [NoDeployment]").then("git_repo", "infra", "Pending [NoDeployment]")
    gone.when("bundle_deployment", "target", ON, {"deployment_id": "v2"}).then_rejected("unknown_parent")
    back = gone.event("git_repo", "fetched", "infra", {"uid": "k8s:repo2"})
    back.when("bundle_deployment", "target", ON, {"deployment_id": "v2"}).then("bundle_deployment", ON, "WaitApplied")


def test_another_thing_that_was_numbered_before_the_end_is_late() -> None:
    numbered = testing.given(KINDS).event("git_repo", "fetched", "infra", source="/f", sequence=1)
    gone = numbered.event("git_repo", "removed", "infra", source="/f", sequence=3)
    data = {**READY_ON, "uid": "k8s:2"}
    gone.when("bundle_deployment", "observed", ON, data, source="/f", sequence=2).then_rejected("unknown_parent")
    gone.when("bundle_deployment", "observed", ON, data, source="/f", sequence=4).then("git_repo", "infra", "Ready")


def test_words_that_are_missing_take_no_reason_away() -> None:
    life = FleetHistory().put()
    for said in ({"message": "out of memory"}, {}):
        life.do("bundle_resource", "not_ready", part(0), **said).do("bundle", "failed", BUNDLE, **said)
        life.do("git_repo", "fetch_failed", "infra", **said)
    for kind, at in (("bundle_resource", part(0)), ("bundle", BUNDLE), ("git_repo", "infra")):
        assert life.attributes(kind, at)["why"] == "out of memory"
    life.do("bundle_resource", "missing", part(0)).do("bundle", "recovered", BUNDLE).do("bundle", "failed", BUNDLE)
    assert (life.attributes("bundle_resource", part(0))["why"], life.attributes("bundle", BUNDLE).get("why")) == (
        "",
        None,
    )


@pytest.mark.parametrize("trigger", ["observed", "target", "checked_in"])
def test_late_news_of_a_deployment_that_was_seen_to_be_gone_begins_nothing(trigger: str) -> None:
    said: dict[str, dict[str, Any]] = {"target": {"deployment_id": "v1"}, "checked_in": {"last_seen": None}}
    data = said.get(trigger, READY_ON)
    gone = deployed().event("bundle_deployment", "removed", ON)
    late = gone.when("bundle_deployment", trigger, ON, {**data, "uid": "k8s:1"})
    late.then_rejected("stale", "seen to be gone").then("bundle_deployment", ON, "Deleted")
    again = gone.when("bundle_deployment", "observed", ON, {**READY_ON, "uid": "k8s:2"})
    again.then("bundle_deployment", ON, "Ready")


def test_a_setting_begins_no_new_life_of_a_deployment() -> None:
    gone = deployed().event("bundle_deployment", "removed", ON)
    gone.when("bundle_deployment", "configure", ON, {"missing_is": "not_ready"}).then_rejected("illegal")


@pytest.mark.parametrize("trigger", ["applied", "staged"])
def test_what_became_of_a_deployment_begins_no_new_life_of_it(trigger: str) -> None:
    gone = deployed().event("bundle_deployment", "removed", ON)
    gone.when("bundle_deployment", trigger, ON, {"deployment_id": "v1"}).then_rejected("illegal")
    gone.when("bundle_deployment", "target", ON, {"deployment_id": "v1"}).then("bundle_deployment", ON, "WaitApplied")


def test_an_error_of_what_is_gone_begins_nothing() -> None:
    gone = deployed().event("git_repo", "removed", "infra")
    gone.when("git_repo", "failed", "infra", {"message": "no"}).then_rejected("illegal")
    gone.when("git_repo", "fetched", "infra", {"uid": "k8s:repo"}).then_rejected("stale", "seen to be gone")
    gone.when("git_repo", "fetched", "infra", {"uid": "k8s:repo2"}).then("git_repo", "infra", "Pending")
    gone.when("git_repo", "fetch_failed", "infra").then("git_repo", "infra", "NotReady [GitError]")


def test_holding_back_makes_no_state_worse() -> None:
    facet = KINDS["bundle_deployment"].machines[0].facet
    named = {(label.phase, label.condition) for label in facet.labels}
    for phase in {label.phase for label in facet.labels} - {"Ready"}:
        for held in facet.sticky:
            assert (phase, held) in named
            assert class_of(facet, State(phase, (held,))) == class_of(facet, State(phase)), phase


def test_what_was_told_to_be_elsewhere_may_come_back() -> None:
    for kind, trigger, at, uid in (
        ("git_repo", "fetched", "infra", "k8s:repo"), ("bundle", "created", BUNDLE, "k8s:bundle"),
        ("bundle_deployment", "observed", ON, "k8s:1"),
    ):  # fmt: skip
        left = deployed().event(kind, "removed", at, {"moved": True})
        assert "end" not in left.entity(kind, at).attributes
        assert left.when(kind, trigger, at, {"uid": uid}).rejection is None


def why(given: testing.Given | testing.Then) -> tuple[str, str]:
    found = given.entity("bundle_deployment", ON)
    return str(found.facets[0].state), found.attributes["why"]


def test_a_failure_keeps_its_reason_until_its_own_deployment_is_applied() -> None:
    wanted = testing.given(KINDS).event("bundle_deployment", "target", ON, {"deployment_id": "v1"})
    failed = wanted.event("bundle_deployment", "apply_failed", ON, {"message": "quota"})
    assert why(failed.event("bundle_deployment", "staged", ON, {"deployment_id": "v2"})) == ("ErrApplied", "quota")
    assert why(failed.event("bundle_deployment", "applied", ON, {"deployment_id": "v0"})) == ("ErrApplied", "quota")
    other = failed.event("bundle_deployment", "target", ON, {"deployment_id": "v2"})
    assert why(other) == ("WaitApplied", "")
    again = other.event("bundle_deployment", "target", ON, {"deployment_id": "v1"})
    assert why(again) == ("ErrApplied", "quota")
    applied = again.event("bundle_deployment", "applied", ON, {"deployment_id": "v1"})
    assert why(applied) == ("NotAssessed", "")
    assert "failed" not in applied.entity("bundle_deployment", ON).attributes


@pytest.mark.parametrize(
    ("found", "state", "reason"),
    [
        ({"target": "v1", "apply_failed": True}, "ErrApplied", "v1 could not be applied, and nothing says why"),
        ({"target": "v1", "applied": "v1", "ready": False}, "NotReady", "its agent does not call it ready"),
        (
            {"target": "v1", "applied": "v1", "counted": {"not_ready": 2}},
            "NotReady",
            "its agent does not call it ready",
        ),
        ({"target": "v1", "applied": "v1", "unmodified": False}, "Modified", "something of it was changed"),
        (
            {"target": "v1", "applied": "v1", "ready": False, "paused": True},
            "NotReady [Paused]",
            "it is paused; its agent",
        ),
    ],
)
def test_no_bad_state_is_without_a_reason(found: dict[str, Any], state: str, reason: str) -> None:
    told = testing.given(KINDS).event("bundle_deployment", "observed", ON, found)
    assert why(told)[0] == state
    assert reason in why(told)[1]
    again = told.event("bundle_deployment", "observed", ON, {"commit": "c1"})
    assert why(again)[1] or again.entity("bundle_deployment", ON).facets[0].state.phase == "WaitApplied"
    failed = testing.given(KINDS).event("bundle_deployment", "target", ON, {"deployment_id": "v1"})
    assert (
        why(failed.event("bundle_deployment", "apply_failed", ON))[1] == "v1 could not be applied, and nothing says why"
    )


@pytest.mark.parametrize("wrong", [{"waiting": -1}, {"targets": -3}, {"partitions": [{"count": 2, "waiting": -1}]}])
def test_no_count_of_a_rollout_is_below_zero(wrong: dict[str, Any]) -> None:
    life = testing.given(KINDS).event("bundle", "rollout", BUNDLE, {"targets": 3, "waiting": 1})
    then = life.when("bundle", "rollout", BUNDLE, wrong).then_rejected("invalid", "-")
    then.then("bundle", BUNDLE, "Pending", attributes={"targets": 3, "waiting": 1})
