"""The test kit's given / when / then: expectations that hold, and the texts of those that fail.

Belongs here: scenarios. Does not: the laws (`test_testing_laws`).
"""

from collections.abc import Callable
from datetime import UTC, datetime
from itertools import pairwise

import pytest

from phaseline.engine.surfaces.testing.scenario import START, Then
from phaseline.schemas.errors import EventRefused
from phaseline.schemas.records import Mark, State, nanoseconds
from phaseline.testing import given
from tests.support import sample_kinds
from tests.support.raising import raises
from tests.support.scenarios import KINDS, RUNNING, failure

# ---- given events


def test_events_lead_to_states() -> None:
    made = given(KINDS).event("cluster", "create", "c1").event("cluster", "created", "c1")
    after = made.when("node_pool", "create", "c1/p", {"autoscaling_mode": "Recycle"})
    after.then("node_pool", "c1/p", "Creating", conditions=["Progressing"], attributes={"autoscaling_mode": "Recycle"})
    after.then("cluster", "c1", "Updating [Progressing]", base="Running [Ok]").then_transitions(2)
    assert [(t.entity.id, t.cause.by) for t in after.transitions] == [("c1/p", "event"), ("c1", "tally")]
    assert after.rejection is None
    assert after.entity("cluster", "c1").facets[0].state == State("Updating", ("Progressing",))


def test_a_scenario_never_changes() -> None:
    deleted = RUNNING.when("cluster", "delete", "c1")
    deleted.then("node", "c1/p/n1", "Deleting")
    RUNNING.when("node", "error", "c1/p/n1").then("node", "c1/p/n1", "Failed").then("cluster", "c1", "Failed")
    assert RUNNING.entity("node", "c1/p/n1").facets[0].state.phase == "Running"
    deleted.event("node", "deleted", "c1/p/n1").when("node", "deleted", "c1/p/n1").then_nothing()
    deleted.then("node", "c1/p/n1", "Deleting")


def test_the_last_event_is_the_one_that_the_test_is_about() -> None:
    after = RUNNING.when("node", "error", "c1/p/n1").then_transitions(3).when("node", "error", "c1/p/n1").then_nothing()
    assert after.records == ()
    deleted = after.when("cluster", "delete", "c1")
    assert len(deleted.records) == 3
    assert deleted.later(minutes=1).then_nothing().records == ()


def test_a_rejected_given_event_fails_at_once() -> None:
    said = failure(lambda: RUNNING.event("cluster", "create", "c1", {"reason": "Why"}, sequence=3))
    assert said.startswith(
        'expected the given event cluster create c1 {"reason": "Why"} #3 to be accepted; it is rejected as illegal\n\n'
        'cluster create c1 {"reason": "Why"} #3 made:\n'
        "  cluster c1: create rejected as illegal, cluster c1 is Running [Ok]: create is not legal there, it needs Absent, "
        "Deleted or Creating [Stalled] (legal: update"
    )
    assert "unknown_trigger" in failure(lambda: RUNNING.event("cluster", "crate", "c1"))
    with raises(EventRefused.unsendable):
        RUNNING.event("cluster", "create", "c1//x")


# ---- then


