"""What may be said of Fleet's objects: never Ready by guess, never an old word, never without the reason.

Each object is as Fleet prints it; the stories are those of Fleet's public bug reports. See docs/spec/fleet.md.
"""

from datetime import UTC, datetime
from typing import Any

import pytest

from phaseline.engine.products.observe.observer import Observer
from phaseline.engine.products.observe.stream import ObjectChange
from phaseline.schemas.records import Transition
from tests.support import fleet_objects as fleet
from tests.support.contacts import Contacts
from tests.support.fleet_history import FleetHistory
from tests.support.fleet_objects import Resource, bundle_deployment, condition, status_of

ON = "infra/web/fleet-default+c1"
BUNDLE, REPO = "infra/web", "infra"
EARLY, LATE = "2026-03-02T07:00:00Z", "2026-03-02T09:00:00.5Z"
COMMIT = "fleet.cattle.io/commit"


def at(time: str, *words: str) -> dict[str, str]:
    return {**condition(*words), "lastUpdateTime": time}


def labelled(found: dict[str, Any], **labels: str) -> dict[str, Any]:
    """The object with more labels of Fleet."""
    metadata = found["metadata"]
    more = {f"fleet.cattle.io/{name.replace('_', '-')}": value for name, value in labels.items()}
    return {**found, "metadata": {**metadata, "labels": {**metadata.get("labels", {}), **more}}}


def deployed(spec: dict[str, Any] | None = None, commit: str = "", **status: Any) -> dict[str, Any]:
    """A deployment with two resources, both ready."""
    found = bundle_deployment({**status_of([Resource("a"), Resource("b")], "v1"), **status})
    found = {**found, "spec": {**found["spec"], **(spec or {})}}
    return labelled(found, commit=commit) if commit else found


def seen(*objects: dict[str, Any]) -> FleetHistory:
    return FleetHistory().see(*objects)


def states(life: FleetHistory) -> tuple[str, str, str]:
    return life.state("git_repo", REPO), life.state("bundle", BUNDLE), life.state("bundle_deployment", ON)


def named(life: FleetHistory, repo: str = REPO) -> list[str]:
    return life.counts("git_repo", repo)["named"]


REPO_READY, BUNDLE_READY = fleet.git_repo(commit="c1", gitJobStatus="Current"), fleet.bundle()


# ---- the last job


def test_a_repository_whose_last_job_failed_is_not_ready() -> None:
    life = seen(REPO_READY, BUNDLE_READY, deployed())
    assert states(life) == ("Ready", "Ready", "Ready")
    life.see(fleet.git_repo(commit="c1", gitJobStatus="Failed", conditions=[condition("Ready", "True")]))
    assert states(life) == ("NotReady [Error]", "Ready", "Ready")
    assert named(life) == ["infra NotReady [Error] (its last git job failed)"]
    life.see(REPO_READY)
    assert states(life)[0] == "Ready"


def test_the_reason_of_a_failed_job_is_its_message_however_new_other_conditions_are() -> None:
    failed = fleet.git_repo(commit="c1", gitJobStatus="Failed", conditions=[
        at(EARLY, "Stalled", "True", "bundles already exists"), at(LATE, "Ready", "True"), at(LATE, "Accepted", "True"),
    ])  # fmt: skip
    life = seen(BUNDLE_READY, deployed(), failed)
    why = f"bundles already exists (Stalled is True since {EARLY}; Ready is True since {LATE})"
    assert (states(life)[0], life.attributes("git_repo", REPO)["why"]) == ("NotReady [Error]", why)


@pytest.mark.parametrize("job", ["Current", "InProgress", "Terminating", ""])
def test_a_job_that_did_not_fail_is_no_error(job: str) -> None:
    assert states(seen(fleet.git_repo(commit="c1", gitJobStatus=job), BUNDLE_READY, deployed()))[0] == "Ready"


# ---- bundles without deployments


