"""`phaseline.machine`: facets as machines of the library transitions, driven by hand, take the steps of the tables."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from transitions import MachineError
from transitions.extensions import GraphMachine

import phaseline
from phaseline.engine.surfaces.testing.driven import DrivenMachine
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.compiler.machine import Step
from phaseline.schemas.records import State
from phaseline.tables import ABSENT, DELETED, OK, AllBelow, AttributeIs, Facet, Field, Label, Row, Table
from tests.support import sample_kinds
from tests.support.built_in_kinds import BUILT_IN_KINDS

ALL = {**BUILT_IN_KINDS, **sample_kinds.KINDS}
DOORS = Table(
    kind="door",
    id=("door",),
    attributes=(Field("keeper", str, "who has the key"),),
    intents=("build", "open", "dispatch"),
    facets=(
        Facet(
            name="phase", adopted=State("Absent"),
            labels=(Label("Shut", OK, "Shut"), Label("Open", OK, "Open")),
            rows=(
                Row((ABSENT, DELETED), "build", "Shut", assigns=True),
                Row(("Shut",), "open", "Open", when=(AttributeIs("door", "keeper", "me"), AllBelow("door", "bolt", ("Drawn",)))),
                Row(("Open",), "dispatch", DELETED),
                Row(("Open",), "hand_over", "Open", assigns=True),
            ),
        ),
    ),
)  # fmt: skip
BOLT = Table(
    kind="bolt", id=("door", "bolt"), parent="door", intents=(),
    facets=(Facet(name="phase", adopted=State("Absent"), labels=(Label("Drawn", OK, "Drawn"),),
                  rows=(Row((ABSENT,), "seen", "Drawn"), Row(("Drawn",), "lost", DELETED))),),
)  # fmt: skip
DOOR = phaseline.Kinds((DOORS, BOLT))["door"]


def data_for(steps: tuple[Step, ...], phases: tuple[str, ...]) -> Iterator[Mapping[str, Any]]:
    yield {}
    for step in steps:
        yield dict(step.row.given)
    for phase in phases:
        yield {"phase": phase}


def unguarded(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The steps up to the first that has a guard: whether it is taken depends on other entities."""
    guarded = next((place for place, step in enumerate(steps) if step.row.when), len(steps))
    return steps[:guarded]


@pytest.mark.parametrize("kind", ALL.values(), ids=list(ALL))
def test_a_machine_takes_the_first_step_that_fits(kind: Kind) -> None:
    random, moved = Random(7), 0
    for compiled, driven in zip(kind.machines, phaseline.machine(kind).values(), strict=True):
        assert driven.state == compiled.facet.begins
        assert list(driven.states) == list(compiled.phases)
        for _ in range(200):
            triggers = driven.get_triggers(driven.state)
            assert set(triggers) == {name for name, by_phase in compiled.steps.items() if driven.state in by_phase}
            if not triggers:
                break
            trigger = random.choice(triggers)
            steps = compiled.steps[trigger][driven.state]
            data = random.choice(list(data_for(steps, compiled.phases)))
            base, interrupted = driven._facet.base, driven._facet.interrupted
            wanted = next((one for one in unguarded(steps) if one.fits(base, base, data, interrupted)), None)
            may = driven.may_trigger(trigger, data)
            taken = driven.trigger(trigger, data)
            assert may == taken
            if wanted is not None:
                after = wanted.result(base, data)
                assert (taken, driven.state, driven.conditions) == (True, after.phase, after.conditions)
                moved += 1
            assert driven._facet.base.phase == driven.state
            if not taken:
                assert driven._facet.base == base
    assert moved


def test_states_have_the_labels_of_consoles() -> None:
    cluster = phaseline.machine("cluster")["phase"]
    assert isinstance(cluster, GraphMachine)
    assert cluster.get_state("Stopped").tags == ["Stopped (overdue)"]
    assert cluster.get_state("Failed").tags == ["Create failed", "Delete failed", "Abnormal", "All nodes failed"]
    assert cluster.trigger("create")
    assert cluster.trigger("create_failed", condition="Balance")
    assert (cluster.state, cluster.conditions, cluster.label) == ("Failed", ("Balance",), "Create failed")


def test_what_is_illegal_is_refused_as_the_library_does() -> None:
    cluster = phaseline.machine("cluster")["phase"]
    with pytest.raises(MachineError, match="Can't trigger event created from state Absent"):
        cluster.trigger("created")
    assert cluster.trigger("adopt", {"phase": "Running"})
    assert cluster.state == "Running"


def test_guards_are_asked_where_one_entity_knows_and_named_where_not() -> None:
    door = phaseline.machine(DOOR)["phase"]
    assert door.trigger("build", keeper="you")
    assert door.trigger("open") is False  # its own attribute is known
    door = phaseline.machine(DOOR)["phase"]
    door.trigger("build", keeper="me")
    assert not door.not_evaluated
    assert door.may_trigger("open")
    assert door.trigger("open")
    assert door.not_evaluated == ("every bolt is Drawn",)
    door.trigger("hand_over", keeper="her")
    assert dict(door.attributes) == {"keeper": "her"}
    assert [*door.not_evaluated] == []


def test_a_new_life_begins_without_attributes() -> None:
    door = phaseline.machine(DOOR)["phase"]
    for trigger, data in (("build", {"keeper": "me"}), ("open", {}), ("dispatch", {}), ("build", {})):
        assert door.trigger(trigger, data)
    assert (door.state, dict(door.attributes)) == ("Shut", {})


def test_guards_see_the_other_facets_of_the_entity() -> None:
    kind = ALL["rsync_resource"]
    machines = phaseline.machine(kind)
    assert list(machines) == list(kind.names)
    assert all(isinstance(one, DrivenMachine) for one in machines.values())
    assert len({id(one.entity) for one in machines.values()}) == 1


def test_rules_that_compute_attributes_make_guards_about_them_unknown() -> None:
    application = phaseline.machine("application")["health"]
    assert application.trigger("configure")
    assert application.entity.certain is False


def test_a_table_will_do() -> None:
    lamp = replace(
        DOORS, kind="lamp", id=("lamp",), attributes=(), intents=(),
        facets=(replace(DOORS.facets[0], rows=(Row((ABSENT,), "lit", "Open"), Row(("Open",), "fused", DELETED)), labels=(Label("Open", OK, "On"),)),),
    )  # fmt: skip
    driven = phaseline.machine(lamp)["phase"]
    assert driven.trigger("lit")
    assert driven.label == "On"


def test_an_unknown_kind_is_named() -> None:
    with pytest.raises(phaseline.errors.NameUnknown, match=r"clutser.*did you mean cluster"):
        phaseline.machine("clutser")


def test_the_diagram_lights_the_state() -> None:
    cluster = phaseline.machine("cluster")["phase"]
    cluster.trigger("create")
    assert cluster.is_Creating()
    drawn = cluster.get_graph(show_roi=True).draw(None)
    assert drawn.startswith("---\ntitle: cluster, phase\n---\nstateDiagram-v2\n")
    assert "Class Creating s_active" in drawn
    assert "Creating --> Running: created" in drawn
