"""An archive to read: what the readers of a log ask it for.

Belongs here: moments, states at a place, records on subjects, single events and records, from the parts of an archive;
the store that a name means. Does not: reading archive and stream as one (`log.log`), replaying (`archived_log`).
Of a part only the blocks are read that its index names. A part without blocks or without its index is read whole. The
states at a place are those at the head of the last part whose earlier records are all up to this place, and the records
behind them. Single entities are searched from the place backwards.
Whoever reads an archive may have other work to do in its event loop. So files are read in threads, a piece at a time,
and one reader after the other: many of them would only take processors and memory from each other.
"""

import asyncio
import re
from bisect import bisect_left
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeVar

from phaseline.engine import logs
from phaseline.engine.core.message import BATCH_LIMIT, COPY
from phaseline.engine.log.archived import note
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.when import Moment, Time
from phaseline.engine.nats.reader import BUFFER, Stored
from phaseline.engine.replay.archive import part_index
from phaseline.engine.replay.archive.bucket import Bucket
from phaseline.engine.replay.archive.check import are_held
from phaseline.engine.replay.archive.folder import Folder
from phaseline.engine.replay.archive.last_states import MARKED, about_state, about_subject
from phaseline.engine.replay.archive.manifest import Manifest, PartEntry
from phaseline.engine.replay.archive.part_index import Block, BlockIndex
from phaseline.engine.replay.archive.read_part import block_index, part_file, places, read_blocks
from phaseline.engine.replay.archive.store import ArchiveStore
from phaseline.engine.replay.export_log import short_subject
from phaseline.engine.replay.log_format import EventItem, Item, RecordItem, StateItem
from phaseline.schemas import wire_codec
from phaseline.schemas.errors import BadArchive, BadLogFile
from phaseline.schemas.records import Transition, nanoseconds
from phaseline.schemas.subjects import SHORTENED, partition_of
from phaseline.schemas.templates import reading

BY_WORKER = b"NATS/1.0\r\nNats-Batch-Id:archive\r\n\r\n"
"""The header block of a record of the archive: only records of workers get there."""
AT_ONCE = 8
"""Pieces of a file that one thread reads, of 64 kB each."""
KEPT, MOMENTS = 200_000, 1_000
"""The most entities whose states at a place are kept for the next question, about 150 MB; and the most moments."""
T = TypeVar("T")
log = logs.get_logger(__name__)
States = dict[str, bytes]
"""The last transition of each entity, by kind and tokens: `node.c1.p.n1`."""
Choice = Callable[[BlockIndex], Iterable[Block]]
"""Which blocks of a part a question is about."""
INDEXES = 4
"""Indexes that are kept for the next question."""


class _RecordPiece(NamedTuple):
    """Records of a piece of a part that a reader wants. highest: the highest place that was read so far."""

    records: list[Stored]
    highest: int


