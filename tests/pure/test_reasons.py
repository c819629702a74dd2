"""A message is the reason of the state that it is about, and of no other (docs/spec/gitops.md, Roll-up)."""

from typing import Any

from phaseline.engine.products.observe.observer import Observer
from phaseline.engine.products.observe.stream import ObjectChange
from phaseline.schemas.records import Transition
from tests.support.explanations import drawn, explanation
from tests.support.gitops_history import APP, GitOpsHistory, messages
from tests.support.manifests import deployment, kubernetes_object

DONE = "successfully synced (all tasks run)"


def shown(life: GitOpsHistory, kind: str = "application", entity_id: str = APP) -> str:
    return "\n".join(drawn(life.history, explanation(life.history, kind, entity_id)))


def listed(kind: str, name: str, status: str, group: str = "", **more: Any) -> dict[str, Any]:
    return {"kind": kind, "name": name, "namespace": "shop", "group": group, "status": status, **more}


def argo_application() -> dict[str, Any]:
    health = {"status": "Degraded", "lastTransitionTime": "2026-03-02T07:00:00Z"}
    resources = [
        listed("Service", "web", "Synced"),
        listed("Deployment", "web", "OutOfSync", "apps", health={"status": "Healthy"}),
        listed("KafkaUser", "u", "Synced", "kafka.strimzi.io", health={"status": "Degraded", "message": "no ACL"}),
        listed("ConfigMap", "old", "OutOfSync", requiresPruning=True),
    ]
    return kubernetes_object(
        "argoproj.io/v1alpha1", "Application", metadata={"name": "a1", "namespace": "argocd"}, spec={"project": "default"},
        status={
            "sync": {"status": "OutOfSync"}, "health": health, "resources": resources,
            "operationState": {"phase": "Succeeded", "message": DONE, "startedAt": "2026-03-02T08:00:00Z"},
        },
    )  # fmt: skip


def see(life: GitOpsHistory, observer: Observer, found: dict[str, Any]) -> list[Transition]:
    records: list[Transition] = []
    for event in observer.see(ObjectChange(found, False)):
        kind, _, trigger = event["type"].partition(".")
        step = life.say(kind, trigger, event["subject"].partition("/")[2], **event.get("data", {}))
        records += [one for one in step.records if isinstance(one, Transition)]
    return records


def test_an_operation_that_succeeded_is_no_reason_to_be_degraded() -> None:
    life = GitOpsHistory()
    records = see(life, Observer("/o"), argo_application())
    [app] = life.history.tree.entities["application"]
    said = {one.facet: one.message for one in records if one.entity.kind == "application" and one.before != one.after}
    assert life.states(entity_id=app) == ("Degraded", "OutOfSync")
    assert said["health"] == (
        "Argo CD says Degraded: kafka.strimzi.io/KafkaUser:shop/u: no ACL; since 2026-03-02T07:00:00Z"
    )
    assert said["sync"] == "Argo CD says OutOfSync: apps/Deployment:shop/web, ConfigMap:shop/old (to prune)"
    told = shown(life, entity_id=app)
    assert f"because: {said['health']}" in told
    assert f"because: {said['sync']}" in told
    assert DONE not in told
    assert "KafkaUser" not in told.partition("sync  OutOfSync")[2]


def test_the_message_of_an_event_about_something_else_is_no_reason() -> None:
    life = GitOpsHistory()
    step = life.say("application", "observed", APP, reported_health="Degraded", operation_message=DONE, message=DONE)
    assert messages(step)["application health"] == "its controller says Degraded, and no reason"
    told = shown(life)
    assert "because: its controller says Degraded, and no reason" in told
    assert DONE not in told.partition("sync  ")[0]


def test_the_conditions_behind_a_health_stand_in_why() -> None:
    said = {
        "type": "NotReady",
        "status": "True",
        "reason": "InvalidResource",
        "lastTransitionTime": "2026-03-02T07:00:00Z",
    }
    user = kubernetes_object(
        "kafka.strimzi.io/v1beta2", "KafkaUser", metadata={"name": "u", "namespace": "shop"},
        status={"conditions": [said]},
    )  # fmt: skip
    life = GitOpsHistory().observe(user)
    [resource] = life.history.tree.entities["resource"]
    told = shown(life, "resource", resource)
    assert "condition NotReady is True (InvalidResource) since 2026-03-02T07:00:00Z" in told
    assert "NotReady" not in told.partition("sync  ")[2]


