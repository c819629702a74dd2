"""What edge hosting keeps beside states: whether components make a cluster Updating (docs/spec/edge-hosting.md)."""

from phaseline import testing
from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS

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
    asked.when("component", "create", "c/other").then_rejected("guard", "way out: wait")
    asked.when("node_pool", "create", "c/p").then("node_pool", "c/p", "Creating")
    asked.when("cluster", "update", "c").then("cluster", "c", "Updating", base="Updating")