def test_the_text_of_a_wrong_state() -> None:
    after = RUNNING.state("component", "c1/dns", "Running").when("cluster", "overdue", "c1")
    assert failure(lambda: after.then("node_pool", "c1/p", "Running")).splitlines() == [
        "expected node_pool c1/p to be Running; it is Failed [ClusterNotRunning]",
        "",
        "cluster overdue c1 made:",
        "  cluster c1: Running [Ok] -> Stopped [Balance] by overdue",
        "  node_pool c1/p: Running [Ok] -> Failed [ClusterNotRunning] by overdue (view of cluster/c1)",
        "  component c1/dns: Running [Ok] -> Failed [ClusterNotRunning] by overdue (view of cluster/c1)",
        "the tree now:",
        "  cluster c1  Stopped [Balance]",
        "    component c1/dns  Failed [ClusterNotRunning] (base Running [Ok])",
        "    node_pool c1/p  Failed [ClusterNotRunning] (base Running [Ok])",
        "      node c1/p/n1  Running [Ok]",
    ]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda t: t.then("cluster", "c1", "Failed [Balance]"), "cluster c1 to be Failed [Balance]; it is Failed [Unknown]"),
        (lambda t: t.then("cluster", "c1", "Failed", conditions=()), "cluster c1 to be Failed; it is Failed [Unknown]"),
        (lambda t: t.then("cluster", "c1", "Failed", base="Running"), "cluster c1 to have the base Running; its base is Fai"),
        (lambda t: t.then("cluster", "c2", "Running"), "cluster c2 to be Running; it is Absent"),
        (lambda t: t.then("node_pool", "c1/p", "Running", attributes={"default": True}), "node_pool c1/p to have default true; it has {}"),
        (lambda t: t.then_rejected(), "cluster error c1 to be rejected; it made 1 transition"),
        (lambda t: t.then_rejected("guard", "needs"), "cluster error c1 to be rejected as guard with the message 'needs'; it made"),
        (lambda t: t.then_nothing(), "cluster error c1 to have no effect; it made 1 transition"),
        (lambda t: t.then_transitions(2), "cluster error c1 to make 2 transitions; it made 1 transition"),
        (lambda t: t.when("cluster", "create", "c1").then_nothing(), "cluster create c1 to have no effect; it is rejected as illegal"),
        (lambda t: t.when("cluster", "create", "c1").then_rejected("guard"), "cluster create c1 to be rejected as guard; it is rejected as illegal"),
        (lambda t: t.when("cluster", "create", "c1").then_rejected(message="nope"), "cluster create c1 to be rejected with the message 'nope'; it is"),
        (lambda t: t.when("cluster", "error", "c1").then_transitions(1), "cluster error c1 to make 1 transition; it had no effect"),
    ],
)  # fmt: skip
def test_a_failure_names_the_expected_and_the_actual_result(call: Callable[[Then], object], says: str) -> None:
    after = RUNNING.when("cluster", "error", "c1")
    said = failure(lambda: call(after))
    assert said.startswith(f"expected {says}")
    assert "the tree now:\n  cluster c1  Failed [Unknown]\n    node_pool c1/p  Running [Ok]" in said


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda t: t.then("clutter", "c1", "Running"), "kind 'clutter' is unknown; there are cluster, node_pool"),
        (lambda t: t.then("cluster", "c1/p", "Running"), "the id 'c1/p' does not fit cluster"),
        (lambda t: t.then("cluster", "c1", "Runing"), "cluster has no state 'Runing'; it has Absent, Creating"),
        (
            lambda t: t.then("cluster", "c1", "Failed [Balanc]"),
            "cluster has no condition 'Balanc'; it has AllFailed, Balance",
        ),
        (lambda t: t.then("cluster", "c1", "Failed [Balance"), "'Failed [Balance' is not a state: write"),
        (lambda t: t.then("cluster", "c1", "Running", facet="face"), "cluster has no facet 'face'; it has phase"),
        (lambda t: t.entity("cluster", "c1/p"), "the id 'c1/p' does not fit cluster"),
        (
            lambda t: t.at("2026-03-01T08:00:00"),
            "a moment must be RFC 3339 with an offset, such as 2026-01-01T00:00:00Z; found",
        ),
    ],
)
def test_a_wrong_test_fails_with_the_known_names(call: Callable[[Then], object], says: str) -> None:
    assert failure(lambda: call(RUNNING.when("cluster", "error", "c1"))).startswith(f"the test is wrong: {says}")


def test_an_entity_that_is_unknown() -> None:
    assert failure(lambda: given(KINDS).entity("cluster", "c1")) == "cluster c1 is unknown\n\nthe tree is empty"


