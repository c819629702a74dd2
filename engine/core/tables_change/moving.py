"""The transitions by which a map of states moves entities once their tables have changed. Pure.

Belongs here: a change of tables, as the log tells of it; which entities move together, in which order; their records;
attributes that get a new name. Does not: counting beforehand (`stranded`), messages (`core.process`), committing them
(`worker.ownership.tables_change`).
A piece of entities moves like by one event: what its records say depends on the tree alone. So a worker that goes on
after another one makes the same records, and so does an audit.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple

from msgspec.structs import replace

from phaseline.engine.core.changeset import Changeset, Origin
from phaseline.engine.core.timers import TimerChange, restart, timeout_of, timers_after
from phaseline.engine.core.transitions import Decision, transitions
from phaseline.engine.core.tree import Tree
from phaseline.machines.compiler.checks import unfit
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.compiler.retiring.state_map import TRIGGER, facet_states
from phaseline.machines.language.fields import Field
from phaseline.machines.language.table import STALLED
from phaseline.schemas.records import CHANGE_OF_TABLES, Cause, Entity, Mark, Rejection, State
from phaseline.schemas.subjects import ancestor_id


class TablesChange(NamedTuple):
    """A change of the tables of a partition.

    position: the last event that the former tables decided. time: when the change was noted, ns. digest: of the tables
    after it. former: by kind that has changed, the version of its table before.
    """

    position: int
    time: int
    digest: str
    former: Mapping[str, str]


AT_ONCE = 200
"""The most entities whose bases move in one piece. With their timers, and what they change above, they mostly fit one
batch. It may never change: the records follow from it."""
MOVES, RENAMED, SHOWN_ANEW, STARTS = range(4)
"""What becomes of an entity, in the order in which it does: its base moves, attributes get new names, its views show
something else, or only the time starts that its request may wait."""


Reading = Callable[[Iterable[Entity]], Iterable[Entity]]
"""Gives back the entities that it is given, one by one. It may raise to end a scan of many."""


class MovingPiece(NamedTuple):
    """Entities of one tree that move together. members: kind and id of each, those above before those below."""

    members: tuple[tuple[str, str], ...]

    def event(self, change: TablesChange) -> str:
        """The `event` of the cause. The first entity makes it unique: no change moves an entity twice."""
        kind, entity_id = self.members[0]
        return f"{CHANGE_OF_TABLES}-{change.digest}-{kind}/{entity_id}"


def pieces(
    tree: Tree, change: TablesChange, roots: Container[str] | None = None, reading: Reading = iter
) -> list[MovingPiece]:
    """The entities that have to move, in the order in which they do. roots: only those of these trees.

    In each tree those whose base moves come first: nothing else can move them. Then come those of which attributes get
    new names, as views may look at these, and those of which the views show something else. They may be shown rightly
    by then, so each of them is a piece of its own. Last come those that only wait for an answer, whose time starts now.
    The pieces are the same whoever goes on.
    """
    names = list(tree.kinds)
    found: list[tuple[str, int, int, str]] = []
    for name in change.former:
        for entity in reading(tree.entities.get(name, {}).values()):
            root = ancestor_id(entity.id, 1)
            if roots is not None and root not in roots:
                continue
            changes = _changes(tree, entity, change)
            if any(to is not None for _, _, to in changes):
                found.append((root, MOVES, names.index(name), entity.id))
            elif _new_names(tree.kinds[name], entity):
                found.append((root, RENAMED, names.index(name), entity.id))
            elif changes:
                found.append((root, SHOWN_ANEW, names.index(name), entity.id))
            elif any(True for _ in _starts(tree, entity, change, 0)):
                found.append((root, STARTS, names.index(name), entity.id))
    made: list[MovingPiece] = []
    for (_, sort), group in groupby(sorted(found), key=lambda one: one[:2]):
        members = [(names[number], entity_id) for _, _, number, entity_id in group]
        size = 1 if sort == SHOWN_ANEW else AT_ONCE
        made += (MovingPiece(tuple(members[start : start + size])) for start in range(0, len(members), size))
    return made


def move(tree: Tree, change: TablesChange, piece: MovingPiece, source: str) -> Decision:
    """The records of a piece, and the timers that they change. source: that of the cause, the installation."""
    changeset = Changeset(tree, TRIGGER, change.position, change.time)
    for name, entity_id in piece.members:
        entity = tree.entities[name][entity_id]
        for index, said, to in _changes(tree, entity, change):
            origin = Origin(TRIGGER, "tables", None, {"message": said})
            if to is None:
                changeset.dirty[name, entity_id] = origin
            else:
                changeset.relocate(name, entity_id, index, to, origin)
        if names := _new_names(tree.kinds[name], entity):
            renamed = ", ".join(f"{old} is called {new}" for old, new in names.items())
            said = f"{_versions(tree.kinds[name], change)}: {renamed}"
            origin = Origin(TRIGGER, "tables", None, {"message": said})
            _rename(changeset, tree.kinds[name], entity, names, origin)
    changeset.settle()
    cause = Cause(change.position, piece.event(change), source, CHANGE_OF_TABLES)
    decision = transitions(changeset, cause)
    records, timers = decision.records, [*decision.timers]
    done = {(one.entity.kind, one.entity.id) for one in records if not isinstance(one, Rejection)}
    for name, entity_id in piece.members:
        if (name, entity_id) not in done:
            entity = tree.entities[name][entity_id]
            if started := [*_starts(tree, entity, change, len(records))]:
                timers += started
                records.append(Mark(_with_timers(entity, started), cause, change.time))
    return Decision(records, timers)


def _starts(tree: Tree, entity: Entity, change: TablesChange, record: int) -> Iterator[TimerChange]:
    """The timers of pending phases of an entity that do not run since the change. record: the index of its record."""
    kind = tree.kinds[entity.kind]
    if not kind.timed or entity.names != kind.names:
        return
    for index, facet in enumerate(entity.facets):
        timeout = timeout_of(kind, index, facet)
        if timeout is None or not timeout.deadline or STALLED in facet.base.conditions:
            continue
        timer = restart(tree, kind, entity.id, index, facet, entity.attributes, change.time, record, fired=False)
        if entity.timers_ns.get(timer.facet) != timer.due:
            yield timer


def _with_timers(entity: Entity, changes: Iterable[TimerChange]) -> Entity:
    timers = entity.timers_ns
    for each in changes:
        timers = timers_after(timers, each)
    return replace(entity, timers_ns=timers)


def _versions(kind: Kind, change: TablesChange) -> str:
    return f"the table changed from version {change.former[kind.name]} to {kind.version}"


def _changes(tree: Tree, entity: Entity, change: TablesChange) -> list[tuple[int, str, State | None]]:
    """The facets of an entity that change: its index, the message of its record, its base; None for one that stays."""
    kind, found = tree.kinds[entity.kind], list[tuple[int, str, State | None]]()
    if entity.names != kind.names:
        return found
    versions = _versions(kind, change)
    for index, (facet, states) in enumerate(zip(entity.facets, facet_states(kind), strict=True)):
        if not states.has(facet.base):
            to = states.target(facet.base)
            if to is not None:
                found.append((index, f"{versions}: {facet.base} is retired, its entities are {to}", to))
        elif kind.machines[index].shown(facet.base, tree, entity.id) != facet.state:
            found.append((index, f"{versions}, whose views do not show {facet.state} here", None))
    return found


def _new_names(kind: Kind, entity: Entity) -> Mapping[str, str]:
    """By earlier name, what attributes of an entity are called now. A value that does not fit stays where it is."""
    earlier, held = kind.table.earlier_names, entity.attributes
    return {name: field.name for name, field in earlier.items() if name in held and _fits(field, held[name])}


def _rename(changeset: Changeset, kind: Kind, entity: Entity, names: Mapping[str, str], origin: Origin) -> None:
    """Give attributes their new names, and compute the views again that look at them.

    What an entity has under the new name already comes before what it has under an earlier one.
    """
    change = changeset.change(kind.name, entity.id)
    moved = {names[name]: value for name, value in entity.attributes.items() if name in names}
    change.attributes = {**moved, **{name: value for name, value in entity.attributes.items() if name not in names}}
    change.origins.setdefault(0, origin)
    changeset.dirty.setdefault((kind.name, entity.id), origin)
    for name, below in kind.inherited:
        for one in changeset.descendants(kind.name, entity.id, below) if name in moved else ():
            changeset.dirty.setdefault((below, one), Origin(origin.trigger, "view", f"{kind.name}/{entity.id}"))


def _fits(field: Field, value: Any) -> bool:
    """Whether an attribute may have a value."""
    if field.many:
        return isinstance(value, list | tuple) and all(unfit(field, one) is None for one in value)
    return unfit(field, value) is None
