"""The conditions of one invented facet: after each sort of row, under each sort of view, after an interruption.

Belongs here: the rules of docs/spec/reading-the-tables.md, Conditions, one small example each. Does not: the built-in
tables (`test_tables_exhaustive`).
"""

from dataclasses import replace

import pytest

from phaseline.machines.compiler.conditions import (
    accumulated_conditions,
    base_after,
    own_condition,
    phases_of,
    returns,
    stands_alone,
    starts_of,
    state_shown,
    without_expired,
)
from phaseline.machines.language.predicates import AttributeIs
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
    Live,
    Row,
    View,
)
from phaseline.schemas.records import State, state

LABELS = (
    Label("On", OK, "on"), Label("On", "Dust", "on"), Label("On", "Late", "on"), Label("Off", OK, "off"),
    Label("Broken", "Heat", "broken"), Label("Broken", "Rust", "broken"), Label("Broken", None, "broken"),
    Label("Dim", "Low", "dim"), Label("Dim", "Dust", "dim"), Label("Bare", None, "bare"), Label("Either", "Red", "either"),
    Label("Either", "Blue", "either"), Label("Worn", "Dust", "worn"), Label("Both", None, "both"), Label("Both", OK, "both"),
)  # fmt: skip
FACET = Facet("phase", labels=LABELS, rows=(), sticky=("Dust",), accumulates_in="Broken", healthy="On")
ANY = (LIVE,)
HOT = (AttributeIs("lamp", "hot", value=True),)


@pytest.mark.parametrize(
    ("phase", "own", "alone"),
    [
        ("On", OK, False),
        ("Off", OK, False),
        ("Broken", None, True),
        ("Dim", "Low", False),
        ("Bare", None, True),
        ("Either", None, False),
        ("Worn", None, False),
        ("Both", None, True),
        ("Nowhere", None, False),
    ],
)
def test_the_condition_that_a_phase_brings_by_itself(phase: str, own: str | None, alone: bool) -> None:
    assert own_condition(FACET, phase) == own
    assert stands_alone(FACET, phase) is alone


def test_the_conditions_that_hold_an_entity_in_the_accumulating_phase() -> None:
    assert accumulated_conditions(FACET) == {"Heat", "Rust"}
    assert accumulated_conditions(replace(FACET, accumulates_in=None)) == set()


