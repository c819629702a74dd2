"""The transitions by which a map of states moves entities once their tables have changed. Pure.

Belongs here: which entities move together, in which order; their records. Does not: counting beforehand (`stranded`),
messages (`core.process`), committing them (`engine.ownership.tables_change`).
A piece of entities moves like by one event: what its records say depends on the tree alone. So a worker that goes on
after another one makes the same records, and so does an audit.
"""

from collections.abc import Callable, Container, Iterable
from itertools import groupby
from typing import NamedTuple

from phaseline.engine.core.changeset import Changeset, Origin
from phaseline.engine.core.tables_change.change import WORD, TablesChange
from phaseline.engine.core.transitions import Decision, transitions
from phaseline.engine.core.tree import Tree
from phaseline.machines.compiler.retiring.state_map import TRIGGER, facet_states
from phaseline.schemas.records import Cause, Entity, State
from phaseline.schemas.subjects import ancestor_id

AT_ONCE = 200
"""The most entities whose bases move in one piece. With their timers, and what they change above, they mostly fit one
batch. It may never change: the records follow from it."""


Reading = Callable[[Iterable[Entity]], Iterable[Entity]]
"""Gives back the entities that it is given, one by one. It may raise to end a scan of many."""


class MovingPiece(NamedTuple):
    """Entities of one tree that move together. members: kind and id of each, those above before those below."""

    members: tuple[tuple[str, str], ...]

    def event(self, change: TablesChange) -> str:
        """The `event` of the cause. The first entity makes it unique: no change moves an entity twice."""
        kind, entity_id = self.members[0]
        return f"{WORD}-{change.digest}-{kind}/{entity_id}"


def pieces(
    tree: Tree, change: TablesChange, roots: Container[str] | None = None, reading: Reading = iter
) -> list[MovingPiece]:
    """The entities that have to move, in the order in which they do. roots: only those of these trees.

    In each tree those whose base moves come first: nothing else can move them. Then come those of which the views show
    something else. They may be shown rightly by then, so each of them is a piece of its own. The pieces are the same
    whoever goes on.
    """
    names = list(tree.kinds)
    found: list[tuple[str, bool, int, str]] = []
    for name in change.former:
        for entity in reading(tree.entities.get(name, {}).values()):
            root = ancestor_id(entity.id, 1)
            changes = _changes(tree, entity, change) if roots is None or root in roots else []
            if changes:
                is_shown = all(to is None for _, _, to in changes)
                found.append((root, is_shown, names.index(name), entity.id))
    made: list[MovingPiece] = []
    for (_, is_shown), group in groupby(sorted(found), key=lambda one: one[:2]):
        members = [(names[number], entity_id) for _, _, number, entity_id in group]
        size = 1 if is_shown else AT_ONCE
        made += (MovingPiece(tuple(members[start : start + size])) for start in range(0, len(members), size))
    return made


def move(tree: Tree, change: TablesChange, piece: MovingPiece, source: str) -> Decision:
    """The records of a piece, and the timers that they change. source: that of the cause, the installation."""
    changeset = Changeset(tree, TRIGGER, change.position, change.time)
    for name, entity_id in piece.members:
        for index, said, to in _changes(tree, tree.entities[name][entity_id], change):
            origin = Origin(TRIGGER, "tables", None, {"message": said})
            if to is None:
                changeset.dirty[name, entity_id] = origin
            else:
                changeset.relocate(name, entity_id, index, to, origin)
    changeset.settle()
    cause = Cause(change.position, piece.event(change), source, "tables")
    return transitions(changeset, cause)


def _changes(tree: Tree, entity: Entity, change: TablesChange) -> list[tuple[int, str, State | None]]:
    """The facets of an entity that change: its index, the message of its record, its base; None for one that stays."""
    kind, found = tree.kinds[entity.kind], list[tuple[int, str, State | None]]()
    if entity.names != kind.names:
        return found
    versions = f"the table changed from version {change.former[kind.name]} to {kind.version}"
    for index, (facet, states) in enumerate(zip(entity.facets, facet_states(kind), strict=True)):
        if not states.has(facet.base):
            to = states.target(facet.base)
            if to is not None:
                found.append((index, f"{versions}: {facet.base} is retired, its entities are {to}", to))
        elif kind.machines[index].shown(facet.base, tree, entity.id) != facet.state:
            found.append((index, f"{versions}, whose views do not show {facet.state} here", None))
    return found