class Archive:
    """An archive, which a reader of the log uses (`LogArchive`). Raises `BadArchive`."""

    def __init__(self, store: ArchiveStore, installation: Installation, manifest: Manifest) -> None:
        """manifest: what of it the log knows (`Manifest.noted`)."""
        self.store, self._installation, self.manifest = store, installation, manifest
        self._reading, self._asking = asyncio.Lock(), asyncio.Lock()
        """Held while a piece is read; and while states are made, which takes memory."""
        self._kept: tuple[int, States] | None = None
        """The states at the place that was asked for last: a command, or a page, asks several times."""
        self._moments: dict[int | Time, Moment] = {}
        """Those that were asked for. They never change."""
        self._indexes: dict[str, BlockIndex | None] = {}
        """Those that were read last, by the names of their parts."""
        self._is_told = False
        """Whether people were told that a part is read whole."""

    @classmethod
    async def of(cls, where: str, installation: Installation) -> "Archive":
        """The archive of an installation in a folder or an object store.

        One that ends before the log begins would leave a gap.
        """
        store = await asyncio.to_thread(store_at, where)
        return await cls.in_store(store, installation)

    @classmethod
    async def in_store(cls, store: ArchiveStore, installation: Installation) -> "Archive":
        """The same of a store."""
        manifest = await asyncio.to_thread(store.existing_manifest)
        told = await note.last(installation)
        of_others = manifest.prefix != installation.prefix
        if not of_others and (told is None or (told.archive != manifest.archive and told.place <= manifest.place)):
            of_others = not await are_held(installation, reversed(manifest.parts))
        if of_others:
            problem = f"the streams hold nothing of it: it is of another installation, of the prefix {manifest.prefix}"
            raise BadArchive(name=store.name, problem=problem)
        return cls(store, installation, manifest.noted(told, store.name))

    async def follow(self) -> int:
        """Look up to which place the log was archived, and return it. From here on the archive reaches that place."""
        told = await note.last(self._installation)
        if told is not None and told.place > self.place:
            manifest = await asyncio.to_thread(self.store.existing_manifest)
            self.manifest = manifest.noted(told, self.name)
        return 0 if told is None else told.place

    @property
    def name(self) -> str:
        """Where it is, for messages."""
        return self.store.name

    @property
    def begins(self) -> int:
        """The place from which on it knows the states."""
        return self.manifest.begins

    @property
    def place(self) -> int:
        """It has every record up to this place."""
        return self.manifest.place

    @property
    def time_ns(self) -> int:
        """When the last of these records was stored."""
        return self.manifest.time_ns

    async def moment(self, named: int | Time) -> Moment:
        """The moment that a place or a time names. It never falls between the records of one event."""
        if named not in self._moments:
            if len(self._moments) >= MOMENTS:
                self._moments.clear()
            self._moments[named] = await self._find(named)
        return self._moments[named]

    async def _find(self, named: int | Time) -> Moment:
        """The moment, from the parts."""
        if isinstance(named, Time):
            end = named.ns + named.width
            self._check_begins(named.ns >= self.manifest.begins_ns, "that time")
            parts = [part for part in self.manifest.parts if part.records and part.earliest < end]
            last = await self._last(parts, lambda _, time_ns: time_ns < end)
        else:
            self._check_begins(named >= self.manifest.begins, f"place {named}")
            parts = [part for part in self.manifest.parts if part.records and part.lowest <= named]
            last = await self._last(parts, lambda place, _: place <= named)
        if last is None:
            return Moment(self.manifest.begins, named.ns if isinstance(named, Time) else self.manifest.begins_ns)
        place = last.place if isinstance(named, Time) else named
        place -= _records_to_cut(last) if last.place == place else 0
        return Moment(place, named.ns if isinstance(named, Time) else last.time_ns)

    async def _last(self, parts: Sequence[PartEntry], fits: Callable[[int, int], bool]) -> RecordItem | None:
        """The record with the highest place among those whose place and time fit: all up to a place or a time."""
        found: RecordItem | None = None
        for part in reversed(parts):
            if found is not None and part.highest < found.place:
                continue
            async for items in self._read(self.items(part, lambda index: index.with_last(fits))):
                records = (one for one in items if isinstance(one, RecordItem) and fits(one.place, one.time_ns))
                last = max(records, key=lambda one: one.place, default=None)
                if last is not None and (found is None or last.place > found.place):
                    found = last
        return found

    def _check_begins(self, holds: bool, what: str) -> None:
        if not holds:
            raise self._bad(
                f"it begins at place {self.manifest.begins} of the log, after {what}: an earlier archive has it"
            )

    async def transitions(self, patterns: Sequence[tuple[str, str]], place: int) -> list[Transition]:
        """The last transition up to a place of each entity that a pattern selects: a kind or `*`, and tokens of ids."""
        self._check_begins(place >= self.manifest.begins, f"place {place}")
        selection = _Selection(patterns)
        async with self._asking:
            if self._kept is not None and self._kept[0] == place:
                states = self._kept[1]
            elif selection.is_exact and (indexes := await asyncio.to_thread(self._indexes_to, place)):
                states = States()
                async for _ in self._read(self._searched(states, indexes, place, selection.exact)):
                    pass
            else:
                base, states = self._base(place), States()
                is_kept = self.manifest.parts[base].states <= KEPT
                async for _ in self._read(self._folded(states, base, place, None if is_kept else selection)):
                    pass
                self._kept = (place, states) if is_kept else None
        found = await asyncio.to_thread(lambda: list(map(reading.read, selection.of(states))))
        return [record for record in found if isinstance(record, Transition)]

    def _indexes_to(self, place: int) -> "list[_IndexedPart]":
        """The last parts with records up to a place, each with its index; the first one has the states before them.

        Empty if one of the indexes cannot be read.
        """
        base, *later = self.manifest.parts[self._base(place) :]
        found: list[_IndexedPart] = []
        for part in [base, *(one for one in later if one.records and one.lowest <= place)]:
            if (index := self._index(part)) is None:
                return []
            found.append(_IndexedPart(part, index, is_base=part is base))
        return found

    def _searched(
        self, states: States, indexes: "Sequence[_IndexedPart]", place: int, keys: Collection[str]
    ) -> Iterator[object]:
        """Find the states of some entities at a place, from there backwards, a block at a time."""
        wanted = set(keys)
        for one in reversed(indexes):
            for items in read_blocks(self.store, one.part, one.backwards(wanted, place)):
                for item in reversed(items):
                    found = _about(item, place)
                    if found is not None and found[0] in wanted:
                        wanted.discard(found[0])
                        states[found[0]] = found[1]
                yield items

    def _folded(self, states: States, base: int, place: int, only: "_Selection | None") -> Iterator[object]:
        """Bring `states` to a place, a piece at a time, from the head of a part on. only: no other entities."""
        names = None if only is None else only.names
        for part in self.manifest.parts[base:]:
            highest, is_base = 0, part is self.manifest.parts[base]
            choose: Choice | None = None if names is None else lambda index: index.holding(names)
            for items in self.items(part, choose) if is_base or part.lowest <= place else ():
                for item in items:
                    if isinstance(item, RecordItem):
                        highest = max(highest, item.place)
                    found = _about(item, place) if is_base or not isinstance(item, StateItem) else None
                    if found is not None and (only is None or only.has(found[0])):
                        states[found[0]] = found[1]  # those of one entity are in order
                yield items
                if 0 <= part.spread < highest - place:  # all that follow are later
                    break

    def _base(self, place: int) -> int:
        """The number of the last part before which there are no records but up to a place."""
        base, highest = 0, self.manifest.begins
        for number, part in enumerate(self.manifest.parts):
            if highest <= place:
                base = number
            highest = max(highest, part.highest)
        return base

    async def messages(self, filters: Sequence[str], start: int | str, up_to: int) -> AsyncIterator[list[Stored]]:
        """The records on these subjects of LOG from a place or a time on, up to a place, in the order of the log."""
        short = [short_subject(self.manifest.prefix, filter_) for filter_ in filters]
        fits, held = _selects(short), list[Stored]()
        since = nanoseconds(start) if isinstance(start, str) and start != "start" else 0
        first = start if isinstance(start, int) else 1
        parts = [part for part in self.manifest.parts if part.highest >= first and part.latest >= since]
        names = part_index.names_in(short)

        def choose(index: BlockIndex) -> Iterator[Block]:
            some = index.blocks if names is None else index.holding(names)
            return (one for one in some if one.highest >= first and one.lowest <= up_to and one.latest >= since)

        for number, part in enumerate(parts):
            # No record of a later part is before this place.
            lowest = min((later.lowest for later in parts[number + 1 :] if later.records), default=up_to + 1)
            if part.lowest <= up_to:
                async for found in self._read(self._stored(part, fits, choose)):
                    held += [one for one in found.records if first <= one.sequence <= up_to and one.time_ns >= since]
                    if held and part.spread >= 0:  # what follows in this part is not before this place
                        ready, held = _before(held, min(lowest, found.highest - part.spread))
                        for piece in ready:
                            yield piece
            ready, held = _before(held, lowest)
            for piece in ready:
                yield piece

    def _stored(self, part: PartEntry, fits: Callable[[str], bool], choose: Choice) -> Iterator[_RecordPiece]:
        """The records of a part that a reader wants, as messages of LOG."""
        partition, highest, prefix = 0, 0, self.manifest.prefix
        for items in self.items(part, choose):
            found: list[Stored] = []
            for item in items:
                if isinstance(item, EventItem):
                    partition = self._partition_of(item)
                elif isinstance(item, RecordItem):
                    highest = max(highest, item.place)
                    if not item.subject.startswith(MARKED) and fits(item.subject):
                        root = part_index.names_of(item.subject)[0]
                        own = partition if len(root) >= SHORTENED else partition_of(root, self.manifest.partitions)
                        subject = f"{prefix}.log.{own}.{item.subject}"
                        found.append(Stored(subject, item.body, item.place, item.time_ns, 0, BY_WORKER))
            yield _RecordPiece(found, highest)

    async def events(self, positions: Collection[int]) -> dict[int, Stored]:
        """Those of these events that it has, as EVENTS held them."""
        found: dict[int, Stored] = {}
        for part in self.manifest.parts:
            wanted = {one for one in positions if part.first <= one <= part.last}
            found_in = self.items(part, partial(BlockIndex.with_events, positions=wanted)) if wanted else iter(())
            async for items in self._read(found_in):
                for item in items:
                    if isinstance(item, EventItem) and item.sequence in wanted:
                        found[item.sequence] = self._event(item)
        return found

    def _event(self, item: EventItem) -> Stored:
        branch, partition = "due" if item.timer else "inbox", self._partition_of(item)
        block = COPY if item.copied else item.headers.encode("latin-1") or None
        subject = f"{self.manifest.prefix}.{branch}.{partition}.{item.address}"
        return Stored(subject, item.data, item.sequence, item.time_ns, 0, block)

    def _partition_of(self, event: EventItem) -> int:
        return partition_of(event.address.partition(".")[0], self.manifest.partitions)

    async def record(self, place: int) -> Stored | None:
        """The record at a place, as LOG held it; None if there is none."""
        for part in self.manifest.parts:
            if part.records and part.lowest <= place <= part.highest:
                async for found in self._read(self._stored(part, lambda _: True, partial(BlockIndex.at, place=place))):
                    for one in found.records:
                        if one.sequence == place:
                            return one
        return None

    async def _read(self, pieces: Iterator[T]) -> AsyncIterator[T]:
        """Pieces of files, read in threads. In between others have a turn, so a reader that waits keeps nobody."""
        while True:
            async with self._reading:
                found = await asyncio.to_thread(lambda: list(islice(pieces, AT_ONCE)))
            for piece in found:
                yield piece
            if len(found) < AT_ONCE:
                return

    def items(self, part: PartEntry, choose: "Choice | None" = None) -> Iterator[Sequence[Item]]:
        """The items of a part, a piece at a time, in order; raises `BadArchive` if it is damaged or absent.

        choose: says of the index of the part which blocks are wanted. Without an index, all items come.
        """
        index = None if choose is None else self._index(part)
        if choose is not None and index is not None:
            yield from read_blocks(self.store, part, choose(index))
            return
        try:
            yield from part_file(self.store, part).slices()
        except BadLogFile as error:
            raise self._bad(f"{error}{places(part)}") from None

    def _index(self, part: PartEntry) -> BlockIndex | None:
        """The index of a part with blocks; None if there is none. The first time, that is logged."""
        if part.name not in self._indexes:
            found: BlockIndex | None = None
            try:
                if part.blocks:
                    found = block_index(self.store, part)
                else:
                    self._tell(part, "an earlier version wrote it, without blocks")
            except BadArchive as error:
                self._tell(part, error.problem)
            while len(self._indexes) >= INDEXES:
                self._indexes.pop(next(iter(self._indexes)), None)
            self._indexes[part.name] = found
            return found
        return self._indexes[part.name]

    def _tell(self, part: PartEntry, problem: str) -> None:
        """Say once that a part is read whole."""
        if not self._is_told:
            self._is_told = True
            log.warning("archive_read_whole", archive=self.name, part=part.name, problem=problem)

    def _bad(self, problem: str) -> BadArchive:
        return BadArchive(name=self.name, problem=problem)


