"""GitOps' stories: from manifests to the states of resources, applications and sets (docs/spec/gitops.md)."""

import json
from typing import Any

import pytest

from phaseline.engine.scripts.runner import SandboxRunner
from phaseline.engine.scripts.sandbox import Sandbox
from phaseline.machines.kinds.gitops.app_settings import DEADLINE
from phaseline.machines.kinds.gitops.waves import HELM_HOOK, HELM_WEIGHT, HOOK, WAVE
from phaseline.machines.kinds.kubernetes.assess import COMPARE_OPTIONS, IGNORE_HEALTH
from phaseline.schemas.errors import ScriptStopped
from phaseline.schemas.records import Transition
from tests.support.explanations import drawn, explanation
from tests.support.gitops_history import APP, SET, GitOpsHistory, messages, resource_id
from tests.support.manifests import deployment, kubernetes_object

OUT = {"observedGeneration": 1, "replicas": 3, "updatedReplicas": 3, "availableReplicas": 3}


def rolled_out(**more: Any) -> dict[str, Any]:
    return {**deployment(replicas=3), "status": {**OUT, **more}}


def config(name: str, **data: str) -> dict[str, Any]:
    return kubernetes_object("v1", "ConfigMap", metadata={"name": name}, data=data)


def test_one_of_eleven_is_deleted_by_hand() -> None:
    wanted = [config(f"c{number}", a="1") for number in range(11)]
    life = GitOpsHistory()
    for one in wanted:
        life.observe(one, desired=one)
    assert life.states() == ("NotAssessed", "Synced")
    step = life.say("resource", "observed", resource_id(wanted[7]), live=None, desired=wanted[7])
    assert life.states() == life.states("application_set", SET) == ("Missing", "OutOfSync")
    assert messages(step)["application sync"] == "because of resource shop/shop/core:ConfigMap/shop/c7"
    assert messages(step)["resource health"] == "it is in Git, and not in the cluster"
    tally = life.history.tree.tally(APP, "application", "resource", 1)
    assert dict(tally) == {"Synced": 10, "OutOfSync": 1}
    life.observe(wanted[7], desired=wanted[7])
    assert life.states() == life.states("application_set", SET) == ("NotAssessed", "Synced")


def test_a_resource_from_both_its_manifests() -> None:
    life = GitOpsHistory().observe(rolled_out(availableReplicas=1), desired=deployment(replicas=3, paused=True))
    found = resource_id(deployment())
    assert life.states("resource", found) == ("Progressing", "OutOfSync")
    noted = life.attributes("resource", found)
    assert noted["health_message"] == "Waiting for rollout to finish: 1 of 3 new replicas are available"
    assert (noted["differs"], noted["differing"], noted["sync_message"]) == (
        ["/spec/paused"],
        1,
        "it differs at 1 place",
    )
    assert noted["deadline"] == 600
    assert len(noted["live_digest"]) == len(noted["desired_digest"]) == 16
    life.observe(rolled_out(), desired=deployment(replicas=3))
    assert life.states("resource", found) == ("Healthy", "Synced")
    assert life.attributes("resource", found)["differs"] == []


def test_status_that_only_ticks_makes_no_record() -> None:
    life = GitOpsHistory().observe(rolled_out(), desired=deployment(replicas=3))
    beat = rolled_out(conditions=[{"type": "Available", "lastUpdateTime": "2026-01-01T00:00:00Z"}])
    beat["metadata"]["resourceVersion"] = "77"
    assert life.say("resource", "observed", resource_id(beat), live=beat, desired=deployment(replicas=3)).records == []


def test_what_git_declares_may_be_unknown_for_now() -> None:
    life = GitOpsHistory().observe(rolled_out())
    assert life.states("resource", resource_id(deployment())) == ("Healthy", "NotCompared")
    assert life.states() == life.states("application_set", SET) == ("Healthy", "NotCompared")
    life.observe(rolled_out(), desired=deployment(replicas=5)).observe(rolled_out(availableReplicas=0))
    assert life.states("resource", resource_id(deployment())) == ("Progressing", "OutOfSync")


