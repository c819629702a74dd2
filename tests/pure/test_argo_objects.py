"""Argo CD's own objects as events: settings, operations, hooks, conditions, windows, rollouts.

See docs/spec/gitops.md, What observe publishes.
"""

from typing import Any

import pytest

from phaseline.engine.products.observe.observer import Observer
from phaseline.engine.products.observe.stream import ObjectChange
from phaseline.schemas.records import Transition
from tests.support.gitops_history import GitOpsHistory
from tests.support.manifests import config, deployment, kubernetes_object

HERE = "all/web"
BARE = {
    "profile": "argocd", "controller": "argocd", "ignore_differences": [], "auto_sync": False, "self_heal": False,
    "prune": False, "retry_policy": {}, "managed_namespace": {}, "sync_options": [], "hydrator": {}, "sync_hours": [],
}  # fmt: skip


def argo(kind: str, name: str, *, owner: str = "", **parts: Any) -> dict[str, Any]:
    owners = [{"kind": "ApplicationSet", "name": owner}] if owner else []
    metadata = {"name": name, "namespace": "argocd", "ownerReferences": owners}
    return kubernetes_object("argoproj.io/v1alpha1", kind, metadata=metadata, **parts)


def web(**parts: Any) -> dict[str, Any]:
    return argo("Application", "web", owner="all", **parts)


def told(observer: Observer, found: dict[str, Any], *, gone: bool = False) -> list[tuple[str, str, Any]]:
    """The trigger, the id and the data of each event of an object."""
    return [
        (event["type"], event["subject"].partition("/")[2], event.get("data"))
        for event in observer.see(ObjectChange(found, gone))
    ]


def data_of(found: dict[str, Any], trigger: str, observer: Observer | None = None) -> dict[str, Any]:
    """The data of the one event of that trigger."""
    [data] = [data for name, _, data in told(observer or Observer("/o"), found) if name.endswith(f".{trigger}")]
    return dict(data)


def operation(phase: str, **rest: Any) -> dict[str, Any]:
    state = {
        "phase": phase, "startedAt": "2026-03-02T08:00:00Z",
        "operation": {"initiatedBy": {"automated": True}, "sync": {"revision": "abc"}}, **rest,
    }  # fmt: skip
    return web(status={"operationState": state})


class Life:
    """An observer whose events are decided."""

    def __init__(self) -> None:
        self.observer, self.history = Observer("/o"), GitOpsHistory()

    def see(self, *objects: dict[str, Any], gone: bool = False) -> "Life":
        for found in objects:
            for event in self.observer.see(ObjectChange(found, gone)):
                kind, _, trigger = event["type"].partition(".")
                self.history.do(kind, trigger, event["subject"].partition("/")[2], **event.get("data", {}))
        return self

    def app(self, entity_id: str = HERE) -> dict[str, Any]:
        return self.history.attributes("application", entity_id)


# ---- settings


def test_the_sync_policy() -> None:
    automated = {"prune": True, "selfHeal": True}
    backoff = {"duration": "5s", "factor": 3, "maxDuration": "4m"}
    policy = {
        "automated": automated, "retry": {"limit": 7, "backoff": backoff},
        "managedNamespaceMetadata": {"labels": {"a": "b"}},
    }  # fmt: skip
    found = data_of(web(spec={"project": "shop", "syncPolicy": policy, "destination": {"name": "east"}}), "configure")
    assert found == {
        **BARE, "auto_sync": True, "self_heal": True, "prune": True, "project": "shop", "cluster": "east",
        "retry_policy": {"limit": 7, "duration": "5s", "factor": 3, "maxDuration": "4m"},
        "managed_namespace": {"labels": {"a": "b"}},
    }  # fmt: skip
    for given, expected in (({}, True), ({"enabled": False}, False), (None, False), ({"enabled": True}, True)):
        assert data_of(web(spec={"syncPolicy": {"automated": given}}), "configure")["auto_sync"] is expected


