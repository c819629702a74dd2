"""The client without asyncio: reads of one product.

Made by `python -m phaseline.engine.generate` from `views`.
Belongs here: what `generate_sync` writes. Does not: anything written by hand, what runs the calls (`portal`).
"""

from collections.abc import Sequence

from phaseline.engine.client.portal import Portal
from phaseline.engine.log.when import When
from phaseline.engine.products.fleet import views
from phaseline.engine.products.fleet.counts import FleetClusterCounts, FleetCounts


class FleetView:
    """What a view shows of Fleet: `view.fleet`."""

    def __init__(self, portal: Portal, source: views.FleetView) -> None:
        """Run the reads of `source` in the portal."""
        self._portal, self._source = portal, source

    def counts(self, entity_id: str, *, condition: str | Sequence[str] = ()) -> FleetCounts:
        """Counts of a repository, a bundle or a deployment; raises `TreeUnknown`, `EntityUnknown`, `InvalidInput`."""
        return self._portal.run(self._source.counts(entity_id, condition=condition))

    def cluster_counts(self, *clusters: str, condition: str | Sequence[str] = ()) -> FleetClusterCounts:
        """Counts of clusters, across all repositories. Names may be globs. Raises `EntityUnknown`, `InvalidInput`."""
        return self._portal.run(self._source.cluster_counts(*clusters, condition=condition))


class Fleet:
    """Fleet's counts: `client.fleet`."""

    def __init__(self, portal: Portal, source: views.Fleet) -> None:
        """Run the reads of `source` in the portal."""
        self._portal, self._source = portal, source

    def counts(self, entity_id: str, *, condition: str | Sequence[str] = (), at: When | None = None) -> FleetCounts:
        """Counts of a repository, a bundle or a deployment; raises `TreeUnknown`, `EntityUnknown`, `InvalidInput`."""
        return self._portal.run(self._source.counts(entity_id, condition=condition, at=at))

    def cluster_counts(
        self, *clusters: str, condition: str | Sequence[str] = (), at: When | None = None
    ) -> FleetClusterCounts:
        """Counts of clusters, across all repositories. Names may be globs. Raises `EntityUnknown`, `InvalidInput`."""
        return self._portal.run(self._source.cluster_counts(*clusters, condition=condition, at=at))
