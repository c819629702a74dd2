"""The class of a state: named by its label, or derived from the table (machines/compiler/classes)."""

from dataclasses import replace

import pytest

from phaseline.machines.compiler.checks import WrongTable
from phaseline.machines.compiler.classes.entity_classes import class_in
from phaseline.machines.compiler.classes.state_classes import class_of, class_of_label
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.kinds.edge_hosting.node import NODE
from phaseline.machines.language.table import ABSENT, CLASSES, Facet, Label, Row, Table
from phaseline.schemas.records import State, state
from tests.support.built_in_kinds import BUILT_IN_KINDS

PHASE = BUILT_IN_KINDS["node"].table.facets[0]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (state("Running", ("Ok",)), "good"),
        (state("Running", ("Unschedulable",)), "excused"),
        (state("Stopped", ("Ok",)), "excused"),
        (state("Creating", ("Progressing",)), "busy"),
        (state("Failed", ("NotReady",)), "bad"),
        (state("Failed", ("Balance", "Unschedulable")), "bad"),
        (state("Deleted"), "gone"),
        (state("Absent"), "unknown"),
    ],
    ids=str,
)
def test_classes_that_follow_from_the_table(found: State, expected: str) -> None:
    assert class_of(PHASE, found) == expected


def test_a_label_names_another_class() -> None:
    labels = tuple(replace(one, state_class="bad") if one.phase == "Stopped" else one for one in PHASE.labels)
    facet = replace(PHASE, labels=labels)
    assert class_of(facet, state("Stopped", ("Ok",))) == "bad"
    assert class_of(facet, state("Running", ("Ok",))) == "good"


def test_a_class_is_a_part_of_the_version() -> None:
    labels = tuple(replace(one, state_class="unknown") for one in NODE.facets[0].labels)
    changed = replace(NODE, facets=(replace(NODE.facets[0], labels=labels), *NODE.facets[1:]))
    tables = tuple(changed if kind.written is NODE else kind.written for kind in BUILT_IN_KINDS.values())
    found = Kinds(tables).versions
    assert [name for name, version in found.items() if version != BUILT_IN_KINDS.versions[name]] == ["node"]


def test_a_label_without_a_class_is_refused_where_none_follows() -> None:
    facet = Facet(
        name="phase", healthy="On", labels=(Label("On", None, "On"), Label("Dim", None, "Dim")),
        rows=(Row((ABSENT,), "lit", "On"), Row(("On",), "dimmed", "Dim")),
    )  # fmt: skip
    with pytest.raises(WrongTable) as wrong:
        Kinds((Table(kind="lamp", id=("lamp",), intents=(), facets=(facet,)),))
    assert wrong.value.problems == [
        "phase: Dim has no class, and none follows: say what it means by state_class=, one of 'bad', 'unknown', "
        "'busy', 'excused', 'good', 'gone'"
    ]


def test_only_what_is_called_unknown_has_the_class_unknown() -> None:
    facets: list[Facet] = [facet for kind in BUILT_IN_KINDS.values() for facet in kind.table.facets]
    for facet in facets:
        for label in facet.labels:
            found = class_of_label(facet, label)
            assert found in CLASSES
            assert (found == "unknown") is (
                label.phase in ("Unknown", "Silent", "NotAssessed", "NotCompared", "Counted")
            ), (
                facet.name,
                label,
            )


def test_a_kind_that_is_not_installed_here_has_unknown_classes() -> None:
    assert class_in(BUILT_IN_KINDS, "ship", "phase", state("Running")) == "unknown"
    assert class_in(BUILT_IN_KINDS, "node", "hull", state("Running")) == "unknown"
