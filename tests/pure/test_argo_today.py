"""What Argo CD's objects say today: deletions, requests, hydrations, named resources, rollouts.

Belongs here: objects in, states and reasons out. Does not: settings, operations and windows of projects
(`test_argo_objects`), the events themselves.
"""

from typing import Any

import pytest

from phaseline.engine.products.observe.argo import named
from phaseline.engine.products.observe.observer import Observer
from phaseline.engine.products.observe.stream import ObjectChange
from phaseline.machines.kinds.gitops.named import NO_MORE
from phaseline.schemas import codec
from phaseline.schemas.records import Transition
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.explanations import drawn, explanation
from tests.support.gitops_history import GitOpsHistory
from tests.support.manifests import config, deployment, kubernetes_object
from tests.support.virtual_clock import Clock

HERE = "all/web"
DONE = "successfully synced (all tasks run)"


def web(metadata: dict[str, Any] | None = None, **parts: Any) -> dict[str, Any]:
    owners = [{"kind": "ApplicationSet", "name": "all"}]
    found = {"name": "web", "namespace": "argocd", "ownerReferences": owners, **(metadata or {})}
    return kubernetes_object("argoproj.io/v1alpha1", "Application", metadata=found, **parts)


def said(sync: str = "Synced", health: str = "Healthy", **more: Any) -> dict[str, Any]:
    return {"sync": {"status": sync, "revision": "b2"}, "health": {"status": health}, **more}


def part(kind: str, name: str, status: str, health: str = "", message: str = "", **more: Any) -> dict[str, Any]:
    group = {"Deployment": "apps", "KafkaUser": "kafka.strimzi.io"}.get(kind, "")
    told = {"health": {"status": health, "message": message}} if health else {}
    return {"group": group, "kind": kind, "name": name, "namespace": "shop", "status": status, **told, **more}


class Life:
    """An observer whose events are decided. `passed`: the states of the application, in order."""

    def __init__(self) -> None:
        self.observer, self.history = Observer("/o"), GitOpsHistory()
        self.passed: list[str] = []
        self.records: list[Transition] = []

    def see(self, *objects: dict[str, Any], gone: bool = False) -> "Life":
        for found in objects:
            for event in self.observer.see(ObjectChange(found, gone)):
                kind, _, trigger = event["type"].partition(".")
                self.say(kind, trigger, event["subject"].partition("/")[2], **event.get("data", {}))
        return self

    def say(self, kind: str, trigger: str, entity_id: str, **data: Any) -> "Life":
        step = self.history.say(kind, trigger, entity_id, **data)
        assert step.accepted, step.records
        self.records += (one for one in step.records if isinstance(one, Transition))
        self.passed += [
            str(one.after) for one in step.records if isinstance(one, Transition) and one.entity.kind == "application"
        ]
        return self

    def observed(self, live: dict[str, Any] | None, name: str = "apps:Deployment/shop/it", **more: Any) -> "Life":
        return self.say("resource", "observed", f"{HERE}/{name}", live=live, **more)

    @property
    def states(self) -> tuple[str, ...]:
        return self.history.states(entity_id=HERE)

    def resource(self, name: str) -> tuple[str, ...]:
        return self.history.states("resource", f"{HERE}/{name}")

    def app(self) -> dict[str, Any]:
        return self.history.attributes("application", HERE)

    def of(self, name: str) -> dict[str, Any]:
        return self.history.attributes("resource", f"{HERE}/{name}")

    def why(self) -> str:
        return "\n".join(drawn(self.history.history, explanation(self.history.history, "application", HERE)))


# ---- nothing known


@pytest.mark.parametrize(
    "status", [None, {}, {"summary": {}}, {"sync": {}, "health": {}}, {"resources": []}, {"history": []}]
)
def test_an_application_without_status_is_not_well(status: dict[str, Any] | None) -> None:
    life = Life().see(web() if status is None else web(status=status))
    assert life.states == ("NotAssessed", "NotCompared")
    assert not {"Healthy", "Synced"}.intersection(life.passed)


# ---- deletion


