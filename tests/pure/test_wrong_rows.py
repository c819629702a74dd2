"""A table whose rows, phases or labels can never be used is refused, with what to write instead.

Belongs here: what shows when the rows of one facet are followed. Does not: names and references (`test_wrong_tables`).
"""

from dataclasses import replace
from typing import Any

import pytest

from phaseline.machines.compiler import reachability
from phaseline.machines.compiler.checks import WrongTable, check_table
from phaseline.machines.compiler.completion import completed
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.machine import FacetMachine
from phaseline.machines.language.table import (
    ABSENT,
    DELETED,
    FROM_DATA,
    LIVE,
    OK,
    SAME,
    At,
    Facet,
    Label,
    Row,
    Table,
    Timeout,
    View,
)
from tests.support.lamp_table import FACET, HOT, LABELS, ROWS, lamp, refusal, stuck

LATER = (("Off", "Dust"), ("Ready", OK), ("Clean", OK))


def with_row(row: Row, **changes: Any) -> Table:
    return lamp(replace(FACET, rows=(*ROWS, row), **changes))


def pending(*rows: Row, views: tuple[View, ...] = ()) -> Table:
    """A lamp that is asked to start, and of which no report can say that it has started."""
    asked = (Row(("On",), "stop", "Off"), Row(("Off",), "start", "Starting"), Row(("Starting",), "stop", "Off"))
    labels = (*LABELS[:2], Label("Starting", OK, "Starting"))
    rows = (ROWS[0], *asked, Row((LIVE,), "end", DELETED), *rows)
    facet = Facet("phase", labels=labels, rows=rows, views=views, pending=("Starting",))
    return lamp(facet, intents=("create", "start", "stop", "end"), fields={})


def interrupted() -> Table:
    """A lamp that is cleaned only if it was Off, broke, and got dirty: Off comes back with the last cause.

    It can be Off only after it has been dirty, so what is broken and dirty must be looked at a second time.
    """
    labels = (*LABELS[:3], *(Label(phase, condition, phase) for phase, condition in LATER))
    rows = (
        Row((ABSENT, DELETED), "create", "On"),
        Row(("On", "Off"), "heat", "Broken", condition="Heat"),
        Row(("Broken",), "dirty", SAME, sets="Dust"),
        Row((At("Broken", has="Heat"),), "cooled", SAME, clears=("Heat",)),
        Row((At("Broken", has="Dust"),), "prepare", "Ready", clears=("Dust",)),
        Row(("Ready",), "switched_off", "Off"),
        Row((At("Off", has="Dust"),), "cleaned", "Clean", clears=("Dust",)),
        Row((LIVE,), "deleted", DELETED),
    )
    return lamp(replace(FACET, labels=labels, rows=rows, sticky=("Dust",)))


