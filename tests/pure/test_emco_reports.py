"""Snapshots of what rsync has done, after events were lost: they end in the truth, and the context with them.

Belongs here: snapshots below an app cluster and below a context. Does not: how reports are judged in general.
"""

from typing import Any

import pytest

from phaseline.schemas.records import Transition
from tests.support.emco_history import CTX, GROUP, NEW, EmcoHistory, cluster, context, resource, told
from tests.support.strategies import HistoryStep

A, B = resource("dep+Deployment"), resource("svc+Service")


def applied(*resources: str) -> EmcoHistory:
    """A context with A and B was instantiated, and these were applied."""
    life = EmcoHistory().group().context(A, B).do("emco_resource", "instantiate", GROUP, context=CTX)
    return life.each("applied", *resources)


def snapshot(life: EmcoHistory, a: str, b: str, *, seen: bool = True, below: str = "app_cluster") -> HistoryStep:
    """What rsync has of A and B; an empty word for nothing."""
    prefix, where = ("", cluster()) if below == "app_cluster" else ("web/pv+edge1/", context())
    states = {"dep+Deployment": a, "svc+Service": b}
    data: dict[str, Any] = {
        "kind": "rsync_resource",
        "items": [{"id": f"{prefix}{name}", "phase": phase} for name, phase in states.items() if phase],
    }
    return life.say(below, "snapshot", where, **data, **({"seen": len(life.history.steps)} if seen else {}))


@pytest.mark.parametrize("below", ["app_cluster", "app_context"])
@pytest.mark.parametrize(
    ("truth", "becomes"), [("Applied", "Instantiated"), ("Failed", "InstantiateFailed"), ("Retrying", "Instantiating")]
)
def test_a_result_of_instantiating_that_was_lost(below: str, truth: str, becomes: str) -> None:
    life = applied(A)
    step = snapshot(life, "Applied", truth, below=below)
    assert told(step)[0] == ("rsync_resource svc+Service rsync", truth, "reported", "cascade")
    assert [life.state("rsync_resource", B), life.state("app_context", context())] == [truth, becomes]
    assert snapshot(life, "Applied", truth, below=below).records == []


@pytest.mark.parametrize("gone", ["", "Terminated"])
def test_deletions_that_were_lost(gone: str) -> None:
    life = applied(A, B).do("emco_resource", "terminate", GROUP)
    snapshot(life, gone, gone)
    assert life.state("app_context", context()) == "Terminated"
    assert {life.state("rsync_resource", name) for name in (A, B)} <= {"Terminated", "Deleted"}
    life.do("emco_resource", "delete", GROUP)


def test_a_snapshot_that_is_older_than_the_request_undoes_nothing() -> None:
    life = applied(A)
    assert snapshot(life, "Applied", "", seen=False).records == []
    assert life.state("app_context", context()) == "Instantiating"


# ---- what rsync does not hold


@pytest.mark.parametrize("how", ["unlisted", "reported", "item"])
@pytest.mark.parametrize("state", ["PreTerminate", "Terminating", "Updating"])
def test_what_is_gone_from_a_context_that_gives_it_up_is_terminated_as_deleted_says(how: str, state: str) -> None:
    life = asked_to_delete(state)
    step = gone(life, how)
    assert told(step)[0] == ("rsync_resource dep+Deployment rsync", "Terminated", "reported", HOW[how])
    assert [record.unasked for record in step.records if isinstance(record, Transition)].count(True) == 0
    assert [life.state("rsync_resource", A, facet) for facet in (0, 1, 2)] == ["Terminated", "Unknown", "NotAssessed"]
    assert gone(life, how).records == []
    assert life.refused("rsync_resource", "add", A) is not None


@pytest.mark.parametrize("how", ["unlisted", "reported", "item"])
def test_what_is_gone_ends_pre_terminate(how: str) -> None:
    life = asked_to_delete("PreTerminate")
    assert ("app_context c1 phase", "Terminating", "deletion_seen", "cascade") in told(gone(life, how))
    life.each("terminated", B)
    assert life.state("app_context", context()) == "Terminated"


def test_what_waits_ends_only_by_a_report_that_has_seen_the_last_request() -> None:
    life = asked_to_delete("PreTerminate")
    assert snapshot(life, "Applied", "", seen=False).records == []
    assert life.state("app_context", context()) == "PreTerminate"
    snapshot(life, "Applied", "")
    assert [life.state("rsync_resource", B), life.state("app_context", context())] == ["Terminated", "Terminating"]


@pytest.mark.parametrize("how", ["unlisted", "reported", "item"])
def test_what_is_gone_from_an_instantiated_context_is_to_be_applied_again(how: str) -> None:
    life = applied(A, B)
    step = gone(life, how)
    assert told(step)[:2] == [
        ("rsync_resource dep+Deployment rsync", "Pending", "reported", HOW[how]),
        ("app_context c1 phase", "Instantiating", "reported" if how == "reported" else "snapshot", "tally"),
    ]
    assert [record.unasked for record in step.records if isinstance(record, Transition)] == [True, False]
    assert gone(life, how).records == []
    life.each("applied", A)
    assert life.state("app_context", context()) == "Instantiated"


@pytest.mark.parametrize("how", ["unlisted", "reported", "item"])
def test_what_was_never_applied_is_not_news_if_it_is_not_there(how: str) -> None:
    life = EmcoHistory().group().context(A, B)
    assert gone(life, how).records == []
    life.do("emco_resource", "instantiate", GROUP, context=CTX)
    assert gone(life, how).records == []
    life.each("failed", A)
    assert gone(life, how).records == []
    assert life.state("app_context", context()) == "InstantiateFailed"


@pytest.mark.parametrize("truth", ["Pending", "Applied", "Failed", "Retrying", "Terminated"])
@pytest.mark.parametrize("seen", [True, False])
def test_an_old_context_that_still_lists_what_it_handed_over_gets_nothing_back(truth: str, seen: bool) -> None:
    life = applied(A, B).context(resource("dep+Deployment", ctx=NEW), ctx=NEW)
    life.do("emco_resource", "update", GROUP, context=NEW)
    assert [life.state("rsync_resource", name) for name in (A, B)] == ["Deleted", "Applied"]
    assert snapshot(life, truth, "Applied", seen=seen).records == []
    data = {"seen": len(life.history.steps)} if seen else {}
    assert life.say("rsync_resource", "reported", A, phase=truth, **data).records == []
    snapshot(life, truth, "")
    assert [life.state("rsync_resource", name) for name in (A, B)] == ["Deleted", "Terminated"]
    assert life.state("app_context", context()) == "Updated"


HOW = {"unlisted": "cascade", "item": "cascade", "reported": "event"}


def gone(life: EmcoHistory, how: str) -> HistoryStep:
    """The word that rsync does not hold A any more; B is as it was."""
    if how == "reported":
        return life.say("rsync_resource", "reported", A, phase="Deleted", seen=len(life.history.steps))
    return snapshot(life, "" if how == "unlisted" else "Deleted", life.state("rsync_resource", B))


def asked_to_delete(state: str) -> EmcoHistory:
    """A context in this state; A was Applied in it."""
    if state == "Updating":
        life = applied(A, B).context(resource("cm+ConfigMap", ctx=NEW), ctx=NEW)
        life.do("emco_resource", "update", GROUP, context=NEW)
    else:
        life = applied(A) if state == "PreTerminate" else applied(A, B)
        life.do("emco_resource", "terminate", GROUP)
    assert life.state("app_context", context()) == state
    return life