class _IndexedPart(NamedTuple):
    """A part with its index. is_base: whether its head has the states before the records that are asked for."""

    part: PartEntry
    blocks: BlockIndex
    is_base: bool

    def backwards(self, wanted: Collection[str], place: int) -> Iterator[Block]:
        """The blocks that may have states of these entities up to a place, from the last one on; none once none is."""
        for block in reversed(self.blocks.holding([f"transition.{key}" for key in wanted])):
            if not wanted:
                return
            if 0 < block.lowest <= place or (self.is_base and not block.highest):
                yield block


class _Selection:
    """Entities by patterns: kind and tokens, with wildcards."""

    def __init__(self, patterns: Sequence[tuple[str, str]]) -> None:
        keys = [f"{kind}.{tokens}" for kind, tokens in patterns]
        wild = [one for one in keys if "*" in one or one.endswith(">")]
        self.exact, self.is_exact = set(keys).difference(wild), not wild
        self.names = part_index.names_in([f"transition.{kind}.*.*.{tokens}" for kind, tokens in patterns])
        self._fits = _selects(wild) if wild else None

    def has(self, key: str) -> bool:
        """Whether an entity is selected."""
        return key in self.exact or (self._fits is not None and self._fits(key))

    def of(self, states: States) -> list[bytes]:
        """What is selected of these."""
        if self._fits is None:
            return [states[key] for key in self.exact if key in states]
        return [body for key, body in states.items() if self.has(key)]


