"""What a worker notes of the entities of a partition, so that a question looks only at those that may be meant. Pure.

Entities whose states are alike have one shape, and a shape decides all but dwell and attributes. So a question is put
to each shape once. Nothing is noted when an event is decided: entities never change, they are replaced, so what has
changed since the last question is found by comparing which objects the tree holds, 20 ns for each.
Belongs here: the index, candidates, counts by class and tree. Does not: what is selected (`selection`), answers
(`answering`).
"""

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import compress, count, islice, takewhile
from operator import is_not
from typing import NamedTuple

from phaseline.engine.core.tree import Tree
from phaseline.engine.log.questions.selection import Selection
from phaseline.machines.compiler.classes.entity_classes import class_of_entity, follows_first, since_of
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.endings import END, SHOWS
from phaseline.machines.language.table import CLASSES, StateClass
from phaseline.schemas.records import SIGNALS, Entity
from phaseline.schemas.subjects import natural

STEP = 1_000
"""Entities that are noted, and `COMPARED` that are compared, before somebody else has a turn."""
COMPARED = 20_000
ROW, LIVE = len(CLASSES), CLASSES.index("gone")
"""How many classes there are, and how many of what lives, which come first."""
Shape = tuple[object, ...]


class EntityShape(NamedTuple):
    """A shape: an entity that has it, which stands for all of them, and their class, with its number.

    by_first: whether their first facet says since when they are in it.
    """

    entity: Entity
    state_class: StateClass
    number: int
    by_first: bool


class KindNotes:
    """The entities of one kind as they were when they were noted, in the order of the tree, with shape and dwell."""

    __slots__ = ("entities", "shapes", "since")

    def __init__(self) -> None:
        self.entities: list[Entity] = []
        self.shapes = array("I")
        self.since = array("q")


class TreeRow(NamedTuple):
    """A tree, and how many entities that live are in which class."""

    root: str
    classes: Mapping[str, int]


