"""Each way in which tables can be wrong together is refused, with what to write instead.

Belongs here: a few small wrong tables for each check. Does not: errors in a single table (`test_wrong_tables`).
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, cast

import pytest

from phaseline.machines.compiler.checks import WrongTable
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.predicates import Above, AllBelow, AnyBelow, AttributeIs, Child, Predicate, Scene
from phaseline.machines.language.rules import rule
from phaseline.machines.language.table import (
    ABSENT,
    DELETED,
    FROM_DATA,
    LIVE,
    OK,
    OWNER_GONE,
    SAME,
    Cascade,
    Facet,
    FanOut,
    Field,
    Label,
    OnTally,
    Row,
    Table,
    View,
)
from phaseline.schemas.records import State
from tests.support.fan_out_rule import says

LABELS = (Label("Open", OK, "Open"), Label("Shut", OK, "Shut"), Label("Busy", OK, "Busy"))
ROWS = (
    Row((ABSENT, DELETED), "create", "Open"),
    Row(("Open", "Busy"), "shut", "Shut"),
    Row(("Open", "Shut"), "worked", "Busy"),
    Row((LIVE,), "gone", DELETED),
)
FACET = Facet("phase", labels=LABELS, rows=ROWS, adopted=State("Open", (OK,)))


def table(kind: str, *, facet: Facet = FACET, guard: Predicate | None = None, view: View | None = None, **changes: Any) -> Table:  # fmt: skip
    """House, room and desk are alike but for what is changed. `guard`: of its `create`; `view`: its only one."""
    if guard is not None:
        facet = replace(facet, rows=(replace(ROWS[0], when=(guard,)), *ROWS[1:]))
    if view is not None:
        facet = replace(facet, views=(view,))
    parts = {"house": ("house",), "room": ("house", "room"), "desk": ("house", "room", "desk")}[kind]
    parent = {"house": None, "room": "house", "desk": "room"}[kind]
    right = Table(
        kind=kind,
        id=parts,
        parent=parent,
        facets=(facet,),
        intents=("create",),
        attributes=(Field("size", str, "how large"),),
    )
    return replace(right, **changes)


HOUSE, ROOM, DESK = table("house"), table("room"), table("desk")
FELL = Row(("Open", "Shut"), "fell", "Busy")
HAS_FELL: dict[str, Any] = {"facet": replace(FACET, rows=(*ROWS, FELL)), "derived": ("fell",)}
BELOW_BUSY = AnyBelow("room", "desk", ("Busy",))
SIZES = (Field("size", str, "how large", options=("L", "S")),)
HEALED = replace(
    FACET,
    labels=(*LABELS, Label("Burnt", "Heat", "Burnt")),
    rows=(*ROWS, Row((LIVE,), "burnt", "Burnt"), Row(("Burnt",), "fell", SAME, clears=("Heat",))),
    accumulates_in="Burnt",
    healthy="Open",
)
LOOKS_DOWN = View("Busy", (BELOW_BUSY,), base=("Open",))
LOOKS_UP = View("Shut", (Above("house", ("Shut",)),), base=("Open",))


@rule("house.moon_is_up", revision=1)
@dataclass(frozen=True)
class Moon:
    """A predicate of somebody's own, which does not say what it reads."""

    def holds(self, scene: Scene, entity_id: str) -> bool:
        return scene.above(entity_id, "house") is not None

    def text(self) -> str:
        return "the moon is up"


def refusal(*tables: Table) -> tuple[str, str]:
    with pytest.raises(WrongTable) as caught:
        Kinds(tables)
    return caught.value.kind, "\n".join(caught.value.problems)


