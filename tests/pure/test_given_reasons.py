"""Reasons are words, kept for each condition; another one is news (docs/reports.md, Reasons)."""

from typing import Any

import pytest

from phaseline import testing
from phaseline.engine.core.memory import reasons
from phaseline.schemas.records import Mark, Transition
from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS

POOL = testing.given(KINDS).state("cluster", "c", "Running").state("node_pool", "c/p", "Running")
RUNNING = POOL.state("node", "c/p/n", "Running")
N = "c/p/n"


def kept(given: testing.Given, kind: str = "node", entity_id: str = N) -> dict[str, str]:
    memory = given.entity(kind, entity_id).memory
    return {} if memory is None else dict(memory.reasons)


def told(given: testing.Given, trigger: str, **data: Any) -> list[Transition]:
    """The records of the node alone."""
    records = given.when("node", trigger, N, data).transitions
    return [one for one in records if one.entity.kind == "node"]


def follow(given: testing.Given, *events: tuple[str, dict[str, Any]]) -> testing.Given:
    for trigger, data in events:
        given = given.event("node", trigger, N, data)
    return given


# ---- another reason is news, another message is none


def test_another_reason_for_the_same_condition_is_a_transition_with_equal_states() -> None:
    failed = follow(RUNNING, ("not_ready", {"reason": "KubeletStopped", "message": "no lease"}))
    assert kept(failed) == {"NotReady": "KubeletStopped"}
    assert told(failed, "not_ready", reason="KubeletStopped", message="no lease for 2 m") == []
    assert told(failed, "not_ready", message="no lease for 3 m") == []
    [record] = told(failed, "not_ready", reason="NetworkPluginNotReady")
    assert record.before == record.after
    assert (record.reason, str(record.after)) == ("NetworkPluginNotReady", "Failed [NotReady]")
    assert record.entity.facets[0].since_ns == failed.entity("node", N).facets[0].since_ns
    assert kept(follow(failed, ("not_ready", {"reason": "NetworkPluginNotReady"}))) == {
        "NotReady": "NetworkPluginNotReady"
    }


def test_a_reason_ends_with_its_condition() -> None:
    both = follow(RUNNING, ("not_ready", {"reason": "KubeletStopped"}), ("overdue", {"reason": "Unpaid"}))
    assert kept(both) == {"Balance": "Unpaid", "NotReady": "KubeletStopped"}
    paid = follow(both, ("renewed", {"reason": "Paid"}))
    assert kept(paid) == {"NotReady": "KubeletStopped"}
    assert kept(follow(paid, ("ready", {}))) == {}
    assert follow(paid, ("ready", {})).entity("node", N).memory is None
    assert kept(follow(both, ("deleted", {}))) == {}


def test_the_reason_of_a_phase_ends_with_the_phase() -> None:
    updating = follow(RUNNING, ("update", {"reason": "SecurityPatch"}))
    assert kept(updating) == {"Progressing": "SecurityPatch"}
    assert kept(follow(updating, ("delete", {}))) == {}
    assert kept(follow(updating, ("updated", {"reason": "Done"}))) == {}


def test_what_no_row_takes_any_more_is_news_too() -> None:
    failed = follow(RUNNING, ("delete", {}), ("cleanup_failed", {"reason": "VolumeInUse"}))
    assert told(failed, "cleanup_failed", reason="VolumeInUse") == []
    [record] = told(failed, "cleanup_failed", reason="LoadBalancerInUse")
    assert record.before == record.after
    assert kept(follow(failed, ("cleanup_failed", {"reason": "LoadBalancerInUse"}))) == {
        "ResourceCleanupFailed": "LoadBalancerInUse"
    }


def test_that_all_is_well_has_no_reason() -> None:
    assert told(RUNNING, "ready", reason="KubeletReady") == []
    assert told(RUNNING, "reported", phase="Running", reason="InstanceRunning") == []
    assert kept(follow(RUNNING, ("not_ready", {"reason": "A"}), ("ready", {"reason": "KubeletReady"}))) == {}


