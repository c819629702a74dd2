"""A changeset: what one event changes in a tree before it is committed. Predicates see the tree through it. Pure.

Belongs here: moving bases, cascades, fan-outs, views, on-tally triggers, until nothing changes any more. Does not:
whether an event is legal (`decide`), the records of the changes (`core.transitions`), changing the tree
(`tree.evolve`).
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

from phaseline.engine.core.judgement import attributes_after
from phaseline.engine.core.lives import beginning
from phaseline.engine.core.memory import reasons
from phaseline.engine.core.timers import silence_of
from phaseline.engine.core.tree import TallyKey, Tree, key_of
from phaseline.machines.compiler.conditions import without_expired
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.compiler.machine import Step
from phaseline.machines.compiler.relations import Counted
from phaseline.machines.language.contact import DERIVED, SILENCE_BELOW, SILENT, UNHEARD, UNWATCHED, WAITED
from phaseline.machines.language.endings import end_of, with_end
from phaseline.machines.language.fields import ATTRIBUTES
from phaseline.machines.language.scripts import ScriptRunner
from phaseline.machines.language.signals import TOLD, UNTOLD
from phaseline.machines.language.table import ABSENT, DELETED, OWNER_GONE, Cascade, FanOut, Refusal, RuleEvent
from phaseline.schemas.records import CONTACT, NONE, By, Entity, FacetState, State
from phaseline.schemas.subjects import ancestor_id, id_above

NOT_THERE = (ABSENT, DELETED)
"""The phases of what does not live."""
REMEMBERED = 4_096
"""The most moves of which it is remembered what counts them."""
TallyAt = tuple[str, str, str, int, str | None, str | None, tuple[str, ...] | None]
"""The id of the entity above; then the parts of a `TallyKey`."""


class Origin(msgspec.Struct, frozen=True, gc=False):
    """What moved a facet within a changeset: a trigger, and how it came about.

    entity: `<kind>/<id>` of the entity from which a cascade, view or tally came. data: what the trigger brought.
    """

    trigger: str
    by: By
    entity: str | None = None
    data: Mapping[str, Any] = NONE


class EntityChange:
    """One entity within a changeset. `origins`: per facet, what moved it last."""

    __slots__ = (
        "asked", "attributes", "before", "born", "facets", "fired_timer", "memory", "origins", "replaced", "sequences",
    )  # fmt: skip

    def __init__(self, before: Entity | None, kind: Kind) -> None:
        """Start from the committed entity, or from an unknown one."""
        self.before = before
        self.facets: list[FacetState] = list(kind.unborn if before is None else before.facets)
        self.attributes: Mapping[str, Any] = NONE if before is None else before.attributes
        self.sequences: Mapping[str, int] = NONE if before is None else before.sequences
        self.asked, self.born = (0, 0) if before is None else (before.asked, before.born)
        self.memory = None if before is None else before.memory
        self.origins: dict[int, Origin] = {}
        self.fired_timer: str | None = None
        """The facet whose timer fired this event."""
        self.replaced: str | None = None
        """The identity of the thing in whose place another one lives from now on, though nobody saw it go."""


class Changeset:
    """What one event changes. The order of the changes depends on the tree's content alone, so a replay repeats it."""

    __slots__ = (
        "asks", "cascades", "changes", "created", "dirty", "kinds", "on_tally_fired", "orphans", "sequence", "tallies",
        "tally_changed_by", "time", "tree", "trigger",
    )  # fmt: skip

    def __init__(self, tree: Tree, trigger: str, sequence: int, time: int, *, asks: bool = False) -> None:
        """`trigger`, `sequence` and `time` (ns) are those of the stored event.

        asks: whether the event is an intent. Then it is also the last request of each entity that its cascades move.
        """
        self.tree, self.kinds, self.trigger, self.asks = tree, tree.kinds, trigger, asks
        self.sequence, self.time = sequence, time
        self.changes: dict[tuple[str, str], EntityChange] = {}
        self.tallies: dict[TallyAt, dict[str, int]] = {}
        self.dirty: dict[tuple[str, str], Origin] = {}
        """The entities whose views have to be computed again."""
        self.cascades: list[tuple[str, str, Origin]] = []
        """The triggers that are fired but not yet taken, with the kind and id at which each is fired."""
        self.orphans: set[tuple[str, str]] = set()
        """The entities at which `owner_gone` was fired because something above them was deleted."""
        self.created: list[tuple[str, str]] = []
        """The entities that the tree does not know yet."""
        self.tally_changed_by: dict[TallyAt, str] = {}
        """The id of the descendant that changed each tally last."""
        self.on_tally_fired: set[tuple[str, str, str]] = set()
        """The on-tally triggers that were taken. Each is taken once per event at each entity, so that settling ends."""

    @property
    def scripts(self) -> ScriptRunner:
        """The script runner of the tree."""
        return self.tree.scripts

    @property
    def silence_after(self) -> float:
        """As of the tree."""
        return self.tree.silence_after

    def above(self, entity_id: str, kind: str) -> EntityChange | Entity | None:
        """The ancestor of that kind, with the changes so far."""
        above_id = ancestor_id(entity_id, self.kinds[kind].arity)
        return self.changes.get((kind, above_id)) or self.tree.entities[kind].get(above_id)

    def tally(
        self, entity_id: str, kind: str, below: str, facet: int, has: str | None = None, lacks: str | None = None,
        inside: tuple[str, ...] | None = None,
    ) -> Mapping[str, int]:  # fmt: skip
        """How many descendants are in which phase, with the changes so far."""
        tally = self.tallies.get((entity_id, kind, below, facet, has, lacks, inside))
        return self.tree.tally(entity_id, kind, below, facet, has, lacks, inside) if tally is None else tally

    def _is_known(self, kind: str, entity_id: str) -> bool:
        return entity_id in self.tree.entities[kind] or (kind, entity_id) in self.changes

    def entity(self, kind: str, entity_id: str) -> EntityChange | Entity:
        """A known entity, with the changes so far."""
        return self.changes.get((kind, entity_id)) or self.tree.entities[kind][entity_id]

    def change(self, kind: str, entity_id: str) -> EntityChange:
        """The change of an entity; an empty one is added if the entity has none yet."""
        change = self.changes.get((kind, entity_id))
        if change is None:
            change = EntityChange(self.tree.entities[kind].get(entity_id), self.kinds[kind])
            self.changes[kind, entity_id] = change
            if change.before is None:
                self.created.append((kind, entity_id))
        return change

    def descendants(self, kind: str, entity_id: str, below: str) -> list[str]:
        """The sorted ids of kind `below` under `kind/entity_id`, with the entities that this event creates."""
        ids = list(self.tree.descendants(kind, entity_id, below))
        ids += (created for of, created in self.created if of == below and created.startswith(f"{entity_id}/"))
        return sorted(ids)

    def move(self, kind: str, entity_id: str, facet: int, base: State, origin: Origin) -> None:
        """Give one facet a new base."""
        change = self.change(kind, entity_id)
        old = change.facets[facet]
        interrupted = self.kinds[kind].machines[facet].interrupted(old, base, origin.data)
        change.facets[facet] = FacetState(base, old.state, old.since_ns, interrupted)
        change.origins[facet] = origin
        if facet == 0 and old.base.phase in NOT_THERE and base.phase not in NOT_THERE:
            beginning.begin(change, self.sequence, awaited=self.asks and origin.by in ("event", "cascade"))
        elif change.memory is not None and beginning.shows(self.kinds[kind], facet, origin.trigger, old.base, base):
            beginning.show(change, self.sequence)
        self._mark((kind, entity_id), origin, own=facet != self.kinds[kind].contact)
        self._mark_viewers(kind, entity_id, facet, old.base.phase, base.phase, of_base=True)

    def relocate(self, kind: str, entity_id: str, facet: int, base: State, origin: Origin) -> None:
        """Give one facet the base that a map of states names. It fires no cascade, but a life can end with it."""
        change = self.change(kind, entity_id)
        before = change.facets[facet].base
        self.move(kind, entity_id, facet, base, origin)
        change.memory = reasons.after(self.kinds[kind], facet, (), before, base, None, change.memory)
        if base.phase == DELETED:
            change.asked = self.sequence
        if self.kinds[kind].contact is not None:
            self._end_contact(kind, entity_id, origin.trigger)
        if ends_life(facet, before, base) and self.kinds[kind].below:
            self.end_below(kind, entity_id)
        parent = self.kinds[kind].parent
        above = None if parent is None else self.above(entity_id, parent)
        if above is not None and above.facets[0].base.phase == DELETED:
            # The owner ended while no row of this entity could follow.
            owner = id_above(entity_id, self.kinds[kind].levels)
            self.cascades.append((kind, entity_id, Origin(OWNER_GONE, "cascade", f"{parent}/{owner}")))

    def take(self, kind: str, entity_id: str, steps: list[tuple[int, Step]], origin: Origin) -> None:
        """Take these steps, one per facet, and queue the triggers that they fire downward. Attributes stay."""
        if not steps:
            return
        compiled, change = self.kinds[kind], self.change(kind, entity_id)
        moves, ends = [], False
        for facet, step in steps:
            base = change.facets[facet].base
            result = step.result(base, origin.data)
            self.move(kind, entity_id, facet, result, origin)
            moves.append((base, result))
            change.memory = reasons.of_step(compiled, facet, step, base, result, origin.data, change.memory)
            ends = ends or ends_life(facet, base, result)
            asks = self.asks and origin.by in ("event", "cascade")
            waits = waits_anew(compiled, facet, origin.trigger, base, result, asks=asks)
            if waits is not None:
                change.asked = self.sequence if waits else 0
        if ends:
            self._end_life(compiled, entity_id, origin)
        if compiled.contact is not None:
            self._end_contact(kind, entity_id, origin.trigger)
            if change.before is None or change.attributes is not change.before.attributes:
                self._wait_below(kind, entity_id)
        for cascade in compiled.table.cascades:
            if is_fired(cascade, origin.trigger, moves, origin.data):
                self._queue_cascade(cascade, kind, entity_id, origin)
        for fan_out in compiled.table.fan_outs:
            if origin.trigger in fan_out.on:
                self._queue_fan_out(fan_out, kind, entity_id, origin.data)
        if compiled.inherited:
            self._mark_heirs(kind, entity_id)
        if ends and compiled.below:
            self.end_below(kind, entity_id)

    def _end_life(self, kind: Kind, entity_id: str, origin: Origin) -> None:
        """Note how a life ended, and queue the end of its signals."""
        change = self.changes[kind.name, entity_id]
        end = end_of(origin.trigger, kind.roles[origin.trigger], origin.data)
        change.attributes = with_end(change.attributes, end)
        if kind.signals is not None and change.facets[kind.signals].base.phase == TOLD:
            self.cascades.append((kind.name, entity_id, Origin(UNTOLD, "cascade", f"{kind.name}/{entity_id}")))

    def _end_contact(self, kind: str, entity_id: str, trigger: str) -> None:
        """Queue the end of an entity's contact if it is gone, or if nobody waits for its reporter any more.

        trigger: the one that was taken. What contact itself fires ends nothing again.
        """
        change = self.changes[kind, entity_id]
        is_unheard = change.facets[-1].base.phase == UNHEARD
        if is_unheard and (change.before is None or CONTACT not in change.before.timers_ns):
            return
        is_gone = change.facets[0].base.phase == DELETED
        if trigger in DERIVED or (is_unheard and not is_gone):
            return
        if is_gone or not silence_of(self, self.kinds[kind], entity_id, change.attributes) > 0:
            trigger = WAITED if is_unheard else UNWATCHED
            self.cascades.append((kind, entity_id, Origin(trigger, "cascade", f"{kind}/{entity_id}")))

    def _wait_below(self, kind: str, entity_id: str) -> None:
        """Let those below whose time the event has changed wait anew, or no more."""
        change = self.changes[kind, entity_id]
        old = NONE if change.before is None else change.before.attributes
        if change.attributes is old or SILENCE_BELOW not in change.attributes:
            return
        before: Mapping[str, float] = old.get(SILENCE_BELOW, NONE)
        after: Mapping[str, float] = change.attributes[SILENCE_BELOW]
        for below in sorted(name for name in {*before, *after} if before.get(name) != after.get(name)):
            for one in self.descendants(kind, entity_id, below):
                entity = self.entity(below, one)
                phase, is_gone = entity.facets[-1].base.phase, entity.facets[0].base.phase in (ABSENT, DELETED)
                old_after = silence_of(self.tree, self.kinds[below], one, entity.attributes)
                new_after = silence_of(self, self.kinds[below], one, entity.attributes)
                if new_after != old_after and not is_gone and (phase != SILENT or not new_after > 0):
                    trigger = WAITED if phase == UNHEARD or new_after > 0 else UNWATCHED
                    self.cascades.append((below, one, Origin(trigger, "cascade", f"{kind}/{entity_id}")))

    def _assign(self, kind: str, entity_id: str, steps: list[tuple[int, Step]], data: Mapping[str, Any]) -> None:
        """Assign attributes by the steps of a derived trigger. If a rule refuses its data, they stay as they are."""
        if not any(step.row.assigns or step.row.forgets or step.row.computes for _, step in steps):
            return
        change = self.change(kind, entity_id)
        data = {name: value for name, value in data.items() if name != ATTRIBUTES}  # they are of the event's own entity
        after = attributes_after(self.kinds[kind], steps, change.attributes, RuleEvent(data, self.sequence, self.time))
        if not isinstance(after, Refusal):
            change.attributes = after

    def _queue_cascade(self, cascade: Cascade, kind: str, entity_id: str, fired_by: Origin) -> None:
        if cascade.targets is not None:
            self._pass_on(cascade, kind, entity_id, fired_by)
            return
        attributes = self.change(kind, entity_id).attributes
        data = {name: attributes.get(of) for name, of in cascade.data.items()} if cascade.data else NONE
        origin = Origin(cascade.trigger, "cascade", f"{kind}/{entity_id}", data)
        for below in cascade.at:
            ids = self.descendants(kind, entity_id, below)
            if cascade.only_child is not None:
                ids = [one for one in ids if one == f"{entity_id}/{attributes.get(cascade.only_child)}"]
            self.cascades.extend((below, one, origin) for one in ids)

    def _pass_on(self, cascade: Cascade, kind: str, entity_id: str, fired_by: Origin) -> None:
        """Queue a cascade at the other known entities that its rule names. What was passed on stays there."""
        if cascade.targets is None or (fired_by.by == "cascade" and fired_by.trigger == cascade.trigger):
            return
        origin = Origin(cascade.trigger, "cascade", f"{kind}/{entity_id}", fired_by.data)
        root, own = ancestor_id(entity_id, 1), (kind, entity_id)
        for one in cascade.targets(self, entity_id, fired_by.data):
            known = (at for at in cascade.at if (at, one) in self.changes or one in self.tree.entities[at])
            self.cascades.extend((at, one, origin) for at in known if ancestor_id(one, 1) == root and (at, one) != own)

    def _queue_fan_out(self, fan_out: FanOut, kind: str, entity_id: str, data: Mapping[str, Any]) -> None:
        for below_id in self.descendants(kind, entity_id, fan_out.at):
            if (chosen := fan_out.rule(self, entity_id, data, below_id)) is not None:
                trigger, more = (chosen, NONE) if isinstance(chosen, str) else chosen
                self.cascades.append((fan_out.at, below_id, Origin(trigger, "cascade", f"{kind}/{entity_id}", more)))

    def end_below(self, kind: str, entity_id: str) -> None:
        """End the lives of all descendants, of every kind. Each gets the trigger once, from the entity at the top."""
        origin = Origin(OWNER_GONE, "cascade", f"{kind}/{entity_id}")
        for below in self.kinds[kind].below:
            for one in self.descendants(kind, entity_id, below):
                if (below, one) not in self.orphans:
                    self.orphans.add((below, one))
                    self.cascades.append((below, one, origin))

    def settle(self) -> None:
        """Run cascades, views and on-tally triggers until nothing changes. The checks of tables prove the end."""
        while self.cascades or self.dirty or self._fire_on_tally():
            while self.cascades:
                wave, self.cascades = self.cascades, []
                for kind, entity_id, origin in wave:
                    self._take_derived(kind, entity_id, origin)
            while self.dirty:
                for marked in [*self.dirty]:  # to find the first of a dict again and again takes ever longer
                    self._apply_views(*marked, self.dirty.pop(marked))

    def _take_derived(self, kind: str, entity_id: str, origin: Origin) -> None:
        """Take the steps of a trigger that the engine fires, if there are any."""
        compiled = self.kinds[kind]
        if compiled.roles[origin.trigger] == "intent" and (kind, entity_id) in self.dirty:
            self._apply_views(kind, entity_id, self.dirty.pop((kind, entity_id)))
        entity = self.entity(kind, entity_id)
        steps = compiled.select(origin.trigger, entity.facets, self, entity_id, origin.data).steps
        if steps and origin.by == "tally":
            self.on_tally_fired.add((kind, entity_id, origin.trigger))
        self._assign(kind, entity_id, steps, origin.data)
        self.take(kind, entity_id, steps, origin)

    def _apply_views(self, kind: str, entity_id: str, origin: Origin) -> None:
        """Compute the states of an entity again."""
        compiled, entity = self.kinds[kind], self.entity(kind, entity_id)
        for index, machine in enumerate(compiled.machines):
            old = entity.facets[index]
            if index >= compiled.own and old.base is old.state:
                continue  # no view looks at it
            base, state = old.base, machine.shown(old.base, self, entity_id)
            if state == old.state:
                continue
            expiring = compiled.expiring[index].get(old.state.phase)
            if expiring and state.phase != old.state.phase and not expiring.isdisjoint(base.conditions):
                base = without_expired(machine.facet, base, expiring)
                state = machine.shown(base, self, entity_id)
            change = self.change(kind, entity_id)
            change.memory = reasons.after(compiled, index, (), old.base, base, None, change.memory)
            change.facets[index] = FacetState(base, state, old.since_ns, old.interrupted)
            change.origins.setdefault(index, origin)
            self._count(kind, entity_id, index, old.state, state)
            self._mark_viewers(kind, entity_id, index, old.state.phase, state.phase, of_base=False)

    def _count(self, kind: str, entity_id: str, facet: int, before: State, after: State) -> None:
        """Bring the tallies above up to date, and mark the entities whose views look at them."""
        for counted, of, old, new in _counts_of(self.kinds[kind], facet, before, after):
            above = id_above(entity_id, counted.levels)
            key = (above, *of)
            tally = self.tallies.get(key)
            if tally is None:
                tally = self.tallies[key] = dict(self.tree.tally(*key))
            crossed = _recount(tally, old, new)
            self.tally_changed_by[key] = entity_id
            if (counted.each or not counted.phases.isdisjoint(crossed)) and self._is_known(counted.kind, above):
                self._mark((counted.kind, above), Origin(self.trigger, "tally", f"{kind}/{entity_id}"))

    def _mark(self, marked: tuple[str, str], origin: Origin, *, own: bool = False) -> None:
        """Mark an entity whose views count anew. Its own move says why; its contact only if nothing else."""
        if own or marked not in self.dirty or self.dirty[marked].trigger in DERIVED:
            self.dirty[marked] = origin

    def _mark_viewers(self, kind: str, entity_id: str, facet: int, old: str, new: str, *, of_base: bool) -> None:
        """Mark the entities below whose views look at a phase of this one, if the change of phase matters to them."""
        for seen in self.kinds[kind].viewers:
            if seen.facet == facet and seen.base is of_base and (old in seen.phases) != (new in seen.phases):
                origin = Origin(self.trigger, "view", f"{kind}/{entity_id}")
                for below_id in self.descendants(kind, entity_id, seen.below):
                    self._mark((seen.below, below_id), origin)

    def _mark_heirs(self, kind: str, entity_id: str) -> None:
        """Mark the entities below whose views look at an attribute of this one that the event has changed."""
        change = self.changes[kind, entity_id]
        old = NONE if change.before is None else change.before.attributes
        for name, below in self.kinds[kind].inherited:
            if change.attributes.get(name) != old.get(name):
                origin = Origin(self.trigger, "view", f"{kind}/{entity_id}")
                for below_id in self.descendants(kind, entity_id, below):
                    self._mark((below, below_id), origin)

    def _fire_on_tally(self) -> bool:
        """Take the on-tally triggers whose predicate holds since this event; whether there is more to settle."""
        for key in list(self.tallies):
            entity_id, kind, *counted = key
            for on_tally in self.kinds[kind].table.on_tally:
                when, once = on_tally.when, (kind, entity_id, on_tally.trigger)
                of = [when.kind, when.facet, when.has, when.lacks]
                if of != counted[:4] or counted[4] not in when.apart or once in self.on_tally_fired:
                    continue
                if when.holds(self, entity_id) and not when.holds(self.tree, entity_id):
                    origin = Origin(on_tally.trigger, "tally", f"{when.kind}/{self.tally_changed_by[key]}")
                    self._take_derived(kind, entity_id, origin)
        return bool(self.cascades or self.dirty)


