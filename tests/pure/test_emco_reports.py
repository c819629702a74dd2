"""Snapshots of what rsync has done, after events were lost: they end in the truth, and the context with them.

Belongs here: snapshots below an app cluster and below a context. Does not: how reports are judged in general.
"""

from typing import Any

import pytest

from tests.support.emco_history import CTX, GROUP, KINDS, EmcoHistory, cluster, context, resource, told
from tests.support.strategies import HistoryStep

A, B = resource("dep+Deployment"), resource("svc+Service")
pytestmark = pytest.mark.skipif("snapshot" not in KINDS["app_cluster"].roles, reason="there are no snapshots")


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


def test_a_deletion_that_a_snapshot_shows_ends_pre_terminate() -> None:
    life = applied(A).do("emco_resource", "terminate", GROUP)
    step = snapshot(life, "Terminated", "Pending")
    assert ("app_context c1 phase", "Terminating", "deletion_seen", "cascade") in told(step)


def test_a_snapshot_that_is_older_than_the_request_undoes_nothing() -> None:
    life = applied(A)
    assert snapshot(life, "Applied", "", seen=False).records == []
    assert life.state("app_context", context()) == "Instantiating"
