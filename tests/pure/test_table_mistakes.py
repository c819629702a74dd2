"""The mistakes that newcomers make in a table, and the one sentence with which each is answered.

Belongs here: the mistakes; their sentences stand in `tests/golden/table_mistakes.txt`. Does not: each check of a table
alone (`test_wrong_tables`, `test_wrong_kinds`).
After an intended change, `PHASELINE_GOLDEN=write pytest tests/pure/test_table_mistakes.py` writes the page again. Read
it before you commit.
"""

import dataclasses
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from phaseline import tables
from phaseline.engine.surfaces.testing.scenario import given
from phaseline.machines.compiler.fingerprint import WORDS
from phaseline.tables import ABSENT, DELETED, OK, SAME, Kinds, WrongTable, rule

GOLDEN = Path(__file__).parents[1] / "golden" / "table_mistakes.txt"
Above: Any = tables.Above
AllBelow: Any = tables.AllBelow
AnyBelow: Any = tables.AnyBelow
At: Any = tables.At
AttributeIs: Any = tables.AttributeIs
Cascade: Any = tables.Cascade
Facet: Any = tables.Facet
FanOut: Any = tables.FanOut
Field: Any = tables.Field
Interpret: Any = tables.Interpret
Label: Any = tables.Label
Live: Any = tables.Live
LIVE: Any = tables.LIVE
OnTally: Any = tables.OnTally
Retired: Any = tables.Retired
Row: Any = tables.Row
State: Any = tables.State
Table: Any = tables.Table
Timeout: Any = tables.Timeout
View: Any = tables.View


@rule("lamp.note", revision=1)
def note(*_: object) -> dict[str, Any]:
    """A rule of any sort."""
    return {}


def lab(phase: str) -> Any:
    return Label(phase, OK, phase)


ROWS = (
    Row((ABSENT, DELETED), "create", "On", assigns=True),
    Row(("On",), "switched_off", "Off"),
    Row(("Off",), "switched_on", "On"),
    Row(("On",), "tire", "Off"),
    Row((LIVE,), "deleted", DELETED),
)
F = Facet(name="phase", labels=(lab("On"), lab("Off")), rows=ROWS, timeouts=(Timeout("On", "tire", 5),))


def lamp(**changes: Any) -> Any:
    """A right table, changed."""
    right = {
        "kind": "lamp",
        "id": ("lamp",),
        "facets": (F,),
        "intents": ("create",),
        "derived": ("tire",),
        "attributes": (Field("hot", bool, "x"),),
        "fields": {"switched_off": (Field("why", str, "x"),)},
    }
    return Table(**{**right, **changes})


def row(*more: Any) -> Any:
    return lamp(facets=(replace(F, rows=(*ROWS, *more)),))


def fac(**changes: Any) -> Any:
    return lamp(facets=(replace(F, **changes),))