# fmt: off
WRONG: dict[str, tuple[tuple[Table, ...], str, str]] = {
    "two of a name": ((HOUSE, ROOM, ROOM), "room", "two tables have this kind: rename one"),
    "unknown parent": ((HOUSE, table("room", parent="hose")), "room", "parent hose is unknown (did you mean house?): add the table of that kind, or correct the name"),
    "unknown parent of a grandparent": ((table("house", guard=AnyBelow("house", "desk", ("Busy",))), table("room", parent="hose"), DESK), "room", "parent hose is unknown (did you mean house?): add the table of that kind, or correct the name"),
    "id not below its parent's": ((HOUSE, table("room", id=("room",))), "room", "id room is not longer than the parent's id house: begin it with the parent's parts, and add at least one"),
    "id as long as its parent's": ((HOUSE, ROOM, table("desk", id=("house", "desk"))), "desk", "id house/desk is not longer than the parent's id house/room: begin it"),
    "parents of each other": ((table("house", parent="room"), ROOM), "house", "id house is not longer than the parent's id house/room: begin it with the parent's parts, and add at least one"),
    "adopted as what cannot be": ((table("house", facet=replace(FACET, adopted=State("Running", (OK,)))), ROOM), "house",
        "phase: no row leads to Running [Ok], the base of an adopted house: name another base with adopted=State(...); State('Absent') means that it stays unknown"),
    "guard looks up at what is not above": ((HOUSE, table("room", guard=Above("desk", ("Open",))), DESK), "room", "phase, row 1 (create): `the desk is Open`: desk is not above room: name a kind above it"),
    "guard looks up at what is no kind": ((HOUSE, table("room", guard=Above("hose", ("Open",)))), "room", "`the hose is Open`: hose is not above room (did you mean house?): name a kind above it"),
    "guard looks at an attribute of what is not above": ((HOUSE, table("room", guard=AttributeIs("desk", "size", "L")), DESK), "room", "`the desk's size is L`: desk is not above room"),
    "an attribute or else that of what is not above": ((HOUSE, table("room", guard=AttributeIs("room", "size", "L", or_of="desk")), DESK), "room",
        "`the room's size (or else the desk's) is L`: desk is not above room: name another kind in or_of="),
    "names what is not below": ((HOUSE, table("room", facet=replace(FACET, message_names=("house", 0)))), "room", "phase, message_names: facet 0 of house does not exist below room: name a kind below it and the index of its facet"),
    "names a facet that is not there": ((HOUSE, table("room", facet=replace(FACET, message_names=("desk", 1))), DESK), "room", "phase, message_names: facet 1 of desk does not exist below room: name a kind below it and the index of its facet"),
    "guard looks down at what is not below": ((HOUSE, table("room", guard=AnyBelow("room", "house", ("Open",)))), "room",
        "`a house is Open`: it counts house below room, but must count a kind below room: write of='room' and a kind below it"),
    "guard looks down from elsewhere": ((HOUSE, table("room", guard=AllBelow("house", "room", ("Open",)))), "room", "`every room is Open`: it counts room below house, but must count a kind below room: write of='room' and a kind below it"),
    "unknown attribute": ((HOUSE, table("room", guard=AttributeIs("house", "colour", "red"))), "room", "`the house's colour is red`: house has no attribute colour: add it there, or correct the name"),
    "a value that an attribute never has": ((table("house", attributes=SIZES), table("room", guard=AttributeIs("house", "size", "LS"))), "room",
        "`the house's size is LS`: size of house is never 'LS': it takes 'L', 'S' (is a comma missing between 'L' and 'S'?), write one of them"),
    "one of its values that an attribute never has": ((table("house", attributes=SIZES), table("room", guard=AttributeIs("house", "size", ("L", "M")))), "room", "size of house is never 'M': it takes 'L', 'S', write one of them"),
    "unknown phase above": ((HOUSE, table("room", guard=Above("house", ("Closed",)))), "room", "`the house is Closed`: house has no phase Closed: correct the name"),
    "unknown phase below": ((HOUSE, table("room", guard=BELOW_BUSY), table("desk", facet=replace(FACET, labels=LABELS[:2], rows=(ROWS[0], Row(("Open",), "shut", "Shut"), ROWS[3])))), "room",
        "`a desk is Busy`: desk has no phase Busy"),
    "unknown facet": ((HOUSE, table("room", guard=Above("house", ("Open",), facet=1))), "room", "`the house is Open`: house has 1 facet(s), found facet=1: count from 0"),
    "fires at what is not below": ((HOUSE, table("room", cascades=(Cascade("fell", at=("house",), on=("shut",)),))), "room", "it fires fell at house, which is not below room: name a kind below it"),
    "fires at what is no kind": ((table("house", cascades=(Cascade("fell", at=("hose",), on=("shut",)),)),), "house", "it fires fell at hose, which is not below house: name a kind below it"),
    "fires at what is no kind, but nearly one below": ((table("house", cascades=(Cascade("fell", at=("rom",), on=("shut",)),)), ROOM), "house", "it fires fell at rom, which is not below house (did you mean room?): name a kind below it"),
    "fires at what is nearly one below, but a kind": ((table("house", cascades=(Cascade("fell", at=("rooms",), on=("shut",)),)), ROOM, replace(HOUSE, kind="rooms")), "house", "it fires fell at rooms, which is not below house: name a kind below it"),
    "fires at what is nearly itself": ((table("house", cascades=(Cascade("fell", at=("hose",), on=("shut",)),)), ROOM), "house", "it fires fell at hose, which is not below house: name a kind below it"),
    "fires what is nearly derived there": ((table("house", cascades=(Cascade("fel", at=("room",), on=("shut",)),)), table("room", **HAS_FELL)), "house",
        "it fires fel at room, where it is not derived (did you mean fell?): add it to `derived` there, with a row"),
    "fires what is nearly derived there, but a trigger": ((table("house", cascades=(Cascade("fel", at=("room",), on=("shut",)),)), table("room", facet=replace(FACET, rows=(*ROWS, FELL, replace(FELL, trigger="fel"))), derived=("fell",))), "house",
        "it fires fel at room, where it is not derived: add it to `derived` there, with a row"),
    "fires what is not derived there": ((table("house", cascades=(Cascade("shut", at=("room",), on=("shut",)),)), ROOM), "house",
        "it fires shut at room, where it is not derived: add it to `derived` there, with a row"),
    "a tally fires what is not derived": ((HOUSE, table("room", on_tally=(OnTally(BELOW_BUSY, "shut"),)), DESK), "room", "on_tally shut: the trigger is not derived: add it to `derived`, with a row"),
    "derived, but never fired": ((HOUSE, table("room", **HAS_FELL)), "room", "nothing fires the derived trigger fell: add a Cascade, a FanOut, an OnTally or a Timeout that fires it, or remove it"),
    "ends with an owner that it has not": ((table("house", facet=replace(FACET, rows=(*ROWS, Row((LIVE,), OWNER_GONE, DELETED))), derived=(OWNER_GONE,)),), "house", "nothing fires the derived trigger owner_gone: add a Cascade"),
    "waits for no tally": ((table("house", guard=None, on_tally=(OnTally(cast("AnyBelow", AttributeIs("house", "size", "L")), "fell"),), **HAS_FELL), ROOM), "house",
        "on_tally 1 (fell), when=: found AttributeIs(kind='house', name='size', value='L', or_of=N...: write a value of the type AnyBelow | AllBelow"),
    "guard looks at one that is no child": ((HOUSE, table("room", guard=Child("room", "house", "size", ("Open",)))), "room",
        "`the house that its size names is Open`: house is not a child of room whose id has one part more: write of='room' and the kind of such a child"),
    "guard looks at one further down": ((table("house", guard=Child("house", "desk", "size", ("Open",))), ROOM, DESK), "house", "`the desk that its size names is Open`: desk is not a child of house whose id has one part more: write of='house' and the kind of such a child"),
    "guard looks at another's child": ((HOUSE, ROOM, table("desk", guard=Child("house", "room", "size", ("Open",)))), "desk", "`the room that its size names is Open`: room is not a child of desk whose id has one part more: write of='desk' and the kind of such a child"),
    "guard looks at a child that is no kind": ((table("house", guard=Child("house", "hut", "size", ("Open",))),), "house", "hut is not a child of house whose id has one part more: write of='house' and the kind of such a child"),
    "guard looks at a child two parts below": ((table("house", guard=Child("house", "room", "size", ("Open",))), table("room", id=("house", "floor", "room"))), "house", "room is not a child of house whose id has one part more: write of='house' and the kind of such a child"),
    "guard looks at its child from elsewhere": ((table("house", guard=Child("desk", "room", "size", ("Open",))), ROOM, DESK), "house", "room is not a child of house whose id has one part more: write of='house' and the kind of such a child"),
    "child named by no attribute": ((table("house", guard=Child("house", "room", "colour", ("Open",))), ROOM), "house", "`the room that its colour names is Open`: house has no attribute colour: add it there, or correct the name"),
    "child in no phase": ((table("house", guard=Child("house", "room", "size", ("Closed",))), ROOM), "house", "`the room that its size names is Closed`: room has no phase Closed: correct the name"),
    "view looks at a child": ((table("house", view=View("Busy", (Child("house", "room", "size", ("Open",)),))), ROOM), "house", "phase, view Busy: the engine does not notice when `the room that its size names is Open` changes: use Above, AnyBelow, AllBelow, or AttributeIs of house itself"),
    "counts what is not below": ((HOUSE, table("room", tallies=(("house", 0),))), "room", "tallies: facet 0 of house does not exist below room: name a kind below it and the index of its facet"),
    "counts no facet": ((table("house", tallies=(("room", 1),)), ROOM), "house", "tallies: facet 1 of room does not exist below house: name a kind below it and the index of its facet"),
    "tally of an unknown condition": ((table("house", guard=AnyBelow("house", "room", ("Busy",), has="Rust")), ROOM), "house",
        "`a room with Rust is Busy`: room has no condition Rust: correct the name"),
    "fans out to what is not below": ((HOUSE, table("room", fan_outs=(FanOut(("fell",), "house", ("shut",), says),))), "room", "it fires fell at house, which is not below room: name a kind below it"),
    "fans out what is not derived there": ((table("house", fan_outs=(FanOut(("fell", "shut"), "room", ("shut",), says),)), table("room", **HAS_FELL)), "house",
        "it fires shut at room, where it is not derived: add it to `derived` there, with a row"),
    "fires at one that no name leads to": ((table("house", cascades=(Cascade("fell", at=("desk",), on=("shut",), only_child="size"),)), ROOM, table("desk", **HAS_FELL)), "house",
        "cascade fell: only_child= needs a child whose id has one part more, found desk: name the kind of such a child"),
    "cascades and fan-outs circle": ((HOUSE, table("room", on_tally=(OnTally(BELOW_BUSY, "fell"),), fan_outs=(FanOut(("fell",), "desk", ("fell",), says),), **HAS_FELL), table("desk", **HAS_FELL)), "room",
        "triggers fire each other in a circle: room.fell -> desk.fell -> room.fell: remove one of them"),
    "cascades circle": ((HOUSE, table("room", on_tally=(OnTally(BELOW_BUSY, "fell"),), cascades=(Cascade("fell", at=("desk",), on=("fell",)),), **HAS_FELL), table("desk", **HAS_FELL)), "room",
        "triggers fire each other in a circle: room.fell -> desk.fell -> room.fell: remove one of them"),
    "cascades circle by what they lead to": ((HOUSE, table("room", on_tally=(OnTally(BELOW_BUSY, "fell"),), cascades=(Cascade("fell", at=("desk",), into="Busy"),), **HAS_FELL), table("desk", **HAS_FELL)), "desk",
        "triggers fire each other in a circle: desk.fell -> room.fell -> desk.fell: remove one of them"),
    "cascades circle by what a cleared condition leads to": ((HOUSE, table("room", facet=HEALED, derived=("fell",), on_tally=(OnTally(BELOW_BUSY, "fell"),), cascades=(Cascade("fell", at=("desk",), into="Open"),)), table("desk", **HAS_FELL)), "desk",
        "triggers fire each other in a circle: desk.fell -> room.fell -> desk.fell: remove one of them"),
    "view looks at what it would not hear of": ((HOUSE, table("room", view=View("Busy", (AttributeIs("house", "size", "L"),)))), "room",
        "phase, view Busy: the engine does not notice when `the house's size is L` changes: use Above, AnyBelow, AllBelow, or AttributeIs of room itself"),
    "view asks the moon": ((table("house", view=View("Busy", (Moon(),))),), "house", "phase, view Busy: the engine does not notice when `the moon is up` changes: use Above, AnyBelow, AllBelow, or AttributeIs of house itself"),
    "view looks at itself": ((table("house", view=View("Busy", (Above("house", ("Open",)),))),), "house",
        "views of facets look at each other in a circle (phase -> phase): look at the base (base=True) in one of them"),
    "views look at each other": ((table("house", facets=(
        replace(FACET, views=(View("Busy", (Above("house", ("Open",), facet=1),)),)),
        replace(FACET, name="other", views=(View("Busy", (Above("house", ("Shut",)),)),)))),), "house", "views of facets look at each other in a circle (phase -> other -> phase): look at the base (base=True) in one of them"),
    "view looks up at what a view shows that looks down": (
        (HOUSE, table("room", view=View("Busy", (BELOW_BUSY,), base=("Open",))), table("desk", view=View("Shut", (Above("room", ("Busy",)),)))), "desk",
        "phase, view Shut: it looks up at `the room is Busy`, but the view Busy of room, which looks down, can change that: look at the base (base=True), or at phases that this view neither shows nor covers"),
    "view looks up at what such a view covers": (
        (HOUSE, table("room", view=View("Busy", (BELOW_BUSY,), base=("Open",))), table("desk", view=View("Shut", (Above("room", ("Open",)),)))), "desk", "phase, view Shut: it looks up at `the room is Open`, but the view Busy of room, which looks down, can change that: look at the base (base=True), or at phases that this view neither shows nor covers"),
    "view looks up at what such a view comes before": (
        (table("house"), table("room", facet=replace(FACET, views=(View("Busy", (BELOW_BUSY,), base=("Open",)), View("Shut", (Above("house", ("Shut",)),))))),
         table("desk", view=View("Shut", (Above("room", ("Shut",)),)))), "desk", "phase, view Shut: it looks up at `the room is Shut`, but the view Busy of room, which looks down, can change that: look at the base (base=True), or at phases that this view neither shows nor covers"),
}
# fmt: on


