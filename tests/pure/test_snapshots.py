"""All that a reporter sees below an entity, in one event.

Belongs here: docs/reports.md, Snapshots, on single events. Does not: single reports (`test_reports`), laws over random
histories (`test_report_laws`), the command (`test_cli_snapshot`).
"""

from typing import Any

import pytest

from phaseline import testing
from phaseline.engine.core.process import Processor
from phaseline.machines.built_in import PRODUCTS
from phaseline.machines.compiler.checks import WrongTable
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.table import ABSENT, DELETED, LIVE, Facet, Label, Row, Table
from phaseline.schemas import codec, wire_codec
from phaseline.schemas.records import Rejection, State
from phaseline.schemas.subjects import Subjects
from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS
from tests.support.event_strategies import Arriving

POOL = testing.given(KINDS).state("cluster", "c", "Running").state("node_pool", "c/p", "Running")
THREE = POOL.state("node", "c/p/a", "Running").state("node", "c/p/b", "Running").state("node", "c/p/d", "Running")
RUNNING = [{"id": f"p/{name}", "phase": "Running"} for name in "abd"]


def snapshot(
    given: testing.Given, items: list[Any], kind: str = "node", at: tuple[str, str] = ("cluster", "c"), **data: Any
) -> testing.Then:
    return given.when(at[0], "snapshot", at[1], {"kind": kind, "items": items, **data})


def moved(then: testing.Then) -> dict[str, str]:
    return {f"{r.entity.kind} {r.entity.id}": str(r.after) for r in then.transitions}


def left_out(then: testing.Then) -> dict[str, str]:
    assert then.rejection is not None
    assert (then.rejection.kind, then.rejection.reason) == ("cluster", "left_out")
    assert then.records[-1] is then.rejection
    return {item.id: item.reason for item in then.rejection.left_out}


# ---- what differs


def test_what_is_already_so_makes_no_record() -> None:
    assert snapshot(THREE, RUNNING).records == ()
    assert snapshot(THREE, [{**item, "conditions": ["Ok"]} for item in RUNNING]).records == ()


def test_what_differs_changes_and_names_the_snapshot_as_its_cause() -> None:
    items = [*RUNNING[:2], {"id": "p/d", "phase": "Failed", "conditions": ["NotReady"], "reason": "R", "message": "m"}]
    then = snapshot(THREE, items, reason="not of items", message="not of items")
    [record] = then.transitions
    assert (str(record.after), record.trigger, record.reason, record.message) == (
        "Failed [NotReady]",
        "reported",
        "R",
        "m",
    )
    assert (record.cause.by, record.cause.origin, record.cause.sequence) == ("cascade", "cluster/c", THREE.position)
    assert record.unasked is False


def test_what_is_not_listed_is_gone() -> None:
    then = snapshot(THREE, RUNNING[:2])
    assert moved(then) == {"node c/p/d": DELETED}
    [record] = then.transitions
    assert (record.unasked, record.message) == (True, "the snapshot does not list it")
    assert snapshot(then, RUNNING[:2]).records == ()


def test_nothing_listed_means_that_everything_is_gone() -> None:
    then = snapshot(THREE, [], seen=THREE.position - 1, confirm=True)
    assert moved(then) == {f"node c/p/{name}": DELETED for name in "abd"}
    assert {r.message for r in then.transitions} == {"the snapshot lists nothing: all is gone"}
    assert snapshot(testing.given(KINDS), []).records == ()


def test_what_is_unknown_is_adopted_with_what_is_between() -> None:
    then = snapshot(testing.given(KINDS), [{"id": "p/a", "phase": "Running"}, {"id": "p/b", "phase": "Stopped"}])
    assert moved(then) == {
        "cluster c": "Running [Ok]", "node_pool c/p": "Running [Ok]", "node c/p/a": "Running [Ok]",
        "node c/p/b": "Stopped [Ok]",
    }  # fmt: skip


def test_any_kind_below_not_only_children() -> None:
    assert snapshot(THREE, [], "node_pool").transitions[0].entity.id == "c/p"
    assert set(moved(snapshot(THREE, [], "node_pool"))) == {"node_pool c/p", "node c/p/a", "node c/p/b", "node c/p/d"}
    assert set(moved(snapshot(THREE, [{"id": "a", "phase": "Running"}], at=("node_pool", "c/p")))) == {
        "node c/p/b",
        "node c/p/d",
    }


def test_attributes_of_items() -> None:
    pools = snapshot(
        POOL, [{"id": "p", "phase": "Running", "attributes": {"autoscaling_mode": "Recycle"}}], "node_pool"
    )
    assert [r.entity.attributes for r in pools.transitions] == [{"autoscaling_mode": "Recycle"}]
    again = [{"id": "p", "phase": "Running", "attributes": {"autoscaling_mode": "Recycle"}}]
    assert snapshot(pools, again, "node_pool").records == ()


