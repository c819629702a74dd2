"""Fleet's counts in the Python client, and in the view of a moment.

Belongs here: `Fleet`, `FleetView`. Does not: counting (`counts`).
"""

from collections.abc import Sequence
from typing import Any

from phaseline.engine.log.when import When
from phaseline.engine.products.fleet import counts
from phaseline.engine.products.fleet.counts import FleetClusterCounts, FleetCounts
from phaseline.engine.surfaces.client.client import Client
from phaseline.engine.surfaces.client.entity_view import EntityView, states_of


class FleetView:
    """What a view shows of Fleet: `view.fleet`."""

    def __init__(self, view: EntityView[Any]) -> None:
        self._states = states_of(view)

    async def counts(self, entity_id: str, *, condition: str | Sequence[str] = ()) -> FleetCounts:
        """Counts of a repository, a bundle or a deployment; raises `TreeUnknown`, `EntityUnknown`, `InvalidInput`."""
        return await counts.counts_of(self._states, entity_id, condition)

    async def cluster_counts(self, *clusters: str, condition: str | Sequence[str] = ()) -> FleetClusterCounts:
        """Counts of clusters, across all repositories. Names may be globs. Raises `EntityUnknown`, `InvalidInput`."""
        return await counts.counts_of_cluster(self._states, *clusters, condition=condition)


class Fleet:
    """Fleet's counts: `client.fleet`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def counts(
        self, entity_id: str, *, condition: str | Sequence[str] = (), at: When | None = None
    ) -> FleetCounts:
        """Counts of a repository, a bundle or a deployment; raises `TreeUnknown`, `EntityUnknown`, `InvalidInput`."""
        return await counts.counts_of(states_of(await self._client.at(at)), entity_id, condition)

    async def cluster_counts(
        self, *clusters: str, condition: str | Sequence[str] = (), at: When | None = None
    ) -> FleetClusterCounts:
        """Counts of clusters, across all repositories. Names may be globs. Raises `EntityUnknown`, `InvalidInput`."""
        return await counts.counts_of_cluster(states_of(await self._client.at(at)), *clusters, condition=condition)
