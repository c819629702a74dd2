"""Imports a log file into an installation: first its states, then its events, at their original speed or faster.

Belongs here: what is sent, and when. Does not: reading the file (`log_file`), sending (`engine.publish.pipeline`).
"""

import asyncio
import hashlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from phaseline.engine.core.message import Message
from phaseline.engine.log.installation import Installation
from phaseline.engine.publish import compose
from phaseline.engine.publish.compose import EventMessage
from phaseline.engine.publish.pipeline import Pipeline
from phaseline.engine.replay import log_format
from phaseline.engine.replay.log_file import LogFile
from phaseline.engine.replay.log_format import EventItem, Header, StateItem
from phaseline.engine.replay.recorded_log import read as read_record
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.machine import INTERRUPTED
from phaseline.machines.language.table import DELETED, FROM_DATA
from phaseline.schemas import codec, envelope
from phaseline.schemas.cloudevents import binary_mode
from phaseline.schemas.envelope import Invalid
from phaseline.schemas.errors import EventRefused, LogDamaged, LogFileDamaged
from phaseline.schemas.records import Entity, Rejection, own_facets, timestamp
from phaseline.schemas.subjects import Subjects, without_actor

SOURCE = "/phaseline/import"
SOON = 0.02
"""Waits of fewer seconds than this are skipped."""


def no_progress(_: int) -> None:
    """The callback of a caller that needs no progress."""


@dataclass(slots=True)
class ImportResult:
    """The result of an import: how many messages it stored, how many were stored before, how many were states.

    A state is sent as an `adopt` event. left_out: how many states cannot be adopted, by kind. partly: how many states
    were adopted in one facet only, by kind. damage: why reading the file ended early, if it did.
    """

    stored: int = 0
    duplicates: int = 0
    states: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    partly: Counter[str] = field(default_factory=Counter)
    damage: str | None = None