def test_what_argo_cd_synchronises_is_not_begun_here() -> None:
    life = Life().see(web(spec={"syncPolicy": {"automated": {}}}))
    life.history.do("resource", "observed", f"{HERE}/core:ConfigMap/shop/it", live=config(a="1"), desired=config(a="2"))
    assert life.history.states(entity_id=HERE)[1] == "OutOfSync"
    assert (life.app()["auto_sync"], life.app()["auto_sync_in"]) == (True, 0)
    life.see(web(spec={}))
    assert life.app()["auto_sync"] is False


def test_one_source_and_several() -> None:
    one = {"repoURL": "https://git", "path": "web", "targetRevision": "main", "helm": {"values": "x"}}
    assert data_of(web(spec={"source": one}), "configure")["sources"] == [
        {"repository": "https://git", "path": "web", "revision": "main"}
    ]
    several = [one, {"repoURL": "https://charts", "chart": "redis", "targetRevision": "1.x", "ref": "values"}]
    found = web(spec={"sources": several}, status={"sync": {"status": "Synced", "revisions": ["abc", "1.2"]}})
    assert data_of(found, "configure")["sources"][1] == {
        "repository": "https://charts", "chart": "redis", "ref": "values", "revision": "1.x",
    }  # fmt: skip
    assert data_of(found, "configure")["target_revision"] == "abc, 1.2"
    assert data_of(found, "observed") == {
        "reported_sync": "Synced", "revisions": {"1": "abc", "2": "1.2"},
        "sync_message": "Argo CD says Synced at abc, 1.2",
    }  # fmt: skip


# ---- operations


def test_the_phases_of_an_operation() -> None:
    life = Life()
    for phase in ("Running", "Terminating", "Failed", "Running", "Error", "Succeeded"):
        over = {} if phase in ("Running", "Terminating") else {"finishedAt": "2026-03-02T08:01:00Z"}
        life.see(operation(phase, message=f"it is {phase}", retryCount=2, **over))
        found = life.app()
        assert (found["operation"], found["operation_message"], found["retries"]) == (phase, f"it is {phase}", 2)
        assert (found["automatic"], found["revision"]) == (True, "abc")
        assert found["operation_began"] == 1_772_438_400_000_000_000
        assert ("operation_ended" in found) is bool(over)
    assert (
        told(
            life.observer,
            operation("Succeeded", message="it is Succeeded", retryCount=2, finishedAt="2026-03-02T08:01:00Z"),
        )
        == []
    )


def test_an_operation_under_way_is_observed_whatever_the_windows_say() -> None:
    window = {"kind": "deny", "schedule": "* * * * *", "duration": "1h", "applications": ["*"]}
    life = Life().see(argo("AppProject", "default", spec={"syncWindows": [window]}))
    life.see(operation("Running")).see(operation("Running"))
    assert life.app()["operation"] == "Running"
    life.see(operation("Succeeded"))
    assert "the deny window" in life.history.refused("application", "sync", HERE).message


def test_hooks_are_told_in_order_and_failures_of_resources() -> None:
    def task(kind: str, name: str, hook: str = "", **rest: Any) -> dict[str, Any]:
        hooked = {"hookType": hook, "syncPhase": hook} if hook else {"syncPhase": "Sync"}
        return {
            "group": "batch" if kind == "Job" else "apps",
            "kind": kind,
            "namespace": "shop",
            "name": name,
            **hooked,
            **rest,
        }

    tasks = [
        task("Job", "smoke", "PostSync", hookPhase="Running"),
        task("Deployment", "web", status="SyncFailed", message="forbidden"),
        task("Job", "migrate", "PreSync", hookPhase="Succeeded", message="done"),
        task("Job", "clean", "SyncFail", hookPhase="Failed", status="SyncFailed"),
    ]
    found = operation("Running", syncResult={"revision": "def", "resources": tasks})
    events = told(Observer("/o"), found)
    assert data_of(found, "observed")["hooks"] == [
        {"phase": "PreSync", "resource": "batch:Job/shop/migrate", "result": "Succeeded", "message": "done"},
        {"phase": "PostSync", "resource": "batch:Job/shop/smoke", "result": "Running"},
        {"phase": "SyncFail", "resource": "batch:Job/shop/clean", "result": "Failed"},
    ]
    assert events[2:] == [
        ("resource.sync_failed", f"{HERE}/apps:Deployment/shop/web", {"reason": "SyncFailed", "message": "forbidden"}),
        ("application.named", HERE, None),
    ]
    life = Life().see(found)
    assert life.app()["revision"] == "def"
    life.see(operation("Running"))
    assert "hooks" not in life.app()


