"""Reads a log file piece by piece and checks it to the last byte.

Belongs here: the parts of a file in order, the errors of a damaged file. Does not: opening and decompressing
(`log_bytes`), the items (`log_format`), writing (`log_writer`), turning items into steps (`file_log`).
"""

import hashlib
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path

import msgspec

from phaseline.engine.errors import BadLogFile, LogFileDamaged, NoLogFile
from phaseline.engine.replay import log_format
from phaseline.engine.replay.log_bytes import LogBytes, lines
from phaseline.engine.replay.log_format import ITEM_NAMES, End, EventItem, Header, Item, Malformed, Part
from phaseline.schemas import codec


class LogFile:
    """A log file to read: `header` is there at once, `items()` gives the rest.

    Raises `NoLogFile` if the file is no log. A damaged file raises `LogFileDamaged` at the end of `items`, after all
    items that could be read.
    """

    def __init__(self, path: Path, most: int | None = None) -> None:
        """Open it and read the header. most: how many bytes it may unfold to, if it is compressed (`LogBytes`)."""
        self.path, self._most = path, most
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
        with closing(LogBytes(self.path, self._most)) as source:
            pieces = source.pieces()
            first = next(pieces, b"")
            everything = chain([first], pieces)
            yield from self._lines(everything) if first[:1] == b"{" else self._values(everything)

    def _values(self, pieces: Iterable[bytes]) -> Iterator[Part]:
        values, held, begin = codec.Values(), bytearray(), 0
        for piece in pieces:
            held += piece
            for value in values.feed(piece):
                part = log_format.unpack(value)
                if isinstance(part, End):
                    self._digest.update(held[: values.begin - begin])
                yield part
            self._digest.update(held[: values.end - begin])
            del held[: values.end - begin]
            begin = values.end

    def _lines(self, pieces: Iterator[bytes]) -> Iterator[Part]:
        for line in lines(pieces):
            part = log_format.from_line(line)
            if not isinstance(part, End):
                self._digest.update(line + b"\n")
            yield part


def _broken(*further: type[Exception]) -> tuple[type[Exception], ...]:
    """The exceptions that damaged bytes can raise, and `further` ones."""
    zstandard = sys.modules.get("zstandard")
    return (
        Malformed,
        codec.Undecodable,
        OSError,
        zlib.error,
        *(() if zstandard is None else (zstandard.ZstdError,)),
        *further,
    )
