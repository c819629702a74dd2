"""A log as a file played into an installation: its states first, then its events, at the speed they came or faster.

Belongs here: what is sent, and when. Does not: reading the file (`logfile`), sending (`pipeline`).
"""

import asyncio
import hashlib
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from phaseline.engine.errors import EventRefused, LogFileDamaged
from phaseline.engine.log.installation import Installation
from phaseline.engine.publish import compose
from phaseline.engine.publish.compose import Outgoing
from phaseline.engine.publish.pipeline import Pipeline
from phaseline.engine.replay import log_format
from phaseline.engine.replay.log_file import LogFile
from phaseline.engine.replay.log_format import EventItem, Header, StateItem
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.table import DELETED, FROM_DATA
from phaseline.schemas import codec, envelope, wire_codec
from phaseline.schemas.envelope import Invalid
from phaseline.schemas.records import Entity, Rejection, timestamp
from phaseline.schemas.subjects import Subjects

SOURCE = "/phaseline/import"
SOON = 0.02
"""Seconds of waiting that are not worth it."""


def ignore(_: int) -> None:
    """For those who do not want to know."""


@dataclass(slots=True)
class Imported:
    """How many messages are stored, by us and before; how many of them were states, as `adopt` events.

    left_out: states that cannot be adopted, by kind. partly: those of which only one facet can be. damage: what ended the
    reading early.
    """

    stored: int = 0
    duplicates: int = 0
    states: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    partly: Counter[str] = field(default_factory=Counter)
    damage: str | None = None


class Clock:
    """When an event of the file is due, and what its own `time` becomes."""

    def __init__(self, header: Header, speed: float | None, *, shift: bool, now: datetime) -> None:
        """speed: how many times as fast as it was; None as fast as it goes. shift: whether times move to today."""
        self._since, self._speed, self._shift = header.since, speed, shift
        # As fast as it goes the last event is now, so that none lies in the future.
        length = 0 if speed is not None else max(0, header.until - header.since)
        self._start = now - timedelta(microseconds=length // 1000)

    def after(self, time_ns: int) -> float:
        """Seconds after the beginning at which it is due."""
        return 0.0 if self._speed is None else max(0, time_ns - self._since) / 1e9 / self._speed

    def moved(self, text: str) -> str:
        """The publisher's time of an event, as far from the beginning as it was, in the speed it is played at."""
        if not self._shift:
            return text
        passed = datetime.fromisoformat(text) - datetime.fromtimestamp(self._since / 1e9, UTC)
        return (self._start + passed / (self._speed or 1)).isoformat()


async def import_log(
    installation: Installation, path: Path, clock: Callable[[Header], Clock], *,
    partial: bool = False, begin: Callable[[int], None] = ignore, progress: Callable[[int], None] = ignore,
) -> Imported:  # fmt: skip
    """Send all that is in the file, in order. Raises as `LogFile` and `Pipeline` do.

    partial: take of a damaged file what can be read; else it is checked first, and nothing of a damaged one is sent.
    begin: called with the number of messages there will be, where that is known. progress: with how many were sent since
    the last call.
    """
    if not partial:
        begin(_checked(path))
    file, done = LogFile(path), Imported()
    player = Player(installation.subjects, installation.kinds, file.header, clock(file.header), done)
    async with Pipeline(installation.wire, 4096, 30.0, None) as pipeline:
        async for message in player.messages(file, pipeline, partial=partial):
            await pipeline.add(message)
            progress(1)
    done.stored, done.duplicates = pipeline.sent
    return done


def _checked(path: Path) -> int:
    """How many messages a file makes, once it is known to be whole."""
    file = LogFile(path)
    for _ in file.items():
        pass
    return file.counts["state"] + file.counts["event"]


class Player:
    """The messages of a file, each when it is due."""

    def __init__(self, subjects: Subjects, kinds: Kinds, header: Header, clock: Clock, done: Imported) -> None:
        """Counts go to `done`."""
        self.subjects, self.kinds, self.clock, self.done = subjects, kinds, clock, done
        # The same file sent again is known by this; an event id that comes twice in a file was stored twice.
        self._file = hashlib.sha256(log_format.pack(header)).hexdigest()[:12]

    async def messages(self, file: LogFile, pipeline: Pipeline, *, partial: bool) -> AsyncIterator[Outgoing]:
        """States, parents first; then events."""
        loop, states, items = asyncio.get_running_loop(), list[Entity](), file.items()
        begun: float | None = None
        try:
            for item in items:
                if isinstance(item, StateItem):
                    states.append(_entity(item.body))
                elif isinstance(item, EventItem) and not item.timer:  # the installation has timers of its own
                    if begun is None:
                        for message in self.adopted(states):
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
            for message in self.adopted(states):
                yield message

    def event(self, item: EventItem) -> Outgoing:
        """The event as it was, bytes and all; its `time` moved where that is asked for."""
        subject, message_id = f"{self.subjects.prefix}.events.{item.address}", f"{SOURCE} {self._file}-{item.sequence}"
        try:
            found = codec.decode(item.data)
            read = envelope.read(found)
        except (codec.Undecodable, Invalid):
            return Outgoing(subject, item.data, message_id, f"{item.sequence}", SOURCE)
        body = item.data
        if read.time is not None and (moved := self.clock.moved(read.time)) != read.time:
            body = codec.encode({**found, "time": moved})
        return Outgoing(subject, body, message_id, read.id, read.source)

    def adopted(self, states: list[Entity]) -> list[Outgoing]:
        """`adopt` events for the states at the beginning."""
        found = []
        for entity in sorted(states, key=lambda entity: entity.id.count("/")):
            if all(facet.base.phase == DELETED for facet in entity.facets):
                continue
            try:
                found.append(self._adopt(entity))
                self.done.states += 1
                self.done.partly[entity.kind] += len(entity.facets) > 1
            except EventRefused:
                self.done.left_out[entity.kind] += 1
        return found

    def _named(self, kind: str) -> int:
        """Which facet an `adopt` of that kind names."""
        facets = self.kinds[kind].table.facets if kind in self.kinds else ()
        named = (
            i
            for i, facet in enumerate(facets)
            if any(row.trigger == "adopt" and row.to == FROM_DATA for row in facet.rows)
        )
        return next(named, 0)

    def _adopt(self, entity: Entity) -> Outgoing:
        base = entity.facets[self._named(entity.kind)].base
        data: dict[str, Any] = {"phase": base.phase, "conditions": list(base.conditions), **entity.attributes}
        details = compose.Details(
            source=SOURCE, event_id=f"{self._file}-{entity.kind}-{entity.id}", time=timestamp(entity.facets[0].since)
        )
        event = compose.compose(entity.kind, "adopt", entity.id, data, details)
        return compose.pack(self.subjects, event, self.kinds)


def _entity(body: bytes) -> Entity:
    record = wire_codec.read(body)
    assert not isinstance(record, Rejection)
    return record.entity
