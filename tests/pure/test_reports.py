"""One entity as its reporter sees it: `reported`, `deleted` without a request, `asked` and `unasked`.

Belongs here: docs/reports.md, section by section, on single events. Does not: snapshots (`test_snapshots`), laws over
random histories (`test_report_laws`).
"""

import re
from typing import Any

import pytest
from msgspec.structs import replace

from phaseline import testing
from phaseline.machines.built_in import PRODUCTS
from phaseline.machines.compiler.checks import WrongTable
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.table import ABSENT, DELETED, LIVE, SAME, Facet, Label, Row, Table
from phaseline.schemas import wire_codec
from phaseline.schemas.records import Rejection, Transition, own_facets
from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS

CLUSTER = testing.given(KINDS).state("cluster", "c", "Running")
POOL = CLUSTER.state("node_pool", "c/p", "Running")
N = "c/p/n"


def created() -> testing.Given:
    """A node that was created by event 3, the last one."""
    return POOL.event("node", "create", N)


def asked(given: testing.Given, kind: str = "node", entity_id: str = N) -> int:
    return given.entity(kind, entity_id).asked


def report(given: testing.Given, phase: str, kind: str = "node", entity_id: str = N, **data: Any) -> testing.Then:
    return given.when(kind, "reported", entity_id, {"phase": phase, **data})


def base(given: testing.Given | testing.Then, kind: str = "node", entity_id: str = N) -> str:
    found = given.tree.get(kind, entity_id)
    return "unknown" if found is None else str(found.facets[0].base)


def moves(then: testing.Then) -> list[tuple[str, bool]]:
    """The states after it and `unasked`, of the records of nodes."""
    return [(str(record.after), record.unasked) for record in then.transitions if record.entity.kind == "node"]


def refusal(then: testing.Then) -> Rejection:
    assert then.rejection is not None
    return then.rejection


# ---- an unknown entity, a deleted one


def test_an_unknown_entity_is_adopted_with_its_ancestors() -> None:
    then = report(testing.given(KINDS), "Failed", conditions=["NotReady"], reason="KubeletStopped", message="no lease")
    assert [(r.entity.kind, r.trigger, str(r.after), r.unasked) for r in then.transitions] == [
        ("cluster", "adopt", "Failed [AllFailed]", False),
        ("node_pool", "adopt", "Failed [AllFailed]", False),
        ("node", "reported", "Failed [NotReady]", False),
    ]
    assert (then.transitions[-1].reason, then.transitions[-1].message) == ("KubeletStopped", "no lease")
    assert asked(testing.Given(then.kinds, then.tree, 0, 0, 9, frozenset())) == 0


def test_an_unknown_entity_that_is_not_there_is_no_news() -> None:
    assert report(testing.given(KINDS), DELETED).records == ()
    assert report(testing.given(KINDS), DELETED, "app_cluster", "r/c/a/p").records == ()


def test_below_a_deleted_parent_nothing_is_adopted() -> None:
    gone = CLUSTER.event("cluster", "deleted", "c")
    assert refusal(report(gone, "Running")).reason == "unknown_parent"


def test_a_deleted_entity_comes_back_only_by_a_report_that_knows_of_its_deletion() -> None:
    gone = created().event("node", "created", N).event("node", "deleted", N)
    sequence = asked(gone)
    assert sequence == gone.position - 1
    stale = refusal(report(gone, "Running", seen=sequence - 1))
    assert stale.reason == "stale"
    assert f"deleted by event {sequence}" in stale.message
    assert refusal(report(gone, "Running")).reason == "stale"
    assert report(gone, DELETED).records == ()
    then = report(gone, "Running", seen=sequence)
    assert moves(then) == [("Running [Ok]", True)]


