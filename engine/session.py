"""What every part of the client stands on: a connection, an installation, its tables.

Belongs here: finding the installation and places in its log. Does not: anything one can ask for (`sending`, `asking`).
"""

from datetime import datetime
from typing import TYPE_CHECKING, Any

from phaseline.engine import past
from phaseline.engine.errors import NotPermitted
from phaseline.engine.past import Moment
from phaseline.engine.settings import Settings
from phaseline.engine.streams import Layout, inspect, layout_of
from phaseline.engine.wire import Wire
from phaseline.machines.kinds import Kinds
from phaseline.schemas.records import nanoseconds
from phaseline.schemas.subjects import Subjects

if TYPE_CHECKING:
    from phaseline.engine.watching import Watch


class Session:
    """One connection to one installation."""

    def __init__(self, wire: Wire, settings: Settings, kinds: Kinds, source: str) -> None:
        """Use an open connection."""
        self._wire, self._settings, self.kinds, self.source = wire, settings, kinds, source
        self._subjects = Subjects(settings.prefix)
        self._layout: Layout | None = None
        self._watches: list[Watch[Any]] = []

    async def layout(self) -> Layout:
        """The installation as it stands, asked for once; raises `NotProvisioned`.

        Users who may not ask the server for it give `partitions` in their settings.
        """
        if self._layout is None:
            try:
                self._layout = await inspect(self._wire, self._settings)
            except NotPermitted:
                if self._settings.partitions is None:
                    raise
                self._layout = layout_of(self._settings, self._settings.partitions)
        return self._layout

    async def place(self, moment: Moment) -> int:
        """The last place in the log at or before a moment: a place, an RFC 3339 time, or a `datetime`."""
        return await past.place_of(self._wire, await self.layout(), moment)

    async def time_of(self, place: int) -> int:
        """When what stands at a place of the log, or the last before it, was stored, ns; 0 where that is gone."""
        return await past.time_of(self._wire, await self.layout(), place)

    async def _time(self, moment: Moment) -> int:
        """A moment as ns."""
        if isinstance(moment, int):
            return await self.time_of(await self.place(moment))
        return int(moment.timestamp() * 1e9) if isinstance(moment, datetime) else nanoseconds(moment)

    async def _place(self, at: Moment | None) -> int | None:
        return None if at is None else await self.place(at)
