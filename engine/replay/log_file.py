"""Reads a log file piece by piece and checks it to the last byte.

Belongs here: opening, decompressing, the errors of a damaged file. Does not: the items (`log_format`), writing
(`log_writer`), turning items into steps (`file_log`).
The first bytes decide how a file is read; its name does not matter.
"""

import gzip
import hashlib
import io
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

import msgspec

from phaseline.engine.errors import BadLogFile, LogFileDamaged, NoLogFile
from phaseline.engine.replay import log_format
from phaseline.engine.replay.log_format import ITEM_NAMES, End, EventItem, Header, Item, Malformed, Part
from phaseline.engine.replay.log_writer import STANDARD
from phaseline.schemas import codec, libraries

PIECE = 1 << 18
ZSTD, GZIP = b"\x28\xb5\x2f\xfd", b"\x1f\x8b"


class LogFile:
    """A log file to read: `header` is there at once, `items()` gives the rest.

    Raises `NoLogFile` if the file is no log. A damaged file raises `LogFileDamaged` at the end of `items`, after all
    items that could be read.
    """

    def __init__(self, path: Path) -> None:
        """Open it and read the header."""
        self.path = path
        self.counts: Counter[str] = Counter()
        self.last = 0
        """The position of the last event that was read."""
        self._digest = hashlib.sha256()
        self._parts = self._read()
        try:
            header = next(self._parts, None)
        except OSError as error:
            raise BadLogFile(name=path, problem=error.strerror or str(error)) from None
        except _broken(EOFError) as error:
            raise NoLogFile(name=path, problem=str(error)) from None
        if not isinstance(header, Header):
            raise NoLogFile(name=path, problem="it does not begin with a header")
        self.header = header

    def items(self) -> Iterator[Item]:
        """Each item in order. At the end it checks that nothing is missing and nothing was changed."""
        while True:
            try:
                part = next(self._parts, None)
            except EOFError:
                part = None
            except _broken() as error:
                raise LogFileDamaged(name=self.path, read=self.summary(), problem=str(error)) from None
            if part is None:
                raise LogFileDamaged(name=self.path, read=self.summary(), problem="its end is missing")
            if isinstance(part, End):
                self._check(part)
                return
            if isinstance(part, Header):
                raise LogFileDamaged(name=self.path, read=self.summary(), problem="there is a second header")
            if isinstance(part, EventItem):
                self.last = part.sequence
            self.counts[ITEM_NAMES[type(part)]] += 1
            yield part

    def summary(self) -> str:
        """What was read so far: `59 events, up to event 59`."""
        words = ", ".join(f"{count:,} {word}{'' if count == 1 else 's'}" for word, count in self.counts.items())
        return f"{words}, up to event {self.last}" if self.last else words or "nothing"

    def _check(self, end: End) -> None:
        counts = self.counts
        read = End(counts["state"], counts["event"], counts["record"], counts["expected"], self._digest.hexdigest())
        if read != end:
            what = next(name for name in End.__struct_fields__ if getattr(end, name) != getattr(read, name))
            problem = f"{what} should be {msgspec.to_builtins(end)[what]}, but is {getattr(read, what)}"
            raise LogFileDamaged(name=self.path, read=self.summary(), problem=problem)

    def _read(self) -> Iterator[Part]:
        with sys.stdin.buffer if self.path == STANDARD else self.path.open("rb") as file:
            source = _decompressed(cast("io.BufferedReader", file))
            first = source.read(PIECE)
            yield from self._lines(source, first) if first[:1] == b"{" else self._values(source, first)

    def _values(self, source: IO[bytes], piece: bytes) -> Iterator[Part]:
        values, held, begin = codec.Values(), b"", 0
        while piece:
            held += piece
            for value in values.feed(piece):
                part = log_format.unpack(value)
                if isinstance(part, End):
                    self._digest.update(held[: values.begin - begin])
                yield part
            self._digest.update(held[: values.end - begin])
            held, begin = held[values.end - begin :], values.end
            piece = source.read(PIECE)

    def _lines(self, source: IO[bytes], piece: bytes) -> Iterator[Part]:
        rest = b""
        while piece:
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                part = log_format.from_line(line)
                if not isinstance(part, End):
                    self._digest.update(line + b"\n")
                yield part
            piece = source.read(PIECE)


def _broken(*further: type[Exception]) -> tuple[type[Exception], ...]:
    """The exceptions that damaged bytes can raise, and `further` ones."""
    zstandard = sys.modules.get("zstandard")
    return (Malformed, codec.Undecodable, OSError, *(() if zstandard is None else (zstandard.ZstdError,)), *further)


def _decompressed(file: io.BufferedReader) -> IO[bytes]:
    start = file.peek(len(ZSTD))
    if start.startswith(ZSTD):
        with libraries.needed("zstandard", "a log file compressed by zstd"):
            import zstandard  # noqa: PLC0415  # the extra `cli` installs it
        return cast("IO[bytes]", zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True))
    return cast("IO[bytes]", gzip.GzipFile(fileobj=file)) if start.startswith(GZIP) else file
