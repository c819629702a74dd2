"""EMCO's status in the Python client, and in the view of a moment.

Belongs here: `Emco`, `EmcoView`. Does not: asking (`request`), the answers (`design_shape`, `emco_shape`).
"""

from typing import Any, Unpack, overload

from phaseline.engine.log.when import When
from phaseline.engine.products.emco import request
from phaseline.engine.products.emco.query import EmcoNamesQuery, EmcoStatusQuery, SourceStatusQuery, StatusQuery
from phaseline.engine.products.emco.schema import EmcoNames, EmcoStatus, SourceStatus
from phaseline.engine.products.emco.select import StatusSelection
from phaseline.engine.surfaces.client.client import Client
from phaseline.engine.surfaces.client.entity_view import EntityView, states_of


class EmcoView:
    """What a view shows of EMCO: `view.emco`."""

    def __init__(self, view: EntityView[Any]) -> None:
        """Read what this view shows."""
        self._states = states_of(view)

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

    def __init__(self, client: Client) -> None:
        """Read by this client."""
        self._client = client

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
        return await request.status(states_of(await self._client.at(at)), resource_id, query)

    async def selection(
        self, resource_id: str, /, *, at: When | None = None, **query: Unpack[StatusQuery]
    ) -> StatusSelection:
        """The entities and counts that a status consists of, with the reasons of failures; raises as `status` does."""
        return await request.selected(states_of(await self._client.at(at)), resource_id, query)
