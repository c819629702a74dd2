"""What came before: pieces from the log, for readers who begin at an earlier place.

Belongs here: reading a range of the log, and of its archive, in chunks that end between events. Does not: what is still
to come (`hub`), how many read at once (`log_places`).
"""

import asyncio
from collections.abc import AsyncIterator

from phaseline.engine.log.log_records import logged
from phaseline.engine.surfaces.http.fleet.cascades import PlacedMessage
from phaseline.engine.surfaces.http.live import frames
from phaseline.engine.surfaces.http.live.frames import Frame, PlacedJson
from phaseline.engine.surfaces.http.live.hub import Topic
from phaseline.engine.surfaces.http.live.log_places import LogReading
from phaseline.engine.surfaces.http.service import Service

TAKEN = 25
"""Messages between which others get their turn."""


async def pieces(
    service: Service, topic: Topic, after: int, up_to: int, *, who: str, is_seated: bool = False
) -> AsyncIterator[tuple[int, list[PlacedJson]]]:
    """The records with after < place <= up_to, in chunks with the place up to which each is complete.

    who: the caller. is_seated: whether it is for a stream. Who has a chunk may clear its list. Raises `NoAnswer` if the
    server is full, or NATS is away for long meanwhile.
    """
    if up_to <= after:
        return
    found: list[PlacedJson] = []
    cause, last = 0, after
    installation = service.installation
    filters = topic.wanted.filters(installation)
    async with LogReading(
        installation, service.pulse, service.places, filters, after, who=who, is_seated=is_seated
    ) as reading:
        while (taken := await reading.take(TAKEN)) is not None:
            for stored in taken:
                if stored.sequence > up_to:
                    break
                one = logged(installation.layout.log, stored)
                if one is None or not topic.selects(one.record):
                    continue
                if len(found) >= service.limits.chunk and one.record.cause.sequence != cause:
                    yield last, found
                    found = []
                cause, last = one.record.cause.sequence, stored.sequence
                placed = PlacedMessage(one.sequence, stored.time_ns, one.record, one.body)
                piece = frames.piece(installation.kinds, placed, topic.form)
                found += () if piece is None else (piece,)
            else:
                await asyncio.sleep(0)
                continue
            break
    yield up_to, found


async def replayed(
    service: Service, topic: Topic, after: int, up_to: int, who: str
) -> AsyncIterator[tuple[int, bytes]]:
    """The same as frames: their places and bytes."""
    async for place, found in pieces(service, topic, after, up_to, who=who, is_seated=True):
        if found:
            data = Frame(place, tuple(found), topic.form).data
            found.clear()
            yield place, data
