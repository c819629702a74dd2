"""A log read from its archive first, and then from the stream, as if it were one stream.

Belongs here: that reader, and the choice of a reader for an installation. Does not: reading the archive
(`archive.open_archive`), reading the stream (`jetstream.stream_reader`).
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from typing import Self

from phaseline.engine.jetstream.reader import Stored
from phaseline.engine.jetstream.stream_reader import StreamReader, reader_of
from phaseline.engine.log.archived.log_archive import LogArchive
from phaseline.engine.log.installation import Installation
from phaseline.schemas.records import nanoseconds


def log_reader(
    installation: Installation, filters: Sequence[str], start: int | str = "start", feed: Sequence[str] = ()
) -> StreamReader:
    """A reader of LOG, not open yet; with the archive, if the installation has one and `start` lies in it."""
    wire, stream, archive = installation.wire, installation.layout.log, installation.archive
    if archive is None or not _lies_in(archive, start):
        return reader_of(wire, stream, filters, start, feed)
    return ArchiveReader(archive, filters, start, reader_of(wire, stream, filters, archive.place + 1, feed))


def _lies_in(archive: LogArchive, start: int | str) -> bool:
    if isinstance(start, int):
        return start <= archive.place
    return start == "start" or (start != "now" and nanoseconds(start) <= archive.time_ns)


class ArchiveReader:
    """Reads the records of an archive, then the messages of the stream behind them."""

    def __init__(self, archive: LogArchive, filters: Sequence[str], start: int | str, rest: StreamReader) -> None:
        """rest: the reader of the stream, not open yet, from the first place after the archive on."""
        self._past: AsyncIterator[list[Stored]] | None = archive.messages(filters, start, archive.place)
        self._held = deque[Stored]()
        self._rest, self._stack = rest, AsyncExitStack()

    async def __aenter__(self) -> Self:
        """Open the stream too, so that both ends are those of one time."""
        await self._stack.enter_async_context(self._rest)
        await self._fill()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    @property
    def stream(self) -> str:
        """The name of the stream."""
        return self._rest.stream

    @property
    def buffered(self) -> int:
        """How many messages `take` can return at once."""
        return len(self._held) or self._rest.buffered

    @property
    def caught_up(self) -> bool:
        """Whether all messages that there were on entry have been taken. Once true it stays true."""
        return self._past is None and not self._held and self._rest.caught_up

    async def take(self, limit: int, timeout: float | None = None) -> list[Stored]:
        """Wait for messages and return at most `limit`, as `reader.Reader.take` does."""
        if not self._held:
            return await self._rest.take(limit, timeout)
        taken = [self._held.popleft() for _ in range(min(limit, len(self._held)))]
        if not self._held:
            await self._fill()
        return taken

    async def _fill(self) -> None:
        """Hold the next messages of the archive, if there are more."""
        while self._past is not None and not self._held:
            found = await anext(self._past, None)
            if found is None:
                self._past = None
            else:
                self._held.extend(found)
            await asyncio.sleep(0)  # files are read without a pause, and the connection must not starve
