"""What an application and its set say of what is not known (docs/spec/gitops.md, Roll-up)."""

import itertools
from typing import Any

import pytest

from phaseline.engine.products.gitops import assess
from tests.support.gitops_history import APP, SET, GitOpsHistory, messages, resource_id
from tests.support.manifests import deployment, kubernetes_object

OUT = {"observedGeneration": 1, "replicas": 3, "updatedReplicas": 3, "availableReplicas": 3}


def rolled_out() -> dict[str, Any]:
    return {**deployment(replicas=3), "status": OUT}


def config(name: str) -> dict[str, Any]:
    return kubernetes_object("v1", "ConfigMap", metadata={"name": name})


def test_nothing_known_is_never_the_best_state() -> None:
    life = GitOpsHistory().configure(APP)
    assert life.states() == life.states("application_set", SET) == ("NotAssessed", "NotCompared")
    life.observe(config("a"))
    assert life.states() == life.states("application_set", SET) == ("NotAssessed", "NotCompared")
    life.observe(rolled_out(), desired=deployment(replicas=3))
    assert life.states() == life.states("application_set", SET) == ("Healthy", "Synced")


def test_what_the_controller_says_of_the_whole_is_known() -> None:
    life = GitOpsHistory().do("application", "observed", APP, reported_health="Healthy", reported_sync="Synced")
    assert life.states() == life.states("application_set", SET) == ("Healthy", "Synced")
    step = life.say("application", "observed", APP, reported_health="Degraded", reported_sync="OutOfSync")
    assert life.states() == ("Degraded", "OutOfSync")
    assert messages(step)["application health"] == "its controller says Degraded, and no reason"
    assert messages(step)["application sync"] == "its controller says OutOfSync, and no reason"
    life.do("application", "observed", APP)
    assert life.states() == ("NotAssessed", "NotCompared")


def test_every_unknown_has_a_message() -> None:
    life = GitOpsHistory().configure(APP)
    step = life.say("application", "observed", APP, reported_health="Unknown", sync_unknown=True)
    assert life.states() == ("Unknown", "Unknown")
    assert messages(step)["application health"] == "its controller says Unknown, and no reason"
    assert messages(step)["application sync"] == "its controller does not know whether it matches Git"
    step = life.say("application", "observed", APP, spec_invalid=True, sync_message="no destination")
    assert messages(step)["application health"] == "no destination"


def test_what_has_no_status_takes_no_part_in_the_health_of_its_application() -> None:
    life = GitOpsHistory().observe(config("a"), desired=config("a"))
    assert life.states("resource", resource_id(config("a"))) == ("NoHealth", "Synced")
    assert life.states() == ("NotAssessed", "Synced")
    for profile in ("argocd", "argocd-3.3"):
        life.configure(APP, profile=profile)
        assert life.states() == ("Healthy", "Synced")
    life.do("application", "observed", APP, reported_health="Degraded")
    assert life.states()[0] == "Degraded"
    life.do("application", "observed", APP).configure(APP, profile="argocd").lacks(config("b"))
    assert life.states()[0] == "Healthy"
    life.configure(APP, profile="alauda")
    assert life.states()[0] == "Missing"


def test_an_observer_says_that_a_kind_has_no_status() -> None:
    widget = kubernetes_object("acme.dev/v1", "Widget")
    life = GitOpsHistory().observe(widget)
    assert life.states("resource", resource_id(widget))[0] == "NotAssessed"
    life.observe(widget, kind_facts={"status": True})
    assert life.states("resource", resource_id(widget))[0] == "NotAssessed"
    life.observe(widget, kind_facts={"status": False})
    assert life.states("resource", resource_id(widget))[0] == "NoHealth"
    life.observe({**widget, "status": {"phase": "Failed"}}, kind_facts={"status": False})
    assert life.states("resource", resource_id(widget))[0] == "Degraded"


# ---- the command and the workers


def in_cluster(kind: str, name: str) -> dict[str, Any]:
    api = {"Deployment": "apps/v1", "Application": "argoproj.io/v1alpha1", "ConfigMap": "v1"}.get(kind, "acme.io/v1")
    app = {"health": {"status": "Missing"}}
    status: dict[str, Any] = {"Deployment": {"availableReplicas": 0}, "Application": app, "Widget": {"blades": 3}}
    found = kubernetes_object(api, kind, metadata={"name": name, "namespace": "shop"})
    return {**found, "status": status[kind]} if kind in status else found


@pytest.mark.parametrize(
    "kinds", [*itertools.combinations_with_replacement(("Deployment", "Application", "ConfigMap", "Widget"), 2)]
)
@pytest.mark.parametrize("missing", [(), ("a",), ("a", "b")])
def test_what_the_command_says_of_a_whole_the_workers_say(kinds: tuple[str, str], missing: tuple[str, ...]) -> None:
    git = [in_cluster(kind, name) for kind, name in zip(kinds, "ab", strict=True)]
    live = [one for one in git if one["metadata"]["name"] not in missing]
    life = GitOpsHistory().do("application", "configure", "s/a")
    for one in git:
        end = f"{one['apiVersion'].rpartition('/')[0] or 'core'}:{one['kind']}/shop/{one['metadata']['name']}"
        life.do("resource", "observed", f"s/a/{end}", live=one if one in live else None, desired=one)
    whole = assess.assess_all(live, git).whole
    assert life.states("application", "s/a") == (whole.health, whole.sync)