def test_what_is_in_the_cluster_only() -> None:
    life = GitOpsHistory().observe(config("extra"), desired=None)
    assert life.states() == ("NotAssessed", "OutOfSync")
    spared = kubernetes_object(
        "v1",
        "ConfigMap",
        metadata={"name": "extra", "annotations": {"argocd.argoproj.io/compare-options": "IgnoreExtraneous"}},
    )
    life.observe(spared, desired=None)
    assert life.states() == ("NotAssessed", "NotCompared")
    assert life.states("resource", resource_id(config("extra"))) == ("NoHealth", "NotCompared")


def test_gone_from_both_sides() -> None:
    life = (
        GitOpsHistory()
        .observe(config("a"), desired=None)
        .do("resource", "observed", resource_id(config("a")), live=None, desired=None)
    )
    assert life.states("resource", resource_id(config("a"))) == ("Deleted", "Deleted")
    assert life.states() == ("NotAssessed", "NotCompared")
    assert life.refused("resource", "observed", resource_id(config("b")), live=None, desired=None).reason == "guard"
    life.observe(config("a"), desired=config("a")).do("resource", "removed", resource_id(config("a")))
    assert life.states("resource", resource_id(config("a"))) == ("Deleted", "Deleted")


def test_a_synchronisation_of_a_resource() -> None:
    found = resource_id(deployment())
    life = GitOpsHistory().observe(rolled_out(), desired=deployment(replicas=5)).do("resource", "sync_started", found)
    assert life.states() == ("Healthy", "Syncing")
    life.observe(rolled_out(), desired=deployment(replicas=5))
    assert life.states()[1] == "Syncing"  # it has begun, and is not there yet
    life.observe({**deployment(replicas=5), "status": {}}, desired=deployment(replicas=5))
    assert life.states() == ("Progressing", "Synced")
    step = life.say("resource", "sync_failed", found, reason="Forbidden", message="no right to patch")
    assert messages(step)["resource sync"] == "no right to patch"
    assert life.attributes("resource", found)["sync_message"] == "Forbidden: no right to patch"
    assert life.states()[1] == "SyncFailed"
    life.observe(rolled_out(), desired=deployment(replicas=5))
    assert life.states()[1] == "SyncFailed"
    assert life.attributes("resource", found)["sync_message"] == "Forbidden: no right to patch"
    life.do("resource", "sync_started", found)
    assert life.states()[1] == "Syncing"
    life.do("resource", "sync_succeeded", found)
    assert life.states()[1] == "Synced"


def test_a_synchronisation_may_be_the_first_that_is_heard() -> None:
    found = resource_id(deployment())
    life = GitOpsHistory().do("resource", "sync_started", found)
    assert life.states("resource", found) == ("NotAssessed", "Syncing")
    life.observe(rolled_out(), desired=deployment(replicas=3))
    assert life.states("resource", found) == ("Healthy", "Synced")


def test_hooks_take_no_part() -> None:
    job = kubernetes_object(
        "batch/v1",
        "Job",
        metadata={"annotations": {"argocd.argoproj.io/hook": "PreSync"}},
        status={"conditions": [{"type": "Failed"}]},
    )
    life = GitOpsHistory().observe(job, desired=None)
    assert life.states("resource", resource_id(job)) == ("Aside", "NotCompared")
    assert life.states() == ("NotAssessed", "NotCompared")


ABSENT_ONE = config("gone")