class TreeIndex:
    """The index of one partition. Empty at first; `prepare` and `catch_up` bring it up to date."""

    def __init__(self, kinds: Kinds) -> None:
        self._kinds = kinds
        self._notes: dict[str, KindNotes] = {}
        self._numbers: dict[Shape, int] = {}
        self.shapes: list[EntityShape] = []
        self._roots: dict[str, int] = {}
        self._rows = array("L")
        """For each root, how many entities of its tree are in which class."""

    def __len__(self) -> int:
        """How many entities are noted."""
        return sum(len(notes.entities) for notes in self._notes.values())

    def prepare(self, tree: Tree) -> Iterator[None]:
        """Note what is new, a step at a time. The tree may change meanwhile; `catch_up` then finds little to do."""
        for kind, known in tree.entities.items():
            notes, found = self._of(kind), list(known.values())
            for start in range(0, len(notes.entities), COMPARED):
                changed = self._changed(notes, found[start : start + COMPARED], start)
                while some := [*islice(changed, STEP)]:
                    for at in some:
                        self._replace(notes, at, found[at])
                    yield
                yield
            for start in range(len(notes.entities), len(found), STEP):
                for entity in found[start : start + STEP]:
                    self._add(notes, entity)
                yield

    def catch_up(self, tree: Tree) -> None:
        """Note all that is new, at once."""
        for kind, known in tree.entities.items():
            notes, found = self._of(kind), list(known.values())
            for at in self._changed(notes, found, 0):
                self._replace(notes, at, found[at])
            for entity in islice(found, len(notes.entities), None):
                self._add(notes, entity)

    def _of(self, kind: str) -> KindNotes:
        notes = self._notes.get(kind)
        if notes is None:
            notes = self._notes[kind] = KindNotes()
        return notes

    @staticmethod
    def _changed(notes: KindNotes, found: Sequence[Entity], start: int) -> Iterator[int]:
        """Where the tree holds another object than the notes. found: what it holds from `start` on."""
        noted = notes.entities[start : start + len(found)]
        return compress(count(start), [*map(is_not, noted, found)])

    def _add(self, notes: KindNotes, entity: Entity) -> None:
        shape = self._number(entity)
        notes.entities.append(entity)
        notes.shapes.append(shape)
        notes.since.append(self._since(entity, shape))
        self._count(entity, shape, 1)

    def _replace(self, notes: KindNotes, at: int, entity: Entity) -> None:
        old, shape = notes.shapes[at], self._number(entity)
        notes.entities[at], notes.shapes[at] = entity, shape
        notes.since[at] = self._since(entity, shape)
        if self.shapes[old].state_class != self.shapes[shape].state_class:
            self._count(entity, old, -1)
            self._count(entity, shape, 1)

    def _number(self, entity: Entity) -> int:
        shape = shape_of(entity)
        number = self._numbers.get(shape)
        if number is None:
            number = self._numbers[shape] = len(self.shapes)
            kind, found = self._kinds[entity.kind], class_of_entity(self._kinds, entity)
            by_first = follows_first(kind, kind.whole(entity).facets)
            self.shapes.append(EntityShape(entity, found, CLASSES.index(found), by_first))
        return number

    def _since(self, entity: Entity, shape: int) -> int:
        shaped = self.shapes[shape]
        if shaped.by_first and entity.memory is None:
            return entity.facets[0].since_ns
        kind = self._kinds[entity.kind]
        return since_of(kind, kind.whole(entity), shaped.state_class)

    def _count(self, entity: Entity, shape: int, by: int) -> None:
        root = entity.id.partition("/")[0]
        row = self._roots.get(root)
        if row is None:
            row = self._roots[root] = len(self._roots)
            self._rows.extend([0] * ROW)
        self._rows[row * ROW + self.shapes[shape].number] += by

    # ---- what a question needs

    def size(self, kind: str) -> int:
        """How many entities of a kind are noted."""
        return len(self._notes[kind].entities)

    def before(self, kind: str) -> int:
        """How many entities are noted of the kinds that stand before a kind."""
        return sum(map(self.size, takewhile(lambda name: name != kind, self._notes)))

    def kinds_from(self, wanted: Selection, after: str | None) -> list[str]:
        """The kinds that a selection looks at, from the one on where a former page ended."""
        named = [kind for kind in self._notes if wanted.kind in (None, kind)]
        return named[named.index(after) :] if after in named else named

    def candidates(self, kind: str, wanted: Selection, now_ns: int, start: int) -> tuple[list[Entity], Sequence[int]]:
        """The entities of a kind from `start` on that may be selected, and their numbers. The order is the tree's."""
        notes = self._notes[kind]
        fitting = {
            number
            for number, one in enumerate(self.shapes)
            if one.entity.kind == kind and wanted.by_state(self._kinds, one.entity)
        }
        if not fitting or not notes.entities:
            return [], array("L")
        chosen = map(fitting.__contains__, islice(notes.shapes, start, None))
        numbers = array("L", compress(count(start), chosen))
        if lasting := wanted.of_class.lasting_ns:
            since, latest = notes.since, now_ns - lasting
            numbers = array("L", (at for at in numbers if since[at] <= latest))
        return [notes.entities[at] for at in numbers], numbers

    def classes(self) -> Counter[str]:
        """How many entities that live are in which class."""
        return _named([sum(self._rows[at::ROW]) for at in range(LIVE)])

    def lately(self, begun_ns: int) -> Counter[str]:
        """How many entities came to their class at this time or later, by class, what is gone included."""
        found = Counter[int]()
        for notes in self._notes.values():
            found.update(compress(notes.shapes, map(begun_ns.__le__, notes.since)))
        return self._by_class(found)

    def lately_in(self, root: str, begun_ns: int) -> Counter[str]:
        """The same of one tree."""
        found, wanted = Counter[int](), Selection(below=root)
        for notes in self._notes.values():
            late = compress(zip(notes.entities, notes.shapes, strict=True), map(begun_ns.__le__, notes.since))
            found.update(shape for entity, shape in late if wanted.is_at_or_below(entity.id))
        return self._by_class(found)

    def _by_class(self, found: Counter[int]) -> Counter[str]:
        classes = Counter[str]()
        for shape, number in found.items():
            classes[self.shapes[shape].state_class] += number
        return classes

    def tree(self, root: str) -> TreeRow | None:
        """How many entities of a tree that live are in which class; None if none does."""
        at = self._roots.get(root)
        found = Counter[str]() if at is None else _named(self._rows[at * ROW : at * ROW + LIVE])
        return TreeRow(root, found) if found else None

    def trees(self, most: int) -> tuple[list[TreeRow], int]:
        """The worst trees in which something lives, at most so many, and how many there are."""
        rows = ((root, self._rows[at * ROW : at * ROW + LIVE]) for root, at in self._roots.items())
        living = [one for one in rows if any(one[1])]
        worst = sorted(living, key=lambda one: tree_order(*one))[:most]
        return [TreeRow(root, _named(row)) for root, row in worst], len(living)


def _named(row: Sequence[int]) -> Counter[str]:
    return Counter({name: number for name, number in zip(CLASSES[:LIVE], row, strict=True) if number})


def tree_order(root: str, worst: Sequence[int]) -> tuple[object, ...]:
    """The key that sorts trees, the worst first. worst: how many entities are in which class, the worst first."""
    return (*(-number for number in worst[:3]), natural(root))


def shape_of(entity: Entity) -> Shape:
    """What entities have in common that `Selection.by_state` does not tell apart."""
    facets, attributes = entity.facets, entity.attributes
    states = tuple([facet.state for facet in facets])
    begun = () if len(facets) == 1 else tuple([facet.since_ns > 0 for facet in facets])
    shape: Shape = (entity.kind, entity.names, states, begun)
    if not attributes:
        return shape
    signals = attributes.get(SIGNALS)
    if signals is None and END not in attributes and SHOWS not in attributes:
        return shape
    return (*shape, attributes.get(END), SHOWS in attributes, None if signals is None else tuple(signals))
