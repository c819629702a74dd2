"""A log read from its archive first, and then from the stream, as if it were one stream.

Belongs here: that reader, and the choice of a reader for an installation. Does not: reading the archive
(`archive.open_archive`), reading the stream (`jetstream.stream_reader`).
"""

from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from typing import Self

from phaseline.engine.jetstream.reader import Stored
from phaseline.engine.jetstream.stream_reader import StreamReader, reader_of
from phaseline.engine.log.archived.log_archive import LogArchive
from phaseline.engine.log.installation import Installation
from phaseline.schemas.errors import NoAnswer
from phaseline.schemas.records import nanoseconds


def log_reader(
    installation: Installation, filters: Sequence[str], start: int | str = "start", feed: Sequence[str] = ()
) -> StreamReader:
    """A reader of LOG, not open yet; with the archive, if the installation has one."""
    if installation.archive is None or start == "now":
        return reader_of(installation.wire, installation.layout.log, filters, start, feed)
    return ArchiveReader(installation, installation.archive, filters, start, feed)


class ArchiveReader:
    """Reads the records of an archive, then the messages of the stream behind them.

    The log may be archived further meanwhile. What was trimmed before it was read is missing then, and
    `NoAnswer.archived_meanwhile` is raised in place of the end.
    """

    def __init__(
        self, installation: Installation, archive: LogArchive, filters: Sequence[str], start: int | str,
        feed: Sequence[str],
    ) -> None:  # fmt: skip
        """Reads nothing yet. The arguments are those of `log_reader`."""
        self._installation, self._archive = installation, archive
        self._filters, self._start, self._feed = filters, start, feed
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
        rest = reader_of(installation.wire, self.stream, self._filters, start, self._feed)
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
    def stream(self) -> str:
        """The name of the stream."""
        return self._installation.layout.log

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


def _lies_in(archive: LogArchive, start: int | str) -> bool:
    if isinstance(start, int):
        return start <= archive.place
    return start == "start" or nanoseconds(start) <= archive.time_ns