def _about(item: Item, place: int) -> tuple[str, bytes] | None:
    """The entity of a state or of a transition up to a place, by kind and tokens, and the body; None for all else."""
    if isinstance(item, StateItem):
        found = about_state(item.body)
    elif isinstance(item, RecordItem) and item.place <= place:
        found = about_subject(item.subject)
    else:
        return None
    return None if found is None or found.is_mark else (found.entity, item.body)


def _before(held: list[Stored], place: int) -> tuple[list[list[Stored]], list[Stored]]:
    """The messages before a place, in order, some at a time; and the others."""
    held.sort(key=_sequence)
    end = bisect_left(held, place, key=_sequence)
    return [held[begin : min(begin + BUFFER, end)] for begin in range(0, end, BUFFER)], held[end:]


def _sequence(stored: Stored) -> int:
    return stored.sequence


def _selects(filters: Sequence[str]) -> Callable[[str], bool]:
    """Says of a subject whether one of these filters selects it."""
    patterns = ("".join(_PIECES.get(piece, re.escape(piece)) for piece in re.split(r"([*>])", one)) for one in filters)
    found = re.compile("|".join(patterns))
    return lambda subject: found.fullmatch(subject) is not None


_PIECES = {"*": r"[^.]+", ">": ".+"}


def _records_to_cut(last: RecordItem) -> int:
    """How many records of this record's event end here, if further records of the event follow; else 0."""
    _, index, total = wire_codec.numbered(last.body)
    return index + 1 if index + 1 < total <= BATCH_LIMIT else 0


def store_at(where: str) -> ArchiveStore:
    """The store of that name. Raises `BadArchive`, and `NotInstalled` if the library for object stores is missing."""
    return Bucket(where) if "://" in where else Folder(Path(where))
