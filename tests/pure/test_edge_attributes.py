"""What edge hosting keeps beside states: what is Updating, what goes with a deletion."""

from typing import Any

import pytest

from phaseline import testing
from phaseline.engine.surfaces.cli import render
from tests.support import edge_worlds
from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS
from tests.support.explanations import explanation
from tests.support.strategies import event, play

RUNNING = testing.given(KINDS).event("cluster", "create", "c").event("cluster", "created", "c")
WITH_COMPONENTS = {"updating_with_components": True}


def phase(given: testing.Given, kind: str = "cluster", entity_id: str = "c") -> str:
    return given.entity(kind, entity_id).facets[0].state.phase


def test_components_leave_their_cluster_as_it_is() -> None:
    installing = RUNNING.event("component", "create", "c/dns")
    assert phase(installing) == "Running"
    updating = installing.event("component", "created", "c/dns").event("component", "update", "c/dns")
    assert phase(updating) == "Running"


def test_a_cluster_is_updating_with_its_components_where_it_was_asked_to() -> None:
    asked = testing.given(KINDS).event("cluster", "create", "c", WITH_COMPONENTS).event("cluster", "created", "c")
    installing = asked.event("component", "create", "c/dns")
    assert phase(installing) == "Updating"
    installed = installing.event("component", "created", "c/dns")
    assert phase(installed) == "Running"
    updating = installed.event("component", "update", "c/dns")
    assert phase(updating) == "Updating"
    assert phase(updating.event("component", "error", "c/dns")) == "Running"
    stalled = installed.when("component", "update", "c/dns").later(hours=1)
    stalled.then("component", "c/dns", "Updating", conditions=("Progressing", "Stalled")).then(
        "cluster", "c", "Running"
    )


def test_it_can_be_asked_for_and_taken_back_while_a_component_is_busy() -> None:
    asked = RUNNING.event("component", "create", "c/dns").event("cluster", "configure", "c", WITH_COMPONENTS)
    assert phase(asked) == "Updating"
    assert phase(asked.event("cluster", "configure", "c", {"updating_with_components": False})) == "Running"


def test_a_request_is_judged_by_what_is_shown() -> None:
    asked = RUNNING.event("cluster", "configure", "c", WITH_COMPONENTS).event("component", "create", "c/dns")
    asked.when("component", "create", "c/other").then_rejected("guard", "needs Running or AllFailed")
    asked.when("node_pool", "create", "c/p").then("node_pool", "c/p", "Creating")
    asked.when("cluster", "update", "c").then("cluster", "c", "Updating", base="Updating")


# ---- what else goes along with what is deleted, and what of it could not


def kept(given: testing.Given, kind: str, entity_id: str) -> dict[str, Any]:
    attributes = given.entity(kind, entity_id).attributes
    return {name: attributes[name] for name in ("resources", "failed_resources") if name in attributes}


THINGS = [("cluster", "c"), ("node_pool", "c/p"), ("node", "c/p/n"), ("component", "c/dns")]


@pytest.mark.parametrize(("kind", "entity_id"), THINGS)
def test_a_deletion_keeps_what_goes_along_and_what_could_not(kind: str, entity_id: str) -> None:
    living = testing.given(KINDS)
    for one, at in THINGS:
        living = living.event(one, "adopt", at, {"phase": "Running"})
    deleting = living.event(kind, "delete", entity_id, {"resources": ["lb-1", "nat-2"]})
    assert kept(deleting, kind, entity_id) == {"resources": ["lb-1", "nat-2"]}
    failed = deleting.event(kind, "cleanup_failed", entity_id, {"failed_resources": ["nat-2"], "message": "in use"})
    assert kept(failed, kind, entity_id) == {"resources": ["lb-1", "nat-2"], "failed_resources": ["nat-2"]}
    assert str(failed.entity(kind, entity_id).facets[0].base) == "Failed [ResourceCleanupFailed]"
    again = failed.event(kind, "delete", entity_id, {"resources": ["nat-2"]})
    assert kept(again, kind, entity_id) == {"resources": ["nat-2"]}
    failed_again = again.event(kind, "cleanup_failed", entity_id)
    assert kept(failed_again, kind, entity_id) == {"resources": ["nat-2"]}
    assert kept(failed_again.event(kind, "delete", entity_id), kind, entity_id) == {}


def test_what_could_not_be_removed_is_no_request() -> None:
    RUNNING.when("cluster", "delete", "c", {"failed_resources": ["lb-1"]}).then_rejected("invalid")
    RUNNING.when("cluster", "configure", "c", {"resources": ["lb-1"]}).then_rejected("invalid")
    RUNNING.when("cluster", "delete", "c", {"resources": "lb-1"}).then_rejected("invalid")


def test_why_names_them() -> None:
    sent = [
        event("cluster", "adopt", "c", {"phase": "Running"}),
        event("cluster", "delete", "c", {"resources": ["lb-1", "nat-2"]}),
    ]
    (deleting, *_) = explanation(play(edge_worlds.KINDS, sent), "cluster", "c").facets
    assert deleting.evidence == ({"condition": "the cluster's resources", "status": "lb-1, nat-2"},)
    sent.append(event("cluster", "cleanup_failed", "c", {"failed_resources": ["nat-2"]}))
    (failed, *_) = explanation(play(edge_worlds.KINDS, sent), "cluster", "c").facets
    assert failed.evidence == ({"condition": "the cluster's failed_resources", "status": "nat-2"},)
    assert render.evidence(failed.evidence[0]) == "the cluster's failed_resources is nat-2"
    sent.append(event("cluster", "reported", "c", {"phase": "Running"}))
    (running, *_) = explanation(play(edge_worlds.KINDS, sent), "cluster", "c").facets
    assert running.evidence == ()
