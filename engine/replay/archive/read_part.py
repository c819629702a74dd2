"""Reads a part of an archive, whole or by blocks, and its index: their bytes are those that the manifest names.

Belongs here: opening them, what a part may unfold to, where its records lie, making its index anew. Does not: the
checksum of a file (`store`), comparing all that a part holds with the manifest (`check`).
"""

import hashlib
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from phaseline.engine.replay import log_format
from phaseline.engine.replay.archive.last_states import about_state
from phaseline.engine.replay.archive.manifest import PartEntry
from phaseline.engine.replay.archive.part_index import Block, BlockCollector, BlockIndex, Cut
from phaseline.engine.replay.archive.store import ArchiveStore
from phaseline.engine.replay.log_bytes import FREE, PIECE, RATIO, WINDOW
from phaseline.engine.replay.log_file import LogFile
from phaseline.engine.replay.log_format import Item, StateItem
from phaseline.engine.replay.log_writer import zstandard
from phaseline.schemas import codec
from phaseline.schemas.errors import BadArchive, BadLogFile


def part_file(store: ArchiveStore, part: PartEntry) -> LogFile:
    """The file of a part; raises `BadArchive` if it is not the one that was written."""
    try:
        opened = store.opened(part.name, part.bytes, part.sha256)
        file = LogFile(Path(part.name), max(FREE, RATIO * part.bytes), opened)
    except BadArchive as error:
        raise store.failed(f"{error.problem}{places(part)}") from None
    except BadLogFile as error:
        raise store.failed(f"{error}{places(part)}") from None
    if (file.header.first, file.header.last) != (part.first, part.last):
        raise store.failed(f"{part.name}: it holds the events {file.header.first} to {file.header.last}")
    return file


def places(part: PartEntry) -> str:
    """Of which places an error about a part is, to say so behind it."""
    return f" (places {part.lowest} to {part.highest} of the log)" if part.records else ""


def index_of(store: ArchiveStore, part: PartEntry) -> bytes:
    """The index of a part that has one; raises `BadArchive` if it is not what was written."""
    with store.opened(part.index_name, part.index_bytes, part.index_sha256) as file:
        return file.read(part.index_bytes)


def block_index(store: ArchiveStore, part: PartEntry) -> BlockIndex:
    """The index of a part with blocks; raises `BadArchive` if it is not what was written."""
    try:
        return BlockIndex(index_of(store, part))
    except ValueError as error:
        raise store.failed(f"{part.index_name}: {error}") from None


def read_blocks(store: ArchiveStore, part: PartEntry, blocks: Iterable[Block]) -> Iterator[Sequence[Item]]:
    """The items of these blocks of a part; raises `BadArchive` if one is not what was written."""
    with ExitStack() as stack:
        file: io.BufferedReader | None = None
        for block in blocks:
            if file is None:
                file = stack.enter_context(store.unread(part.name, part.bytes))
            try:
                yield _items(file, block)
            except (OSError, ValueError) as error:
                raise store.failed(f"{part.name}: {error}{places(part)}") from None


def _items(file: io.BufferedReader, block: Block) -> list[Item]:
    """The items of a block; raises `ValueError` if its bytes are not those that were written."""
    file.seek(block.offset)
    packed = file.read(min(block.size, MOST))
    if hashlib.sha256(packed).digest() != block.sha256 or block.unpacked > max(FREE, RATIO * block.size):
        raise log_format.Malformed(f"its bytes are not those that were written, from byte {block.offset:,} on")
    zstd = zstandard()
    try:
        with zstd.ZstdDecompressor(max_window_size=WINDOW).stream_reader(packed) as reader:
            items = _unpacked(reader.read(block.unpacked))
    except zstd.ZstdError as error:
        raise log_format.Malformed(str(error)) from None
    if len(items) != block.items:
        raise log_format.Malformed(f"{len(items)} items stand where {block.items} were written")
    return items


def _unpacked(body: bytes) -> list[Item]:
    """The items in these bytes, which hold nothing else."""
    values, found = codec.Values(), list[Any]()
    for begin in range(0, len(body), PIECE):
        found.extend(values.feed(body[begin : begin + PIECE]))
    values.close()
    items = log_format.unpack_items(found)
    if items is None:
        raise log_format.Malformed("something else than items stands there")
    return items


MOST = 1 << 31
"""The most bytes of a block."""


class _Frame(NamedTuple):
    """Bytes of a file that zstd unpacks alone. ends: behind the last of them."""

    ends: int
    body: bytes


def _frames(file: io.BufferedReader) -> Iterator[_Frame]:
    """The frames of a file, which was read before, so that it does not unfold to too much."""
    ends, held, decompressor = 0, b"", zstandard().ZstdDecompressor(max_window_size=WINDOW)
    while held := held or file.read(PIECE):
        frame, found = decompressor.decompressobj(), list[bytes]()
        while not frame.eof and (held := held or file.read(PIECE)):
            found.append(frame.decompress(held))
            ends += len(held) - len(frame.unused_data)
            held = b""
        held = frame.unused_data
        yield _Frame(ends, b"".join(found))


def made_index(store: ArchiveStore, part: PartEntry, progress: Callable[[int], None]) -> bytes:
    """The index of a part with blocks, made anew from the part; read the part first (`part_file`).

    Its first frame holds the header, its last one the end, and each between them is a block. Raises `ValueError` if it
    is made otherwise. progress: called now and then.
    """
    with store.opened(part.name, part.bytes, part.sha256) as file:
        frames = _frames(file)
        header = next(frames)
        collector, cuts = BlockCollector(), [Cut(header.ends, len(header.body))]
        for frame in frames:
            if len(cuts) > part.blocks:
                break
            progress(0)
            for item in _unpacked(frame.body):
                if isinstance(item, StateItem):
                    collector.take_state(about_state(item.body))
                else:
                    collector.take(item)
            collector.cut()
            cuts.append(Cut(frame.ends, cuts[-1].unpacked + len(frame.body)))
        return collector.encode(cuts, file)
