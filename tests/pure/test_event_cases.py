"""Cases of operations that hung, made of public reports: our own, and those in the folder of conformance cases.

Belongs here: reading such a case, and what is right after it. Does not: the laws (`tests/laws/test_operation_laws`).
"""

import json
from typing import Any

import pytest

from phaseline.engine.log.explain import unknown_parts
from phaseline.engine.log.explain.way_out import way_out
from phaseline.schemas import codec, wire_codec
from phaseline.schemas.records import Rejection
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.conformance import FOLDER
from tests.support.virtual_clock import SECOND, Clock

EVENTS = FOLDER / "public" / "events"


def played(name: str) -> tuple[Clock, list[Rejection]]:
    """The tree after the events of a case, one a second, and what was rejected."""
    path = EVENTS / name / "events.jsonl"
    if not path.is_file():
        pytest.skip("the cases are not at hand")
    clock, refused = Clock(BUILT_IN_KINDS), list[Rejection]()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        refused += said(clock, number, json.loads(line))
    return clock, refused


def said(clock: Clock, at: int, event: dict[str, Any]) -> list[Rejection]:
    kind, _, trigger = event["type"].partition(".")
    entity_id = event["subject"].partition("/")[2]
    subject = clock.processor.subjects.event(kind, trigger, entity_id).replace("pl.events", "pl.inbox.0")
    messages = clock.store(at * SECOND, subject, codec.encode(event))
    found = [wire_codec.read(one.body) for one in messages if not one.subject.startswith("pl.timer.")]
    return [one for one in found if isinstance(one, Rejection)]


def ask(clock: Clock, at: int, what: str, **data: Any) -> list[Rejection]:
    kind, trigger, entity_id = what.split(" ")
    event = {"specversion": "1.0", "id": f"x{at}", "source": "/t", "type": f"{kind}.{trigger}", "data": data}
    return said(clock, at, {**event, "subject": f"{kind}/{entity_id}"})


def test_a_pool_that_is_scaled_in_part_takes_a_newer_request_and_ends_by_itself() -> None:
    clock, refused = played("k01-partial-scaling")
    assert refused == []
    assert ask(clock, 20, "node_pool scale aks1/gpu", desired=3) == []
    clock.until(4_000 * SECOND)
    assert clock.shown("node_pool", "aks1/gpu") == "Scaling [Progressing, Stalled]"
    assert clock.shown("cluster", "aks1") == "Running [Ok]"
    assert ask(clock, 4_001, "node_pool delete aks1/gpu") == []


def test_a_cluster_is_deleted_while_it_is_created() -> None:
    clock, refused = played("k02-delete-while-creating")
    assert clock.shown("cluster", "stuck1") == "Deleting [Progressing]"
    assert clock.shown("cluster", "stuck2") == "Deleting [Progressing]"
    [unknown] = refused
    assert unknown.reason == "unknown_parent"
    way = way_out(clock.processor.tree, unknown, None)
    assert "reported at cluster stuck3 with the state you see" in way
    assert "created" not in way


def test_a_pool_whose_creation_failed_is_told_how_to_recover() -> None:
    clock, refused = played("k11-degraded-pool-recovers")
    assert [one.trigger for one in refused] == ["created", "scale"]
    for one in refused:
        way = way_out(clock.processor.tree, one, None)
        assert "if it is there: reported at node_pool eks/ng with the state you see" in way
        assert "recovered" not in way
    assert ask(clock, 20, "node_pool reported eks/ng", phase="Running") == []
    assert ask(clock, 21, "node_pool scale eks/ng", desired=0) == []


def test_who_sees_the_server_clears_nothing_that_the_kubelet_said() -> None:
    clock, refused = played("k09-two-reporters")
    assert refused == []
    assert clock.shown("node", "two/p/n1") == "Failed [NotReady]"
    memory = clock.processor.tree.entities["node"]["two/p/n1"].memory
    assert memory is not None
    assert memory.reasons == {"NotReady": "KubeletStopped"}
    assert ask(clock, 20, "node ready two/p/n1") == []
    assert clock.shown("node", "two/p/n1") == "Running [Ok]"


