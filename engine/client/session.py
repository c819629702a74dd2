"""What every part of the client needs: a connection, an installation, its tables.

Belongs here: finding the installation, and moments in its log. Does not: anything that a client sends or reads (`sending`,
`asking`).
"""

from typing import TYPE_CHECKING, Any

from phaseline.engine.errors import NotPermitted
from phaseline.engine.jetstream.streams import Layout, inspect, layout_of
from phaseline.engine.jetstream.wire import Wire
from phaseline.engine.log import as_of
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.when import Moment, When
from phaseline.engine.settings import Settings
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.subjects import Subjects

if TYPE_CHECKING:
    from phaseline.engine.log.watch import Watch


class Session:
    """One connection to one installation."""

    def __init__(self, wire: Wire, settings: Settings, kinds: Kinds, source: str) -> None:
        """Use an open connection."""
        self._wire, self._settings, self.kinds, self.source = wire, settings, kinds, source
        self._subjects = Subjects(settings.prefix)
        self._installation: Installation | None = None
        self._watches: list[Watch[Any]] = []

    async def installation(self) -> Installation:
        """The installation. The server is asked for it once; raises `NotProvisioned`.

        Users who may not ask the server for it give `partitions` in their settings.
        """
        if self._installation is None:
            try:
                layout = await inspect(self._wire, self._settings)
            except NotPermitted:
                if self._settings.partitions is None:
                    raise
                layout = layout_of(self._settings, self._settings.partitions)
            self._installation = Installation(self._wire, layout, self.kinds)
        return self._installation

    async def layout(self) -> Layout:
        """The prefix, the streams and the number of partitions; raises `NotProvisioned`."""
        return (await self.installation()).layout

    async def moment(self, when: When) -> Moment:
        """The moment that `when` names: its place in the log and its time. Pass it on to read the same moment again.

        Raises `NameUnknown`.
        """
        return await as_of.resolve(await self.installation(), when)
