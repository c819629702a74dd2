"""What `decide` answers where events meet: stale timers, adoption again, required children, rules that a cascade runs.

Belongs here: small histories of one invented depot and its vans. Does not: features of tables in general
(`test_multi_facet`), laws over random histories (`tests/laws`).
"""

from collections.abc import Mapping
from typing import Any

import pytest

from phaseline.engine.core.decide import decide
from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.transitions import Decision
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.predicates import Above
from phaseline.machines.language.rules import rule
from phaseline.machines.language.table import (
    ABSENT,
    DELETED,
    FROM_DATA,
    LIVE,
    OK,
    SAME,
    Attributes,
    Cascade,
    Facet,
    Field,
    Row,
    RuleEvent,
    Table,
    Timeout,
    View,
)
from phaseline.schemas.records import SECOND, Cause, Mark, Rejection, State, Transition, own_facets
from tests.support.own_product import OWN
from tests.support.sample_kinds import label
from tests.support.strategies import History, event, moves_of


@rule("van.stamp", revision=1)
def stamp(_: Attributes, happened: RuleEvent) -> Mapping[str, Any]:
    return {"called": happened.sequence}


# fmt: off
DEPOT = Table(
    kind="depot", id=("depot",), intents=("dispatch",), known_by="anything",
    attributes=(Field("next", str, "the van that is sent"), Field("place", str, "where it is sent")),
    facets=(Facet("phase", adopted=State("Open", (OK,)), labels=(label("Open"), label("Shut")), rows=(
        Row((ABSENT, DELETED), "opened", "Open"),
        Row(("Open",), "shut", "Shut"),
        Row(("Shut",), "reopened", "Open"),
        Row(("Open", "Shut"), "call", SAME),
        Row(("Open", "Shut"), "dispatch", SAME, assigns=True),
        Row((LIVE,), "razed", DELETED),
    )),),
    cascades=(
        Cascade("called", at=("van",), on=("call",)),
        Cascade("sent", at=("van",), on=("dispatch",), only_child="next", required=True, data={"phase": "place"}),
    ),
)
VAN = Table(
    kind="van", id=("depot", "van"), parent="depot", intents=(), derived=("called", "sent"),
    attributes=(
        Field("called", int, "the position of the last call"), Field("driver", str, "who drives"), Field("cargo", str, "what"),
    ),
    facets=(
        Facet("phase", labels=(label("Parked"), label("Away"), label("Locked")), rows=(
            Row((ABSENT, DELETED), "built", "Parked"),
            Row(("Parked",), "left", "Away", assigns=("driver",)),
            Row(("Away",), "back", "Parked"),
            Row((LIVE,), "called", SAME, computes=stamp),
            Row(("Parked",), "sent", FROM_DATA, when=(Above("depot", ("Open",)),)),
            Row((LIVE,), "scrapped", DELETED),
        ), views=(View("Locked", (Above("depot", ("Shut",)),), base=("Parked",)),)),
        Facet("load", labels=(label("Empty"), label("Full")), rows=(
            Row((ABSENT, DELETED), "built", "Empty"),
            Row(("Empty",), "left", "Full", assigns=("cargo",)),
            Row(("Full",), "emptied", "Empty"),
            Row((LIVE,), "scrapped", DELETED),
        )),
    ),
)
KETTLE = Table(
    kind="kettle", id=("kettle",), intents=(), derived=("boiled", "cooled"),
    facets=(
        Facet("phase", labels=(label("Heating"), label("Hot"), label("Cold")), rows=(
            Row((ABSENT, DELETED, "Cold"), "switched_on", "Heating"),
            Row(("Heating",), "boiled", "Hot"),
            Row(("Hot",), "cooled", "Cold"),
            Row((LIVE,), "gone", DELETED),
        ), timeouts=(Timeout("Heating", "boiled", 60), Timeout("Hot", "cooled", 600))),
        Facet("lamp", labels=(label("On"), label("Off")), rows=(
            Row((ABSENT, DELETED, "Off"), "switched_on", "On"),
            Row(("On",), "boiled", "Off"),
            Row(("On",), "covered", "Off"),
            Row((LIVE,), "gone", DELETED),
        )),
    ),
)
# fmt: on
KINDS = Kinds((DEPOT, VAN), products=OWN)
BUILT = (("depot", "opened", "d"), ("van", "built", "d/v"))


def story(*events: tuple[str, str, str]) -> History:
    history = History(KINDS)
    for found in events:
        assert history.take(event(*found)).accepted
    return history


def test_two_facets_move_with_one_trigger_though_nothing_else_can_follow() -> None:
    history = story(*BUILT)
    assert moves_of(history.take(event("van", "left", "d/v"))) == [
        ("van/d/v phase", "Away", "left"),
        ("van/d/v load", "Full", "left"),
    ]


def test_each_facet_that_moves_assigns_the_attributes_of_its_row() -> None:
    history = story(*BUILT)
    history.take(event("van", "left", "d/v", {"driver": "Li", "cargo": "tea", "called": 5}))
    assert history.tree.entities["van"]["d/v"].attributes == {"driver": "Li", "cargo": "tea"}


