"""States chosen by the label that people see (`machines.compiler.labels.states_labelled`), as `--state` does."""

import pytest

from phaseline.engine.log.watch import chosen
from phaseline.machines.compiler.labels import label_of
from phaseline.schemas.records import State
from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS


def test_each_label_chooses_the_states_that_show_it() -> None:
    for kind in KINDS.values():
        for facet in kind.table.facets:
            phases = {one.phase for each in kind.machines for one in each.facet.labels} | {
                name for machine in kind.machines for name in machine.phases
            }
            for one in facet.labels:
                for text in (one.en, *one.others.values()):
                    if text in phases:  # the name of a phase is that phase
                        continue
                    found = State(one.phase, (one.condition,) if one.condition else ())
                    chooses = chosen(KINDS, kind.name, text, ())
                    assert chooses.selects(found) == (label_of(facet, found) == one.en), (kind.name, text)


@pytest.mark.parametrize(("text", "state", "fits"), [
    ("Stopped (overdue)", State("Stopped", ("Balance",)), True), ("stopped (OVERDUE)", State("Stopped", ("Balance",)), True),
    ("Stopped (overdue)", State("Stopped", ()), False), ("Abnormal", State("Failed", ("NotReady",)), True),
    ("Abnormal", State("Running", ("Ok",)), False), ("Failed", State("Failed", ("NotReady",)), True),
    ("Failed [NotReady]", State("Failed", ("NotReady",)), True),
])  # fmt: skip
def test_label_and_state_can_both_be_typed(text: str, state: State, fits: bool) -> None:
    assert chosen(KINDS, None, text, ()).selects(state) == fits


def test_a_label_of_one_phase_bounds_what_is_read() -> None:
    assert chosen(KINDS, "cluster", "Stopped (overdue)", ()).phase == "Stopped"
