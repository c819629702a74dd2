"""Each way in which a single table can be wrong is refused, with what to write instead.

Belongs here: one small wrong table for each check. Does not: rows that are never used (`test_wrong_rows`), tables
that are wrong together (`test_wrong_kinds`).
"""

from dataclasses import dataclass, replace
from typing import Any

import pytest

from phaseline.machines.compiler.checks import WrongTable, check_table
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.rules import rule
from phaseline.machines.language.table import (
    ABSENT,
    DELETED,
    FROM_DATA,
    LIVE,
    OK,
    OWNER_GONE,
    REPORTED,
    SAME,
    At,
    Attributes,
    Cascade,
    FanOut,
    Field,
    Interpret,
    Label,
    Live,
    Row,
    RuleEvent,
    Table,
    Timeout,
    View,
)
from tests.support.fan_out_rule import says
from tests.support.lamp_table import FACET, HOT, LABELS, ROWS, Dark, lamp, refusal, stuck

MODE = Field("mode", str, "how it shines", options=("fast", "slow"))


@rule("lamp.spoken", revision=1)
def spoken(_: Any, __: str, ___: Any, ____: Any) -> dict[str, Any]:
    """Nothing."""
    return {}


@rule("lamp.heard", revision=1)
def heard(_: Any, __: str, ___: Any, ____: Any) -> dict[str, Any]:
    """Nothing either."""
    return {}


@rule("lamp.bulbs", revision=1)
def bulbs(_: Any, __: str, ___: Any) -> tuple[str, ...]:
    """None."""
    return ()


def undeclared(attributes: Attributes, _: RuleEvent) -> Attributes:
    """A rule that says nothing about itself."""
    return attributes


@rule("lamp.spoken", revision=2)
def dimmed(attributes: Attributes, _: RuleEvent) -> Attributes:
    """A rule with the name of another one."""
    return attributes


@rule("lamp.declared", revision=1)
@dataclass(frozen=True)
class Declared(Dark):
    """One that does."""


@rule("lamp.declared", revision=1)
@dataclass(frozen=True)
class Again(Dark):
    """Another one with its name."""


@dataclass(frozen=True)
class Darker(Declared):
    """One whose base does."""


def with_row(row: Row, interprets: tuple[Interpret, ...] = (), **changes: Any) -> Table:
    return lamp(replace(FACET, rows=(*ROWS, row), **changes), interprets=interprets)


def with_view(view: View) -> Table:
    return lamp(replace(FACET, views=(view,)))


def timed(*timeouts: Timeout) -> Table:
    """A lamp that tires when it is on."""
    attributes = (Field("hot", bool, "whether it is"), Field("wait", int, "how long"))
    facet = replace(FACET, rows=(*ROWS, Row(("On",), "tire", "Off")), timeouts=timeouts)
    return lamp(facet, derived=("tire",), attributes=attributes)


def test_the_table_that_the_others_are_made_from_is_right() -> None:
    assert list(Kinds((lamp(),))) == ["lamp"]
    Kinds((with_view(View("Off", (HOT,), base=("On",))),))
    Kinds((with_row(Row((ABSENT,), "adopt", FROM_DATA)),))