def test_a_report_that_may_be_older_does_not_undo_a_deletion_that_waits() -> None:
    """From Deleting, arrears could stop a cluster and end: but that answers another request."""
    asked_to_go = CLUSTER.event("cluster", "delete", "c")
    assert report(asked_to_go, "Running", "cluster", "c").records == ()
    seen = asked(asked_to_go, "cluster", "c")
    then = report(asked_to_go, "Running", "cluster", "c", seen=seen)
    assert [str(one.after) for one in then.transitions if one.entity.kind == "cluster"] == ["Running [Ok]"]


def test_a_deletion_by_a_cascade_is_remembered_as_well() -> None:
    gone = created().event("node", "created", N).event("cluster", "deleted", "c").event("cluster", "create", "c")
    assert asked(gone) == gone.position - 2


# ---- what is already so


@pytest.mark.parametrize(
    "data",
    [{"phase": "Running"}, {"phase": "Running", "conditions": ["Ok"]}, {"phase": "Running", "conditions": []}],
)
def test_what_is_already_so_makes_no_record(data: dict[str, Any]) -> None:
    running = POOL.state("node", N, "Running")
    assert running.when("node", "reported", N, data).records == ()


def test_the_order_of_conditions_does_not_matter() -> None:
    failed = POOL.state("node", N, "Failed", conditions=["NotReady", "Balance"])
    assert report(failed, "Failed", conditions=["Balance", "NotReady"]).records == ()
    assert [str(r.after) for r in report(failed, "Failed", conditions=["Balance"]).transitions] == ["Failed [Balance]"]


def test_a_repeat_of_a_numbered_report_is_remembered_by_a_mark() -> None:
    running = POOL.state("node", N, "Running")
    then = running.when("node", "reported", N, {"phase": "Running"}, sequence=7)
    assert then.tree.entities["node"][N].sequences == {"/test": 7}


# ---- pending bases


def test_a_lost_created_is_made_good() -> None:
    then = report(created(), "Running")
    assert moves(then) == [("Running [Ok]", False)]
    assert then.transitions[0].trigger == "reported"


def test_several_observations_may_be_lost() -> None:
    assert moves(report(created(), "Failed", conditions=["NotReady"])) == [("Failed [NotReady]", True)]


def test_a_report_that_may_be_older_than_the_request_is_no_news() -> None:
    deleting = created().event("node", "created", N).event("node", "delete", N)
    assert report(deleting, "Running").records == ()
    for seen in (0, asked(deleting) - 1):
        assert report(deleting, "Running", seen=seen).records == ()
    assert moves(report(deleting, "Running", seen=asked(deleting))) == [("Running [Ok]", True)]


def test_a_cascade_of_an_intent_asks_too() -> None:
    deleting = created().event("node", "created", N).event("node_pool", "delete", "c/p")
    assert base(deleting) == "Deleting [Progressing]"
    assert asked(deleting) == asked(deleting, "node_pool", "c/p") == deleting.position - 1
    assert report(deleting, "Running", seen=asked(deleting) - 1).records == ()


def test_an_observation_asks_nothing() -> None:
    failed = created().event("node", "created", N).event("node", "not_ready", N)
    assert asked(failed) == failed.position - 3


def test_what_nobody_asked_for_is_not_waited_for() -> None:
    adopted = POOL.event("node", "adopt", N, {"phase": "Deleting"})
    assert moves(report(adopted, "Running")) == [("Running [Ok]", True)]


# ---- any other base


def test_any_other_base_becomes_what_was_reported() -> None:
    stopped = POOL.state("node", N, "Stopped")
    assert moves(report(stopped, "Running")) == [("Running [Ok]", True)]
    explained = report(POOL.state("node", N, "Running"), "Failed", conditions=["NotReady"])
    assert moves(explained) == [("Failed [NotReady]", False)]


def test_conditions_that_stand_across_phases_stay_where_none_are_named() -> None:
    updating = POOL.state("node", N, "Updating", conditions=["Unschedulable", "Progressing"])
    assert base(report(updating, "Running")) == "Running [Unschedulable]"
    assert base(report(updating, "Running", conditions=["Ok"])) == "Running [Unschedulable]"
    assert base(report(updating, "Running", about=["Unschedulable"])) == "Running [Ok]"


