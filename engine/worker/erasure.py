"""Erases the events that were rejected because they hold a raw Secret: from EVENTS, and their copies from LIVE.

Belongs here: the queue of a partition, trying again, what a former owner left behind. Does not: finding raw Secrets
(`core.intake`), the requests to the server (`jetstream.erase`).
An event is erased after its rejection is committed, so the log always says what was erased. The next owner of a
partition erases what the last one did not: it looks at every such rejection in the log.
"""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import NamedTuple, Self

import structlog

from phaseline.engine.core.process import InboxEvent
from phaseline.engine.errors import ApiFailed, NoAnswer, PhaselineError
from phaseline.engine.jetstream.erase import erase, erase_copy
from phaseline.engine.jetstream.stream_reader import read_all
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log_records import event_at
from phaseline.schemas import wire_codec
from phaseline.schemas.records import Rejection

COPIED = (0.0, 0.05, 0.2, 0.75, 3.0)
"""Seconds before each look for the copy in LIVE, which may arrive after the event was erased."""
AT_ONCE = 50
"""Events that are erased at the same time, at most."""
PAUSE = 2.0
"""Seconds before a failed erasure is tried again."""

log = structlog.get_logger(__name__)


class Erasable(NamedTuple):
    """An event to erase. live: the subject of its copy in LIVE; empty if it has none."""

    position: int
    live: str


class Erasure:
    """The erasures of one partition, during `async with Erasure(...)`. They run beside its commits."""

    def __init__(self, installation: Installation, partition: int) -> None:
        self._installation, self._partition = installation, partition
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
        is_copied = (branch, kind, trigger) == ("inbox", "resource", "observed")
        return ".".join([prefix, "live", partition, root, *rest]) if is_copied else ""

    async def _erase(self, found: Erasable) -> None:
        """Erase an event and its copy, however long that takes."""
        while True:
            try:
                async with self._gate:
                    if await self._erased(found):
                        log.warning("secret_erased", partition=self._partition, position=found.position)
                    return
            except (NoAnswer, ApiFailed) as error:
                log.warning("secret_not_erased", partition=self._partition, position=found.position, error=str(error))
            except PhaselineError as error:
                log.error("secret_not_erased", partition=self._partition, position=found.position, error=str(error))  # noqa: TRY400
                return
            await asyncio.sleep(PAUSE)

    async def _erased(self, found: Erasable) -> bool:
        """Erase an event and its copy; False if the event did not exist any more."""
        wire, layout = self._installation.wire, self._installation.layout
        existed = await erase(wire, layout.events, found.position)
        for pause in COPIED if existed else COPIED[:1]:
            await asyncio.sleep(pause)
            if not found.live or await erase_copy(wire, layout.live, found.live, found.position):
                break
        return existed

    async def _erase_left(self) -> None:
        """Erase every event that a committed rejection says is erased, and that is still there."""
        while True:
            try:
                await self._look_back()
            except (NoAnswer, ApiFailed) as error:
                log.warning("secret_not_erased", partition=self._partition, position=0, error=str(error))
                await asyncio.sleep(PAUSE)
            else:
                return

    async def _look_back(self) -> None:
        installation = self._installation
        told = installation.subjects.secrets(self._partition)
        async for slice_ in read_all(installation.wire, installation.layout.log, [told]):
            for stored in slice_:
                record = wire_codec.read(stored.data)
                if isinstance(record, Rejection):
                    await self._erase(await self._left(record))

    async def _left(self, record: Rejection) -> Erasable:
        """The event of a rejection. The copy's subject comes from the event while that exists, then from the id."""
        event = await event_at(self._installation, record.cause.sequence)
        if event is not None:
            return Erasable(record.cause.sequence, self._live_subject(event.subject))
        is_copied = (record.kind, record.trigger) == ("resource", "observed")
        live = self._installation.subjects.live(self._partition, record.id) if is_copied else ""
        return Erasable(record.cause.sequence, live)