class Clock:
    """Says when an event of the file is due, and what its own `time` becomes."""

    def __init__(self, header: Header, speed: float | None, *, shift: bool, now: datetime) -> None:
        """speed: 10 is ten times the original speed; None is as fast as possible. shift: move times to now."""
        self._since, self._speed, self._shift = header.since, speed, shift
        # Without a speed the last event is dated now, so that no event lies in the future.
        length = 0 if speed is not None else max(0, header.until - header.since)
        self._start = now - timedelta(microseconds=length // 1000)

    def after(self, time_ns: int) -> float:
        """The seconds after the start of the import at which an event is due."""
        return 0.0 if self._speed is None else max(0, time_ns - self._since) / 1e9 / self._speed

    def moved(self, text: str) -> str:
        """The new `time` of an event: its distance from the first event, divided by the speed, after the new start."""
        if not self._shift:
            return text
        passed = datetime.fromisoformat(text) - datetime.fromtimestamp(self._since / 1e9, UTC)
        return (self._start + passed / (self._speed or 1)).isoformat()


async def import_log(
    installation: Installation, path: Path, clock: Callable[[Header], Clock], *,
    partial: bool = False, most: int | None = None,
    begin: Callable[[int], None] = no_progress, progress: Callable[[int], None] = no_progress,
) -> ImportResult:  # fmt: skip
    """Send all messages of the file in order. Raises what `LogFile` and `Pipeline` raise.

    partial: send what can be read of a damaged file. Otherwise the whole file is checked before anything is sent.
    most: as for `LogFile`.
    begin: called once with the number of messages, if that is known. progress: called with the number of messages sent
    since the last call.
    """
    if not partial:
        begin(_checked(path, most))
    file, done = LogFile(path, most), ImportResult()
    player = Player(installation.subjects, installation.kinds, file.header, clock(file.header), done)
    async with Pipeline(installation.wire, 4096, 30.0, None) as pipeline:
        async for message in player.messages(file, pipeline, partial=partial):
            await pipeline.add(message)
            progress(1)
    done.stored, done.duplicates = pipeline.result
    return done


def _checked(path: Path, most: int | None) -> int:
    """Read the whole file, and return how many messages it makes."""
    file = LogFile(path, most)
    for _ in file.items():
        pass
    return file.counts["state"] + file.counts["event"]


class Player:
    """Makes the messages of a file, each when it is due."""

    def __init__(self, subjects: Subjects, kinds: Kinds, header: Header, clock: Clock, done: ImportResult) -> None:
        """done: the result, in which the counts are kept."""
        self.subjects, self.kinds, self.clock, self.done = subjects, kinds, clock, done
        # By this the server recognises a file that is sent again. Event ids do not do: a file may hold one twice.
        self._file = hashlib.sha256(log_format.pack(header)).hexdigest()[:12]

    async def messages(self, file: LogFile, pipeline: Pipeline, *, partial: bool) -> AsyncIterator[EventMessage]:
        """The states, parents first; then the events."""
        # An archive has two records of an entity with a mark: the later one stands behind the other.
        loop, states, items = asyncio.get_running_loop(), dict[tuple[str, str], Entity](), file.items()
        begun: float | None = None
        try:
            for item in items:
                if isinstance(item, StateItem):
                    entity = _entity(item.body)
                    states[entity.kind, entity.id] = entity
                elif isinstance(item, EventItem) and not (item.timer or item.copied):
                    # The installation fires its own timers, and a copy was no event.
                    if begun is None:
                        for message in self.adopt_events(states.values()):
                            yield message
                        begun = loop.time()
                    if (wait := begun + self.clock.after(item.time_ns) - loop.time()) > SOON:
                        await pipeline.drain()
                        await asyncio.sleep(wait)
                    yield self.event(item)
        except LogFileDamaged as error:
            if not partial:
                raise
            self.done.damage = str(error)
        if begun is None:
            for message in self.adopt_events(states.values()):
                yield message

    def event(self, item: EventItem) -> EventMessage:
        """The message of an event: its exact bytes, except that `time` is moved if the clock moves times.

        An event in binary mode is sent in structured mode.
        """
        subject = f"{self.subjects.prefix}.events.{without_actor(item.address)}"  # nothing proves who sent it there
        message_id = envelope.message_id(subject, SOURCE, f"{self._file}-{item.sequence}")
        block = item.headers.encode("latin-1")
        body = binary_mode.structured(item.data, block)
        try:
            fields = codec.decode(body)
            read = envelope.read(fields)
        except (codec.Undecodable, Invalid):
            headers = binary_mode.headers(block)
            return EventMessage(subject, item.data, message_id, f"{item.sequence}", SOURCE, headers)
        if read.time is not None and (moved := self.clock.moved(read.time)) != read.time:
            body = codec.encode({**fields, "time": moved})
        return EventMessage(subject, body, message_id, read.id, read.source)

    def adopt_events(self, states: Iterable[Entity]) -> list[EventMessage]:
        """The `adopt` events of the states at the beginning."""
        messages = []
        for entity in sorted(states, key=lambda entity: entity.id.count("/")):
            if all(facet.base.phase == DELETED for facet in own_facets(entity)):
                continue
            try:
                messages.append(self._adopt(entity))
                self.done.states += 1
                self.done.partly[entity.kind] += len(own_facets(entity)) > 1
            except EventRefused:
                self.done.left_out[entity.kind] += 1
        return messages

    def _adopted_facet(self, kind: str) -> int:
        """The index of the facet that an `adopt` of the kind sets."""
        facets = self.kinds[kind].table.facets if kind in self.kinds else ()
        indexes = (
            index
            for index, facet in enumerate(facets)
            if any(row.trigger == "adopt" and row.to == FROM_DATA for row in facet.rows)
        )
        return next(indexes, 0)

    def _adopt(self, entity: Entity) -> EventMessage:
        facet = entity.facets[self._adopted_facet(entity.kind)]
        base = facet.base
        data: dict[str, Any] = {"phase": base.phase, "conditions": list(base.conditions), **entity.attributes}
        if facet.interrupted is not None:
            data[INTERRUPTED] = facet.interrupted
        details = compose.EventDetails(
            source=SOURCE, event_id=f"{self._file}-{entity.kind}-{entity.id}", time=timestamp(entity.facets[0].since_ns)
        )
        event = compose.compose(entity.kind, "adopt", entity.id, data, details)
        return compose.pack(self.subjects, event, self.kinds)


def _entity(body: bytes) -> Entity:
    record = read_record(Message("state", body))
    if isinstance(record, Rejection):
        raise LogDamaged.record_unreadable(subject="state", problem="it is a rejection")
    return record.entity
