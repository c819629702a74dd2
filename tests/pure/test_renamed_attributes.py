"""Attributes that a table calls otherwise than the one before it: entities get the new names when the tables change."""

from dataclasses import replace
from typing import Any

import pytest

from phaseline import testing
from phaseline.engine.core.process import Processor
from phaseline.engine.core.tables_change import moving
from phaseline.engine.core.tables_change.moving import TablesChange
from phaseline.engine.core.tree import Tree, restore
from phaseline.engine.surfaces.testing.histories import SUBJECTS
from phaseline.machines.compiler.checks import WrongTable
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.scripts import NoScripts
from phaseline.schemas.records import Mark, Transition
from phaseline.tables import (
    ABSENT,
    DELETED,
    LIVE,
    OK,
    SAME,
    AttributeIs,
    Facet,
    Field,
    Label,
    Retired,
    Row,
    State,
    Table,
    View,
)
from tests.support.own_product import OWN


def lamps(*attributes: Field, view: str, **facet: Any) -> Kinds:
    """A lamp with these attributes, which shows Dark while the attribute `view` is off."""
    names = tuple(field.name for field in attributes)
    made = Facet(
        name="phase", adopted=State("On", (OK,)), healthy="On",
        labels=(Label("On", OK, "On"), Label("Dark", "Switch", "Dark", state_class="excused")),
        rows=(
            Row((ABSENT, DELETED), "create", "On", assigns=names),
            Row((ABSENT,), "seen", "On", assigns=names),
            Row((LIVE,), "measured", SAME, assigns=names),
            Row((LIVE,), "delete", DELETED),
        ),
        views=(View("Dark", (AttributeIs("lamp", view, "off"),), base=("On",)),),
    )  # fmt: skip
    table = Table(
        kind="lamp", id=("site", "lamp"), intents=("create", "delete"), attributes=attributes,
        facets=(replace(made, **facet),),
    )  # fmt: skip
    return Kinds((table,), products=OWN)


ZONE, SWITCH = Field("area", str, "where it is"), Field("mode", str, "its switch")
OLD = lamps(ZONE, SWITCH, Field("size", int, "how big"), view="mode")
NEW = lamps(
    Field("zone", str, "where it is", was=("area",)),
    Field("switch", str, "its switch", was=("mode",)),
    Field("size", int, "how big"),
    view="switch",
)
LIT = testing.given(OLD).event("lamp", "create", "s/a", {"area": "north", "mode": "off", "size": 3})


def test_what_an_entity_keeps_goes_to_the_name_of_now() -> None:
    after = LIT.event("lamp", "create", "s/b", {"size": 4}).change_tables(NEW)
    assert dict(after.entity("lamp", "s/a").attributes) == {"zone": "north", "switch": "off", "size": 3}
    [record] = after.transitions
    assert (record.trigger, record.cause.by, record.before, record.after) == (
        "tables_changed", "tables", record.before, record.before,
    )  # fmt: skip
    old, new = OLD["lamp"].version, NEW["lamp"].version
    assert record.message == (
        f"the table changed from version {old} to {new}: area is called zone, mode is called switch"
    )
    assert after.entity("lamp", "s/a").version == 2
    assert after.entity("lamp", "s/b").version == 1


def test_a_view_that_looks_at_it_shows_on() -> None:
    LIT.change_tables(NEW).then("lamp", "s/a", "Dark [Switch]").then_transitions(1)
    LIT.event("lamp", "delete", "s/a").change_tables(NEW).then("lamp", "s/a", "Deleted", attributes={"zone": "north"})