# fmt: off
AFTER = {
    "another phase":                       (state("On", (OK,)),             Row(ANY, "t", "Off"),                       "Off",    state("Off", (OK,))),
    "another phase, what is sticky stays": (state("On", ("Late", "Dust")),  Row(ANY, "t", "Off"),                       "Off",    state("Off", ("Dust",))),
    "another phase with its condition":    (state("On", (OK,)),             Row(ANY, "t", "Dim"),                       "Dim",    state("Dim", ("Low",))),
    "another phase with its condition too": (state("On", ("Dust",)),        Row(ANY, "t", "Dim"),                       "Dim",    state("Dim", ("Dust", "Low"))),
    "another phase with a chosen one":     (state("On", ("Dust",)),         Row(ANY, "t", "Either", condition="Red"),   "Either", state("Either", ("Dust", "Red"))),
    "another phase without any":           (state("On", (OK,)),             Row(ANY, "t", "Bare"),                      "Bare",   state("Bare")),
    "another phase, clears what is sticky": (state("On", ("Dust",)),        Row(ANY, "t", "Off", clears=("Dust",)),     "Off",    state("Off", (OK,))),
    "the same phase anew":                 (state("On", ("Late", "Dust")),  Row(ANY, "t", "On"),                        "On",     state("On", ("Dust",))),
    "the same phase anew, alone":          (state("On", ("Late",)),         Row(ANY, "t", "On"),                        "On",     state("On", (OK,))),
    "the phase stays":                     (state("On", ("Late",)),         Row(ANY, "t", SAME),                        "On",     state("On", ("Late",))),
    "the phase stays with its own":        (state("Dim", ("Dust",)),        Row(ANY, "t", SAME),                        "Dim",    state("Dim", ("Dust",))),
    "sets":                                (state("On", (OK,)),             Row(ANY, "t", SAME, sets="Late"),           "On",     state("On", ("Late",))),
    "sets what is there":                  (state("On", ("Late", "Dust")),  Row(ANY, "t", SAME, sets="Late"),           "On",     state("On", ("Late", "Dust"))),
    "sets before its condition":           (state("On", (OK,)),             Row(ANY, "t", "Either", "Red", sets="Dust"), "Either", state("Either", ("Dust",))),
    "clears the last":                     (state("On", ("Late",)),         Row(ANY, "t", SAME, clears=("Late",)),      "On",     state("On", (OK,))),
    "clears one":                          (state("On", ("Late", "Dust")),  Row(ANY, "t", SAME, clears=("Late",)),      "On",     state("On", ("Dust",))),
    "accumulates":                         (state("Broken", ("Heat",)),     Row(ANY, "t", "Broken", condition="Rust"),  "Broken", state("Broken", ("Heat", "Rust"))),
    "accumulates nothing new":             (state("Broken", ("Heat",)),     Row(ANY, "t", "Broken", condition="Heat"),  "Broken", state("Broken", ("Heat",))),
    "breaks":                              (state("On", (OK,)),             Row(ANY, "t", "Broken", condition="Heat"),  "Broken", state("Broken", ("Heat",))),
    "is mended":                           (state("Broken", ("Heat", "Dust")), Row(ANY, "t", SAME, clears=("Heat",)),   "On",     state("On", ("Dust",))),
    "ends":                                (state("On", ("Dust",)),         Row(ANY, "t", DELETED),                     DELETED,  state(DELETED)),
}
SHOWN = {
    "another phase":                   (state("On", ("Dust",)), View("Off", HOT),                                state("Off", (OK,))),
    "with a chosen condition":         (state("On", ("Dust",)), View("Either", HOT, condition="Blue"),           state("Either", ("Blue",))),
    "with its own condition":          (state("On", (OK,)),     View("Dim", HOT),                                state("Dim", ("Low",))),
    "without any":                     (state("On", (OK,)),     View("Bare", HOT),                               state("Bare")),
    "the same phase, nothing kept":    (state("Broken", ("Heat",)), View("Broken", HOT, "Rust"),                 state("Broken", ("Rust",))),
    "the same phase, all kept":        (state("Broken", ("Heat",)), View("Broken", HOT, "Rust", keeps=True),     state("Broken", ("Heat", "Rust"))),
    "the same phase, Ok is not kept":  (state("On", (OK,)),     View("On", HOT, "Late", keeps=True),             state("On", ("Late",))),
    "another phase, nothing to keep":  (state("On", ("Dust",)), View("Off", HOT, keeps=True),                    state("Off", (OK,))),
    "some kept by name":               (state("On", ("Late", "Dust")), View("Dim", HOT, keeps=("Dust",)),        state("Dim", ("Dust", "Low"))),
    "none kept by name":               (state("On", ("Late",)), View("Off", HOT, keeps=("Dust",)),               state("Off", (OK,))),
}
# fmt: on


@pytest.mark.parametrize("example", AFTER.values(), ids=list(AFTER))
def test_the_base_after_a_row(example: tuple[State, Row, str, State]) -> None:
    before, row, phase, after = example
    assert base_after(FACET, row, before, phase) == after


@pytest.mark.parametrize("example", SHOWN.values(), ids=list(SHOWN))
def test_the_state_that_a_view_shows(example: tuple[State, View, State]) -> None:
    base, view, shown = example
    assert state_shown(FACET, view, base) == shown


def test_the_base_when_a_stay_is_over() -> None:
    base = state("On", ("Late", "Dust"))
    assert without_expired(FACET, base, frozenset({"Late"})) == state("On", ("Dust",))
    assert without_expired(FACET, base, frozenset({"Late", "Dust"})) == state("On", (OK,))
    assert without_expired(FACET, base, frozenset()) == base


