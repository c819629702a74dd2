"""What one event makes of a tree, before it is committed: an overlay that predicates see through.

Belongs here: moving bases, cascades, views to their fixed point, and the records that follow.
Does not: whether an event is legal (`decide`), changing the tree (`tree.evolve`).
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from phaseline.engine.timers import running
from phaseline.engine.tree import Tree, ancestor_id, recount
from phaseline.machines.arithmetic import shown
from phaseline.machines.kinds import Kind
from phaseline.machines.machine import FacetMachine, Step
from phaseline.machines.table import Fired
from phaseline.schemas.records import NONE, By, Cause, Entity, Facet, State, Transition


class Why(NamedTuple):
    """What moved a facet: the trigger, and how it came to it."""

    trigger: str
    by: By
    origin: str | None = None


class Touched:
    """An entity as the event leaves it so far. `why`: per facet, what moved it last."""

    __slots__ = ("attributes", "before", "facets", "fired", "sequences", "why")

    def __init__(self, before: Entity | None, kind: Kind) -> None:
        """Start from what is committed, or from nothing."""
        self.before = before
        self.facets: list[Facet] = list(kind.unborn if before is None else before.facets)
        self.attributes: Mapping[str, Any] = NONE if before is None else before.attributes
        self.sequences: Mapping[str, int] = NONE if before is None else before.sequences
        self.why: dict[int, Why] = {}
        self.fired: str | None = None
        """The facet whose timer this event is."""


class Draft:
    """One event under way. Its order of doing things depends on the tree's content only, so replay repeats it."""

    __slots__ = ("born", "cascades", "crossed", "dirty", "fired", "kinds", "tallies", "touched", "tree", "trigger")

    def __init__(self, tree: Tree, trigger: str) -> None:
        """`trigger` is the outside event's."""
        self.tree, self.kinds, self.trigger = tree, tree.kinds, trigger
        self.touched: dict[tuple[str, str], Touched] = {}
        self.tallies: dict[tuple[str, str, str, int], dict[str, int]] = {}
        self.dirty: dict[tuple[str, str], Why] = {}
        self.cascades: list[tuple[str, str, Why]] = []
        self.born: list[tuple[str, str]] = []
        """Entities that the tree does not know yet."""
        self.crossed: dict[tuple[str, str, str, int], str] = {}
        """By which descendant a tally last changed."""
        self.fired: set[tuple[str, str, str]] = set()
        """What tallies fired: each trigger at each entity once an event, so that it ends."""

    def above(self, entity_id: str, kind: str) -> Touched | Entity | None:
        """The ancestor of that kind, as this event leaves it."""
        found = ancestor_id(entity_id, self.kinds[kind].arity)
        return self.touched.get((kind, found)) or self.tree.entities[kind].get(found)

    def tally(self, entity_id: str, kind: str, below: str, facet: int) -> Mapping[str, int]:
        """How many descendants are in which phase, as this event leaves them."""
        found = self.tallies.get((entity_id, kind, below, facet))
        return self.tree.tally(entity_id, kind, below, facet) if found is None else found

    def touch(self, kind: str, entity_id: str) -> Touched:
        """The entity, to be changed."""
        found = self.touched.get((kind, entity_id))
        if found is None:
            found = Touched(self.tree.entities[kind].get(entity_id), self.kinds[kind])
            self.touched[kind, entity_id] = found
            if found.before is None:
                self.born.append((kind, entity_id))
        return found

    def descendants(self, kind: str, entity_id: str, below: str) -> list[str]:
        """The ids of kind `below` under `kind/entity_id`, those that this event makes known too, in order."""
        found = list(self.tree.descendants(kind, entity_id, below))
        found += (born for of, born in self.born if of == below and born.startswith(f"{entity_id}/"))
        return sorted(found)

    def move(self, kind: str, entity_id: str, facet: int, base: State, why: Why) -> None:
        """Give one facet a new base."""
        entity = self.touch(kind, entity_id)
        old = entity.facets[facet]
        entity.facets[facet] = Facet(base, old.state, old.since)
        entity.why[facet] = why
        self.dirty[kind, entity_id] = why
        self._look_down(kind, entity_id, facet, old.base.phase, base.phase, of_base=True)

    def take(self, kind: str, entity_id: str, steps: list[tuple[int, Step]], data: Mapping[str, Any], why: Why) -> None:
        """Take these steps, one a facet, and queue what they fire downward."""
        moves = []
        for facet, step in steps:
            base = self.touch(kind, entity_id).facets[facet].base
            result = step.result(base, data)
            self.move(kind, entity_id, facet, result, why)
            moves.append((base, result))
        for fired in self.kinds[kind].table.fired:
            if fires(fired, why.trigger, moves, data):
                self._fire(fired, kind, entity_id)

    def _fire(self, fired: Fired, kind: str, entity_id: str) -> None:
        why = Why(fired.trigger, "cascade", f"{kind}/{entity_id}")
        for below in fired.at:
            self.cascades.extend((below, found, why) for found in self.descendants(kind, entity_id, below))

    def settle(self) -> None:
        """Run cascades, views and what tallies fire, to the fixed point (the tables' checks say that there is one)."""
        while self.cascades or self.dirty or self._reached():
            while self.cascades:
                wave, self.cascades = self.cascades, []
                for kind, entity_id, why in wave:
                    self._derived(kind, entity_id, why)
            while self.dirty:
                (kind, entity_id), why = next(iter(self.dirty.items()))
                del self.dirty[kind, entity_id]
                self._restate(kind, entity_id, why)

    def _derived(self, kind: str, entity_id: str, why: Why) -> None:
        entity = self.touched.get((kind, entity_id)) or self.tree.entities[kind][entity_id]
        steps = []
        for facet, by_phase in self.kinds[kind].steps[why.trigger]:
            base = entity.facets[facet].base
            for step in by_phase.get(base.phase, ()):
                if step.fits(base, base, NONE) and all(p.holds(self, entity_id) for p in step.row.when):
                    steps.append((facet, step))
                    break
        if steps and why.by == "tally":
            self.fired.add((kind, entity_id, why.trigger))
        self.take(kind, entity_id, steps, NONE, why)

    def _restate(self, kind: str, entity_id: str, why: Why) -> None:
        machines = self.kinds[kind].machines
        entity: Touched | Entity = self.touched.get((kind, entity_id)) or self.tree.entities[kind][entity_id]
        for index, machine in enumerate(machines):
            old = entity.facets[index]
            state = self._state(machine, entity_id, old.base)
            if state == old.state:
                continue
            touched = self.touch(kind, entity_id)
            touched.facets[index] = Facet(old.base, state, old.since)
            touched.why.setdefault(index, why)
            self._count(kind, entity_id, index, old.state.phase, state.phase)
            self._look_down(kind, entity_id, index, old.state.phase, state.phase, of_base=False)

    def _state(self, machine: FacetMachine, entity_id: str, base: State) -> State:
        for view in machine.views[base.phase]:
            if all(predicate.holds(self, entity_id) for predicate in view.while_):
                return shown(machine.facet, view, base)
        return base

    def _count(self, kind: str, entity_id: str, facet: int, was: str, now: str) -> None:
        for counted in self.kinds[kind].counted:
            if counted.facet != facet or was == now:
                continue
            above = ancestor_id(entity_id, counted.arity)
            key = (above, counted.kind, kind, facet)
            if key not in self.tallies:
                self.tallies[key] = dict(self.tree.tally(*key))
            crossed = recount(self.tallies[key], was, now)
            self.crossed[key] = entity_id
            if not counted.phases.isdisjoint(crossed) and self.above(above, counted.kind):
                self.dirty.setdefault((counted.kind, above), Why(self.trigger, "tally", f"{kind}/{entity_id}"))

    def _look_down(self, kind: str, entity_id: str, facet: int, was: str, now: str, *, of_base: bool) -> None:
        for seen in self.kinds[kind].seen:
            if seen.facet == facet and seen.base is of_base and (was in seen.phases) != (now in seen.phases):
                why = Why(self.trigger, "view", f"{kind}/{entity_id}")
                for found in self.descendants(kind, entity_id, seen.below):
                    self.dirty.setdefault((seen.below, found), why)

    def _reached(self) -> bool:
        """Fire the triggers of tallies that this event brought to their condition."""
        for key in list(self.tallies):
            entity_id, of, below, facet = key
            for reached in self.kinds[of].table.reached:
                when = reached.when
                if (when.kind, when.facet) != (below, facet) or (of, entity_id, reached.trigger) in self.fired:
                    continue
                if when.holds(self, entity_id) and not when.holds(self.tree, entity_id):
                    self._derived(of, entity_id, Why(reached.trigger, "tally", f"{below}/{self.crossed[key]}"))
        return bool(self.cascades or self.dirty)

    def records(self, cause: Cause, time: int, reason: str | None, message: str | None) -> Iterator[Transition]:
        """The transitions this event makes, in the order in which entities were touched."""
        for (kind, entity_id), touched in self.touched.items():
            entity = touched.before
            for index, name in enumerate(self.kinds[kind].names):
                made = _entity_after(self.kinds[kind], entity_id, entity, touched, index, time)
                if made is None:
                    continue
                why = touched.why[index]
                by = (
                    cause
                    if why.by in ("event", "timer")
                    else Cause(cause.sequence, cause.event, cause.source, why.by, why.origin, cause.time)
                )
                before = None if entity is None else entity.facets[index].state
                own = why.by == "event"
                yield Transition(
                    name, before, made.facets[index].state, why.trigger,
                    reason if own else None, message if own else None, by, made, time,
                )  # fmt: skip
                entity = made


