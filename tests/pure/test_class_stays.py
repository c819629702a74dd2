"""Since when an entity is in its class, apart from its states (engine/core/memory/class_stays.py)."""

from dataclasses import replace

import pytest

from phaseline import testing
from phaseline.engine.surfaces.testing.scenario import Given
from phaseline.machines.compiler.classes.entity_classes import class_of_entity, class_since
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.sources import At
from phaseline.machines.language.table import ABSENT, DELETED, LIVE, OK, Facet, Label, Retired, Row, Table
from phaseline.schemas.records import SECOND, Entity, Stay, nanoseconds
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.lamp_table import FACET, lamp

START = nanoseconds("2026-01-01T00:00:00Z")
NODE = testing.given(BUILT_IN_KINDS).state("cluster", "c", "Running").event("node_pool", "create", "c/p")
NODE = NODE.event("node_pool", "created", "c/p").event("node", "create", "c/p/n").event("node", "created", "c/p/n")


def node(situation: Given) -> Entity:
    kind = "node" if "node" in situation.kinds else "twin"
    return situation.entity(kind, "c/p/n")


def told(situation: Given) -> tuple[str, float]:
    """The class of the node, and after how many seconds it began."""
    entity = node(situation)
    since = class_since(situation.kinds, entity)
    return class_of_entity(situation.kinds, entity), (since - START) / SECOND


def stay(situation: Given) -> Stay | None:
    """What the node remembers of its class."""
    memory = node(situation).memory
    return None if memory is None else memory.stay


def at(situation: Given, seconds: int, trigger: str, kind: str = "node", entity_id: str = "c/p/n") -> Given:
    return situation.at(f"2026-01-01T00:{seconds // 60:02}:{seconds % 60:02}Z").event(kind, trigger, entity_id)


def test_another_condition_and_back_is_one_stay_in_the_class() -> None:
    failed = at(NODE, 60, "not_ready")
    assert told(failed) == ("bad", 60)
    assert stay(failed) is None
    overdue = at(failed, 120, "overdue")
    assert told(overdue) == ("bad", 60)
    assert stay(overdue) is not None
    ready = at(overdue, 180, "ready")
    assert str(node(ready).facets[0].state) == "Failed [Balance]"
    again = at(at(ready, 240, "not_ready"), 300, "renewed")
    assert told(again) == ("bad", 60)
    well = at(again, 360, "ready")
    assert (told(well), stay(well)) == (("good", 360), None)
    assert told(at(well, 420, "not_ready")) == ("bad", 420)


def test_what_a_view_shows_counts() -> None:
    stopped = at(at(NODE, 60, "not_ready"), 120, "overdue", "cluster", "c")
    since = told(stopped)
    assert since[0] == class_of_entity(stopped.kinds, node(stopped))
    back = at(stopped, 180, "renewed", "cluster", "c")
    assert told(back)[0] == "bad"
    assert (since[0] == "bad") is (told(back)[1] == 60)


def test_a_new_life_begins_anew() -> None:
    gone = at(at(at(NODE, 60, "not_ready"), 120, "overdue"), 180, "deleted")
    assert (told(gone), stay(gone)) == (("gone", 180), None)
    assert told(at(gone, 240, "create")) == ("busy", 240)


def twin() -> Given:
    def facet(name: str, good: str, bad: str) -> Facet:
        labels = (Label("Well", OK, "Well"), Label("Sick", None, "Sick", state_class="bad"))
        rows = (
            Row((ABSENT,), "born", "Well"), Row(("Well", "Sick"), bad, "Sick"), Row(("Sick",), good, "Well"),
            Row((LIVE,), "deleted", DELETED),
        )  # fmt: skip
        return Facet(name=name, labels=labels, rows=rows, healthy="Well")

    facets = (facet("left", "left_well", "left_sick"), facet("right", "right_well", "right_sick"))
    table = Table(kind="twin", id=("cluster", "pool", "node"), intents=(), facets=facets)
    return testing.given(table).event("twin", "born", "c/p/n")


def test_the_worst_facet_counts_and_another_one_carries_it_on() -> None:
    left = at(twin(), 60, "left_sick", "twin")
    both = at(left, 120, "right_sick", "twin")
    assert (told(both), node(both).memory) == (("bad", 60), None)
    right = at(both, 180, "left_well", "twin")
    assert told(right) == ("bad", 60)
    assert node(right).memory is not None
    well = at(right, 240, "right_well", "twin")
    assert (told(well), node(well).memory) == (("good", 240), None)


def test_left_behind_is_bad_since_it_was_reported() -> None:
    gone = at(at(NODE, 60, "delete", "cluster", "c"), 120, "deleted", "cluster", "c")
    assert told(gone)[0] == "gone"
    seen = gone.at("2026-01-01T00:03:00Z").event("node", "reported", "c/p/n", {"phase": "Running"})
    assert told(seen) == ("bad", 180)
    assert node(seen).facets[0].since_ns == class_since(gone.kinds, node(gone))


def renamed(phase: str, to: str, condition: str) -> Facet:
    """The facet of the lamp with another name for a phase, and where entities go that are in it with a condition."""
    facet = replace(FACET, healthy="On", accumulates_in="Broken")
    rows = tuple(
        replace(
            row,
            to=to if row.to == phase else row.to,
            source=tuple(
                replace(one, phase=to) if isinstance(one, At) and one.phase == phase else to if one == phase else one
                for one in row.source
            ),
        )
        for row in facet.rows
    )
    labels = tuple(replace(one, phase=to) if one.phase == phase else one for one in facet.labels)
    return replace(
        facet, labels=labels, rows=rows, retired=(Retired(phase, to, condition=condition),),
        healthy=to if phase == "On" else "On", accumulates_in=to if phase == "Broken" else "Broken",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("phase", "to", "condition", "state_class"), [("Broken", "Dead", "Heat", "bad"), ("On", "Lit", OK, "good")]
)
def test_a_map_of_states_renames_and_begins_nothing(phase: str, to: str, condition: str, state_class: str) -> None:
    before = testing.given(lamp(replace(FACET, healthy="On"))).state("lamp", "r/l", f"{phase} [{condition}]")
    moved = before.at("2026-01-01T00:05:00Z").change_tables(lamp(renamed(phase, to, condition)))
    entity = moved.entity("lamp", "r/l")
    assert str(entity.facets[0].state).startswith(to)
    assert class_of_entity(moved.kinds, entity) == state_class
    assert class_since(moved.kinds, entity) == class_since(before.kinds, before.entity("lamp", "r/l"))
    assert entity.facets[0].since_ns > class_since(moved.kinds, entity)


def test_a_class_of_another_table_counts_no_more() -> None:
    overdue = at(at(NODE, 60, "not_ready"), 120, "overdue")
    table = BUILT_IN_KINDS["node"].written
    labels = tuple(replace(one, state_class="excused") for one in table.facets[0].labels)
    other = replace(table, facets=(replace(table.facets[0], labels=labels), *table.facets[1:]))
    kinds = Kinds(tuple(other if one.written is table else one.written for one in BUILT_IN_KINDS.values()))
    entity = node(overdue)
    assert entity.memory is not None
    assert entity.memory.stay == Stay("bad", "2026-01-01T00:01:00.000000000Z")
    assert class_of_entity(kinds, entity) == "excused"
    assert class_since(kinds, entity) == START + 120 * SECOND
