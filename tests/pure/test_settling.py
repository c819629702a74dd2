"""What follows from one event before it is committed: cascades, fan-outs, views and tallies that meet.

Belongs here: small histories of an invented store, where one step depends on another of the same event. Does not:
each feature alone (`test_multi_facet`), laws over random histories (`tests/laws`).
"""

from collections.abc import Mapping
from typing import Any

import pytest

from phaseline.engine.core.decide import decide
from phaseline.engine.core.intake import Arrival
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.predicates import Above, AnyBelow, Scene
from phaseline.machines.language.rules import rule
from phaseline.machines.language.table import (
    ABSENT,
    DELETED,
    LIVE,
    OK,
    SAME,
    Attributes,
    Cascade,
    Facet,
    FanOut,
    Field,
    OnTally,
    Refusal,
    Row,
    RuleEvent,
    Table,
    Timeout,
    View,
)
from phaseline.schemas.records import SECOND, Cause, State, Transition, own_facets
from tests.support.own_product import OWN
from tests.support.sample_kinds import label
from tests.support.strategies import History, event, moves_of


@rule("store.weighed", revision=1)
def weighed(scene: Scene, store: str, data: Mapping[str, Any], box: str) -> str | None:
    """The boxes that data names are sealed; a script says whether any may be."""
    return (
        "sealed" if box in data.get("boxes", ()) and not scene.scripts.jq((".boxes",), (data,))[0][0].problem else None
    )


@rule("store.every_shelf", revision=1)
def every_shelf(scene: Scene, room: str, data: Mapping[str, Any], shelf: str) -> str | None:
    return "marked"


