"""Features that edge hosting does not use: facets that move together, AllBelow, on-tally triggers, attributes.

Belongs here: each feature in a small history of invented kinds. Does not: laws over random histories (`test_laws`).
"""

from typing import Any

import pytest

from phaseline.engine.log.explain.way_out import way_out
from phaseline.engine.surfaces.testing.laws import states_and_tallies_follow_from_the_bases
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.predicates import Above, AnyBelow, AttributeIs
from phaseline.machines.language.table import ABSENT, DELETED, LIVE, OK, SAME, Facet, Field, OnTally, Row, Table, View
from phaseline.schemas.records import Rejection, State, Transition, own_facets
from tests.support.own_product import OWN
from tests.support.sample_kinds import KINDS, label
from tests.support.strategies import History, HistoryStep, event

Told = tuple[str, str, str, str]
FRUIT = "o/r/south/f"


def story(*events: tuple[str, str, str] | tuple[str, str, str, dict[str, Any]], kinds: Kinds = KINDS) -> History:
    """A history of these events, all of which must be accepted."""
    history = History(kinds)
    for found in events:
        assert history.take(event(*found)).accepted
    return history


def told(step: HistoryStep) -> list[Told]:
    """Of each record: the entity and facet, the phase, the trigger, and the form of the cause."""
    return [
        (f"{r.entity.kind}/{r.entity.id} {r.facet}", r.after.phase, r.trigger, r.cause.by)
        for r in step.records
        if isinstance(r, Transition)
    ]


def phases(history: History, kind: str, entity_id: str) -> list[str]:
    return [facet.state.phase for facet in own_facets(history.tree.entities[kind][entity_id])]


PLANTED = (("orchard", "plant", "o"), ("row", "plant", "o/r"))


def test_one_trigger_moves_two_facets_and_fires_downward_once() -> None:
    history = story(*PLANTED)
    step = history.take(event("orchard", "winter", "o"))
    assert told(step) == [
        ("orchard/o season", "Resting", "winter", "event"),
        ("orchard/o water", "Shut", "winter", "event"),
        ("row/o/r phase", "Idle", "prune", "cascade"),
    ]
    assert [r.entity.version for r in step.records if isinstance(r, Transition)] == [3, 4, 2]
    assert history.tree.entities["row"]["o/r"].facets[0].base.phase == "Pruned"


def test_a_trigger_moves_only_the_facets_whose_rows_fit() -> None:
    history = story(*PLANTED, ("orchard", "drought", "o"))
    assert told(history.take(event("orchard", "winter", "o")))[0] == ("orchard/o season", "Resting", "winter", "event")
    assert phases(history, "orchard", "o") == ["Resting", "Dry"]


def test_a_view_may_look_at_another_facet_of_its_own() -> None:
    history = story(*PLANTED)
    assert ("orchard/o season", "Resting", "drought", "view") in told(history.take(event("orchard", "drought", "o")))
    assert ("orchard/o season", "Growing", "irrigate", "view") in told(history.take(event("orchard", "irrigate", "o")))


def test_a_view_that_looks_up_at_the_base_does_not_see_what_views_show() -> None:
    history = story(*PLANTED, ("orchard", "winter", "o"), ("orchard", "spring", "o"))
    history.take(event("row", "label", "o/r", {"organic": False}))
    history.take(event("orchard", "drought", "o"))
    assert phases(history, "orchard", "o") == ["Resting", "Dry"]
    assert phases(history, "row", "o/r") == ["Pruned"]
    history.take(event("orchard", "winter", "o"))
    assert phases(history, "row", "o/r") == ["Idle"]


def test_every_holds_for_none_and_for_all_but_not_for_some() -> None:
    history = story(*PLANTED, ("fruit", "set", "o/elsewhere/south/f"))
    assert phases(history, "row", "o/r") == ["Done"]
    for fruit in ("f", "g"):
        history.take(event("fruit", "adopt", f"o/r/south/{fruit}", {"phase": "Ripe"}))
        assert phases(history, "row", "o/r") == ["Planted"]
    history.take(event("fruit", "pick", "o/r/south/f"))
    assert phases(history, "row", "o/r") == ["Planted"]
    history.take(event("fruit", "pick", "o/r/south/g"))
    assert phases(history, "row", "o/r") == ["Done"]
    history.take(event("fruit", "set", "o/r/north/f"))
    assert phases(history, "row", "o/r") == ["Planted"]
    history.take(event("fruit", "rotted", "o/r/north/f"))
    history.take(event("row", "cured", "o/r"))
    history.take(event("orchard", "irrigate", "o"))
    history.take(event("fruit", "eaten", "o/r/north/f"))
    assert phases(history, "row", "o/r") == ["Done"]


