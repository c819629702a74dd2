"""How lives end, and what still reports after that: gone is seen, assumed, or contradicted.

Belongs here: docs/reports.md, After the end, on single events. Does not: snapshots that begin or end lives
(`test_snapshots`), laws over random lives (`test_gone_laws`), commands (`test_left_behind_command`).
"""

from typing import Any

from phaseline import testing
from phaseline.machines.compiler.classes.state_classes import class_of
from phaseline.machines.compiler.labels import label_of
from phaseline.machines.language.endings import state_for_people
from phaseline.machines.language.table import DELETED
from phaseline.schemas.records import Rejection, State, Transition
from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS

ALIVE = (
    testing.given(KINDS)
    .state("cluster", "c", "Running")
    .state("node_pool", "c/p", "Running")
    .state("node", "c/p/a", "Running")
    .state("node", "c/p/b", "Running")
)
GONE = ALIVE.event("cluster", "deleted", "c")
END = GONE.position - 1
RUNNING = {"phase": "Running"}


def end_of(given: Any, kind: str = "node", entity_id: str = "c/p/a") -> tuple[Any, Any]:
    attributes = given.entity(kind, entity_id).attributes
    shows = attributes.get("shows")
    return attributes.get("end"), None if shows is None else (shows["phase"], tuple(shows["conditions"]))


def only(then: testing.Then) -> Transition:
    [record] = then.records
    assert isinstance(record, Transition)
    return record


def reason(then: testing.Then) -> str:
    [record] = then.records
    assert isinstance(record, Rejection)
    return record.reason


# ---- how a life ended


def test_a_parents_end_is_no_sight_of_its_children() -> None:
    assert end_of(GONE, "cluster", "c") == ("seen", None)
    assert end_of(GONE) == end_of(GONE, "node_pool", "c/p") == ("assumed", None)


def test_what_was_assumed_is_seen_when_it_is_reported_gone() -> None:
    for trigger, data in (("deleted", {}), ("reported", {"phase": DELETED}), ("deleted", {"seen": 1})):
        then = GONE.when("node", trigger, "c/p/a", data)
        record = only(then)
        assert (record.before, record.after, record.trigger) == (State(DELETED), State(DELETED), trigger)
        assert end_of(then) == ("seen", None)
        assert then.when("node", trigger, "c/p/a", data).records == ()
        assert end_of(then, "node_pool", "c/p") == ("assumed", None)


def test_a_snapshot_that_does_not_list_it_has_seen_that_it_is_gone() -> None:
    then = GONE.when("cluster", "snapshot", "c", {"kind": "node", "items": []})
    assert {r.entity.id for r in then.transitions} == {"c/p/a", "c/p/b"}
    assert then.rejection is None, "nothing lives that the brake could count"
    assert end_of(then) == ("seen", None)
    assert then.when("cluster", "snapshot", "c", {"kind": "node", "items": []}).records == ()


def test_a_new_life_begins_without_the_end_of_the_last() -> None:
    again = GONE.event("cluster", "create", "c").event("cluster", "created", "c").event("node_pool", "create", "c/p")
    assert end_of(again, "node_pool", "c/p") == (None, None)


# ---- left behind


def test_what_still_reports_below_a_deleted_parent_is_left_behind() -> None:
    then = GONE.when("node", "reported", "c/p/a", RUNNING)
    record = only(then)
    assert (record.before, record.after) == (State(DELETED), State(DELETED))
    assert end_of(then) == ("contradicted", ("Running", ("Ok",)))
    assert "still there, Running [Ok]: the node_pool c/p is deleted" in str(record.message)
    assert record.entity.attributes["shows"]["event"] == END + 1
    assert end_of(then, "node_pool", "c/p") == ("assumed", None)
    assert str(then.entity("cluster", "c").facets[0].state) == DELETED, "no parent is adopted"


def test_the_same_report_again_is_no_news_and_another_state_is() -> None:
    left = GONE.event("node", "reported", "c/p/a", RUNNING)
    assert left.when("node", "reported", "c/p/a", RUNNING).records == ()
    failed = left.when("node", "reported", "c/p/a", {"phase": "Failed", "conditions": ["NotReady"]})
    assert end_of(failed) == ("contradicted", ("Failed", ("NotReady",)))
    assert failed.when("node", "adopt", "c/p/a", {"phase": "Failed", "conditions": ["NotReady"]}).records == ()