def test_a_bundle_that_could_not_be_processed_keeps_its_repository_from_ready() -> None:
    why = "chart requires kubeVersion: < 1.25.0"
    bad = fleet.bundle(
        "longhorn", conditions=[condition("Ready", "True"), condition("Processed", "False", why, "Error")]
    )
    life = seen(REPO_READY, BUNDLE_READY, deployed(), bad)
    assert (states(life)[0], life.state("bundle", "infra/longhorn")) == ("NotReady [Error]", "NotReady [Error]")
    assert named(life) == [f"infra/longhorn NotReady [Error] ({why})"]
    found = life.counts("git_repo", REPO)["display"]
    assert (found["ready_deployments"], found["ready_resources"]) == ("1/2", "2/2")


@pytest.mark.parametrize("status", [
    {}, {"summary": {"desiredReady": 0, "ready": 0}}, {"observedGeneration": 1, "summary": {"desiredReady": 0, "ready": 0}},
])  # fmt: skip
@pytest.mark.parametrize("bundle_first", [True, False])
def test_a_bundle_without_a_deployment_counts_as_not_ready(status: dict[str, Any], *, bundle_first: bool) -> None:
    """Its controller has not seen the present bundle: what it counts is about another one."""
    new = fleet.bundle("new", **status)
    new["metadata"]["generation"] = 2
    objects = [new, REPO_READY, deployed()] if bundle_first else [REPO_READY, deployed(), new]
    life = seen(*objects)
    assert (states(life)[0], life.state("bundle", "infra/new")) == ("Pending [NoDeployment]", "Pending [NoDeployment]")
    why = (
        "generation 2 has not been observed yet, the last one that was is 1"
        if "observedGeneration" in status
        else "it has no deployment yet"
    )
    assert named(life) == [f"infra/new Pending [NoDeployment] ({why})"]
    assert life.counts("git_repo", REPO)["deployments"]["pending"] == 1
    records = [one for step in life.history.steps for one in step.records if isinstance(one, Transition)]
    said = [one.message for one in records if one.entity.kind == "git_repo" and one.after.phase == "Pending"]
    assert said[-1] == "because of bundle infra/new"


def test_a_bundle_that_matches_no_cluster_keeps_nothing_from_ready() -> None:
    """Fleet says Ready of it. Nothing is there that could be, and nothing is missing."""
    nowhere = fleet.bundle(
        "edge", observedGeneration=1, summary={"desiredReady": 0, "ready": 0}, conditions=[condition("Ready", "True")]
    )
    nowhere["metadata"]["generation"] = 1
    life = seen(REPO_READY, nowhere)
    assert (states_of_edge := (life.state("git_repo", REPO), life.state("bundle", "infra/edge"))) == ("NoTargets",) * 2
    assert named(life) == ["infra/edge NoTargets (it matches no cluster)"], states_of_edge
    assert states(life.see(deployed()))[0] == "Ready"
    failing = {
        **nowhere,
        "status": {**nowhere["status"], "conditions": [condition("Ready", "False", "targeting error: x")]},
    }
    assert states(life.see(failing))[0] == "NotReady [Error]"


def test_the_last_deployment_of_a_bundle_goes() -> None:
    there = deployed()
    life = seen(REPO_READY, BUNDLE_READY, there).see(there, gone=True)
    assert states(life) == ("Pending [NoDeployment]", "Pending [NoDeployment]", "Deleted")


# ---- what is not known is not ready


def counting(targets: int, **status: Any) -> dict[str, Any]:
    """A bundle of which Fleet's controller counts this many targets."""
    found = fleet.bundle(observedGeneration=1, summary={"desiredReady": targets, **status})
    found["metadata"]["generation"] = 1
    return found


