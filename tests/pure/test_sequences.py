"""An entity remembers a limited number of sources, so that its records stay small enough to commit."""

from phaseline.engine.core.decide import decide
from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.sources.numbers import MAX_SOURCES
from phaseline.engine.core.tree import Tree, evolve
from phaseline.machines.language.scripts import NoScripts
from phaseline.schemas.records import Cause, Mark, Transition
from tests.support.built_in_kinds import BUILT_IN_KINDS


def arrival(number: int, source: str, sequence: int, trigger: str) -> Arrival:
    return Arrival("cluster", trigger, "c1", {}, Cause(number, str(number), source, "event"), sequence, number)


def test_the_source_that_was_silent_longest_is_forgotten() -> None:
    tree = Tree(BUILT_IN_KINDS, NoScripts())
    events = [arrival(1, "/first", 1, "create"), arrival(2, "/agent", 1, "created")]
    events += [arrival(number + 3, f"/s{number}", 9, "created") for number in range(MAX_SOURCES)]
    for event in events:
        (record,) = decide(tree, event).records
        assert isinstance(record, Transition | Mark)
        evolve(tree, record)
    entity = tree.get("cluster", "c1")
    assert entity is not None
    assert list(entity.sequences) == [f"/s{number}" for number in range(MAX_SOURCES)]
    assert decide(tree, arrival(99, "/s0", 9, "error")).records == []
    (record,) = decide(tree, arrival(100, "/s5", 10, "created")).records
    assert isinstance(record, Transition | Mark)
    assert set(record.entity.sequences) == set(entity.sequences)
    assert list(record.entity.sequences)[-1] == "/s5"
