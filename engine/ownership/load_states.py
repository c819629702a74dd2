"""Loading a partition's committed states from STATE, with LOG's help where STATE holds what no worker wrote.

Belongs here: knowing that the copy is complete, restoring the tree from it. Does not: the other steps of a take-over
(`takeover`).
"""

import asyncio
import time
from collections.abc import Callable

from phaseline.engine import logs
from phaseline.engine.core.tree import Tree, take_in
from phaseline.engine.jetstream.direct_get import origin
from phaseline.engine.jetstream.reader import Reader
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log_records import entity_in_state, last_records, record_in_log
from phaseline.schemas.records import Record, Rejection, entity_after

LOAD = 100
"""Messages that are read at once: some milliseconds, in which nothing else of this worker goes on."""
YIELD = 0.005
"""Seconds between two looks whether something more urgent goes on."""
SLOW = 10.0
"""Seconds without a message after which a take-over logs that it waits for STATE."""

log = logs.get_logger(__name__)


class PartitionStates:
    """The states of a partition, as STATE has copied them. They can be read before the partition is owned.

    A worker that prepares reads what there is (`load`) and what comes (`follow`). Then little is left to read once it
    owns the partition (`complete`).
    """

    def __init__(self, installation: Installation, partition: int) -> None:
        """Nothing is read yet."""
        self.partition = partition
        self._installation, self._tree, self._highest = installation, installation.tree(), 0
        self._own = installation.subjects.state_checkpoint(partition)
        self._copied = 0
        """The place in LOG of the last checkpoint that STATE has copied."""
        self._asides: list[str] = []
        self._reader: Reader | None = None

    @property
    def is_open(self) -> bool:
        """Whether something may have been read."""
        return self._reader is not None

    async def load(self, is_busy: Callable[[], bool]) -> None:
        """Read what STATE holds now. Nothing is read while `is_busy`: what is more urgent comes first."""
        reader = await self._opened()
        while not reader.caught_up:
            await self._take(reader, SLOW)
            while is_busy():  # noqa: ASYNC110  # what it asks changes at many places
                await asyncio.sleep(YIELD)

    async def follow(self, seconds: float) -> None:
        """Read what comes in these seconds."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            await self._take(await self._opened(), left)

    async def complete(self, fence: int, least: int = 0) -> tuple[Tree, int]:
        """The partition's tree, and the position of the last event that made a record in it. Nothing is read after it.

        fence: the place in LOG of the own checkpoint. STATE copies LOG in order, so the copy is complete once it has
        copied that place, or a later one. Foreign messages that STATE copied are set aside, and LOG is asked for those
        entities. least: how many entities the partition has. If STATE holds fewer, the tree is rebuilt from LOG.
        """
        try:
            reader = await self._opened()
            while self._copied < fence:
                if not await self._take(reader, SLOW):
                    log.warning("state_copy_behind", partition=self.partition, place=fence)
        finally:
            await self.close()
        for subject in self._asides:
            self._saw(await _restore_from_log(self._installation, self.partition, self._tree, subject))
        if (loaded := len(self._tree)) < least:
            self._saw(await _rebuild(self._installation, self.partition, self._tree, fence))
            missing = least - loaded
            log.warning("state_rebuilt", partition=self.partition, missing=missing, entities=len(self._tree))
        return self._tree, self._highest

    async def close(self) -> None:
        """Read no more. A second call does nothing."""
        reader, self._reader = self._reader, None
        if reader is not None:
            await reader.__aexit__(None, None, None)

    async def _opened(self) -> Reader:
        if self._reader is None:
            states = f"{self._installation.prefix}.state.{self.partition}.>"
            reader = Reader(self._installation.wire, self._installation.layout.state, [states])
            await reader.__aenter__()
            self._reader = reader
        return self._reader

    async def _take(self, reader: Reader, seconds: float) -> int:
        """Read what comes first, within so many seconds; how many messages that was."""
        found, stream, tree = await reader.take(LOAD, seconds), self._installation.layout.state, self._tree
        highest = self._highest
        for stored in found:
            if stored.subject == self._own:
                self._copied = max(self._copied, origin(stored.block))
            elif (state := entity_in_state(stream, stored)) is None:
                self._asides.append(stored.subject)
            else:
                highest = max(highest, take_in(tree, state))
        self._highest = highest
        await asyncio.sleep(0)  # other partitions go on meanwhile
        return len(found)

    def _saw(self, position: int) -> None:
        self._highest = max(self._highest, position)


async def _rebuild(installation: Installation, partition: int, tree: Tree, fence: int) -> int:
    """Put each entity into the tree as LOG has it, up to the place `fence`; returns the position of the last event."""
    stream, seen, last = installation.layout.log, 0, dict[tuple[str, str], Record]()
    records = (f"{installation.prefix}.log.{partition}.transition.", f"{installation.subjects.marks(partition)}.")
    async with Reader(installation.wire, stream, [f"{installation.prefix}.*.{partition}.>"]) as reader:
        while seen < fence:
            for stored in await reader.take(LOAD):
                seen = stored.sequence
                if not stored.subject.startswith(records):
                    continue
                record = record_in_log(stream, stored)
                if record is not None and not isinstance(record, Rejection):
                    last[record.entity.kind, record.entity.id] = record
    return max((take_in(tree, entity_after(record)) for record in last.values()), default=0)


async def _restore_from_log(installation: Installation, partition: int, tree: Tree, subject: str) -> int:
    """Put the entity of a subject of STATE into the tree as LOG has it; returns the position of its last event."""
    words = subject.removeprefix(f"{installation.prefix}.state.{partition}.").split(".")
    if words[0] == "mark":
        del words[0]
    if len(words) < 2:
        return 0
    found = await last_records(installation, partition, words[0], ".".join(words[1:]))
    return max((take_in(tree, entity_after(record)) for record in found), default=0)