@pytest.mark.parametrize("bundle_first", [True, False])
def test_targets_that_nobody_saw_are_not_ready(*, bundle_first: bool) -> None:
    """Fleet counts three, and the observer sees one: the others may be in namespaces that it may not read."""
    life = seen(REPO_READY, *([counting(3), deployed()] if bundle_first else [deployed(), counting(3)]))
    assert states(life) == ("NotAssessed", "NotAssessed", "Ready")
    found = life.counts("git_repo", REPO)
    assert (found["display"]["ready_deployments"], found["deployments"]["not_assessed"]) == ("1/3", 2)
    assert named(life) == [f"{BUNDLE} NotAssessed (nothing is known of 2 of the 3 targets that Fleet counts)"]
    others = [labelled(deployed(), cluster=name) for name in ("c2", "c3")]
    assert states(life.see(others[0]))[:2] == ("NotAssessed",) * 2
    assert (states(life.see(others[1])), named(life)) == (("Ready",) * 3, [])
    assert states(life.see(others[0], gone=True))[:2] == ("NotAssessed",) * 2
    assert states(life.see(counting(2))) == ("Ready",) * 3


def test_targets_that_wait_are_not_counted_twice() -> None:
    life = seen(REPO_READY, counting(3, pending=2), deployed())
    assert states(life) == ("Pending [Waiting]", "Pending [Waiting]", "Ready")
    assert life.counts("git_repo", REPO)["display"]["ready_deployments"] == "1/3"


def test_what_is_bad_is_worse_than_what_is_not_known() -> None:
    life = seen(REPO_READY, counting(3), deployed(nonModified=False))
    assert states(life) == ("Modified",) * 3


@pytest.mark.parametrize(("said", "state"), [
    ({"counted": {"unknown": 3}}, "NotAssessed"), ({"counted": {"ready": 2, "unknown": 1}}, "NotAssessed"),
    ({"counted": {"not_assessed": 1}}, "NotAssessed"), ({"counted": {"ready": 1, "pending": 1}}, "NotAssessed"),
    ({"counted": {"ready": 3}}, "Ready"), ({"counted": {"unknown": 3, "not_ready": 1}}, "NotReady"),
    ({"counted": {"unknown": 3, "missing": 1}}, "Modified"), ({"counted": {"unknown": 3}, "ready": True}, "Ready"),
    ({}, "NotAssessed"), ({"ready": True}, "Ready"), ({"ready": False}, "NotReady"),
])  # fmt: skip
@pytest.mark.parametrize("before", [{}, {"ready": True, "counted": {"ready": 3}}])
def test_what_a_deployment_counts_as_unknown_is_not_ready(
    said: dict[str, Any], state: str, before: dict[str, Any]
) -> None:
    ids = {"target": "v1", "applied": "v1"}
    life = FleetHistory()
    if before:
        life.do("bundle_deployment", "observed", ON, **ids, **before)
    life.do("bundle_deployment", "observed", ON, **ids, **said)
    as_before = before and not said
    assert states(life) == (("Ready" if as_before else state,) * 3)


@pytest.mark.parametrize("other", ["unknown", "counted", "declared"])
def test_one_resource_of_which_nothing_is_known(other: str) -> None:
    life = FleetHistory().do("bundle_deployment", "observed", ON, target="v1", applied="v1")
    life.do("bundle_resource", "ready", f"{ON}/core:ConfigMap/shop/a")
    assert states(life) == ("Ready",) * 3
    life.do("bundle_resource", other, f"{ON}/core:ConfigMap/shop/b")
    assert states(life) == ("NotAssessed",) * 3
    assert life.counts("git_repo", REPO)["display"]["ready_resources"] == "1/2"
    life.do("bundle_resource", "ready", f"{ON}/core:ConfigMap/shop/b")
    assert states(life) == ("Ready",) * 3


def test_one_deployment_of_which_nothing_is_known() -> None:
    other = "infra/web/fleet-default+c2"
    life = seen(REPO_READY, deployed()).do("bundle_deployment", "observed", other, target="v1", applied="v1")
    assert states(life) == ("NotAssessed", "NotAssessed", "Ready")
    assert life.counts("git_repo", REPO)["display"]["ready_deployments"] == "1/2"
    assert states(life.do("bundle_deployment", "observed", other, ready=True)) == ("Ready",) * 3


# ---- commits