def test_adopt_and_items_of_a_snapshot_of_a_deleted_place_say_it_too() -> None:
    assert end_of(GONE.when("node", "adopt", "c/p/a", RUNNING))[0] == "contradicted"
    items = [{"id": "p/a", "phase": "Running"}, {"id": "p/x", "phase": "Running"}, {"id": "q/y", "phase": "Running"}]
    then = GONE.when("cluster", "snapshot", "c", {"kind": "node", "items": items})
    assert end_of(then)[0] == "contradicted"
    assert end_of(then, entity_id="c/p/x")[0] == "contradicted", "an unknown machine has a place too"
    assert end_of(then, entity_id="c/p/b") == ("seen", None)
    assert then.rejection is not None
    assert [(one.id, one.reason) for one in then.rejection.left_out] == [("q/y", "unknown_parent")]


def test_an_unknown_machine_below_a_deleted_pool_has_a_place() -> None:
    then = GONE.when("node", "reported", "c/p/new", RUNNING)
    record = only(then)
    assert (record.before, record.after) == (None, State(DELETED))
    assert end_of(then, entity_id="c/p/new") == ("contradicted", ("Running", ("Ok",)))
    assert reason(GONE.when("node", "reported", "c/q/new", RUNNING)) == "unknown_parent"
    assert reason(GONE.when("node", "reported", "c/p/new", {**RUNNING, "seen": END - 1})) == "stale"


def test_who_has_not_seen_the_end_says_nothing_of_what_comes_after() -> None:
    assert reason(GONE.when("node", "reported", "c/p/a", {**RUNNING, "seen": END - 1})) == "stale"
    assert end_of(GONE.when("node", "reported", "c/p/a", {**RUNNING, "seen": END}))[0] == "contradicted"
    seen = GONE.event("node", "deleted", "c/p/a")
    assert reason(seen.when("node", "reported", "c/p/a", RUNNING)) == "stale"
    assert end_of(seen.when("node", "reported", "c/p/a", {**RUNNING, "seen": seen.position - 1}))[0] == "contradicted"


def test_what_cannot_be_is_refused_and_other_observations_as_before() -> None:
    assert reason(GONE.when("node", "reported", "c/p/a", {"phase": "Failed", "conditions": ["Ok"]})) == "invalid"
    assert reason(GONE.when("node", "not_ready", "c/p/a")) == "unknown_parent"
    assert reason(GONE.when("node", "delete", "c/p/a")) == "unknown_parent"


def test_a_contradicted_end_is_seen_by_who_has_read_the_contradiction() -> None:
    left = GONE.event("node", "reported", "c/p/a", RUNNING)
    assert left.when("node", "deleted", "c/p/a", {"seen": END}).records == ()
    assert end_of(left.when("node", "deleted", "c/p/a", {"seen": left.position - 1})) == ("seen", None)
    assert end_of(left.when("node", "deleted", "c/p/a")) == ("seen", None)


def test_under_a_parent_that_lives_again_a_report_begins_a_new_life() -> None:
    left = GONE.event("node", "reported", "c/p/a", RUNNING)
    again = left.event("cluster", "reported", "c", {**RUNNING, "seen": left.position - 1})
    again = again.event("node_pool", "reported", "c/p", RUNNING)
    then = again.when("node", "reported", "c/p/a", RUNNING)
    assert str(then.entity("node", "c/p/a").facets[0].state) == "Running [Ok]"
    assert end_of(then) == (None, None)


def test_no_tally_view_or_cascade_sees_it() -> None:
    lone = ALIVE.event("node_pool", "deleted", "c/p").event("node", "reported", "c/p/a", {"phase": "Creating"})
    assert str(lone.entity("cluster", "c").facets[0].state) == "Running [Ok]"
    then = lone.when("cluster", "delete", "c")
    assert {r.entity.kind for r in then.transitions} == {"cluster"}


def test_a_number_of_its_source_is_remembered() -> None:
    numbered = GONE.when("node", "reported", "c/p/a", RUNNING, source="/m", sequence=4)
    assert numbered.entity("node", "c/p/a").sequences == {"/m": 4}
    assert numbered.when("node", "reported", "c/p/a", {"phase": "Stopped"}, source="/m", sequence=4).records == ()
    older = numbered.when("node", "reported", "c/p/a", {"phase": "Stopped"}, source="/m", sequence=3).rejection
    assert older is not None
    assert older.reason == "repeat"


# ---- how it is told


def test_what_consoles_say_of_it() -> None:
    facet = KINDS["node"].table.facets[0]
    for given, en, state_class in (
        (GONE, "Deleted (not seen)", "gone"),
        (GONE.event("node", "deleted", "c/p/a"), "Deleted", "gone"),
        (GONE.event("node", "reported", "c/p/a", RUNNING), "Deleted (not seen), left behind", "bad"),
    ):
        entity = given.entity("node", "c/p/a")
        shown = state_for_people(entity.facets[0].state, entity.attributes)
        assert (label_of(facet, shown, "en"), class_of(facet, shown)) == (en, state_class)
