"""The bytes of a log file, unpacked piece by piece within limits.

Belongs here: opening, decompressing, cutting into lines, the limits that keep memory small whatever a file unfolds to.
Does not: the items (`log_format`), checks of a whole file (`log_file`).
The first bytes decide how a file is read; its name does not matter.
"""

import gzip
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from phaseline.engine.replay.log_format import Malformed
from phaseline.engine.replay.log_writer import STANDARD, zstandard
from phaseline.schemas import bounds

PIECE = 1 << 16
ZSTD, GZIP = b"\x28\xb5\x2f\xfd", b"\x1f\x8b"
WINDOW = 1 << 27
"""The most memory that a zstd file may ask for, which is also the most that `zstd` asks for without --ultra."""
RATIO, FREE = 200, 1 << 30
"""A compressed file may unfold to so many times its size, and to so many bytes whatever its size."""


class _CountingFile:
    """A file that counts the bytes that were read from it. `taken`: how many."""

    def __init__(self, file: io.BufferedReader) -> None:
        """Count from the file's present place."""
        self._file, self.taken = file, 0

    def read(self, size: int = -1) -> bytes:
        """The next bytes of the file."""
        piece = self._file.read(size)
        self.taken += len(piece)
        return piece


class LogBytes:
    """The unpacked bytes of a log file. Use it as a context manager.

    most: how many bytes the file may unfold to; by default `RATIO` times its size, and at least `FREE`.
    """

    def __init__(self, path: Path, most: int | None = None, opened: io.BufferedReader | None = None) -> None:
        """Open the file. opened: the file, if it is open already; then nobody can allow it more."""
        self._opened = opened or (sys.stdin.buffer if path == STANDARD else path.open("rb"))
        self._advice = "" if opened else ": if that is right, allow it with --max-unpacked, or unpack it first"
        self._most, self._given = most, 0
        file = cast("io.BufferedReader", self._opened)
        start = file.peek(len(ZSTD))
        self._packed = _CountingFile(file) if start.startswith((ZSTD, GZIP)) else None
        self._file: IO[bytes] = file if self._packed is None else _unpacked(self._packed, start)

    def close(self) -> None:
        """Close the file, but not standard input."""
        if self._opened is not sys.stdin.buffer:
            self._opened.close()

    def pieces(self) -> Iterator[bytes]:
        """The bytes, piece by piece; raises `Malformed` if there are too many."""
        while piece := self._file.read(PIECE):
            self._given += len(piece)
            if self._packed is not None:
                self._check(self._packed.taken)
            yield piece

    def _check(self, taken: int) -> None:
        if self._given > (max(FREE, RATIO * taken) if self._most is None else self._most):
            raise Malformed(f"{taken:,} bytes of it unfold to more than {self._given:,}{self._advice}")


def lines(pieces: Iterator[bytes], largest: int = bounds.LARGEST) -> Iterator[bytes]:
    """The lines in these pieces, without their ends. An end that is no whole line is left out.

    Raises `Malformed` if a line has more than `largest` bytes.
    """
    begun: list[bytes] = []
    size = 0
    for piece in pieces:
        first, *others = piece.split(b"\n")
        size += len(first)
        begun.append(first)
        if size > largest:
            raise Malformed(f"a line has more than {largest:,} bytes")
        if others:
            yield b"".join(begun)
            yield from others[:-1]
            begun, size = [others[-1]], len(others[-1])


def _unpacked(packed: _CountingFile, start: bytes) -> IO[bytes]:
    if start.startswith(GZIP):
        return cast("IO[bytes]", gzip.GzipFile(fileobj=cast("IO[bytes]", packed)))
    decompressor = zstandard().ZstdDecompressor(max_window_size=WINDOW)
    return cast("IO[bytes]", decompressor.stream_reader(cast("IO[bytes]", packed), read_across_frames=True))