def carrying(repo: str, bundle: str, deployment: str, job: str = "Current") -> FleetHistory:
    found = fleet.bundle()
    return seen(
        fleet.git_repo(commit=repo, gitJobStatus=job),
        labelled(found, commit=bundle) if bundle else found,
        deployed(commit=deployment),
    )


@pytest.mark.parametrize(("commits", "expected"), [
    (("c2", "c2", "c2"), ("Ready", "Ready", "Ready")), (("c2", "", ""), ("Ready", "Ready", "Ready")),
    (("c2", "c1", "c1"), ("OutOfSync", "OutOfSync", "OutOfSync")), (("c2", "c2", "c1"), ("OutOfSync", "OutOfSync", "OutOfSync")),
    (("c2", "c1", ""), ("OutOfSync", "OutOfSync", "Ready")), (("", "c1", "c1"), ("Ready", "Ready", "Ready")),
])  # fmt: skip
def test_what_is_deployed_must_carry_the_commit(commits: tuple[str, str, str], expected: tuple[str, str, str]) -> None:
    assert states(carrying(*commits)) == expected


def test_a_commit_that_is_lost_on_the_way_is_seen() -> None:
    life = carrying("c1", "c1", "c1").see(fleet.git_repo(commit="c2", gitJobStatus="Current"))
    assert states(life) == ("OutOfSync",) * 3
    why = "it carries commit c1, and its repository is at c2"
    assert named(life) == [f"infra/web OutOfSync ({why})", f"{ON} OutOfSync ({why})"]
    life.see(labelled(fleet.bundle(), commit="c2"))
    assert states(life) == ("OutOfSync",) * 3
    life.see(deployed(commit="c2"))
    assert (states(life), named(life)) == (("Ready",) * 3, [])
    assert "behind" not in life.attributes("bundle_deployment", ON)


def test_commits_are_not_judged_while_a_job_is_under_way() -> None:
    life = carrying("c1", "c1", "c1").see(fleet.git_repo(commit="c1", gitJobStatus="InProgress"))
    life.see(labelled(fleet.bundle(), commit="c2"), deployed(commit="c2"))
    assert states(life) == ("Ready",) * 3
    assert states(life.see(fleet.git_repo(commit="c2", gitJobStatus="Current"))) == ("Ready",) * 3


def test_a_repository_that_goes_back_to_the_commit_that_is_deployed() -> None:
    life = carrying("c1", "c1", "c1").see(fleet.git_repo(commit="c2", gitJobStatus="Current"))
    assert states(life.see(fleet.git_repo(commit="c1", gitJobStatus="Current"))) == ("Ready",) * 3


# ---- HelmOps


def helm_op(name: str = "cert-manager", *conditions: dict[str, str], kind: str = "HelmOp", **status: Any) -> dict[str, Any]:  # fmt: skip
    return {
        "apiVersion": fleet.API, "kind": kind, "metadata": {"name": name, "namespace": "fleet-default"},
        "spec": {"helm": {"chart": "cert-manager", "repo": "https://charts.example", "version": "1.x"}},
        "status": {**status, "conditions": list(conditions)},
    }  # fmt: skip


def of_helm_op(name: str = "cert-manager", **status: Any) -> dict[str, Any]:
    found = fleet.bundle(name, **status)
    return {**found, "metadata": {**found["metadata"], "labels": {"fleet.cattle.io/fleet-helm-name": name}}}


@pytest.mark.parametrize("kind", ["HelmOp", "HelmApp"])
def test_a_helm_op_is_what_a_repository_is(kind: str) -> None:
    there = bundle_deployment(status_of([Resource("a")], "v1"), bundle="cert-manager")
    labels = {**there["metadata"]["labels"], "fleet.cattle.io/fleet-helm-name": "cert-manager"}
    del labels["fleet.cattle.io/repo-name"]
    there = {**there, "metadata": {**there["metadata"], "labels": labels}}
    life = seen(helm_op(kind=kind, version="1.2.3"), of_helm_op(), there)
    assert life.state("git_repo", "cert-manager") == "Ready"
    kept = life.attributes("git_repo", "cert-manager")
    assert (kept["declared_as"], kept["chart"], kept["version"]) == (kind, "cert-manager", "1.2.3")
    life.see(there, gone=True).see(of_helm_op(), gone=True).see(helm_op(kind=kind), gone=True)
    assert life.state("git_repo", "cert-manager") == "Deleted"


