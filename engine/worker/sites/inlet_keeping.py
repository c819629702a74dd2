"""Keeping the inlets small: removing what EVENTS has, but for the last message of each.

Belongs here: when to look, what may go. Does not: what inlets are (`edge_streams`), which worker does it
(`engine.worker`). The last message tells a server that was killed up to where the inlet has the events of its store. So
an inlet does not drop what EVENTS has by itself, and somebody has to remove it. If nobody does, it fills up, takes
nothing more, and the edge keeps what follows: nothing is lost.
"""

import asyncio
import base64
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

from phaseline.engine import logs
from phaseline.engine.nats.frames import read_headers
from phaseline.engine.nats.streams import Layout
from phaseline.engine.nats.wire import Wire
from phaseline.engine.worker.sites import adding, edge_streams, uplink
from phaseline.engine.worker.sites.arrivals import Arrivals
from phaseline.engine.worker.sites.edge_names import TO_EVENTS, EdgeNames
from phaseline.engine.worker.sites.uplink import Uplink
from phaseline.schemas.errors import PhaselineError

LOOK = 2.0
"""Seconds between two looks."""
SAY_AGAIN = 60.0
"""Seconds between two log lines that say that the inlet of an edge could not be kept."""

log = logs.get_logger(__name__)


class InletKeeper:
    """The looks of one worker at all inlets. is_due: whether it is this worker that looks."""

    def __init__(self, wire: Wire, layout: Layout, is_due: Callable[[], bool], dropped: Counter[str]) -> None:
        """Nothing is known yet. dropped: counts by edge the events that EVENTS took and did not store."""
        self._wire, self._layout, self._is_due = wire, layout, is_due
        self._arrivals, self._dropped = Arrivals(layout), dropped
        self._kept: dict[str, int] = {}
        """By edge, the last message of its inlet that EVENTS had at the last look."""
        self._say_again: dict[str, float] = {}

    async def run(self) -> None:
        """Look at all inlets, for ever."""
        while True:
            if self._is_due():
                await self.look()
            await asyncio.sleep(LOOK)

    async def look(self) -> None:
        """Look at the inlets from which EVENTS has taken something since the last look."""
        try:
            found = await adding.added(self._wire, self._layout)
        except PhaselineError:
            return  # the next look is soon
        for name, source in found.items():
            place = int(source.get("seq", 0))
            if not place or self._kept.get(name) != place:
                try:
                    is_small = await self._keep(await uplink.find(self._wire, EdgeNames(self._layout.prefix, name)))
                except PhaselineError as error:
                    self._say(name, error)
                else:
                    self._kept[name] = place if is_small else -1

    def _say(self, name: str, error: PhaselineError) -> None:
        now = time.monotonic()
        if now >= self._say_again.get(name, 0.0):
            self._say_again[name] = now + SAY_AGAIN
            log.warning("inlet_not_kept", edge=name, error=str(error))

    async def _keep(self, way: Uplink) -> bool:
        """Remove from an inlet what EVENTS has, but for the last message. Returns whether that is all it held."""
        name = way.names.inlet
        inlet = await way.at_hub(f"STREAM.INFO.{name}")
        if inlet["config"]["retention"] != edge_streams.RETENTION:
            return True  # an earlier version has made it, and it keeps nothing
        first, last = int(inlet["state"]["first_seq"]), int(inlet["state"]["last_seq"])
        # Asked after the stream: what waits then includes all that was in the stream before.
        consumer = await way.at_hub(f"CONSUMER.INFO.{name}.{TO_EVENTS}")
        waits = int(consumer["num_pending"]) + int(consumer["num_ack_pending"])
        taken = int(consumer["ack_floor"]["stream_seq"]) if waits else last
        if missing := await self._arrivals.missing(way, inlet, consumer, taken):
            await self._say_dropped(way, missing)
        if taken > max(first, 1):  # for the sequence 1 the server would purge everything
            await way.at_hub(f"STREAM.PURGE.{name}", {"seq": taken})
        return not waits

    async def _say_dropped(self, way: Uplink, missing: list[int]) -> None:
        """Say which events EVENTS has dropped, as long as the inlet has them."""
        edge, subject, message_id = way.names.name, "", ""
        self._dropped[edge] += len(missing)
        with suppress(PhaselineError):  # the accounts may be those of an earlier version
            found = (await way.at_hub(f"STREAM.MSG.GET.{way.names.inlet}", {"seq": missing[0]}))["message"]
            subject = found["subject"]
            message_id = read_headers(base64.b64decode(found.get("hdrs", ""))).get("Nats-Msg-Id", "")
        log.warning(
            "edge_events_dropped", edge=edge, count=len(missing), first=missing[0], last=missing[-1], subject=subject,
            message_id=message_id,
        )  # fmt: skip
