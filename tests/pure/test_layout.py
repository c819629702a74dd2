"""The diagrams of facets: everything is drawn once, inside the drawing, and nothing covers anything.

Belongs here: what holds for the layout of each built-in facet. Does not: how a page shows it.
"""

import re
from itertools import combinations

import pytest

from phaseline.machines.built_in import installed
from phaseline.machines.compiler.conditions import phases_of
from phaseline.machines.compiler.machine import FacetMachine
from phaseline.machines.docs.layout import diagram

MACHINES = {f"{kind.name} {one.facet.name}": one for kind in installed().values() for one in kind.machines}
WIDEST = 1400


@pytest.fixture(params=MACHINES)
def machine(request: pytest.FixtureRequest) -> FacetMachine:
    return MACHINES[request.param]


def test_each_phase_has_a_box_that_covers_no_other(machine: FacetMachine) -> None:
    found = diagram(machine)
    wide, high = found["box"]
    boxes = found["boxes"]
    assert sorted(box["phase"] for box in boxes) == sorted(phases_of(machine.facet))
    assert found["width"] < WIDEST
    for box in boxes:
        assert 0 <= box["x"] <= found["width"] - wide
        assert 0 <= box["y"] <= found["height"] - high
    for one, other in combinations(boxes, 2):
        assert abs(one["x"] - other["x"]) >= wide or abs(one["y"] - other["y"]) >= high


def test_each_arrow_leads_from_its_box_to_its_box(machine: FacetMachine) -> None:
    found = diagram(machine)
    wide, high = found["box"]
    boxes = {box["phase"]: box for box in found["boxes"]}
    for arrow in found["arrows"]:
        numbers = [float(one) for one in re.findall(r"-?\d+(?:\.\d+)?", arrow["path"])]
        straight = re.search(r"H(-?[\d.]+)$", arrow["path"]) is not None
        ends = [(arrow["from"], numbers[0], numbers[1])]
        if not straight:
            ends.append((arrow["to"], numbers[-2], numbers[-1]))
        for phase, x, y in ends:
            box = boxes[phase]
            assert x in (box["x"], box["x"] + wide), arrow
            assert box["y"] <= y <= box["y"] + high, arrow
        assert 0 <= arrow["at"][0] <= found["width"]
        assert all(0 <= one <= max(found["width"], found["height"]) for one in numbers)


def test_arrows_and_phases_that_are_reached_from_anywhere_have_all_triggers(machine: FacetMachine) -> None:
    found = diagram(machine)
    shown = {trigger for arrow in found["arrows"] for trigger in arrow["triggers"]}
    shown |= {trigger for box in found["boxes"] for trigger in box["anywhere"]}
    moving = {row.trigger for row in machine.facet.rows if row.to not in ("=", "*")}
    assert {one for one in moving if one not in shown} == {
        row.trigger for row in machine.facet.rows
        if row.trigger not in shown and row.to not in ("=", "*")
        and all(source == row.to for source in row.source)
    }  # fmt: skip


def test_a_life_runs_from_left_to_right() -> None:
    boxes = {box["phase"]: box["x"] for box in diagram(MACHINES["node phase"])["boxes"]}
    assert boxes["Absent"] < boxes["Creating"] < boxes["Running"] < boxes["Updating"] < boxes["Deleted"]
    assert max(boxes.values()) == boxes["Deleted"]