def fires(fired: Fired, trigger: str, moves: list[tuple[State, State]], data: Mapping[str, Any]) -> bool:
    """Whether a trigger that made these moves, one a facet, fires that downward: once, whatever it moved."""
    if not moves or (fired.unless is not None and data.get(fired.unless[0]) == fired.unless[1]):
        return False
    return trigger in fired.on or any(result.phase == fired.into != base.phase for base, result in moves)


def _entity_after(
    kind: Kind, entity_id: str, entity: Entity | None, touched: Touched, index: int, time: int
) -> Entity | None:
    """The whole entity after this facet's change; None where the facet did not change."""
    before = kind.unborn if entity is None else entity.facets
    old, new = before[index], touched.facets[index]
    assigned = index in touched.why and touched.attributes != (NONE if entity is None else entity.attributes)
    if new.base == old.base and new.state == old.state and not assigned:
        return None
    facet = Facet(new.base, new.state, old.since if new.state == old.state else time)
    timers = NONE if entity is None else entity.timers
    if kind.timed and (new.state.phase != old.state.phase or touched.fired == kind.names[index]):
        timers = running(kind, index, timers, facet, touched.attributes, time, fired=touched.fired == kind.names[index])
    return Entity(
        kind.name,
        entity_id,
        1 if entity is None else entity.version + 1,
        kind.names,
        (*before[:index], facet, *before[index + 1 :]),
        touched.attributes,
        touched.sequences,
        timers,
    )