def deleting(since: str, *, error: str = "", finalizers: tuple[str, ...] = (), **status: Any) -> dict[str, Any]:
    found = [{"type": "DeletionError", "message": error, "lastTransitionTime": "2026-03-01T00:01:00Z"}] if error else []
    metadata = {"deletionTimestamp": since, "finalizers": list(finalizers)}
    return web(metadata, status={**said(), "conditions": found, **status})


def test_a_deletion_that_takes_weeks_is_degraded_with_what_keeps_it() -> None:
    life = Life().see(deleting("1969-12-01T00:00:00Z", error="no such namespace"))
    assert life.states[0] == "Degraded"
    assert "Healthy" not in life.passed
    told = life.why()
    assert "because: being deleted since 1969-12-01T00:00:00Z; DeletionError: no such namespace (since" in told
    assert DONE not in told


def test_a_deletion_is_under_way_until_its_deadline() -> None:
    life = Life().see(web(status=said())).say("application_set", "configure", "all", progress_deadline=700)
    life.see(deleting("1970-01-01T00:00:00Z", finalizers=("resources-finalizer.argocd.argoproj.io",)))
    assert life.states[0] == "Progressing"
    assert "it waits for resources-finalizer.argocd.argoproj.io" in life.app()["deletion_message"]
    assert 600 < life.app()["deletion_in"] <= 700
    life.say("application", "configure", HERE, progress_deadline=1)
    life.see(deleting("1970-01-01T00:00:00Z", error="forbidden"))
    assert life.states[0] == "Degraded"
    life.say("application", "configure", HERE, progress_deadline=0)
    life.see(deleting("1970-01-01T00:00:00Z", error="still forbidden"))
    assert life.states[0] == "Progressing"
    life.see(web(status=said()))
    assert life.states == ("Healthy", "Synced")
    assert not [name for name in life.app() if name.startswith("delet")]


def test_a_deletion_ends_an_application_and_what_it_names() -> None:
    life = Life().see(web(status=said(resources=[part("Deployment", "it", "Synced")])))
    life.see(deleting("1970-01-01T00:00:00Z")).see(deleting("1970-01-01T00:00:00Z"), gone=True)
    assert life.states == ("Deleted", "Deleted")
    assert life.resource("apps:Deployment/shop/it") == ("Deleted", "Deleted")


def test_a_timer_ends_the_patience_with_a_deletion() -> None:
    clock, since = Clock(BUILT_IN_KINDS), "1970-01-01T00:00:05Z"
    clock.say(10, "application", "configure", HERE, progress_deadline=30)
    clock.say(10, "application", "observed", HERE, deleting=True, deleting_since=since, deletion_message="waits")
    assert (clock.shown("application", HERE), clock.due) == ("Progressing", [35])
    clock.say(20, "application", "observed", HERE, deleting=True, deleting_since=since, deletion_message="waits more")
    assert clock.due == [35]
    clock.fire(35)
    assert clock.shown("application", HERE) == "Degraded"
    clock.say(36, "application", "observed", HERE, deleting=True, deleting_since=since, deletion_message="waits")
    assert (clock.shown("application", HERE), clock.due) == ("Degraded", [])


# ---- requests


def test_an_operation_that_was_asked_for_and_has_not_begun() -> None:
    asked = {
        "initiatedBy": {"username": "alice"},
        "sync": {"revision": "b3", "prune": True, "dryRun": True, "syncOptions": ["SkipHooks=true", "Validate=false"]},
    }  # fmt: skip
    ended = {
        "phase": "Succeeded",
        "message": DONE,
        "operation": {"sync": {"revision": "b2"}, "initiatedBy": {"automated": True}},
    }
    life = Life().see(web(operation=asked, status=said("OutOfSync", operationState=ended)))
    assert life.app()["operation_asked"] == {
        "by": "alice", "revision": "b3", "prune": True, "dry_run": True, "options": ["SkipHooks=true", "Validate=false"],
    }  # fmt: skip
    assert life.app()["operation_request"] == {"revision": "b2", "automatic": True}
    told = "asked for by alice, to b3, with prune, dry run, SkipHooks=true, Validate=false"
    assert f"condition operation is not begun: {told}" in life.why()
    life.see(web(operation=asked, status=said("OutOfSync", operationState={"phase": "Running", "operation": asked})))
    assert "operation_asked" not in life.app()
    assert life.app()["operation_request"]["by"] == "alice"