@rule("box.dated", revision=1)
def dated(attributes: Attributes, happened: RuleEvent) -> Mapping[str, Any] | Refusal:
    if attributes.get("price") == 13:
        return Refusal("13 is no price")
    return {**attributes, "at": happened.time // SECOND}


# fmt: off
STORE = Table(
    kind="store", id=("store",), intents=(), derived=("flooded",), known_by="itself",
    attributes=(Field("sale", int, "the price of every box"),),
    fields=dict.fromkeys(("weighed", "dried"), (Field("boxes", str, "the boxes", many=True),)),
    facets=(Facet("phase", labels=(label("Open"), label("Worried"), label("Wet")), rows=(
        Row((ABSENT, DELETED), "opened", "Open"),
        Row(("Open",), "weighed", SAME),
        Row(("Open",), "priced", SAME, assigns=True),
        Row(("Open",), "flooded", "Wet"),
        Row(("Wet",), "dried", "Open"),
        Row((LIVE,), "closed", DELETED),
    ), views=(View("Worried", (AnyBelow("store", "box", ("Stored",), has="Cracked"),), base=("Open",)),)),),
    cascades=(
        Cascade("drain", at=("room",), on=("flooded",)),
        Cascade("reprice", at=("box",), on=("priced",), data={"price": "sale"}),
    ),
    fan_outs=(FanOut(("sealed",), at="box", on=("weighed", "dried"), rule=weighed),),
    on_tally=(OnTally(AnyBelow("store", "box", ("Leaking",)), "flooded"),),
)
ROOM = Table(
    kind="room", id=("store", "room"), parent="store", intents=(), derived=("drain",), known_by="itself",
    facets=(Facet("phase", labels=(label("Dry"), label("Damp")), rows=(
        Row((ABSENT, DELETED), "built", "Dry"),
        Row(("Dry",), "sprayed", "Damp"),
        Row(("Damp",), "drain", "Dry"),
        Row((LIVE,), "gone", DELETED),
    )),),
    cascades=(Cascade("bend", at=("shelf",), on=("drain",)),),
    fan_outs=(FanOut(("marked",), at="shelf", on=("drain",), rule=every_shelf),),
)
SHELF = Table(
    kind="shelf", id=("store", "room", "shelf"), parent="room", intents=(), derived=("bend", "marked"),
    facets=(
        Facet("phase", adopted=State("Up", (OK,)), labels=(label("Up"), label("Bent")), rows=(
            Row((ABSENT, DELETED), "mounted", "Up"), Row(("Up",), "bend", "Bent"), Row((LIVE,), "gone", DELETED),
        )),
        Facet("mark", adopted=State("None", (OK,)), labels=(label("None"), label("Red")), rows=(
            Row((ABSENT, DELETED), "mounted", "None"), Row(("None",), "marked", "Red"), Row((LIVE,), "gone", DELETED),
        )),
    ),
)
BOX = Table(
    kind="box", id=("store", "room", "shelf", "box"), parent="shelf", intents=(), derived=("sealed", "reprice"),
    attributes=(Field("price", int, "what it costs"), Field("at", int, "when it was priced, in seconds")),
    facets=(
        Facet("phase", sticky=("Cracked",), labels=(
            label("Stored"), label("Stored", "Cracked"), label("Leaking"),
        ), rows=(
            Row((ABSENT, DELETED), "put", "Stored", assigns=True),
            Row((ABSENT, DELETED), "put_wet", "Leaking"),
            Row(("Stored",), "cracked", SAME, sets="Cracked"),
            Row(("Leaking",), "mopped", "Stored"),
            Row(("Stored",), "reprice", SAME, assigns=True, computes=dated),
            Row((LIVE,), "taken", DELETED),
        )),
        Facet("lid", labels=(label("Loose"), label("Sealed")), rows=(
            Row((ABSENT, DELETED), "put", "Loose"),
            Row((ABSENT, DELETED), "put_wet", "Loose"),
            Row(("Loose",), "sealed", "Sealed"),
            Row(("Sealed",), "reprice", "Loose"),
            Row((LIVE,), "taken", DELETED),
        )),
    ),
)
TANK = Table(
    kind="tank", id=("tank",), intents=(), derived=("overflowed", "filled"), known_by="itself",
    facets=(Facet("phase", labels=(label("Empty"), label("Full"), label("Spilt")), rows=(
        Row((ABSENT, DELETED), "built", "Empty"),
        Row(("Full",), "overflowed", "Spilt"),
        Row(("Empty",), "filled", "Full"),
        Row(("Full", "Spilt"), "drained", "Empty"),
        Row((LIVE,), "scrapped", DELETED),
    )),),
    cascades=(Cascade("secure", at=("drop",), on=("drained",)),),
    on_tally=(
        OnTally(AnyBelow("tank", "drop", ("Fallen",)), "overflowed"),
        OnTally(AnyBelow("tank", "drop", ("Fallen",)), "filled"),
    ),
)
DROP = Table(
    kind="drop", id=("tank", "drop"), parent="tank", intents=("secure",),
    facets=(Facet("phase", labels=(label("Fallen"), label("Loose"), label("Held")), rows=(
        Row((ABSENT, DELETED), "fell", "Fallen"),
        Row(("Fallen",), "secure", "Held"),
        Row((LIVE,), "dried", DELETED),
    ), views=(View("Loose", (Above("tank", ("Spilt",), base=True),), base=("Fallen",)),)),),
)
DESK = Table(
    kind="desk", id=("desk",), intents=(), known_by="itself",
    facets=(Facet("phase", labels=(label("Open"), label("Closed"), label("Watched")), rows=(
        Row((ABSENT, DELETED, "Closed", "Watched"), "opened", "Open"),
        Row(("Open",), "closed", "Closed"),
        Row(("Open",), "watched", "Watched"),
        Row((LIVE,), "gone", DELETED),
    )),),
)
JOB = Table(
    kind="job", id=("desk", "job"), parent="desk", intents=(), derived=("late",),
    facets=(Facet("phase", healthy="Waiting", labels=(
        label("Waiting"), label("Waiting", "Slow"), label("Waiting", "Seen"), label("Stopped"),
    ), rows=(
        Row((ABSENT, DELETED), "ordered", "Waiting", condition=OK),
        Row(("Waiting",), "late", SAME, sets="Slow"),
        Row((LIVE,), "done", DELETED),
    ), views=(
        View("Stopped", (Above("desk", ("Closed",)),)),
        View("Waiting", (Above("desk", ("Watched",)),), condition="Seen"),
    ), timeouts=(Timeout("Waiting", "late", 60),)),),
)
YARD = Table(
    kind="yard", id=("yard",), intents=(), known_by="itself",
    facets=(Facet("phase", labels=(label("Open"), label("Shut")), rows=(
        Row((ABSENT, DELETED, "Shut"), "opened", "Open"), Row(("Open",), "shut", "Shut"), Row((LIVE,), "gone", DELETED),
    )),),
)
SHED = Table(
    kind="shed", id=("yard", "shed"), parent="yard", intents=(), known_by="itself",
    facets=(
        Facet("phase", labels=(label("Free"), label("Used"), label("Torn"), label("Hidden")), rows=(
            Row((ABSENT, DELETED), "built", "Free"),
            Row(("Free",), "taken", "Used"),
            Row(("Free",), "torn", "Torn"),
            Row((LIVE,), "gone", DELETED),
        ), views=(View("Hidden", (Above("yard", ("Shut",)),), base=("Free", "Used")),)),
        Facet("lock", labels=(label("Unlocked"), label("Locked")), rows=(
            Row((ABSENT, DELETED), "built", "Unlocked"), Row(("Unlocked",), "locked", "Locked"), Row((LIVE,), "gone", DELETED),
        )),
    ),
)
SHOWS = {"reach": Above("shed", ("Locked",), facet=1), "sight": Above("shed", ("Hidden",)), "work": Above("shed", ("Used",), base=True)}
TOOL = Table(
    kind="tool", id=("yard", "shed", "tool"), parent="shed", intents=(),
    facets=tuple(Facet(name, labels=(label("Plain"), label("Marked")), rows=(
        Row((ABSENT, DELETED), "bought", "Plain"), Row((LIVE,), "sold", DELETED),
    ), views=(View("Marked", (above,)),)) for name, above in SHOWS.items()),
)
# fmt: on
YARDS = Kinds((YARD, SHED, TOOL), products=OWN)
DESKS = Kinds((DESK, JOB), products=OWN)
TANKS = Kinds((TANK, DROP), products=OWN)
KINDS = Kinds((STORE, ROOM, SHELF, BOX), products=OWN)


def store(*events: tuple[str, str, str]) -> History:
    """A store `s` with the rooms `s/a` and `s/b`, after these events, which are the 4th and so on."""
    history = History(KINDS)
    for found in (("store", "opened", "s"), ("room", "built", "s/a"), ("room", "built", "s/b"), *events):
        assert history.take(event(*found)).accepted
    return history


def phases(history: History, kind: str, entity_id: str) -> list[str]:
    return [facet.state.phase for facet in own_facets(history.tree.entities[kind][entity_id])]


def box(history: History, entity_id: str) -> tuple[list[str], Mapping[str, Any]]:
    """The phases and the attributes of a box."""
    return phases(history, "box", entity_id), history.tree.entities["box"][entity_id].attributes


def test_a_cascade_of_one_parent_passes_by_what_the_event_makes_known_under_another() -> None:
    history = store(("shelf", "mounted", "s/b/old"), ("room", "sprayed", "s/b"))
    assert moves_of(history.take(event("box", "put_wet", "s/a/new/x"))) == [
        ("shelf/s/a/new phase", "Up", "adopt"),
        ("shelf/s/a/new mark", "None", "adopt"),
        ("box/s/a/new/x phase", "Leaking", "put_wet"),
        ("box/s/a/new/x lid", "Loose", "put_wet"),
        ("store/s phase", "Wet", "flooded"),
        ("room/s/b phase", "Dry", "drain"),
        ("shelf/s/b/old phase", "Bent", "bend"),
        ("shelf/s/b/old mark", "Red", "marked"),
    ]


def test_a_trigger_that_takes_no_step_fires_nothing_downward() -> None:
    history = store(("shelf", "mounted", "s/b/dry"), ("shelf", "mounted", "s/a/x"))
    history.take(event("box", "put_wet", "s/a/x/y"))  # fires `drain` at two dry rooms, which have no row for it
    assert phases(history, "store", "s") == ["Wet"]
    assert phases(history, "shelf", "s/b/dry") == ["Up", "None"]


def test_a_fan_out_can_ask_scripts_and_reaches_only_what_the_rule_names() -> None:
    history = store(("box", "put", "s/a/s/x"), ("box", "put", "s/b/s/y"))
    step = history.take(event("store", "weighed", "s", {"boxes": ["s/b/s/y"]}))
    assert moves_of(step) == [("box/s/b/s/y lid", "Sealed", "sealed")]


def test_a_fan_out_reaches_below_though_the_event_also_moves_its_entity() -> None:
    history = store(("box", "put", "s/a/s/x"), ("box", "put_wet", "s/a/s/y"))
    assert phases(history, "store", "s") == ["Wet"]
    assert moves_of(history.take(event("store", "dried", "s", {"boxes": ["s/a/s/x"]}))) == [
        ("store/s phase", "Open", "dried"),
        ("box/s/a/s/x lid", "Sealed", "sealed"),
    ]


def test_a_view_that_counts_a_condition_stays_while_something_else_changes() -> None:
    history = store(("box", "put", "s/a/s/x"), ("box", "put", "s/a/s/y"))
    assert ("store/s phase", "Worried", "cracked") in moves_of(history.take(event("box", "cracked", "s/a/s/x")))
    history.take(event("store", "priced", "s", {"sale": 3}))
    assert phases(history, "store", "s") == ["Worried"]
    assert ("store/s phase", "Open", "taken") in moves_of(history.take(event("box", "taken", "s/a/s/x")))


def test_a_cascade_brings_attributes_and_runs_rules_in_the_facet_that_has_them() -> None:
    history = store(("box", "put", "s/a/s/x"))
    history.take(event("store", "weighed", "s", {"boxes": ["s/a/s/x"]}))
    history.take(event("store", "priced", "s", {"sale": 3}))  # the 6th event, 6 s after the epoch
    assert box(history, "s/a/s/x") == (["Stored", "Loose"], {"price": 3, "at": 6})


def test_a_cascade_whose_rule_refuses_leaves_the_attributes() -> None:
    history = store(("box", "put", "s/a/s/x"))
    history.take(event("store", "priced", "s", {"sale": 3}))
    assert history.take(event("store", "priced", "s", {"sale": 13})).accepted
    assert box(history, "s/a/s/x")[1] == {"price": 3, "at": 5}


def test_a_tally_fires_again_in_the_same_event_what_had_no_row_at_first() -> None:
    history = History(TANKS)
    history.take(event("tank", "built", "t"))
    assert moves_of(history.take(event("drop", "fell", "t/d"))) == [
        ("drop/t/d phase", "Loose", "fell"),
        ("tank/t phase", "Spilt", "overflowed"),
    ]


def test_an_intent_that_a_cascade_fires_is_judged_by_what_the_event_shows() -> None:
    history = History(TANKS)
    for found in (("tank", "built", "t"), ("drop", "fell", "t/d")):
        history.take(event(*found))
    assert moves_of(history.take(event("tank", "drained", "t"))) == [
        ("tank/t phase", "Empty", "drained"),
        ("drop/t/d phase", "Held", "secure"),
    ]


@pytest.mark.parametrize(
    ("trigger", "changes"),
    [
        ("locked", {"reach": "Marked"}),
        ("taken", {"work": "Marked"}),
        ("torn", {"sight": "Plain"}),
    ],
    ids=["another facet", "the base under a view", "the state over a base"],
)
def test_views_below_follow_what_they_look_at(trigger: str, changes: dict[str, str]) -> None:
    history = History(YARDS)
    for found in (
        ("yard", "opened", "y"),
        ("shed", "built", "y/s"),
        ("tool", "bought", "y/s/t"),
        ("yard", "shut", "y"),
    ):
        assert history.take(event(*found)).accepted
    assert phases(history, "tool", "y/s/t") == ["Plain", "Marked", "Plain"]
    step = history.take(event("shed", trigger, "y/s"))
    assert {
        r.facet: r.after.phase for r in step.records if isinstance(r, Transition) and r.entity.kind == "tool"
    } == changes


@pytest.mark.parametrize(
    ("shows", "ends", "condition"),
    [("closed", "opened", OK), ("watched", "opened", "Slow")],
    ids=["the view shows another phase", "the view shows the same phase"],
)
def test_a_condition_of_a_timeout_goes_when_a_view_ends_the_stay(shows: str, ends: str, condition: str) -> None:
    history = History(DESKS)
    for found in (("desk", "opened", "d"), ("job", "ordered", "d/j")):
        assert history.take(event(*found)).accepted
    job = history.tree.entities["job"]
    due = job["d/j"].timers_ns["phase"]
    cause = Cause(9, "t", "/t", "timer")
    [slow] = decide(history.tree, Arrival("job", "late", "d/j", {}, cause, None, due, ("phase", due))).records
    assert isinstance(slow, Transition)
    assert slow.entity.timers_ns == {}, "a timer without repeat_after fires once"
    history.tree.put(slow.entity)
    assert job["d/j"].facets[0].state == State("Waiting", ("Slow",))
    assert history.take(event("desk", shows, "d")).accepted
    assert job["d/j"].facets[0].state == (State("Stopped", (OK,)) if shows == "closed" else State("Waiting", ("Seen",)))
    assert history.take(event("desk", ends, "d")).accepted
    assert job["d/j"].facets[0].state == State("Waiting", (condition,))