# fmt: off
MISTAKES: dict[str, Callable[[], Any]] = {
    "intents as a text": lambda: lamp(intents="create"),
    "kind with a comma after it": lambda: lamp(kind=("lamp",)),
    "one facet without a comma": lambda: lamp(facets=F),
    "type in quotes": lambda: lamp(attributes=(Field("hot", "bool", "x"),)),
    "type list": lambda: lamp(attributes=(Field("hot", list, "x"),)),
    "fields in a tuple": lambda: lamp(fields=(Field("why", str, "x"),)),
    "seconds in quotes": lambda: fac(timeouts=(Timeout("On", "tire", "60"),)),
    "negative seconds": lambda: fac(timeouts=(Timeout("On", "tire", -5),)),
    "seconds_from an unknown attribute": lambda: fac(timeouts=(Timeout("On", "tire", seconds_from="hott"),)),
    "timeout of a misspelled phase": lambda: fac(timeouts=(Timeout("Onn", "tire", 60),)),
    "timeout with a misspelled trigger": lambda: fac(timeouts=(Timeout("On", "tyre", 60),)),
    "retired state that is still there": lambda: fac(retired=(Retired("On", to="Off"),)),
    "retired condition that is still there": lambda: fac(retired=(Retired("On", has=OK, to="Off"),)),
    "retired state that goes nowhere": lambda: fac(retired=(Retired("Dim", to="Of"),)),
    "retired state that goes to Absent": lambda: fac(retired=(Retired("Dim", to=ABSENT),)),
    "retired states in a circle": lambda: fac(retired=(Retired("Dim", to="Low"), Retired("Low", to="Dim"))),
    "retired state with two lines": lambda: fac(retired=(Retired("Dim", to="On"), Retired("Dim", to="Off"))),
    "retired state with a wrong condition": lambda: fac(retired=(Retired("Dim", to="On", condition="Okay"),)),
    "condition of a retired state on the way": lambda: fac(
        retired=(Retired("Dim", to="Low", condition=OK), Retired("Low", to="On"))),
    "condition of Deleted": lambda: fac(retired=(Retired("Dim", to=DELETED, condition=OK),)),
    "Deleted as a retired state": lambda: fac(retired=(Retired(DELETED, to="On"),)),
    "row without Row": lambda: row((("On",), "dim", "Off")),
    "comma missing between two phases": lambda: row(Row(("OnOff",), "dim", "Off")),
    "label with another language in its third column": lambda: fac(labels=(Label("On", OK, "开", "On"), lab("Off"))),
    "locale for a tag": lambda: fac(labels=(Label("On", OK, "On", {"zh_CN": "x"}), lab("Off"))),
    "English among the other languages": lambda: fac(labels=(Label("On", OK, "On", {"en": "x"}), lab("Off"))),
    "empty label": lambda: fac(labels=(Label("On", OK, ""), lab("Off"))),
    "source misspelled": lambda: row(Row(("Onn",), "dim", "Off")),
    "source in lower case": lambda: row(Row(("on",), "dim", "Off")),
    "target misspelled": lambda: row(Row(("On",), "dim", "Of")),
    "given an unknown field": lambda: row(Row(("On",), "switched_off", "Off", given={"wy": "x"})),
    "assigns an unknown attribute": lambda: row(Row(("On",), "dim", "Off", assigns=("hott",))),
    "intent misspelled": lambda: lamp(intents=("creat",)),
    "derived trigger misspelled": lambda: lamp(derived=("tyre",)),
    "known_by misspelled": lambda: lamp(known_by="observation"),
    "guard with a misspelled phase": lambda: row(Row(("On",), "dim", "Off", when=(Above("lamp", ("Onn",)),))),
    "guard with a misspelled attribute": lambda: row(Row(("On",), "dim", "Off", when=(AttributeIs("lamp", "hott", True),))),
    "guard with a misspelled kind": lambda: row(Row(("On",), "dim", "Off", when=(AttributeIs("lmp", "hot", True),))),
    "guard with a value of another type": lambda: row(Row(("On",), "dim", "Off", when=(AttributeIs("lamp", "hot", "True"),))),
    "tally without a facet": lambda: lamp(tallies=("bulb",)),
    "kind in upper case": lambda: lamp(kind="Lamp"),
    "default of another type": lambda: lamp(attributes=(Field("hot", bool, "x", default="yes"),)),
    "options of another type": lambda: lamp(attributes=(Field("hot", int, "x", options=("1", "2")),)),
    "default that is no option": lambda: lamp(attributes=(Field("hot", str, "x", options=("a", "b"), default="c"),)),
    "facet in place of a table": lambda: F,
    "class in place of a table": lambda: Table,
    "condition without a label": lambda: row(Row(("On",), "dim", "Off", condition="Hot")),
    "class as a source": lambda: row(Row((Live,), "dim", "Off")) if False else row(Row((At,), "dim", "Off")),
    "condition misspelled in a source": lambda: row(Row((At("On", has="Okk"),), "dim", "Off")),
    "message_from an unknown attribute": lambda: fac(message_from="hott"),
    "accumulates_in a misspelled phase": lambda: fac(accumulates_in="Of"),
}
# fmt: on


def answer(made: Any) -> str:
    """What is said of a wrong table; fails if it is taken, or answered with another error."""
    with pytest.raises(WrongTable) as caught:
        Kinds((made,))
    return "\n".join(f"{caught.value.kind}: {problem}" for problem in caught.value.problems)


def test_the_table_that_the_others_are_made_from_is_right() -> None:
    assert list(Kinds((lamp(),))) == ["lamp"]


def test_each_mistake_is_answered_with_what_to_write() -> None:
    page = "".join(
        f"{mistake}\n  {re.sub(chr(10), chr(10) + '  ', answer(made()))}\n" for mistake, made in MISTAKES.items()
    )
    if os.environ.get("PHASELINE_GOLDEN") == "write":
        GOLDEN.write_text(page, encoding="utf-8")
    assert page == GOLDEN.read_text(encoding="utf-8")


def test_an_answer_names_what_to_write_and_no_type_of_python() -> None:
    for mistake, made in MISTAKES.items():
        for line in answer(made()).splitlines():
            assert re.search("write|add|put|name a|correct|remove|its columns are", line), mistake
            assert not re.search(r"NoneType|Error|__init__|positional|keyword argument|object at 0x", line), mistake


def test_the_test_kit_says_it_too() -> None:
    with pytest.raises(WrongTable, match=r"intents=: found 'create': write it in brackets"):
        given(lamp(intents="create"))


# ---- whatever stands in a column

