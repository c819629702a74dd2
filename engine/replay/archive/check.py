"""Checks the parts of an archive: each by itself, that they follow each other, and that they hold what the streams do.

Belongs here: reading parts back, counting what they hold, comparing that with the streams. Does not: what happens if
something differs (`run`).
A tally adds up a hash of each event and each record. So two tallies are equal if the same items were counted, in
whatever order.
"""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log_records import cause_of, stored_at
from phaseline.engine.log.when import END
from phaseline.engine.replay import log_format
from phaseline.engine.replay.archive.last_states import LastStates, about_state, is_of_raw_secret
from phaseline.engine.replay.archive.log_slice import LogSlice
from phaseline.engine.replay.archive.manifest import NAME, Manifest, PartEntry
from phaseline.engine.replay.archive.part_index import RecordSpan
from phaseline.engine.replay.archive.read_part import index_of, made_index, part_file
from phaseline.engine.replay.archive.store import ArchiveStore
from phaseline.engine.replay.archive.write_parts import keep_index
from phaseline.engine.replay.log_file import LogFile
from phaseline.engine.replay.log_format import EventItem, Item, RecordItem, StateItem
from phaseline.schemas.errors import BadArchive, BadLogFile

BYTES = 16
MODULUS = 1 << (8 * BYTES)
AT_ONCE = 1_000
"""States that are read without a word of progress."""


@dataclass(slots=True)
class Tally:
    """How many events and records there are, and the sum of their hashes."""

    events: int = 0
    records: int = 0
    digest: int = 0

    def add(self, items: Iterable[Item]) -> None:
        """Count events and records; other items are left out."""
        for item in items:
            if isinstance(item, EventItem):
                self.events += 1
            elif isinstance(item, RecordItem):
                self.records += 1
            else:
                continue
            self.digest = (self.digest + _hash(log_format.pack(item))) % MODULUS

    def __str__(self) -> str:
        """`59 events and 93 records`."""
        return f"{self.events:,} events and {self.records:,} records"


def _hash(data: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(data, digest_size=BYTES).digest())


def _told(bodies: Iterable[bytes], progress: Callable[[int], None]) -> Iterator[bytes]:
    """The same; progress is called now and then, so that it can end what takes long."""
    for number, body in enumerate(bodies):
        if number % AT_ONCE == 0:
            progress(0)
        yield body


@dataclass(slots=True)
class ReadBack:
    """Parts of an archive, read back one after the other. missing: ranges of positions without an event."""

    store: ArchiveStore
    tally: Tally = field(default_factory=Tally)
    missing: list[tuple[int, int]] = field(default_factory=list)
    states: LastStates[bytes] | None = None
    """The states to which the parts lead that were read so far; None before the first."""

    def read(self, part: PartEntry, progress: Callable[[int], None]) -> None:
        """Read a part to its end; raises `BadArchive` if it is not what the manifest says."""
        file = part_file(self.store, part)
        if (file.header.since, file.header.until) != (part.since, part.until):
            raise self.bad(part, f"{NAME} says something else about the times of its events")
        try:
            self._read(part, file, progress)
        except BadLogFile as error:
            raise self.bad(part, str(error)) from None
        if any(file.counts[name] != getattr(part, f"{name}s") for name in ("state", "event", "record")):
            raise self.bad(part, f"it holds {file.summary()}")

    def bad(self, part: PartEntry, problem: str) -> BadArchive:
        """The error for a part."""
        return BadArchive(name=self.store.name, problem=f"{part.name}: {problem}")

    def _read(self, part: PartEntry, file: LogFile, progress: Callable[[int], None]) -> None:
        begins: list[bytes] | None = []
        positions, explained = list[int](), set(file.header.purged)
        found = RecordSpan()
        for items in file.slices():
            self.tally.add(items)
            before = len(positions)
            for item in items:
                if isinstance(item, StateItem) and begins is not None:
                    begins.append(item.body)
                    continue
                if begins is not None:
                    self._begin(part, begins, progress)
                    begins = None
                if isinstance(item, EventItem):
                    positions.append(item.sequence)
                elif isinstance(item, RecordItem):
                    self._take(item, explained)
                    found.take(item)
            progress(len(positions) - before)
        if begins is not None:
            self._begin(part, begins, progress)
        if positions != sorted(set(positions)) or not all(part.first <= one <= part.last for one in positions):
            raise self.bad(part, "its events are not in order")
        if not found.fits(part) or not self._has_its_index(part, progress):
            raise self.bad(part, f"{NAME} or {part.index_name} says something else about its records")
        known = (one for one in sorted(explained.union(positions)) if part.first <= one <= part.last)
        self.missing = joined([*self.missing, *missing_ranges(part.first, part.last, known)])

    def _has_its_index(self, part: PartEntry, progress: Callable[[int], None]) -> bool:
        """Whether the index of a part is the one that follows from it."""
        if not part.index_bytes:
            return not part.blocks
        stored = index_of(self.store, part)
        try:
            return not part.blocks or stored == made_index(self.store, part, progress)
        except ValueError:
            return False

    def _take(self, item: RecordItem, explained: set[int]) -> None:
        assert self.states is not None
        self.states.take(item.subject, item.body)
        if is_of_raw_secret(item.subject):
            explained.add(cause_of(item.body, 0))

    def _begin(self, part: PartEntry, bodies: list[bytes], progress: Callable[[int], None]) -> None:
        """Begin with the states at the head of a part, which must be those to which the parts before it lead."""
        if self.states is None:
            self.states = LastStates[bytes]()
            for body in _told(bodies, progress):
                if (entity := about_state(body)) is not None:
                    self.states.put(entity, body)
        elif sum(map(_hash, _told(bodies, progress))) != sum(map(_hash, _told(self.states.values(), progress))):
            raise self.bad(part, "it begins with other states than the parts before it lead to")


