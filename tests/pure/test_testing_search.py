"""`check_laws`: finds a history that breaks a law, shortens it, and passes if no law is broken.

Belongs here: the search, and random events. Does not: each law by itself (`test_testing_laws`).
"""

import re
import sys
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest

from phaseline.engine.core import changeset, tree
from phaseline.engine.core.sources import repeats
from phaseline.engine.surfaces.testing.random_events import Dice, data_for
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.predicates import AttributeIs
from phaseline.machines.language.rules import rule
from phaseline.machines.language.table import ABSENT, DELETED, FROM_DATA, SAME, Facet, Field, Row, Table, View
from phaseline.schemas.errors import NotInstalled
from phaseline.schemas.subjects import id_above
from phaseline.testing import check_laws, given
from tests.support import edge_worlds, sample_kinds
from tests.support.own_product import OWN
from tests.support.sample_kinds import label


def checked(kinds: Any = edge_worlds.KINDS) -> str:
    with pytest.raises(AssertionError) as caught:
        check_laws(kinds, examples=60)
    return str(caught.value)


def test_repeats_that_take_effect_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeats, "answer", lambda *_: None)
    law, history = checked().split("\n\n")
    assert law.startswith("the law that an event with a sequence does nothing the second time is broken: `")
    assert len(history.splitlines()) == 2


def test_views_that_are_not_computed_again_are_found_in_few_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changeset.Changeset, "_mark_viewers", lambda *_, **__: None)
    law, history = checked().split("\n\n")
    assert law.startswith("the law that states and tallies follow from the bases is broken: states after event ")
    assert len(history.splitlines()) <= 6


def test_wrong_tallies_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = tree._count_anew

    def wrong(entity_id: str, moves: Any) -> None:
        right(entity_id, moves)
        for levels, tallies, _, new in moves:
            if new == "Scaling":  # of node pools only
                tallies[id_above(entity_id, levels)][new] += 1

    monkeypatch.setattr(tree, "_count_anew", wrong)
    assert re.search("the tally of node_pools of cluster c[12] after event", checked())


ASKED = count()


@rule("lot.fickle", revision=1)
@dataclass(frozen=True)
class Fickle:
    """A guard that looks at something that is not in the tree."""

    def holds(self, *_: object) -> bool:
        return next(ASKED) % 3 > 0

    def text(self) -> str:
        return "it feels like it"


@rule("lot.wrong", revision=1)
@dataclass(frozen=True)
class Wrong(Fickle):
    """A guard with a bug."""

    def holds(self, *_: object) -> bool:
        raise LookupError("a bug of theirs")


def lot(guard: Any) -> Table:
    rows = (Row((ABSENT, DELETED), "open", "Running", when=(guard,)), Row(("Running",), "close", DELETED))
    return Table(
        kind="lot", id=("lot",), intents=("open",), facets=(Facet(name="phase", labels=(label("Running"),), rows=rows),)
    )


def test_a_guard_that_is_not_a_pure_function_is_found() -> None:
    assert checked(lot(Fickle())).startswith("the law that the same events make the same bytes is broken: ")


def test_the_error_of_a_rule_is_raised() -> None:
    with pytest.raises(LookupError, match="a bug of theirs"):
        check_laws(lot(Wrong()))


def test_correct_kinds_pass() -> None:
    check_laws(sample_kinds.KINDS, examples=10)
    check_laws(examples=10)


def test_a_view_may_show_a_condition_of_the_base() -> None:
    """A condition that the base has and a view brings stands once, where it stood."""
    rows = (
        Row((ABSENT, DELETED), "build", "Running", assigns=True), Row(("Running", "Failed"), "wet", "Failed", condition="Wet"),
        Row(("Running", "Failed"), "cold", "Failed", condition="Cold"), Row(("Running", "Failed"), "mend", SAME, clears=("Wet", "Cold"), assigns=True),
        Row(("Running", "Failed"), "raze", DELETED),
    )  # fmt: skip
    roofless = View("Failed", (AttributeIs("shed", "roof", value=False),), condition="Wet", keeps=True)
    labels = (label("Running"), label("Failed", "Wet"), label("Failed", "Cold"))
    facet = Facet(name="phase", accumulates_in="Failed", labels=labels, rows=rows, views=(roofless,))
    shed = Table(
        kind="shed",
        id=("shed",),
        intents=("build",),
        attributes=(Field("roof", bool, "is there one"),),
        facets=(facet,),
    )
    after = given(shed).event("shed", "build", "s", {"roof": False}).event("shed", "wet", "s").when("shed", "cold", "s")
    after.then("shed", "s", "Failed [Wet, Cold]", base="Failed [Wet, Cold]")
    check_laws(shed, examples=40)


def test_without_hypothesis_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    with pytest.raises(
        NotInstalled, match="check_laws needs hypothesis, which is not installed here: pip install hypothesis"
    ):
        check_laws(sample_kinds.KINDS)


def test_random_data_is_of_the_right_type_and_means_something() -> None:
    """Of any type that a field may have; among words those that a table compares with."""
    attributes = (
        Field("count", int, "n"),
        Field("share", float, "s"),
        Field("mode", str, "m"),
        Field("tags", str, "t", many=True),
    )
    needs = AttributeIs("lot", "mode", "Fast")
    rows = (
        Row((ABSENT, DELETED), "open", "Running", assigns=True), Row(("Running",), "close", DELETED, when=(needs,)),
        Row(("Running",), "count", SAME, given={"by": 12}, sets="Counted"), Row(("Running",), "adopt", FROM_DATA),
    )  # fmt: skip
    labels = (label("Running"), label("Running", "Counted"))
    facet = Facet(name="phase", labels=labels, rows=rows, sticky=("Counted",))
    fields = {"count": (Field("by", int, "b"),)}
    kinds = Kinds(
        (Table(kind="lot", id=("lot",), intents=("open",), attributes=attributes, fields=fields, facets=(facet,)),),
        products=OWN,
    )
    found = [data_for(kinds, kinds["lot"], "open", Dice(bytes([1, face] * 8))) for face in range(6)]
    assert {type(data["count"]) for data in found} == {int}
    assert {type(data["share"]) for data in found} == {float}
    assert {data["mode"] for data in found} == {"Fast", "word", ""}
    assert all(isinstance(tag, str) for data in found for tag in data["tags"])
    assert 12 in {data_for(kinds, kinds["lot"], "count", Dice(bytes([1, face])))["by"] for face in range(6)}
    check_laws(kinds, examples=20)
