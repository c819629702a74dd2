"""Reads a log file piece by piece and checks it to the last byte.

Belongs here: the parts of a file in order, the errors of a damaged file. Does not: opening and decompressing
(`log_bytes`), the items (`log_format`), writing (`log_writer`), turning items into steps (`file_log`).
"""

import hashlib
import io
import sys
import zlib
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Any, cast

import msgspec

from phaseline.engine.replay import log_format
from phaseline.engine.replay.log_bytes import LogBytes, lines
from phaseline.engine.replay.log_format import ITEM_NAMES, End, EventItem, Header, Item, Malformed, Part
from phaseline.schemas import codec
from phaseline.schemas.errors import BadLogFile, LogFileDamaged


class LogFile:
    """A log file to read: `header` is there at once, `items()` gives the rest.

    Raises `BadLogFile` if the file is no log. A damaged file raises `LogFileDamaged` at the end of `items`, after all
    items that could be read.
    """

    def __init__(self, path: Path, most: int | None = None, opened: io.BufferedReader | None = None) -> None:
        """Open it and read the header. most: how many bytes it may unfold to, if it is compressed (`LogBytes`).

        opened: the file, if it is open already; it is closed here. path is its name then.
        """
        self.path, self._most, self._opened = path, most, opened
        self.counts: Counter[str] = Counter()
        self.last = 0
        """The position of the last event that was read."""
        self._digest = hashlib.sha256()
        self._parts = self._read()
        try:
            [header] = next(self._parts, [None])
        except OSError as error:
            raise BadLogFile(name=path, problem=error.strerror or str(error)) from None
        except _broken(EOFError) as error:
            raise BadLogFile.no_log_file(name=path, problem=str(error)) from None
        if not isinstance(header, Header):
            raise BadLogFile.no_log_file(name=path, problem="it does not begin with a header")
        self.header = header

    def items(self) -> Iterator[Item]:
        """Each item in order. At the end it checks that nothing is missing and nothing was changed."""
        for items in self.slices():
            yield from items

    def slices(self) -> Iterator[Sequence[Item]]:
        """The same, as many items at a time as one piece of the file holds."""
        while True:
            try:
                parts = next(self._parts, None)
            except EOFError:
                parts = None
            except _broken() as error:
                raise LogFileDamaged(name=self.path, read=self.summary(), problem=str(error)) from None
            if parts is None:
                raise LogFileDamaged(name=self.path, read=self.summary(), problem="its end is missing")
            if isinstance(parts[0], End):
                self._parts.close()
                self._check(parts[0])
                return
            if isinstance(parts[0], Header):
                raise LogFileDamaged(name=self.path, read=self.summary(), problem="there is a second header")
            items = cast("Sequence[Item]", parts)
            self._count(items)
            yield items

    def _count(self, items: Sequence[Item]) -> None:
        for item, count in Counter(map(type, items)).items():
            self.counts[ITEM_NAMES[item]] += count
        self.last = next((item.sequence for item in reversed(items) if isinstance(item, EventItem)), self.last)

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

    def _read(self) -> Generator[Sequence[Part], None, None]:
        """All parts, some at a time; each that is no item comes alone. The file is open until its end, or `close`."""
        with closing(LogBytes(self.path, self._most, self._opened)) as source:
            pieces = source.pieces()
            first = next(pieces, b"")
            everything = chain([first], pieces)
            yield from self._lines(everything) if codec.is_json(first) else self._values(everything)

    def _values(self, pieces: Iterable[bytes]) -> Iterator[Sequence[Part]]:
        values, held, begin = codec.Values(), bytearray(), 0
        for piece in pieces:
            held += piece
            found: list[Any] = []
            try:
                found.extend(values.feed(piece))
            finally:  # if the piece is damaged, the values before the damage come first
                yield from self._unpacked(found, held)
            self._digest.update(held[: values.end - begin])
            del held[: values.end - begin]
            begin = values.end

    def _unpacked(self, values: list[Any], held: bytearray) -> Iterator[Sequence[Part]]:
        """The parts in these values, which stand at the beginning of `held`."""
        items = log_format.unpack_items(values)
        if items:
            yield items
        for number, value in enumerate(values if items is None else ()):
            part = log_format.unpack(value)
            if isinstance(part, End):
                self._digest.update(held[: codec.length_of(held, number)])
            yield [part]

    def _lines(self, pieces: Iterator[bytes]) -> Iterator[Sequence[Part]]:
        for line in lines(pieces):
            part = log_format.from_line(line)
            if not isinstance(part, End):
                self._digest.update(line + b"\n")
            yield [part]


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
