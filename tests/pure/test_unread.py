"""Fields of an event's data that nothing reads: requests are rejected, observations name them.

Belongs here: single events on a tree. Does not: random data (`tests/laws/test_unread_laws.py`), what commands show.
"""

from typing import Any

import pytest

from phaseline.engine.core.reading.unread import LONGEST, MOST, named_only
from phaseline.engine.surfaces.testing.histories import History, event
from phaseline.machines.compiler.checks import WrongTable
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.table import ABSENT, LIVE, OK, SAME, Facet, Label, Row, Table
from phaseline.schemas.records import Mark, Record, Rejection, Transition
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.own_product import OWN


def started() -> History:
    history = History(BUILT_IN_KINDS)
    history.take(event("node", "reported", "c/p/n", {"phase": "Running"}))
    return history


def take(history: History, trigger: str, data: dict[str, Any], at: str = "node c/p/n", **more: Any) -> list[Record]:
    kind, _, entity_id = at.partition(" ")
    return history.take(event(kind, trigger, entity_id, data, **more)).records


def only(records: list[Record]) -> Record:
    [record] = records
    return record


def test_a_request_with_such_a_field_is_rejected_and_says_what_was_meant() -> None:
    rejection = only(take(started(), "configure", {"desierd": 3}, at="node_pool c/p"))
    assert isinstance(rejection, Rejection)
    assert rejection.reason == "invalid"
    assert rejection.message.startswith(
        "nothing reads data.desierd (did you mean desired?); configure of node_pool has attributes, autoscaling_mode, "
    )
    assert ", message, reason, " in rejection.message


def test_who_else_may_set_an_attribute_comes_before_a_similar_name() -> None:
    rejection = only(take(started(), "scale", {"version": "v2"}, at="node_pool c/p"))
    assert isinstance(rejection, Rejection)
    assert rejection.message.startswith("nothing reads data.version (create, update or configure may set it); scale ")
    rejection = only(take(started(), "updated", {"version": "v2", "moods": 1}, at="node_pool c/q"))
    assert isinstance(rejection, Rejection)
    assert rejection.message.endswith(
        "needs Updating; nothing reads data.moods, data.version (adopt or reported may set it)"
    )


def test_an_observation_is_taken_without_it_and_its_record_names_it() -> None:
    data = {"reson": "KubeletStopped", "condition": "MemoryPressure"}
    record, *cascade = take(started(), "not_ready", data)
    assert isinstance(record, Transition)
    assert record.noted.unread == ("condition", "reson")
    assert all(not isinstance(one, Rejection) and one.noted.unread == () for one in cascade)


@pytest.mark.parametrize("sequence", [None, 7])
def test_a_redundant_observation_makes_a_mark_that_names_it(sequence: int | None) -> None:
    history = started()
    record = only(take(history, "reported", {"phase": "Running", "zone": "a"}, sequence=sequence))
    assert isinstance(record, Mark)
    assert record.noted.unread == ("zone",)
    assert dict(record.entity.sequences) == ({} if sequence is None else {"/t": 7})
    assert record.entity.version == 1
    assert not take(history, "reported", {"phase": "Running"})


def test_a_repeat_makes_no_second_record() -> None:
    history = started()
    take(history, "reported", {"phase": "Running", "zone": "a"}, sequence=7)
    assert not take(history, "reported", {"phase": "Running", "zone": "a"}, sequence=7)


def test_a_rejected_observation_names_it_in_its_message_and_is_not_remembered() -> None:
    history = started()
    take(history, "deleted", {})
    rejection = only(take(history, "not_ready", {"reson": "x"}, sequence=1))
    assert isinstance(rejection, Rejection)
    assert rejection.message.endswith("; nothing reads data.reson (did you mean reason?)")
    assert history.tree.entities["node"]["c/p/n"].sequences == {}


def test_what_is_unknown_and_changes_nothing_is_rejected_for_it() -> None:
    rejection = only(take(History(BUILT_IN_KINDS), "reported", {"phase": "Deleted", "by": "me"}))
    assert isinstance(rejection, Rejection)
    assert rejection.reason == "invalid"
    assert "node c/p/n is Absent, and the event changes nothing: nothing reads data.by" in rejection.message


def test_items_of_a_snapshot_are_taken_and_its_own_record_names_their_fields() -> None:
    history = started()
    items = [
        {"id": "p/n", "phase": "Failed", "conditions": ["NotReady"], "zone": "a"},
        {"id": "p/m", "phase": "Running", "attributes": {"phase": "Failed", "heard_at": 9}},
    ]
    moved, added, mark = take(history, "snapshot", {"kind": "node", "items": items}, at="cluster c")[-3:]
    assert [str(one.after) for one in (moved, added) if isinstance(one, Transition)] == [
        "Failed [NotReady]",
        "Running [Ok]",
    ]
    assert isinstance(mark, Mark)
    assert (mark.entity.kind, mark.noted.unread) == ("cluster", ("items[].attributes.heard_at", "items[].zone"))
    assert isinstance(added, Transition)
    assert added.entity.attributes["free"] == {"phase": "Failed"}, "no field of the report"
    [again] = take(history, "snapshot", {"kind": "node", "items": items[:1], "after": "p/m"}, at="cluster c")
    assert isinstance(again, Mark)
    assert again.noted.unread == ("items[].zone",)


def test_the_objects_of_others_may_hold_anything() -> None:
    history = History(BUILT_IN_KINDS)
    history.take(event("application", "configure", "s/a", {}))
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "d"}}
    at = "resource s/a/core:ConfigMap/d/m"
    for record in take(history, "observed", {"live": manifest, "tomorrows_field": 1}, at=at):
        assert isinstance(record, Transition)
        assert record.noted.unread == ()
    assert not take(history, "observed", {"live": manifest, "tomorrows_field": 1}, at=at)


def test_records_name_some_and_count_the_others() -> None:
    names = [f"field{number:02}" for number in range(MOST + 3)]
    assert named_only(names) == (*names[:MOST], "and 3 more")
    assert named_only(names[:MOST]) == tuple(names[:MOST])
    assert len(named_only(["x" * 1_000])[0]) == LONGEST


def test_a_table_names_triggers_that_carry_objects() -> None:
    lamp = Table(
        kind="lamp", id=("lamp",), intents=(), carries=("seen", "sene"),
        facets=(Facet("phase", labels=(Label("On", OK, "On"),), rows=(
            Row((ABSENT,), "seen", "On"), Row((LIVE,), "seen", SAME),
        )),),
    )  # fmt: skip
    with pytest.raises(WrongTable, match=r"carries: trigger sene has no row \(did you mean seen\?\)"):
        Kinds((lamp,), products=OWN)
