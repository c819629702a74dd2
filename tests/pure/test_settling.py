"""What follows from one event before it is committed: cascades, fan-outs, views and tallies that meet.

Belongs here: small histories of an invented store, where one step depends on another of the same event. Does not:
each feature alone (`test_multi_facet`), laws over random histories (`tests/laws`).
"""

from collections.abc import Mapping
from typing import Any

from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.predicates import AnyBelow, Scene
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
    View,
)
from phaseline.schemas.records import SECOND, State, Transition
from tests.support.sample_kinds import label
from tests.support.strategies import History, HistoryStep, event


@rule("store.weighed", revision=1)
def weighed(scene: Scene, store: str, data: Mapping[str, Any], box: str) -> str | None:
    """The boxes that data names are sealed; a script says whether any may be."""
    return "sealed" if box in data.get("boxes", ()) and not scene.scripts.jq(".boxes", data).problem else None


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
    fields={"weighed": (Field("boxes", str, "the boxes", many=True),)},
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
    fan_outs=(FanOut(("sealed",), at="box", on=("weighed",), rule=weighed),),
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
# fmt: on
KINDS = Kinds((STORE, ROOM, SHELF, BOX))


def store(*events: tuple[str, str, str]) -> History:
    """A store `s` with the rooms `s/a` and `s/b`, after these events, which are the 4th and so on."""
    history = History(KINDS)
    for found in (("store", "opened", "s"), ("room", "built", "s/a"), ("room", "built", "s/b"), *events):
        assert history.take(event(*found)).accepted
    return history


def told(step: HistoryStep) -> list[tuple[str, str, str]]:
    """Of each transition: the entity with the facet, the phase, the trigger."""
    return [
        (f"{r.entity.kind}/{r.entity.id} {r.facet}", r.after.phase, r.trigger)
        for r in step.records
        if isinstance(r, Transition)
    ]


def phases(history: History, kind: str, entity_id: str) -> list[str]:
    return [facet.state.phase for facet in history.tree.entities[kind][entity_id].facets]


def box(history: History, entity_id: str) -> tuple[list[str], Mapping[str, Any]]:
    """The phases and the attributes of a box."""
    return phases(history, "box", entity_id), history.tree.entities["box"][entity_id].attributes


def test_a_cascade_of_one_parent_passes_by_what_the_event_makes_known_under_another() -> None:
    history = store(("shelf", "mounted", "s/b/old"), ("room", "sprayed", "s/b"))
    assert told(history.take(event("box", "put_wet", "s/a/new/x"))) == [
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
    assert told(step) == [("box/s/b/s/y lid", "Sealed", "sealed")]


def test_a_view_that_counts_a_condition_stays_while_something_else_changes() -> None:
    history = store(("box", "put", "s/a/s/x"), ("box", "put", "s/a/s/y"))
    assert ("store/s phase", "Worried", "cracked") in told(history.take(event("box", "cracked", "s/a/s/x")))
    history.take(event("store", "priced", "s", {"sale": 3}))
    assert phases(history, "store", "s") == ["Worried"]
    assert ("store/s phase", "Open", "taken") in told(history.take(event("box", "taken", "s/a/s/x")))


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