def test_grandchildren_are_tallied_and_fire_when_the_last_one_comes() -> None:
    history = story(*PLANTED)
    for fruit in ("o/r/south/f", "o/q/south/f"):
        history.take(event("fruit", "adopt", fruit, {"phase": "Ripe"}))
    assert phases(history, "orchard", "o") == ["Harvest", "Open"]
    assert "all_picked" not in {found[2] for found in told(history.take(event("fruit", "pick", "o/r/south/f")))}
    step = history.take(event("fruit", "pick", "o/q/south/f"))
    assert ("orchard/o season", "Resting", "all_picked", "tally") in told(step)
    [why] = [r.cause.origin for r in step.records if isinstance(r, Transition) and r.trigger == "all_picked"]
    assert why == "fruit/o/q/south/f"


def test_a_tally_fires_once_each_time_it_is_reached() -> None:
    fired = []
    history = story(*PLANTED, *(("fruit", "set", f"o/r/s/{name}") for name in "abc"))
    for found in (("rotted", "a"), ("rotted", "b"), ("eaten", "a"), ("eaten", "b"), ("rotted", "c")):
        step = history.take(event("fruit", found[0], f"o/r/s/{found[1]}"))
        fired.append(sum(trigger == "rot_found" for _, _, trigger, _ in told(step)))
        history.take(event("row", "cured", "o/r"))
        history.take(event("orchard", "irrigate", "o"))
    assert fired == [2, 0, 0, 0, 2]


def test_what_a_tally_fires_goes_on_downward() -> None:
    history = story(*PLANTED, ("ladder", "raised", "o/r/l"), ("fruit", "set", "o/r/s/a"), ("fruit", "set", "o/r/s/b"))
    assert told(history.take(event("fruit", "rotted", "o/r/s/a")))[0] == (
        "fruit/o/r/s/a phase",
        "Rotten",
        "rotted",
        "event",
    )
    assert phases(history, "ladder", "o/r/l") == ["Away"]
    assert phases(history, "fruit", "o/r/s/b")[0] == "Held"


def test_an_observation_adopts_what_is_above_each_facet_as_its_own_base() -> None:
    history = story(("fruit", "set", FRUIT))
    assert phases(history, "orchard", "o") == ["Growing", "Open"]
    assert phases(history, "row", "o/r") == ["Planted"]
    assert history.tree.entities["row"]["o/r"].attributes == {"organic": True}
    assert [r.trigger for r in history.steps[0].records if isinstance(r, Transition)] == [
        "adopt",
        "adopt",
        "adopt",
        "set",
    ]


def test_adopt_names_one_facet_and_the_other_has_its_own_row() -> None:
    assert phases(story(("orchard", "adopt", "o", {"phase": "Resting"})), "orchard", "o") == ["Resting", "Open"]
    refused = History(KINDS).take(event("orchard", "adopt", "o", {"phase": "Harvest"})).records
    assert [r.reason for r in refused if isinstance(r, Rejection)] == ["invalid"]


def test_a_facet_that_comes_later_keeps_the_attributes() -> None:
    history = story(*PLANTED, ("fruit", "set", FRUIT, {"branch": "third"}), ("fruit", "graded_up", FRUIT))
    assert phases(history, "fruit", FRUIT) == ["Green", "First"]
    assert history.tree.entities["fruit"][FRUIT].attributes == {"branch": "third"}


def test_what_is_made_again_begins_with_the_defaults() -> None:
    history = story(*PLANTED, ("row", "label", "o/r", {"variety": "Cox", "organic": False}), ("orchard", "winter", "o"))
    assert history.tree.entities["row"]["o/r"].attributes == {"variety": "Cox", "organic": False}
    for found in (("row", "clear", "o/r"), ("orchard", "spring", "o"), ("row", "plant", "o/r", {"variety": "Elstar"})):
        assert history.take(event(*found)).accepted
    assert history.tree.entities["row"]["o/r"].attributes == {"organic": True, "variety": "Elstar"}