@pytest.mark.parametrize("wrong", WRONG.values(), ids=list(WRONG))
def test_is_refused(wrong: tuple[tuple[Table, ...], str, str]) -> None:
    tables, kind, says = wrong
    found = refusal(*tables)
    assert found[0] == kind
    assert says in found[1]


def test_a_problem_is_said_once_and_as_it_stands() -> None:
    assert refusal(HOUSE, HOUSE) == ("house", "two tables have this kind: rename one")


def test_a_circle_is_spelled_out_the_way_it_goes() -> None:
    house = table("house", on_tally=(OnTally(AnyBelow("house", "desk", ("Busy",)), "fell"),), cascades=(Cascade("fell", at=("room",), on=("fell",)),), **HAS_FELL)  # fmt: skip
    room = table("room", cascades=(Cascade("fell", at=("desk",), on=("fell",)),), **HAS_FELL)
    _, found = refusal(house, room, table("desk", **HAS_FELL))
    arrows = found.split(": ")[1].split(" -> ")
    assert arrows[0] == arrows[-1]
    assert set(pairwise(arrows)) == {
        ("house.fell", "room.fell"),
        ("room.fell", "desk.fell"),
        ("desk.fell", "house.fell"),
    }
    assert found.endswith(": remove one of them")


RIGHT: dict[str, tuple[Table, ...]] = {
    "a family": (HOUSE, ROOM, DESK),
    "children before parents": (DESK, ROOM, HOUSE),
    "a guard asks the moon": (table("house", guard=Moon()),),
    "an own attribute is looked at": (table("house", view=View("Busy", (AttributeIs("house", "size", "L"),))),),
    "the base is looked at": (
        HOUSE,
        table("room", view=View("Busy", (BELOW_BUSY,), base=("Open",))),
        table("desk", view=View("Shut", (Above("room", ("Open",), base=True),))),
    ),
    "phases that the view below neither shows nor covers": (
        HOUSE,
        table("room", view=View("Busy", (BELOW_BUSY,), base=("Open",))),
        table("desk", view=View("Shut", (Above("room", ("Shut",)),))),
    ),
    "phases that the view below leaves out": (
        HOUSE,
        table("room", view=View("Busy", (BELOW_BUSY,), unless=("Shut",))),
        table("desk", view=View("Shut", (Above("room", ("Shut",)),))),
    ),
    "the end, which no view covers": (
        HOUSE,
        table("room", facet=replace(FACET, views=(View("Busy", (BELOW_BUSY,)), LOOKS_UP))),
        table("desk", view=View("Shut", (Above("room", (DELETED,)),))),
    ),
    "what a view shows before the one that looks down": (
        HOUSE,
        table("room", facet=replace(FACET, views=(LOOKS_UP, LOOKS_DOWN))),
        table("desk", view=View("Shut", (Above("room", ("Shut",)),))),
    ),
    "adopted as what cannot be, with nothing below": (
        table("house", facet=replace(FACET, adopted=State("Running", (OK,)))),
    ),
    "known by itself only": (
        table("house", facet=replace(FACET, adopted=State("Running", (OK,))), known_by="itself"),
        ROOM,
    ),
    "names what is below": (HOUSE, table("room", facet=replace(FACET, message_names=("desk", 0))), DESK),
    "counts what is below": (table("house", tallies=(("room", 0), ("desk", 0))), ROOM, DESK),
    "an attribute or else that of what is above": (
        HOUSE,
        table("room", guard=AttributeIs("room", "size", "L", or_of="house")),
    ),
    "values that an attribute has": (
        table("house", attributes=SIZES),
        table("room", guard=AttributeIs("house", "size", ("L", "S", None))),
    ),
    "fires at the child that an attribute names": (
        table("house", cascades=(Cascade("fell", at=("room",), on=("shut",), only_child="size"),)),
        table("room", **HAS_FELL),
    ),
    "fires when it enters a phase, and stays in it when it is fired at": (
        HOUSE,
        table(
            "room",
            facet=replace(FACET, rows=(*ROWS, Row((LIVE,), "fell", SAME)), healthy="Open"),
            derived=("fell",),
            on_tally=(OnTally(BELOW_BUSY, "fell"),),
            cascades=(Cascade("fell", at=("desk",), into="Open"),),
        ),
        table("desk", **HAS_FELL),
    ),
    "a place with a tally": (
        table("house", place=True, on_tally=(OnTally(AnyBelow("house", "room", ("Busy",)), "fell"),), **HAS_FELL),
        ROOM,
    ),
    "adopted as nothing": (table("house", facet=replace(FACET, adopted=State(ABSENT))), ROOM),
    "fires what is derived there": (
        table("house", cascades=(Cascade("fell", at=("room", "desk"), on=("shut",), into=DELETED),)),
        table("room", **HAS_FELL),
        table("desk", **HAS_FELL),
    ),
    "a tally fires": (HOUSE, table("room", on_tally=(OnTally(BELOW_BUSY, "fell"),), **HAS_FELL), DESK),
    "adopts by name": (table("house", facet=replace(FACET, rows=(*ROWS, Row((ABSENT,), "adopt", FROM_DATA)))),),
}


@pytest.mark.parametrize("tables", RIGHT.values(), ids=list(RIGHT))
def test_is_taken(tables: tuple[Table, ...]) -> None:
    assert list(Kinds(tables)) == [found.kind for found in tables]


@pytest.mark.parametrize(("changes", "says"), [
    ({"message_names": ("room", 0), "unknown_parts": "Bussy"}, "unknown_parts: room has no phase Bussy"),
    ({"message_names": ("room", 0), "parts_apart": ("Busy", "Shutt")}, "parts_apart: room has no phase Shutt"),
    ({"unknown_parts": "Busy"}, "unknown_parts: name the kind and the facet of the parts with message_names="),
    ({"parts_apart": ("Busy",)}, "parts_apart: name the kind and the facet of the parts with message_names="),
])  # fmt: skip
def test_phases_of_parts_that_no_part_can_be_in(changes: dict[str, Any], says: str) -> None:
    house = table("house", id=("house",), facet=replace(FACET, **changes))
    with pytest.raises(WrongTable) as refused:
        Kinds([house, table("room", id=("house", "room"), parent="house")])
    assert says in str(refused.value)
