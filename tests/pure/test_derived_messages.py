"""The messages that a table derives: from an attribute, or from the entities below on which a view depends.

Belongs here: which text stands in a transition, on invented kinds. Does not: how it is printed (`test_printing`).
"""

import pytest

from phaseline.engine.core.decide import decide
from phaseline.engine.core.intake import Arrival
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.predicates import AllBelow, AnyBelow
from phaseline.machines.language.table import ABSENT, DELETED, LIVE, Facet, Field, Row, Table, Timeout, View
from phaseline.schemas.records import Cause, Transition
from tests.support.own_product import OWN
from tests.support.sample_kinds import label
from tests.support.strategies import History, HistoryStep, event

# fmt: off
TEAM = Table(
    kind="team", id=("team",), intents=(), known_by="itself",
    facets=(Facet("phase", message_names=("member", 0),
        labels=(label("Fine"), label("Ill"), label("Halted"), label("Quiet")), rows=(
            Row((ABSENT, DELETED), "formed", "Fine"),
            Row(("Fine",), "shaken", "Ill"),
            Row(("Ill",), "soothed", "Fine"),
            Row((LIVE,), "disbanded", DELETED),
        ), views=(
            View("Halted", (AnyBelow("team", "member", ("Sick",)), AnyBelow("team", "member", ("Idle",), facet=1)), base=("Fine",)),
            View("Ill", (AnyBelow("team", "member", ("Sick", "Hurt")),), base=("Fine",)),
            View("Quiet", (AllBelow("team", "member", ("Idle",)),), base=("Fine",)),
        )),),
)
MEMBER = Table(
    kind="member", id=("team", "member"), parent="team", intents=(), derived=("worsened",),
    attributes=(Field("why", str, "what a doctor said"),),
    facets=(
        Facet("phase", message_from="why", labels=(label("Well"), label("Sick"), label("Hurt"), label("Idle")), rows=(
            Row((ABSENT, DELETED), "joined", "Well"),
            Row(("Well",), "fell_ill", "Sick", assigns=True),
            Row(("Sick",), "worsened", "Hurt"),
            Row(("Well",), "rested", "Idle"),
            Row(("Sick", "Hurt", "Idle"), "healed", "Well", assigns=True),
            Row((LIVE,), "left", DELETED),
        ), timeouts=(Timeout("Sick", "worsened", 60),)),
        Facet("post", labels=(label("Busy"), label("Idle")), rows=(
            Row((ABSENT, DELETED), "joined", "Busy"),
            Row(("Busy",), "freed", "Idle"),
            Row(("Idle",), "busied", "Busy"),
            Row((LIVE,), "left", DELETED),
        )),
    ),
)
CREW = Table(
    kind="crew", id=("crew",), intents=(), known_by="itself", attributes=(Field("why", str, "what moves it"),),
    facets=(
        Facet("phase", message_from="why", labels=(label("Ashore"), label("Afloat")), rows=(
            Row((ABSENT, DELETED), "formed", "Ashore", assigns=True),
            Row(("Ashore",), "sailed", "Afloat"),
            Row((LIVE,), "gone", DELETED),
        )),
        Facet("mood", message_names=("sailor", 0), labels=(label("Calm"), label("Keen"), label("Upset")), rows=(
            Row((ABSENT, DELETED), "formed", "Calm"),
            Row(("Calm",), "cheered", "Keen"),
            Row((LIVE,), "gone", DELETED),
        ), views=(View("Upset", (AnyBelow("crew", "sailor", ("Sick",)),)),)),
    ),
)
SAILOR = Table(
    kind="sailor", id=("crew", "sailor"), parent="crew", intents=(),
    facets=(Facet("phase", labels=(label("Sick"),), rows=(
        Row((ABSENT, DELETED), "fell_ill", "Sick"), Row((LIVE,), "gone", DELETED),
    )),),
)
# fmt: on
CREWS = Kinds((CREW, SAILOR), products=OWN)
KINDS = Kinds((TEAM, MEMBER), products=OWN)


