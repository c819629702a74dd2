"""Single explanations: cascades, tallies, views, attributes, and odd histories.

Belongs here: explanations of small histories. Does not: laws (`test_why_laws`), the command (`test_why_command`).
"""

import msgspec
import pytest

from phaseline import testing
from phaseline.engine.core.tree import Tree
from phaseline.engine.log.explain import causes, explainer
from phaseline.machines.built_in import PRODUCTS
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.scripts import NoScripts
from phaseline.machines.language.table import ABSENT
from phaseline.schemas.records import State, Transition
from tests.support import edge_worlds, sample_kinds, timed_kinds
from tests.support.emco_history import CTX, GROUP, NEW, EmcoHistory
from tests.support.explanations import Logs, explained, explanation, logs, parts, predicates, triggers
from tests.support.strategies import Sent, event, play

RUNNING = [
    event("cluster", "adopt", "c", {"phase": "Running"}),
    event("node_pool", "adopt", "c/p", {"phase": "Running"}),
]


def test_a_failed_cleanup_names_the_deletion_that_it_ended() -> None:
    """The deletion is traced to the event on the cluster, two entities further up."""
    history = play(edge_worlds.KINDS, [*RUNNING, event("node", "adopt", "c/p/n", {"phase": "Running"})])
    for kind, trigger, entity_id in (
        ("node", "overdue", "c/p/n"), ("cluster", "delete", "c"), ("node", "cleanup_failed", "c/p/n"),
    ):  # fmt: skip
        assert history.take(event(kind, trigger, entity_id)).accepted
    owes, failed = explanation(history, "node", "c/p/n").facets[0].causes
    assert (owes.names, triggers(owes), owes.ended) == (("Balance",), [("overdue", "node/c/p/n")], None)
    assert (failed.names, triggers(failed)) == (("ResourceCleanupFailed",), [("cleanup_failed", "node/c/p/n")])
    assert failed.ended is not None
    assert failed.ended.names == ("Deleting",)
    assert triggers(failed.ended) == [("remove", "node/c/p/n"), ("remove", "node_pool/c/p"), ("delete", "cluster/c")]


def test_a_pending_phase_leads_to_the_newest_request() -> None:
    asked = [event("node_pool", "scale", "c/p", {"desired": number}) for number in (5, 3)]
    history = play(edge_worlds.KINDS, [*RUNNING, *asked])
    (pool,) = explanation(history, "node_pool", "c/p").facets
    assert pool.causes[0].records[0].entity.attributes["desired"] == 3


def test_a_phase_leads_to_the_newest_request_for_it_that_moves_no_base() -> None:
    """A group stays Instantiated while it is updated and rolled back: the last of these is why it is so."""
    told = EmcoHistory().group().context().do("emco_resource", "instantiate", GROUP, context=CTX)
    told.context(ctx=NEW).do("emco_resource", "update", GROUP, context=NEW)
    for way, data in (("update", {}), ("rollback", {"revision": 1})):
        if way == "rollback":
            told.do("emco_resource", way, GROUP, **data)
        (caused,) = explanation(told.history, "emco_resource", GROUP).facets[0].causes
        assert (caused.names, triggers(caused)[0][0]) == (("Instantiated",), way)


def test_an_activity_that_failed_names_the_newest_request_for_it() -> None:
    asked = [event("cluster", "update", "c") for _ in range(2)]
    history = play(edge_worlds.KINDS, [*RUNNING, *asked, event("cluster", "overdue", "c")])
    (cluster,) = explanation(history, "cluster", "c").facets
    assert [caused.ended.records[0].cause.sequence for caused in cluster.causes if caused.ended] == [4]


def test_who_is_heard_by_a_snapshot_is_no_reason_of_what_it_changes_nor_the_other_way_round() -> None:
    items = [{"id": "n", "phase": "Failed", "conditions": ["Unknown"]}]
    sent = event("node_pool", "snapshot", "c/p", {"kind": "node", "items": items})
    history = play(edge_worlds.KINDS, [*RUNNING, event("node_pool", "configure", "c/p", {"silence_after": 60.0}), sent])
    made = {(r.entity.kind, r.facet): r for r in history.steps[-1].records if isinstance(r, Transition)}
    for kind in ("node_pool", "cluster"):
        shown = made[kind, "phase"]
        assert (str(shown.after), shown.trigger, shown.cause.by) == ("Failed [AllFailed]", "snapshot", "tally")
    _, contact = explanation(history, "node_pool", "c/p").facets
    assert [triggers(caused) for caused in contact.causes] == [[("heard", "node_pool/c/p")]]