@pytest.mark.parametrize(("annotations", "hook", "wave"), [
    ({}, None, None),
    ({"argocd.argoproj.io/sync-wave": "-3"}, None, -3),
    ({"argocd.argoproj.io/sync-wave": "0"}, None, None),
    ({"argocd.argoproj.io/sync-wave": "many"}, None, None),
    ({"argocd.argoproj.io/hook": "PostSync, PreSync", "argocd.argoproj.io/sync-wave": "2"}, "PreSync,PostSync", 2),
    ({"helm.sh/hook": "pre-install,pre-upgrade", "helm.sh/hook-weight": "5"}, "PreSync", 5),
    ({"helm.sh/hook": "crd-install"}, None, None),
    ({"argocd.argoproj.io/hook": "Skip"}, None, None),
])  # fmt: skip
def test_waves_and_hooks_of_resources(annotations: dict[str, str], hook: str | None, wave: int | None) -> None:
    found = deployment(metadata={"annotations": annotations})
    life = GitOpsHistory().observe(found)
    noted = life.attributes("resource", "shop/shop/apps:Deployment/shop/it")
    assert (noted.get("hook"), noted.get("wave")) == (hook, wave)
    life.observe(deployment())
    noted = life.attributes("resource", "shop/shop/apps:Deployment/shop/it")
    assert not noted.get("hook")
    assert not noted.get("wave")


# ---- conditions


@pytest.mark.parametrize(("status", "sync", "health", "message"), [
    ({"conditions": [{"type": "ComparisonError", "message": "no such path"}]}, "Unknown", "NotAssessed", "ComparisonError: no such path"),
    ({"conditions": [{"type": "InvalidSpecError", "message": "no destination"}]}, "Unknown", "Unknown", "InvalidSpecError: no destination"),
    ({"sync": {"status": "Unknown"}}, "Unknown", "NotAssessed", "Argo CD does not know whether it matches Git"),
    ({"conditions": [{"type": "SyncError", "message": "failed before"}], "sync": {"status": "Synced"}}, "Synced", "NotAssessed", None),
    ({"conditions": [{"type": "SharedResourceWarning", "message": "two"}]}, "NotCompared", "NotAssessed", None),
])  # fmt: skip
def test_an_application_that_cannot_be_compared(
    status: dict[str, Any], sync: str, health: str, message: str | None
) -> None:
    life = Life().see(web())
    life.see(web(status=status))
    assert life.history.states(entity_id=HERE) == (health, sync)
    assert life.history.states("application_set", "all")[1] == sync
    assert life.app().get("sync_message") == message
    [*life.see(web()).app()]
    assert life.history.states(entity_id=HERE) == ("NotAssessed", "NotCompared")


OLD, NEW = {"repoURL": "https://git.example/a", "path": "web", "targetRevision": "v1"}, {"targetRevision": "v2"}