def test_a_view_follows_an_attribute_that_it_inherits() -> None:
    def table(kind: str, parent: str | None, views: tuple[View, ...] = ()) -> Table:
        rows = (Row((ABSENT,), "made", "On"), Row((LIVE,), "set", SAME, assigns=True), Row((LIVE,), "gone", DELETED))
        facet = Facet("phase", (label("On"), label("Dim")), rows if views else (*rows, Row((LIVE,), "dimmed", "Dim")), views,
                      adopted=State("On", (OK,)))  # fmt: skip
        parts = ("house", "lamp")[: 2 if parent else 1]
        return Table(kind, parts, (facet,), (), parent=parent, attributes=(Field("mode", str, "how it is used"),))

    night = View("Dim", (AttributeIs("lamp", "mode", "night", or_of="house"),))
    history = History(Kinds((table("house", None), table("lamp", "house", (night,))), products=OWN))
    for name in ("1", "2"):
        history.take(event("lamp", "made", f"h/{name}"))
    history.take(event("lamp", "set", "h/2", {"mode": "day"}))
    found = history.take(event("house", "set", "h", {"mode": "night"})).records
    lamps = [(r.entity.id, str(r.after), r.cause.by, r.cause.origin) for r in found if isinstance(r, Transition)][1:]
    assert lamps == [("h/1", "Dim [Ok]", "view", "house/h")]
    states_and_tallies_follow_from_the_bases(history)
    assert len(history.take(event("house", "set", "h", {"mode": "night"})).records) == 0
    assert len(history.take(event("house", "set", "h", {"mode": "day"})).records) == 2


def test_a_guard_looks_at_an_attribute_above() -> None:
    history = story(*PLANTED, ("fruit", "set", FRUIT), ("fruit", "mites", FRUIT))
    [refused] = history.decide(event("fruit", "spray", FRUIT)).records
    assert isinstance(refused, Rejection)
    assert refused.reason == "guard"
    assert "the row's organic is True, spray needs False" in refused.message
    assert way_out(history.tree, refused, None) == "label at row o/r with organic False"
    history.take(event("row", "label", "o/r", {"organic": False}))
    assert history.take(event("fruit", "spray", FRUIT)).accepted
    assert history.tree.entities["fruit"][FRUIT].facets[0].state == State("Green", (OK,))


def test_nothing_begins_below_what_is_gone_however_far_above() -> None:
    history = story(*PLANTED, ("orchard", "cleared", "o"))
    for entity_id in ("o/r/s/f", "o/new/s/f"):
        [refused] = history.take(event("fruit", "set", entity_id)).records
        assert isinstance(refused, Rejection)
        assert refused.reason == "unknown_parent"
    assert "o/new" not in history.tree.entities["row"]


# fmt: off
def pair(*reached: OnTally, shelf_rows: tuple[Row, ...], view: View) -> Kinds:
    """A shelf that is told by the tally of its boxes, and boxes that look up at it."""
    shelf = Table(
        kind="shelf", id=("shelf",), intents=(), derived=tuple(found.trigger for found in reached), on_tally=reached,
        facets=(Facet("phase", adopted=State("Free", (OK,)), labels=(label("Free"), label("Full")), rows=(
            Row((ABSENT, DELETED), "built", "Free"), *shelf_rows, Row((LIVE,), "gone", DELETED),
        )),),
    )
    box = Table(
        kind="box", id=("shelf", "box"), parent="shelf", intents=(),
        facets=(Facet("phase", labels=(label("Set"), label("Stuck")), views=(view,), rows=(
            Row((ABSENT, DELETED), "put", "Set"), Row((LIVE,), "taken", DELETED),
        )),),
    )
    return Kinds((shelf, box), products=OWN)
# fmt: on

STUCK = View("Stuck", (Above("shelf", ("Full",), base=True),))
FILLED = OnTally(AnyBelow("shelf", "box", ("Set",)), "filled")
FREED = OnTally(AnyBelow("shelf", "box", ("Stuck",)), "freed")


@pytest.mark.parametrize("before", [(), (("shelf", "built", "s"),)], ids=["shelf unknown", "shelf known"])
def test_what_an_event_makes_known_sees_what_comes_of_it(before: tuple[tuple[str, str, str], ...]) -> None:
    kinds = pair(FILLED, shelf_rows=(Row(("Free",), "filled", "Full"), Row(("Full",), "emptied", "Free")), view=STUCK)
    history = story(*before, ("box", "put", "s/b"), kinds=kinds)
    assert (phases(history, "shelf", "s"), phases(history, "box", "s/b")) == (["Full"], ["Stuck"])


def test_tallies_that_answer_each_other_come_to_an_end() -> None:
    rows = (Row(("Free",), "filled", "Full"), Row(("Full",), "freed", "Free"))
    history = story(("shelf", "built", "s"), kinds=pair(FILLED, FREED, shelf_rows=rows, view=STUCK))
    assert told(history.take(event("box", "put", "s/b"))) == [("box/s/b phase", "Set", "put", "event")]
    assert phases(history, "shelf", "s") == ["Free"]
