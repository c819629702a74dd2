"""Where in a part of an archive something stands, so that a question about one entity reads little of it.

Belongs here: the names of what a record is about, the blocks of a part, the index and its bytes. Does not: where it is
stored (`write_parts`), the checksum of its bytes, reading blocks (`read_part`).
A part is made of blocks that can be unpacked alone. Its index is a file beside it. It says of each block where it lies,
its checksum, and which events and places it has; and which names are in which blocks: each entity with its state at the
head or with transitions, each with rejections, each tree. A name stands there as a digest of four bytes. Two names with
one digest cost a look into a block, no more.
Earlier versions wrote parts without blocks. They are read whole, whatever index they have.
"""

import hashlib
import io
import sys
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import msgspec

from phaseline.engine.replay.archive.last_states import MARKED, About
from phaseline.engine.replay.archive.manifest import Count, PartEntry
from phaseline.engine.replay.log_format import EventItem, Item, RecordItem
from phaseline.schemas import codec

BYTES = 4
WILD = ("*", ">")
DOTS = {"transition": 4, "rejection": 3}
"""The dots in front of the root of a tree: `transition.*.*.*.c1`, `rejection.*.*.c1`."""


def names_of(subject: str) -> tuple[str, str]:
    """What a record is about: the root of its tree, and `transition.kind.tokens`. A filter has the same."""
    words = subject.split(".")
    sort, kind, tokens = words[0], words[1], words[DOTS[words[0]] :]
    return tokens[0], ".".join([sort, kind, *tokens])


def name_in(filter_: str) -> str | None:
    """The name that every record has which this filter selects; None if there is none, so that all parts may matter."""
    if filter_.count(".") < DOTS.get(filter_.partition(".")[0], sys.maxsize):
        return None
    root, entity = names_of(filter_)
    if root in WILD:
        return None
    return root if any(word in WILD for word in entity.split(".")) else entity


def names_in(filters: Sequence[str]) -> list[str] | None:
    """The names that all records have which one of these filters selects; None if any record may be selected."""
    found = [name_in(one) for one in filters]
    names = [name for name in found if name is not None]
    return names if names and len(names) == len(found) else None


def _digest(name: str) -> int:
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=BYTES).digest())


def _in_file_order(digests: "array[int]") -> "array[int]":
    """Numbers of this machine as those of a file, and back: the file has the lowest byte first."""
    if sys.byteorder == "big":
        digests.byteswap()
    return digests


class Block(msgspec.Struct, frozen=True, gc=False, array_like=True, forbid_unknown_fields=True):
    """Items that can be unpacked alone. offset, size, sha256: its bytes in the file. unpacked: to how many they unfold.

    items: how many it has. first, last: the positions of its first and its last event; 0 without events. lowest,
    highest, earliest, latest: as of a part.
    """

    offset: Count
    size: Count
    sha256: bytes
    unpacked: Count
    items: Count
    first: Count
    last: Count
    lowest: Count
    highest: Count
    earliest: Count
    latest: Count


