"""NATS that is away: what a request that waits for it gets, instead of waiting until it is back.

Belongs here: noticing it, ending such a wait, the words for readers of streams. Does not: connecting again
(`nats`), states in memory, which are still answered (`service`).
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from phaseline.engine import logs
from phaseline.engine.nats.api_reply import can_pass
from phaseline.engine.nats.wire import Wire
from phaseline.engine.surfaces.http.connections.clients import LIMITS, HttpLimits
from phaseline.schemas.errors import (
    ApiFailed,
    NatsUnreachable,
    NoAnswer,
    NoResponders,
    NoRoom,
    PhaselineError,
)

AWAY = "NATS is away: the states are those of its last place"
MISSED = 3
"""Beats in a row without a byte from the server, after which it is away although the connection stands."""

log = logs.get_logger(__name__)


class Pulse:
    """Whether the log can be read: the server is heard, and its stream has a leader. Both are asked once for all."""

    def __init__(self, wire: Wire, stream: str, limits: HttpLimits = LIMITS) -> None:
        """Nothing is asked yet. stream: that of the log."""
        self.patience, self._beat = limits.patience, limits.beat
        self.wire, self._question = wire, f"STREAM.INFO.{stream}"
        self._is_led = True
        self._missed = 0
        self._good = time.monotonic()
        self._hooks: list[Callable[[], None]] = []

    @property
    def is_there(self) -> bool:
        """Whether there is a connection on which the server is heard, and a leader at the last question."""
        return self.wire.connected and self._is_led and self._missed < MISSED

    @property
    def age(self) -> float:
        """The seconds since when the log could be read for certain."""
        return time.monotonic() - self._good

    async def listen(self) -> None:
        """Ping the server, until cancelled. A frozen one keeps its connection for long.

        Beats are counted, not seconds: a process that had no time itself has missed no answer.
        """
        while True:
            heard, was, began = self.wire.heard, self.is_there, time.monotonic()
            try:
                await self.wire.flush(self._beat)
                is_heard = True
            except NoAnswer:
                is_heard = self.wire.heard != heard
            self._missed = 0 if is_heard else self._missed + 1
            if was != self.is_there:
                self._tell()
            if was and self._missed == MISSED and self.wire.connected:
                log.warning("nats_silent", seconds=round(self.age, 1))
            elif not was and self.is_there:
                log.info("nats_heard", seconds=round(self.age, 1))
            if is_heard:
                self._good = time.monotonic() if self.is_there else self._good
                await asyncio.sleep(self._beat)
            else:  # an error may come at once
                await asyncio.sleep(began + self._beat - time.monotonic())

    async def look_for_leader(self) -> None:
        """Ask for the leader of the stream, until cancelled."""
        while True:
            await asyncio.sleep(3 * self._beat)
            is_led = await self._ask() if self.wire.connected and self._missed < MISSED else self._is_led
            if is_led != self._is_led:
                self._is_led = is_led
                if is_led:
                    log.info("log_has_leader")
                else:
                    log.warning("log_without_leader")
                self._tell()

    def _tell(self) -> None:
        for hook in tuple(self._hooks):
            hook()

    async def _ask(self) -> bool:
        try:
            found = await self.wire.api(self._question)
        except PhaselineError as error:
            return not can_pass(error)
        return "cluster" not in found or bool(found["cluster"].get("leader"))

    def on_change(self, hook: Callable[[], None]) -> Callable[[], None]:
        """Call `hook` whenever NATS goes away or comes back. Returns a function that removes the hook."""
        self._hooks.append(hook)
        ends = self.wire.on_disconnect(hook), self.wire.on_reconnect(hook)

        def forget() -> None:
            self._hooks.remove(hook)
            for end in ends:
                end()

        return forget

    def away(self) -> NoAnswer:
        """The error for who has waited for `patience` seconds."""
        if self.wire.connected:
            return NoResponders(subject=self.wire.api_subject(self._question))
        return NatsUnreachable(url=self.wire.settings.shown, cause=f"there was no connection for {self.patience:g} s")


@asynccontextmanager
async def unless_away(pulse: Pulse) -> AsyncIterator[None]:
    """End the block with a `NoAnswer` once NATS was away for `patience` seconds while it ran.

    The same if the server refuses what the block asks for because there is no leader. Not around a `yield` of a
    generator: the wait of its reader would be ended.
    """
    loop, timers = asyncio.get_running_loop(), list[asyncio.TimerHandle]()
    try:
        async with asyncio.timeout(None) as limit:

            def look() -> None:
                if not pulse.is_there and not timers:
                    timers.append(loop.call_later(pulse.patience, lambda: limit.reschedule(loop.time())))
                while pulse.is_there and timers:
                    timers.pop().cancel()

            forget = pulse.on_change(look)
            look()
            try:
                yield
            finally:
                forget()
                while timers:
                    timers.pop().cancel()
    except TimeoutError:
        if not limit.expired():
            raise
        raise pulse.away() from None
    except ApiFailed as error:
        if isinstance(error, NoRoom) or not can_pass(error):
            raise
        raise NoResponders(subject=error.subject) from error