def test_a_node_that_flaps_keeps_no_reason_when_it_is_well() -> None:
    clock, refused = played("k06-flap")
    assert refused == []
    assert clock.shown("node", "flap/p/n1") == "Running [Ok]"
    memory = clock.processor.tree.entities["node"]["flap/p/n1"].memory
    assert memory is None or not memory.reasons


def test_a_context_ends_whatever_comes_late() -> None:
    clock, _ = played("e07-late-applied")
    assert clock.shown("app_context", "a+b+v1+late/1") == "Terminated"
    clock, _ = played("e04-no-cluster-config")
    assert clock.shown("app_context", "p+c+v1+lc1/1746572129129870541") == "InstantiateFailed"


def test_a_context_that_nobody_ends_is_stalled() -> None:
    clock, _ = played("e01-placement-update")
    clock.until(10_000 * SECOND)
    assert clock.shown("app_context", "shop+web+v1+grp/1001") == "Updating [Stalled]"
    assert clock.shown("app_context", "shop+web+v1+grp/1002") == "Instantiated"


def lacking(clock: Clock, pool: str) -> str:
    """What a pool lacks."""
    entities = clock.processor.tree.entities
    parts = unknown_parts.count(BUILT_IN_KINDS, [entities["node_pool"][pool]], entities["node"].values())
    return parts["node_pool", pool]["phase"].text()


def test_a_pool_whose_upgrade_is_half_done_says_what_it_lacks() -> None:
    clock, refused = played("k13-upgrade-half-done")
    assert refused == []
    assert clock.shown("node_pool", "upg/p") == "Running [Ok]"
    assert lacking(clock, "upg/p") == "1 of 3 nodes Running, 1 Failed; 1 of 2 at 1.28, 1 at 1.27"


# ---- siblings of those cases, in our own words


def test_a_node_that_is_being_updated_takes_a_newer_update_and_the_late_answer_to_the_first_is_stale() -> None:
    clock = Clock(BUILT_IN_KINDS)
    ask(clock, 1, "node reported edge/arm/pi4", phase="Running")
    assert ask(clock, 2, "node update edge/arm/pi4", message="to 6.1") == []
    assert ask(clock, 3, "node update edge/arm/pi4", message="to 6.6") == []
    [late] = ask(clock, 4, "node updated edge/arm/pi4", answers=2)
    assert late.reason == "stale"
    assert ask(clock, 5, "node updated edge/arm/pi4", answers=3, version="6.6") == []
    assert clock.shown("node", "edge/arm/pi4") == "Running [Ok]"


@pytest.mark.parametrize("kind", ["node_pool", "node", "component"])
def test_what_is_being_created_is_deleted_at_once_and_given_up_when_nobody_sees_it_go(kind: str) -> None:
    clock = Clock(BUILT_IN_KINDS)
    entity_id = {"node_pool": "site/p", "node": "site/p/n", "component": "site/dns"}[kind]
    ask(clock, 1, "cluster reported site", phase="Running")
    ask(clock, 2, "node_pool reported site/p", phase="Running") if kind == "node" else None
    assert ask(clock, 3, f"{kind} create {entity_id}") == []
    assert ask(clock, 4, f"{kind} delete {entity_id}") == []
    assert ask(clock, 5, f"{kind} delete {entity_id}", abandon=True)[0].reason == "guard"
    clock.until(1_804 * SECOND)
    assert ask(clock, 1_805, f"{kind} delete {entity_id}", abandon=True) == []
    assert clock.shown(kind, entity_id) == "Deleted"
    assert ask(clock, 1_806, f"{kind} create {entity_id}") == []


def test_a_report_that_names_a_pending_phase_again_and_again_does_not_keep_it_alive() -> None:
    clock = Clock(BUILT_IN_KINDS)
    ask(clock, 1, "cluster create far")
    for at in range(100, 1_800, 100):
        assert ask(clock, at, "cluster reported far", phase="Creating", conditions=["Progressing"]) == []
    clock.until(1_801 * SECOND)
    assert clock.shown("cluster", "far") == "Creating [Progressing, Stalled]"