def team(members: str) -> History:
    """A team `t` with these members, each a letter, all well and busy."""
    history = History(KINDS)
    for found in (("team", "formed", "t"), *(("member", "joined", f"t/{name}") for name in members)):
        assert history.take(event(*found)).accepted
    return history


def messages(step: HistoryStep) -> dict[str, str | None]:
    """The message of each transition, by entity and facet."""
    found = [record for record in step.records if isinstance(record, Transition)]
    return {f"{one.entity.kind}/{one.entity.id} {one.facet}": one.message for one in found}


@pytest.mark.parametrize(
    ("sick", "message"),
    [
        ("a", "because of member t/a"),
        ("abc", "because of member t/a, t/b, t/c"),
        ("abcd", "because of member t/a, t/b, t/c and 1 more"),
        ("abcde", "because of member t/a, t/b, t/c and 2 more"),
    ],
)
def test_a_message_names_those_below_that_the_view_asks_for(sick: str, message: str) -> None:
    history = team("hirs" + sick[::-1])
    for name in sick:
        history.take(event("member", "fell_ill", f"t/{name}"))
    history.take(event("member", "fell_ill", "t/h"))
    assert hurt(history, "t/h").after.phase == "Hurt"
    history.take(event("member", "rested", "t/i"))
    step = history.take(event("member", "freed", "t/r"))
    assert messages(step) == {"member/t/r post": None, "team/t phase": message}


def hurt(history: History, member: str) -> Transition:
    """Let the timer of a sick member fire; returns its transition."""
    due = history.tree.entities["member"][member].timers_ns["phase"]
    cause = Cause(99, "t", "/t", "timer")
    records = decide(history.tree, Arrival("member", "worsened", member, {}, cause, None, due, ("phase", due))).records
    for record in records:
        assert isinstance(record, Transition)
        history.tree.put(record.entity)
    [found] = [one for one in records if isinstance(one, Transition) and one.entity.id == member]
    return found


def test_a_view_that_no_entity_below_causes_names_none() -> None:
    history = History(KINDS)
    step = history.take(event("team", "formed", "t"))
    assert (history.tree.entities["team"]["t"].facets[0].state.phase, messages(step)) == (
        "Quiet",
        {"team/t phase": None},
    )


def test_a_base_that_looks_as_the_view_does_names_none() -> None:
    history = team("ab")
    history.take(event("team", "shaken", "t"))
    history.take(event("member", "fell_ill", "t/a"))
    history.take(event("team", "soothed", "t"))
    assert messages(history.take(event("team", "shaken", "t"))) == {"team/t phase": None}


def test_a_message_from_an_attribute_stands_in_what_the_event_or_a_timer_moves() -> None:
    history = team("a")
    step = history.take(event("member", "fell_ill", "t/a", {"why": "a cold"}))
    assert messages(step) == {"member/t/a phase": "a cold", "team/t phase": "because of member t/a"}
    assert hurt(history, "t/a").message == "a cold"
    assert messages(history.take(event("member", "healed", "t/a", {"why": ""})))["member/t/a phase"] is None


def test_the_message_of_the_event_comes_first_and_only_in_what_the_event_moves() -> None:
    history = team("a")
    step = history.take(event("member", "fell_ill", "t/a", {"why": "a cold", "message": "sneezes", "reason": "Winter"}))
    assert messages(step) == {"member/t/a phase": "sneezes", "team/t phase": "because of member t/a"}
    reasons = [record.reason for record in step.records if isinstance(record, Transition)]
    assert reasons == ["Winter", None]


def test_an_event_that_changes_nothing_else_gets_the_derived_message_too() -> None:
    history = History(CREWS)
    history.take(event("crew", "formed", "c", {"why": "wind"}))
    history.take(event("sailor", "fell_ill", "c/s"))
    assert messages(history.take(event("crew", "sailed", "c"))) == {"crew/c phase": "wind"}
    assert messages(history.take(event("crew", "cheered", "c"))) == {"crew/c mood": "because of sailor c/s"}
