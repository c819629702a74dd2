"""Reads the states and histories that an explanation needs, and no more, until it needs nothing further.

Belongs here: which states and histories to read. Does not: what follows from them (`why`).
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from phaseline.engine.core.tree import Tree
from phaseline.engine.errors import EntityUnknown
from phaseline.engine.explain import explainer
from phaseline.engine.explain.model import Explained, Explanation
from phaseline.engine.log.as_of import AsOf
from phaseline.engine.log.state_view import StateView
from phaseline.engine.log.when import NOW
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.scripts import ScriptRunner
from phaseline.schemas.records import Entity, Transition
from phaseline.schemas.subjects import ancestor_id


class Wanted(NamedTuple):
    """Something to read: an entity, or all of kind `below` under it."""

    kind: str
    id: str
    below: str | None = None


class ReadTree(Tree):
    """A tree of the entities that were read so far. It notes each entity that a rule asks for and that is not read."""

    __slots__ = ("read", "wanted")

    def __init__(self, kinds: Kinds, scripts: ScriptRunner) -> None:
        """Nothing is read yet."""
        super().__init__(kinds, scripts)
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


async def explain(view: StateView, kind: str, entity_id: str) -> Explanation:
    """Why `kind/entity_id` is as this view shows it; raises `EntityUnknown`."""
    found = await _Inquiry(view).explain(kind, entity_id)
    if view.moment is None and any(map(_half_read, found.facets)):
        # STATE is a copy, and may be caught in the middle of an event. The log itself has events whole.
        view = await AsOf.at(view.installation, NOW)
        found = await _Inquiry(view).explain(kind, entity_id)
    return replace(found, place=None if view.moment is None else view.moment.place)


def _half_read(found: Explained) -> bool:
    if found.view is None:
        return False
    return found.view.caused is not None or any(map(_half_read, _under(found)))


def _under(found: Explained) -> Iterator[Explained]:
    for reason in found.view.reasons if found.view else ():
        yield from reason.entities


class _Inquiry:
    """One explanation under way."""

    def __init__(self, view: StateView) -> None:
        self.view = view
        found = view.installation
        self.scene, self.histories = ReadTree(found.kinds, found.scripts), Histories()
        self.last: dict[tuple[str, str], Transition] = {}

    async def explain(self, kind: str, entity_id: str) -> Explanation:
        await self.see(Wanted(kind, entity_id))
        if self.scene.get(kind, entity_id) is None:
            raise self.view.unknown([kind], entity_id)
        while True:
            found = explainer.why(self.scene, self.histories, kind, entity_id)
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
        """What there is of it."""
        kind, entity_id, below = wanted
        if below is not None:
            return await self.view.states(below, entity_id, deleted=True)
        try:
            return [await self.view.last(kind, entity_id)]
        except EntityUnknown:
            return []

    async def hear(self, key: tuple[str, str]) -> None:
        """Read a history. Where the log has lost its last record, the states still have it."""
        known = await self.view.history(*key)
        last = self.last.get(key)
        if last is not None and (not known or known[-1].entity.version < last.entity.version):
            known.append(last)
        self.histories.read[key] = known
