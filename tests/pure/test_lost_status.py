"""An object of a controller that loses its status, as after a restore that leaves it out: nothing is known of it then.

Belongs here: the law, for each kind of object that tells the state of an entity. Does not: what becomes of the
resources that an Application named (`test_argo_today`).
"""

from typing import Any

import pytest

from phaseline.engine.products.observe.observer import Observer
from phaseline.engine.products.observe.stream import ObjectChange
from phaseline.engine.surfaces.testing.histories import History, event
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.manifests import kubernetes_object

FLEET, ARGO = "fleet.cattle.io/v1alpha1", "argoproj.io/v1alpha1"
MARKS = {f"fleet.cattle.io/{name}": value for name, value in (
    ("bundle-name", "re-a"), ("repo-name", "re"), ("cluster", "c1"), ("cluster-namespace", "fd"),
)}  # fmt: skip
GOOD = {"type": "ResourcesUpToDate", "status": "True"}
ROLLS = {"type": "RolloutProgressing", "status": "True"}
FAILS = {"type": "ErrorOccurred", "status": "True", "message": "no such generator"}
APPLIED = {
    "appliedDeploymentID": "d1", "ready": True, "nonModified": True, "resourceCounts": {"ready": 1, "desiredReady": 1},
    "resources": [{"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "n", "name": "w"}],
}  # fmt: skip
LISTED = [{"kind": "Service", "name": "a", "namespace": "n", "status": "Synced", "health": {"status": "Healthy"}}]


class Seen:
    """What an observer told of some objects, decided."""

    def __init__(self) -> None:
        self.history, self.observer = History(BUILT_IN_KINDS), Observer("/o")

    def see(self, found: dict[str, Any]) -> "Seen":
        for told in self.observer.see(ObjectChange(found)):
            kind, _, trigger = told["type"].partition(".")
            step = self.history.take(event(kind, trigger, told["subject"].partition("/")[2], told.get("data")))
            assert step.accepted, step.records
        return self

    def shown(self, kind: str, entity_id: str) -> str:
        return str(self.history.tree.entities[kind][entity_id].facets[0].state)


def made(api: str, kind: str, name: str, **parts: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "argocd", **parts.pop("metadata", {})}
    return kubernetes_object(api, kind, metadata=metadata, **parts)


def app(**parts: Any) -> dict[str, Any]:
    return made(ARGO, "Application", "web", **parts)


def app_set(*conditions: dict[str, str]) -> dict[str, Any]:
    return made(ARGO, "ApplicationSet", "all", status={"conditions": [*conditions]})


def deployment(**status: Any) -> dict[str, Any]:
    ids = {"deploymentID": "d1", "stagedDeploymentID": "d1"}
    return made(FLEET, "BundleDeployment", "re-a", metadata={"labels": MARKS}, spec=ids, **status)


@pytest.mark.parametrize("status", [None, {}])
@pytest.mark.parametrize("anew", [False, True])
@pytest.mark.parametrize(("found", "named", "before", "after"), [
    (app(status={"sync": {"status": "Synced"}, "health": {"status": "Healthy"}}), "application web/web", "Healthy", "NotAssessed"),
    (app(status={"sync": {"status": "Synced"}, "health": {"status": "Healthy"}, "resources": LISTED}), "application web/web", "Healthy", "NotAssessed"),
    (app_set(GOOD), "application_set all", "Healthy", "NotAssessed"),
    (app_set(GOOD, ROLLS), "application_set all", "Progressing", "NotAssessed"),
    (app_set(FAILS), "application_set all", "Degraded", "NotAssessed"),
    (deployment(status=APPLIED), "bundle_deployment re/re-a/fd+c1", "Ready", "WaitApplied"),
    (deployment(status=APPLIED), "bundle re/re-a", "Ready", "WaitApplied"),
])  # fmt: skip
def test_of_what_has_lost_its_status_no_state_is_kept(
    found: dict[str, Any], named: str, before: str, after: str, status: dict[str, Any] | None, *, anew: bool
) -> None:
    kind, _, entity_id = named.partition(" ")
    seen = Seen().see(found)
    assert seen.shown(kind, entity_id) == before
    if anew:
        seen.observer = Observer("/o")
    rest = {name: value for name, value in found.items() if name != "status"}
    seen.see(rest if status is None else {**rest, "status": status})
    assert seen.shown(kind, entity_id) == after
    assert seen.see(found).shown(kind, entity_id) == before


def test_a_condition_that_is_gone_says_nothing_more() -> None:
    seen = Seen().see(app_set(GOOD, ROLLS))
    assert seen.shown("application_set", "all") == "Progressing"
    assert seen.see(app_set(GOOD)).shown("application_set", "all") == "Healthy"
    assert seen.see(app_set(GOOD, FAILS)).shown("application_set", "all") == "Degraded"
    assert seen.see(app_set(GOOD)).shown("application_set", "all") == "Healthy"


@pytest.mark.parametrize("kind", ["GitRepo", "HelmOp"])
def test_what_was_never_fetched_is_told_again_without_a_rejection(kind: str) -> None:
    said = {"conditions": [{"type": "Accepted", "status": "False", "message": "no such repository"}]}
    seen = Seen().see(made(FLEET, kind, "re", status=said))
    assert seen.shown("git_repo", "re") == "NotReady [Error]"
    seen.observer = Observer("/o")
    assert seen.see(made(FLEET, kind, "re", status=said)).shown("git_repo", "re") == "NotReady [Error]"
    assert seen.see(made(FLEET, kind, "re")).shown("git_repo", "re") == "Pending"
