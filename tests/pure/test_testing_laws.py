"""Each law of the test kit finds the error in a history that was changed, and names it.

Belongs here: laws that fail, one by one. Does not: laws that hold (`test_laws`), the search (`test_testing_search`).
"""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from phaseline.engine.core.sources import repeats
from phaseline.engine.core.tree import Tree
from phaseline.engine.surfaces.testing import laws
from phaseline.engine.surfaces.testing.histories import History, event
from phaseline.schemas.records import Mark, Rejection, State, Transition
from tests.support import edge_worlds

Change = Callable[[History], None]


def sample() -> History:
    """A history with records of every sort."""
    history = History(edge_worlds.KINDS)
    for number, (kind, trigger, entity_id) in enumerate((
        ("cluster", "create", "c1"), ("cluster", "created", "c1"), ("node_pool", "create", "c1/p"), ("cluster", "create", "c1"),
        ("node_pool", "created", "c1/p"), ("node_pool", "created", "c1/p"), ("cluster", "create", "c2"), ("cluster", "created", "c2"),
        ("node_pool", "create", "c2/p"), ("cluster", "overdue", "c1"),
    )):  # fmt: skip
        history.take(event(kind, trigger, entity_id, source="/a", id=f"e{number}", sequence=number + 1))
    return history


def edited(step: int, place: int = 0, **changes: Any) -> Change:
    """Another record in the place of one."""

    def change_record(history: History) -> None:
        records = history.steps[step].records
        records[place] = replace(records[place], **changes)

    return change_record


def entity_edited(step: int, place: int = 0, **changes: Any) -> Change:
    """Another entity in one record."""

    def change_record(history: History) -> None:
        records = history.steps[step].records
        record = records[place]
        assert isinstance(record, Transition | Mark)
        records[place] = replace(record, entity=replace(record.entity, **changes))

    return change_record


def caused(step: int, place: int, **changes: Any) -> Change:
    """Another cause of one record."""

    def change_record(history: History) -> None:
        records = history.steps[step].records
        records[place] = replace(records[place], cause=replace(records[place].cause, **changes))

    return change_record


def twice(history: History) -> None:
    history.steps[0].records.append(history.steps[0].records[0])


def unmoved(history: History) -> None:
    record = history.steps[1].records[0]
    before = history.steps[0].records[0]
    assert isinstance(record, Transition)
    assert isinstance(before, Transition)
    facets = before.entity.facets
    was = before.entity
    entity = replace(record.entity, facets=facets, asked=was.asked, timers_ns=was.timers_ns, memory=was.memory)
    history.steps[1].records[0] = replace(record, before=facets[0].state, after=facets[0].state, entity=entity)


def orphaned(history: History) -> None:
    """A mark of an entity that nothing made."""
    [marked] = history.steps[5].records
    assert isinstance(marked, Mark)
    history.steps[0].records.insert(0, replace(marked, entity=replace(marked.entity, id="c9/p")))


def in_the_tree(change: Callable[[Tree], object]) -> Change:
    def change_record(history: History) -> None:
        change(history.tree)

    return change_record


def untallied(tree: Tree) -> None:
    del tree.tallies["cluster", "node_pool", 0, None, "Stalled", None]["c2"]


def one_too_many(tree: Tree) -> None:
    tree.below["node_pool"]["c1"].append("c1/q")


def forgotten(tree: Tree) -> None:
    tree.put(replace(tree.entities["cluster"]["c2"], sequences={}))


def another_attribute(tree: Tree) -> None:
    tree.put(replace(tree.entities["cluster"]["c1"], attributes={"a": 1}))


def unheard(history: History) -> None:
    history.steps.pop()


