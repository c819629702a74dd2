"""Selecting entities by class and by how long they are in it (engine/log/questions/selection.py)."""

import pytest
from msgspec.structs import replace

from phaseline.engine.log.questions.selection import ClassChoice
from phaseline.engine.surfaces.client.selection import in_order
from phaseline.schemas.errors import InvalidInput, NameUnknown
from phaseline.schemas.records import SECOND, Cause, Entity, FacetState, Memory, State, Stay, Transition, timestamp
from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS


def node(entity_id: str, found: State, since: int, memory: Memory | None = None) -> Transition:
    facet = FacetState(found, found, since * SECOND)
    entity = Entity("node", entity_id, 1, ("phase",), (facet,), {}, {}, memory=memory)
    return Transition("phase", None, found, "adopt", None, None, Cause(1, "e", "/x", "event"), entity, since * SECOND)


FAILED, WELL = State("Failed", ("NotReady",)), State("Running", ("Ok",))
LONG = node("c/p/1", FAILED, 500, Memory(stay=Stay("bad", timestamp(100 * SECOND))))
SHORT, GOOD = node("c/p/2", FAILED, 400), node("c/p/3", WELL, 1)


def test_the_time_is_that_of_the_class() -> None:
    found = ClassChoice.read("bad", 300).among(KINDS, [GOOD, SHORT, LONG], 600 * SECOND)
    assert found == [LONG]
    assert ClassChoice.read("bad").among(KINDS, [GOOD, SHORT, LONG], 600 * SECOND) == [SHORT, LONG]
    assert ClassChoice.read((), 500).among(KINDS, [GOOD, SHORT, LONG], 600 * SECOND) == [GOOD, LONG]


def test_nothing_asked_selects_all_and_a_class_reads_what_is_left_behind() -> None:
    assert ClassChoice.read().selects_all
    assert not ClassChoice.read(lasting=1).selects_all
    assert [ClassChoice.read(one).with_ended(deleted=False) for one in ((), ("bad",))] == [False, True]


def test_sorted_by_bad_since_the_longest_comes_first_and_what_is_well_last() -> None:
    assert in_order(KINDS, [GOOD, SHORT, LONG], "bad-since", None) == [LONG, SHORT, GOOD]
    assert in_order(KINDS, [GOOD, LONG], "class", None) == [LONG, GOOD]


@pytest.mark.parametrize(("classes", "lasting", "error"), [
    ("bda", 0, NameUnknown), ("bad", -1, InvalidInput), ("bad", float("nan"), InvalidInput),
])  # fmt: skip
def test_what_cannot_be_is_refused(classes: str, lasting: float, error: type[Exception]) -> None:
    with pytest.raises(error):
        ClassChoice.read(classes, lasting)


def test_a_kind_that_is_not_here_is_unknown() -> None:
    stranger = replace(GOOD, entity=replace(GOOD.entity, kind="ship"))
    assert ClassChoice.read("unknown").among(KINDS, [stranger], 2 * SECOND) == [stranger]