def test_a_failure_lists_a_limited_number_of_records_and_entities() -> None:
    many = RUNNING
    for number in range(60):
        many = many.event("node", "adopt", f"c1/p/m{number}", {"phase": "Running"})
    said = failure(many.when("cluster", "delete", "c1").then_nothing)
    made, _, tree = said.partition("the tree now:\n")
    assert made.endswith("  ... and 23 more\n")
    assert tree.endswith("  ... and 23 more")
    assert len(tree.splitlines()) == 41


def test_facets_by_name() -> None:
    after = given(sample_kinds.KINDS).event("orchard", "plant", "o").when("orchard", "drought", "o")
    after.then("orchard", "o", "Resting", base="Growing").then("orchard", "o", "Dry", facet="water")
    said = failure(lambda: after.then("orchard", "o", "Open", facet="water"))
    assert said.startswith("expected orchard o water to be Open; it is Dry [Ok]\n")
    assert "  orchard o water: Open [Ok] -> Dry [Ok] by drought\n" in said
    assert "  orchard o  season Resting [Ok] (base Growing [Ok]); water Dry [Ok]" in said
    said = failure(lambda: after.then("orchard", "o", "Dry", facet="season"))
    assert said.startswith("the test is wrong: orchard season has no state 'Dry'; it has Absent, Growing")


def test_a_failure_names_a_base_that_changed_under_a_view() -> None:
    after = RUNNING.state("cluster", "c1", "Stopped").when("node_pool", "error", "c1/p")
    said = failure(lambda: after.then_transitions(2))
    assert "node_pool c1/p: Failed [ClusterNotRunning] -> Failed [Unknown, ClusterNotRunning] by error\n" in said


# ---- details and time


def test_repeats_are_known_by_their_sequence() -> None:
    after = RUNNING.event("node", "error", "c1/p/n1", source="/a", sequence=5)
    after.when("node", "recovered", "c1/p/n1", source="/a", sequence=5).then_nothing()
    after.when("node", "recovered", "c1/p/n1", source="/b", sequence=5).then_transitions(3)
    marked = after.when("node", "error", "c1/p/n1", source="/a", sequence=6).then_nothing()
    assert [type(record) for record in marked.records] == [Mark]
    assert marked.entity("node", "c1/p/n1").sequences == {"/a": 6}
    said = failure(lambda: marked.then_transitions(1))
    assert "node c1/p/n1: only the sequence is remembered, {'/a': 6}" in said


def test_details_are_in_the_records() -> None:
    after = RUNNING.when(
        "node", "error", "c1/p/n1", {"reason": "R"}, source="/me", event_id="x", time="2026-03-01T08:00:00+01:00"
    )
    record, *_ = after.transitions
    assert (record.cause.source, record.cause.event) == ("/me", "x")
    assert record.cause.time_text == "2026-03-01T08:00:00+01:00"
    assert (record.reason, record.cause.sequence) == ("R", 3)


def test_the_test_sets_the_time() -> None:
    start = given(KINDS).when("cluster", "create", "c1")
    second = start.when("cluster", "created", "c1")
    moments = [start, second, second.later(minutes=5).when("cluster", "error", "c1")]
    moments += [start.at("2026-03-01T08:00:00Z").when("cluster", "created", "c1")]
    moments += [start.at(datetime(2026, 3, 1, 8, tzinfo=UTC)).later(hours=1.5).when("cluster", "created", "c1")]
    found = [then.transitions[0].time_ns for then in moments]
    assert [(b - a) / 1e9 for a, b in pairwise(found[:3])] == [1, 300]
    assert found[0] == nanoseconds(START)
    assert start.transitions[0].cause.time_text == "2026-01-01T00:00:00.000000000Z"
    assert found[3:] == [nanoseconds("2026-03-01T08:00:00Z"), nanoseconds("2026-03-01T09:30:00Z")]
    assert start.later(seconds=0.5, days=1).clock - start.now == 86_400_500_000_000
