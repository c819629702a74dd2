"""Reads the states and histories that a question asks for, until it asks for nothing more.

Belongs here: which states and histories to read for an explanation, for what is legal, for the way out of a rejection.
Does not: the answers (`explainer`, `way_out`, `core.rejections`).
"""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from msgspec import structs

from phaseline.engine.core import intake
from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.rejections import legal_triggers
from phaseline.engine.core.tree import Tree
from phaseline.engine.log.as_of import AsOf
from phaseline.engine.log.explain.explainer import explain_entity
from phaseline.engine.log.explain.model import Explanation, FacetExplanation
from phaseline.engine.log.explain.refused import refused_of
from phaseline.engine.log.explain.said import said_of
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log import Log
from phaseline.engine.log.log_records import Logged
from phaseline.engine.log.state_view import StateView
from phaseline.engine.log.when import NOW, Moment
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.relations import with_all_above
from phaseline.machines.language.scripts import ScriptRunner
from phaseline.schemas.errors import NotPermitted
from phaseline.schemas.records import NONE, Cause, Entity, Rejection, Transition
from phaseline.schemas.subjects import ancestor_id

T = TypeVar("T")


class Request(NamedTuple):
    """States to read: of one entity, or of all entities of kind `below` under it."""

    kind: str
    id: str
    below: str | None = None


class ReadTree(Tree):
    """A tree of the entities read so far. `requests`: the states that predicates asked for in vain."""

    __slots__ = ("read", "requests")

    def __init__(self, kinds: Kinds, scripts: ScriptRunner) -> None:
        super().__init__(kinds, scripts)
        self.read: set[Request] = set()
        self.requests: dict[Request, None] = {}

    def get(self, kind: str, entity_id: str) -> Entity | None:
        """The entity; None if it is unknown or not read yet."""
        self._request(Request(kind, entity_id))
        return super().get(kind, entity_id)

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


async def legal(view: StateView, kind: str, entity_id: str) -> list[str]:
    """The triggers that publishers could send to an entity in the tree that `view` shows."""
    now = time.time_ns() if view.moment is None else view.moment.time_ns
    arrival = Arrival(kind, "", entity_id, NONE, Cause(0, "", "", "event"), None, now)
    return await _Fetch(view).worked_out(kind, entity_id, lambda tree: legal_triggers(tree, arrival))


async def way_out_of(installation: Installation, logged: Logged) -> str:
    """What could be done about a rejection, as things stood at its place in the log; empty if nothing is known.

    Nothing is, unless the table of its kind is the one that decided: another one may not know its states.
    """
    record, kinds = logged.record, installation.kinds
    if not isinstance(record, Rejection) or logged.wire.get("tableversion") != kinds.versions.get(record.kind, "-"):
        return ""
    try:
        event = await Log(installation).event(record.cause.sequence)
    except NotPermitted:  # one who may not read events still learns what the log says
        event = None
    cause, read = record.cause, None
    if event is not None:
        read = intake.read(kinds, installation.subjects, event.subject, event.body, cause.sequence, record.time_ns)
    view = AsOf(installation, Moment(logged.sequence, record.time_ns))
    from phaseline.engine.log.explain.way_out import way_out  # noqa: PLC0415  # few ask for a way out

    return await _Fetch(view).worked_out(record.kind, record.id, lambda tree: way_out(tree, record, read))


class _Fetch:
    """One answer in progress, with what was read for it."""

    def __init__(self, view: StateView) -> None:
        self.view = view
        self.tree, self.histories = ReadTree(view.installation.kinds, view.installation.scripts), Histories()
        self.last: dict[tuple[str, str], Transition] = {}

    async def explain(self, kind: str, entity_id: str) -> Explanation:
        await self.read_states(Request(kind, entity_id))
        if entity_id not in self.tree.entities[kind]:
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

    async def worked_out(self, kind: str, entity_id: str, ask: Callable[[Tree], T]) -> T:
        """The answer about an entity, once all that it depends on is read."""
        above = with_all_above(self.tree.kinds, kind, entity_id)
        self.tree.requests.update(dict.fromkeys(Request(*one) for one in above))
        while True:
            await asyncio.gather(*map(self.read_states, list(self.tree.requests)))
            self.tree.requests.clear()
            answer = ask(self.tree)
            if not self.tree.requests:
                return answer

    async def with_said(self, found: Explanation) -> Explanation:
        """The explanation with what was said of the entity's own conditions, and what was said and refused."""
        entity = found.entity
        read = self.histories.read.get((entity.kind, entity.id), ())
        history = [record for record in read if record.entity.version <= entity.version]
        (said, otherwise), refused = await asyncio.gather(
            said_of(self.view, entity, history), refused_of(self.view, self.last[entity.kind, entity.id])
        )
        facets = (
            structs.replace(
                one, said=said.get(one.facet, ()),
                contradicted_by=(*one.contradicted_by, *otherwise.get(one.facet, ()), *(() if at else refused)),
            )
            for at, one in enumerate(found.facets)
        )  # fmt: skip
        return structs.replace(found, facets=tuple(facets))

    async def read_states(self, request: Request) -> None:
        """Put the requested entities that exist into the tree."""
        self.tree.read.add(request)
        for record in await self.last_records(request):
            entity = record.entity
            self.tree.read.add(Request(entity.kind, entity.id))
            known = self.tree.entities[entity.kind].get(entity.id)
            if known is None or known.version < entity.version:
                self.last[entity.kind, entity.id] = record
                self.tree.put(entity)

    async def last_records(self, request: Request) -> list[Transition]:
        """The last record of each requested entity that exists."""
        kind, entity_id, below = request
        if below is not None:
            return await self.view.states(below, entity_id, deleted=True)
        found = await self.view.found(kind, entity_id)
        return [] if found is None else [found]

    async def read_history(self, key: tuple[str, str]) -> None:
        """Read a history. If the log has lost its last record, the states still have it."""
        history = await self.view.history(*key)
        last = self.last.get(key)
        if last is not None and (not history or history[-1].entity.version < last.entity.version):
            history.append(last)
        whole = self.tree.kinds[key[0]].whole
        self.histories.read[key] = [structs.replace(record, entity=whole(record.entity)) for record in history]
