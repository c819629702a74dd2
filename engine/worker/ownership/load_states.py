"""Loading a partition's committed states from STATE, with LOG's help where STATE holds what no worker wrote.

Belongs here: knowing that the copy is complete, restoring the tree from it, what of a tree that was loaded before need
not be read again. Does not: the other steps of a take-over (`takeover`).
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

from phaseline.engine import logs
from phaseline.engine.core.tree import Tree, take_all_in
from phaseline.engine.log import table_eras
from phaseline.engine.log.foreign import Barrier
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log_records import entities_in_state, last_records, record_in_log
from phaseline.engine.nats.direct_get import last_message_from_leader, origin
from phaseline.engine.nats.reader import BUFFER, Reader, Stored
from phaseline.schemas.errors import PhaselineError
from phaseline.schemas.records import Record, Rejection, entity_after

YIELD = 0.005
"""Seconds between two looks whether something more urgent goes on."""
SLOW = 10.0
"""Seconds without a message after which a take-over logs that it waits for STATE."""

log = logs.get_logger(__name__)


class Holding(NamedTuple):
    """Which checkpoint stands in the log: its place, its epoch, its worker. Each owner's differs from all others."""

    place: int
    epoch: int
    worker: str


class PartitionStates:
    """The states of a partition, as STATE has copied them. They can be read before the partition is owned.

    A worker that prepares reads what there is (`load`) and what comes (`follow`). Then little is left to read once it
    owns the partition (`complete`). Once it has lost the partition, its tree may be kept (`settle`): if it gets the
    partition again, it reads what others have committed since, and nothing if nobody has (`holds`).
    """

    def __init__(self, installation: Installation, partition: int, calm: asyncio.Event | None = None) -> None:
        """Nothing is read yet. calm: nothing is taken in while it is not set."""
        self.partition = partition
        self.read = 0
        """How many messages were read."""
        self._calm, self._made = calm, ""
        self.is_used = False
        """Whether an owner has the tree, who may have changed it without a commit."""
        self._backup: int | None = None
        """The last position before the log was put back, as in `Tree.backup`; None: not asked yet."""
        self._settled: Holding | None = None
        """The last checkpoint of the owner whose commits, all of them, are in the tree."""
        self.installation, self._tree, self._highest = installation, installation.tree(), 0
        self._own = installation.subjects.state_checkpoint(partition)
        self._start = f"{installation.prefix}.state."
        self._filters = [f"{self._start}{partition}.>"]
        """The states and the own checkpoint. One reader gets both: where a replica lags, a second one may miss some."""
        self._read = 0
        """The sequence in STATE of the last message that was read."""
        self._copied = 0
        """The place in LOG of the last checkpoint that STATE has copied."""
        self._asides: list[str] = []
        self._reader: Reader | None = None

    @property
    def is_ready(self) -> bool:
        """Whether little is left to read: it was prepared, or owned before."""
        return self._reader is not None or self._settled is not None

    def holds(self, standing: Holding) -> bool:
        """Whether the tree is as the log, in which this is the last checkpoint: nobody has committed since."""
        return self._settled == standing

    async def settle(self, last: Holding, position: int) -> None:
        """Note that all that was committed up to an owner's last checkpoint, and by it, is in the tree, and no more.

        position: up to which all events are decided. What STATE had copied up to a checkpoint of this owner need not be
        read again.
        """
        self._settled, self._highest, self.is_used = last, max(self._highest, position), False
        wire, state = self.installation.wire, self.installation.layout.state
        with suppress(PhaselineError):  # then more is read again
            copy = await last_message_from_leader(wire, state, self._own)
            if copy is not None and 0 < origin(copy.block) <= last.place:
                self._read = max(self._read, copy.sequence)

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

    async def complete(self, fence: int, least: int = 0, *, is_whole: bool = False) -> tuple[Tree, int]:
        """The partition's tree, and the position of the last event that made a record in it. Nothing is read after it.

        fence: the place in LOG of the own checkpoint. STATE copies LOG in order, so the copy is complete once it has
        copied that place, or a later one. Foreign messages that STATE copied are set aside, and LOG is asked for those
        entities. least: how many entities the partition has. If STATE holds fewer, the tree is rebuilt from LOG.
        is_whole: there is nothing to read, because the tree is as the log (`holds`).
        """
        self._settled = None
        try:
            if not is_whole:
                await self._read_checkpoint(await self._opened(), fence)
        finally:
            await self.close()
        behind = Barrier(self.installation.subjects.checkpoint(self.partition), fence)
        for subject in self._asides:
            self._saw(await _restore_from_log(self.installation, self._tree, subject, behind))
        self._asides.clear()
        if (loaded := len(self._tree)) < least:
            self._saw(await _rebuild(self.installation, self.partition, self._tree, fence))
            missing = least - loaded
            log.warning("state_rebuilt", partition=self.partition, missing=missing, entities=len(self._tree))
        self.is_used = True
        return self._tree, self._highest

    def count_from(self, backup: int) -> None:
        """Tell by the records what was heard of since the log was put back. What was read without that is forgotten.

        backup: the last position before that; 0 if the log was not put back.
        """
        if self._backup != backup:
            self._backup = backup
            if self._tree.backup != backup:
                self.forget()

    def forget(self) -> None:
        """Forget all that was read: the tree may be something else than the log."""
        self._tree, self._highest, self._read, self._copied = self.installation.tree(), 0, 0, 0
        self._tree.backup = self._backup or 0
        self._settled = None
        self._asides.clear()

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

    async def begins(self) -> int:
        """From where on to read STATE. If it was made anew since something of it was read, everything begins anew.

        A stream that is restored from a backup counts as made at that moment.
        """
        if self._backup is None:
            era = await table_eras.latest(self.installation, self.partition)
            self.count_from(0 if era is None else era.backup)
        info = await self.installation.wire.api(f"STREAM.INFO.{self.installation.layout.state}")
        made = str(info["created"])
        if self._read and (made != self._made or int(info["state"]["last_seq"]) < self._read):
            self.forget()
        self._made = made
        return self._read + 1

    async def _opened(self) -> Reader:
        if self._reader is None:
            wire, state = self.installation.wire, self.installation.layout.state
            reader = Reader(wire, state, self._filters, await self.begins())
            await reader.__aenter__()
            self._reader = reader
        return self._reader

    async def pause(self) -> None:
        """Let others go on meanwhile: other partitions, and what is more urgent."""
        await asyncio.sleep(0)
        if self._calm is not None:
            await self._calm.wait()

    async def _take(self, reader: Reader, seconds: float) -> int:
        """Read what comes first, within so many seconds; how many messages that was."""
        found = await reader.take(self.installation.pacing.load, seconds)
        self.take_in(found)
        if found and reader is self._reader:
            self.passed(found[-1].sequence)
        await self.pause()
        return len(found)

    def passed(self, sequence: int) -> None:
        """Note that all messages of the partition in STATE up to a sequence are taken in."""
        self._read = sequence

    def take_in(self, found: Sequence[Stored]) -> None:
        """Put what was read next into the tree."""
        self.read += len(found)
        if found:
            self._settled = None  # what was read may be older than the tree, until all is read
        copies = [one for one in found if one.subject != self._own]
        states = entities_in_state(self.installation.layout.state, copies)
        self._asides += [one.subject for one, state in zip(copies, states, strict=True) if state is None]
        self._saw(take_all_in(self._tree, [state for state in states if state is not None]))
        self._copied = max([self._copied, *(origin(one.block) for one in found if one.subject == self._own)])

    def _saw(self, position: int) -> None:
        self._highest = max(self._highest, position)