@pytest.mark.parametrize(("spec", "compared", "sync", "message"), [
    ({"source": OLD}, {"source": OLD}, "Synced", None),
    ({"source": OLD}, {}, "Synced", None),
    ({"source": {**OLD, **NEW}}, {"source": OLD}, "Unknown", "Argo CD compared with revision v1, and v2 is asked for"),
    ({"source": {**OLD, "path": "shop"}}, {"source": OLD}, "Unknown", "Argo CD compared with path web, and shop is asked for"),
    ({"sources": [OLD, {**OLD, **NEW}]}, {"sources": [OLD, OLD]}, "Unknown", "Argo CD compared with revision v1, and v2 is asked for"),
    ({"sources": [OLD, OLD]}, {"sources": [OLD]}, "Unknown", "Argo CD compared sources: 1, and asked for are 2"),
    ({"source": {"repoURL": "r", "chart": "b"}}, {"source": {"repoURL": "r", "chart": "a"}}, "Unknown", "Argo CD compared with chart a, and b is asked for"),
    ({"source": {"repoURL": "r", "path": "a"}}, {"source": {"repoURL": "r", "path": "a", "targetRevision": "HEAD"}}, "Synced", None),
    ({"source": {**OLD, "directory": {"recurse": True, "jsonnet": {}}}}, {"source": {**OLD, "directory": {"recurse": True}}}, "Synced", None),
    ({"source": {**OLD, "helm": {"values": "a: 1"}}}, {"source": OLD}, "Unknown", "Argo CD compared with other settings of helm than are asked for"),
    ({"source": {**OLD, "kustomize": {}}}, {"source": OLD}, "Synced", None),
    ({"destination": {"server": "https://b", "namespace": "n"}}, {"destination": {"server": "https://a", "namespace": "n"}}, "Unknown", "Argo CD compared with https://a, and https://b is asked for"),
    ({"destination": {"name": "b"}}, {"destination": {"server": "https://b"}}, "Synced", None),
])  # fmt: skip
def test_what_was_compared_before_the_specification_changed(
    spec: dict[str, Any], compared: dict[str, Any], sync: str, message: str | None
) -> None:
    life = Life().see(web(spec=spec, status={"sync": {"status": "Synced", "comparedTo": compared}}))
    assert (life.history.states(entity_id=HERE)[1], life.app().get("sync_message")) == (sync, message)


def test_why_it_cannot_be_compared_is_the_message_of_its_transition() -> None:
    life = Life().see(web())
    broken = web(
        status={"conditions": [{"type": "ComparisonError", "message": "no such path", "lastTransitionTime": "1"}]}
    )
    [data] = [event["data"] for event in life.observer.see(ObjectChange(broken))]
    step = life.history.say("application", "observed", HERE, **data)
    moved = [one for one in step.records if isinstance(one, Transition)]
    [record] = [one for one in moved if (one.entity.kind, one.facet) == ("application", "sync")]
    assert (str(record.after), record.message) == ("Unknown", "ComparisonError: no such path")
    again = web(
        status={"conditions": [{"type": "ComparisonError", "message": "no such path", "lastTransitionTime": "2"}]}
    )
    assert told(life.observer, again) == []


def test_what_argo_cd_says_counts_where_nothing_is_compared_or_assessed_here() -> None:
    life, here = Life(), f"{HERE}/core:ConfigMap/shop/it"
    found = web(status={"sync": {"status": "OutOfSync"}, "health": {"status": "Suspended"}})
    assert life.see(found).history.states(entity_id=HERE) == ("Paused", "OutOfSync")
    life.history.do("resource", "observed", here, live=config(a="1"))
    assert life.history.states(entity_id=HERE) == ("Paused", "OutOfSync")
    life.history.do("resource", "observed", here, live=config(a="1"), desired=config(a="1"))
    assert life.history.states(entity_id=HERE)[1] == "Synced"
    one = deployment(replicas=2)
    life.history.do("resource", "observed", f"{HERE}/apps:Deployment/shop/it", live={**one, "status": {"replicas": 2}})
    assert life.history.states(entity_id=HERE)[0] == "Progressing"
    for health in ("Unknown", "Degraded", "Missing", "Progressing", "Healthy"):
        alone = web(status={"health": {"status": health}, "sync": {"status": "Synced"}})
        assert Life().see(alone).history.states(entity_id=HERE) == (health, "Synced")


