"""EMCO's status in the Python client, and in the view of a moment.

Belongs here: `Emco`, `EmcoView`, which ask the worker that owns the tree, or the streams if no worker can answer. Does
not: making answers (`load`), the service (`worker.services`).
"""

from collections.abc import Mapping
from typing import Any, Unpack, overload

from phaseline.engine.log import latest
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.questions.asking import ask_owner
from phaseline.engine.log.when import When
from phaseline.engine.products.emco import load
from phaseline.engine.products.emco.query import (
    EmcoNamesQuery,
    EmcoStatusQuery,
    Query,
    SourceStatusQuery,
    StatusQuery,
    read,
)
from phaseline.engine.products.emco.schema import EmcoNames, EmcoStatus, SourceStatus
from phaseline.engine.products.emco.select import StatusSelection
from phaseline.engine.surfaces.client.client import Client
from phaseline.engine.surfaces.client.entity_view import EntityView, states_of
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.errors import NoResponders, NotPermitted, ServiceRefused

READ_STREAMS = ("413", "503")
"""Error codes of a worker after which the streams still have the answer."""


def _checked(kinds: Kinds, resource: str, parameters: Mapping[str, Any]) -> tuple[dict[str, Any], Query]:
    """The parameters that say something, and the query that they are."""
    latest.check_name(kinds, load.KIND, resource)
    given = {name: value for name, value in parameters.items() if value not in (None, (), [], False)}
    return given, read(given)


async def _ask_owner(installation: Installation, resource: str, given: Mapping[str, Any]) -> dict[str, Any] | None:
    """The answer of the worker that owns the tree; None if it has none, or if this user may not ask."""
    try:
        return await ask_owner(installation, load.KIND, resource, given)
    except (NoResponders, NotPermitted):
        return None
    except ServiceRefused as error:
        if error.service_code in READ_STREAMS:
            return None
        raise


class EmcoView:
    """What a view shows of EMCO: `view.emco`."""

    def __init__(self, view: EntityView[Any]) -> None:
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
        states = self._states
        given, wanted = _checked(states.installation.kinds, resource_id, query)
        # A worker knows the latest states only.
        found = await _ask_owner(states.installation, resource_id, given) if states.moment is None else None
        return await load.answer_from_streams(states, resource_id, wanted) if found is None else found

    async def selection(self, resource_id: str, /, **query: Unpack[StatusQuery]) -> StatusSelection:
        """The entities and counts that a status consists of, with the reasons of failures; raises as `status` does."""
        _, wanted = _checked(self._states.installation.kinds, resource_id, query)
        return await load.select_from_streams(self._states, resource_id, wanted)


class Emco:
    """EMCO's status query: `client.emco`."""

    def __init__(self, client: Client) -> None:
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
        return await EmcoView(await self._client.at(at)).status(resource_id, **query)

    async def selection(
        self, resource_id: str, /, *, at: When | None = None, **query: Unpack[StatusQuery]
    ) -> StatusSelection:
        """The entities and counts that a status consists of, with the reasons of failures; raises as `status` does."""
        return await EmcoView(await self._client.at(at)).selection(resource_id, **query)
