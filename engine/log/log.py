"""LOG, and what of it was archived, as one log: whoever reads the past asks it.

Belongs here: reading both as if they were one stream, and what was trimmed before somebody reads, or meanwhile. Does
not: what the messages mean (`log_records`), states and moments (`as_of`), an archive (`replay.archive.open_archive`).
Whoever archives writes a note before anything is trimmed. So a read of the stream showed everything if the note that
is read after it does not cover what was asked for.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from typing import NamedTuple, Self, TypeVar

from phaseline.engine.core.message import Headers
from phaseline.engine.log import foreign
from phaseline.engine.log.archived import note
from phaseline.engine.log.archived.note import ArchiveNote
from phaseline.engine.log.installation import Installation, LogArchive
from phaseline.engine.log.when import END, Time
from phaseline.engine.nats.direct_get import STORED, LastMessage, direct
from phaseline.engine.nats.reader import Stored
from phaseline.engine.nats.stream_reader import StreamReader, reader_of
from phaseline.engine.nats.wire import Wire
from phaseline.schemas.cloudevents import binary_mode
from phaseline.schemas.errors import NoAnswer, NotFound
from phaseline.schemas.records import nanoseconds, timestamp

T = TypeVar("T")


class FetchedEvent(NamedTuple):
    """A message of EVENTS. `subject`: the inbox subject; `time`: when it was stored, RFC 3339.

    body: with the whole envelope, also of an event that was sent in binary mode. sent: the body as it was sent.
    headers: those that are part of an event in binary mode.
    """

    subject: str
    body: bytes
    time: str
    sent: bytes
    headers: Headers


class Beginning(NamedTuple):
    """The place after which the log has all records. streamed: whether the stream has them, without an archive."""

    place: int
    streamed: bool


class Log(NamedTuple):
    """The log of an installation."""

    installation: Installation

    def reader(
        self, filters: Sequence[str], start: int | str = "start", feed: Sequence[str] = (), *, follows: bool = False
    ) -> StreamReader:
        """A reader of the records on these subjects, not open yet. follows: as for `reader_of`."""
        installation = self.installation
        if installation.archive is None or start == "now":
            return reader_of(installation.wire, installation.layout.log, filters, start, feed, follows=follows)
        return ArchiveReader(installation, installation.archive, filters, start, feed, follows=follows)

    async def trimmed(self) -> ArchiveNote | None:
        """The note of what was trimmed; None if nothing was."""
        return await note.last(self.installation)

    async def past(self, named: int | Time) -> LogArchive | None:
        """The archive, if the stream no longer shows this moment; raises `NotInLog` if no archive is at hand."""
        told = await self.trimmed()
        if told is None or not told.covers(named):
            return None
        archive = self.installation.archive
        if archive is None:
            raise note.refusal(told, named)
        await archive.follow()
        return archive

    async def check_at_hand(self, named: int | Time) -> None:
        """Raise `NotInLog` if the stream no longer shows this moment, and no archive is at hand."""
        if self.installation.archive is None:
            await self.past(named)

    async def out_of_reach(self) -> ArchiveNote | None:
        """The note of what was trimmed and cannot be read, because no archive is at hand; None if there is nothing."""
        return None if self.installation.archive is not None else await self.trimmed()

    async def shown(
        self, named: int | Time, stream: Callable[[], Awaitable[T]], archived: Callable[[LogArchive], Awaitable[T]]
    ) -> T:
        """What the stream shows of a moment, or the archive where the stream was trimmed of it, also meanwhile."""
        past = None if self.installation.archive is None else await self.past(named)
        if past is None:
            found = await stream()
            past = await self.past(named)
            if past is None:
                return found
        return await archived(past)

    async def record(self, place: int) -> LastMessage | Stored | None:
        """The message of a record at a place; None if neither the stream nor the archive holds one there."""
        wire, archive = self.installation.wire, self.installation.archive
        reply = await direct(wire, self.installation.layout.log, {"seq": place}) if 0 < place < END else None
        message = None if reply is None else foreign.message_in(reply)
        if message is not None and message.subject.startswith(f"{self.installation.prefix}.log."):
            return message
        return None if archive is None else await archive.record(place)

    async def event(self, position: int) -> FetchedEvent | None:
        """The event at a position; None if neither EVENTS nor the archive holds it."""
        return (await self.events([position])).get(position)

    async def events(self, positions: Sequence[int]) -> dict[int, FetchedEvent]:
        """Those of these events that EVENTS holds, or the archive."""
        wire, stream, archive = self.installation.wire, self.installation.layout.events, self.installation.archive
        held = await asyncio.gather(*(direct_event(wire, stream, one) for one in positions))
        found = {position: one for position, one in zip(positions, held, strict=True) if one is not None}
        if archive is not None and len(found) < len(positions):
            archived = await archive.events(set(positions) - found.keys())
            found |= {position: _fetched(stored) for position, stored in archived.items()}
        return found

    async def begins(self) -> Beginning:
        """From where on everything can be read."""
        told, archive = await self.trimmed(), self.installation.archive
        if told is None or archive is None:
            return Beginning(0 if told is None else told.place, streamed=True)
        return Beginning(archive.begins, streamed=False)

    async def check_held(self, place: int) -> None:
        """Raise `NotFound.place_trimmed` if neither the stream nor the archive holds what was at this place."""
        wire, log, archive = self.installation.wire, self.installation.layout.log, self.installation.archive
        if archive is not None:
            if await archive.follow() and place <= archive.begins:
                raise NotFound.place_trimmed(place=place, first=archive.begins + 1)
            if place <= archive.place:
                return
        told = await self.trimmed()
        if told is not None and place <= told.place:
            raise NotFound.place_trimmed(place=place, first=told.place + 1)
        first = int((await wire.api(f"STREAM.INFO.{log}"))["state"]["first_seq"])
        if place >= first:
            return
        reply = await direct(wire, log, {"seq": first})
        subject = "" if reply is None else foreign.message_in(reply).subject
        # A log begins with checkpoints and notes of tables; of the checkpoints, only the last one stays.
        if not subject.startswith((f"{self.installation.prefix}.tables.", f"{self.installation.prefix}.mark.")):
            raise NotFound.place_trimmed(place=place, first=first)


class ArchiveReader:
    """Reads the records of an archive, then the messages of the stream behind them.

    The log may be archived further meanwhile. What was trimmed before it was read is missing then, and
    `NoAnswer.archived_meanwhile` is raised in place of the end.
    """

    def __init__(
        self, installation: Installation, archive: LogArchive, filters: Sequence[str], start: int | str,
        feed: Sequence[str], *, follows: bool,
    ) -> None:  # fmt: skip
        """The arguments are those of `Log.reader`."""
        self._installation, self._archive, self.stream = installation, archive, installation.layout.log
        self._filters, self._start, self._feed, self._follows = filters, start, feed, follows
        self._past: AsyncIterator[list[Stored]] | None = None
        self._held = deque[Stored]()
        self._rest: StreamReader
        self._first = 0
        """The place from which on the stream must hold everything."""
        self._is_whole = False
        """Whether it was seen that nothing was trimmed before it was read."""
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        """Open the stream too, so that both ends are those of one time."""
        installation, archive, start = self._installation, self._archive, self._start
        await archive.follow()
        self._first = start if isinstance(start, int) else 0
        if _lies_in(archive, start):
            self._past = archive.messages(self._filters, start, archive.place)
            start = archive.place + 1
        self._first = max(self._first, archive.place + 1)
        rest = reader_of(
            installation.wire, self.stream, self._filters, start, self._feed, follows=self._follows
        )  # fmt: skip
        self._rest = await self._stack.enter_async_context(rest)
        try:
            await self._fill()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    @property
    def buffered(self) -> int:
        """How many messages `take` can return at once."""
        return len(self._held) or self._rest.buffered

    @property
    def caught_up(self) -> bool:
        """Whether all messages that there were on entry have been taken. Once true it stays true."""
        return self._is_whole and not self._held

    async def take(self, limit: int, timeout: float | None = None) -> list[Stored]:
        """Wait for messages and return at most `limit`, as `reader.Reader.take` does."""
        if self._held:
            taken = [self._held.popleft() for _ in range(min(limit, len(self._held)))]
        else:
            taken = await self._rest.take(limit, timeout)
        if not self._held:
            await self._fill()
        return taken

    async def _fill(self) -> None:
        """Hold the next messages of the archive, if there are more; at the end look whether the rest is whole."""
        while self._past is not None and not self._held:
            found = await anext(self._past, None)
            if found is None:
                self._past = None
            else:
                self._held.extend(found)
        if self._past is None and not self._is_whole and self._rest.caught_up:
            archived = await self._archive.follow()
            if archived >= self._first:
                raise NoAnswer.archived_meanwhile(archive=self._archive.name, place=archived)
            self._is_whole = True


async def direct_event(wire: Wire, stream: str, position: int) -> FetchedEvent | None:
    """The event at a position of the stream EVENTS, which has this name; None if it does not hold it."""
    reply = await direct(wire, stream, {"seq": position})
    if reply is None:
        return None
    return FetchedEvent(
        reply.headers["Nats-Subject"], binary_mode.structured(reply.data, reply.block),
        reply.headers[STORED], reply.data, binary_mode.headers(reply.block),
    )  # fmt: skip


def _fetched(stored: Stored) -> FetchedEvent:
    """An event of the archive."""
    body, headers = binary_mode.structured(stored.data, stored.block), binary_mode.headers(stored.block)
    return FetchedEvent(stored.subject, body, timestamp(stored.time_ns), stored.data, headers)


def _lies_in(archive: LogArchive, start: int | str) -> bool:
    if isinstance(start, int):
        return start <= archive.place
    return start == "start" or nanoseconds(start) <= archive.time_ns
