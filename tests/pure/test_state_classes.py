"""The class of a state: named by its label, or derived from the table (machines/compiler/state_classes.py)."""

from dataclasses import replace

import pytest

from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.state_classes import class_in, class_of, class_of_label
from phaseline.machines.edge.node import NODE
from phaseline.machines.language.state_classes import CLASSES
from phaseline.machines.language.table import Facet
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


def test_a_class_changes_no_version() -> None:
    labels = tuple(replace(one, state_class="unknown") for one in NODE.facets[0].labels)
    changed = replace(NODE, facets=(replace(NODE.facets[0], labels=labels), *NODE.facets[1:]))
    tables = tuple(changed if kind.written is NODE else kind.written for kind in BUILT_IN_KINDS.values())
    assert Kinds(tables).versions == BUILT_IN_KINDS.versions


def test_only_what_is_called_unknown_has_the_class_unknown() -> None:
    facets: list[Facet] = [facet for kind in BUILT_IN_KINDS.values() for facet in kind.table.facets]
    for facet in facets:
        for label in facet.labels:
            found = class_of_label(facet, label)
            assert found in CLASSES
            assert (found == "unknown") is (label.phase in ("Unknown", "Silent", "NotAssessed", "NotCompared")), (
                facet.name,
                label,
            )


def test_a_kind_that_is_not_installed_here_has_unknown_classes() -> None:
    assert class_in(BUILT_IN_KINDS, "ship", "phase", state("Running")) == "unknown"
    assert class_in(BUILT_IN_KINDS, "node", "hull", state("Running")) == "unknown"