def test_reports_give_reasons_for_what_they_name() -> None:
    failed = follow(RUNNING, ("overdue", {"reason": "Unpaid"}))
    named = {"phase": "Failed", "conditions": ["NotReady"], "about": ["NotReady"], "reason": "KubeletStopped"}
    both = follow(failed, ("reported", named))
    assert kept(both) == {"Balance": "Unpaid", "NotReady": "KubeletStopped"}
    assert told(both, "reported", **named) == []
    [record] = told(both, "reported", **{**named, "reason": "Other"})
    assert record.noted.stayed == ("Balance",)
    assert kept(follow(both, ("reported", {**named, "reason": "Other"}))) == {"Balance": "Unpaid", "NotReady": "Other"}
    assert told(both, "reported", phase="Running", reason="InstanceRunning") == []
    assert told(failed, "reported", phase="Failed", reason="Frozen")[0].reason == "Frozen"
    assert told(both, "reported", phase="Failed", reason="Frozen") == []


def test_an_item_of_a_snapshot_gives_a_reason() -> None:
    failed = follow(RUNNING, ("not_ready", {"reason": "KubeletStopped"}))
    item = {"id": "n", "phase": "Failed", "conditions": ["NotReady"], "reason": "KubeletStopped"}
    for reason, count in (("KubeletStopped", 0), ("Other", 1), ("the kubelet is down", 0)):
        then = failed.when("node_pool", "snapshot", "c/p", {"kind": "node", "items": [{**item, "reason": reason}]})
        assert [one.reason for one in then.transitions if one.entity.kind == "node"] == [reason] * count


def test_a_numbered_event_that_is_no_news_still_leaves_a_mark() -> None:
    failed = follow(RUNNING, ("not_ready", {"reason": "A"}))
    [mark] = failed.when("node", "not_ready", N, {"reason": "A"}, sequence=7).records
    assert isinstance(mark, Mark)
    [record] = failed.when("node", "not_ready", N, {"reason": "B"}, sequence=7).records
    assert isinstance(record, Transition)
    assert record.entity.sequences == {"/test": 7}


def test_kinds_without_conditions_keep_the_reason_of_their_phase() -> None:
    app = (
        testing.given(KINDS)
        .state("emco_resource", "r", "Instantiated")
        .state("app_context", "r/1", "Instantiated", base="Instantiate")
    )
    given = (
        app.state("app_cluster", "r/1/a/c", "Available")
        .state("rsync_resource", "r/1/a/c/x+Pod", "Pending")
        .event("rsync_resource", "failed", "r/1/a/c/x+Pod", {"reason": "QuotaExceeded"})
    )
    assert kept(given, "rsync_resource", "r/1/a/c/x+Pod") == {"Failed": "QuotaExceeded"}
    again = given.when("rsync_resource", "failed", "r/1/a/c/x+Pod", {"reason": "NoKubeconfig"})
    assert [one.reason for one in again.transitions] == ["NoKubeconfig"]


# ---- what is a reason


@pytest.mark.parametrize("word", ["KubeletStopped", "aws:Server.SpotInstanceTermination", "exit-137_oom", "x" * 64])
def test_a_word_is_a_reason(word: str) -> None:
    assert reasons.worded({"reason": word, "message": "m"}) == {"reason": word, "message": "m"}


@pytest.mark.parametrize("said", ["no lease since 3 m", "x" * 65, "磁盘已满", "new\nline", " Word "])
def test_anything_else_is_a_message_and_nothing_of_it_is_lost(said: str) -> None:
    assert reasons.worded({"reason": said, "id": 1}) == {"message": said, "id": 1}
    assert reasons.worded({"reason": said, "message": said}) == {"message": said}
    assert reasons.worded({"reason": said, "message": "disk full"}) == {"message": f"{said}: disk full"}