def test_a_helm_op_shows_its_own_errors_and_those_of_its_bundle() -> None:
    why = "chart version cannot be deployed; check HelmOp status for more details: invalid characters in version"
    life = seen(
        helm_op("cert-manager", condition("Ready", "True"), condition("Accepted", "True")),
        of_helm_op(conditions=[condition("Ready", "False", why, "Error")]),
    )
    assert life.state("git_repo", "cert-manager") == "NotReady [Error]"
    assert named(life, "cert-manager") == [f"cert-manager/cert-manager NotReady [Error] ({why})"]
    accepted, polled = (
        condition("Accepted", "False", "no chart version found"),
        condition("Polled", "False", "no chart"),
    )
    life.see(helm_op("broken", condition("Ready", "True"), accepted, polled))
    assert life.state("git_repo", "broken") == "NotReady [GitError, Error]"
    assert named(life, "broken") == ["broken NotReady [GitError, Error] (no chart; no chart version found)"]
    life.see(helm_op("broken", condition("Accepted", "True"), condition("Polled", "True")))
    assert life.state("git_repo", "broken") == "Pending"


def test_a_helm_op_and_a_repository_of_the_same_name() -> None:
    """What one says does not end what the other says."""
    bad = helm_op(REPO, condition("Accepted", "False", "invalid version"))
    life = seen(REPO_READY, BUNDLE_READY, deployed(), bad, REPO_READY)
    assert states(life)[0] == "NotReady [Error]"
    life.see(bad, gone=True)
    assert states(life)[0] == "Ready"
    assert states(life.see(REPO_READY, gone=True))[0] == "Deleted"


# ---- paused, off schedule


@pytest.mark.parametrize(("spec", "condition", "why"), [
    ({"paused": True}, "Paused", "it is paused"), ({"offSchedule": True}, "OffSchedule", "its cluster is outside its schedule"),
    ({"paused": True, "offSchedule": True}, "Paused", "it is paused; its cluster is outside its schedule"),
])  # fmt: skip
def test_what_holds_a_deployment_is_said(spec: dict[str, Any], condition: str, why: str) -> None:
    life = seen(REPO_READY, BUNDLE_READY, deployed({**spec, "stagedDeploymentID": "v2"}))
    assert states(life) == ("OutOfSync", "OutOfSync", f"OutOfSync [{condition}]")
    assert named(life) == [f"{ON} OutOfSync [{condition}] ({why})"]
    life.see(deployed({**spec, "deploymentID": "v2", "stagedDeploymentID": "v2"}))
    assert states(life)[2] == f"WaitApplied [{condition}]"
    life.see(deployed(spec))
    assert states(life) == ("Ready", "Ready", f"Ready [{condition}]")
    unwell = status_of([Resource("a"), Resource("b", ready=False)], "v1")
    life.see(deployed(spec, **unwell, ready=False))
    assert states(life)[2] == f"NotReady [{condition}]"
    life.see(deployed())
    assert (states(life)[2], life.attributes("bundle_deployment", ON)["why"]) == ("Ready", "")


def test_a_bundle_that_is_paused_says_what_holds_it_back() -> None:
    life = seen(REPO_READY, fleet.bundle(spec={"paused": True}), deployed({"stagedDeploymentID": "v2"}))
    assert life.counts("git_repo", REPO)["rollouts"]["infra/web"]["held_back"] == "held back: it is paused"
    assert "held_back" not in life.see(fleet.bundle(unavailable=0)).attributes("bundle", BUNDLE)


# ---- conditions that contradict each other