# ---- older than a request


def test_a_stale_snapshot_undoes_no_request() -> None:
    deleting = THREE.event("node", "delete", "c/p/a").event("node", "create", "c/p/new")
    old = deleting.entity("node", "c/p/a").asked - 1
    assert moved(snapshot(deleting, RUNNING, seen=old)) == {}
    assert snapshot(deleting, RUNNING).records == ()
    then = snapshot(deleting, RUNNING, seen=deleting.position - 1)
    assert moved(then)["node c/p/a"] == "Running [Ok]"
    assert moved(then)["node c/p/new"] == DELETED


def test_what_was_deleted_is_left_out_if_the_snapshot_may_be_older() -> None:
    gone = THREE.event("node", "deleted", "c/p/a")
    assert left_out(snapshot(gone, RUNNING)) == {"p/a": "stale"}
    assert moved(snapshot(gone, RUNNING, seen=gone.position - 1)) == {"node c/p/a": "Running [Ok]"}


# ---- ranges


def test_a_range_speaks_of_the_ids_in_it_only() -> None:
    assert moved(snapshot(THREE, [], after="p/a", upto="p/b")) == {"node c/p/b": DELETED}
    assert moved(snapshot(THREE, [], after="p/b")) == {"node c/p/d": DELETED}
    assert set(moved(snapshot(THREE, [], upto="p/b"))) == {"node c/p/a", "node c/p/b"}
    then = snapshot(THREE, [RUNNING[0]], after="p/a", upto="p/b")
    assert left_out(then) == {"p/a": "invalid"}
    assert moved(then) == {"node c/p/b": DELETED}
    assert snapshot(THREE, RUNNING, after="p/z", upto="p/a").rejection is not None


def test_ids_are_ordered_by_their_bytes() -> None:
    odd = (
        POOL.state("node", "c/p/Z", "Running")
        .state("node", "c/p/é", "Running")
        .state("node", "c/p/\U0001f600", "Running")
    )
    assert set(moved(snapshot(odd, [], after="p/z"))) == {"node c/p/é", "node c/p/\U0001f600"}
    assert set(moved(snapshot(odd, [], upto="p/a"))) == {"node c/p/Z"}


# ---- the brake


def held(then: testing.Then) -> dict[str, str]:
    [rejection] = [r for r in then.records if isinstance(r, Rejection) and r.reason == "brake"]
    return {item.id: item.reason for item in rejection.left_out}


def test_a_snapshot_that_would_end_much_is_taken_for_its_items_only() -> None:
    read = THREE.position - 1
    then = snapshot(THREE, [{"id": "p/x", "phase": "Running"}], seen=read)
    assert moved(then) == {"node c/p/x": "Running [Ok]"}
    assert held(then) == {"p/a": "brake", "p/b": "brake", "p/d": "brake"}
    assert "3 of the 3 nodes that live in its range at cluster c, which is more than 30 %" in str(then.rejection)
    assert "send the same snapshot with confirm true and with seen" in str(then.rejection)
    confirmed = snapshot(then, [{"id": "p/x", "phase": "Running"}], seen=read, confirm=True)
    assert moved(confirmed) == {f"node c/p/{name}": DELETED for name in "abd"}
    assert confirmed.rejection is None


def test_two_things_may_always_end_and_thirty_percent() -> None:
    assert snapshot(THREE, RUNNING[:1]).rejection is None
    ten = POOL
    for name in "abcdefghij":
        ten = ten.state("node", f"c/p/{name}", "Running")
    listed = [{"id": f"p/{name}", "phase": "Running"} for name in "abcdefg"]
    assert len(snapshot(ten, listed).transitions) == 3
    assert set(held(snapshot(ten, listed[1:]))) == {"p/a", "p/h", "p/i", "p/j"}


def test_what_does_not_live_is_not_counted_and_each_range_is_by_itself() -> None:
    ten = POOL
    for name in "abcdefghij":
        ten = ten.state("node", f"c/p/{name}", "Running")
    gone = ten.event("node", "deleted", "c/p/a").event("node", "deleted", "c/p/b")
    listed = [{"id": f"p/{name}", "phase": "Running"} for name in "cdefg"]
    assert "3 of the 8 nodes" in str(snapshot(gone, listed).rejection)
    assert "3 of the 6 nodes" in str(snapshot(ten, listed[2:], after="p/d").rejection)


def test_a_place_has_its_own_brake_and_confirming_needs_seen() -> None:
    loose = THREE.event("cluster", "configure", "c", {"brake": 100})
    assert len(snapshot(loose, []).transitions) == 3
    assert len(snapshot(loose, [], at=("node_pool", "c/p")).transitions) == 3
    tight = THREE.event("cluster", "configure", "c", {"brake": 0})
    assert len(snapshot(tight, RUNNING[:1]).transitions) == 2
    then = snapshot(THREE, [], confirm=True)
    assert then.rejection is not None
    assert (then.rejection.reason, then.transitions) == ("invalid", ())
    assert "data.confirm needs data.seen" in then.rejection.message


