"""Loading a partition's committed states from STATE, with LOG's help where STATE holds what no worker wrote.

Belongs here: knowing that the copy is complete, restoring the tree from it. Does not: the other steps of a take-over
(`takeover`).
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence

from phaseline.engine import logs
from phaseline.engine.core.tree import Tree, take_in
from phaseline.engine.jetstream.direct_get import origin
from phaseline.engine.jetstream.reader import Reader, Stored
from phaseline.engine.jetstream.stream_reader import read_all
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log_records import entity_in_state, last_records, record_in_log
from phaseline.schemas.records import Record, Rejection, entity_after

LOAD = 100
"""Messages that are taken in at once. Then others have a turn: the worker's leases, and its other partitions.

A worker may load 64 partitions at the same time. If each took thousands in its turn, a round of all of them would take
longer than a lease lives.
"""
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
        self._start = f"{installation.prefix}.state."
        self._states = f"{self._start}{installation.reach(partition)}.>"
        self._is_first = installation.layout.division.generation == 0
        """Whether the partition is a bucket. Otherwise its trees lie in buckets, beside trees of others."""
        self._read = 0
        """The sequence in STATE of the last message that was read."""
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
            if self._is_first:
                await self._read_checkpoint(await self._opened(), fence)
            else:
                await self.close()
                async with self._reader_of(self._own) as checkpoints:
                    await self._read_checkpoint(checkpoints, fence)
                async for found in read_all(
                    self._installation.wire, self._installation.layout.state, [self._states], self._read + 1
                ):
                    for start in range(0, len(found), LOAD):
                        self._take_in(found[start : start + LOAD])
                        await asyncio.sleep(0)
        finally:
            await self.close()
        for subject in self._asides:
            self._saw(await _restore_from_log(self._installation, self._tree, subject))
        if (loaded := len(self._tree)) < least:
            self._saw(await _rebuild(self._installation, self.partition, self._tree))
            missing = least - loaded
            log.warning("state_rebuilt", partition=self.partition, missing=missing, entities=len(self._tree))
        return self._tree, self._highest

    async def close(self) -> None:
        """Read no more. A second call does nothing."""
        reader, self._reader = self._reader, None
        if reader is not None:
            await reader.__aexit__(None, None, None)

    async def _read_checkpoint(self, reader: Reader, fence: int) -> None:
        """Read until the own checkpoint is copied."""
        while self._copied < fence:
            if not await self._take(reader, SLOW):
                log.warning("state_copy_behind", partition=self.partition, place=fence)

    def _reader_of(self, subject: str) -> Reader:
        return Reader(self._installation.wire, self._installation.layout.state, [subject])

    async def _opened(self) -> Reader:
        if self._reader is None:
            reader = self._reader_of(self._states)
            await reader.__aenter__()
            self._reader = reader
        return self._reader

    async def _take(self, reader: Reader, seconds: float) -> int:
        """Read what comes first, within so many seconds; how many messages that was."""
        found = await reader.take(LOAD, seconds)
        self._take_in(found)
        if found and reader is self._reader:
            self._read = found[-1].sequence
        await asyncio.sleep(0)  # other partitions go on meanwhile
        return len(found)

    def _take_in(self, found: Sequence[Stored]) -> None:
        """Put what was read into the tree. What belongs to other partitions is left out."""
        stream, tree, highest = self._installation.layout.state, self._tree, self._highest
        for stored in found:
            if stored.subject == self._own:
                self._copied = max(self._copied, origin(stored.block))
            elif not self._is_first and not self._owns(stored.subject):
                continue
            elif (state := entity_in_state(stream, stored)) is None:
                self._asides.append(stored.subject)
            else:
                highest = max(highest, take_in(tree, state))
        self._highest = highest

    def _owns(self, subject: str) -> bool:
        root = _root(subject[len(self._start) :].split("."))
        return root is not None and self._installation.owns(self.partition, root)

    def _saw(self, position: int) -> None:
        self._highest = max(self._highest, position)


def _root(words: list[str]) -> str | None:
    """The root in a subject of STATE, given from the bucket on; None for a checkpoint."""
    at = 3 if words[1:2] == ["mark"] else 2
    return words[at] if len(words) > at and words[1] != "checkpoint" else None


async def _rebuild(installation: Installation, partition: int, tree: Tree) -> int:
    """Put each entity into the tree as LOG has it; returns the position of the last event."""
    stream, last = installation.layout.log, dict[tuple[str, str], Record]()
    is_first = installation.layout.division.generation == 0
    async for stored in _records(installation, partition):
        record = record_in_log(stream, stored)
        if record is None or isinstance(record, Rejection):
            continue
        if is_first or installation.owner_of(record.entity.id) == partition:
            last[record.entity.kind, record.entity.id] = record
    return max((take_in(tree, entity_after(record)) for record in last.values()), default=0)


async def _records(installation: Installation, partition: int) -> AsyncIterator[Stored]:
    """The messages of LOG in which the transitions and marks of a partition are, maybe beside those of others."""
    reach, start = installation.reach(partition), len(installation.prefix) + 1
    async for slice_ in read_all(installation.wire, installation.layout.log, [f"{installation.prefix}.*.{reach}.>"]):
        for stored in slice_:
            branch, _, rest = stored.subject[start:].split(".", 2)
            if (branch, rest[:11]) == ("log", "transition.") or (branch, rest[:16]) == ("mark", "transition.mark."):
                yield stored


async def _restore_from_log(installation: Installation, tree: Tree, subject: str) -> int:
    """Put the entity of a subject of STATE into the tree as LOG has it; returns the position of its last event."""
    bucket, *words = subject.removeprefix(f"{installation.prefix}.state.").split(".")
    if words[0] == "mark":
        del words[0]
    if len(words) < 2 or not bucket.isdecimal():  # a foreign message may have any word there
        return 0
    found = await last_records(installation, int(bucket), words[0], ".".join(words[1:]))
    return max((take_in(tree, entity_after(record)) for record in found), default=0)
