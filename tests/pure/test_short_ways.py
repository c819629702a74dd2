"""What of a table allows a short way, and how kinds depend on each other: small tables that differ in one word.

Belongs here: the answers about a table. Does not: that a short way leads where the long one does (`tests/laws`).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from phaseline.machines.compiler.completion import ENDS_WITH_OWNER, completed, implied_cascades
from phaseline.machines.compiler.relations import Counted, Viewer, counted_by, inherited_from, places_of, viewers_of
from phaseline.machines.compiler.reports import SNAPSHOT, UNREQUESTED
from phaseline.machines.compiler.short_ways import derives_messages, hears_alone, looks_at_itself, unguarded
from phaseline.machines.language.contact import FACET as CONTACT_FACET
from phaseline.machines.language.contact import HEARD, HEARD_AT, HEARTBEAT
from phaseline.machines.language.predicates import Above, AllBelow, AnyBelow, AttributeIs, Predicate
from phaseline.machines.language.rules import rule
from phaseline.machines.language.table import (
    ABSENT,
    CHILDREN,
    DELETED,
    LIVE,
    OWNER_GONE,
    REPORTED,
    SAME,
    Cascade,
    Facet,
    FanOut,
    Interpret,
    OnTally,
    Row,
    Table,
    Timeout,
    View,
)
from phaseline.schemas.records import state
from tests.support.fan_out_rule import says
from tests.support.lamp_table import FACET, HOT, ROWS, Dark, lamp
from tests.support.sample_kinds import label

ABOVE, ROOM_IS_HOT = Above("room", ("Dark",)), AttributeIs("room", "hot", value=True)
BELOW, ALL_BELOW = AnyBelow("lamp", "bulb", ("On",)), AllBelow("lamp", "bulb", ("On",))


@rule("lamp.spoken", revision=1)
def spoken(_: Any, __: str, ___: Any, ____: Any) -> Mapping[str, Any]:
    """Nothing."""
    return {}


def seen(*predicates: Predicate) -> Table:
    """A lamp with a view that has these predicates, and a view that has none."""
    return lamp(replace(FACET, views=(View("Off", predicates), View("Off", (), base=("On",)))))


def timed(*timeouts: Timeout) -> Table:
    return lamp(facets=(replace(FACET, timeouts=timeouts), CONTACT_FACET), place=True)


# fmt: off
LOOKS_AT_ITSELF: dict[str, tuple[Table, bool]] = {
    "no view":                         (lamp(), False),
    "a view without predicates":       (seen(), False),
    "what stands above and below":     (seen(ABOVE, BELOW, ALL_BELOW, ROOM_IS_HOT), False),
    "its own attribute":               (seen(HOT), True),
    "its own attribute, beside others": (seen(BELOW, HOT), True),
    "another facet of itself":         (seen(Above("lamp", ("On",), facet=1)), True),
    "a predicate of somebody's own":   (seen(Dark()), True),
}
HEARS_ALONE: dict[str, tuple[Table, bool]] = {
    "nothing follows":                 (timed(), True),
    "what declares what it reads":     (seen(ABOVE, BELOW, ALL_BELOW, ROOM_IS_HOT, HOT), True),
    "a predicate of somebody's own":   (seen(BELOW, Dark()), False),
    "when it was heard is looked at":  (seen(BELOW, HOT, AttributeIs("lamp", HEARD_AT, 5)), False),
    "a cascade on another trigger":    (lamp(cascades=(Cascade("gone", at=("bulb",), on=("heat",)),)), True),
    "a cascade on a heartbeat":        (lamp(cascades=(Cascade("gone", at=("bulb",), on=("heat", HEARTBEAT)),)), False),
    "a cascade on a hearing":          (lamp(cascades=(Cascade("gone", at=("bulb",), on=(HEARD,)),)), False),
    "a fan-out on a heartbeat":        (lamp(fan_outs=(FanOut(("gone",), "bulb", (HEARTBEAT,), says),)), False),
    "a rule that reads a heartbeat":   (lamp(interprets=(Interpret((HEARTBEAT,), (), spoken),)), False),
    "a timer with other attributes":   (timed(Timeout("On", "tire", seconds_from="wait", restart_on="steps")), True),
    "a timer that restarts with it":   (timed(Timeout("On", "tire", 5, restart_on=HEARD_AT)), False),
    "a timer that lasts as long":      (timed(Timeout("On", "tire", seconds_from=HEARD_AT)), False),
}
DERIVES: dict[str, tuple[Table, bool]] = {
    "no facet":                        (lamp(), False),
    "from an attribute":               (lamp(replace(FACET, message_from="why")), True),
    "from what is below":              (lamp(replace(FACET, message_names=("bulb", 0))), True),
    "another facet":                   (lamp(facets=(FACET, replace(FACET, message_from="why"))), True),
}
# fmt: on


@pytest.mark.parametrize("example", LOOKS_AT_ITSELF.values(), ids=list(LOOKS_AT_ITSELF))
def test_whether_a_view_depends_on_the_entity_itself(example: tuple[Table, bool]) -> None:
    assert looks_at_itself(example[0]) is example[1]


@pytest.mark.parametrize("example", HEARS_ALONE.values(), ids=list(HEARS_ALONE))
def test_whether_nothing_follows_from_a_hearing(example: tuple[Table, bool]) -> None:
    assert hears_alone(example[0]) is example[1]


@pytest.mark.parametrize("example", DERIVES.values(), ids=list(DERIVES))
def test_whether_messages_are_derived(example: tuple[Table, bool]) -> None:
    assert derives_messages(example[0]) is example[1]


def test_the_triggers_of_one_facet_without_a_guard() -> None:
    rows = (*ROWS, Row(("On",), "dim", SAME), Row(("Off",), "dim", SAME, when=(HOT,)), Row(("On",), "flash", SAME))
    never = tuple(Row(("On",), trigger, SAME) for trigger in (REPORTED, UNREQUESTED, SNAPSHOT, HEARTBEAT))
    other = Facet("other", labels=FACET.labels, rows=(Row((ABSENT,), "deleted", "On"), Row(("On",), "moved", "Off")))
    table = lamp(facets=(replace(FACET, rows=(*rows, *never)), other), interprets=(Interpret(("flash",), (), spoken),))
    plain = dict.fromkeys(("create", "switched_off", "switched_on", "heat", "rust", "cooled"), 0)
    assert dict(unguarded(table)) == {**plain, "moved": 1}


def test_a_kind_below_ends_with_its_owner() -> None:
    assert completed(lamp(), ()).facets[0].rows[: len(ROWS)] == ROWS
    below = completed(lamp(facets=(FACET, CONTACT_FACET), parent="room"), ())
    assert (below.facets[0].rows, below.facets[1]) == ((*ROWS, ENDS_WITH_OWNER), CONTACT_FACET)
    assert below.derived == (OWNER_GONE,)
    own = Row(("On",), OWNER_GONE, DELETED)
    below = completed(lamp(replace(FACET, rows=(*ROWS, own)), parent="room", derived=("tire", OWNER_GONE)), ())
    assert (below.facets[0].rows[: len(ROWS) + 1], below.derived[:2]) == ((*ROWS, own), ("tire", OWNER_GONE))


def test_children_are_those_at_which_the_trigger_is_derived() -> None:
    cascades = (
        Cascade("gone", at=CHILDREN, on=("heat",)),
        Cascade("dim", at=CHILDREN, on=("heat",)),
        Cascade("cut", at=("bulb",), on=("heat",)),
    )
    parents = {"bulb": "lamp", "shade": "lamp", "stand": "lamp", "fly": "room"}
    kinds = [lamp(kind=kind, parent=parent, derived=("gone",)) for kind, parent in parents.items()]
    kinds[2] = replace(kinds[2], derived=("cut",))
    found = completed(lamp(cascades=cascades), kinds).cascades
    assert found == (replace(cascades[0], at=("bulb", "shade")), cascades[2])


def test_what_the_engine_fires_below_an_entity_that_ends() -> None:
    assert implied_cascades(("bulb", "shade")) == (Cascade(OWNER_GONE, at=("bulb", "shade"), into=DELETED),)
    assert implied_cascades(()) == ()


def tree(*, bulb: Table | None = None, **changes: Any) -> dict[str, Table]:
    """A room with lamps with bulbs; the changes are those of the lamp."""
    room = Table("room", ("room",), (Facet("phase", (label("Up"),), (Row((ABSENT,), "built", "Up"),)),), (), place=True)
    small = lamp(kind="bulb", id=("room", "lamp", "bulb"), parent="lamp", place=True) if bulb is None else bulb
    return {"room": room, "lamp": lamp(parent="room", **changes), "bulb": small}


def test_the_places_at_or_above_an_entity() -> None:
    kinds = tree()
    assert [*places_of(kinds["bulb"], kinds)] == [("bulb", 3), ("lamp", 2), ("room", 1)]
    assert [*places_of(kinds["lamp"], kinds)] == [("lamp", 2), ("room", 1)]


def test_the_tallies_that_kinds_above_keep() -> None:
    facet = replace(
        FACET,
        rows=(*ROWS, Row((LIVE,), "dim", SAME, when=(AnyBelow("lamp", "bulb", ("Broken",), has="Rust"),))),
        views=(View("Off", (BELOW, AnyBelow("lamp", "bulb", ("Off",)), AllBelow("lamp", "other", ("On",)))),),
    )
    kinds = tree(facet=facet, tallies=(("bulb", 1), ("other", 2)), on_tally=(OnTally(AnyBelow("lamp", "bulb", ("On",), has="Heat"), "x"),))  # fmt: skip
    assert [*counted_by(kinds["bulb"], kinds)] == [
        Counted(0, "lamp", 1, frozenset({"On", "Off"}), None),
        Counted(0, "lamp", 1, frozenset({"On"}), "Heat"),
        Counted(0, "lamp", 1, frozenset(), "Rust"),
        Counted(1, "lamp", 1, frozenset(), None),
    ]
    every = tree(facet=replace(FACET, views=(View("Off", (ALL_BELOW,)),)))
    live = frozenset({"On", "Off", "Broken", DELETED})
    assert [*counted_by(every["bulb"], every)] == [Counted(0, "lamp", 1, live, None)]
    assert [*counted_by(every["lamp"], every)] == []


def test_a_tally_counts_those_that_have_its_condition() -> None:
    every, some = Counted(0, "lamp", 1, frozenset(), None), Counted(0, "lamp", 1, frozenset(), "Heat")
    assert every.phase(state("Broken", ("Rust",))) == some.phase(state("Broken", ("Rust", "Heat"))) == "Broken"
    assert some.phase(state("Broken", ("Rust",))) == ABSENT


def test_the_kinds_below_whose_views_look_up() -> None:
    up = View("Off", (Above("room", ("Up", "Down")), HOT, Above("room", ("Up",), facet=1, base=True), Above("lamp", ("On",))))  # fmt: skip
    inherits = View("Off", (AttributeIs("lamp", "hot", value=True, or_of="room"), AttributeIs("lamp", "size", "L")))
    kinds = tree(facet=replace(FACET, views=(up, inherits)))
    assert [*viewers_of(kinds["room"], kinds)] == [
        Viewer(0, frozenset({"Up", "Down"}), base=False, below="lamp"),
        Viewer(1, frozenset({"Up"}), base=True, below="lamp"),
    ]
    assert [*inherited_from(kinds["room"], kinds)] == [("hot", "lamp")]
    assert [*inherited_from(kinds["lamp"], kinds)] == []