@pytest.mark.parametrize(("profile", "parts", "health"), [
    ("alauda", [rolled_out()], "Missing"), ("argocd", [rolled_out()], "Healthy"), ("argocd-3.3", [rolled_out()], "Healthy"),
    ("argocd", [], "Missing"), ("alauda", [], "Missing"), ("argocd-3.3", [], "NotAssessed"),
    ("alauda", [{**deployment(replicas=1), "spec": {"paused": True}}], "Missing"), ("argocd", [{**deployment(), "spec": {"paused": True}}], "Paused"),
])  # fmt: skip
def test_profiles(profile: str, parts: list[Any], health: str) -> None:
    life = GitOpsHistory().configure(profile=profile).lacks(ABSENT_ONE)
    for one in parts:
        life.observe(one)
    assert life.states()[0] == health


def test_the_sets_profile_counts_where_the_application_has_none() -> None:
    life = GitOpsHistory().configure(SET, profile="argocd").observe(rolled_out()).lacks(ABSENT_ONE)
    assert life.states()[0] == "Healthy"
    life.configure(SET, profile="alauda")
    assert life.states()[0] == "Missing"
    life.configure(APP, profile="argocd").configure(SET, profile="argocd-3.3")
    assert life.states()[0] == "Healthy"


def test_sets() -> None:
    life = GitOpsHistory().observe(rolled_out(availableReplicas=0), desired=deployment(replicas=3))
    assert life.states("application_set", SET) == ("Progressing", "Synced")
    life.configure(SET, profile="argocd")
    assert life.states("application_set", SET) == ("NotAssessed", "Synced")
    step = life.say("application_set", "reported", SET, resources_up_to_date=False)
    assert life.states("application_set", SET)[0] == "Unknown"
    assert (
        messages(step)["application_set health"] == "its controller does not say that it has made all its applications"
    )
    life.do("application_set", "reported", SET, resources_up_to_date=True)
    assert life.states("application_set", SET)[0] == "Healthy"
    life.do("application_set", "reported", SET, rollout_progressing=True)
    assert life.states("application_set", SET)[0] == "Progressing"
    step = life.say("application_set", "reported", SET, error_occurred=True, health_message="no such generator")
    assert life.states("application_set", SET)[0] == "Degraded"
    assert messages(step)["application_set health"] == "no such generator"
    life.configure(SET, profile="argocd-3.3")
    assert life.states("application_set", SET)[0] == "NotAssessed"
    life.do("application_set", "removed", SET)
    assert life.states() == life.states("resource", resource_id(deployment())) == ("Deleted", "Deleted")


def test_causes_are_named_and_the_rest_counted() -> None:
    life = GitOpsHistory()
    for number in range(5):
        life.observe(config(f"c{number}", a="1"), desired=config(f"c{number}", a="1"))
    life.observe(config("c0", a="1"), desired=config("c0", a="2"))
    for number in (3, 1, 2, 4):
        step = life.say(
            "resource",
            "observed",
            resource_id(config(f"c{number}")),
            live=config(f"c{number}", a="1"),
            desired=config(f"c{number}", a="2"),
        )
        assert "application sync" not in messages(step)
    life.configure(APP, progress_deadline=5)
    life.do("resource", "sync_failed", resource_id(config("c0")))
    step = life.say("resource", "sync_succeeded", resource_id(config("c0")))
    assert (
        messages(step)["application sync"]
        == "because of resource " + ", ".join(f"shop/shop/core:ConfigMap/shop/c{n}" for n in (1, 2, 3)) + " and 1 more"
    )


