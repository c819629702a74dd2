"""Logs of events, as JSON lines or a msgpack stream: read piece by piece, told apart by the first byte.

Belongs here: from bytes to event maps with their places. Does not: what the events say (`outgoing`), sending them.
"""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from phaseline.engine.errors import BadEventFile
from phaseline.schemas import codec

PIECE = 256 * 1024
BOM = b"\xef\xbb\xbf"
JSON = tuple(bytes([byte]) for byte in b"{ \t\r\n")
MAPS = tuple(bytes([byte]) for byte in (*range(0x80, 0x90), 0xDE, 0xDF))
"""What a msgpack map can begin with."""


class Placed(NamedTuple):
    """An event map. `place`: `line 17` of JSON lines, `event 17` of a msgpack stream."""

    place: str
    body: dict[str, Any]


class EventFile:
    """Bytes in, events out. Raises `BadEventFile` with the place where it is broken."""

    def __init__(self, name: str) -> None:
        """`name` is for the errors."""
        self.name = name
        self._values: codec.Values | None = None
        self._begun = False
        self._rest = b""
        self._count = 0

    def feed(self, piece: bytes) -> Iterator[Placed]:
        """The events that are complete by now."""
        if not self._begun:
            piece = self._rest = self._rest + piece
            if len(piece) < len(BOM) and BOM.startswith(piece):
                return
            self._rest, self._begun = b"", True
            piece = piece.removeprefix(BOM)
            self._values = self._recognised(piece)
        yield from self._lines(piece) if self._values is None else self._stream(self._values, piece)

    def end(self) -> Iterator[Placed]:
        """What is left: a last line without its end."""
        if self._values is not None:
            try:
                self._values.close()
            except codec.Undecodable as error:
                raise self._broken(f"event {self._count + 1}", str(error)) from error
        elif self._rest:
            yield from self._lines(b"\n")

    def _recognised(self, piece: bytes) -> codec.Values | None:
        if piece[:1] in MAPS:
            return codec.Values()
        if piece[:1] in JSON:
            return None
        hint = ", which may be a JSON array: write one event per line" if piece[:1] == b"[" else ""
        raise self._broken("beginning", f"neither JSON lines nor a msgpack stream of maps, {piece[:8]!r}{hint}")

    def _lines(self, piece: bytes) -> Iterator[Placed]:
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            self._count += 1
            if line.strip():
                yield self._checked(f"line {self._count}", line)

    def _checked(self, place: str, line: bytes) -> Placed:
        if line.lstrip()[:1] != b"{":
            raise self._broken(place, f"JSON: an event is an object, this line begins with {line.strip()[:8]!r}")
        try:
            return Placed(place, codec.decode(line))
        except codec.Undecodable as error:
            raise self._broken(place, str(error)) from error

    def _stream(self, values: codec.Values, piece: bytes) -> Iterator[Placed]:
        try:
            for value in values.feed(piece):
                place = f"event {self._count + 1}"
                if not isinstance(value, dict):
                    raise self._broken(place, f"msgpack: an event is a map, found {type(value).__name__}")
                self._count += 1
                yield Placed(place, value)
        except codec.Undecodable as error:
            raise self._broken(f"event {self._count + 1}", str(error)) from error

    def _broken(self, place: str, problem: str) -> BadEventFile:
        return BadEventFile(name=self.name, place=place, problem=problem)


def read(path: Path) -> Iterator[Placed]:
    """The events of a file; raises `BadEventFile`, also where it cannot be read."""
    events = EventFile(str(path))
    try:
        with path.open("rb") as file:
            while piece := file.read(PIECE):
                yield from events.feed(piece)
    except OSError as error:
        raise BadEventFile(name=path, place="beginning", problem=error.strerror or str(error)) from error
    yield from events.end()


async def read_live(descriptor: int, name: str) -> AsyncIterator[Placed]:
    """The events of a pipe or terminal, as they come; raises `BadEventFile`."""
    events = EventFile(name)
    async for piece in pieces(descriptor, name):
        for placed in events.feed(piece):
            yield placed
    for placed in events.end():
        yield placed


async def pieces(descriptor: int, name: str) -> AsyncIterator[bytes]:
    """What a descriptor gives, read by a thread that nobody waits for: Ctrl-C must not wait for a line."""
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
            with suppress(RuntimeError):  # the loop may be closed by now, and nobody wants it any more
                loop.call_soon_threadsafe(queue.put_nowait, piece)

    threading.Thread(target=pump, daemon=True, name="events").start()
    while piece := await queue.get():
        if isinstance(piece, OSError):
            raise BadEventFile(name=name, place="reading", problem=piece.strerror or str(piece)) from piece
        room.release()
        yield piece