@lru_cache(maxsize=REMEMBERED)
def _counts_of(kind: Kind, facet: int, before: State, after: State) -> tuple[tuple[Counted, TallyKey, str, str], ...]:
    """The tallies above that a move changes, each with its key, and from which phase to which."""
    of_facet = [one for one in kind.counted if one.facet == facet]
    found = [(one, key_of(one, kind.name), one.phase(before), one.phase(after)) for one in of_facet]
    return tuple(each for each in found if each[2] != each[3])


def waits_anew(kind: Kind, facet: int, trigger: str, before: State, after: State, *, asks: bool) -> bool | None:
    """Whether a facet's base waits for an event from now on: for this one, for none (False), or as before (None).

    A deletion counts as such an event: reports that are older than it are stale. asks: whether the event is a request.
    """
    if after.phase == DELETED:
        return True if before.phase != DELETED else None
    if after.phase not in kind.waiting[facet]:
        return None
    if asks and trigger in kind.asking[facet]:
        return True
    return None if before.phase in kind.waiting[facet] else False


def ends_life(facet: int, before: State, after: State) -> bool:
    """Whether a move of this facet's base deletes the entity: an entity lives as long as its first facet does."""
    return facet == 0 and after.phase == DELETED != before.phase


def is_fired(cascade: Cascade, trigger: str, moves: list[tuple[State, State]], data: Mapping[str, Any]) -> bool:
    """Whether a trigger fires this cascade. `moves`: the base before and after, of each moved facet."""
    if not moves or (cascade.unless is not None and data.get(cascade.unless[0]) == cascade.unless[1]):
        return False
    if cascade.then is not None and all(result.phase != cascade.then for _, result in moves):
        return False
    return trigger in cascade.on or any(result.phase == cascade.into != base.phase for base, result in moves)


def _recount(tally: dict[str, int], old: str, new: str) -> tuple[str, ...]:
    """Move one descendant from phase `old` to phase `new`; returns the phases whose count left zero or came to it."""
    crossed: tuple[str, ...] = ()
    if old != ABSENT:
        left = tally[old] - 1
        if left:
            tally[old] = left
        else:
            del tally[old]
            crossed = (old,)
    if new != ABSENT:
        count = tally[new] = tally.get(new, 0) + 1
        if count == 1:
            crossed = (*crossed, new)
    return crossed
