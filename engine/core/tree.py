"""The entities of a partition as records left them, with the tallies and indexes that follow from them.

Belongs here: holding state, `evolve` and `restore`. Does not: deciding anything (`decide`), I/O.
"""

from collections.abc import Iterator, Mapping

from phaseline.engine.errors import KindMissing
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.scripts import ScriptRunner
from phaseline.machines.language.table import ABSENT
from phaseline.schemas import wire_codec
from phaseline.schemas.records import Entity, Record, Rejection
from phaseline.schemas.subjects import ancestor_id

NOTHING: Mapping[str, int] = {}


class Tree:
    """All entities of some trees. `tallies[of, kind, facet, has][id][phase]` counts what is below `of/id`."""

    __slots__ = ("below", "entities", "kinds", "scripts", "tallies")

    def __init__(self, kinds: Kinds, scripts: ScriptRunner) -> None:
        """Start empty. `scripts` runs the scripts that rules ask for."""
        self.kinds = kinds
        self.scripts = scripts
        self.entities: dict[str, dict[str, Entity]] = {name: {} for name in kinds}
        self.below: dict[str, dict[str, list[str]]] = {name: {} for name in kinds}
        self.tallies: dict[tuple[str, str, int, str | None], dict[str, dict[str, int]]] = {
            (counted.kind, kind.name, counted.facet, counted.has): {}
            for kind in kinds.values()
            for counted in kind.counted
        }

    def __len__(self) -> int:
        """How many entities there are."""
        return sum(map(len, self.entities.values()))

    def get(self, kind: str, entity_id: str) -> Entity | None:
        """The entity, or None while unknown."""
        return self.entities[kind].get(entity_id)

    def above(self, entity_id: str, kind: str) -> Entity | None:
        """The ancestor of that kind."""
        return self.entities[kind].get(ancestor_id(entity_id, self.kinds[kind].arity))

    def tally(self, entity_id: str, kind: str, below: str, facet: int, has: str | None = None) -> Mapping[str, int]:
        """How many descendants are in which phase; only those with the condition `has`, if named."""
        return self.tallies[kind, below, facet, has].get(entity_id, NOTHING)

    def descendants(self, kind: str, entity_id: str, below: str) -> Iterator[str]:
        """The ids of kind `below` under `kind/entity_id`, in any order."""
        ids = [entity_id]
        for step in self.kinds.path(kind, below):
            children = self.below[step]
            ids = [child for parent in ids for child in children.get(parent, ())]
        yield from ids

    def put(self, entity: Entity) -> None:
        """Let `entity` be what it is now, and bring tallies and indexes up to date."""
        kind, entity_id = self.kinds[entity.kind], entity.id
        known = self.entities[kind.name]
        old = known.get(entity_id)
        known[entity_id] = entity
        if old is None and kind.parent is not None:
            parent = ancestor_id(entity_id, kind.parent_arity)
            self.below[kind.name].setdefault(parent, []).append(entity_id)
        for counted in kind.counted:
            facet = entity.facets[counted.facet]
            if old is not None and old.facets[counted.facet] is facet:
                continue
            now = counted.phase(facet.state)
            was = ABSENT if old is None else counted.phase(old.facets[counted.facet].state)
            if now != was:
                of = self.tallies[counted.kind, kind.name, counted.facet, counted.has]
                recount(of.setdefault(ancestor_id(entity_id, counted.arity), {}), was, now)


def recount(tally: dict[str, int], was: str, now: str) -> tuple[str, ...]:
    """Move one descendant from phase `was` to phase `now`; the phases whose count left zero or came to it."""
    crossed: tuple[str, ...] = ()
    if was != ABSENT:
        tally[was] -= 1
        if not tally[was]:
            del tally[was]
            crossed = (was,)
    if now != ABSENT:
        tally[now] = tally.get(now, 0) + 1
        if tally[now] == 1:
            crossed = (*crossed, now)
    return crossed


def evolve(tree: Tree, record: Record) -> None:
    """Take one committed record into the tree."""
    if not isinstance(record, Rejection):
        tree.put(record.entity)


def restore(tree: Tree, body: bytes) -> int:
    """Take one committed record, as the log holds it, into the tree, and return the sequence of its cause.

    Raises `KindMissing` where the tree has no such kind.
    """
    record = wire_codec.read(body)
    if not isinstance(record, Rejection) and record.entity.kind not in tree.kinds:
        raise KindMissing(kind=record.entity.kind, known=", ".join(tree.kinds))
    evolve(tree, record)
    return record.cause.sequence