def test_a_rejection_lists_what_a_publisher_could_send_now() -> None:
    history = story(*BUILT)
    [refused] = history.take(event("van", "emptied", "d/w")).records
    assert isinstance(refused, Rejection)
    assert (refused.state, refused.legal) == (None, ("built",))
    [refused] = history.take(event("depot", "reopened", "e")).records
    assert isinstance(refused, Rejection)
    history.take(event("van", "scrapped", "d/v"))
    [refused] = history.take(event("van", "left", "d/v")).records
    assert isinstance(refused, Rejection)
    assert (refused.state, refused.legal) == (
        {"phase": State(DELETED), "load": State(DELETED)},
        ("built",),
    )


def test_an_event_about_another_thing_below_a_deleted_parent_makes_the_parent_known_again() -> None:
    history = story(*BUILT, ("van", "left", "d/v"), ("depot", "razed", "d"))
    for late in (
        event("van", "built", "d/v"),
        event("van", "built", "d/v", {"uid": "vin:1"}),
        event("van", "built", "d/w"),
    ):
        [refused] = history.decide(late).records
        assert isinstance(refused, Rejection)
        assert refused.reason == "unknown_parent"
    assert moves_of(history.take(event("van", "built", "d/w", {"uid": "vin:1"}))) == [
        ("depot/d phase", "Open", "adopt"),
        ("van/d/w phase", "Parked", "built"),
        ("van/d/w load", "Empty", "built"),
    ]


def test_what_is_made_again_forgets_its_attributes_though_its_row_assigns_none() -> None:
    history = story(*BUILT)
    assert history.take(event("depot", "dispatch", "d", {"next": "v", "place": "Away"})).accepted
    assert history.tree.entities["depot"]["d"].attributes == {"next": "v", "place": "Away"}
    for trigger in ("razed", "opened"):
        assert history.take(event("depot", trigger, "d")).accepted
    assert history.tree.entities["depot"]["d"].attributes == {}


def test_a_numbered_event_that_changes_only_others_leaves_a_mark() -> None:
    history = story(*BUILT)
    step = history.take(event("depot", "call", "d", sequence="7"))
    *changed, last = step.records
    assert [(type(r), r.entity.id) for r in changed if isinstance(r, Transition)] == [(Transition, "d/v")]
    assert isinstance(last, Mark)
    assert (last.entity.id, dict(last.entity.sequences)) == ("d", {"/t": 7})
    assert history.take(event("depot", "call", "d", sequence="7")).records == []


def test_a_rule_that_a_cascade_runs_sees_the_position_of_the_event() -> None:
    history = story(*BUILT)
    history.take(event("depot", "call", "d"))
    assert history.tree.entities["van"]["d/v"].attributes == {"called": 3}


def test_a_required_child_takes_its_trigger_with_the_data_of_the_parent() -> None:
    history = story(*BUILT)
    step = history.take(event("depot", "dispatch", "d", {"next": "v", "place": "Away"}))
    assert ("van/d/v phase", "Away", "sent") in moves_of(step)


@pytest.mark.parametrize(
    ("shut", "place"),
    [(True, "Away"), (False, "Nowhere"), (False, "Locked")],
    ids=["a guard of the child fails", "no such phase", "a phase that only a view shows"],
)
def test_the_event_is_rejected_if_the_required_child_cannot_take_its_trigger(shut: bool, place: str) -> None:
    history = story(*BUILT, *((("depot", "shut", "d"),) if shut else ()))
    [refused] = history.take(event("depot", "dispatch", "d", {"next": "v", "place": place})).records
    assert isinstance(refused, Rejection)
    assert (refused.reason, "dispatch needs that van d/v takes sent, but" in refused.message) == ("guard", True)


def fired(due: int) -> Arrival:
    """The event of the kettle's timer."""
    return Arrival("kettle", "boiled", "k", {}, Cause(9, "t", "/t", "timer"), None, due, ("phase", due))


def test_only_the_timer_that_is_set_now_has_an_effect() -> None:
    history = History(Kinds((KETTLE,), products=OWN))
    assert decide(history.tree, fired(5)) == Decision([])
    history.take(event("kettle", "switched_on", "k"))
    due = history.tree.entities["kettle"]["k"].timers_ns["phase"]
    assert due == history.tree.entities["kettle"]["k"].facets[0].since_ns + 60 * SECOND
    assert decide(history.tree, fired(due - 1)) == Decision([])
    [covered] = history.decide(event("kettle", "covered", "k")).records
    assert isinstance(covered, Transition)
    assert covered.entity.timers_ns == {"phase": due}
    *_, last = decide(history.tree, fired(due)).records
    assert isinstance(last, Transition)
    assert [facet.state.phase for facet in own_facets(last.entity)] == ["Hot", "Off"]
    assert (last.cause.by, last.entity.timers_ns) == ("timer", {"phase": due + 600 * SECOND})
    history.take(event("kettle", "gone", "k"))
    assert decide(history.tree, fired(due)) == Decision([])
