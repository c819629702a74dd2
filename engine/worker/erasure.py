"""Erases the events that were rejected because of what they hold: from EVENTS, and their copies from LIVE.

Belongs here: the queue of a partition, trying again, what a former owner left behind. Does not: finding banned content
(`core.intake`), the requests to the server (`nats.erase`).
An event is erased after its rejection is committed, so the log always says what was erased. The next owner of a
partition erases what the last one did not: it looks at every such rejection in the log.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Coroutine, Iterable
from typing import NamedTuple, Self

from phaseline.engine import logs
from phaseline.engine.core.process import InboxEvent
from phaseline.engine.log import foreign
from phaseline.engine.log.foreign import Barrier
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log import Log
from phaseline.engine.nats.erase import copy_on, erase
from phaseline.engine.nats.stream_reader import read_all
from phaseline.schemas import codec
from phaseline.schemas.errors import PhaselineError
from phaseline.schemas.records import Rejection
from phaseline.schemas.templates import reading

COPIED = (0.0, 0.05, 0.2, 0.75, 3.0)
"""Seconds before each look for the copy in LIVE, which may arrive after the event was erased."""
AT_ONCE = 50
"""Events that are erased at the same time, at most."""
PAUSES = (1.0, 2.0, 5.0, 15.0, 60.0)
"""Seconds before a failed erasure is tried again; the last number repeats."""

log = logs.get_logger(__name__)


class Erasable(NamedTuple):
    """An event to erase. live: the subject of its copy in LIVE; empty if it has none."""

    position: int
    live: str


class Erasure:
    """The erasures of one partition, during `async with Erasure(...)`. They run beside its commits."""

    def __init__(self, installation: Installation, partition: int, behind: Barrier) -> None:
        """behind: the checkpoint of the owner: what a former one told before it is looked for (`foreign.standing`)."""
        self._installation, self._partition, self._behind = installation, partition, behind
        self._bans, self._copies = installation.kinds.bans, installation.kinds.copies
        self._gate = asyncio.Semaphore(AT_ONCE)
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        """Begin with what a former owner of the partition left."""
        self._start(self._erase_left())
        return self

    async def __aexit__(self, *_: object) -> None:
        """End. What is not erased yet is left to the next owner."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def add(self, events: Iterable[InboxEvent]) -> None:
        """Erase these events, whose rejections are committed."""
        for event in events:
            self._start(self._erase(Erasable(event.sequence, self._live_subject(event.subject))))

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _live_subject(self, subject: str) -> str:
        """The subject of the copy of an event in LIVE; empty for events that are not copied."""
        prefix = self._installation.prefix
        branch, partition, root, kind, trigger, *rest = subject[len(prefix) + 1 :].split(".")
        copied = self._copies.get(kind)
        is_copied = branch == "inbox" and copied is not None and copied.trigger == trigger
        return ".".join([prefix, copied.branch, partition, root, *rest]) if copied is not None and is_copied else ""

    async def _erase(self, found: Erasable) -> None:
        """Erase an event and its copy, however long that takes."""
        pauses = itertools.chain(PAUSES, itertools.repeat(PAUSES[-1]))
        while True:
            try:
                async with self._gate:
                    if await self._erased(found):
                        log.warning("secret_erased", partition=self._partition, position=found.position)
            except PhaselineError as error:
                log.warning("secret_not_erased", partition=self._partition, position=found.position, error=str(error))
                await asyncio.sleep(next(pauses))
            else:
                return

    async def _erased(self, found: Erasable) -> bool:
        """Erase an event and its copy; False if the event did not exist any more."""
        wire, layout = self._installation.wire, self._installation.layout
        existed = await erase(wire, layout.events, found.position)
        for pause in COPIED if existed else COPIED[:1]:
            await asyncio.sleep(pause)
            copy = await copy_on(wire, layout.live, found.live) if found.live else None
            if copy is not None and copy.position == found.position and self._bans.where(copy.body) is not None:
                await erase(wire, layout.live, copy.sequence)
            if not found.live or (copy is not None and copy.position >= found.position):
                break
        return existed

    async def _erase_left(self) -> None:
        """Erase every event that a committed rejection says is erased, and that is still there."""
        for pause in itertools.chain(PAUSES, itertools.repeat(PAUSES[-1])):
            try:
                async for record in self._told():
                    await self._erase_told(record)
            except PhaselineError as error:
                log.warning("secret_not_erased", partition=self._partition, position=0, error=str(error))
                await asyncio.sleep(pause)
            else:
                return

    async def _told(self) -> AsyncIterator[Rejection]:
        """The rejections of this partition, in the log, whose events held banned content."""
        installation = self._installation
        filter_ = installation.subjects.secrets(self._partition)
        wire, log = installation.wire, installation.layout.log
        last = (await foreign.standing(wire, log, filter_, lambda _: True, self._behind)).end
        if not last:
            return  # most partitions have none, and this one request costs less than a consumer
        async for slice_ in read_all(wire, log, [filter_], least=last):
            for stored in slice_:
                try:
                    record = reading.read(stored.data)
                except (codec.Undecodable, LookupError, TypeError, ValueError, AttributeError):
                    continue  # not one of ours
                if isinstance(record, Rejection):
                    yield record

    async def _erase_told(self, record: Rejection) -> None:
        """Erase the event of a rejection, if it does hold banned content: a forged one must not erase anything."""
        event = await Log(self._installation).event(record.cause.sequence)
        if event is not None:
            if self._bans.where(event.body) is not None:
                await self._erase(Erasable(record.cause.sequence, self._live_subject(event.subject)))
        elif (copied := self._copies.get(record.kind)) is not None and copied.trigger == record.trigger:
            bucket = self._installation.partition_of(record.id)
            live = self._installation.subjects.live(copied.branch, bucket, record.id)
            await self._erase(Erasable(record.cause.sequence, live))