@pytest.mark.parametrize(
    "data",
    [
        {"phase": "Failed"},
        {"phase": "Running", "conditions": ["NotReady"]},
        {"phase": "Nonsense"},
        {"phase": ABSENT},
        {"conditions": ["Ok"]},
        {"phase": "Running", "seen": -1},
        {"phase": "Running", "seen": "3"},
        {"phase": "Running", "seen": 10**6},
    ],
)
def test_what_cannot_be_so_is_invalid(data: dict[str, Any]) -> None:
    stopped = POOL.state("node", N, "Stopped")
    assert refusal(stopped.when("node", "reported", N, data)).reason == "invalid"


def test_a_report_has_not_seen_itself() -> None:
    stopped = POOL.state("node", N, "Stopped")
    assert refusal(report(stopped, "Running", seen=stopped.position)).reason == "invalid"
    assert report(stopped, "Running", seen=stopped.position - 1).rejection is None


# ---- attributes, views


def test_attributes_come_with_it() -> None:
    pool = report(CLUSTER, "Running", "node_pool", "c/q", autoscaling_mode="Recycle")
    assert pool.tree.entities["node_pool"]["c/q"].attributes == {"autoscaling_mode": "Recycle"}


def test_the_part_that_a_view_explains_is_left_out_of_the_base() -> None:
    down = CLUSTER.state("node_pool", "c/p", "Running").event("cluster", "overdue", "c")
    assert str(down.entity("node_pool", "c/p").facets[0].state) == "Failed [ClusterNotRunning]"
    assert report(down, "Failed", "node_pool", "c/p", conditions=["ClusterNotRunning"]).records == ()
    both = report(down, "Failed", "node_pool", "c/p", conditions=["ClusterNotRunning", "Unknown"])
    assert base(both, "node_pool", "c/p") == "Failed [Unknown]"
    [record] = both.transitions
    assert str(record.after) == "Failed [Unknown, ClusterNotRunning]"
    assert (
        base(report(down, "Failed", "node_pool", "c/q", conditions=["ClusterNotRunning"]), "node_pool", "c/q")
        == "Running [Ok]"
    )
    up = CLUSTER.state("node_pool", "c/p", "Running")
    assert refusal(report(up, "Failed", "node_pool", "c/p", conditions=["ClusterNotRunning"])).reason == "invalid"


# ---- deleted


@pytest.mark.parametrize("phase", ["Running", "Updating", "Starting", "Stopping", "Stopped", "Deleting"])
@pytest.mark.parametrize("trigger", ["deleted", "reported"])
def test_deleted_needs_no_request(phase: str, trigger: str) -> None:
    data = {"phase": DELETED} if trigger == "reported" else {}
    then = POOL.state("node", N, phase).when("node", trigger, N, data)
    assert moves(then) == [(DELETED, phase != "Deleting")]


def test_what_is_being_created_ends_only_by_a_report_that_knows_of_the_request() -> None:
    creating = created()
    known = asked(creating)
    assert refusal(creating.when("node", "deleted", N, {"seen": known - 1})).reason == "stale"
    assert refusal(creating.when("node", "deleted", N)).reason == "illegal"
    assert refusal(report(creating, DELETED, seen=known - 1)).reason == "stale"
    assert report(creating, DELETED).records == ()
    for then in (creating.when("node", "deleted", N, {"seen": known}), report(creating, DELETED, seen=known)):
        assert moves(then) == [(DELETED, True)]
    assert refusal(creating.when("node", "deleted", N, {"seen": creating.position})).reason == "invalid"
    assert refusal(creating.when("node", "deleted", N, {"recent": True})).reason == "illegal"


