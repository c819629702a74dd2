"""Rows that start only from some states of a phase: narrowed by conditions, by the base, by the event's data.

Belongs here: for each word that narrows a row, an event that fits and one that does not. Does not: rows of built-in
tables (`test_tables_exhaustive`).
"""

from typing import Any

import pytest

from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.predicates import Above
from phaseline.machines.language.table import (
    ABSENT,
    DELETED,
    FROM_DATA,
    LIVE,
    OK,
    SAME,
    At,
    Facet,
    Field,
    Live,
    Row,
    Table,
    View,
)
from tests.support.own_product import OWN
from tests.support.sample_kinds import label
from tests.support.strategies import History, event

# fmt: off
KITCHEN = Table(
    kind="kitchen", id=("kitchen",), intents=(), known_by="itself",
    facets=(Facet("phase", labels=(label("Open"), label("Shut")), rows=(
        Row((ABSENT, DELETED, "Shut"), "opened", "Open"), Row(("Open",), "shut", "Shut"), Row((LIVE,), "gone", DELETED),
    )),),
)
STOVE = Table(
    kind="stove", id=("kitchen", "stove"), parent="kitchen", intents=("scrub", "polish"),
    fields={"tested": (Field("by", str, "who tested it"), Field("how", str, "how thoroughly"))},
    facets=(Facet("phase", accumulates_in="Bad", healthy="Good", sticky=("Old",), labels=(
        label("Good"), label("Good", "Old"), label("Worn"), label("Tried"), label("Clean"), label("Locked"),
        label("Bad", "Hot"), label("Bad", "Leaky"), label("Bad", "Loud"),
    ), rows=(
        Row((ABSENT, DELETED), "built", "Good", condition=OK),
        Row((ABSENT,), "adopt", FROM_DATA),
        Row(("Good", "Bad"), "heated", "Bad", condition="Hot"),
        Row(("Good", "Bad"), "leaked", "Bad", condition="Leaky"),
        Row(("Good", "Bad"), "roared", "Bad", condition="Loud"),
        Row(("Good",), "singed", "Bad", condition="Hot"),
        Row((Live(but=("Worn",)),), "aged", SAME, sets="Old"),
        Row((At("Bad", has="Hot"),), "doused", "Worn"),
        Row((At("Bad", lacks=("Hot", "Leaky")),), "kicked", "Worn"),
        Row((Live(has="Old"),), "fixed", "Worn"),
        Row(("Bad",), "mended", SAME, clears=("Hot", "Leaky")),
        Row((At("Bad", has="Loud"),), "hushed", SAME, clears=("Hot",)),
        Row(("Good",), "tested", "Worn", given={"by": "them", "how": "hard"}),
        Row(("Good",), "tested", "Tried", given={"by": "us"}),
        Row(("Good",), "tested", "Clean", given={"by": None}),
        Row((At("Locked", base="Good"),), "scrub", "Clean"),
        Row(("Locked",), "polish", "Clean"),
        Row((LIVE,), "gone", DELETED),
    ), views=(View("Locked", (Above("kitchen", ("Shut",)),), unless=("Bad", "Tried", "Clean")),)),),
)
# fmt: on
KINDS = Kinds((KITCHEN, STOVE), products=OWN)
Event = str | tuple[str, dict[str, Any]]


def stove(*triggers: Event) -> History:
    """A stove `k/s` after these triggers; `shut` is one of its kitchen."""
    history = History(KINDS)
    history.take(event("kitchen", "opened", "k"))
    for found in triggers:
        trigger, data = found if isinstance(found, tuple) else (found, {})
        sent = event("kitchen", "shut", "k") if trigger == "shut" else event("stove", trigger, "k/s", data)
        assert history.take(sent).accepted
    return history


def base(history: History) -> str:
    return str(history.tree.entities["stove"]["k/s"].facets[0].base)


