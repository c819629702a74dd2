"""All entities of an installation at one place of the log, in memory. Pure.

Belongs here: `LiveFleet`, which takes records one after the other; what is counted and indexed beside the entities.
Does not: reading the log (`follower`), keeping a moment while the fleet goes on (`fleet_moment`).

Each entity has a number, in the order in which they became known, and keeps it. What changes stands in arrays by these
numbers, so that all entities can be sent, counted and filtered without looking at one after the other.
"""

import weakref
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Protocol

from phaseline.engine.surfaces.http.fleet.state_index import MOST, StateIndex
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.relations import shown_below
from phaseline.machines.language.contact import silent_since
from phaseline.machines.language.endings import is_left_behind, state_for_people
from phaseline.machines.language.table import DELETED
from phaseline.schemas.records import SECOND, Entity, FacetState, Transition, facets_of, own_facets
from phaseline.schemas.subjects import ancestor_id, natural

NONE = -1
"""In place of a number: no entity, no facet."""
VIEWED, STALE, GONE, LEFT = 1, 2, 4, 8
"""The flags of an entity: a view shows another state than the base; nothing was heard lately; its life is over; it is
left behind."""

Looks = tuple[Sequence[int], int]
"""What an entity shows: the number of the state of each facet, `NONE` where it says nothing; and its flags."""


class Witness(Protocol):
    """Whoever is told before an entity changes."""

    def changes(self, number: int, before: Transition) -> None:
        """The entity of that number, of which this is the last record, is about to change."""