def missing_ranges(first: int, last: int, positions: Iterable[int]) -> Iterator[tuple[int, int]]:
    """The ranges between `first` and `last` in which no position is. The positions ascend."""
    following = first
    for position in positions:
        if position > following:
            yield following, position - 1
        following = position + 1
    if following <= last:
        yield following, last


def joined(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges in order, those as one that follow each other."""
    found: list[tuple[int, int]] = []
    for first, last in ranges:
        if found and found[-1][1] + 1 == first:
            found[-1] = (found[-1][0], last)
        else:
            found.append((first, last))
    return found


def read_back(
    store: ArchiveStore, parts: Sequence[PartEntry], progress: Callable[[int], None] = lambda _: None
) -> ReadBack:
    """Read parts that follow each other; raises `BadArchive` if one of them is not what the manifest says."""
    reading = ReadBack(store)
    for part in parts:
        reading.read(part, progress)
    return reading


def check(store: ArchiveStore, progress: Callable[[int], None] = lambda _: None) -> tuple[Manifest, ReadBack]:
    """Read a whole archive; raises `BadArchive` if it is damaged."""
    manifest = store.existing_manifest()
    reading = read_back(store, manifest.parts, progress)
    if reading.missing != manifest.missing:
        problem = f"other events are missing than {NAME} says: {reading.missing}"
        raise BadArchive(name=store.name, problem=problem)
    return manifest, reading


def reindex(store: ArchiveStore, progress: Callable[[int], None] = lambda _: None) -> list[PartEntry]:
    """Make the indexes of an archive anew that are lost or damaged, and return their parts; raises `BadArchive`.

    Nobody reads those of parts without blocks.
    """
    return [part for part in store.existing_manifest().parts if part.blocks and _reindexed(store, part, progress)]


def _reindexed(store: ArchiveStore, part: PartEntry, progress: Callable[[int], None]) -> bool:
    """Whether the index of a part had to be made anew."""
    try:
        index_of(store, part)
    except BadArchive:
        for items in part_file(store, part).slices():
            progress(sum(isinstance(item, EventItem) for item in items))
        made = made_index(store, part, progress)
        if (len(made), hashlib.sha256(made).hexdigest()) != (part.index_bytes, part.index_sha256):
            raise store.failed(f"{part.name}: its index is not the one that {NAME} names") from None
        keep_index(store, part, made)
        return True
    return False


async def are_held(installation: Installation, parts: Iterable[PartEntry]) -> bool:
    """Whether the streams hold the first or the last record or event of one of these parts, stored at the same time.

    Times are in ns, so the streams of another installation hold none.
    """
    log, events = installation.layout.log, installation.layout.events
    for part in parts:
        for stream, sequence, time_ns in (
            (log, part.highest, part.latest), (log, part.lowest, part.earliest),
            (events, part.last, part.until), (events, part.first, part.since),
        ):  # fmt: skip
            if time_ns and await stored_at(installation.wire, stream, sequence) == time_ns:
                return True
    return False


async def only_here(
    installation: Installation, store: ArchiveStore, parts: Sequence[PartEntry], progress: Callable[[int], None]
) -> Tally | None:
    """What parts that follow each other hold, and the streams do not, though nobody purged it; None if nothing.

    A part whose file is not there, or is another one, holds nothing: a run was ended while it wrote it anew.
    """
    lost, held = Tally(), Counter[int]()

    def take(items: Iterable[Item]) -> None:
        held.update(_hash(log_format.pack(one)) for one in items)

    async with LogSlice.open(installation, parts[0].first, parts[-1].last, END) as found:
        async for record in found.before():
            take([found.record(record)])
        events = found.events()
        event = await anext(events, None)
        for part in parts:
            while event is not None and event.sequence <= part.last:
                take(await found.items(event))
                progress(1)
                event = await anext(events, None)
            take(await found.left(part.last))
            with suppress(BadArchive, BadLogFile):
                for items in part_file(store, part).slices():
                    lost.add([one for one in items if _is_lost(one, held, found.purged)])
                    await asyncio.sleep(0)
    return lost if lost.events or lost.records else None


def _is_lost(item: Item, held: Counter[int], purged: Collection[int]) -> bool:
    """Whether an item of a part is neither held, of which there may be several alike, nor purged."""
    if isinstance(item, EventItem):
        position = item.sequence
    elif isinstance(item, RecordItem):
        position = cause_of(item.body, 0)
    else:
        return False
    found = _hash(log_format.pack(item))
    held[found] -= 1
    return held[found] < 0 and position not in purged


@dataclass(slots=True)
class HeldSlice:
    """What the streams hold of a slice, read anew. time_ns: when the last record up to a place was stored."""

    tally: Tally = field(default_factory=Tally)
    time_ns: int = 0


async def read_streams(
    installation: Installation, first: int, last: int, after: int, place: int, progress: Callable[[int], None]
) -> HeldSlice:
    """Read the events from `first` to `last`, and their records. after: as for `LogSlice.open`."""
    held = HeldSlice()

    def take(items: Sequence[Item]) -> None:
        held.tally.add(items)
        times = (one.time_ns for one in items if isinstance(one, RecordItem) and one.place <= place)
        held.time_ns = max([held.time_ns, *times])

    async with LogSlice.open(installation, first, last, after) as found:
        async for _ in found.before():
            pass
        async for event in found.events():
            take(await found.items(event))
            progress(1)
        take(await found.left(last))
    return held