# fmt: off
WRONG = {
    "nothing leads there": (
        with_row(Row(("On",), "dim", "Off"), labels=(*LABELS, Label("Dim", OK, "Dim"))),
        "phase: no row leads to Dim: add one, or remove its label"),
    "a condition that never comes": (
        lamp(replace(FACET, labels=(*LABELS, Label("Broken", "Fall", "Broken")))),
        "phase: Broken [Fall] can never arise: add a row that leads to it, or remove its label"),
    "a phase without conditions that never comes": (lamp(replace(FACET, labels=(*LABELS, Label("Dim", None, "Dim", state_class="excused")))), "phase: Dim can never arise: add a row that leads to it, or remove its label"),
    "a condition that a view keeps, but no base has": (
        lamp(replace(FACET, labels=(*LABELS, Label("Off", "Dust", "Off")), views=(View("Off", (HOT,), base=("Broken",), keeps=("Heat", "Dust")),))),
        "phase: Off [Dust] can never arise: add a row that leads to it, or remove its label"),
    "never reached, though data chooses": (with_row(Row((ABSENT, At(ABSENT)), "adopt", FROM_DATA)),
        "phase: adopt from Absent: the row to On is never taken, because the row to On before it always fits"),
    "a dead end": (
        stuck(Row(("On",), "smashed", "Off")),
        "phase: no row leads out of Off: add one (a final phase must be Deleted)"),
    "a dead end that only turns in itself": (
        stuck(Row(("On",), "smashed", "Off"), Row(("Off",), "smashed_again", "Off")),
        "phase: no row leads out of Off: add one (a final phase must be Deleted)"),
    "never reached": (
        with_row(Row(("On",), "switched_off", DELETED)),
        "phase: switched_off from On: the row to Deleted is never taken, because the row to Off before it always fits: narrow the earlier row (when=, given=, At(...)), or remove one of the two"),
    "never reached, though narrow": (
        lamp(replace(FACET, rows=(*ROWS, Row((At("Broken", has="Rust"),), "mended", "On"), Row((At("Broken", has="Rust"),), "mended", "Off")))),
        "phase: mended from Broken: the row to Off is never taken, because the row to On before it always fits: narrow the earlier row (when=, given=, At(...)), or remove one of the two"),
    "never reached, one later": (
        lamp(replace(FACET, rows=(*ROWS, Row(("On",), "dim", "Off"), Row((At("On", lacks=("Rust",)),), "dim", DELETED, when=(HOT,))))),
        "phase: dim from On: the row to Deleted is never taken, because the row to Off before it always fits: narrow the earlier row (when=, given=, At(...)), or remove one of the two"),
    "a timeout whose trigger has no row there": (lamp(replace(FACET, timeouts=(Timeout("On", "tire", 5),), rows=(*ROWS, Row(("Off",), "tire", "On"))), derived=("tire",)), "phase, timeout of On: no row of tire fits there, so it changes nothing: "
        "let a row start from the base under On (On)"),
    "a timeout whose trigger has no row under its view": (
        lamp(replace(FACET, labels=(*LABELS, Label("Glowing", OK, "Glowing")), views=(View("Glowing", (HOT,), base=("Off", "On")),),
                     timeouts=(Timeout("Glowing", "tire", 5),), rows=(*ROWS, Row(("Broken",), "tire", "On"))), derived=("tire",)),
        "phase, timeout of Glowing: no row of tire fits there, so it changes nothing: let a row start from the base under Glowing (On, Off)"),
    "a timeout whose row needs what is never there": (
        lamp(replace(FACET, timeouts=(Timeout("On", "tire", 5),), rows=(*ROWS, Row((At("On", has="Heat"), At("On", base="Off")), "tire", "Off"))), derived=("tire",)),
        "phase, timeout of On: no row of tire fits there"),
    "pending, but only an intent ends it": (pending(), "phase: Starting is pending, but no observation leads out of Starting, so no report could be the answer: "
        "add a row for an observation, or remove Starting from pending="),
    "pending, but an observation only repeats it": (pending(Row(("Starting",), "seen", SAME)), "phase: Starting is pending, but no observation leads out of Starting"),
    "pending, but a view covers another phase": (pending(views=(View("On", (HOT,), base=("On",)),)), "phase: Starting is pending, but no observation leads out of Starting"),
}
RIGHT = {
    "a timer whose row asks for a condition and a base": lamp(
        replace(FACET, rows=(*ROWS, Row((At("Broken", has="Heat", base="Broken"),), "tire", "Off")), timeouts=(Timeout("Broken", "tire", 5),)), derived=("tire",)),
    "a label of a condition that a view keeps": lamp(
        replace(FACET, labels=(*LABELS, Label("Off", "Heat", "Off")), views=(View("Off", (HOT,), base=("Broken",), keeps=("Heat",)),))),
    "data that chooses before a row that does not": lamp(replace(FACET, rows=(*ROWS, Row((ABSENT,), "adopt", FROM_DATA), Row((ABSENT,), "adopt", "Off")))),
    "pending until an observation": pending(Row(("Starting",), "started", "On")),
    "pending under a view": pending(views=(View("On", (HOT,), base=("Starting",)),)),
    "a phase that follows only on an interruption": interrupted(),
}
# fmt: on