def test_scripts_and_ignore_rules_of_both_levels_count() -> None:
    cert = kubernetes_object("cert-manager.io/v1", "Certificate", metadata={"name": "c"}, spec={"x": 1})
    life = GitOpsHistory().configure(
        SET, health={"cert-manager.io/*": "return {status = 'Suspended', message = 'at ' .. os.time()}"}
    )
    life.configure(
        APP, ignore_differences=[{"group": "cert-manager.io", "kind": "Certificate", "jqPathExpressions": [".spec.x"]}]
    )
    life.observe(cert, desired={**cert, "spec": {"x": 2}})
    assert life.states("resource", resource_id(cert)) == ("Paused", "Synced")
    noted = life.attributes("resource", resource_id(cert))
    assert noted["ignored"] == 1
    assert noted["health_message"] == "at 3"
    life.configure(
        APP, ignore_differences=[{"group": "cert-manager.io", "kind": "Certificate", "jsonPointers": ["/spec/y"]}]
    )
    life.observe(cert, desired={**cert, "spec": {"x": 2}})
    assert life.states("resource", resource_id(cert)) == ("Paused", "OutOfSync")
    assert life.attributes("resource", resource_id(cert))["rule_problems"] == [
        "pointer '/spec/y' of the rule for cert-manager.io/Certificate: nothing is there"
    ]


def test_an_event_whose_script_had_to_be_stopped_is_a_fault_and_decided_again() -> None:
    """Whether a script ends in time depends on the machine, so no state may depend on it."""
    cert = kubernetes_object("cert-manager.io/v1", "Certificate", metadata={"name": "c"})
    with Sandbox(seconds=0.02) as small, Sandbox(seconds=100.0) as large:
        life = GitOpsHistory()
        life.history.tree.scripts = SandboxRunner(small)
        life.configure(SET, health={"cert-manager.io/*": ENDS_LATE})
        with pytest.raises(ScriptStopped):  # a history raises the error of a fault; a worker rejects the event
            life.say("resource", "observed", resource_id(cert), live=cert, desired=cert)
        assert resource_id(cert) not in life.history.tree.entities["resource"]
        life.history.tree.scripts = SandboxRunner(large)
        life.observe(cert, desired=cert)
        assert life.states("resource", resource_id(cert)) == ("Paused", "Synced")


ENDS_LATE = "local found = ('x'):rep(800):find('.-.-y') return {status = 'Suspended', message = tostring(found)}"
"""A search that takes some tenths of a second, and ends."""


def test_what_can_match_nothing_is_named_and_the_others_hold() -> None:
    config = kubernetes_object("v1", "ConfigMap", metadata={"name": "c"}, data={"a": "1"})
    rules = [
        {"group": "core", "kind": "ConfigMap", "jsonPointers": ["/data"]},
        {"group": "apps", "kind": "Deployment", "jqPathExpressions": [".spec["]},
        {"kind": "ConfigMap", "jsonPointers": ["/data/a"]},
    ]
    life = GitOpsHistory()
    said = messages(life.say("application", "configure", APP, ignore_differences=rules, message="by hand"))
    told = str(said["application health"])
    assert told.startswith("by hand; the rule for core/ConfigMap can do nothing: group 'core' matches nothing")
    assert "the rule for apps/Deployment can do nothing: jq '.spec[': jq: error: syntax error" in told
    life.observe(config, desired={**config, "data": {"a": "2"}})
    assert life.states("resource", resource_id(config)) == ("NoHealth", "Synced")


@pytest.mark.parametrize(("data", "says"), [
    ({"health": {"a/B": 3}}, "data.health.a/B must be a script in Lua, or a map with `rows`, found int"),
    ({"profile": "flux"}, "data.profile must be one of alauda, argocd, argocd-3.3"),
    ({"progress_deadline": -1}, "data.progress_deadline must be 0 or more"),
    ({"sync_windows": [{"kind": "allow", "schedule": "* * * * 7", "duration": "1h"}]}, "data: window 1: day of the week must be from 0 to 6"),
    ({"sync_windows": [{"when": "now"}]}, "'when' is none of kind, schedule"),
    ({"sync_hours": ["25:00-26:00"]}, "hours go from 0 to 24"),
])  # fmt: skip
def test_settings_that_cannot_be(data: dict[str, Any], says: str) -> None:
    for kind, entity_id in (("application", APP), ("application_set", SET)):
        found = GitOpsHistory().refused(kind, "configure", entity_id, **data)
        assert found.reason == "invalid"
        assert says in found.message