def test_what_is_below_goes_with_it() -> None:
    then = report(POOL.state("node", N, "Running"), DELETED, "cluster", "c")
    assert {(r.entity.kind, str(r.after), r.trigger, r.unasked) for r in then.transitions} == {
        ("cluster", DELETED, "reported", True),
        ("node_pool", DELETED, "owner_gone", False),
        ("node", DELETED, "owner_gone", False),
    }


# ---- every kind


@pytest.mark.parametrize(("kind", "phase", "rest"), [
    ("resource", "Healthy", {"sync": "NotCompared"}),
    ("rsync_resource", "Applied", {"cluster": "Unknown", "health": "NotAssessed"}),
])  # fmt: skip
def test_a_report_speaks_of_the_first_facet(kind: str, phase: str, rest: dict[str, str]) -> None:
    entity_id = "/".join("abcdefgh"[: KINDS[kind].arity])
    start = testing.given(KINDS)
    if kind == "rsync_resource":
        start = start.event("emco_resource", "create", "a").event("app_context", "create", "a/b")
    then = report(start, phase, kind, entity_id)
    found = then.tree.entities[kind][entity_id]
    _, *others = zip(found.names, own_facets(found), strict=False)
    assert {name: facet.base.phase for name, facet in others} == rest
    assert found.facets[0].base.phase == phase
    gone = start.event(kind, "reported", entity_id, {"phase": phase}).when(
        kind, "reported", entity_id, {"phase": DELETED}
    )
    ends = {DELETED} if kind == "resource" else {"Pending", *rest.values()}  # the orchestrator wants it there
    assert {f.base.phase for f in own_facets(gone.tree.entities[kind][entity_id])} == ends


def test_reports_of_a_set_without_a_phase_mean_what_they_meant() -> None:
    there = testing.given(KINDS).event("application_set", "configure", "s", {"profile": "argocd"})
    then = there.when("application_set", "reported", "s", {"error_occurred": True})
    assert [str(r.after) for r in then.transitions] == ["Degraded"]
    assert report(then, "NotAssessed", "application_set", "s", error_occurred=False).transitions != ()
    then = report(there, DELETED, "application_set", "s")
    assert str(then.tree.entities["application_set"]["s"].facets[0].state) == DELETED


# ---- a kind of one's own


def lamp(*rows: Row, pending: tuple[str, ...]) -> Table:
    labels = [Label(phase, None, phase, state_class="busy") for phase in ("Wiring", "Lit", "Dimming")]
    every = (Row((ABSENT, DELETED), "wire", "Wiring"), Row(("Lit",), "dim", "Dimming"), *rows)
    facet = Facet("phase", tuple(labels), every, healthy="Lit", pending=pending)
    return Table(kind="lamp", id=("lamp",), facets=(facet,), intents=("wire", "dim"))


LAMP = lamp(
    Row(("Wiring",), "wired", "Lit"), Row(("Dimming",), "deleted", DELETED), pending=("Wiring", "Dimming")
)  # fmt: skip


def test_a_kind_of_ones_own_gets_reports_by_naming_its_pending_phases() -> None:
    wiring = testing.given(LAMP).event("lamp", "wire", "l")
    assert [str(r.after) for r in report(wiring, "Lit", "lamp", "l").transitions] == ["Lit"]
    assert report(wiring, "Dimming", "lamp", "l").records == ()
    lit = wiring.event("lamp", "wired", "l")
    assert [(str(r.after), r.unasked) for r in lit.when("lamp", "deleted", "l").transitions] == [(DELETED, True)]
    dimming = lit.event("lamp", "dim", "l")
    assert [(str(r.after), r.unasked) for r in dimming.when("lamp", "deleted", "l").transitions] == [(DELETED, False)]
    assert refusal(wiring.when("lamp", "deleted", "l")).reason == "illegal"
    assert wiring.when("lamp", "deleted", "l", {"seen": 1}).rejection is None