@pytest.mark.parametrize("wrong", WRONG.values(), ids=list(WRONG))
def test_is_refused(wrong: tuple[Table, str]) -> None:
    table, says = wrong
    assert says in refusal(table)


@pytest.mark.parametrize("right", RIGHT.values(), ids=list(RIGHT))
def test_is_not_refused(right: Table) -> None:
    """Each differs little from one that is refused."""
    check_table(right)


def test_phases_that_only_a_view_shows_need_no_rows() -> None:
    labels = (*LABELS, Label("Glowing", OK, "Glowing"))
    seen = lamp(replace(FACET, labels=labels, views=(View("Glowing", (HOT,), base=("On",)),)))
    assert list(Kinds((seen,))) == ["lamp"]


def test_what_is_asked_of_a_phase_that_only_a_view_shows_can_be_reached() -> None:
    labels = (*LABELS, Label("Glowing", OK, "Glowing"), Label("Doused", OK, "Doused"))
    rows = (*ROWS, Row((At("Glowing", base="On"),), "douse", "Doused"))
    facet = replace(FACET, labels=labels, rows=rows, views=(View("Glowing", (HOT,), base=("On",)),))
    assert list(Kinds((lamp(facet, intents=("create", "douse")),))) == ["lamp"]
    assert "no row leads to Doused" in refusal(lamp(facet))


def test_the_end_of_its_owner_is_no_way_out_of_a_phase() -> None:
    dead_end = replace(stuck(Row(("On",), "smashed", "Off")), parent="room")
    with pytest.raises(WrongTable) as caught:
        check_table(completed(dead_end, ()))
    assert caught.value.problems == ["phase: no row leads out of Off: add one (a final phase must be Deleted)"]


def test_the_row_of_a_timeout_starts_from_the_base_under_its_phase() -> None:
    facet = replace(
        FACET,
        labels=(*LABELS, Label("Glowing", OK, "Glowing")),
        rows=(*ROWS, Row(("On",), "tire", "Off")),
        views=(View("Glowing", (HOT,), base=("On",)),),
        timeouts=(Timeout("Glowing", "tire", 5),),
    )
    assert list(Kinds((lamp(facet, derived=("tire",)),))) == ["lamp"]
    shown = replace(facet, rows=(*ROWS, Row(("Glowing",), "tire", "Off")))
    assert "let a row start from the base under Glowing (On)" in refusal(lamp(shown, derived=("tire",)))


def test_the_row_of_a_timeout_may_stand_in_another_facet() -> None:
    other = replace(FACET, name="heat", rows=(*ROWS, Row(("On",), "tire", "Off")))
    facet = replace(FACET, timeouts=(Timeout("On", "tire", 5),))
    assert list(Kinds((lamp(facets=(facet, other), derived=("tire",)),))) == ["lamp"]


def test_the_bound_of_bases_is_the_one_the_text_names(monkeypatch: pytest.MonkeyPatch) -> None:
    assert reachability.MAX_BASES == 5000
    number = len(reachability.reachable(FacetMachine(FACET), ()))
    monkeypatch.setattr(reachability, "MAX_BASES", number)
    check_table(lamp())
    monkeypatch.setattr(reachability, "MAX_BASES", number - 1)
    assert (
        refusal(lamp())
        == f"phase: more than {number - 1} bases can arise: let fewer conditions accumulate in one phase"
    )


def test_beyond_the_bound_no_further_bases_are_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    causes = [f"C{number}" for number in range(8)]
    labels = (*LABELS, *(Label("Broken", cause, "Broken") for cause in causes))
    rows = (*ROWS, *(Row((LIVE,), cause.lower(), "Broken", condition=cause) for cause in causes))
    machine = FacetMachine(replace(FACET, labels=labels, rows=rows))
    assert len(reachability.reachable(machine, ())) > 1_000
    monkeypatch.setattr(reachability, "MAX_BASES", 10)
    assert len(reachability.reachable(machine, ())) < 40