FEW: tuple[Any, ...] = (None, "On", -1, (None,), {1: 2}, object())
MANY: tuple[Any, ...] = (
    *FEW, "", (), Row, F, 1, True, float("nan"), ("x",), [], {}, {"x"}, lambda: 1, LIVE, State("On"), ..., ("lamp", 0), (("lamp", "x"),),
)  # fmt: skip
HOUSE = Table(
    kind="house", id=("house",), intents=("open", "shut", "paint"), derived=("all_shut", "tired"), place=True,
    attributes=(Field("colour", str, "x", options=("red", "blue"), default="red"), Field("patience", float, "x"),
                Field("step", int, "x", least=0)),
    fields={"shut": (Field("why", str, "x", required=True),)},
    facets=(Facet(
        "phase", labels=(lab("Open"), lab("Shut"), lab("Dark"), lab("Tired"), Label("Bad", "Rot", "Rot"),
                         Label("Bad", "Mould", "Mould")),
        adopted=State("Open", (OK,)), accumulates_in="Bad", healthy="Open", order=("Rot", "Mould"), message_from="colour",
        message_names=("room", 0), pending=("Shut",),
        rows=(
            Row((ABSENT, DELETED), "open", "Open", assigns=("colour", "patience")),
            Row(("Open", At("Shut", lacks=("Rot",), base="Shut")), "shut", "Shut", given={"why": "late"},
                when=(AnyBelow("house", "room", ("Open",)),)),
            Row((LIVE,), "paint", SAME, assigns=True, computes=note), Row(("Open",), "tired", "Tired"),
            Row((LIVE,), "rots", "Bad", condition="Rot"), Row((LIVE,), "moulds", "Bad", condition="Mould"),
            Row((At("Bad", has="Rot"),), "dried", SAME, clears=("Rot",)), Row(("Open",), "all_shut", "Shut"),
            Row(("Tired", "Shut"), "rested", "Open"), Row((Live(but=("Shut",)),), "gone", DELETED),
        ),
        views=(View("Dark", (AllBelow("house", "room", ("Shut",)), AnyBelow("house", "room", ("Shut",))), base=("Open",),
                    keeps=("Rot",)),),
        timeouts=(Timeout("Open", "tired", seconds_from="patience", restart_on="step", times=2, repeat_after="patience"),),
        retired=(Retired("Asleep", to="Bad", has=OK, condition="Rot"), Retired("Asleep", to="Open")),
    ),),
    cascades=(Cascade("lock", at=("room",), on=("shut",), unless=("why", "x"), then="Shut", data={"by": "colour"}),
              Cascade("lock", at=("room",), into="Tired", only_child="colour"),
              Cascade("lock", at=("room",), on=("paint",), targets=note)),
    fan_outs=(FanOut(("lock",), "room", ("rots",), note),),
    interprets=(Interpret(("moulds",), (Field("how", str, "x"),), note),),
    on_tally=(OnTally(AllBelow("house", "room", ("Shut",)), "all_shut"),), tallies=(("room", 0),),
)  # fmt: skip
ROOM = Table(
    kind="room", id=("house", "room"), parent="house", intents=("open",), derived=("lock",),
    fields={"lock": (Field("by", str, "x"),)},
    facets=(Facet(
        "phase", adopted=State("Open", (OK,)), labels=(lab("Open"), lab("Shut")),
        rows=(
            Row((ABSENT, DELETED, "Shut"), "open", "Open",
                when=(Above("house", ("Open",), base=True), AttributeIs("house", "colour", "red"))),
            Row(("Open",), "lock", "Shut"), Row((LIVE,), "gone", DELETED),
        ),
    ),),
)  # fmt: skip


def changed(part: Any, values: tuple[Any, ...], seen: set[tuple[type, str]]) -> Iterator[Any]:
    """The part of a table with an odd value in one column, each column of each class once."""
    if type(part) in WORDS:
        for field in dataclasses.fields(part):
            first = (type(part), field.name) not in seen
            seen.add((type(part), field.name))
            held = values if first else ()
            for odd in (*held, *changed(getattr(part, field.name), values, seen)):
                yield replace(part, **{field.name: odd})
    elif type(part) is tuple:
        for index, item in enumerate(part):
            for other in changed(item, values, seen):
                yield (*part[:index], other, *part[index + 1 :])
    elif isinstance(part, dict):
        for name, held in part.items():
            for other in changed(held, values, seen):
                yield {**part, name: other}


@pytest.mark.parametrize("values", [FEW, pytest.param(MANY, marks=pytest.mark.slow)], ids=["few", "many"])
def test_whatever_stands_in_a_column_no_error_of_python_follows(values: tuple[Any, ...]) -> None:
    seen: set[tuple[type, str]] = set()
    taken = refused = 0
    for made, other in ((HOUSE, ROOM), (ROOM, HOUSE)):
        for wrong in changed(made, values, seen):
            try:
                Kinds((wrong, other))
                taken += 1
            except WrongTable:
                refused += 1
    assert refused > 5 * taken > 0