def test_an_entity_that_moves_gets_its_names_with_the_move() -> None:
    [facet] = NEW["lamp"].written.facets[:1]
    lit = Label("Lit", OK, "Lit")
    labels = (lit, *facet.labels[1:])
    rows = tuple(replace(row, to="Lit") if row.to == "On" else row for row in facet.rows)
    views = tuple(replace(view, base=("Lit",)) for view in facet.views)
    kinds = lamps(
        *NEW["lamp"].written.attributes, view="switch", labels=labels, rows=rows, views=views, healthy="Lit",
        adopted=State("Lit", (OK,)), retired=(Retired("On", to="Lit"),),
    )  # fmt: skip
    after = LIT.change_tables(kinds)
    after.then("lamp", "s/a", "Dark [Switch]", base="Lit", attributes={"zone": "north"}).then_transitions(1)


def test_a_value_that_does_not_fit_stays_and_one_that_is_there_counts() -> None:
    bare: dict[str, Any] = {"view": "zone", "views": (), "labels": OLD["lamp"].written.facets[0].labels[:1]}
    other = lamps(Field("zone", int, "its number", was=("area",)), Field("size", int, "", was=("mode",)), **bare)
    kept = {"area": "north", "mode": "off", "size": 3}
    assert dict(LIT.change_tables(other).entity("lamp", "s/a").attributes) == kept
    both = lamps(Field("mode", str, "its switch", was=("area",)), Field("size", int, "how big"), **bare)
    assert dict(LIT.change_tables(both).entity("lamp", "s/a").attributes) == {"mode": "off", "size": 3}


def test_the_records_lead_to_the_same_tree_and_nothing_is_left() -> None:
    tree, copy = loaded(), loaded()
    told = TablesChange(10, 43_200_000_000_000, NEW.digest, {"lamp": OLD["lamp"].version})
    for batch in Processor(tree, SUBJECTS, 0).move(told, moving.pieces(tree, told)):
        for message in batch.messages:
            if ".log." in message.subject:
                assert restore(copy, message.body) == 10
    assert copy.entities == tree.entities
    assert moving.pieces(tree, told) == []


def loaded() -> Tree:
    tree = Tree(NEW, NoScripts())
    tree.put(LIT.entity("lamp", "s/a"))
    return tree


# ---- events that still send the earlier name


@pytest.mark.parametrize("data", [{"area": "south"}, {"attributes": {"area": "south"}}])
def test_the_earlier_name_is_a_field_that_nothing_reads(data: dict[str, Any]) -> None:
    after = LIT.change_tables(NEW)
    after.when("lamp", "create", "s/c", data).then_rejected("invalid", "nothing reads data.area (did you mean zone?)")
    [mark] = after.when("lamp", "measured", "s/a", data).records
    assert isinstance(mark, Mark | Transition)
    assert mark.noted.unread == ("area",)
    assert "free" not in mark.entity.attributes
    assert mark.entity.attributes["zone"] == "north"


def test_nothing_is_renamed_without_a_name() -> None:
    LIT.change_tables(OLD).then_transitions(0)
    assert OLD["lamp"].version != NEW["lamp"].version


@pytest.mark.parametrize(
    ("attributes", "problem"),
    [
        (
            (ZONE, Field("zone", str, "where", was=("area",))),
            "zone was area, but area still is an attribute: remove that",
        ),
        (
            (Field("zone", str, "where", was=("spot",)), Field("place", str, "where", was=("spot",))),
            "place and zone were spot: remove the earlier name from one of them",
        ),
        (
            (Field("zone", str, "where", was=("free",)),),
            "zone was free, but the engine keeps something of its own there",
        ),
        ((Field("zone", str, "where", was=("silence_after",)),), "zone was silence_after, but silence_after still is"),
    ],
)
def test_a_wrong_earlier_name_is_refused(attributes: tuple[Field, ...], problem: str) -> None:
    with pytest.raises(WrongTable, match=problem):
        lamps(*attributes, view=attributes[-1].name)


def test_a_field_of_data_has_no_earlier_name() -> None:
    table = OLD["lamp"].written
    fields = {"delete": (Field("why", str, "why", was=("cause",)),)}
    with pytest.raises(WrongTable, match="why has an earlier name, but no entity keeps a field of data: remove was="):
        Kinds((replace(table, fields=fields),), products=OWN)