def test_what_is_left_out_and_what_is_held_back_are_two_rejections() -> None:
    then = snapshot(THREE, [{"id": "p/x", "phase": "Nonsense"}])
    assert [r.reason for r in then.records if isinstance(r, Rejection)] == ["left_out", "brake"]
    assert set(held(then)) == {"p/a", "p/b", "p/d"}


# ---- what does not fit


@pytest.mark.parametrize(
    ("item", "named", "reason"),
    [
        ({"id": "p/b", "phase": "Nonsense"}, "p/b", "invalid"),
        ({"id": "p/b"}, "p/b", "invalid"),
        ({"id": "p/b", "phase": "Failed"}, "p/b", "invalid"),
        ({"id": "p/b", "phase": "Failed", "conditions": "NotReady"}, "p/b", "invalid"),
        ({"id": "p/b", "phase": "Stopped", "attributes": [1]}, "p/b", "invalid"),
        ({"id": "p/b", "phase": "Stopped", "message": 5}, "p/b", "invalid"),
    ],
)
def test_an_item_that_does_not_fit_is_left_out_and_the_others_are_taken(item: Any, named: str, reason: str) -> None:
    then = snapshot(THREE, [{"id": "p/a", "phase": "Stopped"}, item])
    assert left_out(then) == {named: reason}
    assert moved(then) == {"node c/p/a": "Stopped [Ok]", "node c/p/d": DELETED}
    assert "1 of 2 items were left out: p/b (invalid)" in str(then.rejection)


@pytest.mark.parametrize("name", ["b", "p/b/c", "p//", "p/\x00", "p/" + "x" * 300])
def test_an_id_that_is_none(name: str) -> None:
    then = snapshot(THREE, [*RUNNING, {"id": name, "phase": "Stopped"}])
    assert list(left_out(then).values()) == ["invalid"]
    assert then.transitions == ()


@pytest.mark.parametrize("item", [{"phase": "Running"}, {"id": 7, "phase": "Running"}, {"id": None}])
def test_nothing_counts_as_gone_if_an_item_does_not_say_what_it_is_about(item: Any) -> None:
    then = snapshot(THREE, [{"id": "p/a", "phase": "Stopped"}, item])
    assert left_out(then) == {"": "invalid"}
    assert moved(then) == {"node c/p/a": "Stopped [Ok]"}


def test_an_id_that_is_listed_twice_counts_once() -> None:
    then = snapshot(THREE, [*RUNNING, {"id": "p/a", "phase": "Stopped"}])
    assert left_out(then) == {"p/a": "invalid"}
    assert then.transitions == ()


@pytest.mark.parametrize(
    "data",
    [
        {"kind": "moon", "items": []},
        {"kind": "cluster", "items": []},
        {"kind": "bundle", "items": []},
        {"items": []},
        {"kind": "node"},
        {"kind": "node", "items": {}},
        {"kind": "node", "items": [1]},
        {"kind": "node", "items": [], "seen": 10**9},
        {"kind": "node", "items": [], "after": 1},
    ],
)
def test_a_snapshot_of_which_nothing_can_be_taken(data: dict[str, Any]) -> None:
    then = THREE.when("cluster", "snapshot", "c", data)
    assert then.rejection is not None
    assert then.rejection.reason == "invalid"
    assert then.transitions == ()


def test_a_kind_without_reporters_below_takes_none() -> None:
    then = THREE.when("node", "snapshot", "c/p/a", {"kind": "node", "items": []})
    assert then.rejection is not None
    assert then.rejection.reason == "unknown_trigger"


def test_below_what_cannot_be_adopted() -> None:
    then = snapshot(testing.given(KINDS), [{"id": "x", "phase": "Created"}], "app_context", ("emco_resource", "r"))
    assert then.rejection is not None
    assert then.rejection.reason == "unknown_parent"
    gone = THREE.event("cluster", "deleted", "c")
    assert left_out(snapshot(gone, RUNNING, seen=1)) == {f"p/{name}": "stale" for name in "abd"}


def test_a_long_list_is_cut_and_counted() -> None:
    then = snapshot(THREE, [*RUNNING, *({"id": f"p/x{n}", "phase": "?"} for n in range(1_500))])
    [rejection] = then.records
    assert isinstance(rejection, Rejection)
    assert len(rejection.left_out) == 1_000
    assert rejection.message.startswith("1,500 of 1,503 items were left out: ")
    assert wire_codec.read(wire_codec.write(rejection, 0, 1, "phaseline/pl")) == rejection


# ---- kinds whose states are worked out from what is observed