def test_settings_that_can_do_nothing_are_taken_and_told() -> None:
    rules = [{"group": "", "kind": "Deployment", "jsonPointers": ["/spec/replicas"]}]
    step = GitOpsHistory().say(
        "application",
        "configure",
        APP,
        ignore_differences=rules,
        sync_windows=[{"kind": "deny", "schedule": "* * * * *", "duration": "1h"}],
    )
    [first, *_] = [r for r in step.records if isinstance(r, Transition) and r.entity.kind == "application"]
    assert first.message == (
        "the rule for core/Deployment can do nothing: an empty group means the core group, and Deployment is in apps and extensions; "
        'the deny window "* * * * *" for 1h names no applications, namespaces or clusters, so it is about nothing'
    )


@pytest.mark.parametrize(("manifest", "says"), [
    (kubernetes_object("v1", "Service"), "data.live is of core:Service, the id is of apps:Deployment"),
    (kubernetes_object("apps/v1", "Deployment", metadata={"name": "other"}), "data.live is called 'other', the id says 'it'"),
    (kubernetes_object("apps/v1", "Deployment", metadata={"namespace": "x"}), "data.live is in namespace 'x', the id says 'shop'"),
    ({}, "data.live is of core:, the id is of apps:Deployment"),
])  # fmt: skip
def test_a_manifest_of_another_resource(manifest: dict[str, Any], says: str) -> None:
    found = GitOpsHistory().refused("resource", "observed", resource_id(deployment()), live=manifest)
    assert (found.reason, found.message) == ("invalid", says)


@pytest.mark.parametrize("name", [IGNORE_HEALTH, COMPARE_OPTIONS, HOOK, HELM_HOOK, HELM_WEIGHT, WAVE, DEADLINE])
@pytest.mark.parametrize("declared", [True, False])
def test_an_annotation_that_is_no_text_is_no_fault(name: str, *, declared: bool) -> None:
    odd = {**rolled_out(), "metadata": {"name": "it", "namespace": "shop", "annotations": {name: True}}}
    life = GitOpsHistory().observe(odd, desired=rolled_out() if declared else None)
    health, _ = life.states("resource", resource_id(odd))
    is_read = name in (IGNORE_HEALTH, HOOK, HELM_HOOK)
    assert health == ("Unknown" if is_read else "Healthy")
    noted = life.attributes("resource", resource_id(odd))["health_message"]
    assert (f".{name} must be a string, found True" in noted) is is_read


def test_an_observation_says_what_is_there() -> None:
    assert (
        "data.live is required"
        in GitOpsHistory().refused("resource", "observed", resource_id(deployment()), desired=deployment()).message
    )


def test_operations_and_windows() -> None:
    life = GitOpsHistory().configure(namespace="shop").do("application", "sync", APP, revision="abc")
    assert life.attributes("application", APP)["operation"] == "Running"
    assert (
        "the application's operation is Running, sync needs not set, Succeeded, Failed or Error"
        in life.refused("application", "sync", APP).message
    )
    life.do("application", "sync_finished", APP, result="Failed", message="hook failed")
    noted = life.attributes("application", APP)
    assert (noted["operation"], noted["operation_message"], noted["revision"]) == ("Failed", "hook failed", "abc")
    life.configure(sync_hours=["10:00-10:01"])
    found = life.refused("application", "sync", APP)
    assert found.reason == "guard"
    assert 'sync is not allowed now: the allow window "10:00-10:01" is closed; it will be possible at ' in found.message
    life.configure(
        SET,
        sync_windows=[
            {"kind": "deny", "schedule": "* * * * *", "duration": "1h", "namespaces": ["sh*"], "manualSync": True}
        ],
    )
    life.configure(sync_hours=[])
    assert "the deny window" in life.refused("application", "sync", APP, automatic=True).message
    life.do("application", "sync", APP).do("application", "sync_finished", APP, result="Succeeded")
    assert (
        "operation that failed, and the last one did not: Succeeded"
        in life.refused("application", "sync", APP, retry=True).message
    )
    life.configure(
        SET, sync_windows=[{"kind": "deny", "schedule": "* * * * *", "duration": "1h", "applications": ["*"]}]
    )
    assert (
        "these windows do not allow it at any time before 1975-01" in life.refused("application", "sync", APP).message
    )


