"""Laws of a change of tables with a map of states, after random histories by the former tables.

Belongs here: the laws. Does not: examples of single moves (`tests/pure/test_state_map.py`).
"""

from collections.abc import Callable

import pytest

from phaseline.engine.core.process import Processor
from phaseline.engine.core.tables_change import moving, stranded
from phaseline.engine.core.tables_change.moving import TablesChange
from phaseline.engine.core.tree import Tree, restore
from phaseline.engine.surfaces.testing.laws import same
from phaseline.engine.surfaces.testing.recompute import Recomputed
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.scripts import NoScripts
from phaseline.schemas.records import SECOND as ONE_SECOND
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.changed_jobs import FIRST, SECOND, THIRD
from tests.support.retired_states import every_state_is_one_of_the_tables
from tests.support.strategies import SUBJECTS, History, histories, hold, law_by_law


def loaded(history: History, kinds: Kinds) -> Tree:
    """The tree of a history, as a worker with other tables loads it."""
    tree = Tree(kinds, NoScripts())
    for entities in history.tree.entities.values():
        for entity in entities.values():
            tree.put(entity)
    return tree


def change(history: History, kinds: Kinds) -> TablesChange:
    position = len(history.steps)
    return TablesChange(position, (position + 1) * ONE_SECOND, kinds.digest, FIRST.versions)


def moved(tree: Tree, told: TablesChange, most: int | None = None) -> list[bytes]:
    """Move the entities of a tree; the records in the bytes of the log. most: only so many pieces."""
    pieces = moving.pieces(tree, told)[:most]
    batches = Processor(tree, SUBJECTS, 0).move(told, pieces)
    return [message.body for batch in batches for message in batch.messages if ".log." in message.subject]


def every_entity_is_in_a_state_of_the_table(history: History) -> None:
    for kinds in (SECOND, THIRD):
        tree = loaded(history, kinds)
        moved(tree, change(history, kinds))
        same("stranded", dict(stranded.in_tree(tree, kinds)), {})
        for kind, entities in tree.entities.items():
            again = Recomputed(tree).states
            for entity_id, entity in entities.items():
                same(f"{kind} {entity_id}", [one.state for one in entity.facets], again[kind, entity_id])
        same("moved again", moved(tree, change(history, kinds)), [])


def the_bytes_lead_to_the_same_tree(history: History) -> None:
    tree, again = loaded(history, SECOND), loaded(history, SECOND)
    for body in moved(tree, change(history, SECOND)):
        restore(again, body)
    same("entities", again.entities, tree.entities)
    same("tallies", again.tallies, tree.tallies)


def workers_that_go_on_make_the_same_bytes(history: History) -> None:
    told = change(history, SECOND)
    whole = moved(loaded(history, SECOND), told)
    tree = loaded(history, SECOND)
    bodies = []
    while piece := moved(tree, told, 1):
        bodies += piece
    same("bytes", bodies, whole)


def a_change_keeps_what_it_does_not_name(history: History) -> None:
    """Who is in a state of the table moves only by its views."""
    tree, before = loaded(history, SECOND), loaded(history, SECOND)
    moved(tree, change(history, SECOND))
    for entity_id, entity in before.entities["job"].items():
        if not [*stranded.stranded_groups(SECOND, entity)]:
            same(f"job {entity_id}", tree.entities["job"][entity_id], entity)


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moving, "AT_ONCE", 2)


@law_by_law(
    every_entity_is_in_a_state_of_the_table, the_bytes_lead_to_the_same_tree, workers_that_go_on_make_the_same_bytes,
    a_change_keeps_what_it_does_not_name,
)  # fmt: skip
def test_law(law: Callable[[History], None], effort: str) -> None:
    hold(law, histories(FIRST), effort)


def test_nobody_moves_without_a_change() -> None:
    hold(every_state_is_one_of_the_tables, histories(BUILT_IN_KINDS), "dear")
