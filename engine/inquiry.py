"""Asking why: reads what an explanation asks for, and no more, until it asks for nothing further.

Belongs here: which states and histories are read, from where. Does not: what follows from them (`why`).
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from phaseline.engine import past, queries, why
from phaseline.engine.errors import EntityUnknown
from phaseline.engine.explanation import Explained, Explanation
from phaseline.engine.sandbox import shared
from phaseline.engine.streams import Layout
from phaseline.engine.tree import Tree, ancestor_id
from phaseline.engine.wire import Wire
from phaseline.machines.kinds import Kinds
from phaseline.schemas.records import Entity, Transition
from phaseline.schemas.subjects import Subjects, partition_of_id


class Wanted(NamedTuple):
    """Something to read: an entity, or all of kind `below` under it."""

    kind: str
    id: str
    below: str | None = None


class Scene(Tree):
    """A tree that notes what is looked at before it was read."""

    __slots__ = ("read", "wanted")

    def __init__(self, kinds: Kinds) -> None:
        """Nothing is read yet."""
        super().__init__(kinds, shared())
        self.read: set[Wanted] = set()
        self.wanted: dict[Wanted, None] = {}

    def above(self, entity_id: str, kind: str) -> Entity | None:
        """The ancestor of that kind."""
        self._want(Wanted(kind, ancestor_id(entity_id, self.kinds[kind].arity)))
        return super().above(entity_id, kind)

    def tally(self, entity_id: str, kind: str, below: str, facet: int, has: str | None = None) -> Mapping[str, int]:
        """How many descendants are in which phase."""
        self._want(Wanted(kind, entity_id, below))
        return super().tally(entity_id, kind, below, facet, has)

    def descendants(self, kind: str, entity_id: str, below: str) -> Iterator[str]:
        """The ids of kind `below` under `kind/entity_id`; what is between them need not have been read."""
        self._want(Wanted(kind, entity_id, below))
        return (found for found in self.entities[below] if found.startswith(f"{entity_id}/"))

    def _want(self, wanted: Wanted) -> None:
        if wanted not in self.read:
            self.wanted[wanted] = None


class Histories:
    """Histories as far as they were read; `wanted` are those that were asked for and not there."""

    def __init__(self) -> None:
        """Nothing is read yet."""
        self.read: dict[tuple[str, str], Sequence[Transition]] = {}
        self.wanted: dict[tuple[str, str], None] = {}

    def __call__(self, kind: str, entity_id: str) -> Sequence[Transition] | None:
        """What is known of that entity; None where it has yet to be read."""
        key = (kind, entity_id)
        if key not in self.read:
            self.wanted[key] = None
        return self.read.get(key)


async def explain(
    wire: Wire, layout: Layout, kinds: Kinds, kind: str, entity_id: str, place: int | None = None
) -> Explanation:
    """Why `kind/entity_id` is as it is; or was, when the log had come to `place`. Raises `EntityUnknown`."""
    found = await _Inquiry(wire, layout, kinds, place).explain(kind, entity_id)
    if place is None and any(map(_half_read, found.facets)):
        # STATE is a copy, and may be caught in the middle of an event. The log itself has events whole.
        place = await past.place_of(wire, layout, past.LATEST)
        found = await _Inquiry(wire, layout, kinds, place).explain(kind, entity_id)
    return replace(found, place=place)


def _half_read(found: Explained) -> bool:
    if found.view is None:
        return False
    return found.view.caused is not None or any(map(_half_read, _under(found)))


def _under(found: Explained) -> Iterator[Explained]:
    for reason in found.view.reasons if found.view else ():
        yield from reason.entities


class _Inquiry:
    """One question: now, or at a place."""

    def __init__(self, wire: Wire, layout: Layout, kinds: Kinds, place: int | None) -> None:
        self.wire, self.layout, self.place = wire, layout, place
        self.scene, self.histories = Scene(kinds), Histories()
        self.last: dict[tuple[str, str], Transition] = {}

    async def explain(self, kind: str, entity_id: str) -> Explanation:
        await self.see(Wanted(kind, entity_id))
        if self.scene.get(kind, entity_id) is None:
            raise EntityUnknown(kind=kind, id=entity_id)
        while True:
            found = why.why(self.scene, self.histories, kind, entity_id)
            seen, told = list(self.scene.wanted), list(self.histories.wanted)
            if not seen and not told:
                return found
            # What is to be told follows from what is seen: a history may not be asked for any more once that is read.
            await asyncio.gather(*(map(self.see, seen) if seen else map(self.hear, told)))
            self.scene.wanted.clear()
            self.histories.wanted.clear()

    async def see(self, wanted: Wanted) -> None:
        """Put what is wanted into the scene, as far as there is such a thing."""
        self.scene.read.add(wanted)
        for record in await self.states(wanted):
            entity = record.entity
            known = self.scene.get(entity.kind, entity.id)
            if known is None or known.version < entity.version:
                self.last[entity.kind, entity.id] = record
                self.scene.put(entity)

    async def states(self, wanted: Wanted) -> list[Transition]:
        wire, layout, kinds, place = self.wire, self.layout, self.scene.kinds, self.place
        kind, entity_id, below = wanted
        if below is not None and place is None:
            return await queries.states(wire, layout, kinds, below, entity_id, None, deleted=True)
        if below is not None and place is not None:
            return await past.states(wire, layout, kinds, below, entity_id, None, deleted=True, place=place)
        try:
            if place is None:
                return [await queries.last(wire, layout, kind, entity_id)]
            return [await past.last(wire, layout, kind, entity_id, place)]
        except EntityUnknown:
            return []

    async def hear(self, key: tuple[str, str]) -> None:
        """Read a history. The last record of it is in the states, where the log has lost it."""
        kind, entity_id = key
        subjects, partition = Subjects(self.layout.prefix), partition_of_id(entity_id, self.layout.partitions)
        filter_ = subjects.transition(partition, kind, "*", "*", entity_id)
        end = past.LATEST if self.place is None else self.place
        found = [logged.record async for logged in past.records(self.wire, self.layout, filter_, 0, end)]
        known = [record for record in found if isinstance(record, Transition)]
        last = self.last.get(key)
        if last is not None and (not known or known[-1].entity.version < last.entity.version):
            known.append(last)
        self.histories.read[key] = known
