"""Writes a slice of a log into the parts of an archive: log files with numbers, each with the states before it.

Belongs here: where one part ends and the next one begins, what stands in each. Does not: reading the slice
(`log_slice`), the format (`engine.replay`), checking what was written (`check`).
"""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import ExitStack

import msgspec

from phaseline.engine import regular_files
from phaseline.engine.replay.archive.last_states import About, LastStates
from phaseline.engine.replay.archive.log_slice import LogSlice
from phaseline.engine.replay.archive.manifest import PartEntry
from phaseline.engine.replay.archive.part_index import BlockCollector, Cut, RecordSpan
from phaseline.engine.replay.archive.store import ArchiveStore
from phaseline.engine.replay.export_log import eras_of, short_subject
from phaseline.engine.replay.log_format import Header, Item, RecordItem, StateItem
from phaseline.engine.replay.log_writer import LogWriter
from phaseline.engine.replay.server_log import stored_time
from phaseline.schemas.version import __version__

EVENTS = 100_000
"""Positions in one part, at least. A part has as many as there are entities, if these are more: each begins with all
their states."""
BLOCK = 1 << 20
"""Bytes that a block unfolds to, at least."""
AT_ONCE = 1_000
"""States that are written before the event loop turns again."""


class PartWriter:
    """Writes the parts of one slice, one after the other."""

    def __init__(self, store: ArchiveStore, found: LogSlice, number: int, least: int = EVENTS) -> None:
        """number: how many parts the archive has. least: positions in a part, at least."""
        self.store, self.slice, self.number, self.least = store, found, number, least
        self.parts: list[PartEntry] = []
        self.states = LastStates[bytes]()
        self.state_place = 0
        """The place of the last transition or mark so far."""

    async def write(self, progress: Callable[[int], None]) -> list[PartEntry]:
        """Write all parts; progress: called with the number of events written since the last call."""
        prefix = self.slice.installation.prefix
        async for stored in self.slice.before():
            self._take(RecordItem(short_subject(prefix, stored.subject), stored.data, stored.sequence, stored.time_ns))
        first, events = self.slice.first, self.slice.events()
        following = await anext(events, None)
        while first <= self.slice.last:
            last = self._end_of_part(first)
            header = await self._header(first, last)
            self.number += 1
            with ExitStack() as stack:
                name = f"part-{self.number:06}{self.store.mark}.plog.zst"
                part = PartDraft(name, header, stack.enter_context(LogWriter(self.store.draft(name), header)))
                for number, (about, body) in enumerate(self.states.items()):
                    part.put_state(about, body)
                    if number % AT_ONCE == 0:
                        await asyncio.sleep(0)
                part.cut()
                while following is not None and following.sequence <= last:
                    self._put(part, await self.slice.items(following))
                    progress(1)
                    following = await anext(events, None)
                self._put(part, await self.slice.left(last))
                part.cut()
            self.parts.append(await asyncio.to_thread(part.keep, self.store))
            first = last + 1
        return self.parts

    def _end_of_part(self, first: int) -> int:
        """Where a part ends. Events that EVENTS no longer holds are in a part of their own, which has their records."""
        last = min(self.slice.last, first + max(self.least, len(self.states)) - 1)
        return self.slice.begins - 1 if first < self.slice.begins <= last else last

    async def _header(self, first: int, last: int) -> Header:
        found, installation = self.slice, self.slice.installation
        return Header(
            written_by=f"phaseline {__version__}", prefix=installation.prefix,
            partitions=installation.layout.partitions, first=first, last=last,
            since=await stored_time(installation, first), until=await stored_time(installation, last), records=True,
            eras=eras_of(found.eras), purged=sorted(one for one in found.purged if first <= one <= last),
        )  # fmt: skip

    def _put(self, part: "PartDraft", items: list[Item]) -> None:
        part.put(items)
        for item in items:
            if isinstance(item, RecordItem):
                self._take(item)

    def _take(self, item: RecordItem) -> None:
        self.states.take(item.subject, item.body)
        if item.subject.startswith("transition."):
            self.state_place = max(self.state_place, item.place)


def keep_index(store: ArchiveStore, part: PartEntry, index: bytes) -> None:
    """Write the index of a part, and store it; raises `BadArchive`."""
    try:
        regular_files.written(store.draft(part.index_name), index)
    except OSError as error:
        raise store.failed(error.strerror or str(error)) from None
    store.keep(part.index_name)


class PartDraft:
    """A part that is being written, and what the manifest will say of it."""

    def __init__(self, name: str, header: Header, log: LogWriter) -> None:
        """log: the file, open, with nothing but its header."""
        self.name, self.header, self._log = name, header, log
        self._records, self._blocks = RecordSpan(), BlockCollector()
        self._cuts = [Cut(*log.cut())]

    def put_state(self, found: About, body: bytes) -> None:
        """Write a state at the head."""
        self._log.write(StateItem(body))
        self._blocks.take_state(found)
        self.cut(BLOCK)

    def put(self, items: Iterable[Item]) -> None:
        """Write an event with its records."""
        for item in items:
            self._log.write(item)
            self._blocks.take(item)
            if isinstance(item, RecordItem):
                self._records.take(item)
        self.cut(BLOCK)

    def cut(self, least: int = 0) -> None:
        """End a block, if it unfolds to so many bytes at least, and holds anything. Call it behind the last state."""
        if self._blocks.is_begun and self._log.unpacked - self._cuts[-1].unpacked >= least:
            self._blocks.cut()
            self._cuts.append(Cut(*self._log.cut()))

    def keep(self, store: ArchiveStore) -> PartEntry:
        """Store the part and its index. Its file is complete."""
        with store.draft(self.name).open("rb") as file:
            index = self._blocks.encode(self._cuts, file) if len(self._cuts) > 1 else b""
        store.keep(self.name)
        entry = self._entry(*store.digest(self.name))
        keep_index(store, entry, index)
        size, sha256 = store.digest(entry.index_name)
        return msgspec.structs.replace(entry, index_bytes=size, index_sha256=sha256)

    def _entry(self, size: int, sha256: str) -> PartEntry:
        """What the manifest says of it, without its index."""
        counts, header, records = self._log.counts, self.header, self._records
        (lowest, earliest), (highest, latest) = records.first, records.last
        return PartEntry(
            name=self.name, first=header.first, last=header.last, since=header.since, until=header.until,
            states=counts["state"], events=counts["event"], records=counts["record"], bytes=size, sha256=sha256,
            lowest=lowest, highest=highest, earliest=earliest, latest=latest, spread=records.spread,
            blocks=len(self._cuts) - 1,
        )  # fmt: skip
