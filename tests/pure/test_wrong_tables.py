"""Each way in which a single table can be wrong is refused, with what to write instead.

Belongs here: one small wrong table for each check. Does not: tables that are wrong together (`test_wrong_kinds`).
"""

from dataclasses import dataclass, replace
from typing import Any

import pytest

from phaseline.machines.compiler import reachability
from phaseline.machines.compiler.checks import WrongTable
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.predicates import AttributeIs, Scene
from phaseline.machines.language.rules import rule
from phaseline.machines.language.table import (
    ABSENT,
    DELETED,
    FROM_DATA,
    LIVE,
    OK,
    SAME,
    At,
    Attributes,
    Cascade,
    Facet,
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

LABELS = (Label("On", OK, "On"), Label("Off", OK, "Off"), Label("Broken", "Heat", "Broken"), Label("Broken", "Rust", "Broken"))  # fmt: skip
ROWS = (
    Row((ABSENT, DELETED), "create", "On"),
    Row(("On",), "switched_off", "Off"),
    Row(("Off",), "switched_on", "On"),
    Row((LIVE,), "heat", "Broken", condition="Heat"),
    Row((LIVE,), "rust", "Broken", condition="Rust"),
    Row((At("Broken", has="Heat"),), "cooled", SAME, clears=("Heat",)),
    Row((LIVE,), "deleted", DELETED),
)
FACET = Facet("phase", labels=LABELS, rows=ROWS, accumulates_in="Broken", healthy="On")
HOT = AttributeIs("lamp", "hot", value=True)


@rule("lamp.spoken", revision=1)
def spoken(_: Any, __: str, ___: Any, ____: Any) -> dict[str, Any]:
    """Nothing."""
    return {}


def undeclared(attributes: Attributes, _: RuleEvent) -> Attributes:
    """A rule that says nothing about itself."""
    return attributes


@rule("lamp.spoken", revision=2)
def dimmed(attributes: Attributes, _: RuleEvent) -> Attributes:
    """A rule with the name of another one."""
    return attributes


@dataclass(frozen=True)
class Dark:
    """A predicate that says nothing about itself."""

    def holds(self, scene: Scene, entity_id: str) -> bool:
        return scene.above(entity_id, "lamp") is None

    def text(self) -> str:
        return "it is dark"


@rule("lamp.declared", revision=1)
@dataclass(frozen=True)
class Declared(Dark):
    """One that does."""


@dataclass(frozen=True)
class Darker(Declared):
    """One whose base does."""


def lamp(facet: Facet = FACET, **changes: Any) -> Table:
    """A right table, changed."""
    right = Table(
        kind="lamp",
        id=("room", "lamp"),
        facets=(facet,),
        intents=("create",),
        attributes=(Field("hot", bool, "whether it is"),),
        fields={"heat": (Field("degrees", str, "how hot"),)},
    )
    return replace(right, **changes)


def with_row(row: Row, interprets: tuple[Interpret, ...] = (), **changes: Any) -> Table:
    return lamp(replace(FACET, rows=(*ROWS, row), **changes), interprets=interprets)


def stuck(*rows: Row) -> Table:
    """A lamp that is never thrown away."""
    first = Row((ABSENT,), "create", "On")
    return lamp(replace(FACET, rows=(first, *rows), labels=LABELS[:2], accumulates_in=None), fields={})


def with_view(view: View) -> Table:
    return lamp(replace(FACET, views=(view,)))


def refusal(table: Table) -> str:
    with pytest.raises(WrongTable) as caught:
        Kinds((table,))
    assert caught.value.kind == table.kind
    assert str(caught.value).startswith(f"the table of {table.kind} cannot work:\n  - ")
    return "\n".join(caught.value.problems)


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
    "view keeps what is unknown": (lamp(replace(FACET, views=(View("Off", (HOT,), keeps=("Dust",)),))), "phase, view Off: condition Dust in keeps= has no label (did you mean Rust?): add a label, or correct the name"),
    "fans out on what has no row": (lamp(fan_outs=(FanOut(("dim",), "bulb", ("burst",), says),)), "trigger burst has no row"),
    "required at many": (lamp(cascades=(Cascade("dim", at=("bulb",), on=("heat",), required=True),)), "cascade dim: required=True needs one child: name the attribute that names it with only_child="),
    "required on no event": (lamp(cascades=(Cascade("dim", at=("bulb",), into="Off", only_child="hot", required=True),)), "cascade dim: required=True needs an event that can be rejected: name the triggers with on="),
    "fires at a child that no attribute names": (lamp(cascades=(Cascade("dim", at=("bulb",), on=("heat",), only_child="name"),)), "cascade dim: name is not an attribute: add it to `attributes`, or correct the name"),
    "data of an unknown attribute": (lamp(cascades=(Cascade("dim", at=("bulb",), on=("heat",), data={"to": "name"}),)), "cascade dim: name is not an attribute: add it to `attributes`, or correct the name"),
    "sets what is not sticky": (with_row(Row(("On",), "dim", SAME, sets="Heat")), "phase, row 8 (dim): it sets Heat, which is not sticky: add it to `sticky` of the facet"),
    "nothing leads there": (
        with_row(Row(("On",), "dim", "Off"), labels=(*LABELS, Label("Dim", OK, "Dim"))),
        "phase: no row leads to Dim: add one, or remove its label"),
    "a condition that never comes": (
        lamp(replace(FACET, labels=(*LABELS, Label("Broken", "Fall", "Broken")))),
        "phase: Broken [Fall] can never arise: add a row that leads to it, or remove its label"),
    "a dead end": (
        stuck(Row(("On",), "smashed", "Off")),
        "phase: no row leads out of Off: add one (a final phase must be Deleted)"),
    "a dead end that only turns in itself": (
        stuck(Row(("On",), "smashed", "Off"), Row(("Off",), "smashed_again", "Off")),
        "phase: no row leads out of Off: add one (a final phase must be Deleted)"),
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
    "clears an unknown condition": (with_row(Row(("On",), "dim", SAME, clears=("Fall",))), "phase, row 8 (dim): condition Fall in clears= has no label: add a label, or correct the name"),
    "sets an unknown condition": (with_row(Row(("On",), "dim", SAME, sets="Fall"), sticky=("Rust",)), "phase, row 8 (dim): condition Fall in sets= has no label: add a label, or correct the name"),
    "sets a condition that does not stay": (with_row(Row(("On",), "dim", SAME, sets="Rust")), "phase, row 8 (dim): it sets Rust, which is not sticky: add it to `sticky` of the facet"),
    "given a field that is none": (with_row(Row(("On",), "dim", "Off", given={"degree": 1})), "phase, row 8 (dim): field degree in given= is unknown: add it to `fields` of the trigger, or correct the name"),
    "never reached": (
        with_row(Row(("On",), "switched_off", DELETED)),
        "phase: switched_off from On: the row to Deleted is never taken, because the row to Off before it always fits: narrow the earlier row (when=, given=, At(...)), or remove one of the two"),
    "never reached, though narrow": (
        lamp(replace(FACET, rows=(*ROWS, Row((At("Broken", has="Rust"),), "mended", "On"), Row((At("Broken", has="Rust"),), "mended", "Off")))),
        "phase: mended from Broken: the row to Off is never taken, because the row to On before it always fits: narrow the earlier row (when=, given=, At(...)), or remove one of the two"),
    "never reached, one later": (
        lamp(replace(FACET, rows=(*ROWS, Row(("On",), "dim", "Off"), Row((At("On", lacks=("Rust",)),), "dim", DELETED, when=(HOT,))))),
        "phase: dim from On: the row to Deleted is never taken, because the row to Off before it always fits: narrow the earlier row (when=, given=, At(...)), or remove one of the two"),
    "sticky condition unknown": (lamp(replace(FACET, sticky=("Fall",))), "phase: condition Fall in sticky= has no label: add a label, or correct the name"),
    "order of an unknown condition": (lamp(replace(FACET, order=("Fall",))), "phase: condition Fall in order= has no label: add a label, or correct the name"),
    "accumulates in an unknown phase": (lamp(replace(FACET, accumulates_in="Fault")), "phase: phase Fault in accumulates_in= is unknown: add a label, or correct the name"),
    "heals to an unknown phase": (lamp(replace(FACET, healthy="Running")), "phase: phase Running, which follows Broken when its last condition is cleared, is unknown: name another phase with healthy="),
    "too many bases": (
        lamp(replace(FACET, labels=(*LABELS, *(Label("Broken", f"C{n}", "Broken") for n in range(13))),
                     rows=(*ROWS, *(Row((LIVE,), f"c{n}", "Broken", condition=f"C{n}") for n in range(13))))),
        "phase: more than 5000 bases can arise: let fewer conditions accumulate in one phase"),
    "view shows an unknown phase": (with_view(View("Dim", (HOT,))), "phase, view Dim: phase Dim in to= is unknown: add a label, or correct the name"),
    "view over an unknown phase": (with_view(View("Off", (HOT,), base=("Onn",))), "phase, view Off: phase Onn in base= is unknown (did you mean On?): add a label, or correct the name"),
    "view but over an unknown phase": (with_view(View("Off", (HOT,), unless=("Onn",))), "phase, view Off: phase Onn in unless= is unknown (did you mean On?): add a label, or correct the name"),
    "view shows a condition without label": (with_view(View("Broken", (HOT,), condition="Fall")), "phase, view Broken: Broken [Fall] has no label: add a label, or correct the name"),
    "view does not say which condition": (with_view(View("Broken", (HOT,))), "phase, view Broken: Broken has several conditions: choose one with condition="),
    "view hides that it lives": (with_view(View(DELETED, (HOT,))), "phase, view Deleted: a live entity would be shown as one that is not: show a phase that has a label"),
    "view without a reason": (with_view(View("Off", ())), "phase, view Off: it always shows, so the base is never seen: add predicates, name its base=, or write rows in its place"),
    "intent without row": (lamp(intents=("create", "dim")), "intents: trigger dim has no row: add a row, or remove the trigger there"),
    "derived without row": (lamp(derived=("dim",)), "trigger dim has no row"),
    "fields without row": (lamp(fields={"dim": ()}), "trigger dim has no row"),
    "fires on what has no row": (lamp(cascades=(Cascade("gone", at=("bulb",), on=("dim",)),)), "trigger dim has no row"),
    "fires into an unknown phase": (lamp(cascades=(Cascade("gone", at=("bulb",), into="Gone"),)), "cascade gone: phase Gone in into= is unknown: correct the name, or add a label for it"),
    "never fires": (lamp(cascades=(Cascade("gone", at=("bulb",)),)), "cascade gone: it never fires: name the triggers (on=) or the phase to enter (into=) on which it fires"),
    "fires unless data that nobody knows": (
        lamp(cascades=(Cascade("gone", at=("bulb",), on=("heat",), unless=("cascade", False)),)),
        "cascade gone: field cascade in unless= is unknown: add it to `fields` of the trigger, or correct the name"),
    "asked for and fired": (lamp(derived=("create",)), "trigger create is in `intents` and in `derived`: remove it from one of them"),
    "names two bases": (
        lamp(facets=(replace(FACET, rows=(*ROWS, Row((ABSENT,), "adopt", FROM_DATA))), replace(FACET, name="other", rows=(*ROWS, Row((ABSENT,), "adopt", FROM_DATA))))),
        "trigger adopt has two rows to FROM_DATA, but data names one base: let one lead to a phase"),
    "kind is no word": (lamp(kind="Lamp"), "'Lamp' cannot be a name (did you mean 'lamp'?): write lower-case letters, digits and _ (it becomes a part of a subject)"),
    "trigger is no word": (with_row(Row(("On",), "switch.off", "Off")), "'switch.off' cannot be a name"),
    "facet is no word": (lamp(replace(FACET, name="the phase")), "'the phase' cannot be a name"),
    "attribute is no word": (lamp(attributes=(Field("Hot", bool, "whether it is"),)), "'Hot' cannot be a name"),
    "phase is no token": (lamp(replace(FACET, labels=(*LABELS, Label("Half.on", OK, "Half")))), "Half.on [Ok] cannot be a state: write letters, digits, _ and - only"),
    "Deleted labelled": (lamp(replace(FACET, labels=(*LABELS, Label(DELETED, OK, "Gone")))), "phase: Deleted has a label in every kind: remove this one, or rename the phase"),
    "two labels": (lamp(replace(FACET, labels=(*LABELS, LABELS[0]))), "phase: On [Ok] has two labels: remove one"),
    "two facets of a name": (lamp(facets=(FACET, FACET)), "two facets have the name phase: rename one"),
    "attribute named as all data is": (lamp(attributes=(Field("reason", str, "why"),)), "'reason' already has a meaning in every event's data: rename the field or attribute"),
    "field named as all data is": (lamp(fields={"heat": (Field("phase", str, "which"),)}), "'phase' already has a meaning in every event's data: rename the field or attribute"),
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
    "message from an unknown attribute": (lamp(replace(FACET, message_from="why")), "phase, message_from: why is not an attribute: add it to `attributes`, or correct the name"),
    "restarts on an unknown attribute": (lamp(replace(FACET, timeouts=(Timeout("On", "tire", 5, restart_on="steps"),), rows=(*ROWS, Row(("On",), "tire", "Off"))), derived=("tire",)), "phase, timeout of On: steps is not an attribute: add it to `attributes`, or correct the name"),
    "a timeout whose trigger has no row there": (lamp(replace(FACET, timeouts=(Timeout("On", "tire", 5),), rows=(*ROWS, Row(("Off",), "tire", "On"))), derived=("tire",)), "phase, timeout of On: no row of tire fits there, so it changes nothing: "
        "let a row start from the base under On (On)"),
    "no id": (lamp(id=()), "the table has no `id`: name the parts of its ids, for example id=('site', 'lamp')"),
    "no facet": (lamp(facets=(), intents=(), fields={}), "the table has no facet: write at least one in `facets`"),
}
# fmt: on