def test_sources_that_contradict_each_other_both_stand_in_why() -> None:
    life = GitOpsHistory().observe(
        {**deployment(replicas=3), "status": {"replicas": 1}}, desired=deployment(replicas=3)
    )
    life.do("application", "observed", APP, reported_health="Degraded", health_message="Argo CD says Degraded: no ACL")
    assert life.states()[0] == "Progressing"
    told = shown(life)
    assert "shown while a resource is Progressing" in told
    assert (
        "but the application's reported_health is Degraded: Argo CD says Degraded: no ACL, which does not decide"
        in told
    )
    assert "observed by" in told.partition("but the application's")[2]


def test_a_message_of_the_controller_is_not_that_of_its_resources() -> None:
    life = GitOpsHistory().do("application", "observed", APP, reported_health="Degraded", health_message="no ACL")
    life.lacks(kubernetes_object("v1", "Service", metadata={"name": "s"}))
    assert life.states()[0] == "Missing"
    assert "Missing (no ACL)" not in shown(life)
    health = shown(life).partition("sync")[0]
    assert "because: no ACL" not in health


def test_an_error_of_a_repository_ends_without_the_other() -> None:
    life = GitOpsHistory().do("git_repo", "created", "r").do("git_repo", "fetch_failed", "r", message="no such host")
    life.do("git_repo", "failed", "r", message="no such path")
    assert life.attributes("git_repo", "r")["why"] == "no such host; no such path"
    life.do("git_repo", "fetched", "r")
    assert life.attributes("git_repo", "r")["why"] == "no such path"
    life.do("git_repo", "fetch_failed", "r", message="no route").do("git_repo", "recovered", "r")
    assert life.attributes("git_repo", "r")["why"] == "no route"
    life.do("git_repo", "fetched", "r")
    assert "why" not in life.attributes("git_repo", "r")


def test_an_agent_that_was_not_seen_is_no_reason_to_show_its_last_error() -> None:
    at = "r/b/c1"
    life = GitOpsHistory().do("bundle_deployment", "target", at, deployment_id="v2")
    life.do("bundle_deployment", "apply_failed", at, message="MalformedYAMLError: line 3")
    step = life.say("bundle_deployment", "checked_in", at, last_seen=None)
    assert messages(step)["bundle_deployment state"] == "its agent was never seen"
    told = shown(life, "bundle_deployment", at)
    assert "because: its agent was never seen" in told
    assert "because: Malformed" not in told


def test_a_report_ends_the_reason_of_the_phase_before() -> None:
    life = GitOpsHistory().observe(deployment(replicas=3, paused=True))
    at = f"{APP}/apps:Deployment/shop/it"
    assert life.attributes("resource", at)["health_message"] == "Deployment is paused"
    step = life.say("resource", "reported", at, phase="Processing")
    assert life.states("resource", at)[0] == "Progressing"
    assert messages(step)["resource health"] is None
    assert "health_message" not in life.attributes("resource", at)
    step = life.say("resource", "reported", at, phase="Degraded", message="no disk")
    assert messages(step)["resource health"] == "no disk"
    assert "because: no disk" in shown(life, "resource", at)


def test_a_message_about_another_deployment_is_not_shown() -> None:
    stale = {"status": "False", "lastUpdateTime": "2026-03-02T08:00:00Z", "message": "MalformedYAMLError: line 3"}
    found = kubernetes_object(
        "fleet.cattle.io/v1alpha1", "BundleDeployment",
        metadata={
            "name": "web", "namespace": "cluster-c1",
            "labels": {
                "fleet.cattle.io/bundle-name": "web", "fleet.cattle.io/bundle-namespace": "fleet-default",
                "fleet.cattle.io/cluster": "c1", "fleet.cattle.io/cluster-namespace": "fleet-default",
                "fleet.cattle.io/repo-name": "re",
            },
        },
        spec={"deploymentID": "v2", "stagedDeploymentID": "v2"},
        status={
            "appliedDeploymentID": "v0", "ready": True, "nonModified": True,
            "conditions": [{"type": "Installed", **stale}, {"type": "Deployed", "status": "True"}, {"type": "Ready", **stale}],
        },
    )  # fmt: skip
    life = GitOpsHistory()
    see(life, Observer("/o"), found)
    [at] = life.history.tree.entities["bundle_deployment"]
    assert str(life.states("bundle_deployment", at)[0]) == "WaitApplied"
    assert "Malformed" not in shown(life, "bundle_deployment", at)
    assert not life.attributes("bundle_deployment", at).get("why")