def test_options_of_the_policy_are_kept() -> None:
    policy = {"syncOptions": ["CreateNamespace=true", "SkipHooks=true", 3]}
    assert Life().see(web(spec={"syncPolicy": policy})).app()["sync_options"] == [
        "CreateNamespace=true",
        "SkipHooks=true",
    ]


# ---- hydration


def test_a_failed_hydration_is_a_failed_synchronisation() -> None:
    dry = {"repoURL": "https://git", "path": "web", "targetRevision": "main"}
    spec = {"sourceHydrator": {"drySource": dry, "syncSource": {"targetBranch": "env/prod", "path": "web"}}}
    last = {"drySHA": "d1", "hydratedSHA": "h1"}
    now = {"phase": "Failed", "message": "no such chart", "drySHA": "d2", "finishedAt": "2026-03-02T08:00:00Z"}
    state = {"currentOperation": now, "lastSuccessfulOperation": last}
    life = Life().see(web(spec=spec, status=said(sourceHydrator=state)))
    assert life.states == ("Healthy", "SyncFailed")
    assert life.app()["hydrated"] == {"dry": "d1", "hydrated": "h1"}
    assert life.app()["sources"] == [{"repository": "https://git", "path": "web", "revision": "env/prod"}]
    assert life.app()["hydrator"]["revision"] == "main"
    assert (
        "the hydration of d2 is Failed since 2026-03-02T08:00:00Z: no such chart; hydrated before: d1 as h1"
        in life.why()
    )
    for phase in ("Hydrating", "Hydrated"):
        life.see(web(spec=spec, status=said(sourceHydrator={**state, "currentOperation": {**now, "phase": phase}})))
        assert life.states == ("Healthy", "Synced")


# ---- revisions


def test_deployments_of_several_sources_are_kept_and_a_revision_shows_in_each_change() -> None:
    past = [{"id": n, "revisions": [f"g{n}", "7.0"], "deployedAt": f"2026-03-{n:02}T08:00:00Z"} for n in range(1, 15)]
    past[-1]["initiatedBy"] = {"username": "alice"}
    life = Life().see(web(status={"sync": {"status": "Synced", "revisions": ["g14", "7.0"]}, "history": past}))
    kept = life.app()["deployments"]
    assert len(kept) == 10
    assert kept[-1] == {"id": 14, "revision": "g14, 7.0", "deployed": "2026-03-14T08:00:00Z", "by": "alice"}
    synced = [one.message for one in life.records if str(one.after) == "Synced" and one.entity.kind == "application"]
    assert synced == ["Argo CD says Synced at g14, 7.0"]
    life.see(web(status={"sync": {"status": "Synced", "revisions": ["g15", "7.0"]}}))
    assert life.app()["target_revision"] == "g15, 7.0"


# ---- named resources


CULPRIT = part("KafkaUser", "u", "Synced", "Degraded", "no ACL")
LISTED = [part("Service", "web", "Synced"), part("Deployment", "web", "OutOfSync", "Healthy"), CULPRIT,
          part("ConfigMap", "old", "OutOfSync", requiresPruning=True)]  # fmt: skip


def test_resources_that_an_application_names_are_known() -> None:
    life = Life().see(web(status=said("OutOfSync", "Degraded", resources=LISTED)))
    assert life.states == ("Degraded", "OutOfSync")
    assert not {"Healthy", "Synced"}.intersection(life.passed)
    assert life.resource("apps:Deployment/shop/web") == ("Healthy", "OutOfSync")
    assert life.resource("kafka.strimzi.io:KafkaUser/shop/u") == ("Degraded", "Synced")
    assert life.resource("core:ConfigMap/shop/old") == ("NotAssessed", "OutOfSync")
    assert life.of("core:ConfigMap/shop/old")["prune"] is True
    told = life.why()
    for words in ("Argo CD says Degraded: no ACL", "apps:Deployment/shop/web", "it is to be pruned"):
        assert words in told
    life.see(web(status=said("Synced", "Healthy", resources=[part("Deployment", "web", "Synced", "Healthy")])))
    assert life.states == ("Healthy", "Synced")
    assert life.resource("kafka.strimzi.io:KafkaUser/shop/u") == ("Deleted", "Deleted")
    life.see(web(status=said("OutOfSync", "Degraded", resources=LISTED)))
    assert life.resource("kafka.strimzi.io:KafkaUser/shop/u") == ("Degraded", "Synced")