@pytest.mark.parametrize("wrong", WRONG.values(), ids=list(WRONG))
def test_is_refused(wrong: tuple[Table, str]) -> None:
    table, says = wrong
    assert says in refusal(table)


def test_all_that_is_wrong_is_said_at_once() -> None:
    found = refusal(with_row(Row(("Onn",), "dim", "Dim", clears=("Fall",)))).splitlines()
    assert len(found) == 3
    assert all(problem.startswith("phase, row 8 (dim): ") for problem in found)


def test_phases_that_only_a_view_shows_need_no_rows() -> None:
    labels = (*LABELS, Label("Glowing", OK, "Glowing"))
    seen = lamp(replace(FACET, labels=labels, views=(View("Glowing", (HOT,), base=("On",)),)))
    assert list(Kinds((seen,))) == ["lamp"]


def test_what_is_asked_of_a_phase_that_only_a_view_shows_can_be_reached() -> None:
    labels = (*LABELS, Label("Glowing", OK, "Glowing"), Label("Doused", OK, "Doused"))
    rows = (*ROWS, Row((At("Glowing", base="On"),), "douse", "Doused"))
    facet = replace(FACET, labels=labels, rows=rows, views=(View("Glowing", (HOT,), base=("On",)),))
    assert list(Kinds((lamp(facet, intents=("create", "douse")),))) == ["lamp"]
    assert "no row leads to Doused" in refusal(lamp(facet))


def test_the_row_of_a_timeout_starts_from_the_base_under_its_phase() -> None:
    facet = replace(
        FACET,
        labels=(*LABELS, Label("Glowing", OK, "Glowing")),
        rows=(*ROWS, Row(("On",), "tire", "Off")),
        views=(View("Glowing", (HOT,), base=("On",)),),
        timeouts=(Timeout("Glowing", "tire", 5),),
    )
    assert list(Kinds((lamp(facet, derived=("tire",)),))) == ["lamp"]
    shown = replace(facet, rows=(*ROWS, Row(("Glowing",), "tire", "Off")))
    assert "let a row start from the base under Glowing (On)" in refusal(lamp(shown, derived=("tire",)))


def test_the_row_of_a_timeout_may_stand_in_another_facet() -> None:
    other = replace(FACET, name="heat", rows=(*ROWS, Row(("On",), "tire", "Off")))
    facet = replace(FACET, timeouts=(Timeout("On", "tire", 5),))
    assert list(Kinds((lamp(facets=(facet, other), derived=("tire",)),))) == ["lamp"]


def test_the_bound_of_bases_is_the_one_the_text_names() -> None:
    assert reachability.MAX_BASES == 5000
