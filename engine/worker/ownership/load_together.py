"""Loading many partitions: STATE is read once for all that a worker begins to load at the same time.

A small STATE is read by all of them at once.

Belongs here: turns to load, and the one reader for partitions that wait. Does not: what a partition takes from a
message, and what it reads for itself (`load_states`).
To find the messages of one partition the server looks at all of STATE. For 64 partitions it would do so 64 times.
Nobody owns a partition while STATE is read for it: what is read here is as what a worker reads that prepares.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext

from phaseline.engine import logs
from phaseline.engine.nats.reader import BUFFER, Reader, Stored
from phaseline.engine.settings import Pacing
from phaseline.engine.worker.ownership.load_states import PartitionStates
from phaseline.schemas.errors import PhaselineError

GATHER = 0.05
"""Seconds without another partition that begins to load, after which reading begins."""
ROOM = 5 * BUFFER
"""Messages that the one reader buffers, so that each of many partitions gets a few hundred of them at a time."""

log = logs.get_logger(__name__)


class Loading:
    """Whose turn it is to load, among the partitions of a worker. Many that begin together read STATE together."""

    def __init__(self, pacing: Pacing) -> None:
        """None waits yet."""
        self._turns, self._pacing = asyncio.Semaphore(pacing.loads), pacing
        self._waiting: dict[str, PartitionStates] = {}
        self._reading: asyncio.Task[bool] | None = None
        self._begun = self._is_small = False

    @asynccontextmanager
    async def turn(self, states: PartitionStates) -> AsyncIterator[None]:
        """Wait until a partition may read its states. One of which little is left to read does not wait."""
        is_brief = states.is_ready
        if not is_brief and not states.read:
            is_brief = (not self._begun and await self._together(states)) or self._is_small
        async with nullcontext() if is_brief else self._turns:
            yield

    async def _together(self, states: PartitionStates) -> bool:
        """Wait until STATE was read for all partitions that wait, if that is worth it; whether it was."""
        self._reading = self._reading or asyncio.create_task(self._read(states))
        reading, name = self._reading, str(states.partition)
        self._waiting[name] = states
        try:
            await asyncio.wait({reading})
        finally:
            is_waiting = self._waiting.pop(name, None) is not None
            if not self._waiting:
                reading.cancel()
        return is_waiting and not reading.cancelled() and reading.exception() is None and reading.result()

    async def _read(self, first: PartitionStates) -> bool:
        """Read STATE for all that wait, if that is worth it; whether that was done."""
        try:
            if await self._are_many(first):
                self._begun = True
                await self._read_once(first)
                return True
        except PhaselineError as error:
            log.info("states_not_read_together", error=str(error))  # each partition reads for itself
        finally:
            self._reading, self._begun = None, False
        return False

    async def _are_many(self, first: PartitionStates) -> bool:
        """Whether to read together; waits for all that begin at the same time."""
        installation, known, self._is_small = first.installation, 0, False
        held = (await installation.wire.api(f"STREAM.INFO.{installation.layout.state}"))["state"]
        is_short = int(held["messages"]) <= self._pacing.small_state
        self._is_small = is_short and int(held["bytes"]) <= self._pacing.small_bytes
        if is_short:
            return False
        while len(self._waiting) > known:
            known = len(self._waiting)
            await asyncio.sleep(GATHER)
        return known > self._pacing.loads_alone and 2 * known >= installation.layout.partitions

    async def _read_once(self, first: PartitionStates) -> None:
        """Read all that STATE holds now."""
        installation = first.installation
        await asyncio.gather(*(one.begins() for one in self._waiting.values()))
        start, last = len(f"{installation.prefix}.state."), 0
        filters = [f"{installation.prefix}.state.*.>"]
        async with Reader(installation.wire, installation.layout.state, filters, room=ROOM) as reader:
            while not reader.caught_up:
                found = defaultdict[str, list[Stored]](list)
                for one in await reader.take(ROOM):
                    found[one.subject[start:].partition(".")[0]].append(one)
                    last = one.sequence
                for name, some in found.items():
                    await self._take_in(name, some)
        for states in self._waiting.values():
            states.passed(last)

    async def _take_in(self, name: str, found: list[Stored]) -> None:
        """Put what was read of one partition into its tree. One whose states cannot be read finds out itself why."""
        most = self._pacing.load
        for at in range(0, len(found), most):
            if (states := self._waiting.get(name)) is None:
                return
            some = found[at : at + most]
            try:
                states.take_in(some)
            except PhaselineError:
                del self._waiting[name]
                return
            states.passed(some[-1].sequence)
            await states.pause()