# fmt: off
WRONG = {
    "assigns what is no attribute": (with_row(Row(("On",), "dim", SAME, assigns=("hot", "colour"))), "phase, row 8 (dim): colour is not an attribute: add it to `attributes`, or correct the name"),
    "view that always shows": (lamp(replace(FACET, views=(View("Off", ()),))), "phase, view Off: it always shows, so the base is never seen: add predicates, name its base=, or write rows in its place"),
    "view below one that always shows": (lamp(replace(FACET, views=(View("Off", (), base=("On",)), View("Broken", (HOT,), condition="Heat", base=("On",))))),
        "phase, view Off: it has no predicates, so the view Broken after it never shows: move this view below that one"),
    "view without base below one that always shows": (
        lamp(replace(FACET, views=(View("Off", (), base=("On", "Off", "Broken")), View("On", (HOT,))))),
        "phase, view Off: it has no predicates, so the view On after it never shows: move this view below that one"),
    "view keeps what is unknown": (lamp(replace(FACET, views=(View("Off", (HOT,), keeps=("Dust",)),))), "phase, view Off: condition Dust in keeps= has no label (did you mean Rust?): add a label, or correct the name"),
    "fans out on what has no row": (lamp(fan_outs=(FanOut(("dim",), "bulb", ("burst",), says),)), "fan_outs: trigger burst has no row: add"),
    "required at many": (lamp(cascades=(Cascade("dim", at=("bulb",), on=("heat",), required=True),)), "cascade dim: required=True needs one child: name the attribute that names it with only_child="),
    "required on no event": (lamp(cascades=(Cascade("dim", at=("bulb",), into="Off", only_child="hot", required=True),)), "cascade dim: required=True needs an event that can be rejected: name the triggers with on="),
    "fires at a child that no attribute names": (lamp(cascades=(Cascade("dim", at=("bulb",), on=("heat",), only_child="name"),)), "cascade dim: name is not an attribute: add it to `attributes`, or correct the name"),
    "data of an unknown attribute": (lamp(cascades=(Cascade("dim", at=("bulb",), on=("heat",), data={"to": "name"}),)), "cascade dim: name is not an attribute: add it to `attributes`, or correct the name"),
    "sets what is not sticky": (with_row(Row(("On",), "dim", SAME, sets="Heat")), "phase, row 8 (dim): it sets Heat, which is not sticky: add it to `sticky` of the facet"),
    "starts from an unknown phase": (with_row(Row(("Onn",), "dim", "Off")), "phase, row 8 (dim): it starts from Onn, which is unknown (did you mean On?): add a label for it, or correct the name"),
    "starts from Deleted, where nothing is": (stuck(Row((DELETED,), "found", "Off")), "phase, row 2 (found): it starts from Deleted, but no row leads there: add such a row, or remove this source"),
    "starts over an unknown base": (with_row(Row((At("On", base="Onn"),), "dim", "Off")), "it starts from Onn, which is unknown"),
    "starts from all but an unknown phase": (with_row(Row((Live(but=("Onn",)),), "dim", "Off")), "phase, row 8 (dim): phase Onn in Live(but=...) is unknown (did you mean On?): correct the name"),
    "starts with an unknown condition": (with_row(Row((At("Broken", has="Hot"),), "dim", "Off")), "phase, row 8 (dim): condition Hot in its source has no label: add a label, or correct the name"),
    "starts without an unknown condition": (with_row(Row((At("Broken", lacks=("Hot",)),), "dim", "Off")), "phase, row 8 (dim): condition Hot in its source has no label: add a label, or correct the name"),
    "starts nowhere": (with_row(Row((), "dim", "Off")), "phase, row 8 (dim): it has no source: name the phases from which it starts"),
    "leads to an unknown phase": (with_row(Row(("On",), "dim", "Dim")), "it leads to Dim, which is unknown: add a label for it, or correct the name"),
    "leads to what is unknown": (with_row(Row(("On",), "dim", ABSENT)), "phase, row 8 (dim): it leads to Absent, but an entity that was known stays known: write Deleted"),
    "condition is missing": (with_row(Row(("On",), "dim", "Broken")), "phase, row 8 (dim): it leads to Broken, which has several conditions: choose one with condition="),
    "condition has no label": (with_row(Row(("On",), "dim", "Broken", condition="Fall")), "phase, row 8 (dim): it leads to Broken [Fall], which has no label: add a label, or correct the name"),
    "condition has no label, but a near one has": (
        with_row(Row(("On",), "dim", "Broken", condition="Hea"), labels=(*LABELS, Label("Broken", None, "Broken"))),
        "phase, row 8 (dim): it leads to Broken [Hea], which has no label (did you mean Heat?): add a label, or correct the name"),
    "clears an unknown condition": (with_row(Row(("On",), "dim", SAME, clears=("Fall",))), "phase, row 8 (dim): condition Fall in clears= has no label: add a label, or correct the name"),
    "sets an unknown condition": (with_row(Row(("On",), "dim", SAME, sets="Fall"), sticky=("Rust",)), "phase, row 8 (dim): condition Fall in sets= has no label: add a label, or correct the name"),
    "sets a condition that does not stay": (with_row(Row(("On",), "dim", SAME, sets="Rust")), "phase, row 8 (dim): it sets Rust, which is not sticky: add it to `sticky` of the facet"),
    "shows an option that is none": (
        lamp(replace(FACET, rows=(*ROWS, Row(("On",), "dim", "Off", given={"mode": "fas"}))), fields={"dim": (MODE,)}),
        "given= asks for mode 'fas', which it never is: it takes 'fast', 'slow' (did you mean fast?), write one of them"),
    "given what a rule of the trigger never returns": (
        with_row(Row(("On",), "dim", "Off", given={"mode": 1}), interprets=(Interpret(("dim",), (MODE,), spoken),)),
        "phase, row 8 (dim): given= asks for mode 1, which it never is: it is str, write such a value, or correct its type"),
    "given what no row of the trigger assigns": (with_row(Row(("On",), "dim", "Off", given={"hot": True})), "phase, row 8 (dim): field hot in given= is unknown: add it"),
    "given what another trigger's rule returns": (
        with_row(Row(("On",), "dim", "Off", given={"mode": "slow"}), interprets=(Interpret(("heat",), (MODE,), spoken),)),
        "phase, row 8 (dim): field mode in given= is unknown: add it"),
    "given a phase, though it is no report": (with_row(Row(("On",), "dim", "Off", given={"phase": "Off"})), "phase, row 8 (dim): field phase in given= is unknown: add it"),
    "pending in an unknown phase": (lamp(replace(FACET, pending=("Brokn",))), "phase: phase Brokn in pending= is unknown (did you mean Broken?): correct the name, or add a label for it"),
    "pending at its end": (lamp(replace(FACET, pending=(DELETED,))), "phase: phase Deleted in pending= is unknown"),
    "survives its owner": (with_row(Row((LIVE,), OWNER_GONE, "Off")), "phase, row 8 (owner_gone): nothing lives below what is deleted: write Row((LIVE,), 'owner_gone', DELETED), or leave the row out"),
    "survives its owner in a phase": (with_row(Row(("On",), OWNER_GONE, DELETED)), "phase, row 8 (owner_gone): nothing lives below what is deleted"),
    "survives its owner but for data": (with_row(Row((LIVE,), OWNER_GONE, DELETED, given={"hot": True})), "phase, row 8 (owner_gone): nothing lives below what is deleted"),
    "survives its owner but for a guard": (with_row(Row((LIVE,), OWNER_GONE, DELETED, when=(HOT,))), "phase, row 8 (owner_gone): nothing lives below what is deleted"),
    "given a field that is none": (with_row(Row(("On",), "dim", "Off", given={"degree": 1})), "phase, row 8 (dim): field degree in given= is unknown: add it to `fields` of the trigger, or correct the name"),
    "sticky condition unknown": (lamp(replace(FACET, sticky=("Fall",))), "phase: condition Fall in sticky= has no label: add a label, or correct the name"),
    "order of an unknown condition": (lamp(replace(FACET, order=("Fall",))), "phase: condition Fall in order= has no label: add a label, or correct the name"),
    "accumulates in an unknown phase": (lamp(replace(FACET, accumulates_in="Fault")), "phase: phase Fault in accumulates_in= is unknown: add a label, or correct the name"),
    "heals to an unknown phase": (lamp(replace(FACET, healthy="Running")), "phase: phase Running, which follows Broken when its last condition is cleared, is unknown: name another phase with healthy="),
    "view shows an unknown phase": (with_view(View("Dim", (HOT,))), "phase, view Dim: phase Dim in to= is unknown: add a label, or correct the name"),
    "view over an unknown phase": (with_view(View("Off", (HOT,), base=("Onn",))), "phase, view Off: phase Onn in base= is unknown (did you mean On?): add a label, or correct the name"),
    "view but over an unknown phase": (with_view(View("Off", (HOT,), unless=("Onn",))), "phase, view Off: phase Onn in unless= is unknown (did you mean On?): add a label, or correct the name"),
    "view shows a condition without label": (with_view(View("Broken", (HOT,), condition="Fall")), "phase, view Broken: Broken [Fall] has no label: add a label, or correct the name"),
    "view does not say which condition": (with_view(View("Broken", (HOT,))), "phase, view Broken: Broken has several conditions: choose one with condition="),
    "view hides that it lives": (with_view(View(DELETED, (HOT,))), "phase, view Deleted: a live entity would be shown as one that is not: show a phase that has a label"),
    "view without a reason": (with_view(View("Off", ())), "phase, view Off: it always shows, so the base is never seen: add predicates, name its base=, or write rows in its place"),
    "intent without row": (lamp(intents=("create", "dim")), "intents: trigger dim has no row: add a row, or remove the trigger there"),
    "derived without row": (lamp(derived=("dim",)), "derived: trigger dim has no row: add"),
    "fields without row": (lamp(fields={"dim": ()}), "fields: trigger dim has no row: add"),
    "fires on what has no row": (lamp(cascades=(Cascade("gone", at=("bulb",), on=("dim",)),)), "cascades: trigger dim has no row: add"),
    "fires into an unknown phase": (lamp(cascades=(Cascade("gone", at=("bulb",), into="Gone"),)), "cascade gone: phase Gone in into= is unknown: correct the name, or add a label for it"),
    "never fires": (lamp(cascades=(Cascade("gone", at=("bulb",)),)), "cascade gone: it never fires: name the triggers (on=) or the phase to enter (into=) on which it fires"),
    "fires if it is then in an unknown phase": (lamp(cascades=(Cascade("gone", at=("bulb",), on=("heat",), then="Of"),)),
        "cascade gone: phase Of in then= is unknown (did you mean Off?): correct the name, or add a label for it"),
    "names its targets and a child": (lamp(cascades=(Cascade("gone", at=("bulb",), on=("heat",), only_child="hot", targets=bulbs),)),
        "cascade gone: targets= names the entities and passes on the event's data: remove only_child= and data="),
    "names its targets and data": (lamp(cascades=(Cascade("gone", at=("bulb",), on=("heat",), data={"to": "hot"}, targets=bulbs),)),
        "cascade gone: targets= names the entities and passes on the event's data: remove only_child= and data="),
    "fires unless data that nobody knows": (
        lamp(cascades=(Cascade("gone", at=("bulb",), on=("heat",), unless=("cascade", False)),)),
        "cascade gone: field cascade in unless= is unknown: add it to `fields` of the trigger, or correct the name"),
    "asked for and fired": (lamp(derived=("create",)), "trigger create is in `intents` and in `derived`: remove it from one of them"),
    "names two bases": (
        lamp(facets=(replace(FACET, rows=(*ROWS, Row((ABSENT,), "adopt", FROM_DATA))), replace(FACET, name="other", rows=(*ROWS, Row((ABSENT,), "adopt", FROM_DATA))))),
        "trigger adopt has two rows to FROM_DATA, but data names one base: let one lead to a phase"),
    "kind is no word": (lamp(kind="Lamp"), "'Lamp' cannot be a name (did you mean 'lamp'?): write lower-case letters, digits and _ (it becomes a part of a subject)"),
    "trigger is no word": (with_row(Row(("On",), "switch.off", "Off")), "'switch.off' cannot be a name (did you mean 'switch_off'?): write"),
    "facet is no word": (lamp(replace(FACET, name="the phase")), "'the phase' cannot be a name"),
    "attribute is no word": (lamp(attributes=(Field("Hot", bool, "whether it is"),)), "'Hot' cannot be a name"),
    "phase is no token": (lamp(replace(FACET, labels=(*LABELS, Label("Half.on", OK, "Half")))), "Half.on [Ok] cannot be a state: write letters, digits, _ and - only"),
    "phase without a condition is no token": (lamp(replace(FACET, labels=(*LABELS, Label("Half.on", None, "Half")))), "phase: Half.on cannot be a state: write"),
    "condition is no token": (lamp(replace(FACET, labels=(*LABELS, Label("On", "too hot", "Hot")))), "phase: On [too hot] cannot be a state: write"),
    "kind is no word, and none is near": (lamp(kind="2lamps"), "'2lamps' cannot be a name: write lower-case letters"),
    "a language that is none": (lamp(replace(FACET, labels=(Label("On", OK, "On", {"!!": "x"}), *LABELS[1:]))), "phase: On [Ok]: '!!' in others= is no language: write a tag"),
    "Deleted labelled": (lamp(replace(FACET, labels=(*LABELS, Label(DELETED, OK, "Gone")))), "phase: Deleted has a label in every kind: remove this one, or rename the phase"),
    "two labels": (lamp(replace(FACET, labels=(*LABELS, LABELS[0]))), "phase: On [Ok] has two labels: remove one"),
    "two facets of a name": (lamp(facets=(FACET, FACET)), "two facets have the name phase: rename one"),
    "attribute named as all data is": (lamp(attributes=(Field("reason", str, "why"),)), "'reason' already has a meaning in every event's data: rename the field or attribute"),
    "field named as all data is": (lamp(fields={"heat": (Field("phase", str, "which"),)}), "'phase' already has a meaning in every event's data: rename the field or attribute"),
    "attribute named as what the engine says": (lamp(attributes=(Field("another", str, "which"),)), "'another' already has a meaning in every event's data: rename the field or attribute"),
    "field named as what ends a life, of another type": (lamp(fields={"deleted": (Field("moved", str, "where to"),)}), "'moved' says that a thing only left its place: make it a bool, or rename it"),
    "kind named as the log's marks": (lamp(kind="mark"), "'mark' is a word that subjects of the log contain: rename the kind"),
    "kind named as the log's fence": (lamp(kind="checkpoint"), "'checkpoint' is a word that subjects of the log contain: rename the kind"),
    "read twice": (lamp(interprets=(Interpret(("heat",), (), spoken), Interpret(("heat",), (), spoken))), "interprets: the data of heat is read by two rules: let one rule return all fields"),
    "reads what no row has": (lamp(interprets=(Interpret(("dim",), (), spoken),)), "interprets: trigger dim has no row: add a row, or remove the trigger there"),
    "an interpreted field with a wrong name": (lamp(interprets=(Interpret(("heat",), (Field("Glow", str, "how"),), spoken),)), "'Glow' cannot be a name"),
    "an interpreted field named as all data is": (lamp(interprets=(Interpret(("heat",), (Field("phase", str, "how"),), spoken),)), "'phase' already has a meaning in every event's data: rename the field or attribute"),
    "a function without a declaration": (with_row(Row(("On",), "dim", SAME, computes=undeclared)), "facets[0].rows[7].computes is the function undeclared, which declares no name and revision: "
        "write @rule('<yours>.undeclared', revision=1) above the function (from phaseline.tables import rule)"),
    "a predicate without a declaration": (with_row(Row(("On",), "dim", SAME, when=(Dark(),))), "facets[0].rows[7].when[0] is an instance of Dark, which declares no name and revision: "
        "write @rule('<yours>.dark', revision=1) above its class"),
    "a predicate that only its base declares": (with_row(Row(("On",), "dim", SAME, when=(Darker(),))), "is an instance of Darker, which declares no name and revision"),
    "a lambda": (with_row(Row(("On",), "dim", SAME, computes=lambda attributes, _: attributes)), "facets[0].rows[7].computes is a lambda, which cannot declare a name: write a function"),
    "a type that no wire has": (lamp(attributes=(Field("hot", complex, "whether it is"),)), "attributes[0].type is the type complex: write one of str, int, float, bool, dict"),
    "two rules of one name": (with_row(Row(("On",), "dim", SAME, computes=dimmed), interprets=(Interpret(("heat",), (), spoken),)), "two rules have the name lamp.spoken: give one of them another name in @rule(...)"),
    "two predicates of one name": (with_row(Row(("On",), "dim", SAME, when=(Declared(), Again()))), "two rules have the name lamp.declared: give one of them another name in @rule(...)"),
    "a default that is a list": (lamp(attributes=(Field("hot", str, "how", default=["a"]),)), "hot has the default ['a']: it is str, write such a value, or correct its type"),
    "a place with what every place has": (
        lamp(place=True, attributes=(Field("hot", bool, "whether it is"), Field("heard_at", int, "when"))), "place=True brings the attribute heard_at: rename yours"),
    "message from an unknown attribute": (lamp(replace(FACET, message_from="why")), "phase, message_from: why is not an attribute: add it to `attributes`, or correct the name"),
    "details of an unknown phase": (lamp(replace(FACET, details={"Dimmed": "seen"})), "phase, details: Dimmed is no phase or condition: correct the name"),
    "details in an unknown attribute": (lamp(replace(FACET, details={"Deleted": "seen"})), "phase, details: seen is not an attribute: add it to `attributes`, or correct the name"),
    "a forgotten attribute that is unknown": (with_row(Row(("On",), "dim", SAME, forgets=("seen",))), "seen is not an attribute: add it to `attributes`, or correct the name"),
    "evidence from an unknown attribute": (lamp(replace(FACET, evidence_from="seen")), "phase, evidence_from: seen is not an attribute: add it to `attributes`, or correct the name"),
    "two timers": (timed(Timeout("On", "tire", 5), Timeout("On", "tire", 9)), "phase, timeout of On: this phase has two timeouts, but a facet has one timer: remove one"),
    "a timer that never fires": (timed(Timeout("On", "tire", 5, times=0)), "phase, timeout of On: found times=0: write a number above 0"),
    "a timer without seconds": (timed(Timeout("On", "tire")), "phase, timeout of On: found seconds=0 and seconds_from=None: write either seconds above 0, or the attribute that holds them"),
    "a timer with seconds twice": (timed(Timeout("On", "tire", 1, seconds_from="wait")),
        "phase, timeout of On: found seconds=1 and seconds_from='wait': write either seconds above 0, or the attribute that holds them"),
    "seconds from no number": (timed(Timeout("On", "tire", seconds_from="hot")), "phase, timeout of On: hot is not an attribute with a number: add it to `attributes` as int or float"),
    "seconds from what is unknown": (timed(Timeout("On", "tire", seconds_from="wat")),
        "phase, timeout of On: wat is not an attribute with a number (did you mean wait?): add it to `attributes` as int or float"),
    "restarts on an unknown attribute": (lamp(replace(FACET, timeouts=(Timeout("On", "tire", 5, restart_on="steps"),), rows=(*ROWS, Row(("On",), "tire", "Off"))), derived=("tire",)), "phase, timeout of On: steps is not an attribute: add it to `attributes`, or correct the name"),
}
# fmt: on