def test_of_two_conditions_of_the_same_type_the_newer_counts() -> None:
    old, new = at(EARLY, "Accepted", "False", "no such secret"), at(LATE, "Accepted", "True")
    for both in ([old, new], [new, old]):
        assert states(seen(fleet.git_repo(commit="c1", conditions=both), BUNDLE_READY, deployed()))[0] == "Ready"


@pytest.mark.parametrize("newer", ["Ready", "Accepted", "GitPolling"])
def test_a_stalled_that_was_never_taken_back(newer: str) -> None:
    both = [at(EARLY, "Stalled", "True", "no route to host"), at(LATE, newer, "True")]
    life = seen(fleet.git_repo(commit="c1", gitJobStatus="Current", conditions=both), BUNDLE_READY, deployed())
    said = f"Stalled is True since {EARLY}: no route to host; {newer} is True since {LATE}"
    assert (states(life)[0], life.attributes("git_repo", REPO)["overruled"]) == ("Ready", said)
    life.see(fleet.git_repo(commit="c1", gitJobStatus="Current"))
    assert "overruled" not in life.attributes("git_repo", REPO)


@pytest.mark.parametrize("times", [(LATE, EARLY), (EARLY, EARLY), (EARLY, ""), ("", LATE)])
def test_what_is_not_older_stands(times: tuple[str, str]) -> None:
    both = [at(times[0], "Stalled", "True", "no route to host"), at(times[1], "Accepted", "True")]
    life = seen(fleet.git_repo(commit="c1", conditions=both), BUNDLE_READY, deployed())
    assert states(life)[0] == "NotReady [Error]"


def test_ready_says_nothing_about_what_is_accepted() -> None:
    both = [at(EARLY, "Accepted", "False", "no such secret"), at(LATE, "Ready", "True")]
    life = seen(fleet.git_repo(commit="c1", conditions=both), BUNDLE_READY, deployed())
    why = f"no such secret (Accepted is False since {EARLY}; Ready is True since {LATE})"
    assert (states(life)[0], life.attributes("git_repo", REPO)["why"]) == ("NotReady [Error]", why)


def test_a_processed_that_an_older_fleet_left() -> None:
    both = [at(EARLY, "Processed", "False", "old"), at(LATE, "Ready", "True")]
    assert states(seen(REPO_READY, fleet.bundle(conditions=both), deployed())) == ("Ready",) * 3
    both = [at(LATE, "Processed", "False", "new"), at(EARLY, "Ready", "True")]
    assert states(seen(REPO_READY, fleet.bundle(conditions=both), deployed()))[1] == "NotReady [Error]"


def test_an_error_without_a_message() -> None:
    bad = {"type": "Accepted", "status": "False", "reason": "Unauthorized"}
    life = seen(fleet.git_repo(commit="c1", conditions=[bad]), BUNDLE_READY, deployed())
    assert life.attributes("git_repo", REPO)["why"] == "Accepted is False (Unauthorized)"


def test_a_deployment_whose_last_word_is_that_it_failed() -> None:
    """Its flags are older than what it says last."""
    words = [at(EARLY, "Ready", "True"), at(LATE, "Deployed", "False", "helm history is lost")]
    life = seen(REPO_READY, BUNDLE_READY, deployed(conditions=words))
    assert (states(life)[2], named(life)) == ("NotReady", [f"{ON} NotReady (helm history is lost)"])
    words = [at(LATE, "Ready", "True"), at(EARLY, "Installed", "False", "not installed: x")]
    life = seen(REPO_READY, BUNDLE_READY, deployed(conditions=words))
    said = f"Installed is False since {EARLY}: not installed: x; Ready is True since {LATE}"
    assert (states(life)[2], life.attributes("bundle_deployment", ON)["why"]) == ("Ready", said)


def test_the_newest_of_several_failures_is_the_reason() -> None:
    words = [at(EARLY, "Installed", "False", "old"), at(LATE, "Monitored", "False", "new")]
    life = seen(deployed(ready=False, conditions=words))
    assert life.attributes("bundle_deployment", ON)["why"] == "new"


# ---- messages of another deployment


