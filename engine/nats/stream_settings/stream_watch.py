"""Looks how full the streams are, and says so in time. At the limit of LOG this worker commits nothing.

Belongs here: when to look, when to say it again, the limit of LOG. Does not: what counts as full
(`fill`), a server without room (`worker.ownership.fenced_commit`).
"""

import asyncio
from contextlib import suppress

from phaseline.engine import logs
from phaseline.engine.nats.stream_settings.fill import Fill
from phaseline.engine.nats.streams import Layout
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import Pacing
from phaseline.schemas.errors import ApiFailed, NoAnswer, SetupError

STEP = 5
"""Percent by which a stream must have grown to be named again."""

log = logs.get_logger(__name__)


class StreamWatch:
    """The looks of one worker. room: set while LOG is below its limit."""

    def __init__(self, wire: Wire, layout: Layout, room: asyncio.Event, pacing: Pacing) -> None:
        self._wire, self._layout, self._room = wire, layout, room
        self._often, self._seldom = pacing.look_at_full_log, pacing.look_at_streams
        self._told: dict[str, int] = {}
        """The percent that the log names last, by stream."""

    async def run(self) -> None:
        """Look at all streams, for ever."""
        while True:
            often = False
            for name in self._layout.streams:
                with suppress(NoAnswer, ApiFailed, SetupError):
                    fill = Fill.of(await self._wire.api(f"STREAM.INFO.{name}"))
                    self._tell(name, fill)
                    if name == self._layout.log:
                        often = fill.is_almost_full
                        self._hold(fill)
            await asyncio.sleep(self._often if often else self._seldom)

    def _tell(self, name: str, fill: Fill) -> None:
        """Log that a stream is almost full, each time it has grown by `STEP`, and that it has room again."""
        told = self._told.get(name, 0)
        if fill.is_almost_full and fill.percent >= told + STEP:
            self._told[name] = fill.percent
            log.warning("stream_almost_full", stream=name, bytes=fill.bytes, max_bytes=fill.limit, percent=fill.percent)
        elif told and not fill.is_almost_full:
            del self._told[name]
            log.info("stream_has_room", stream=name, percent=fill.percent)

    def _hold(self, fill: Fill) -> None:
        """Hold the commits at the limit of LOG, and let them go on below it."""
        if not fill.limit or fill.bytes < fill.limit:
            if not self._room.is_set():
                log.warning("log_has_room", stream=self._layout.log, percent=fill.percent)
            self._room.set()
        elif self._room.is_set():
            log.error("log_full", stream=self._layout.log, bytes=fill.bytes, max_bytes=fill.limit)
            self._room.clear()
