"""Keeping the inlets small, and awake: what a worker does for the edges.

Belongs here: when to look, what may go, when an inlet has to ask its edge again. Does not: what inlets are
(`edge_streams`), which worker does it (`engine.worker`).

The last message tells a server that was killed up to where the inlet has the events of its store. So an inlet does not
drop what EVENTS has by itself, and somebody has to remove it. If nobody does, it fills up, takes nothing more, and the
edge keeps what follows: nothing is lost.

An inlet that has lost its edge asks it again after 40 s, and later after two minutes. A worker knows better when the
edge is back: it takes the source away from the inlet and gives it back, so that the server asks at once.
"""

import asyncio
import base64
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from phaseline.engine import logs
from phaseline.engine.nats.frames import read_headers
from phaseline.engine.nats.streams import Layout
from phaseline.engine.nats.wire import Wire
from phaseline.engine.worker.sites import adding, edge_streams, event_sources, uplink
from phaseline.engine.worker.sites.adding import EdgeSource
from phaseline.engine.worker.sites.arrivals import Arrivals
from phaseline.engine.worker.sites.edge_names import EdgeNames
from phaseline.engine.worker.sites.uplink import Uplink
from phaseline.schemas.errors import ApiFailed, NoAnswer, PhaselineError
from phaseline.schemas.records import SECOND

LOOK = 2.0
"""Seconds between two looks."""
SAY_AGAIN = 60.0
"""Seconds between two log lines that say that the inlet of an edge could not be kept, or be woken."""
SILENT = 3 * SECOND
"""After so many ns without a word from its edge an inlet may have lost it. An edge speaks each second."""
ASK = 2.0
"""Seconds that an edge has to answer."""
AT_ONCE = 50
"""How many edges are asked at the same time."""
LONGEST_PAUSE = 60.0
"""The most seconds between two tries to wake the same inlet. They begin with 2 s, and double."""

log = logs.get_logger(__name__)


@dataclass(slots=True)
class _Inlet:
    """What the keeper remembers of an edge."""

    way: Uplink
    seen: int = 0
    """The last message that EVENTS had at the last look. A cluster may take back what its leader has just counted."""
    kept: int = 0
    """Up to which message it was emptied."""
    pause: float = LOOK
    wake_at: float = 0.0


class InletKeeper:
    """The looks of one worker at all inlets. is_due: whether it is this worker that looks."""

    def __init__(self, wire: Wire, layout: Layout, is_due: Callable[[], bool], dropped: Counter[str]) -> None:
        """dropped: counts by edge the events that EVENTS took and did not store."""
        self._wire, self._layout, self._is_due = wire, layout, is_due
        self._arrivals, self._dropped = Arrivals(layout), dropped
        self._inlets: dict[str, _Inlet] = {}
        self._say_at: dict[str, float] = {}

    async def run(self) -> None:
        """Look at all inlets, for ever."""
        while True:
            if self._is_due():
                await self.look()
            await asyncio.sleep(LOOK)

    async def look(self) -> None:
        """Remove from the inlets what EVENTS has, and wake those whose edge is back."""
        try:
            found = await adding.added(self._wire, self._layout)
        except PhaselineError:
            return  # the next look is soon
        lost = list[str]()
        for name, source in found.items():
            try:
                if await self._look_at(name, source):
                    lost.append(name)
            except PhaselineError as error:
                self._inlets.pop(name, None)  # its account may be another now
                self._say(name, error)
        if lost:
            await self._wake(lost)

    async def _look_at(self, name: str, source: EdgeSource) -> bool:
        """Empty an inlet. Returns whether it may have lost its edge."""
        inlet = self._inlets.get(name)
        if inlet is None:
            way = await uplink.find(self._wire, EdgeNames(self._layout.prefix, name))
            inlet = self._inlets[name] = _Inlet(way)
        info = await inlet.way.at_hub(f"STREAM.INFO.{inlet.way.names.inlet}")
        taken, inlet.seen = min(source.place, inlet.seen), source.place
        if taken and taken != inlet.kept and info["config"]["retention"] == edge_streams.RETENTION:
            await self._empty(inlet.way, info, source, taken)
            inlet.kept = taken
        if not (is_lost := _is_lost(info)):
            inlet.pause, inlet.wake_at = LOOK, 0.0
        return is_lost

    def _say(self, name: str, error: PhaselineError) -> None:
        now = time.monotonic()
        if now >= self._say_at.get(name, 0.0):
            self._say_at[name] = now + SAY_AGAIN
            log.warning("inlet_not_kept", edge=name, error=str(error))

    async def _empty(self, way: Uplink, inlet: dict[str, Any], source: EdgeSource, taken: int) -> None:
        """Remove from an inlet what EVENTS has up to a message, but for that one. inlet: its information."""
        if source.trees and (missing := await self._arrivals.missing(way, inlet, source.trees, taken)):
            await self._say_dropped(way, missing)
        if taken > max(int(inlet["state"]["first_seq"]), 1):  # for the sequence 1 the server would purge everything
            await way.at_hub(f"STREAM.PURGE.{way.names.inlet}", {"seq": taken})

    async def _wake(self, names: list[str]) -> None:
        """Let the inlets of those edges that answer ask again."""
        now, turns = time.monotonic(), asyncio.Semaphore(AT_ONCE)

        async def answers(name: str) -> bool:
            way = self._inlets[name].way
            async with turns:
                try:
                    await way.at_edge(f"STREAM.INFO.{way.names.store}", timeout=ASK)
                except (NoAnswer, ApiFailed):
                    return False  # it is away, or has lost its store
                except PhaselineError as error:  # such as a right that is lacking
                    self._say(name, error)
                    return False
            return True

        due = [name for name in names if now >= self._inlets[name].wake_at]
        back = [name for name, is_there in zip(due, await asyncio.gather(*map(answers, due)), strict=True) if is_there]
        if not back:
            return
        try:
            async with event_sources.locked(self._wire, self._layout.events):
                for name in back[:AT_ONCE]:
                    inlet = self._inlets[name]
                    inlet.wake_at, inlet.pause = now + inlet.pause, min(2 * inlet.pause, LONGEST_PAUSE)
                    if await adding.ask_again(inlet.way):
                        log.info("edge_asked_again", edge=name)
        except PhaselineError as error:
            self._say(back[0], error)

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


def _is_lost(inlet: dict[str, Any]) -> bool:
    """Whether an inlet may have lost its edge. inlet: its information."""
    return all(not 0 <= int(one.get("active", -1)) < SILENT for one in inlet.get("sources") or ())