VERSIONS = laws.versions_have_no_gaps_and_records_follow_each_other
CAUSES = laws.each_facet_has_one_record_per_event_with_its_cause
REPLAY = laws.replay_equals_live
BROKEN: list[tuple[Callable[[History], None], Change, str]] = [
    (REPLAY, unheard, "entities after a replay, cluster, c1: expected Entity("),
    (REPLAY, in_the_tree(untallied),
     "tallies after a replay, cluster node_pool 0 None Stalled None, c2: expected None, found {'Creating': 1}"),
    (REPLAY, in_the_tree(one_too_many), "children after a replay, node_pool, c1: expected ['c1/p', 'c1/q']"),
    (laws.the_same_events_make_the_same_bytes, edited(3, reason="guard"), "event 4 decided again, 0, data, reason: expected guard, found illegal"),
    (VERSIONS, entity_edited(1, version=3), "cluster c1 phase, version 3: version: expected 2, found 3"),
    (VERSIONS, edited(1, before=State("Running", ("Ok",))), "cluster c1 phase, version 2: `from`: expected Creating"),
    (VERSIONS, edited(1, after=State("Failed")), "cluster c1 phase, version 2: `to` and the state of the entity: expected Running [Ok], found Failed"),
    (VERSIONS, edited(1, time_ns=5), "cluster c1 phase, version 2: since: expected 5, found 2000000123"),
    (VERSIONS, edited(0, before=State("Running")), "cluster c1 phase, version 1: `from` of the first record: expected None, found Running"),
    (VERSIONS, unmoved, "cluster c1 phase, version 2: it has a record although nothing changed"),
    (VERSIONS, entity_edited(5, version=9), "node_pool c1/p after a mark, version: expected 2, found 9"),
    (VERSIONS, orphaned, "node_pool c9/p: a mark without a transition before it"),
    (CAUSES, twice, "event 1: facets with more than one transition: expected [], found [('cluster', 'c1', 'phase')]"),
    (CAUSES, caused(2, 1, sequence=2), "event 3: the cause of its records: expected 3, found 2"),
    (CAUSES, caused(2, 1, by="event"), "cluster c1, create by event: its entity and trigger: expected ('node_pool', 'c1/p', 'create', None)"),
    (CAUSES, caused(2, 1, origin="node_pool/c9/p"), "cluster c1, create by tally: its cause node_pool/c9/p is unknown"),
    (CAUSES, caused(2, 1, by="cascade"), "cluster c1, create by cascade: nothing fires create there"),
    (CAUSES, edited(2, 1, trigger="update"), "cluster c1, update by tally: nothing fires update there"),
    (CAUSES, edited(2, 1, reason="R"), "cluster c1, create by tally: reason and message of the event"),
    (laws.an_event_with_a_sequence_does_nothing_the_second_time, in_the_tree(forgotten),
     '`cluster created c2 #8 from /a: 1 record` sent again at the end: expected [], found ["cluster c2: only the sequence'),
    (laws.trees_do_not_influence_each_other, in_the_tree(another_attribute),
     "the tree of c1 by itself, cluster c1: expected"),
]  # fmt: skip


@pytest.mark.parametrize(("law", "meddle", "says"), BROKEN)
def test_a_law_says_what_breaks_it(law: Callable[[History], None], meddle: Change, says: str) -> None:
    history = sample()
    law(history)
    meddle(history)
    with pytest.raises(AssertionError) as caught:
        law(history)
    assert str(caught.value).startswith(says)


def test_a_core_that_changes_the_tree_as_it_decides_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    right = repeats.answer

    def meddling(*given: Any) -> Any:
        trees.tallies["cluster", "node_pool", 0, None, "Stalled", None].setdefault("c1", {})["Scaling"] = 1
        return right(*given)

    history = sample()
    trees = history.tree
    monkeypatch.setattr(History, "__post_init__", lambda self: setattr(self, "tree", trees))
    monkeypatch.setattr(repeats, "answer", meddling)
    with pytest.raises(
        AssertionError,
        match="the tree after event 1 was decided and not taken, tallies, cluster node_pool 0 None Stalled None, c1, Scaling",
    ):
        laws.deciding_changes_nothing(history)


def test_the_history_has_all_sorts_of_records() -> None:
    assert {type(record) for step in sample().steps for record in step.records} == {Transition, Rejection, Mark}