def test_a_hook_is_no_reason_of_the_whole() -> None:
    hook = part("Job", "migrate", "OutOfSync", "Degraded", "it crashed", hook=True)
    told = Life().see(web(status=said("OutOfSync", "Degraded", resources=[hook, *LISTED]))).why()
    assert "no ACL" in told
    assert "it crashed" not in told
    assert "Job:shop/migrate" not in told


def test_what_was_observed_comes_before_what_is_named() -> None:
    name = "apps:Deployment/shop/it"
    ready = {**deployment(replicas=1), "status": {"replicas": 1, "updatedReplicas": 1, "availableReplicas": 1}}
    listed = [part("Deployment", "it", "OutOfSync", "Degraded", "old news")]
    for first in (True, False):
        life = Life().see(web())
        if first:
            life.observed(ready, name)
        life.see(web(status=said("OutOfSync", "Degraded", resources=listed)))
        if not first:
            life.observed(ready, name)
        assert life.resource(name) == ("Healthy", "OutOfSync")
        assert life.of(name)["by_name"] == "sync"
        life.observed(ready, name, desired=deployment(replicas=1))
        assert life.resource(name) == ("Healthy", "Synced")
        life.see(web(status=said("OutOfSync", "Degraded", resources=[*listed, part("Pod", "p", "Synced")])))
        assert life.resource(name) == ("Healthy", "Synced")
        assert "by_name" not in life.of(name)
        life.see(web(status=said("Synced", "Healthy", resources=[])))
        assert life.resource(name) == ("Healthy", "Synced")


def test_a_sync_that_is_no_longer_named_is_not_known() -> None:
    name = "core:ConfigMap/shop/it"
    life = Life().see(web()).observed(config(a="1"), name)
    life.see(web(status=said("OutOfSync", resources=[part("ConfigMap", "it", "OutOfSync")])))
    assert life.resource(name)[1] == "OutOfSync"
    life.see(web(status=said(resources=[])))
    assert life.resource(name)[1] == "NotCompared"
    assert life.states[1] == "Synced"


def test_what_was_removed_and_is_still_named_is_named() -> None:
    name = "core:ConfigMap/shop/it"
    found, listed = (
        config(a="1"),
        said("OutOfSync", resources=[part("ConfigMap", "it", "OutOfSync", "Missing"), part("Secret", "s", "Synced")]),
    )
    metadata = {**found["metadata"], "annotations": {"argocd.argoproj.io/tracking-id": "web:/ConfigMap:shop/it"}}
    found = {**found, "metadata": metadata}
    life = Life().see(web(status=listed), found).see(found, gone=True)
    assert life.resource(name) == ("Deleted", "Deleted")
    life.see(web(status=listed))
    assert life.resource(name) == ("Missing", "OutOfSync")
    assert "live_digest" not in life.of(name)


