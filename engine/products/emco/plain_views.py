"""The client without asyncio: reads of one product.

Made by `python -m phaseline.engine.generate` from `views`.
Belongs here: what `generate_sync` writes. Does not: anything written by hand, what runs the calls (`portal`).
"""

from typing import Any, Unpack, overload

from phaseline.engine.client.portal import Portal
from phaseline.engine.log.when import When
from phaseline.engine.products.emco import views
from phaseline.engine.products.emco.query import EmcoNamesQuery, EmcoStatusQuery, SourceStatusQuery, StatusQuery
from phaseline.engine.products.emco.schema import EmcoNames, EmcoStatus, SourceStatus
from phaseline.engine.products.emco.select import StatusSelection


class EmcoView:
    """What a view shows of EMCO: `view.emco`."""

    def __init__(self, portal: Portal, source: views.EmcoView) -> None:
        """Run the reads of `source` in the portal."""
        self._portal, self._source = portal, source

    @overload
    def status(self, resource_id: str, /, **query: Unpack[SourceStatusQuery]) -> SourceStatus: ...

    @overload
    def status(self, resource_id: str, /, **query: Unpack[EmcoStatusQuery]) -> EmcoStatus: ...

    @overload
    def status(self, resource_id: str, /, **query: Unpack[EmcoNamesQuery]) -> EmcoNames: ...

    @overload
    def status(self, resource_id: str, /, **query: Unpack[StatusQuery]) -> SourceStatus | EmcoStatus | EmcoNames: ...

    def status(self, resource_id: str, /, **query: Any) -> Any:
        """The status of an EMCO resource; raises `EntityUnknown`, `InvalidInput.bad_status_query`, `ServiceRefused`."""
        return self._portal.run(self._source.status(resource_id, **query))

    def selection(self, resource_id: str, /, **query: Unpack[StatusQuery]) -> StatusSelection:
        """The entities and counts that a status consists of, with the reasons of failures; raises as `status` does."""
        return self._portal.run(self._source.selection(resource_id, **query))


class Emco:
    """EMCO's status query: `client.emco`."""

    def __init__(self, portal: Portal, source: views.Emco) -> None:
        """Run the reads of `source` in the portal."""
        self._portal, self._source = portal, source

    @overload
    def status(
        self, resource_id: str, /, *, at: When | None = None, **query: Unpack[SourceStatusQuery]
    ) -> SourceStatus: ...

    @overload
    def status(
        self, resource_id: str, /, *, at: When | None = None, **query: Unpack[EmcoStatusQuery]
    ) -> EmcoStatus: ...

    @overload
    def status(self, resource_id: str, /, *, at: When | None = None, **query: Unpack[EmcoNamesQuery]) -> EmcoNames: ...

    @overload
    def status(
        self, resource_id: str, /, *, at: When | None = None, **query: Unpack[StatusQuery]
    ) -> SourceStatus | EmcoStatus | EmcoNames: ...

    def status(self, resource_id: str, /, *, at: When | None = None, **query: Any) -> Any:
        """The status of an EMCO resource; raises `EntityUnknown`, `InvalidInput.bad_status_query`, `ServiceRefused`.

        The worker that owns the tree answers in one round trip. The client reads the streams instead when no worker
        answers, when the answer is too large for one message, and with `at`.
        """
        return self._portal.run(self._source.status(resource_id, at=at, **query))

    def selection(
        self, resource_id: str, /, *, at: When | None = None, **query: Unpack[StatusQuery]
    ) -> StatusSelection:
        """The entities and counts that a status consists of, with the reasons of failures; raises as `status` does."""
        return self._portal.run(self._source.selection(resource_id, at=at, **query))
