"""A log as a file, written whole or not at all.

Belongs here: opening, compressing, counting, the checksum. Does not: the items (`logformat`), reading (`logfile`).
The name says how a file is written: `.jsonl` is JSON lines, all else msgpack; `.zst` or `.gz` after it compresses.
"""

import gzip
import hashlib
import io
import os
import sys
from collections import Counter
from pathlib import Path
from types import TracebackType
from typing import IO, Self, cast

import zstandard

from phaseline.engine.errors import BadLogFile
from phaseline.engine.replay import log_format
from phaseline.engine.replay.log_format import WORDS, End, Header, Item, Part

LEVEL = 3
STANDARD = Path("-")


class LogWriter:
    """`with LogWriter(path, header) as log: log.write(item)`. The file appears when it is complete.

    `-` is standard output, as JSON lines. Raises `BadLogFile` where the file cannot be written.
    """

    def __init__(self, path: Path, header: Header) -> None:
        """Nothing is opened yet."""
        self.path, self._header = path, header
        name = path.name.removesuffix(".zst").removesuffix(".gz")
        self._form = log_format.to_line if path == STANDARD or name.endswith((".jsonl", ".json")) else log_format.pack
        self._part = path.with_name(path.name + ".part")
        self._digest = hashlib.sha256()
        self.counts: Counter[str] = Counter()
        self._file: IO[bytes] = io.BytesIO()
        self._under: IO[bytes] = self._file

    def __enter__(self) -> Self:
        try:
            self._under = sys.stdout.buffer if self.path == STANDARD else self._part.open("wb")
        except OSError as error:
            raise BadLogFile(name=self.path, problem=error.strerror or str(error)) from error
        self._file = _compressing(self._under, self.path.suffix)
        self._put(self._header)
        return self

    def write(self, item: Item) -> None:
        """One item, after all before it."""
        self.counts[WORDS[type(item)]] += 1
        self._put(item)

    def _put(self, part: Part) -> None:
        found = self._form(part)
        self._digest.update(found)
        self._file.write(found)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        counts = self.counts
        if kind is None:
            counted = (counts["state"], counts["event"], counts["record"], counts["expected"])
            self._file.write(self._form(End(*counted, self._digest.hexdigest())))
        if self._file is not self._under:
            self._file.close()
        self._under.flush()
        if self.path == STANDARD:
            return
        os.fsync(self._under.fileno())
        self._under.close()
        if kind is None:
            self._part.replace(self.path)
        else:
            self._part.unlink()


def _compressing(file: IO[bytes], suffix: str) -> IO[bytes]:
    if suffix == ".zst":
        compressor = zstandard.ZstdCompressor(level=LEVEL)
        return cast("IO[bytes]", compressor.stream_writer(file, closefd=False))
    if suffix == ".gz":
        return cast("IO[bytes]", gzip.GzipFile(fileobj=file, mode="wb", compresslevel=LEVEL, mtime=0))
    return file
