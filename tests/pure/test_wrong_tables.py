"""Each way in which a single table can be wrong is refused, saying what to write instead.

Belongs here: one small wrong table each. Does not: what is wrong between tables (`test_wrong_forests`).
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

LABELS = (Label("On", OK, "开", "On"), Label("Off", OK, "关", "Off"), Label("Broken", "Heat", "坏", "Broken"), Label("Broken", "Rust", "坏", "Broken"))  # fmt: skip
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
    "assigns what is no attribute": (with_row(Row(("On",), "dim", SAME, assigns=("hot", "colour"))), "it assigns colour, which is no attribute: declare it in `attributes`"),
    "view that always shows": (lamp(replace(FACET, views=(View("Off", ()),))), "it always shows, so nobody ever sees the base"),
    "view below one that always shows": (lamp(replace(FACET, views=(View("Off", (), base=("On",)), View("Broken", (HOT,), condition="Heat", base=("On",))))),
        "it shows wherever no view before it does, so the one to Broken after it never does: move it below"),
    "view keeps what is unknown": (lamp(replace(FACET, views=(View("Off", (HOT,), keeps=("Dust",)),))), "it keeps Dust, which has no label"),
    "told on what has no row": (lamp(fan_outs=(FanOut(("dim",), "bulb", ("burst",), says),)), "trigger burst has no row"),
    "must fire at many": (lamp(cascades=(Cascade("dim", at=("bulb",), on=("heat",), required=True),)), "it must fire dim, but at any number of entities: say at which with one="),
    "must fire on no event": (lamp(cascades=(Cascade("dim", at=("bulb",), into="Off", only_child="hot", required=True),)), "no event asks for it: say on which triggers"),
    "fires at one named by nothing": (lamp(cascades=(Cascade("dim", at=("bulb",), on=("heat",), only_child="name"),)), "firing dim depends on attribute name, which is unknown: declare it in `attributes`"),
    "gives what is unknown": (lamp(cascades=(Cascade("dim", at=("bulb",), on=("heat",), data={"to": "name"}),)), "firing dim depends on attribute name"),
    "sets what is not standing": (with_row(Row(("On",), "dim", SAME, sets="Heat")), "it sets Heat, which is not in the facet's standing conditions"),
    "nothing leads there": (
        with_row(Row(("On",), "dim", "Off"), labels=(*LABELS, Label("Dim", OK, "暗", "Dim"))),
        "phase: no row leads to Dim: add one, or take out its label"),
    "a condition that never comes": (
        lamp(replace(FACET, labels=(*LABELS, Label("Broken", "Fall", "坏", "Broken")))),
        "Broken [Fall] can never arise: add a row to it, or take out its label"),
    "a dead end": (
        stuck(Row(("On",), "smashed", "Off")),
        "nothing leads out of Off: add a row from it (a last word is called Deleted)"),
    "a dead end that only turns in itself": (
        stuck(Row(("On",), "smashed", "Off"), Row(("Off",), "smashed_again", "Off")),
        "nothing leads out of Off: add a row from it"),
    "starts from an unknown phase": (with_row(Row(("Onn",), "dim", "Off")), "row 8 (dim): it starts from Onn, which is unknown: add a label for it, or correct the name"),
    "starts from Deleted, where nothing is": (stuck(Row((DELETED,), "found", "Off")), "it starts from Deleted, to which no row leads: add one, or take it out"),
    "starts over an unknown base": (with_row(Row((At("On", base="Onn"),), "dim", "Off")), "it starts from Onn, which is unknown"),
    "starts from all but an unknown phase": (with_row(Row((Live(but=("Onn",)),), "dim", "Off")), "it starts from all but Onn, which is unknown: correct the name"),
    "starts with an unknown condition": (with_row(Row((At("Broken", has="Hot"),), "dim", "Off")), "it asks for condition Hot, which has no label: add one, or correct the name"),
    "starts without an unknown condition": (with_row(Row((At("Broken", lacks=("Hot",)),), "dim", "Off")), "it asks for condition Hot, which has no label"),
    "starts nowhere": (with_row(Row((), "dim", "Off")), "it starts nowhere: name the phases it starts from"),
    "leads to an unknown phase": (with_row(Row(("On",), "dim", "Dim")), "it leads to Dim, which is unknown: add a label for it, or correct the name"),
    "leads to what is unknown": (with_row(Row(("On",), "dim", ABSENT)), "it leads to Absent: what was known stays known, write Deleted"),
    "because is missing": (with_row(Row(("On",), "dim", "Broken")), "Broken has several conditions: say which with condition="),
    "because has no label": (with_row(Row(("On",), "dim", "Broken", condition="Fall")), "Broken [Fall] has no label: add one, or correct the name"),
    "clears an unknown condition": (with_row(Row(("On",), "dim", SAME, clears=("Fall",))), "condition Fall has no label: add one, or correct the name"),
    "sets an unknown condition": (with_row(Row(("On",), "dim", SAME, sets="Fall"), sticky=("Rust",)), "condition Fall has no label: add one"),
    "sets what does not stand": (with_row(Row(("On",), "dim", SAME, sets="Rust")), "it sets Rust, which is not in the facet's standing conditions: add it there"),
    "given a field that is none": (with_row(Row(("On",), "dim", "Off", given={"degree": 1})), "it depends on data.degree: add that field to `fields`, or correct the name"),
    "never reached": (
        with_row(Row(("On",), "switched_off", DELETED)),
        "switched_off from On: the row to Deleted is never reached, the one to Off before it always applies: give the earlier one a condition (when=, given=, At(...)), or drop one"),
    "never reached, though narrow": (
        lamp(replace(FACET, rows=(*ROWS, Row((At("Broken", has="Rust"),), "mended", "On"), Row((At("Broken", has="Rust"),), "mended", "Off")))),
        "mended from Broken: the row to Off is never reached, the one to On"),
    "never reached, one later": (
        lamp(replace(FACET, rows=(*ROWS, Row(("On",), "dim", "Off"), Row((At("On", lacks=("Rust",)),), "dim", DELETED, when=(HOT,))))),
        "dim from On: the row to Deleted is never reached"),
    "standing condition unknown": (lamp(replace(FACET, sticky=("Fall",))), "phase: condition Fall has no label: add one, or correct the name"),
    "order of an unknown condition": (lamp(replace(FACET, order=("Fall",))), "phase: condition Fall has no label"),
    "collects in an unknown phase": (lamp(replace(FACET, accumulates_in="Fault")), "causes collect in Fault, which is unknown: add a label for it, or correct the name"),
    "heals to an unknown phase": (lamp(replace(FACET, healthy="Running")), "phase Running, without causes, is unknown: name the phase it falls back to with healthy="),
    "too many bases": (
        lamp(replace(FACET, labels=(*LABELS, *(Label("Broken", f"C{n}", "坏", "Broken") for n in range(13))),
                     rows=(*ROWS, *(Row((LIVE,), f"c{n}", "Broken", condition=f"C{n}") for n in range(13))))),
        "more than 5000 bases can arise: collect fewer conditions in one phase"),
    "view shows an unknown phase": (with_view(View("Dim", (HOT,))), "view Dim: phase Dim is unknown: add a label for it, or correct the name"),
    "view over an unknown phase": (with_view(View("Off", (HOT,), base=("Onn",))), "view Off: phase Onn is unknown"),
    "view but over an unknown phase": (with_view(View("Off", (HOT,), unless=("Onn",))), "view Off: phase Onn is unknown"),
    "view shows a condition without label": (with_view(View("Broken", (HOT,), condition="Fall")), "view Broken: Fall has no label there: add one"),
    "view does not say which condition": (with_view(View("Broken", (HOT,))), "view Broken: Broken has several conditions: say which with condition="),
    "view hides that it lives": (with_view(View(DELETED, (HOT,))), "it would make what lives look as if it did not: show a phase that has a label"),
    "view without a reason": (with_view(View("Off", ())), "it always shows, so nobody ever sees the base: say while what, or let rows lead there"),
    "intent without row": (lamp(intents=("create", "dim")), "trigger dim has no row: add one, or take it out of the list"),
    "derived without row": (lamp(derived=("dim",)), "trigger dim has no row"),
    "fields without row": (lamp(fields={"dim": ()}), "trigger dim has no row"),
    "fires on what has no row": (lamp(cascades=(Cascade("gone", at=("bulb",), on=("dim",)),)), "trigger dim has no row"),
    "fires into an unknown phase": (lamp(cascades=(Cascade("gone", at=("bulb",), into="Gone"),)), "it fires gone into Gone, which is unknown: correct the name"),
    "never fires": (lamp(cascades=(Cascade("gone", at=("bulb",)),)), "it never fires gone: say on which triggers (on=), or entering which phase (into=)"),
    "fires unless data that nobody knows": (
        lamp(cascades=(Cascade("gone", at=("bulb",), on=("heat",), unless=("cascade", False)),)),
        "it fires gone unless data.cascade says so: add that field to `fields`"),
    "asked for and fired": (lamp(derived=("create",)), "create is asked from outside and fired by the engine: list it in `intents` or in `derived`, not both"),
    "names two bases": (
        lamp(facets=(replace(FACET, rows=(*ROWS, Row((ABSENT,), "adopt", FROM_DATA))), replace(FACET, name="other", rows=(*ROWS, Row((ABSENT,), "adopt", FROM_DATA))))),
        "adopt names two bases, data only one: let it lead the other facet, or row, to a phase"),
    "kind is no word": (lamp(kind="Lamp"), "'Lamp' cannot be a name: write lower-case letters, digits and _ (it becomes a part of a subject)"),
    "trigger is no word": (with_row(Row(("On",), "switch.off", "Off")), "'switch.off' cannot be a name"),
    "facet is no word": (lamp(replace(FACET, name="the phase")), "'the phase' cannot be a name"),
    "attribute is no word": (lamp(attributes=(Field("Hot", bool, "whether it is"),)), "'Hot' cannot be a name"),
    "phase is no token": (lamp(replace(FACET, labels=(*LABELS, Label("Half.on", OK, "半", "Half")))), "Half.on [Ok] cannot be a state: write letters, digits, _ and - only"),
    "Deleted labelled": (lamp(replace(FACET, labels=(*LABELS, Label(DELETED, OK, "没", "Gone")))), "Deleted has its own labels: take this one out, or name the phase otherwise"),
    "two labels": (lamp(replace(FACET, labels=(*LABELS, LABELS[0]))), "phase: On [Ok] has two labels: drop one"),
    "two facets of a name": (lamp(facets=(FACET, FACET)), "two facets are called phase: rename one"),
    "attribute named as all data is": (lamp(attributes=(Field("reason", str, "why"),)), "'reason' means something in every event's data: name the field or attribute otherwise"),
    "field named as all data is": (lamp(fields={"heat": (Field("phase", str, "which"),)}), "'phase' means something in every event's data"),
    "kind named as the log's marks": (lamp(kind="mark"), "'mark' is a word of the log itself: name the kind otherwise"),
    "kind named as the log's fence": (lamp(kind="checkpoint"), "'checkpoint' is a word of the log itself"),
    "read twice": (lamp(interprets=(Interpret(("heat",), (), spoken), Interpret(("heat",), (), spoken))), "the data of heat is read twice: let one reading say all of it"),
    "reads what no row has": (lamp(interprets=(Interpret(("dim",), (), spoken),)), "trigger dim has no row: add one, or take it out of the list"),
    "a word that cannot be one": (lamp(interprets=(Interpret(("heat",), (Field("Glow", str, "how"),), spoken),)), "'Glow' cannot be a name"),
    "a word named as all data is": (lamp(interprets=(Interpret(("heat",), (Field("phase", str, "how"),), spoken),)), "'phase' means something in every event's data"),
    "a function without a declaration": (with_row(Row(("On",), "dim", SAME, computes=undeclared)), "facets[0].rows[7].computes is the function undeclared, which declares no name and revision: "
        "write @rule('<yours>.undeclared', revision=1) above the function (from phaseline.machines.language.rules import rule)"),
    "a predicate without a declaration": (with_row(Row(("On",), "dim", SAME, when=(Dark(),))), "facets[0].rows[7].when[0] is an instance of Dark, which declares no name and revision: "
        "write @rule('<yours>.dark', revision=1) above its class"),
    "a predicate that only its base declares": (with_row(Row(("On",), "dim", SAME, when=(Darker(),))), "is an instance of Darker, which declares no name and revision"),
    "a lambda": (with_row(Row(("On",), "dim", SAME, computes=lambda attributes, _: attributes)), "facets[0].rows[7].computes is a lambda, which cannot declare a name: write a function"),
    "a type that no wire has": (lamp(attributes=(Field("hot", complex, "whether it is"),)), "attributes[0].type is the type complex: write one of str, int, float, bool, dict"),
    "two rules of one name": (with_row(Row(("On",), "dim", SAME, computes=dimmed), interprets=(Interpret(("heat",), (), spoken),)), "two rules are called lamp.spoken: give one of them another name"),
    "says what it does not keep": (lamp(replace(FACET, message_from="why")), "phase: why is no attribute: declare it in `attributes`, or correct the name"),
    "time anew by what it does not keep": (lamp(replace(FACET, timeouts=(Timeout("On", "tire", 5, restart_on="steps"),), rows=(*ROWS, Row(("On",), "tire", "Off"))), derived=("tire",)), "phase: steps is no attribute"),
    "no id": (lamp(id=()), "a table needs the names of its id's parts (`id`) and at least one facet"),
    "no facet": (lamp(facets=(), intents=(), fields={}), "and at least one facet"),
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
    labels = (*LABELS, Label("Glowing", OK, "亮", "Glowing"))
    seen = lamp(replace(FACET, labels=labels, views=(View("Glowing", (HOT,), base=("On",)),)))
    assert list(Kinds((seen,))) == ["lamp"]


def test_what_is_asked_of_a_phase_that_only_a_view_shows_can_be_reached() -> None:
    labels = (*LABELS, Label("Glowing", OK, "亮", "Glowing"), Label("Doused", OK, "灭", "Doused"))
    rows = (*ROWS, Row((At("Glowing", base="On"),), "douse", "Doused"))
    facet = replace(FACET, labels=labels, rows=rows, views=(View("Glowing", (HOT,), base=("On",)),))
    assert list(Kinds((lamp(facet, intents=("create", "douse")),))) == ["lamp"]
    assert "no row leads to Doused" in refusal(lamp(facet))


def test_the_bound_of_bases_is_the_one_the_text_names() -> None:
    assert reachability.MAX_BASES == 5000
