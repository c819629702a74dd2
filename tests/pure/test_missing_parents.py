"""Which events make unknown ancestors known, in which order, and which ancestor a rejection names.

Belongs here: `core.adoption` on three invented levels. Does not: the adoption of built-in kinds (`test_*_stories`).
"""

from dataclasses import replace

import pytest

from phaseline.engine.log.explain.way_out import way_out
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.predicates import AttributeIs
from phaseline.machines.language.table import ABSENT, DELETED, LIVE, OK, SAME, Facet, Field, KnownBy, Row, Table
from phaseline.schemas.records import Rejection, State, Transition
from tests.support.own_product import OWN
from tests.support.sample_kinds import label
from tests.support.strategies import History, event


def place(kind: str, *above: str, known_by: KnownBy) -> Table:
    """A kind that is made by an observation or ordered by an intent, and razed."""
    rows = (
        Row((ABSENT, DELETED), "made", "There"),
        Row((ABSENT, DELETED), "order", "There"),
        Row(("There",), "worn", "Worn"),
        Row((LIVE,), "razed", DELETED),
    )
    facet = Facet("phase", adopted=State("There", (OK,)), labels=(label("There"), label("Worn")), rows=rows)
    parent = above[-1] if above else None
    return Table(kind=kind, id=(*above, kind), parent=parent, intents=("order",), facets=(facet,), known_by=known_by)


def history(port: KnownBy, pier: KnownBy) -> History:
    """An empty history of ports, their piers, and the boats at these."""
    boat = place("boat", "port", "pier", known_by="itself")
    return History(Kinds((place("port", known_by=port), place("pier", "port", known_by=pier), boat), products=OWN))


@pytest.mark.parametrize(
    ("port", "pier", "trigger", "missing"),
    [
        ("observations", "observations", "made", None),
        ("anything", "anything", "order", None),
        ("anything", "observations", "made", None),
        ("observations", "observations", "order", "pier/p/q"),
        ("anything", "observations", "order", "pier/p/q"),
        ("observations", "anything", "order", "port/p"),
        ("itself", "observations", "made", "port/p"),
        ("observations", "itself", "made", "pier/p/q"),
        ("itself", "itself", "made", "pier/p/q"),
    ],
)
def test_an_event_makes_all_its_ancestors_known_or_none(
    port: KnownBy, pier: KnownBy, trigger: str, missing: str | None
) -> None:
    records = history(port, pier).decide(event("boat", trigger, "p/q/b")).records
    if missing is None:
        assert [(r.entity.id, r.trigger) for r in records if isinstance(r, Transition)] == [
            ("p", "adopt"),
            ("p/q", "adopt"),
            ("p/q/b", trigger),
        ]
    else:
        [refused] = records
        assert isinstance(refused, Rejection)
        name = missing.replace("/", " ", 1)
        assert refused.reason == "unknown_parent"
        assert f"the {name} is unknown, {trigger} needs it alive" in refused.message
        assert way_out(history(port, pier).tree, refused, None)


@pytest.mark.parametrize("pier", ["itself", "anything"])
def test_nothing_is_made_below_a_deleted_ancestor(pier: KnownBy) -> None:
    told = history("itself", pier)
    for found in (("port", "made", "p"), ("pier", "made", "p/q"), ("port", "razed", "p")):
        assert told.take(event(*found)).accepted
    for kind, entity_id in (("pier", "p/r"), ("boat", "p/q/b")):
        [refused] = told.take(event(kind, "made", entity_id)).records
        assert isinstance(refused, Rejection)
        nearest = "pier p/q" if kind == "boat" and pier == "itself" else "port p"
        assert f"the {nearest} is deleted, made needs it alive" in refused.message
        assert way_out(told.tree, refused, None) == (
            f"if it is there: reported at {kind} {entity_id} with the state you see; "
            "or if port p is there again: reported at port p with the state you see"
        )
    assert told.take(event("port", "reported", "p", {"phase": "There", "seen": 3})).accepted
    is_adopted = pier == "anything"
    assert told.take(event("boat", "made", "p/q/b")).accepted == is_adopted


@pytest.mark.parametrize(("razed", "taken"), [(False, True), (True, False)])
def test_a_guard_reads_no_attribute_of_what_is_deleted(razed: bool, taken: bool) -> None:
    depot = replace(place("depot", known_by="itself"), attributes=(Field("zone", str, "where"),))
    [facet] = depot.facets
    rows = (Row((LIVE,), "zoned", SAME, assigns=True), *facet.rows)
    depot = replace(depot, facets=(replace(facet, rows=rows),))
    is_north = AttributeIs("depot", "zone", "north")
    told = History(Kinds((depot,), products=OWN))
    assert told.take(event("depot", "made", "d")).accepted
    assert told.take(event("depot", "zoned", "d", {"zone": "north"})).accepted
    assert not razed or told.take(event("depot", "razed", "d")).accepted
    assert is_north.holds(told.tree, "d") is taken
    found = is_north.unmet(told.tree, "d").found
    assert found == ("the depot is deleted" if razed else "the depot's zone is north")
    assert is_north.unmet(told.tree, "e").found == "the depot is unknown"