@pytest.mark.parametrize(("whole", "listed", "states"), [
    (("OutOfSync", "Degraded"), [part("Deployment", "a", "Synced", "Healthy")], ("Degraded", "OutOfSync")),
    (("Synced", "Healthy"), [part("Deployment", "a", "Synced", "Healthy"), part("Pod", "b", "OutOfSync", "Degraded", requiresPruning=True)], ("Healthy", "Synced")),
    (("Synced", "Healthy"), [part("Deployment", "a", "Synced"), part("Pod", "b", "Synced", "Progressing")], ("Healthy", "Synced")),
    (("OutOfSync", "Missing"), [part("Deployment", "a", "OutOfSync", "Missing"), part("ConfigMap", "b", "OutOfSync")], ("Missing", "OutOfSync")),
    (("OutOfSync", "Healthy"), [part("Deployment", "a", "OutOfSync", "Missing"), part("Pod", "b", "Synced", "Healthy")], ("Healthy", "OutOfSync")),
    (("OutOfSync", "Healthy"), [part("Deployment", "a", "OutOfSync", "Missing"), part("ConfigMap", "b", "Synced")], ("Healthy", "OutOfSync")),
    (("OutOfSync", "Healthy"), [part("Deployment", "a", "OutOfSync", "Missing")], ("Healthy", "OutOfSync")),
    (("Unknown", "Unknown"), [part("Deployment", "a", "Unknown", "Healthy")], ("Unknown", "Unknown")),
    (("Synced", "Suspended"), [part("Deployment", "a", "Synced", "Suspended"), part("Pod", "b", "Synced", "Healthy")], ("Paused", "Synced")),
    (("Synced", "Progressing"), [part("Job", "a", "Synced", "Degraded", hook=True), part("Pod", "b", "Synced", "Healthy")], ("Progressing", "Synced")),
    (("Synced", "Healthy"), [part("Job", "a", "", "Degraded", hook=True)], ("Healthy", "Synced")),
])  # fmt: skip
def test_the_whole_is_what_its_controller_says_where_only_names_are_known(
    whole: tuple[str, str], listed: list[dict[str, Any]], states: tuple[str, str]
) -> None:
    life = Life().see(web(status=said(*whole, resources=listed)))
    assert life.states == states
    good = {"Healthy", "Synced"} - set(states)
    assert not good.intersection(life.passed)


def test_two_thousand_resources_fit_and_what_is_left_out_is_said() -> None:
    well = [part("ConfigMap", f"c{n}", "Synced") for n in range(named.MOST + 40)]
    life = Life().see(web(status=said("OutOfSync", "Degraded", resources=[*well, CULPRIT])))
    assert (life.app()["resources_named"], life.app()["resources_left_out"]) == (named.MOST + 41, 41)
    assert life.resource("kafka.strimzi.io:KafkaUser/shop/u") == ("Degraded", "Synced")
    long = [part("KafkaUser", f"{n:0200}", "Synced", "Degraded", "x" * 3_000) for n in range(named.MOST)]
    events = [*Observer("/o").see(ObjectChange(web(status=said("OutOfSync", "Degraded", resources=long)), False))]
    assert max(len(codec.encode_json(one)) for one in events) < 700_000
    [report] = [one["data"] for one in events if one["type"] == "application.observed"]
    assert report["resources_named"] == named.MOST
    assert report["resources_left_out"] > 0


def test_a_list_is_told_once() -> None:
    life = Life().see(web(status=said(resources=LISTED)))
    assert [*life.observer.see(ObjectChange(web(status=said(resources=LISTED)), False))] == []


def test_an_observer_that_starts_again_changes_nothing() -> None:
    found = web(operation={"sync": {"revision": "b3"}}, status=said("OutOfSync", "Degraded", resources=LISTED))
    life = Life().see(found)
    before, life.observer = len(life.records), Observer("/o")
    assert [str(one.after) for one in life.see(found).records[before:]] == []


def test_a_snapshot_has_what_an_application_names() -> None:
    def listed(observer: Observer) -> list[str]:
        found = [
            event for event in observer.relisted("", "ConfigMap", None) if event["subject"] == f"application/{HERE}"
        ]
        return [one["id"] for event in found for one in event["data"].get("resource", event["data"].get("items", []))]

    life = Life().see(web(status=said("OutOfSync", "Degraded", resources=LISTED)))
    assert listed(life.observer) == ["core:ConfigMap/shop/old"]
    life.see(web(status=said(resources=LISTED[:2])))
    assert listed(life.observer) == []
    life.see(web(status=said(resources=LISTED))).see(web(), gone=True)
    assert listed(life.observer) == []


# ---- conditions


def test_all_conditions_are_told_and_are_no_reason_of_a_state() -> None:
    names = (
        "SharedResourceWarning",
        "RepeatedResourceWarning",
        "ExcludedResourceWarning",
        "SyncError",
        "OrphanedResourceWarning",
    )
    found = [{"type": name, "message": f"about {name}", "lastTransitionTime": "2026-03-02T08:00:00Z"} for name in names]
    life = Life().see(web(status=said(conditions=found)))
    assert life.states == ("Healthy", "Synced")
    assert life.app()["problems"] == [
        {"type": one["type"], "message": one["message"], "since": one["lastTransitionTime"]} for one in found
    ]
    told = life.why()
    for name in names:
        assert f"condition {name} is True since 2026-03-02T08:00:00Z: about {name}" in told
        assert f"because: about {name}" not in told
    many = [{"type": "SharedResourceWarning", "message": "x" * 5_000}] * 300
    life.see(web(status=said(conditions=many)))
    assert life.app()["problems"][-1] == {"type": "LeftOut", "message": "200 more conditions are not shown"}
    assert len(codec.encode(life.app())) < 500_000


