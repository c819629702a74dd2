"""Purging an entity: its events, its last observation and the bodies in its rejections are erased from the server.

Belongs here: what there is to purge, the note in the log about it, erasing. Does not: the command
(`surfaces.cli.purge`), raw Secrets, which workers erase by themselves (`worker.erasure`). The note is written first. So
a replay knows which events are missing because somebody purged them, and takes their records from the log. Transitions
stay, because later records build on them.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from phaseline.engine.log import foreign
from phaseline.engine.log.checkpoint import is_decided
from phaseline.engine.log.foreign import LogNote, Notes
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.latest import check_name
from phaseline.engine.log.log_records import record_in
from phaseline.engine.nats.erase import Copy, copy_on, erase
from phaseline.engine.nats.stream_reader import read_all
from phaseline.schemas.errors import Undecided
from phaseline.schemas.records import Rejection
from phaseline.schemas.subjects import json_copy

AT_ONCE = 100
"""Messages that are erased at the same time."""
NOTED = 50_000
"""Positions in one note, at most: a message holds 1 MB."""
COPIED = (0.0, 0.05, 0.2, 0.75, 2.0)
"""Seconds before each look for the copy in LIVE, which may arrive after the event is decided."""
POLL = 0.1


class PurgeNote(LogNote, frozen=True):
    """A note in the log: the events at these positions were about this entity, and `by` purged them."""

    kind: str
    id: str
    positions: tuple[int, ...]
    by: str = ""


@dataclass(slots=True)
class Purge:
    """What a purge of one entity erases.

    positions: of its events in EVENTS. bytes: the size of their bodies. live: the sequence of its last observation in
    LIVE; 0 if there is none. rejections: the places of its rejections that hold a part of an event. transitions: how
    many of its transitions stay in the log.
    """

    kind: str
    id: str
    positions: list[int] = field(default_factory=list)
    bytes: int = 0
    live: int = 0
    rejections: list[int] = field(default_factory=list)
    transitions: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to erase."""
        return not (self.positions or self.live or self.rejections)


def notes(installation: Installation, partition: int) -> Notes[PurgeNote]:
    """The notes about what was purged in a partition."""
    subject = installation.subjects.purged(partition)
    return Notes(installation.wire, installation.layout.log, subject, PurgeNote, foreign.is_no_copy)


async def find(installation: Installation, kind: str, entity_id: str, timeout: float = 5.0) -> Purge:
    """What a purge of the entity would erase. Raises `NameUnknown`, `InvalidInput.invalid_id`.

    Waits until its events are decided, because an undecided event must not get lost; raises `Undecided`.
    """
    check_name(installation.kinds, kind, entity_id)
    wire, layout, subjects = installation.wire, installation.layout, installation.subjects
    partition, found, observed = installation.partition_of(entity_id), Purge(kind, entity_id), 0
    copied = installation.kinds.copies.get(kind)
    async for slice_ in read_all(wire, layout.events, subjects.stored_events(partition, kind, entity_id)):
        found.positions += [stored.sequence for stored in slice_]
        found.bytes += sum(len(stored.data) for stored in slice_)
        observed = max([observed, *(stored.sequence for stored in slice_ if copied and copied.part in stored.subject)])
    if found.positions:
        await _until_decided(installation, entity_id, found.positions[-1], timeout)
    if copied is not None:
        copy = await _copied(installation, subjects.live(copied.branch, partition, entity_id), observed)
        newest = found.positions[-1] if found.positions else 0
        found.live = copy.sequence if copy is not None and (not newest or copy.position <= newest) else 0
    rejected = subjects.rejection(partition, kind, "*", entity_id)
    for filter_ in (rejected, json_copy(layout.prefix, rejected)):
        async for slice_ in read_all(wire, layout.log, [filter_]):
            for stored in slice_:
                record = record_in(stored.data)
                if isinstance(record, Rejection) and record.id == entity_id and record.payload:
                    found.rejections.append(stored.sequence)
    found.transitions = await _transitions(installation, partition, kind, entity_id)
    return found


async def run(installation: Installation, found: Purge, by: str) -> None:
    """Note what is purged, then erase it. A purge that breaks off can be repeated."""
    layout, noted = installation.layout, notes(installation, installation.partition_of(found.id))
    for start in range(0, len(found.positions), NOTED):
        note = PurgeNote(found.kind, found.id, tuple(found.positions[start : start + NOTED]), by)
        await noted.leave(note)
    await _erase_all(installation, layout.events, found.positions)
    await _erase_all(installation, layout.live, [found.live] if found.live else [])
    await _erase_all(installation, layout.log, found.rejections)


async def _copied(installation: Installation, subject: str, position: int) -> Copy | None:
    """The last observation of an object in LIVE, once LIVE has copied the event at that position."""
    for pause in COPIED:
        await asyncio.sleep(pause)
        copy = await copy_on(installation.wire, installation.layout.live, subject)
        if position == 0 or (copy is not None and copy.position >= position):
            break
    return copy


async def _erase_all(installation: Installation, stream: str, sequences: Sequence[int]) -> None:
    for start in range(0, len(sequences), AT_ONCE):
        now = sequences[start : start + AT_ONCE]
        await asyncio.gather(*(erase(installation.wire, stream, sequence) for sequence in now))


async def _until_decided(installation: Installation, entity_id: str, position: int, timeout: float) -> None:
    """Wait until a checkpoint says that an event of the entity is decided; raises `Undecided`."""
    try:
        async with asyncio.timeout(timeout):
            while True:
                if await is_decided(installation, entity_id, position):
                    return
                await asyncio.sleep(POLL)
    except TimeoutError as error:
        raise Undecided(sequence=position, seconds=timeout) from error


async def _transitions(installation: Installation, partition: int, kind: str, entity_id: str) -> int:
    """How many transitions of an entity the log holds."""
    filter_ = installation.subjects.transition(partition, kind, "*", "*", entity_id)
    info = await installation.wire.api(f"STREAM.INFO.{installation.layout.log}", {"subjects_filter": filter_})
    return sum((info["state"].get("subjects") or {}).values())