def test_a_request_that_comes_again_has_a_record_on_its_way() -> None:
    """The pool was being deleted already, and waits for the new request from now on."""
    history = play(edge_worlds.KINDS, [*RUNNING, event("node_pool", "delete", "c/p")])
    assert history.take(event("node", "adopt", "c/p/n", {"phase": "Creating"})).accepted
    for trigger in ("error", "delete"):
        assert history.take(event("cluster", trigger, "c")).accepted
    (node,) = explanation(history, "node", "c/p/n").facets
    assert node.causes[0].records[0].cause.origin == "node_pool/c/p"
    assert triggers(node.causes[0]) == [
        ("remove", "node/c/p/n"), ("remove", "node_pool/c/p"), ("delete", "cluster/c"),
    ]  # fmt: skip


def test_an_activity_that_ended_well_or_was_cut_short_is_not_named() -> None:
    made = [event("node", "create", "c/p/n"), event("node", "created", "c/p/n"), event("node", "update", "c/p/n")]
    history = play(edge_worlds.KINDS, [*RUNNING, *made[:2]])
    assert [caused.ended for caused in explanation(history, "node", "c/p/n").facets[0].causes] == [None]
    history = play(edge_worlds.KINDS, [*RUNNING, *made, event("cluster", "delete", "c")])
    assert [caused.ended for caused in explanation(history, "node", "c/p/n").facets[0].causes] == [None]


def test_a_sticky_condition_does_not_hold_the_phase() -> None:
    made = [event("node", "create", "c/p/n"), event("node", "created", "c/p/n"), event("node", "cordon", "c/p/n")]
    (node,) = explanation(play(edge_worlds.KINDS, [*RUNNING, *made]), "node", "c/p/n").facets
    assert [(caused.names, triggers(caused)) for caused in node.causes] == [
        (("Unschedulable",), [("cordon", "node/c/p/n")]), (("Running",), [("created", "node/c/p/n")]),
    ]  # fmt: skip


def test_an_incomplete_history_begins_after_its_last_gap() -> None:
    made = [event("node", trigger, "c/p/n") for trigger in ("not_ready", "overdue", "error", "ready")]
    history = play(edge_worlds.KINDS, [*RUNNING, event("node", "adopt", "c/p/n", {"phase": "Running"}), *made])
    left = [record for record in logs(history)["node", "c/p/n"] if record.entity.version != 2]
    (node,) = explained(history, history.tree.entities["node"]["c/p/n"], {("node", "c/p/n"): left}).facets
    owes, unknown, _ = node.causes
    assert (owes.names, triggers(owes), owes.at_latest) == (("Balance",), [("overdue", "node/c/p/n")], True)
    assert owes.missing == "what node c/p/n went through before is no longer in the log"
    assert (unknown.names, triggers(unknown), unknown.missing) == (("Unknown",), [("error", "node/c/p/n")], None)


def test_a_condition_of_one_phase_is_not_the_same_in_another() -> None:
    """A cluster goes from Stopped [Balance] to Failed [Balance]: the second move added the condition."""
    (record,) = logs(play(edge_worlds.KINDS, RUNNING[:1]))["cluster", "c"]
    stopped, failed = State("Stopped", ("Balance",)), State("Failed", ("Balance",))
    moved = [causes.Move(record, State(ABSENT), stopped), causes.Move(record, stopped, failed)]
    assert causes.added(edge_worlds.KINDS["cluster"].machines[0].facet, moved, "Balance") == 1


def test_a_tally_names_the_entities_longest_in_their_state_and_explains_each_once() -> None:
    made = [event("node", "create", f"c/p/n{number}") for number in (5, 3, 10, 9, 1)]
    history = play(edge_worlds.KINDS, [*RUNNING, *made, event("node", "created", "c/p/n3")])
    (cluster,) = explanation(history, "cluster", "c").facets
    (pools,) = predicates(cluster)
    assert (pools.text, pools.count, pools.total) == (
        "a node_pool without Stalled is Creating, Deleting or Scaling",
        1,
        1,
    )
    (nodes,) = predicates(pools.entities[0])
    assert [node.id for node in nodes.entities] == ["c/p/n5", "c/p/n10", "c/p/n9"]
    assert (nodes.count, nodes.total) == (4, 5)
    (pool,) = explanation(history, "node_pool", "c/p").facets
    assert pool.causes == pools.entities[0].causes


