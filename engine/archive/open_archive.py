"""An archive to read: what the readers of a log ask it for.

Belongs here: moments, states at a place, records on subjects, from the parts of an archive. Does not: reading archive
and stream as one (`log.archived.chain`), replaying (`archived_log`).
A part is read from its beginning. The states at a place are those at the head of the last part whose earlier records
are all up to this place, and the records behind them.
"""

import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import replace

from phaseline.engine.archive.check import UNBOUNDED
from phaseline.engine.archive.last_states import MARKED, about
from phaseline.engine.archive.manifest import PartEntry
from phaseline.engine.archive.open_store import store_at
from phaseline.engine.archive.store import ArchiveStore
from phaseline.engine.core.process import BATCH_LIMIT
from phaseline.engine.errors import BadLogFile
from phaseline.engine.jetstream.reader import BUFFER, Stored
from phaseline.engine.log.archived import note
from phaseline.engine.log.archived.archive_errors import BadArchive
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.when import Moment, Time
from phaseline.engine.replay.export_log import short_subject
from phaseline.engine.replay.log_file import LogFile
from phaseline.engine.replay.log_format import EventItem, Item, RecordItem, StateItem
from phaseline.schemas import wire_codec
from phaseline.schemas.records import Transition, nanoseconds
from phaseline.schemas.subjects import Subjects, partition_of

BY_WORKER = b"NATS/1.0\r\nNats-Batch-Id:archive\r\n\r\n"
"""The header block of a record of the archive: only records of workers get there."""
States = dict[tuple[str, str], bytes]
"""The last transition of each entity, by kind and id."""