def test_orphaned_resources_are_counted() -> None:
    found = [{"type": "OrphanedResourceWarning", "message": "Application has 3 orphaned resources"}]
    life = Life().see(web(status={"conditions": found}))
    assert life.app()["orphaned"] == 3
    assert life.app()["problems"] == found
    assert "orphaned" not in life.see(web()).app()


# ---- projects


EMPTY = ["application.configure", "application.observed", "application.named"]
"""What is told of an Application without a status."""


def test_the_windows_of_a_project_come_and_go() -> None:
    window = {"kind": "allow", "schedule": "0 10 * * *", "duration": "1h", "applications": ["*"]}

    def project(*windows: Any) -> dict[str, Any]:
        return argo("AppProject", "shop", spec={"syncWindows": list(windows)})

    app, other = web(spec={"project": "shop"}), argo("Application", "db", spec={"project": "other"})
    for first, second in ((app, project({**window, "odd": 1})), (project({**window, "odd": 1}), app)):
        life = Life().see(other, first, second)
        assert life.app()["sync_windows"] == [window]
        assert "sync_windows" not in life.app("db/db")
        assert told(life.observer, project(window)) == []
        life.see(project(window, {**window, "schedule": "* * * * 7"}, {"kind": 3}))
        assert life.app()["sync_windows"] == [window]
        assert life.see(project(), gone=True).app()["sync_windows"] == []
    assert told(life.observer, app, gone=True) == [("application.removed", HERE, None)]
    assert told(life.observer, project(window)) == []
    assert [one[0] for one in told(life.observer, app)] == EMPTY


# ---- sets


def test_a_set_and_the_steps_of_its_rollout() -> None:
    conditions = [
        {"type": "ErrorOccurred", "status": "False"}, {"type": "ResourcesUpToDate", "status": "True"},
        {"type": "ParametersGenerated", "status": "True"},
    ]  # fmt: skip
    steps = [
        {"application": "web", "step": "2", "status": "Waiting", "message": "waits for step 1"},
        {"application": "db", "step": "1", "status": "Progressing"},
        {"application": "side", "step": "-1", "status": "Healthy"},
        {"application": "odd", "step": "x", "status": "Nonsense"},
    ]
    strategy = {"type": "RollingSync", "rollingSync": {"steps": [{}, {}]}}
    found = argo(
        "ApplicationSet",
        "all",
        spec={"strategy": strategy},
        status={"conditions": conditions, "applicationStatus": steps},
    )
    reported = {
        "error_occurred": False, "resources_up_to_date": True, "rollout_steps": 2, "rollout_step": 1, "rollout_waiting": 1,
        "stepping": ["db", "side", "web"],
    }  # fmt: skip
    assert told(Observer("/o"), found) == [
        ("application_set.configure", "all", {"profile": "argocd"}),
        ("application_set.reported", "all", reported),
        ("application.stepped", "all/web", {"rollout_step": 2, "rollout": "Waiting", "rollout_message": "waits for step 1"}),
        ("application.stepped", "all/db", {"rollout_step": 1, "rollout": "Progressing"}),
        ("application.stepped", "all/side", {"rollout_step": -1, "rollout": "Healthy"}),
    ]  # fmt: skip
    life = Life().see(found)
    assert (life.app()["rollout_step"], life.app()["rollout"]) == (2, "Waiting")
    plain = argo("ApplicationSet", "all", status={"conditions": conditions})
    assert told(life.observer, plain)[0][2] == {"error_occurred": False, "resources_up_to_date": True, "stepping": []}


def test_an_application_that_comes_back_is_told_anew() -> None:
    observer = Observer("/o")
    first = told(observer, web(spec={}))
    assert [one[0] for one in first] == EMPTY
    assert told(observer, web(spec={}), gone=True) == [("application.removed", HERE, None)]
    assert told(observer, web(spec={})) == first