TAKEN: dict[str, tuple[tuple[Event, ...], Event, str]] = {
    "has": (("built", "heated"), "doused", "Worn [Ok]"),
    "has, beside another": (("built", "leaked", "heated"), "doused", "Worn [Ok]"),
    "lacks": (("built", "roared"), "kicked", "Worn [Ok]"),
    "live with a condition, which is sticky": (("built", "aged"), "fixed", "Worn [Old]"),
    "given": (("built",), ("tested", {"by": "us"}), "Tried [Ok]"),
    "given twice": (("built",), ("tested", {"by": "them", "how": "hard"}), "Worn [Ok]"),
    "given as missing": (("built",), "tested", "Clean [Ok]"),
    "base under a view": (("built", "shut"), "scrub", "Clean [Ok]"),
    "any base under a view": (("built", "heated", "doused", "shut"), "polish", "Clean [Ok]"),
    "named by data": ((), ("adopt", {"phase": "Bad", "conditions": ["Hot"]}), "Bad [Hot]"),
    "clears the last condition": (("built", "heated"), "mended", "Good [Ok]"),
    "clears all conditions": (("built", "heated", "leaked"), "mended", "Good [Ok]"),
    "clears the last condition beside a sticky one": (("built", "aged", "heated"), "mended", "Good [Old]"),
    "leaves a condition": (("built", "heated", "roared"), "mended", "Bad [Loud]"),
}
ALREADY_SO: dict[str, tuple[tuple[Event, ...], Event]] = {
    "nothing is left to clear in the healthy phase": (("built",), "mended"),
    "nothing is left to clear in the accumulating phase": (("built", "roared"), "hushed"),
    "the target, by its data": (("built", ("tested", {"by": "us"})), ("tested", {"by": "us"})),
    "the base that data names": (("built",), ("adopt", {"phase": "Good"})),
    "the base that data names, in another order": (
        ("built", "leaked", "heated"),
        ("adopt", {"phase": "Bad", "conditions": ["Hot", "Leaky"]}),
    ),
    "a condition that stands": (("built", "heated"), "heated"),
    "a condition that stands, though no row starts there": (("built", "heated"), "singed"),
}
REFUSED: dict[str, tuple[tuple[Event, ...], Event]] = {
    "has": (("built", "leaked"), "doused"),
    "lacks": (("built", "roared", "leaked"), "kicked"),
    "live with a condition": (("built",), "fixed"),
    "live but": (("built", "heated", "doused"), "aged"),
    "given": (("built",), ("tested", {"by": "them"})),
    "given twice": (("built",), ("tested", {"by": "them", "how": "softly"})),
    "base under a view": (("built", "heated", "doused", "shut"), "scrub"),
    "no view": (("built",), "scrub"),
    "clears, but in another phase": (("built", "heated", "doused"), "mended"),
    "clears what stands, without the condition": (("built", "heated"), "hushed"),
    "the target of other data": (("built", ("tested", {"by": "us"})), "tested"),
    "data names another phase": (("built",), ("adopt", {"phase": "Bad", "conditions": ["Hot"]})),
    "data names another phase with the same condition": (("built",), ("adopt", {"phase": "Worn"})),
    "another condition stands": (("built", "leaked"), "singed"),
    "data names what only a view shows": ((), ("adopt", {"phase": "Locked"})),
    "data names other conditions": (("built", "heated"), ("adopt", {"phase": "Bad", "conditions": ["Loud"]})),
    "the phase, but not the condition": (
        ("built", "aged", "fixed"),
        ("adopt", {"phase": "Worn", "conditions": ["Hot"]}),
    ),
}


@pytest.mark.parametrize(("before", "last", "expected"), TAKEN.values(), ids=TAKEN)
def test_a_row_is_taken_from_the_states_that_it_names(before: tuple[Event, ...], last: Event, expected: str) -> None:
    assert base(stove(*before, last)) == expected


@pytest.mark.parametrize(("before", "last"), REFUSED.values(), ids=REFUSED)
def test_a_row_is_not_taken_from_another_state_of_the_phase(before: tuple[Event, ...], last: Event) -> None:
    history = stove(*before)
    trigger, data = last if isinstance(last, tuple) else (last, {})
    assert not history.decide(event("stove", trigger, "k/s", data)).accepted


@pytest.mark.parametrize(("before", "last"), ALREADY_SO.values(), ids=ALREADY_SO)
def test_an_observation_of_what_is_so_already_has_no_effect(before: tuple[Event, ...], last: Event) -> None:
    history = stove(*before)
    trigger, data = last if isinstance(last, tuple) else (last, {})
    assert history.decide(event("stove", trigger, "k/s", data)).records == []


@pytest.mark.parametrize(
    ("before", "shown"),
    [(("built",), "Locked [Ok]"), (("built", "heated"), "Bad [Hot]"), (("built", "gone"), DELETED)],
    ids=["any phase", "but not this one", "nor what is gone"],
)
def test_a_view_shows_over_all_live_phases_but_those_it_excludes(before: tuple[Event, ...], shown: str) -> None:
    history = stove(*before, "shut")
    assert str(history.tree.entities["stove"]["k/s"].facets[0].state) == shown