def test_items_of_such_a_kind_may_only_say_that_they_are_there() -> None:
    life = testing.given(KINDS).event("application", "configure", "s/a")
    there = snapshot(
        life, [{"id": "core:ConfigMap/n/x"}, {"id": "core:ConfigMap/n/y"}], "resource", ("application", "s/a")
    )
    assert moved(there)["resource s/a/core:ConfigMap/n/y"] in ("NotAssessed", "NotCompared")
    one = snapshot(there, [{"id": "core:ConfigMap/n/x"}], "resource", ("application", "s/a"))
    assert {r.entity.id for r in one.transitions if r.entity.kind == "resource"} == {"s/a/core:ConfigMap/n/y"}
    assert (
        snapshot(there, [{"id": f"core:ConfigMap/n/{n}"} for n in "xy"], "resource", ("application", "s/a")).records
        == ()
    )


# ---- batches, repeats


def stored(trigger: str, position: int, data: dict[str, Any], **more: Any) -> Arriving:
    body = {
        "specversion": "1.0",
        "id": str(position),
        "source": "/t",
        "type": f"cluster.{trigger}",
        "data": data,
        **more,
    }
    return Arriving(f"pl.inbox.0.c.cluster.{trigger}", codec.encode(body), position, position)


def test_transitions_and_a_rejection_of_one_event_are_counted_and_committed_together() -> None:
    processor = Processor(THREE.tree, Subjects("pl"), 0)
    items = [{"id": "p/a", "phase": "Stopped"}, {"id": "p/b", "phase": "?"}, RUNNING[2]]
    batch = processor.process([stored("snapshot", 90, {"kind": "node", "items": items})], 0)
    assert (processor.counts.transitions, processor.counts.rejections, processor.counts.without_effect) == (1, 1, 0)
    assert not batch.is_row
    first, last = (codec.decode(message.body) for message in batch.messages)
    assert (first["type"], last["type"]) == ("node.transitioned", "cluster.rejected")
    assert [one["data"]["cause"]["records"] for one in (first, last)] == [2, 2]
    assert last["data"]["left_out"][0]["id"] == "p/b"
    assert batch.messages[1].subject == "pl.log.0.rejection.cluster.left_out.c"


def test_a_numbered_snapshot_is_taken_once() -> None:
    data = {"kind": "node", "items": RUNNING[:2]}
    processor = Processor(testing.given(KINDS).state("cluster", "c", "Running").tree, Subjects("pl"), 0)
    assert len(processor.process([stored("snapshot", 90, data, sequence=4)], 0).messages) == 4
    assert processor.process([stored("deleted", 91, {})], 0).messages
    assert processor.process([stored("snapshot", 92, data, sequence=4)], 0).messages == []


# ---- a kind of one's own


def test_a_kind_of_ones_own_below_takes_part() -> None:
    labels = (Label("Up", None, "Up"), Label("Down", None, "Down", state_class="bad"))
    rows = (
        Row((ABSENT, DELETED), "seen_up", "Up"),
        Row(("Up",), "seen_down", "Down"),
        Row((LIVE,), "deleted", DELETED),
    )
    backup = Table(
        kind="backup",
        id=("cluster", "backup"),
        parent="cluster",
        intents=(),
        facets=(Facet("phase", labels, rows, healthy="Up", adopted=State("Up")),),
    )
    there = testing.given(backup).state("cluster", "c", "Running").event("backup", "seen_up", "c/1")
    assert moved(snapshot(there, [{"id": "2", "phase": "Down"}], "backup")) == {
        "backup c/1": DELETED,
        "backup c/2": "Down",
    }


def test_a_kind_above_others_may_not_have_the_trigger_itself() -> None:
    label = Label("Up", None, "Up")
    rows = (Row((ABSENT, DELETED), "up", "Up"), Row((LIVE,), "deleted", DELETED))
    below = Table(
        kind="disk",
        id=("host", "disk"),
        parent="host",
        intents=(),
        facets=(Facet("phase", (label,), rows, healthy="Up", adopted=State("Up")),),
    )
    own = (*rows, Row((LIVE,), "snapshot", "Up"))
    above = Table(
        kind="host",
        id=("host",),
        intents=(),
        facets=(Facet("phase", (label,), own, healthy="Up", adopted=State("Up")),),
    )
    with pytest.raises(WrongTable, match="snapshot is the observation"):
        Kinds((above, below), products=PRODUCTS)
    Kinds((above,), products=PRODUCTS)
    asked = Table(
        kind="host",
        id=("host",),
        intents=("reported",),
        facets=(Facet("phase", (label,), (*rows, Row((LIVE,), "reported", "Up")), healthy="Up", adopted=State("Up")),),
    )
    with pytest.raises(WrongTable, match="reported is the observation"):
        Kinds((asked,), products=PRODUCTS)