@pytest.mark.parametrize("wrong", WRONG.values(), ids=list(WRONG))
def test_is_refused(wrong: tuple[Table, str]) -> None:
    table, says = wrong
    assert says in refusal(table)


def test_a_table_without_id_or_facets_is_told_only_that() -> None:
    assert refusal(lamp(id=())) == "the table has no `id`: name the parts of its ids, for example id=('site', 'lamp')"
    assert refusal(lamp(facets=())) == "the table has no facet: write at least one in `facets`"


def test_all_that_is_wrong_is_said_at_once() -> None:
    found = refusal(with_row(Row(("Onn",), "dim", "Dim", clears=("Fall",)))).splitlines()
    assert len(found) == 3
    assert all(problem.startswith("phase, row 8 (dim): ") for problem in found)
    assert str(WrongTable("lamp", ["one", "two"])) == "the table of lamp cannot work:\n  - one\n  - two"


# fmt: off
RIGHT = {
    "a timer for each phase": lamp(
        replace(FACET, rows=(*ROWS, Row((LIVE,), "tire", DELETED)), timeouts=(Timeout("On", "tire", 1), Timeout("Off", "tire", 1), Timeout("Broken", "tire", 0.5))),
        derived=("tire",)),
    "a timer with its seconds in an attribute": timed(Timeout("On", "tire", seconds_from="wait", times=0.5, restart_on="wait")),
    "a cascade unless a field has a value": lamp(cascades=(Cascade("gone", at=("bulb",), on=("rust", "heat"), unless=("degrees", False)),)),
    "a cascade with targets": lamp(cascades=(Cascade("gone", at=("bulb",), on=("heat",), targets=bulbs),)),
    "predicates and rules with names of their own": with_row(
        Row(("On",), "dim", SAME, when=(Declared(), Declared())), interprets=(Interpret(("heat",), (), spoken), Interpret(("rust",), (), heard))),
    "a list of defaults": lamp(attributes=(Field("hot", str, "how", many=True, default=("a", "b")),)),
    "a phase without any condition": with_row(Row(("On",), "dim", "Dim"), labels=(*LABELS, Label("Dim", None, "Dim", state_class="excused"))),
    "given what a row of the trigger assigns": with_row(Row(("On",), "dim", "Off", given={"hot": True}, assigns=("hot",))),
    "given what a rule of the trigger returns": with_row(Row(("On",), "dim", "Off", given={"mode": "slow"}), interprets=(Interpret(("dim",), (MODE,), spoken),)),
    "given the phase that is reported": with_row(Row(("On",), REPORTED, "Off", given={"phase": "Off"})),
    "ends with its owner": with_row(Row((LIVE,), OWNER_GONE, DELETED)),
    "a view that always shows below one that does not": lamp(replace(FACET, views=(View("Off", (HOT,), base=("On",)), View("Broken", (), "Heat", base=("On",))))),
}
# fmt: on


@pytest.mark.parametrize("right", RIGHT.values(), ids=list(RIGHT))
def test_is_not_refused(right: Table) -> None:
    """Each differs little from one that is refused."""
    check_table(right)