def test_the_phases_stand_in_the_order_of_the_labels() -> None:
    live = ("On", "Off", "Broken", "Dim", "Bare", "Either", "Worn", "Both")
    assert phases_of(FACET) == phases_of(replace(FACET, rows=(Row(ANY, "t", "Off"),))) == (ABSENT, *live)
    assert phases_of(replace(FACET, rows=(Row(ANY, "t", "Off"), Row(ANY, "u", DELETED)))) == (ABSENT, *live, DELETED)
    assert phases_of(replace(FACET, begins="Off")) == ("Off", "On", *live[2:])


def test_the_phases_from_which_a_source_starts() -> None:
    phases = (ABSENT, "On", "Off", "Broken", DELETED)
    assert starts_of("On", phases) == (At("On"),)
    assert starts_of(At("On", has="Dust"), phases) == (At("On", has="Dust"),)
    assert starts_of(LIVE, phases) == (At("On"), At("Off"), At("Broken"))
    assert starts_of(Live(but=("Off",), has="Dust"), phases) == (At("On", has="Dust"), At("Broken", has="Dust"))


BREAKS = Row((LIVE,), "heat", "Broken", condition="Heat")


def interrupted(*rows: Row, **changes: object) -> dict[str, str]:
    labels = tuple(Label(phase, OK, phase) for phase in ("On", "Off", "Starting", "Stopping")) + LABELS[4:6]
    facet = Facet("phase", labels=labels, rows=rows, accumulates_in="Broken", healthy="On")
    return dict(returns(replace(facet, pending=("Starting", "Stopping"), **changes)))  # type: ignore[arg-type]


# fmt: off
COME_BACK = {
    "a stable phase comes back itself":             ((BREAKS,), {"Off": "Off"}),
    "not one that causes cannot interrupt":         ((Row(("On",), "heat", "Broken", "Heat"),), {}),
    "a pending one as what it leads to":            ((BREAKS, Row(("Stopping",), "stopped", "Off")), {"Off": "Off", "Stopping": "Off"}),
    "not one that leads to the healthy phase":      ((BREAKS, Row(("Stopping",), "started", "On")), {"Off": "Off"}),
    "nor one that leads to two":                    ((BREAKS, Row(("Stopping",), "stopped", "Off"), Row(("Stopping",), "started", "On")), {"Off": "Off"}),
    "nor one that leads to no stable one":          ((BREAKS, Row(("Stopping",), "start", "Starting")), {"Off": "Off"}),
    "further pending ones do not count":            (
        (BREAKS, Row(("Stopping",), "stopped", "Off"), Row(("Stopping",), "start", "Starting")), {"Off": "Off", "Stopping": "Off"}),
    "nor do the ends, data and rows that stay":     (
        (BREAKS, Row(("Stopping",), "stopped", "Off"), Row((LIVE,), "gone", DELETED), Row((LIVE,), "lost", ABSENT), Row((LIVE,), "seen", FROM_DATA),
         Row((LIVE,), "touched", SAME)), {"Off": "Off", "Stopping": "Off"}),
    "both ends of a life never come back":          ((BREAKS, Row((ABSENT, DELETED), "found", "Broken", "Heat"), Row((LIVE,), "gone", DELETED)), {"Off": "Off"}),
}
# fmt: on


@pytest.mark.parametrize("example", COME_BACK.values(), ids=list(COME_BACK))
def test_the_phases_that_come_back(example: tuple[tuple[Row, ...], dict[str, str]]) -> None:
    rows, found = example
    assert interrupted(*rows) == found


def test_another_healthy_phase_is_left_out() -> None:
    assert interrupted(BREAKS, Row(("Stopping",), "stopped", "Off"), healthy="Off") == {"On": "On"}
    assert interrupted(BREAKS, accumulates_in=None) == {}