class _Written(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    """The bytes of an index. names: numbers of eight bytes, sorted: the digest of a name, and the number of a block."""

    blocks: list[Block]
    names: bytes


class Cut(NamedTuple):
    """Where a block ends and the next one begins: in the file, and in what it unfolds to."""

    offset: int
    unpacked: int


class RecordSpan:
    """The first and the last record of a part or of a block, each as place and time; (0, 0) without records.

    spread: by how many places, at most, a record stands behind one with a higher place.
    """

    def __init__(self) -> None:
        self.first = self.last = (0, 0)
        self.spread = 0

    def take(self, item: RecordItem) -> None:
        """Take the next record."""
        found = (item.place, item.time_ns)
        self.first = min(self.first, found) if self.last[0] else found
        self.last = max(self.last, found)
        self.spread = max(self.spread, self.last[0] - item.place)

    def fits(self, part: PartEntry) -> bool:
        """Whether the manifest says the same of the part."""
        said = (part.lowest, part.earliest), (part.highest, part.latest)
        return said == (self.first, self.last) and part.spread in (-1, self.spread)


class _Contents:
    """What one block holds."""

    def __init__(self) -> None:
        self.items = self.first = self.last = 0
        self.span = RecordSpan()


class BlockCollector:
    """Collects what the blocks of one part hold, while it is written or read."""

    def __init__(self) -> None:
        self._names: dict[str, list[int]] = {}
        self._blocks: list[_Contents] = []
        self._block = _Contents()

    def take_state(self, found: About | None) -> None:
        """Take the state of an entity at the head of the part; None: it is of none."""
        self._block.items += 1
        if found is not None and not found.is_mark:
            self._note(names_of(f"transition.{found.entity.replace('.', '.-.-.', 1)}"))

    def take(self, item: Item) -> None:
        """Take an event or a record. Marks are nobody's history."""
        block = self._block
        block.items += 1
        if isinstance(item, EventItem):
            block.first, block.last = block.first or item.sequence, item.sequence
        elif isinstance(item, RecordItem):
            block.span.take(item)
            if not item.subject.startswith(MARKED):
                self._note(names_of(item.subject))

    def _note(self, names: Iterable[str]) -> None:
        number = len(self._blocks)
        for name in names:
            found = self._names.setdefault(name, [])
            if not found or found[-1] != number:
                found.append(number)

    @property
    def is_begun(self) -> bool:
        """Whether something came since the last block."""
        return self._block.items > 0

    def cut(self) -> None:
        """End a block."""
        self._blocks.append(self._block)
        self._block = _Contents()

    def encode(self, cuts: Sequence[Cut], file: io.BufferedReader) -> bytes:
        """The bytes of the index. cuts: where the first block begins, and where each one ends. file: the part."""
        blocks = [_block(file, *ends, one) for ends, one in zip(pairwise(cuts), self._blocks, strict=True)]
        numbers = array("Q", sorted(
            _digest(name) << 32 | number for name, found in self._names.items() for number in found
        ))  # fmt: skip
        return codec.encode_struct(_Written(blocks, _in_file_order(numbers).tobytes()))


def _block(file: io.BufferedReader, begin: Cut, end: Cut, found: _Contents) -> Block:
    file.seek(begin.offset)
    size, span = end.offset - begin.offset, found.span
    (lowest, earliest), (highest, latest) = span.first, span.last
    digest = hashlib.sha256(file.read(size)).digest()
    return Block(
        begin.offset, size, digest, end.unpacked - begin.unpacked, found.items, found.first, found.last, lowest,
        highest, earliest, latest,
    )  # fmt: skip


class BlockIndex:
    """The index of a part with blocks, to look things up."""

    def __init__(self, body: bytes) -> None:
        """body: as `BlockCollector.encode` wrote it; raises `ValueError` if it is not."""
        written = msgspec.msgpack.decode(body, type=_Written)
        self.blocks = written.blocks
        self._names = array("Q")
        self._names.frombytes(written.names)
        self._names = _in_file_order(self._names)

    def holding(self, names: Iterable[str]) -> list[Block]:
        """The blocks that may have something with one of these names, in their order."""
        found: set[int] = set()
        for digest in map(_digest, names):
            at = bisect_left(self._names, digest << 32)
            while at < len(self._names) and self._names[at] >> 32 == digest:
                found.add(self._names[at] & 0xFFFF_FFFF)
                at += 1
        return [self.blocks[number] for number in sorted(found)]

    def with_events(self, positions: Iterable[int]) -> list[Block]:
        """The blocks that have events at these positions."""
        wanted = list(positions)
        return [one for one in self.blocks if any(one.first <= position <= one.last for position in wanted)]

    def at(self, place: int) -> list[Block]:
        """The blocks that may have the record at a place."""
        return [one for one in self.blocks if one.lowest <= place <= one.highest]

    def with_last(self, fits: Callable[[int, int], bool]) -> list[Block]:
        """The blocks of which one has the last record that fits. fits: says of a place and a time whether they do.

        What fits lies before what does not. So of the blocks all of whose records fit, the one with the highest counts.
        """
        begun = [one for one in self.blocks if one.highest and fits(one.lowest, one.earliest)]
        whole = [one for one in begun if fits(one.highest, one.latest)]
        highest = max((one.highest for one in whole), default=0)
        return [one for one in begun if one.highest >= highest]