# ---- windows


def test_the_annotation_is_a_daily_window() -> None:
    def annotated(hours: str) -> dict[str, Any]:
        return web({"annotations": {"argocd.argoproj.io/sync-window": hours}})

    life = Life().see(annotated("10:00-18:00"))
    assert life.app()["sync_hours"] == ["10:00-18:00"]
    assert "10:00-18:00" in life.history.refused("application", "sync", HERE).message
    assert life.see(annotated("10:00-12:00, 13:00-18:00")).app()["sync_hours"] == ["10:00-12:00", "13:00-18:00"]
    life.see(annotated("morning"))
    assert life.app()["sync_hours"] == []
    assert "argocd.argoproj.io/sync-window 'morning' is left out" in str(life.records[-1].message)
    assert life.see(annotated("10:00-18:00"), web()).app()["sync_hours"] == []


# ---- rollouts


def test_a_step_says_for_which_revision_it_waits() -> None:
    step = {
        "application": "web", "step": "2", "status": "Waiting", "targetRevisions": ["b1"],
        "lastTransitionTime": "2026-03-02T08:00:00Z",
    }  # fmt: skip
    rolls = [{"type": "RolloutProgressing", "status": "True"}]

    def set_(*steps: dict[str, Any]) -> dict[str, Any]:
        return kubernetes_object(
            "argoproj.io/v1alpha1", "ApplicationSet", metadata={"name": "all", "namespace": "argocd"},
            spec={"strategy": {"type": "RollingSync", "rollingSync": {"steps": [{}, {}]}}},
            status={"conditions": rolls, "applicationStatus": list(steps)},
        )  # fmt: skip

    for objects in ((set_(step), web(status=said())), (web(status=said()), set_(step))):
        life = Life().see(*objects)
        assert (life.app()["rollout_target"], life.app()["rollout_since"]) == ("b1", "2026-03-02T08:00:00Z")
        told = "condition rollout is Waiting since 2026-03-02T08:00:00Z: step 2 waits for b1 while the application is at b2"
        assert told in life.why()
    told = "step 2 of 2: web (Waiting, to b1, since 2026-03-02T08:00:00Z)"
    assert told in life.history.attributes("application_set", "all")["health_message"]
    life.see(set_({**step, "status": "Healthy"}))
    assert "rollout" not in life.why()


# ---- ignore rules


def test_a_rule_that_says_nothing_is_named_and_the_others_hold() -> None:
    rules = [
        {"group": "apps", "kind": "Deployment"},
        {"group": "apps", "kind": "Deployment", "jsonPointers": ["/spec/replicas"]},
    ]
    life = Life().see(web(spec={"ignoreDifferences": rules}))
    said_of_it = "the rule for apps/Deployment can do nothing: it names none of jsonPointers"
    assert any(said_of_it in str(one.message) for one in life.records)
    life.observed(deployment(replicas=5), desired=deployment(replicas=3))
    assert life.resource("apps:Deployment/shop/it")[1] == "Synced"


LOST: list[dict[str, Any] | None] = [None, {}, {"summary": {}}, {"sync": {"status": "Unknown"}}]


