"""Reads the states and histories that an explanation asks for, until it asks for nothing more.

Belongs here: which states and histories to read. Does not: the explanation itself (`explainer`).
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import structs

from phaseline.engine.core.tree import Tree
from phaseline.engine.explain.explainer import explain_entity
from phaseline.engine.explain.model import Explanation, FacetExplanation
from phaseline.engine.explain.said import said_of
from phaseline.engine.log.as_of import AsOf
from phaseline.engine.log.state_view import StateView
from phaseline.engine.log.when import NOW
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.scripts import ScriptRunner
from phaseline.schemas.errors import EntityUnknown
from phaseline.schemas.records import Entity, Transition
from phaseline.schemas.subjects import ancestor_id


class Request(NamedTuple):
    """States to read: of one entity, or of all entities of kind `below` under it."""

    kind: str
    id: str
    below: str | None = None


class ReadTree(Tree):
    """A tree of the entities read so far. `requests`: the states that predicates asked for in vain."""

    __slots__ = ("read", "requests")

    def __init__(self, kinds: Kinds, scripts: ScriptRunner) -> None:
        """Nothing is read yet."""
        super().__init__(kinds, scripts)
        self.read: set[Request] = set()
        self.requests: dict[Request, None] = {}

    def above(self, entity_id: str, kind: str) -> Entity | None:
        """The ancestor of that kind; None if it is unknown or not read yet."""
        self._request(Request(kind, ancestor_id(entity_id, self.kinds[kind].arity)))
        return super().above(entity_id, kind)

    def tally(
        self, entity_id: str, kind: str, below: str, facet: int, has: str | None = None, lacks: str | None = None,
        inside: tuple[str, ...] | None = None,
    ) -> Mapping[str, int]:  # fmt: skip
        """How many of the descendants read so far are in which phase."""
        self._request(Request(kind, entity_id, below))
        return super().tally(entity_id, kind, below, facet, has, lacks, inside)

    def descendants(self, kind: str, entity_id: str, below: str) -> Iterator[str]:
        """The ids read so far of kind `below` under `kind/entity_id`. The entities between them need not be read."""
        self._request(Request(kind, entity_id, below))
        return (one for one in self.entities[below] if one.startswith(f"{entity_id}/"))

    def _request(self, request: Request) -> None:
        if request not in self.read:
            self.requests[request] = None


class Histories:
    """The histories read so far. `requests`: those that were asked for and are not read yet."""

    def __init__(self) -> None:
        """Nothing is read yet."""
        self.read: dict[tuple[str, str], Sequence[Transition]] = {}
        self.requests: dict[tuple[str, str], None] = {}

    def __call__(self, kind: str, entity_id: str) -> Sequence[Transition] | None:
        """The history of an entity; None if it is not read yet."""
        key = (kind, entity_id)
        if key not in self.read:
            self.requests[key] = None
        return self.read.get(key)


async def explain(view: StateView, kind: str, entity_id: str) -> Explanation:
    """Why an entity is in the state that `view` shows; raises `EntityUnknown`."""
    explanation = await _Fetch(view).explain(kind, entity_id)
    if view.moment is None and any(map(_is_unaccounted, explanation.facets)):
        # STATE is a copy, and may hold only some records of an event. The log holds all records of an event or none.
        view = await AsOf.at(view.installation, NOW)
        explanation = await _Fetch(view).explain(kind, entity_id)
    return structs.replace(explanation, place=None if view.moment is None else view.moment.place)


def _is_unaccounted(facet: FacetExplanation) -> bool:
    """Whether a state in this explanation is shown by no view."""
    if facet.view is None:
        return False
    return facet.view.cause is not None or any(map(_is_unaccounted, _entities_of(facet)))


def _entities_of(facet: FacetExplanation) -> Iterator[FacetExplanation]:
    for predicate in facet.view.predicates if facet.view else ():
        yield from predicate.entities


class _Fetch:
    """One explanation in progress, with what was read for it."""

    def __init__(self, view: StateView) -> None:
        self.view = view
        self.tree, self.histories = ReadTree(view.installation.kinds, view.installation.scripts), Histories()
        self.last: dict[tuple[str, str], Transition] = {}

    async def explain(self, kind: str, entity_id: str) -> Explanation:
        await self.read_states(Request(kind, entity_id))
        if self.tree.get(kind, entity_id) is None:
            raise self.view.unknown([kind], entity_id)
        while True:
            explanation = explain_entity(self.tree, self.histories, kind, entity_id)
            states, histories = list(self.tree.requests), list(self.histories.requests)
            if not states and not histories:
                return await self.with_said(explanation)
            # States first: with them, some of the histories may not be needed any more.
            await asyncio.gather(*(map(self.read_states, states) if states else map(self.read_history, histories)))
            self.tree.requests.clear()
            self.histories.requests.clear()

    async def with_said(self, found: Explanation) -> Explanation:
        """The explanation with what was said of the entity's own conditions."""
        entity = found.entity
        read = self.histories.read.get((entity.kind, entity.id), ())
        history = [record for record in read if record.entity.version <= entity.version]
        said, otherwise = await said_of(self.view, entity, history)
        facets = (
            structs.replace(
                one, said=said.get(one.facet, ()), contradicted_by=(*one.contradicted_by, *otherwise.get(one.facet, ()))
            )
            for one in found.facets
        )
        return structs.replace(found, facets=tuple(facets))

    async def read_states(self, request: Request) -> None:
        """Put the requested entities that exist into the tree."""
        self.tree.read.add(request)
        for record in await self.last_records(request):
            entity = record.entity
            known = self.tree.get(entity.kind, entity.id)
            if known is None or known.version < entity.version:
                self.last[entity.kind, entity.id] = record
                self.tree.put(entity)

    async def last_records(self, request: Request) -> list[Transition]:
        """The last record of each requested entity that exists."""
        kind, entity_id, below = request
        if below is not None:
            return await self.view.states(below, entity_id, deleted=True)
        try:
            return [await self.view.last(kind, entity_id)]
        except EntityUnknown:
            return []

    async def read_history(self, key: tuple[str, str]) -> None:
        """Read a history. If the log has lost its last record, the states still have it."""
        history = await self.view.history(*key)
        last = self.last.get(key)
        if last is not None and (not history or history[-1].entity.version < last.entity.version):
            history.append(last)
        whole = self.tree.kinds[key[0]].whole
        self.histories.read[key] = [structs.replace(record, entity=whole(record.entity)) for record in history]
