"""Writes a log file, completely or not at all.

Belongs here: opening, compressing, counting, the checksum. Does not: the items (`log_format`), reading (`log_file`).
The name of the file decides its form: `.jsonl` is JSON lines, any other name is msgpack; a further `.zst` or `.gz`
compresses it.
"""

import gzip
import hashlib
import io
import os
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self, cast

from phaseline.engine import regular_files
from phaseline.engine.replay import log_format
from phaseline.engine.replay.log_format import ITEM_NAMES, End, Header, Item, Part
from phaseline.schemas import libraries
from phaseline.schemas.errors import BadLogFile

LEVEL = 3
PIECE = 1 << 18
"""Bytes that are hashed and compressed at a time, at least."""
STANDARD = Path("-")
FLUSH_FRAME = 1
"""The name of zstandard for the end of a frame, which is not always installed."""


class LogWriter:
    """A context manager that writes a log file: `with LogWriter(path, header) as log: log.write(item)`.

    The file appears under its name when it is complete. `-` is standard output, as JSON lines. Raises `BadLogFile` if
    the file cannot be opened.
    A thread hashes and compresses a piece while the next one is made, for both let other threads run meanwhile.
    """

    def __init__(self, path: Path, header: Header) -> None:
        self.path, self._header = path, header
        name = path.name.removesuffix(".zst").removesuffix(".gz")
        self._form = log_format.to_line if path == STANDARD or name.endswith((".jsonl", ".json")) else log_format.pack
        self._part = path.with_name(path.name + ".part")
        self._digest = hashlib.sha256()
        self.counts: Counter[str] = Counter()
        self._written = 0
        """The bytes that were passed on to the file, uncompressed."""
        self._waiting = bytearray()
        """The bytes that wait to go there, so that many are hashed and compressed at a time."""
        self._file: IO[bytes] = io.BytesIO()
        self._under: IO[bytes] = self._file
        self._thread = ThreadPoolExecutor(max_workers=1)
        self._storing: Future[None] | None = None
        """The piece that was passed on last, if nobody has waited for it."""

    def __enter__(self) -> Self:
        try:
            self._under = sys.stdout.buffer if self.path == STANDARD else regular_files.made(self._part)
        except OSError as error:
            raise BadLogFile(name=self.path, problem=error.strerror or str(error)) from error
        self._file = _compressed(self._under, self.path.suffix)
        self._put(self._header)
        return self

    def write(self, item: Item) -> None:
        """Write the next item."""
        self.counts[ITEM_NAMES[type(item)]] += 1
        self._put(item)

    def write_all(self, items: Sequence[Item]) -> None:
        """Write the next items."""
        for shape, count in Counter(map(type, items)).items():
            self.counts[ITEM_NAMES[shape]] += count
        self._waiting += b"".join(map(self._form, items))
        self._pass_on(PIECE)

    @property
    def unpacked(self) -> int:
        """The bytes so far, uncompressed."""
        return self._written + len(self._waiting)

    def cut(self) -> tuple[int, int]:
        """End what is compressed by zstd so far, so that what follows can be unpacked alone.

        Returns how many bytes the file has then, and how many these unfold to.
        """
        self._pass_on()
        self._settle()
        self._file.flush(FLUSH_FRAME)  # type: ignore[call-arg]  # that of zstandard
        return self._under.tell(), self.unpacked

    def _put(self, part: Part) -> None:
        self._waiting += self._form(part)
        self._pass_on(PIECE)

    def _pass_on(self, least: int = 0) -> None:
        """Let what waits go to the file, if it is at least so many bytes; raises the error of the piece before."""
        if len(self._waiting) >= least:
            waiting, self._waiting = self._waiting, bytearray()
            self._written += len(waiting)
            self._settle()
            if self.path == STANDARD:
                self._store(waiting)  # who reads a pipe may let it wait for ever, and a thread cannot be interrupted
            else:
                self._storing = self._thread.submit(self._store, waiting)

    def _store(self, piece: bytearray) -> None:
        self._digest.update(piece)
        self._file.write(piece)

    def _settle(self) -> None:
        """Wait until all that was passed on is in the file; raises the error of that."""
        storing, self._storing = self._storing, None
        if storing is not None:
            storing.result()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        is_whole = False
        try:
            with self._thread:  # waits for what it does
                if kind is None:
                    self._pass_on()
                    self._settle()
            self._complete(is_whole=kind is None)
            is_whole = kind is None
        except OSError as failure:
            error = failure
            raise
        finally:
            if isinstance(error, OSError):
                error.filename = error.filename or str(self.path)  # of a full disk Python does not say where
            if self.path != STANDARD:
                self._name(is_whole=is_whole)

    def _complete(self, *, is_whole: bool) -> None:
        """Write what is left to the disk."""
        counts = self.counts
        if is_whole:
            counted = (counts["state"], counts["event"], counts["record"], counts["expected"])
            self._file.write(self._form(End(*counted, self._digest.hexdigest())))
        if self._file is not self._under:
            self._file.close()
        self._under.flush()
        if self.path != STANDARD:
            os.fsync(self._under.fileno())

    def _name(self, *, is_whole: bool) -> None:
        """Close the file, and give it its name; remove one that is not whole."""
        for file in (self._file, self._under):
            with suppress(OSError):  # a full disk does not take what is left
                file.close()
        if is_whole:
            self._part.replace(self.path)
        else:
            self._part.unlink()


def zstandard() -> Any:
    """The library for zstd; raises `NotInstalled` if it is missing."""
    with libraries.needed("zstandard", "a log file compressed by zstd"):
        import zstandard as found  # noqa: PLC0415  # the extra `cli` installs it
    return found


def _compressed(file: IO[bytes], suffix: str) -> IO[bytes]:
    if suffix == ".zst":
        compressor = zstandard().ZstdCompressor(level=LEVEL)
        return cast("IO[bytes]", compressor.stream_writer(file, closefd=False))
    if suffix == ".gz":
        return cast("IO[bytes]", gzip.GzipFile(fileobj=file, mode="wb", compresslevel=LEVEL, mtime=0))
    return file