def test_without_pending_phases_reports_are_taken_at_once() -> None:
    table = lamp(
        Row(("Wiring",), "wired", "Lit"), Row((LIVE,), "deleted", DELETED), Row(("Dimming",), "lit", "Lit"), pending=()
    )
    wiring = testing.given(table).event("lamp", "wire", "l")
    assert [str(r.after) for r in report(wiring, "Dimming", "lamp", "l").transitions] == ["Dimming"]


@pytest.mark.parametrize(
    ("rows", "pending", "says"),
    [
        ((Row((LIVE,), "burnt", DELETED),), ("Burning",), "phase Burning in pending= is unknown"),
        (
            (Row(("Wiring",), "wired", "Lit"), Row(("Dimming",), "dimmed", DELETED)),
            ("Wiring", "Lit"),
            "no observation leads out of Lit",
        ),
    ],
)
def test_a_pending_phase_that_no_report_can_end_is_refused(
    rows: tuple[Row, ...], pending: tuple[str, ...], says: str
) -> None:
    with pytest.raises(WrongTable, match=says):
        Kinds((lamp(*rows, pending=pending),), products=PRODUCTS)


# ---- on the wire


def test_old_records_have_neither_word() -> None:
    then = created().when("node", "created", N)
    [record] = [r for r in then.transitions if r.entity.kind == "node"]
    body = wire_codec.write(record, 0, 1, "phaseline/pl")
    assert b"unasked" not in body
    read = wire_codec.read(body)
    assert isinstance(read, Transition)
    assert replace(read, entity=KINDS["node"].whole(read.entity)) == record
    adopted = report(POOL, "Running")
    assert b"asked" not in wire_codec.write(adopted.transitions[-1], 0, 1, "phaseline/pl")
    unasked = report(POOL.state("node", N, "Stopped"), "Running").transitions[-1]
    again = wire_codec.read(wire_codec.write(unasked, 0, 1, "phaseline/pl"))
    assert isinstance(again, Transition)
    assert again.unasked


# ---- what a report means where a table says so


def test_a_table_may_say_what_the_report_of_a_phase_means() -> None:
    """A lamp that is gone while it is dimmed is dark; a wired one that is not there was not there before."""
    dark = Row(("Dimming",), "reported", "Lit", given={"phase": DELETED})
    still = Row(("Lit",), "reported", SAME, given={"phase": "Wiring"})
    cut = Row(("Lit",), "cut", DELETED)
    kind = lamp(Row(("Wiring",), "wired", "Lit"), cut, dark, still, pending=("Wiring", "Dimming"))
    lit = testing.given(kind).event("lamp", "wire", "l").event("lamp", "wired", "l")
    assert report(lit, "Wiring", "lamp", "l").records == ()
    then = report(lit.event("lamp", "dim", "l"), DELETED, "lamp", "l")
    assert [(str(r.after), r.trigger, r.unasked) for r in then.transitions] == [("Lit", "reported", True)]
    assert [(str(r.after), r.unasked) for r in report(lit, DELETED, "lamp", "l").transitions] == [(DELETED, False)]


@pytest.mark.parametrize(("row", "says"), [
    (Row(("Lit",), "reported", "Dimming", given={"phase": "Wiring"}), "only what Deleted means can be another phase"),
    (Row(("Lit",), "reported", SAME, given={"phase": DELETED}, assigns=True), "leave out `assigns`, `forgets` and `computes`"),
    (Row(("Lit",), "wired", SAME, given={"phase": "Lit"}), "field phase in given= is unknown"),
])  # fmt: skip
def test_rows_that_change_what_a_report_means_are_checked(row: Row, says: str) -> None:
    with pytest.raises(WrongTable, match=re.escape(says)):
        testing.given(lamp(Row(("Wiring",), "wired", "Lit"), Row((LIVE,), "cut", DELETED), row, pending=("Wiring",)))
