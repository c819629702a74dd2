"""The tree: all entities of a partition after the records so far, with their tallies and indexes. Pure.

Belongs here: holding state, `evolve` and `restore`. Does not: deciding anything (`decide`), input or output.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from phaseline.machines.compiler.kinds import Kind, Kinds
from phaseline.machines.compiler.relations import Counted
from phaseline.machines.language.contact import SILENCE_AFTER, SILENCE_BELOW
from phaseline.machines.language.scripts import ScriptRunner
from phaseline.machines.language.table import ABSENT
from phaseline.schemas.errors import SetupError
from phaseline.schemas.records import Entity, EntityAfter, Record, Rejection, State
from phaseline.schemas.subjects import ancestor_id, id_above, ids_above
from phaseline.schemas.templates.reading import read_entities

NO_TALLY: Mapping[str, int] = {}
TallyKey = tuple[str, str, int, str | None, str | None, tuple[str, ...] | None]
"""The kind above, the kind that is counted, its facet, the condition that an entity has, the one that it lacks, and the
phases of those that are left out."""
Moves = tuple[tuple[int, dict[str, dict[str, int]], str, str], ...]
"""What a move changes: how many levels above, in which tallies, from which phase, to which; empty if uncounted."""


class Tree:
    """All entities of some trees. `tallies[TallyKey][id][phase]` counts those of `kind` below `of/id`."""

    __slots__ = (
        "_counted", "_listening", "_moves", "backup", "below", "entities", "kept", "kinds", "log", "scripts",
        "silence_after", "tallies", "unheard", "watched",
    )  # fmt: skip

    def __init__(self, kinds: Kinds, scripts: ScriptRunner) -> None:
        """Start empty. `scripts` runs the scripts that rules ask for."""
        self.kinds = kinds
        self.scripts = scripts
        self.silence_after = 0.0
        """The seconds after which a place falls silent that has no own ones; 0 for never."""
        self.log = 0
        """The identity of the log that decides; 0 if it is not known."""
        self.backup = 0
        """If that log goes on from a backup: the last position before. Records of events up to it are of the backup."""
        self.unheard: set[tuple[str, str]] = set()
        """Of a log that goes on from a backup, what was not heard of since, by kind and id."""
        self.watched: frozenset[str] = frozenset()
        """The kinds of which an entity has own ones, or those of something above it, or had."""
        self._listening: dict[tuple[str, bool], tuple[tuple[str, int], ...]] = {}
        """By kind, and whether places wait: the kinds at and above whose entities may wait to be heard."""
        self.entities: dict[str, dict[str, Entity]] = {name: {} for name in kinds}
        self.below: dict[str, dict[str, list[str]]] = {name: {} for name in kinds}
        self.tallies: dict[TallyKey, dict[str, dict[str, int]]] = {
            key_of(counted, kind.name): {} for kind in kinds.values() for counted in kind.counted
        }
        self._counted = {
            kind.name: tuple((one, self.tallies[key_of(one, kind.name)]) for one in kind.counted)
            for kind in kinds.values()
        }
        """By kind, what kinds above count of it, with these tallies."""
        self.kept = {name: tuple(tallies for _, tallies in found) for name, found in self._counted.items()}
        """By kind, the tallies that are kept of it, in the order of `Kind.counted`."""
        self._moves: dict[str, tuple[tuple[int, dict[tuple[State, State], Moves]], ...]] = {
            kind.name: tuple((facet, {}) for facet in dict.fromkeys(one.facet for one in kind.counted))
            for kind in kinds.values()
        }
        """By kind, each facet that is counted, with what a move from one state to another changes. Filled as met."""

    def __len__(self) -> int:
        """The number of entities."""
        return sum(map(len, self.entities.values()))

    def get(self, kind: str, entity_id: str) -> Entity | None:
        """The entity; None if it is unknown."""
        return self.entities[kind].get(entity_id)

    def above(self, entity_id: str, kind: str) -> Entity | None:
        """The ancestor of that kind; None if it is unknown."""
        return self.entities[kind].get(ancestor_id(entity_id, self.kinds[kind].arity))

    def tally(
        self, entity_id: str, kind: str, below: str, facet: int, has: str | None = None, lacks: str | None = None,
        inside: tuple[str, ...] | None = None,
    ) -> Mapping[str, int]:  # fmt: skip
        """How many descendants are in which phase; only those with the condition `has`, and without `lacks`.

        inside: as in `Scene.tally`.
        """
        return self.tallies[kind, below, facet, has, lacks, inside].get(entity_id, NO_TALLY)

    def descendants(self, kind: str, entity_id: str, below: str) -> Iterator[str]:
        """The ids of kind `below` under `kind/entity_id`, in any order."""
        if (kind, below) in self.kinds.hidden:
            yield from (one for one in self.entities[below] if one.startswith(f"{entity_id}/"))
            return
        ids = [entity_id]
        for step in self.kinds.path(kind, below):
            children = self.below[step]
            ids = [child for parent in ids for child in children.get(parent, ())]
        yield from ids

    def put(self, entity: Entity) -> None:
        """Add or replace an entity, and bring tallies and indexes up to date."""
        kind, entity_id = self.kinds[entity.kind], entity.id
        if kind.contact is not None:
            if len(entity.facets) != len(kind.names):
                entity = kind.whole(entity)
            if entity.attributes:
                self._watch(entity)
        known = self.entities[kind.name]
        old = known.get(entity_id)
        known[entity_id] = entity
        if old is None:
            self._count_in(kind, entity)
            return
        for facet, known_moves in self._moves[kind.name]:
            state, before = entity.facets[facet].state, old.facets[facet].state
            if before is state:
                continue
            try:
                moves = known_moves[before, state]
            except KeyError:
                moves = known_moves[before, state] = self._moves_of(kind, facet, before, state)
            if moves:
                _count_anew(entity_id, moves)

    def hear(self, entity: Entity, position: int) -> None:
        """Note whether what is known of an entity is older than the restore of its log."""
        key = (entity.kind, entity.id)
        if position > self.backup:
            self.unheard.discard(key)
        else:
            self.unheard.add(key)

    def listening(self, kind: Kind) -> tuple[tuple[str, int], ...]:
        """The kinds at and above an entity that may wait to be heard, from the bottom up, as `Kind.places` has them."""
        key = (kind.name, self.silence_after > 0)
        found = self._listening.get(key)
        if found is None:
            places = [(one, self.kinds[one[0]].table) for one in kind.places]
            found = tuple(
                one
                for one, table in places
                if one[0] in self.watched or (key[1] and table.place) or table.silence_after > 0
            )
            self._listening[key] = found
        return found

    def _watch(self, entity: Entity) -> None:
        """Remember for which kinds somebody waits since this entity is as it is."""
        own, below = entity.attributes.get(SILENCE_AFTER), entity.attributes.get(SILENCE_BELOW)
        if (own and entity.kind not in self.watched) or (below and not self.watched.issuperset(below)):
            self.watched = self.watched.union(below or (), (entity.kind,) if own else ())
            self._listening.clear()

    def _moves_of(self, kind: Kind, facet: int, before: State, state: State) -> "Moves":
        """What the move of a facet from one state to another changes in the tallies above."""
        found = (
            (one.levels, tallies, _counted_phase(one, before), _counted_phase(one, state))
            for one, tallies in self._counted[kind.name]
            if one.facet == facet
        )
        return tuple(sorted((move for move in found if move[2] != move[3]), key=lambda move: move[0]))

    def put_all(self, entities: Iterable[Entity]) -> None:
        """As `put` for each of them. New ones are counted together: that takes half the time."""
        found: dict[str, dict[str, Entity]] = {}
        for entity in entities:
            kind = self.kinds[entity.kind]
            if kind.contact is not None:
                whole = kind.whole(entity)
                if whole.attributes:
                    self._watch(whole)
            else:
                whole = entity
            some = found.get(entity.kind)
            if some is None:
                some = found[entity.kind] = {}
            some[entity.id] = whole
        for name, some in found.items():
            known = self.entities[name]
            if not known.keys().isdisjoint(some):
                for entity_id in [one for one in some if one in known]:
                    self.put(some.pop(entity_id))
            known.update(some)
            self._count_all(self.kinds[name], some)

    def _count_in(self, kind: Kind, entity: Entity) -> None:
        """Bring tallies and indexes up to date with a new entity."""
        entity_id, levels = entity.id, kind.levels
        parent = id_above(entity_id, levels) if levels else ""
        if levels:
            self.below[kind.name].setdefault(parent, []).append(entity_id)
        for counted, tallies in self._counted[kind.name]:
            phase = counted.phase(entity.facets[counted.facet].state)
            if phase != ABSENT:
                above = parent if counted.levels == levels else id_above(entity_id, counted.levels)
                tally = tallies.setdefault(above, {})
                tally[phase] = tally.get(phase, 0) + 1

    def _count_all(self, kind: Kind, new: Mapping[str, Entity]) -> None:
        """As `_count_in` for new entities, by id: those with one parent are counted together."""
        levels, below, families = kind.levels, self.below[kind.name], dict[str, list[Entity]]()
        parents = ids_above(new, levels) if levels else [""] * len(new)
        for parent, entity in zip(parents, new.values(), strict=True):
            if parent in families:
                families[parent].append(entity)
            else:
                families[parent] = [entity]
        for parent, family in families.items():
            if levels:
                below.setdefault(parent, []).extend([entity.id for entity in family])
            states = {
                facet: Counter([entity.facets[facet].state for entity in family]) for facet, _ in self._moves[kind.name]
            }
            for counted, tallies in self._counted[kind.name]:
                for state, number in states[counted.facet].items():
                    phase = counted.phase(state)
                    if phase != ABSENT:
                        tally = tallies.setdefault(id_above(parent, counted.levels - levels), {})
                        tally[phase] = tally.get(phase, 0) + number


def key_of(counted: Counted, below: str) -> TallyKey:
    """The key of a tally of the kind `below`."""
    return counted.kind, below, counted.facet, counted.has, counted.lacks, counted.inside


def _count_anew(entity_id: str, moves: "Moves") -> None:
    """Bring the tallies up to date with the moves of one facet, the nearest first."""
    at, above = 0, entity_id
    for levels, tallies, old_phase, new_phase in moves:
        while at < levels:
            at, above = at + 1, above.rpartition("/")[0]
        if old_phase:
            tally = tallies[above]
            if tally[old_phase] == 1:
                del tally[old_phase]
            else:
                tally[old_phase] -= 1
        if new_phase:
            try:
                tallies[above][new_phase] += 1
            except KeyError:
                tallies.setdefault(above, {})[new_phase] = 1


def _counted_phase(counted: Counted, state: State) -> str:
    """Under what a state is counted; empty if it is not."""
    phase = counted.phase(state)
    return "" if phase == ABSENT else phase


def evolve(tree: Tree, record: Record) -> None:
    """Apply one record to the tree."""
    if not isinstance(record, Rejection):
        tree.put(record.entity)
        if tree.backup:
            tree.hear(record.entity, record.cause.sequence)


def restore(tree: Tree, body: bytes) -> int:
    """Apply one record, in the bytes of the log, to the tree; returns the position of its event.

    Raises `SetupError.kind_missing` if the tree has no such kind.
    """
    return take_all_in(tree, read_entities([body]))


def take_in(tree: Tree, found: EntityAfter) -> int:
    """Apply what a record of the log holds to the tree; returns the position of its event. Raises as `restore`."""
    return take_all_in(tree, [found])


def take_all_in(tree: Tree, found: Sequence[EntityAfter]) -> int:
    """As `take_in` for several records, in their order; returns the highest position, 0 if there is none."""
    entities = [one.entity for one in found if one.entity is not None]
    if missing := {entity.kind for entity in entities}.difference(tree.kinds):
        raise SetupError.kind_missing(kind=min(missing), known=", ".join(tree.kinds))
    tree.put_all(entities)
    if tree.backup:
        for one in found:
            if one.entity is not None:
                tree.hear(one.entity, one.sequence)
    return max([one.sequence for one in found], default=0)
