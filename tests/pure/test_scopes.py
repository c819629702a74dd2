"""Whose condition it is: what a report clears, and what stays (docs/reports.md, Whose condition it is)."""

from typing import Any

import pytest

from phaseline import testing
from phaseline.machines.compiler.checks import WrongTable
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.table import Facet, Label, Row, Table
from phaseline.schemas.records import Rejection, Transition
from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS

POOL = testing.given(KINDS).state("cluster", "c", "Running").state("node_pool", "c/p", "Running")
N = "c/p/n"


def failed(*conditions: str) -> testing.Given:
    return POOL.state("node", N, "Failed", conditions=list(conditions))


def report(given: testing.Given, **data: Any) -> Transition | Rejection | None:
    """The node's own record of a report."""
    records = given.when("node", "reported", N, data).records
    own = [one for one in records if isinstance(one, Rejection) or one.entity.kind == "node"]
    assert len(own) <= 1
    assert not own or isinstance(own[0], Transition | Rejection)
    return own[0] if own else None  # type: ignore[return-value]  # the line before says it


def moved(given: testing.Given, **data: Any) -> tuple[str, tuple[str, ...], str | None, bool]:
    """The base after a report, what stayed, what its causes interrupted, and whether nobody asked for it."""
    record = report(given, **data)
    assert isinstance(record, Transition), record
    facet = record.entity.facets[0]
    return str(facet.base), record.noted.stayed, facet.interrupted, record.unasked


def test_who_sees_the_server_says_nothing_of_its_bill_its_kubelet_or_its_cordon() -> None:
    for standing in (("Unschedulable", "Balance"), ("NotReady",), ("Balance", "NotReady")):
        assert report(failed(*standing), phase="Running") is None


def test_what_is_in_its_scope_is_cleared() -> None:
    assert moved(failed("Unknown", "Unschedulable", "Balance"), phase="Running") == (
        "Failed [Unschedulable, Balance]", ("Unschedulable", "Balance"), None, False,
    )  # fmt: skip
    assert moved(failed("NotReady"), phase="Running", conditions=["Ok"]) == ("Running [Ok]", (), None, False)
    assert moved(failed("NotReady"), phase="Running", conditions=[]) == ("Running [Ok]", (), None, False)


def test_a_report_says_what_it_is_about() -> None:
    both = failed("Balance", "NotReady")
    assert moved(both, phase="Running", about=["Balance"]) == ("Failed [NotReady]", ("NotReady",), None, False)
    assert moved(both, phase="Running", about=["Balance", "NotReady"]) == ("Running [Ok]", (), None, True)
    assert report(both, phase="Running", about=[]) is None
    assert moved(both, phase="Failed", about=["NotReady"]) == ("Failed [Balance]", ("Balance",), None, False)


def test_what_a_report_names_it_sets() -> None:
    named = moved(failed("Balance"), phase="Failed", conditions=["NotReady"], about=["NotReady"])
    assert named == ("Failed [Balance, NotReady]", ("Balance",), None, False)


def test_the_reported_phase_is_what_the_standing_causes_interrupt() -> None:
    given = failed("Balance")
    assert moved(given, phase="Stopped") == ("Failed [Balance]", ("Balance",), "Stopped", True)
    stopped = given.event("node", "reported", N, {"phase": "Stopped"})
    assert report(stopped, phase="Stopped") is None
    assert str(stopped.event("node", "renewed", N).entity("node", N).facets[0].base) == "Stopped [Ok]"
    assert moved(stopped, phase="Running") == ("Failed [Balance]", ("Balance",), None, True)


def test_a_cordon_stays_where_the_phase_can_have_it() -> None:
    cordoned = POOL.state("node", N, "Running", conditions=["Unschedulable"])
    stopped = moved(cordoned, phase="Stopped", conditions=["Ok"])
    assert stopped == ("Stopped [Unschedulable]", ("Unschedulable",), None, True)
    assert moved(cordoned, phase="Creating", seen=1)[:2] == ("Creating [Progressing]", ())


def test_nothing_interrupts_a_removal() -> None:
    assert moved(failed("NotReady", "Balance"), phase="Deleting")[:2] == (
        "Deleting [Balance, Progressing]",
        ("Balance",),
    )
    assert moved(failed("NotReady"), phase="Deleting")[:2] == ("Deleting [Progressing]", ())


def test_what_cannot_be_is_rejected_whatever_stays() -> None:
    refused = report(failed("Balance"), phase="Running", conditions=["NotReady"])
    assert isinstance(refused, Rejection)
    assert refused.reason == "invalid"


def test_a_report_that_names_no_cause_asserts_none() -> None:
    for kind, entity_id in (("cluster", "c"), ("node_pool", "c/p"), ("component", "c/dns")):
        given = (
            testing.given(KINDS)
            .state("cluster", "c", "Running")
            .event(kind, "reported", entity_id, {"phase": "Running"})
        )
        refused = given.when(kind, "reported", entity_id, {"phase": "Failed"}).rejection
        assert refused is not None
        assert refused.reason == "invalid"


def test_a_wrong_scope_is_rejected() -> None:
    for about, word in ((["Balanse"], "did you mean Balance?"), (["Balance", "Balance"], "twice"), ("Balance", "list")):
        refused = report(failed("Balance"), phase="Running", about=about)
        assert isinstance(refused, Rejection)
        assert (refused.reason, word in refused.message) == ("invalid", True), refused.message


# ---- snapshots


def listed(given: testing.Given, *items: dict[str, Any], **data: Any) -> testing.Then:
    return given.when("node_pool", "snapshot", "c/p", {"kind": "node", "items": list(items), **data})


def test_a_snapshot_has_the_scope_of_its_reporter() -> None:
    given = failed("Balance", "NotReady")
    assert listed(given, {"id": "n", "phase": "Running"}).transitions == ()
    for then in (
        listed(given, {"id": "n", "phase": "Failed"}, about=["NotReady"]),
        listed(given, {"id": "n", "phase": "Failed", "about": ["NotReady"]}, about=["Balance"]),
    ):
        own = [one for one in then.transitions if one.entity.kind == "node"]
        assert [(str(one.after), one.noted.stayed) for one in own] == [("Failed [Balance]", ("Balance",))]


def test_a_wrong_scope_of_a_snapshot_is_rejected_as_a_whole() -> None:
    for about in (["Balanse"], "Balance"):
        then = listed(failed("Balance"), {"id": "n", "phase": "Running"}, about=about)
        assert then.rejection is not None
        assert then.rejection.reason == "invalid"
        assert then.transitions == ()
    then = listed(failed("Balance"), {"id": "n", "phase": "Running", "about": 7})
    assert then.rejection is not None
    assert "data.about must be a list of str" in then.rejection.message


# ---- tables


def test_a_condition_with_a_reporter_of_its_own_has_a_label() -> None:
    facet = Facet(
        "phase", labels=(Label("On", "Ok", "On"),), rows=(Row(("Absent",), "made", "On"), Row(("On",), "gone", "Deleted")),
        own_reporter=("Blind",),
    )  # fmt: skip
    with pytest.raises(WrongTable, match="condition Blind in own_reporter= has no label"):
        Kinds([Table("lamp", ("id",), (facet,), intents=())])
