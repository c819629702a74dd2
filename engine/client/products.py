"""The reads of one product each: EMCO's status, Fleet's counts, the difference between Git and a cluster.

Belongs here: the methods behind `client.emco`, `client.fleet` and `client.gitops`, and behind the groups of a view.
Does not: the answers themselves (`fleet_counts`, `engine.emco_status`, `engine.log`).
"""

from collections.abc import Sequence
from typing import Any, Unpack, overload

from phaseline.engine import last_observation
from phaseline.engine.client import fleet_counts
from phaseline.engine.client.fleet_counts import FleetClusterCounts, FleetCounts
from phaseline.engine.client.session import Session
from phaseline.engine.emco_status import request
from phaseline.engine.emco_status.query import EmcoNamesQuery, EmcoStatusQuery, SourceStatusQuery, StatusQuery
from phaseline.engine.emco_status.schema import EmcoNames, EmcoStatus, SourceStatus
from phaseline.engine.emco_status.select import StatusSelection
from phaseline.engine.last_observation import ObjectDiff
from phaseline.engine.log.state_view import StateView
from phaseline.engine.log.when import When


class EmcoView:
    """What a view shows of EMCO: `view.emco`."""

    def __init__(self, states: StateView) -> None:
        """Read from these states."""
        self._states = states

    @overload
    async def status(self, resource_id: str, /, **query: Unpack[SourceStatusQuery]) -> SourceStatus: ...

    @overload
    async def status(self, resource_id: str, /, **query: Unpack[EmcoStatusQuery]) -> EmcoStatus: ...

    @overload
    async def status(self, resource_id: str, /, **query: Unpack[EmcoNamesQuery]) -> EmcoNames: ...

    @overload
    async def status(
        self, resource_id: str, /, **query: Unpack[StatusQuery]
    ) -> SourceStatus | EmcoStatus | EmcoNames: ...

    async def status(self, resource_id: str, /, **query: Any) -> Any:
        """The status of an EMCO resource; raises `EntityUnknown`, `InvalidInput.bad_status_query`, `ServiceRefused`."""
        return await request.status(self._states, resource_id, query)

    async def selection(self, resource_id: str, /, **query: Unpack[StatusQuery]) -> StatusSelection:
        """The entities and counts that a status consists of, with the reasons of failures; raises as `status` does."""
        return await request.selected(self._states, resource_id, query)


class Emco:
    """EMCO's status query: `client.emco`."""

    def __init__(self, session: Session) -> None:
        """Read over the connection of this session."""
        self._session = session

    @overload
    async def status(
        self, resource_id: str, /, *, at: When | None = None, **query: Unpack[SourceStatusQuery]
    ) -> SourceStatus: ...

    @overload
    async def status(
        self, resource_id: str, /, *, at: When | None = None, **query: Unpack[EmcoStatusQuery]
    ) -> EmcoStatus: ...

    @overload
    async def status(
        self, resource_id: str, /, *, at: When | None = None, **query: Unpack[EmcoNamesQuery]
    ) -> EmcoNames: ...

    @overload
    async def status(
        self, resource_id: str, /, *, at: When | None = None, **query: Unpack[StatusQuery]
    ) -> SourceStatus | EmcoStatus | EmcoNames: ...

    async def status(self, resource_id: str, /, *, at: When | None = None, **query: Any) -> Any:
        """The status of an EMCO resource; raises `EntityUnknown`, `InvalidInput.bad_status_query`, `ServiceRefused`.

        The worker that owns the tree answers in one round trip. The client reads the streams instead when no worker
        answers, when the answer is too large for one message, and with `at`.
        """
        return await request.status(await self._session.states(at), resource_id, query)

    async def selection(
        self, resource_id: str, /, *, at: When | None = None, **query: Unpack[StatusQuery]
    ) -> StatusSelection:
        """The entities and counts that a status consists of, with the reasons of failures; raises as `status` does."""
        return await request.selected(await self._session.states(at), resource_id, query)


class FleetView:
    """What a view shows of Fleet: `view.fleet`."""

    def __init__(self, states: StateView) -> None:
        """Read from these states."""
        self._states = states

    async def counts(self, entity_id: str, *, condition: str | Sequence[str] = ()) -> FleetCounts:
        """Counts of a repository, a bundle or a deployment; raises `TreeUnknown`, `EntityUnknown`, `InvalidInput`."""
        return await fleet_counts.counts_of(self._states, entity_id, condition)

    async def cluster_counts(self, *clusters: str, condition: str | Sequence[str] = ()) -> FleetClusterCounts:
        """Counts of clusters, across all repositories. Names may be globs. Raises `EntityUnknown`, `InvalidInput`."""
        return await fleet_counts.counts_of_cluster(self._states, *clusters, condition=condition)


class Fleet:
    """Fleet's counts: `client.fleet`."""

    def __init__(self, session: Session) -> None:
        """Read over the connection of this session."""
        self._session = session

    async def counts(
        self, entity_id: str, *, condition: str | Sequence[str] = (), at: When | None = None
    ) -> FleetCounts:
        """Counts of a repository, a bundle or a deployment; raises `TreeUnknown`, `EntityUnknown`, `InvalidInput`."""
        return await fleet_counts.counts_of(await self._session.states(at), entity_id, condition)

    async def cluster_counts(
        self, *clusters: str, condition: str | Sequence[str] = (), at: When | None = None
    ) -> FleetClusterCounts:
        """Counts of clusters, across all repositories. Names may be globs. Raises `EntityUnknown`, `InvalidInput`."""
        return await fleet_counts.counts_of_cluster(await self._session.states(at), *clusters, condition=condition)


class Gitops:
    """Kubernetes objects and Git: `client.gitops`. The server keeps the last observation only, so no view has it."""

    def __init__(self, session: Session) -> None:
        """Read over the connection of this session."""
        self._session = session

    async def diff(self, resource_id: str) -> ObjectDiff:
        """The last observation of a Kubernetes object, assessed by the settings that its application has now.

        Raises `NotFound.not_observed`, `InvalidInput.invalid_id`.
        """
        return await last_observation.object_diff(await self._session.installation(), resource_id)