def test_an_upgrade_is_counted_by_the_versions_that_nodes_report() -> None:
    clock = Clock(BUILT_IN_KINDS)
    for at, name in enumerate(("n1", "n2", "n3"), 1):
        ask(clock, at, f"node reported upg/p/{name}", phase="Running", version="1.27")
    ask(clock, 5, "node_pool configure upg/p", desired=3, version="1.28")
    ask(clock, 6, "node_pool update upg/p")
    for at, trigger, told in ((7, "update", {}), (8, "updated", {"version": "1.28"})):
        assert ask(clock, at, f"node {trigger} upg/p/n1", **told) == []
    ask(clock, 9, "node error upg/p/n2", reason="VMExtensionProvisioningError")
    ask(clock, 10, "node deleted upg/p/n3")
    ask(clock, 11, "node_pool updated upg/p")
    assert lacking(clock, "upg/p") == "1 of 3 nodes Running, 1 Failed; 1 of 2 at 1.28, 1 at 1.27"


def test_one_node_falls_silent_beside_another_that_speaks() -> None:
    clock, refused = played("s01-one-node-silent")
    assert refused == ask(clock, 10, "cluster configure edge1", silence_below={"node": 2}) == []
    for second in range(11, 15):
        assert ask(clock, second, "node heartbeat edge1/shops/n1") == []
    clock.until(15 * SECOND)
    tree = clock.processor.tree
    assert [tree.entities["node"][f"edge1/shops/{one}"].facets[-1].state.phase for one in ("n1", "n2")] == [
        "Fresh", "Silent",
    ]  # fmt: skip
    assert tree.entities["cluster"]["edge1"].facets[-1].state.phase == "Fresh"


def test_late_messages_of_a_machine_whose_name_is_used_again_touch_the_earlier_life_only() -> None:
    """With identities, as `observe` sends them; the events of the case name none, so they prove nothing."""
    path = EVENTS / "k04-name-reused" / "events.jsonl"
    if not path.is_file():
        pytest.skip("the cases are not at hand")
    things = {6: "aws:i-old", 8: "aws:i-old", 10: "aws:i-new", 11: "aws:i-old", 12: "aws:i-old"}
    clock, refused = Clock(BUILT_IN_KINDS), list[Rejection]()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        event = json.loads(line)
        if number in things:
            event["data"] = {**event.get("data", {}), "uid": things[number]}
        refused += said(clock, number, event)
    assert [(one.trigger, one.reason) for one in refused] == [("not_ready", "stale"), ("deleted", "stale")]
    assert clock.shown("node", "aws/p/ip-10-0-0-7") == "Running [Ok]"


@pytest.mark.parametrize(
    ("what", "data"),
    [
        ("node deleted aws/p/ip-10-0-0-7", {}),
        ("node reported aws/p/ip-10-0-0-7", {"phase": "Deleted"}),
        ("cluster snapshot aws", {"kind": "node", "items": []}),
        ("node_pool snapshot aws/p", {"kind": "node", "items": []}),
    ],
)
def test_what_was_seen_before_a_life_began_does_not_end_it(what: str, data: dict[str, Any]) -> None:
    clock, _ = played("k04-name-reused")
    assert ask(clock, 20, "node reported aws/p/ip-10-0-0-7", phase="Running", seen=12) == []
    entity = clock.processor.tree.entities["node"]["aws/p/ip-10-0-0-7"]
    [refused] = ask(clock, 21, what, seen=entity.born - 1, **data)
    assert refused.reason == "stale"
    assert f"event {entity.born} showed that it is there" in refused.message
    assert clock.shown("node", "aws/p/ip-10-0-0-7") == "Running [Ok]"
    assert ask(clock, 22, what, seen=entity.born, **data) == []
    assert clock.shown("node", "aws/p/ip-10-0-0-7") == "Deleted"