class Archive:
    """An archive, which a reader of the log uses (`LogArchive`). Raises `BadArchive`."""

    def __init__(self, store: ArchiveStore) -> None:
        """Read the manifest."""
        self.store, self.manifest = store, store.existing_manifest()
        self._states: tuple[int, States] | None = None
        """The states at the place that was asked for last: a command asks several times."""

    @classmethod
    async def of(cls, where: str, installation: Installation) -> "Archive":
        """The archive of an installation in a folder or an object store.

        One that ends before the log begins would leave a gap.
        """
        found = cls(store_at(where))
        if found.manifest.prefix != installation.prefix:
            problem = f"it is of the prefix {found.manifest.prefix!r}, not of {installation.prefix!r}"
            raise BadArchive(name=found.name, problem=problem)
        told = await note.last(installation)
        if told is not None and found.place < told.place:
            problem = f"it ends at place {found.place}, but the log was trimmed up to {told.place} by {told.archive}"
            raise BadArchive(name=found.name, problem=problem)
        return found

    @property
    def name(self) -> str:
        """Where it is, for messages."""
        return self.store.name

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
        if isinstance(named, Time):
            end = named.ns + named.width
            self._check_begins(named.ns >= self.manifest.begins_ns, "that time")
            last = self._last(lambda part: part.earliest < end, lambda item: item.time_ns < end)
        else:
            self._check_begins(named >= self.manifest.begins, f"place {named}")
            last = self._last(lambda part: part.lowest <= named, lambda item: item.place <= named)
        if last is None:
            return Moment(self.manifest.begins, named.ns if isinstance(named, Time) else self.manifest.begins_ns)
        place = last.place if isinstance(named, Time) else named
        place -= _records_to_cut(last) if last.place == place else 0
        return Moment(place, named.ns if isinstance(named, Time) else last.time_ns)

    def _last(self, may_hold: Callable[[PartEntry], bool], fits: Callable[[RecordItem], bool]) -> RecordItem | None:
        """The record with the highest place among those that fit: all up to a place or a time."""
        found: RecordItem | None = None
        for part in reversed([part for part in self.manifest.parts if part.records and may_hold(part)]):
            if found is not None and part.highest < found.place:
                continue
            for item in self._records(part):
                if fits(item) and (found is None or item.place > found.place):
                    found = item
        return found

    def _check_begins(self, holds: bool, what: str) -> None:
        if not holds:
            problem = f"it begins at place {self.manifest.begins} of the log, after {what}: an earlier archive has it"
            raise BadArchive(name=self.name, problem=problem)

    async def transitions(self, filters: Sequence[str], place: int) -> list[Transition]:
        """The last transition up to a place of each entity with a transition on one of these subjects of LOG."""
        self._check_begins(place >= self.manifest.begins, f"place {place}")
        if self._states is None or self._states[0] != place:
            self._states = (place, self._states_at(place))
        fits, found = _selects(self.manifest.prefix, filters), list[Transition]()
        for body in self._states[1].values():
            record = wire_codec.read(body)
            if isinstance(record, Transition) and fits(_address(record)):
                found.append(record)
        return found

    def _states_at(self, place: int) -> States:
        """The last transition of each entity up to a place."""
        states: States = {}
        base = self._base(place)
        for item in (item for items in self._items(self.manifest.parts[base]) for item in items):
            if isinstance(item, StateItem):
                _keep(states, item.body)
        for part in self.manifest.parts[base:]:
            for item in self._records(part) if part.lowest <= place else ():
                if item.place <= place and about(item.subject) is not None:
                    _keep(states, item.body)
        return states

    def _base(self, place: int) -> int:
        """The number of the last part before which there are no records but up to a place."""
        base, highest = 0, self.manifest.begins
        for number, part in enumerate(self.manifest.parts):
            if highest <= place:
                base = number
            highest = max(highest, part.highest)
        return base

    def events(self, part: PartEntry) -> Iterator[EventItem]:
        """The events of a part."""
        return (item for items in self._items(part) for item in items if isinstance(item, EventItem))

    def _records(self, part: PartEntry) -> Iterator[RecordItem]:
        return (item for items in self._items(part) for item in items if isinstance(item, RecordItem))

    async def messages(self, filters: Sequence[str], start: int | str, up_to: int) -> AsyncIterator[list[Stored]]:
        """The records on these subjects of LOG from a place or a time on, up to a place, in the order of the log."""
        fits, held = _selects(self.manifest.prefix, filters), list[Stored]()
        since = nanoseconds(start) if isinstance(start, str) and start != "start" else 0
        first = start if isinstance(start, int) else 1
        parts = [part for part in self.manifest.parts if part.highest >= first and part.latest >= since]
        for number, part in enumerate(parts):
            for stored in self._stored(part, fits):
                if first <= stored.sequence <= up_to and stored.time_ns >= since:
                    held.append(stored)
            held.sort(key=lambda stored: stored.sequence)
            lowest = min((later.lowest for later in parts[number + 1 :] if later.records), default=up_to + 1)
            ready = [stored for stored in held if stored.sequence < lowest]
            held = held[len(ready) :]
            for begin in range(0, len(ready), BUFFER):
                yield ready[begin : begin + BUFFER]

    def _stored(self, part: PartEntry, fits: Callable[[str], bool]) -> Iterator[Stored]:
        """The records of a part on some subjects, as messages of LOG."""
        partition, prefix = 0, self.manifest.prefix
        for items in self._items(part):
            for item in items:
                if isinstance(item, EventItem):
                    partition = partition_of(item.address.partition(".")[0], self.manifest.partitions)
                elif isinstance(item, RecordItem) and not item.subject.startswith(MARKED) and fits(item.subject):
                    subject = f"{prefix}.log.{partition}.{item.subject}"
                    yield Stored(subject, item.body, item.place, item.time_ns, 0, BY_WORKER)

    def _items(self, part: PartEntry) -> Iterator[Sequence[Item]]:
        """The items of a part; raises `BadArchive` if it is damaged or absent."""
        try:
            yield from LogFile(self.store.part(part.name), UNBOUNDED).slices()
        except BadLogFile as error:
            raise BadArchive(name=self.name, problem=str(error)) from None


async def opened(installation: Installation) -> Installation:
    """The installation with the archive that its settings name, if any. Raises `BadArchive`."""
    where = installation.wire.settings.archive
    return installation if where is None else replace(installation, archive=await Archive.of(where, installation))


def _keep(states: States, body: bytes) -> None:
    """Keep the last transition of each entity: those of one entity are in order."""
    record = wire_codec.read(body)
    if isinstance(record, Transition):
        states[record.entity.kind, record.entity.id] = body


def _address(record: Transition) -> str:
    """The subject of a transition, without prefix, branch and partition."""
    subject = Subjects("p").transition(0, record.entity.kind, record.facet, record.after.phase, record.entity.id)
    return subject.split(".", 3)[3]


def _selects(prefix: str, filters: Sequence[str]) -> Callable[[str], bool]:
    """Says of a subject without prefix, branch and partition whether one of these filters of LOG selects it."""
    ends = [short_subject(prefix, filter_) for filter_ in filters]
    patterns = ["".join(_PIECES.get(piece, re.escape(piece)) for piece in re.split(r"([*>])", end)) for end in ends]
    return lambda subject: any(re.fullmatch(pattern, subject) for pattern in patterns)


_PIECES = {"*": r"[^.]+", ">": ".+"}


def _records_to_cut(last: RecordItem) -> int:
    """How many records of this record's event end here, if further records of the event follow; else 0."""
    _, index, total = wire_codec.numbered(last.body)
    return index + 1 if index + 1 < total <= BATCH_LIMIT else 0
