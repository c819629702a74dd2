"""The compiled lookup says what the state machine library itself does: every base, every trigger, every data.

Belongs here: comparing the two. Does not: whether either is what the spec says (`test_tables_exhaustive`).
"""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import pytest

from phaseline.machines.compiler.conditions import state_shown
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.compiler.machine import Candidates, FacetMachine, Model
from phaseline.schemas.records import State
from tests.support import sample_kinds
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.edge_worlds import KINDS, variants

ALL = {**KINDS, **sample_kinds.KINDS}


def judged(machine: FacetMachine, bases: frozenset[State]) -> Iterator[tuple[State, State]]:
    """Every base, as it is and as each of its views shows it."""
    for base in bases:
        yield base, base
        for view in machine.views[base.phase]:
            yield state_shown(machine.facet, view, base), base


def data_for(kind: Kind, machine: FacetMachine, trigger: str) -> Iterator[Mapping[str, Any]]:
    if kind.name in KINDS:
        yield from variants(kind.name, trigger)
    yield from (dict(row.given) for row in machine.facet.rows if row.trigger == trigger)
    yield from ({"phase": phase} for phase in machine.phases)
    yield {"condition": "no such condition"}


def looked_up(
    machine: FacetMachine, trigger: str, at: tuple[State, State], data: Mapping[str, Any], interrupted: str | None
) -> str | None:
    """The phase that the first fitting step leads to."""
    state, base = at
    steps = machine.steps[trigger].get(state.phase, ())
    return next((step.dest for step in steps if step.fits(state, base, data, interrupted)), None)


def driven(
    machine: FacetMachine, trigger: str, at: tuple[State, State], data: Mapping[str, Any], interrupted: str | None
) -> str | None:
    """The phase that the library moves a throwaway model to."""
    state, base = at
    model, event = Model(state.phase), machine.machine.events[trigger]
    if state.phase not in event.transitions:
        return None
    taken = event.trigger(model, judged=state, base=base, data=data, interrupted=interrupted)
    assert taken or model.state == state.phase
    return model.state if taken else None


@pytest.mark.parametrize("kind", ALL.values(), ids=list(ALL))
def test_the_lookup_is_the_machine(kind: Kind) -> None:
    tried = moved = 0
    for machine, bases in zip(kind.machines, kind.bases, strict=True):
        for trigger in machine.steps:
            every = list(data_for(kind, machine, trigger))
            for at in judged(machine, bases):
                for data, interrupted in product(every, (None, *machine.returns)):
                    found = looked_up(machine, trigger, at, data, interrupted)
                    assert found == driven(machine, trigger, at, data, interrupted), (trigger, at, data)
                    tried += 1
                    moved += found is not None
    assert 0 < moved < tried


@pytest.mark.parametrize("kind", ALL.values(), ids=list(ALL))
def test_a_step_leads_its_base_to_the_phase_it_names(kind: Kind) -> None:
    for machine, bases in zip(kind.machines, kind.bases, strict=True):
        for by_phase in machine.steps.values():
            for base in bases:
                for step in by_phase.get(base.phase, ()):
                    data = {**step.row.given, "phase": step.dest}
                    if step.fits(base, base, data, step.over):
                        assert step.result(base, data).phase == step.dest


def test_data_leaves_out_no_step_that_fits() -> None:
    odd: list[Any] = [None, True, 1, "", "x", [], {}, ["x"]]
    for kind in BUILT_IN_KINDS.values():
        for machine in kind.machines:
            for by_phase in machine.steps.values():
                for steps in by_phase.values():
                    found = Candidates.of(steps)
                    asked = [*(step.row.given for step in steps), *({found.field: value} for value in odd)]
                    for data in asked:
                        left = found.for_data(data) if found.field else steps
                        assert [one for one in left if one.has_given(data)] == [
                            one for one in steps if one.has_given(data)
                        ]


def test_the_rows_of_an_observation_are_found_by_its_health() -> None:
    steps = BUILT_IN_KINDS["resource"].machines[0].steps["observed"]["Healthy"]
    found = Candidates.of(steps)
    assert found.field == "health"
    assert len(found.for_data({"health": "Degraded"})) == 2 < len(steps)