def test_a_failure_of_a_deployment_that_is_wanted_no_more() -> None:
    """The agent is away: its word on the wrong version stands beside the version that mends it."""
    failed = [at(EARLY, "Deployed", "False", "MalformedYAMLError: line 3")]
    life = seen(deployed({"deploymentID": "v2", "stagedDeploymentID": "v2"}, conditions=failed))
    assert (states(life)[2], named(life)) == ("ErrApplied", [f"{ON} ErrApplied (MalformedYAMLError: line 3)"])
    mended = deployed({"deploymentID": "v3", "stagedDeploymentID": "v3"}, conditions=failed)
    assert (states(life.see(mended))[2], named(life)) == ("WaitApplied", [f"{ON} WaitApplied"])
    assert life.attributes("bundle_deployment", ON)["why"] == ""
    assert states(life.restart().see(mended))[2] == "WaitApplied"
    back = deployed({"deploymentID": "v2", "stagedDeploymentID": "v2"}, conditions=failed)
    assert states(life.see(back))[2] == "ErrApplied"
    again = [at(LATE, "Deployed", "False", "still wrong")]
    life.see(deployed({"deploymentID": "v3", "stagedDeploymentID": "v3"}, conditions=again))
    assert (states(life)[2], life.attributes("bundle_deployment", ON)["why"]) == ("ErrApplied", "still wrong")


def test_an_error_of_an_old_id_is_shown_nowhere() -> None:
    words = [
        condition("Installed", "False", "MalformedYAMLError: line 3"), condition("Deployed", "True"),
        condition("Ready", "False", "MalformedYAMLError: line 3"),
    ]  # fmt: skip
    offline = deployed({"deploymentID": "v2", "stagedDeploymentID": "v2"}, appliedDeploymentID="v0", conditions=words)
    life = seen(REPO_READY, BUNDLE_READY, offline, fleet.cluster("1969-12-31T20:00:00Z"))
    assert states(life) == ("WaitCheckIn",) * 3
    kept = [one.attributes for found in life.history.tree.entities.values() for one in found.values()]
    records = [one for step in life.history.steps for one in step.records]
    assert "Malformed" not in f"{kept} {records}"


# ---- what is left out


@pytest.mark.parametrize("kind", ["ClusterGroup", "Content", "Schedule", "Policy", "ImageScan"])
def test_what_is_left_out_is_named_truly(kind: str) -> None:
    observer, key = Observer("/fleet"), {"name": "x", "namespace": "fleet-default"}
    assert [*observer.see(ObjectChange({"apiVersion": fleet.API, "kind": kind, "metadata": key}, gone=False))] == []
    [why] = observer.unowned.values()
    assert why == (
        "of Fleet's objects only GitRepo, HelmOp, HelmApp, Bundle, BundleDeployment, Cluster say what is deployed, and "
        "how it is"
    )


# ---- agents that die


MINUTE = 60.0


def applied(life: Contacts) -> Contacts:
    for trigger in ("target", "applied"):
        life.say("bundle_deployment", trigger, ON, deployment_id="v1")
    return life.say("bundle_resource", "ready", f"{ON}/core:ConfigMap/shop/a")


def test_an_agent_that_dies_after_its_last_event() -> None:
    life = applied(Contacts())
    life.wait(44 * MINUTE)
    assert (life.state("bundle_deployment", ON), life.state("git_repo", REPO)) == ("Ready", "Ready")
    life.wait(2 * MINUTE)
    assert (life.state("bundle_deployment", ON), life.state("git_repo", REPO)) == ("WaitCheckIn", "WaitCheckIn")
    assert life.contact("bundle_deployment", ON) == "Silent"
    life.say("bundle_resource", "ready", f"{ON}/core:ConfigMap/shop/a")
    assert (life.state("bundle_deployment", ON), life.state("git_repo", REPO)) == ("Ready", "Ready")


