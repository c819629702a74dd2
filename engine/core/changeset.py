"""What one event makes of a tree, before it is committed: an overlay that predicates see through.

Belongs here: moving bases, cascades, views to their fixed point. Does not: whether an event is legal (`decide`), the
records that follow (`recording`), changing the tree (`tree.evolve`).
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from phaseline.engine.core.attributes import assigned
from phaseline.engine.core.tree import Tree, recount
from phaseline.machines.compiler.conditions import without_expired
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.compiler.machine import Step
from phaseline.machines.language.scripts import ScriptRunner
from phaseline.machines.language.table import Cascade, FanOut, Refusal, RuleEvent
from phaseline.schemas.records import NONE, By, Entity, FacetState, State
from phaseline.schemas.subjects import ancestor_id


class Origin(NamedTuple):
    """What moved a facet: the trigger, and how it came to it. data: what the trigger brought."""

    trigger: str
    by: By
    origin: str | None = None
    data: Mapping[str, Any] = NONE


class EntityChange:
    """An entity as the event leaves it so far. `why`: per facet, what moved it last."""

    __slots__ = ("attributes", "before", "facets", "fired", "sequences", "why")

    def __init__(self, before: Entity | None, kind: Kind) -> None:
        """Start from what is committed, or from nothing."""
        self.before = before
        self.facets: list[FacetState] = list(kind.unborn if before is None else before.facets)
        self.attributes: Mapping[str, Any] = NONE if before is None else before.attributes
        self.sequences: Mapping[str, int] = NONE if before is None else before.sequences
        self.why: dict[int, Origin] = {}
        self.fired: str | None = None
        """The facet whose timer this event is."""


class Changeset:
    """One event under way. Its order of doing things depends on the tree's content only, so replay repeats it."""

    __slots__ = (
        "born", "cascades", "crossed", "dirty", "fired", "kinds", "sequence", "tallies", "time", "touched", "tree", "trigger",
    )  # fmt: skip

    def __init__(self, tree: Tree, trigger: str, sequence: int, time: int) -> None:
        """`trigger` is the outside event's; `sequence` and `time` (ns) are the stream's."""
        self.tree, self.kinds, self.trigger = tree, tree.kinds, trigger
        self.sequence, self.time = sequence, time
        self.touched: dict[tuple[str, str], EntityChange] = {}
        self.tallies: dict[tuple[str, str, str, int, str | None], dict[str, int]] = {}
        self.dirty: dict[tuple[str, str], Origin] = {}
        self.cascades: list[tuple[str, str, Origin]] = []
        self.born: list[tuple[str, str]] = []
        """Entities that the tree does not know yet."""
        self.crossed: dict[tuple[str, str, str, int, str | None], str] = {}
        """By which descendant a tally last changed."""
        self.fired: set[tuple[str, str, str]] = set()
        """What tallies fired: each trigger at each entity once an event, so that it ends."""

    @property
    def scripts(self) -> ScriptRunner:
        """The script runner of the tree."""
        return self.tree.scripts

    def above(self, entity_id: str, kind: str) -> EntityChange | Entity | None:
        """The ancestor of that kind, as this event leaves it."""
        found = ancestor_id(entity_id, self.kinds[kind].arity)
        return self.touched.get((kind, found)) or self.tree.entities[kind].get(found)

    def tally(self, entity_id: str, kind: str, below: str, facet: int, has: str | None = None) -> Mapping[str, int]:
        """How many descendants are in which phase, as this event leaves them."""
        found = self.tallies.get((entity_id, kind, below, facet, has))
        return self.tree.tally(entity_id, kind, below, facet, has) if found is None else found

    def phase(self, kind: str, entity_id: str, facet: int) -> str:
        """The phase of a known entity's state, as this event leaves it."""
        found = self.touched.get((kind, entity_id)) or self.tree.entities[kind][entity_id]
        return found.facets[facet].state.phase

    def touch(self, kind: str, entity_id: str) -> EntityChange:
        """The entity, to be changed."""
        found = self.touched.get((kind, entity_id))
        if found is None:
            found = EntityChange(self.tree.entities[kind].get(entity_id), self.kinds[kind])
            self.touched[kind, entity_id] = found
            if found.before is None:
                self.born.append((kind, entity_id))
        return found

    def descendants(self, kind: str, entity_id: str, below: str) -> list[str]:
        """The ids of kind `below` under `kind/entity_id`, those that this event makes known too, in order."""
        found = list(self.tree.descendants(kind, entity_id, below))
        found += (born for of, born in self.born if of == below and born.startswith(f"{entity_id}/"))
        return sorted(found)

    def move(self, kind: str, entity_id: str, facet: int, base: State, why: Origin) -> None:
        """Give one facet a new base."""
        entity = self.touch(kind, entity_id)
        old = entity.facets[facet]
        entity.facets[facet] = FacetState(base, old.state, old.since)
        entity.why[facet] = why
        self.dirty[kind, entity_id] = why
        self._look_down(kind, entity_id, facet, old.base.phase, base.phase, of_base=True)

    def take(self, kind: str, entity_id: str, steps: list[tuple[int, Step]], why: Origin) -> None:
        """Take these steps, one a facet, and queue the triggers that they fire downward. Attributes are assigned before."""
        moves = []
        for facet, step in steps:
            base = self.touch(kind, entity_id).facets[facet].base
            result = step.result(base, why.data)
            self.move(kind, entity_id, facet, result, why)
            moves.append((base, result))
        for fired in self.kinds[kind].table.cascades:
            if fires(fired, why.trigger, moves, why.data):
                self._fire(fired, kind, entity_id)
        for told in self.kinds[kind].table.fan_outs if moves else ():
            if why.trigger in told.on:
                self._tell(told, kind, entity_id, why.data)

    def _assign(self, kind: str, entity_id: str, steps: list[tuple[int, Step]], data: Mapping[str, Any]) -> None:
        """Assign attributes by steps that a cascade takes. A rule that refuses its data leaves them as they are."""
        if not any(step.row.assigns or step.row.computes for _, step in steps):
            return
        touched = self.touch(kind, entity_id)
        found = assigned(self.kinds[kind], steps, touched.attributes, RuleEvent(data, self.sequence, self.time))
        if not isinstance(found, Refusal):
            touched.attributes = found

    def _fire(self, fired: Cascade, kind: str, entity_id: str) -> None:
        attributes = self.touch(kind, entity_id).attributes
        given = {name: attributes.get(of) for name, of in fired.data.items()} if fired.data else NONE
        why = Origin(fired.trigger, "cascade", f"{kind}/{entity_id}", given)
        for below in fired.at:
            found = self.descendants(kind, entity_id, below)
            if fired.only_child is not None:
                found = [one for one in found if one == f"{entity_id}/{attributes.get(fired.only_child)}"]
            self.cascades.extend((below, one, why) for one in found)

    def _tell(self, told: FanOut, kind: str, entity_id: str, data: Mapping[str, Any]) -> None:
        for found in self.descendants(kind, entity_id, told.at):
            trigger = told.rule(self, entity_id, data, found)
            if trigger is not None:
                self.cascades.append((told.at, found, Origin(trigger, "cascade", f"{kind}/{entity_id}")))

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

    def _derived(self, kind: str, entity_id: str, why: Origin) -> None:
        compiled = self.kinds[kind]
        if compiled.roles[why.trigger] == "intent" and (kind, entity_id) in self.dirty:
            self._restate(kind, entity_id, self.dirty.pop((kind, entity_id)))
        entity = self.touched.get((kind, entity_id)) or self.tree.entities[kind][entity_id]
        steps = compiled.select(why.trigger, entity.facets, self, entity_id, why.data).steps
        if steps and why.by == "tally":
            self.fired.add((kind, entity_id, why.trigger))
        self._assign(kind, entity_id, steps, why.data)
        self.take(kind, entity_id, steps, why)

    def _restate(self, kind: str, entity_id: str, why: Origin) -> None:
        machines = self.kinds[kind].machines
        entity: EntityChange | Entity = self.touched.get((kind, entity_id)) or self.tree.entities[kind][entity_id]
        for index, machine in enumerate(machines):
            old = entity.facets[index]
            base, state = old.base, machine.shown(old.base, self, entity_id)
            if state == old.state:
                continue
            over = self.kinds[kind].expiring[index].get(old.state.phase)
            if over and state.phase != old.state.phase and not over.isdisjoint(base.conditions):
                base = without_expired(machine.facet, base, over)
                state = machine.shown(base, self, entity_id)
            touched = self.touch(kind, entity_id)
            touched.facets[index] = FacetState(base, state, old.since)
            touched.why.setdefault(index, why)
            self._count(kind, entity_id, index, old.state, state)
            self._look_down(kind, entity_id, index, old.state.phase, state.phase, of_base=False)

    def _count(self, kind: str, entity_id: str, facet: int, before: State, after: State) -> None:
        for counted in self.kinds[kind].counted:
            was, now = counted.phase(before), counted.phase(after)
            if counted.facet != facet or was == now:
                continue
            above = ancestor_id(entity_id, counted.arity)
            key = (above, counted.kind, kind, facet, counted.has)
            if key not in self.tallies:
                self.tallies[key] = dict(self.tree.tally(*key))
            crossed = recount(self.tallies[key], was, now)
            self.crossed[key] = entity_id
            if not counted.phases.isdisjoint(crossed) and self.above(above, counted.kind):
                self.dirty.setdefault((counted.kind, above), Origin(self.trigger, "tally", f"{kind}/{entity_id}"))

    def _look_down(self, kind: str, entity_id: str, facet: int, was: str, now: str, *, of_base: bool) -> None:
        for seen in self.kinds[kind].viewers:
            if seen.facet == facet and seen.base is of_base and (was in seen.phases) != (now in seen.phases):
                why = Origin(self.trigger, "view", f"{kind}/{entity_id}")
                for found in self.descendants(kind, entity_id, seen.below):
                    self.dirty.setdefault((seen.below, found), why)

    def _reached(self) -> bool:
        """Fire the triggers of tallies that this event brought to their condition."""
        for key in list(self.tallies):
            entity_id, of, below, facet, has = key
            for reached in self.kinds[of].table.on_tally:
                when, once = reached.when, (of, entity_id, reached.trigger)
                if (when.kind, when.facet, when.has) != (below, facet, has) or once in self.fired:
                    continue
                if when.holds(self, entity_id) and not when.holds(self.tree, entity_id):
                    self._derived(of, entity_id, Origin(reached.trigger, "tally", f"{below}/{self.crossed[key]}"))
        return bool(self.cascades or self.dirty)


def fires(fired: Cascade, trigger: str, moves: list[tuple[State, State]], data: Mapping[str, Any]) -> bool:
    """Whether a trigger that made these moves, one a facet, fires that downward: once, whatever it moved."""
    if not moves or (fired.unless is not None and data.get(fired.unless[0]) == fired.unless[1]):
        return False
    if fired.then is not None and all(result.phase != fired.then for _, result in moves):
        return False
    return trigger in fired.on or any(result.phase == fired.into != base.phase for base, result in moves)