def test_an_on_tally_trigger_is_traced_to_the_event_that_changed_the_tally() -> None:
    fruit = [event("fruit", "set", f"o/r/s/f{number}") for number in (1, 2)]
    history = play(sample_kinds.KINDS, [event("orchard", "plant", "o"), *fruit, event("fruit", "rotted", "o/r/s/f2")])
    (row,) = explanation(history, "row", "o/r").facets
    assert triggers(row.causes[0]) == [("rot_found", "row/o/r"), ("rotted", "fruit/o/r/s/f2")]


def test_a_view_on_another_facet_of_the_entity_and_on_an_attribute() -> None:
    history = play(sample_kinds.KINDS, [event("orchard", "plant", "o"), event("orchard", "drought", "o")])
    season, water = explanation(history, "orchard", "o").facets
    assert [(e.facet, e.detail) for predicate in predicates(season) for e in predicate.entities] == [("water", "here")]
    assert water.detail == "above"
    label = event("row", "label", "o/r", {"variety": "russet"})
    history = play(sample_kinds.KINDS, [event("orchard", "plant", "o"), event("row", "plant", "o/r"), label])
    (row,) = explanation(history, "row", "o/r").facets
    none, organic = predicates(row)
    assert (none.count, none.total, none.entities) == (0, 0, ())
    assert organic.cause is not None
    assert (organic.cause.names, triggers(organic.cause)) == (("organic is True",), [("plant", "row/o/r")])


def test_of_several_records_of_one_event_the_one_by_the_event_counts() -> None:
    history = play(
        sample_kinds.KINDS,
        [event("orchard", "plant", "o"), event("row", "plant", "o/r"), event("orchard", "drought", "o")],
    )
    known = logs(history)
    season, water = known["orchard", "o"][-2:]
    assert (season.cause.by, water.cause.by) == ("view", "event")
    found, gone = causes.trace(sample_kinds.KINDS, lambda *key: known[key], known["row", "o/r"][-1])
    assert (found, gone) == ((known["row", "o/r"][-1], water), None)


def test_a_base_that_was_explained_with_its_view_is_not_explained_again() -> None:
    history = play(edge_worlds.KINDS, RUNNING)
    known = logs(history)
    explainer_ = explainer._Explainer(history.tree, lambda *key: known[key])
    order = (True, True, False, True, False)
    details = [explainer_.facet("cluster", "c", 0, base_only=base_only).detail for base_only in order]
    assert details == ["here", "above", "here", "above", "above"]


@pytest.mark.parametrize("rest", [[], [event("cluster", "overdue", "c")]], ids=["too early", "too late"])
def test_a_state_without_a_view_is_explained_by_the_record_that_brought_it(rest: list[Sent]) -> None:
    """As while the server copies a large cascade: no view accounts for the state of the pool."""
    history = play(edge_worlds.KINDS, [*RUNNING, event("node", "create", "c/p/n")])
    pool, tree, known = history.tree.entities["node_pool"]["c/p"], Tree(edge_worlds.KINDS, NoScripts()), logs(history)
    tree.put(pool)
    for sent in rest:
        history.take(sent)
        tree.put(history.tree.entities["cluster"]["c"])
    (pool_facet,) = explainer.explain_entity(tree, lambda *key: known[key], "node_pool", "c/p").facets
    assert pool_facet.view is not None
    assert pool_facet.view.cause is not None
    assert (pool_facet.view.predicates, pool_facet.view.cause.names) == ((), ("Scaling [Progressing]",))
    assert triggers(pool_facet.view.cause) == [("create", "node_pool/c/p"), ("create", "node/c/p/n")]


def test_a_timer_ends_an_explanation() -> None:
    (record,) = logs(play(edge_worlds.KINDS, RUNNING[:1]))["cluster", "c"]
    fired = msgspec.structs.replace(record, cause=msgspec.structs.replace(record.cause, by="timer", origin="cluster/c"))
    assert causes.trace(edge_worlds.KINDS, lambda *_: [], fired) == ((fired,), None)