async def _rebuild(installation: Installation, partition: int, tree: Tree, fence: int) -> int:
    """Put each entity into the tree as LOG has it; returns the position of the last event."""
    stream, last = installation.layout.log, dict[tuple[str, str], Record]()
    async for stored in _records(installation, partition, fence):
        record = record_in_log(stream, stored)
        if record is None or isinstance(record, Rejection):
            continue
        last[record.entity.kind, record.entity.id] = record
    return take_all_in(tree, [*map(entity_after, last.values())])


async def _records(installation: Installation, partition: int, fence: int) -> AsyncIterator[Stored]:
    """The messages of LOG in which the transitions and marks of a partition are, up to the own checkpoint."""
    filters, start, seen = [f"{installation.prefix}.*.{partition}.>"], len(installation.prefix) + 1, 0
    async with Reader(installation.wire, installation.layout.log, filters) as reader:
        while seen < fence:
            for stored in await reader.take(BUFFER):
                seen = stored.sequence
                branch, _, rest = stored.subject[start:].split(".", 2)
                if (branch, rest[:11]) == ("log", "transition.") or (branch, rest[:16]) == ("mark", "transition.mark."):
                    yield stored


async def _restore_from_log(installation: Installation, tree: Tree, subject: str, behind: Barrier) -> int:
    """Put the entity of a subject of STATE into the tree as LOG has it; returns the position of its last event."""
    bucket, *words = subject.removeprefix(f"{installation.prefix}.state.").split(".")
    if words[0] == "mark":
        del words[0]
    if len(words) < 2 or not bucket.isdecimal():  # a foreign message may have any word there
        return 0
    found = await last_records(installation, int(bucket), words[0], ".".join(words[1:]), behind)
    return take_all_in(tree, [*map(entity_after, found)])