@pytest.mark.parametrize("status", LOST)
@pytest.mark.parametrize("anew", [False, True])
def test_an_application_that_loses_its_status_keeps_no_state_of_it(
    status: dict[str, Any] | None, *, anew: bool
) -> None:
    """As after a restore from a backup that leaves out the status: nothing is known, and nothing is gone."""
    seen, named_only = "core:ConfigMap/shop/it", "apps:Deployment/shop/web"
    listed = [part("Deployment", "web", "Synced", "Healthy"), part("ConfigMap", "it", "Synced")]
    full = web(status=said(resources=listed))
    life = Life().see(full).observed(config(a="1"), seen)
    assert life.states == ("Healthy", "Synced")
    if anew:
        life.observer = Observer("/o")
    lost = web() if status is None else web(status=status)
    life.see(lost)
    assert life.states == ("NotAssessed", "Unknown" if status and "sync" in status else "NotCompared")
    assert life.resource(named_only) == ("NotAssessed", "NotCompared")
    assert life.resource(seen) == ("NoHealth", "NotCompared")
    assert life.of(named_only)["health_message"] == life.of(named_only)["sync_message"] == NO_MORE
    before = len(life.records)
    life.observer = Observer("/o")
    assert life.see(lost).records[before:] == []
    life.see(full)
    assert life.states == ("Healthy", "Synced")
    assert life.resource(named_only) == ("Healthy", "Synced")


def test_a_snapshot_has_what_an_application_named_before_it_lost_its_status() -> None:
    life = Life().see(web(status=said(resources=LISTED))).see(web(status={}))
    found = [*life.observer.relisted("", "ConfigMap", None)]
    assert [item["id"] for one in found for item in one["data"].get("items", [])] == ["core:ConfigMap/shop/old"]


def test_the_step_of_a_rollout_ends_with_what_the_set_says() -> None:
    def rolls(*names: str) -> dict[str, Any]:
        steps = [{"application": name, "step": "1", "status": "Waiting", "targetRevisions": ["b3"]} for name in names]
        strategy = {"type": "RollingSync", "rollingSync": {"steps": [{}]}} if names else {}
        status = {"applicationStatus": steps} if names else {}
        return kubernetes_object(
            "argoproj.io/v1alpha1",
            "ApplicationSet",
            metadata={"name": "all", "namespace": "argocd"},
            spec={"strategy": strategy},
            status=status,
        )

    life = Life().see(rolls("web"), web(status=said()))

    def known() -> dict[str, Any]:
        return dict(life.history.history.tree.entities["application"][HERE].attributes)

    assert (known()["rollout"], known()["evidence"][-1]["condition"]) == ("Waiting", "rollout")
    life.see(rolls("web", "db"))
    assert known()["rollout"] == "Waiting"
    life.see(rolls("db"))
    assert "rollout" not in known()
    assert "evidence" not in known()
    life.see(rolls("web", "db")).see(rolls())
    assert not [name for name in known() if name.startswith("rollout")]
    life.see(rolls("web"))
    assert known()["rollout_target"] == "b3"


def test_a_set_that_is_being_deleted_is_at_work() -> None:
    conditions = [{"type": "ResourcesUpToDate", "status": "True"}, {"type": "ErrorOccurred", "status": "False"}]

    def all_(**metadata: Any) -> dict[str, Any]:
        named = {"name": "all", "namespace": "argocd", **metadata}
        return kubernetes_object(
            "argoproj.io/v1alpha1", "ApplicationSet", metadata=named, status={"conditions": conditions}
        )

    life = Life().see(all_())
    assert life.history.states("application_set", "all")[0] == "Healthy"
    life.see(all_(deletionTimestamp="2026-03-02T07:00:00Z", finalizers=["a.io/x"]))
    assert life.history.states("application_set", "all")[0] == "Progressing"
    why = life.history.attributes("application_set", "all")["health_message"]
    assert why == "being deleted since 2026-03-02T07:00:00Z; it waits for a.io/x"
    assert life.see(all_()).history.states("application_set", "all")[0] == "Healthy"


@pytest.mark.parametrize(("health", "expected"), [
    ("Healthy", "Paused"), ("Progressing", "Paused"), ("Degraded", "Degraded"), ("Missing", "Missing"),
])  # fmt: skip
def test_what_argo_cd_does_not_look_at_is_not_well(health: str, expected: str) -> None:
    skips, named = "argocd.argoproj.io/skip-reconcile", [part("Deployment", "web", "Synced", health)]
    life = Life().see(web({"annotations": {skips: "true"}}, status=said(health=health, resources=named)))
    assert life.states[0] == expected
    told = f"the annotation {skips} keeps Argo CD from looking at it; before, it said {health}"
    assert (life.app()["health_message"] == told) is (expected == "Paused")
    assert life.see(web(status=said(health=health, resources=named))).states[0] == health