def test_what_a_timer_ended_leads_to_what_began_it() -> None:
    kinds = Kinds(timed_kinds.KINDS, products=PRODUCTS)
    started = testing.given(kinds).when("job", "start", "j")
    stuck = started.later(minutes=11)
    told = [one for one in (*started.transitions, *stuck.transitions) if one.entity.kind == "job"]
    (phase,) = explainer.explain_entity(stuck.tree, lambda *_: told, "job", "j").facets[0].causes
    assert (phase.names, triggers(phase)) == (("Stuck",), [("give_up", "job/j")])
    assert phase.ended is not None
    assert (phase.ended.names, triggers(phase.ended)) == (("Running",), [("start", "job/j")])


def test_records_that_name_each_other_end_the_trace() -> None:
    step = play(edge_worlds.KINDS, [event("node_pool", "adopt", "c/p", {"phase": "Running"})]).steps[0]
    known: Logs = {}
    for record, other in zip(step.records, ("node_pool/c/p", "cluster/c"), strict=True):
        assert isinstance(record, Transition)
        cause = msgspec.structs.replace(record.cause, by="cascade", origin=other)
        known[record.entity.kind, record.entity.id] = [msgspec.structs.replace(record, cause=cause)]
    found, gone = causes.trace(edge_worlds.KINDS, lambda *key: known[key], known["cluster", "c"][0])
    assert [record.entity.kind for record in found] == ["cluster", "node_pool"]
    assert gone == "the log has no record of event 1 at cluster c"


def test_views_upon_views_are_followed_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explainer, "DEPTH", 1)
    history = play(edge_worlds.KINDS, [*RUNNING, event("node", "create", "c/p/n")])
    assert [part.detail for part in parts(explanation(history, "cluster", "c"))] == ["here", "here", "no further"]


def test_a_report_that_says_otherwise_stands_beside_what_was_said_before() -> None:
    history = play(edge_worlds.KINDS, RUNNING)
    history.take(event("node_pool", "error", "c/p", {"reason": "Unhealthy"}, source="/autoscaler"))
    history.take(event("node_pool", "reported", "c/p", {"phase": "Running"}, source="/cloud"))
    [found] = explanation(history, "node_pool", "c/p").facets[0].causes
    assert [one.cause.source for one in found.records] == ["/cloud"]
    assert found.ended is not None
    assert (found.ended.names, [one.cause.source for one in found.ended.records]) == (
        ("Failed [Unknown]",), ["/autoscaler"],
    )  # fmt: skip


def test_a_report_names_what_another_source_had_said_and_it_ended() -> None:
    history = play(edge_worlds.KINDS, [*RUNNING, event("node", "adopt", "c/p/n", {"phase": "Running"})])
    history.take(event("node", "not_ready", "c/p/n", {}, source="/kubelet"))
    told = {"phase": "Failed", "conditions": ["Unknown"]}
    history.take(event("node", "reported", "c/p/n", told, source="/cloud"))
    brought, cleared = explanation(history, "node", "c/p/n").facets[0].causes
    assert (brought.names, brought.records[0].cause.source) == (("Unknown",), "/cloud")
    assert (cleared.role, cleared.names, cleared.records[0].cause.source) == ("cleared", ("NotReady",), "/cloud")
    assert cleared.ended is not None
    assert (cleared.ended.names, cleared.ended.records[0].cause.source) == (("NotReady",), "/kubelet")


def test_what_is_said_of_a_state_is_no_reason_of_a_signal() -> None:
    history = play(edge_worlds.KINDS, [*RUNNING, event("node", "adopt", "c/p/n", {"phase": "Running"})])
    data = {"phase": "Failed", "conditions": ["NotReady"], "reason": "Stopped", "message": "no lease"}
    history.take(event("node", "reported", "c/p/n", {**data, "signals": {"DiskPressure": "True"}}))
    history.take(event("node", "condition", "c/p/n", {"name": "Kernel", "status": "True", "reason": "Stuck"}))
    phase, signals = explanation(history, "node", "c/p/n").facets
    assert [one.records[0].reason for one in phase.causes] == ["Stopped"]
    assert [(one.names, one.records[0].reason, one.records[0].message) for one in signals.causes] == [
        (("DiskPressure",), None, None), (("Kernel",), "Stuck", None),
    ]  # fmt: skip