class LiveFleet:
    """The entities by number. `apply` takes the next record.

    last: the last record of each. places: its place in the log. parents: the number of the parent. states: for each
    facet a column with the number of the state, `NONE` where the entity has no such facet. since: since when the first
    facet is in its state, in seconds. flags: `VIEWED`, `GONE` and `LEFT`.
    in_state: how many entities whose life is not over have a facet in a state, by the number of the state.
    shape: a number that changes when an entity comes or goes.
    silent: what is silent now, each with when it was heard last, ns.
    """

    def __init__(self, kinds: Kinds) -> None:
        self.kinds = kinds
        self.place, self.time_ns, self.shape = 0, 0, 0
        self.index = StateIndex(kinds)
        self.last: list[Transition] = []
        self.places, self.parents = array("q"), array("i")
        self.states: list[array[int]] = []
        self.since, self.flags = array("q"), array("B")
        self.in_state: Counter[int] = Counter()
        self.silent: dict[tuple[str, str], int] = {}
        self._numbers: defaultdict[str, dict[str, int]] = defaultdict(dict)
        self._looks: dict[tuple[object, ...], Looks] = {}
        self._keys: list[str] = []
        self._roots: defaultdict[str, list[int]] = defaultdict(list)
        self._orphans: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        self._order: list[int] = []
        self._sorted_roots: dict[str, int] = {}
        self._witnesses: weakref.WeakSet[Witness] = weakref.WeakSet()

    def __len__(self) -> int:
        return len(self.last)

    def number(self, kind: str, entity_id: str) -> int | None:
        """The number of an entity; None if it is unknown."""
        known = self._numbers.get(kind)
        return None if known is None else known.get(entity_id)

    def above(self, number: int) -> int:
        """The number of the nearest known entity above one; `NONE` if there is none."""
        if self.parents[number] != NONE:
            return self.parents[number]
        entity = self.last[number].entity
        kind = self.kinds.get(entity.kind)
        places = () if kind is None else kind.places
        known = (self.number(name, ancestor_id(entity.id, arity)) for name, arity in places)
        return next((one for one in known if one is not None and one != number), NONE)

    def tell(self, witness: Witness) -> None:
        """Tell this witness of each change, for as long as somebody else keeps it."""
        self._witnesses.add(witness)

    def apply(self, place: int, record: Transition) -> None:
        """Take a record at a place of the log. One that is not newer than what is known of the entity changes nothing.

        The place of the fleet stays: `stand_at` moves it once all records of an event are taken.
        """
        entity = record.entity
        number = self._numbers[entity.kind].get(entity.id)
        if number is None:
            self._add(place, record)
            return
        if place <= self.places[number]:
            return
        if self._witnesses:
            for witness in self._witnesses:
                witness.changes(number, self.last[number])
        self.places[number], self.last[number] = place, record
        self._show(number, entity)

    def stand_at(self, place: int, time_ns: int) -> None:
        """Everything up to this place is taken; the message at it was stored at that time."""
        self.place, self.time_ns = place, max(time_ns, self.time_ns)

    def order(self, root: str | None = None) -> Sequence[int]:
        """All numbers, or those of one tree, ids in natural order, then by kind."""
        if root is None:
            if len(self._order) < len(self.last):  # two runs, each sorted: cheap
                new = sorted(range(len(self._order), len(self.last)), key=self._keys.__getitem__)
                self._order = sorted([*self._order, *new], key=self._keys.__getitem__)
            return self._order
        numbers = self._roots.get(root, [])
        if self._sorted_roots.get(root) != len(numbers):
            numbers.sort(key=self._keys.__getitem__)
            self._sorted_roots[root] = len(numbers)
        return numbers

    def below(self, entity_id: str) -> Iterator[int]:
        """The numbers of what has this id and of everything below, in order."""
        root, _, rest = entity_id.partition("/")
        numbers, prefix = self.order(root), f"{entity_id}/"
        if not rest:
            yield from numbers
            return
        for number in numbers:
            found = self.last[number].entity.id
            if found.startswith(prefix) or found == entity_id:
                yield number

    def within(self, ids: Sequence[str]) -> Sequence[int]:
        """The same of several ids, none of which is below another."""
        if len(ids) == 1:
            return list(self.below(ids[0]))
        wanted = {number for one in ids for number in self.below(one)}
        return [number for number in self.order() if number in wanted]

    def _add(self, place: int, record: Transition) -> None:
        entity, number = record.entity, len(self.last)
        self.shape += 1
        self._numbers[entity.kind][entity.id] = number
        self.last.append(record)
        self.places.append(place)
        self.since.append(0)
        self.flags.append(0)
        for column in self.states:
            column.append(NONE)
        self._keys.append(f"{natural(entity.id)}\0\0{entity.kind}")
        self._roots[entity.id.partition("/")[0]].append(number)
        self.parents.append(self._parent(entity, number))
        for child in self._orphans.pop((entity.kind, entity.id), ()):
            self.parents[child] = self._parent(self.last[child].entity, child)
        self._show(number, entity)

    def _parent(self, entity: Entity, number: int) -> int:
        """The number of the nearest entity below which it is shown. It waits for those that are nearer."""
        for above in shown_below(self.kinds, entity.kind, entity.id):
            found = self.number(*above)
            if found is not None:
                return found
            self._orphans[above].append(number)
        return NONE

    def _show(self, number: int, entity: Entity) -> None:
        """Write what the entity shows into the columns and the counts."""
        states, flags = self._looks_of(entity)
        while len(self.states) < len(states):
            self.states.append(array("i", [NONE]) * len(self.last))
        self._count(number, -1)
        for position, column in enumerate(self.states):
            column[number] = states[position] if position < len(states) else NONE
        self.since[number] = entity.facets[0].since_ns // SECOND
        was, self.flags[number] = self.flags[number], flags
        self.shape += ((was ^ self.flags[number]) & (GONE | LEFT)) > 0
        self._count(number, 1)
        heard = silent_since(entity)
        if heard is not None:
            self.silent[entity.kind, entity.id] = heard
        elif self.silent:
            self.silent.pop((entity.kind, entity.id), None)

    def _looks_of(self, entity: Entity) -> Looks:
        """What it shows. Many entities without attributes look alike: that is remembered."""
        if entity.attributes:
            return self._seen(entity)
        key = (entity.kind, entity.names, *[(one.base, one.state, one.since_ns != 0) for one in entity.facets])
        found = self._looks.get(key)
        if found is None:
            if len(self._looks) >= MOST:
                self._looks.clear()
            found = self._looks[key] = self._seen(entity)
        return found

    def _seen(self, entity: Entity) -> Looks:
        shown = dict(facets_of(entity))
        facets = ((name, shown.get(name)) for name in entity.names)
        return [NONE if one is None else self._state(entity, name, one) for name, one in facets], flags_of(entity)

    def _state(self, entity: Entity, name: str, facet: FacetState) -> int:
        return self.index.number(entity.kind, name, state_for_people(facet.state, entity.attributes))

    def _count(self, number: int, change: int) -> None:
        """Add the states of an entity to the counts, or take them out, unless its life is over."""
        if not self.flags[number] & GONE:
            for column in self.states:
                if column[number] != NONE:
                    self.in_state[column[number]] += change


def flags_of(entity: Entity) -> int:
    """`VIEWED`, `GONE` and `LEFT`, as far as they hold."""
    viewed = any(facet.state != facet.base for facet in entity.facets)
    gone = all(facet.state.phase == DELETED for facet in own_facets(entity))
    left = gone and is_left_behind(entity.facets[0].state.phase, entity.attributes)
    return VIEWED * viewed | GONE * gone | LEFT * left