def test_an_agent_that_checks_in_each_quarter_of_an_hour() -> None:
    life = applied(Contacts(start=1_800_000_000.0))
    for _ in range(20):
        life.wait(15 * MINUTE)
        seen_at = datetime.fromtimestamp(life.now, UTC).isoformat()
        assert life.say("bundle_deployment", "checked_in", ON, last_seen=seen_at).state("git_repo", REPO) == "Ready"
    assert life.wait(45 * MINUTE).state("git_repo", REPO) == "WaitCheckIn"


def test_what_is_set_counts_before_the_45_minutes() -> None:
    assert applied(Contacts(default=60)).wait(80).state("git_repo", REPO) == "WaitCheckIn"
    never = applied(Contacts()).say("bundle_deployment", "configure", ON, silence_after=0)
    assert never.wait(1_000 * MINUTE).state("git_repo", REPO) == "Ready"
    longer = applied(Contacts()).say("bundle_deployment", "configure", ON, silence_after=120 * MINUTE)
    assert longer.wait(100 * MINUTE).state("git_repo", REPO) == "Ready"
    assert longer.wait(60 * MINUTE).state("git_repo", REPO) == "WaitCheckIn"


def test_a_word_of_the_controller_is_none_of_the_agent() -> None:
    """The controller changes the object of an agent that is away: what it says does not make the agent seen."""
    life = applied(Contacts(start=1_800_000_000.0))
    seen_at = datetime.fromtimestamp(life.now, UTC).isoformat()
    life.say("bundle_deployment", "checked_in", ON, last_seen=seen_at).wait(40 * MINUTE)
    life.say("bundle_deployment", "observed", ON, target="v1", staged="v1", applied="v1").later(10 * MINUTE)
    life.say("bundle_deployment", "observed", ON, target="v1", staged="v1", applied="v1")
    assert life.state("bundle_deployment", ON) == "WaitCheckIn"


# ---- what is being deleted, and what its controller has not seen


def leaving(found: dict[str, Any]) -> dict[str, Any]:
    metadata = {**found["metadata"], "deletionTimestamp": "2026-03-02T07:00:00Z", "finalizers": ["fleet.cattle.io/x"]}
    return {**found, "metadata": metadata}


LEAVES = "being deleted since 2026-03-02T07:00:00Z; it waits for fleet.cattle.io/x"


@pytest.mark.parametrize(("of", "expected"), [
    ("repo", ("NotReady [Error]", "Ready", "Ready")), ("bundle", ("NotReady [Error]", "NotReady [Error]", "Ready")),
    ("deployment", ("NotReady", "NotReady", "NotReady")),
])  # fmt: skip
def test_what_is_being_deleted_is_not_ready_and_says_what_keeps_it(of: str, expected: tuple[str, str, str]) -> None:
    objects = {"repo": REPO_READY, "bundle": BUNDLE_READY, "deployment": deployed()}
    life = seen(*objects.values())
    assert states(life) == ("Ready", "Ready", "Ready")
    life.see(leaving(objects[of]))
    assert states(life) == expected
    at = {"repo": ("git_repo", REPO), "bundle": ("bundle", BUNDLE), "deployment": ("bundle_deployment", ON)}[of]
    assert life.attributes(*at)["why"] == LEAVES
    life.see(objects[of])
    assert states(life) == ("Ready", "Ready", "Ready")


def test_a_bundle_that_its_controller_has_not_seen_is_not_ready() -> None:
    def bundle(generation: int) -> dict[str, Any]:
        found = fleet.bundle(observedGeneration=2, summary={"desiredReady": 1, "ready": 1})
        return {**found, "metadata": {**found["metadata"], "generation": generation}}

    life = seen(REPO_READY, bundle(2), deployed())
    assert states(life) == ("Ready", "Ready", "Ready")
    life.see(bundle(3))
    assert states(life) == ("Pending [Waiting]", "Pending [Waiting]", "Ready")
    why = "generation 3 has not been observed yet, the last one that was is 2"
    assert life.attributes("bundle", BUNDLE)["held_back"] == why
    assert life.counts("git_repo", REPO)["display"]["ready_deployments"] == "1/1"
    life.see(bundle(2))
    assert states(life) == ("Ready", "Ready", "Ready")
