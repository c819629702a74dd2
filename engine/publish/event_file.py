"""Reads files and pipes of events: JSON lines or a msgpack stream, recognised by the first byte.

Belongs here: turning bytes into event maps with their locations. Does not: checking the events (`compose`), sending
them.
"""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from phaseline.schemas import bounds, codec
from phaseline.schemas.errors import InvalidInput

PIECE = 256 * 1024
BOM = b"\xef\xbb\xbf"
JSON = tuple(bytes([byte]) for byte in b"{ \t\r\n")
MAPS = tuple(bytes([byte]) for byte in (*range(0x80, 0x90), 0xDE, 0xDF))
"""The bytes that a msgpack map can begin with."""


class FileEvent(NamedTuple):
    """An event map and its location: `line 17` of JSON lines, `event 17` of a msgpack stream."""

    location: str
    body: dict[str, Any]


class EventFile:
    """Parses the bytes of a file into events. Raises `InvalidInput.bad_event_file` with the location of the error."""

    def __init__(self, name: str) -> None:
        """name: the name of the file in errors."""
        self.name = name
        self._values: codec.Values | None = None
        self._begun = False
        self._rest = b""
        self._count = 0

    def feed(self, piece: bytes) -> Iterator[FileEvent]:
        """The events that are complete with this piece."""
        if not self._begun:
            piece = self._rest = self._rest + piece
            if len(piece) < len(BOM) and BOM.startswith(piece):
                return
            self._rest, self._begun = b"", True
            piece = piece.removeprefix(BOM)
            self._values = self._decoder(piece)
        yield from self._lines(piece) if self._values is None else self._stream(self._values, piece)

    def end(self) -> Iterator[FileEvent]:
        """The rest: a last line without a line end."""
        if self._values is not None:
            try:
                self._values.close()
            except codec.Undecodable as error:
                raise self._broken(f"event {self._count + 1}", str(error)) from error
        elif self._rest:
            yield from self._lines(b"\n")

    def _decoder(self, piece: bytes) -> codec.Values | None:
        if piece[:1] in MAPS:
            return codec.Values()
        if piece[:1] in JSON:
            return None
        hint = ", perhaps a JSON array: write one event per line" if piece[:1] == b"[" else ""
        raise self._broken("beginning", f"neither JSON lines nor a msgpack stream of maps: found {piece[:8]!r}{hint}")

    def _lines(self, piece: bytes) -> Iterator[FileEvent]:
        *lines, self._rest = (self._rest + piece).split(b"\n")
        if len(self._rest) > bounds.LARGEST:
            raise self._broken(f"line {self._count + len(lines) + 1}", f"it has more than {bounds.LARGEST:,} bytes")
        for line in lines:
            self._count += 1
            if line.strip():
                yield self._checked(f"line {self._count}", line)

    def _checked(self, location: str, line: bytes) -> FileEvent:
        if line.lstrip()[:1] != b"{":
            raise self._broken(location, f"JSON: an event is an object, this line begins with {line.strip()[:8]!r}")
        try:
            return FileEvent(location, codec.decode(line))
        except codec.Undecodable as error:
            raise self._broken(location, error) from error

    def _stream(self, values: codec.Values, piece: bytes) -> Iterator[FileEvent]:
        try:
            for value in values.feed(piece):
                location = f"event {self._count + 1}"
                if not isinstance(value, dict):
                    raise self._broken(location, f"msgpack: an event is a map, found {type(value).__name__}")
                self._count += 1
                yield FileEvent(location, value)
        except codec.Undecodable as error:
            raise self._broken(f"event {self._count + 1}", str(error)) from error

    def _broken(self, location: str, problem: object) -> InvalidInput:
        return InvalidInput.bad_event_file(name=self.name, place=location, problem=str(problem))


def read(path: Path) -> Iterator[FileEvent]:
    """The events of a file. Raises `InvalidInput.bad_event_file`, also if the file cannot be read."""
    events = EventFile(str(path))
    try:
        with path.open("rb") as file:
            while piece := file.read(PIECE):
                yield from events.feed(piece)
    except OSError as error:
        raise InvalidInput.bad_event_file(name=path, place="beginning", problem=error.strerror or str(error)) from error
    yield from events.end()


async def read_live(descriptor: int, name: str) -> AsyncIterator[FileEvent]:
    """The events of a pipe or terminal, as they arrive. Raises `InvalidInput.bad_event_file`."""
    events = EventFile(name)
    async for piece in pieces(descriptor, name):
        for event in events.feed(piece):
            yield event
    for event in events.end():
        yield event


async def pieces(descriptor: int, name: str) -> AsyncIterator[bytes]:
    """The bytes of a descriptor, piece by piece.

    A daemon thread reads them. So Ctrl-C ends the program at once and does not wait for the next line.
    """
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[bytes | OSError] = asyncio.Queue()
    room = threading.Semaphore(4)

    def pump() -> None:
        piece: bytes | OSError = b"-"
        while piece and isinstance(piece, bytes):
            room.acquire()
            try:
                piece = os.read(descriptor, PIECE)
            except OSError as error:
                piece = error
            with suppress(RuntimeError):  # the loop may be closed already, then nobody needs the piece
                loop.call_soon_threadsafe(queue.put_nowait, piece)

    threading.Thread(target=pump, daemon=True, name="events").start()
    while piece := await queue.get():
        if isinstance(piece, OSError):
            raise InvalidInput.bad_event_file(
                name=name, place="reading", problem=piece.strerror or str(piece)
            ) from piece
        room.release()
        yield piece