@pytest.mark.parametrize(("found", "says"), [
    ({"sync_windows": [{"kind": "deny", "schedule": "* * * * *", "duration": "1h", "applications": ["*"] * 1_001}]}, "hold 1001 globs, and at most 1000"),
    ({"sync_hours": [f"10:00-11:{n:02}" for n in range(60)], "sync_windows": [{"kind": "deny", "schedule": f"{n} * * * *", "duration": "1h"} for n in range(41)]}, "101 windows, and at most 100"),
])  # fmt: skip
def test_more_windows_than_can_be_asked_quickly_are_refused(found: dict[str, Any], says: str) -> None:
    assert says in GitOpsHistory().refused("application", "configure", APP, **found).message


def test_what_a_comparison_depends_on_is_compared_anew() -> None:
    desired, before = deployment(replicas=3), deployment(replicas=3, paused=True)
    applied = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps(before)}
    life = GitOpsHistory().observe(deployment(replicas=3, paused=True), desired=desired)
    assert life.states()[1] == "Synced"
    life.observe(deployment(replicas=3, paused=True, metadata={"annotations": applied}), desired=desired)
    assert life.states()[1] == "OutOfSync"  # what was applied last says that it was taken out of Git
    life.configure(ignore_differences=[{"group": "apps", "kind": "*", "jsonPointers": ["/spec/paused"]}])
    life.observe(deployment(replicas=3, paused=True, metadata={"annotations": applied}), desired=desired)
    assert life.states()[1] == "Synced"
    life.configure(ignore_differences=[{"group": "*", "kind": "*", "managedFieldsManagers": ["m"]}])
    for owner, state in (("n", "OutOfSync"), ("m", "Synced"), ("n", "OutOfSync")):
        fields = [{"manager": owner, "fieldsV1": {"f:spec": {"f:replicas": {}}}}]
        life.observe(deployment(replicas=7, metadata={"managedFields": fields}), desired=desired)
        assert life.states()[1] == state


def test_a_comparison_that_is_not_done_again_comes_to_the_same() -> None:
    life = GitOpsHistory().observe(rolled_out(availableReplicas=0), desired=deployment(replicas=4))
    first = life.attributes("resource", resource_id(deployment()))
    life.observe(rolled_out(availableReplicas=1), desired=deployment(replicas=4))
    assert life.states("resource", resource_id(deployment())) == ("Progressing", "OutOfSync")
    kept = life.attributes("resource", resource_id(deployment()))
    assert {name for name in first if first[name] != kept[name]} == {"health_message", "progress"}


def test_why_an_application_is_as_it_is() -> None:
    life = GitOpsHistory().observe(config("a", a="1"), desired=config("a", a="1")).lacks(config("b"))
    first = shown(life)
    assert first[:5] == [
        "application shop/shop", "├── health  Missing",
        "│   ├── to do: Synchronise, or apply the object again; look at who deleted it.",
        "│   ├── shown while the application's profile (or else the application_set's) is alauda or not set",
        "│   ├── and while a resource is Missing: 1 of 2 resources",
    ]  # fmt: skip
    life.configure(SET, profile="argocd").lacks(config("a", a="1"))
    told = "\n".join(shown(life))
    assert "shown while the application's profile (or else the application_set's) is argocd" in told
    assert "configure" in told


def shown(life: GitOpsHistory) -> list[str]:
    """The lines of the explanation, without times."""
    return [line.split("  since ")[0] for line in drawn(life.history, explanation(life.history, "application", APP))]
