"""What a client reads of the entities at one moment.

Belongs here: one method for each read that is about one moment. Does not: the reads themselves (`queries`, `past`,
`inquiry`, `statusing`), ranges of time and records to come (`asking`).
"""

from collections.abc import AsyncIterator, Sequence
from typing import Any, Generic, TypeVar

from phaseline.engine.client import fleet_counts, fleet_placement
from phaseline.engine.emco_status import request
from phaseline.engine.emco_status.select import Selection
from phaseline.engine.errors import EntityUnknown, InvalidId
from phaseline.engine.explain import fetch
from phaseline.engine.explain.model import Explanation
from phaseline.engine.log import latest, resolve_kind
from phaseline.engine.log.state_view import StateView
from phaseline.engine.log.watch import Wanted
from phaseline.engine.log.when import Moment
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.records import Entity, Transition

M_co = TypeVar("M_co", bound=Moment | None, covariant=True)


class EntityView(Generic[M_co]):
    """The entities at one moment: all reads of a view show the same one. `client.at` makes it.

    The view of the latest states has no moment: it shows at each read what is known by then, some milliseconds behind the
    log.
    """

    def __init__(self, states: StateView, moment: M_co) -> None:
        """Read from these states, which show `moment`."""
        self._states, self._moment = states, moment

    @property
    def moment(self) -> M_co:
        """What the view shows: a place in the log, and its time. None: the latest states."""
        return self._moment

    @property
    def kinds(self) -> Kinds:
        """The tables of the kinds."""
        return self._states.installation.kinds

    async def get(self, kind: str, entity_id: str) -> Entity:
        """One entity; raises `EntityUnknown`."""
        return (await self.last(kind, entity_id)).entity

    async def last(self, kind: str, entity_id: str) -> Transition:
        """The last transition of an entity: its state, the reason, and the time. Raises `EntityUnknown`."""
        latest.check_name(self.kinds, kind, entity_id)
        return await self._states.last(kind, entity_id)

    async def list(
        self, kind: str | None = None, *, tree: str | None = None, state: str | None = None, deleted: bool = False
    ) -> AsyncIterator[Entity]:
        """The entities that fit, ids in natural order. tree: this id and what is under it. deleted: gone ones too."""
        Wanted(kind=kind, state=state, below=tree).check(self.kinds)
        for record in await self._states.states(kind, tree, state, deleted=deleted):
            yield record.entity

    async def tree(self, root: str, *, deleted: bool = False) -> Sequence[Entity]:
        """`root` and all entities under it, ids in natural order; raises `TreeUnknown`."""
        latest.check_tree(root)
        return [record.entity for record in await self._states.tree(root, deleted=deleted)]

    async def kind_of(self, entity_id: str, kind: str | None = None) -> str:
        """The kind of the only entity with that id, or `kind` if it exists.

        Raises `EntityUnknown`, `AmbiguousId` or `InvalidId`.
        """
        return await resolve_kind.find(self._states, entity_id, kind)

    async def why(self, kind: str, entity_id: str) -> Explanation:
        """Why an entity is in its state: back to the events from outside. Raises `EntityUnknown`."""
        latest.check_name(self.kinds, kind, entity_id)
        return await fetch.explain(self._states, kind, entity_id)

    async def status(self, resource_id: str, /, **query: Any) -> dict[str, Any]:
        """The status of an EMCO resource; raises `EntityUnknown`, `BadStatusQuery`, `ServiceRefused`."""
        return await request.status(self._states, resource_id, query)

    async def selected(self, resource_id: str, /, **query: Any) -> Selection:
        """What a status is made of: entities, counts, resources and why they failed. Raises as `status` does."""
        return await request.selected(self._states, resource_id, query)

    async def counts(self, entity_id: str) -> dict[str, Any]:
        """Fleet's counts of a repository, a bundle or a deployment; raises `TreeUnknown`, `EntityUnknown`, `InvalidId`."""
        depth = entity_id.count("/")
        if depth >= len(fleet_counts.KINDS):
            raise InvalidId(problem=f"{entity_id!r} is longer than <repo>/<bundle>/<cluster>")
        kind = fleet_counts.KINDS[depth]
        latest.check_name(self.kinds, kind, entity_id)
        found = [entity for entity in await self.tree(entity_id) if entity.kind in fleet_counts.COUNTED]
        top = next((entity for entity in found if (entity.kind, entity.id) == (kind, entity_id)), None)
        if top is None:
            raise EntityUnknown(kind=kind, id=entity_id)
        return fleet_counts.counts(top, found)

    async def cluster_counts(self, cluster: str) -> dict[str, Any]:
        """Fleet's counts of one cluster, across all repositories; raises `EntityUnknown`, `InvalidId`."""
        latest.check_tree(cluster)
        return fleet_counts.cluster_counts(cluster, await fleet_placement.on_cluster(self._states, cluster))
