"""What came before: pieces from the log, for readers who begin at an earlier place.

Belongs here: reading a range of the log, and of its archive, in chunks that end between events. Does not: what is still
to come (`hub`).
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

from phaseline.engine.http.away import Pulse, unless_away
from phaseline.engine.http.fleet.cascades import Placed
from phaseline.engine.http.live import frames
from phaseline.engine.http.live.frames import Frame, Piece
from phaseline.engine.http.live.hub import Topic
from phaseline.engine.log.archived.chain import log_reader
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log_records import logged

CHUNK = 500
"""Records after which a frame ends, as soon as no event is cut."""


async def pieces(
    installation: Installation, pulse: Pulse, topic: Topic, after: int, up_to: int
) -> AsyncIterator[tuple[int, list[Piece]]]:
    """The records with after < place <= up_to, in chunks with the place up to which each is complete.

    Raises `NoAnswer` if NATS is away for long meanwhile.
    """
    if up_to <= after:
        return
    found: list[Piece] = []
    cause, last = 0, after
    reader = log_reader(installation, topic.wanted.filters(installation), after + 1)
    async with AsyncExitStack() as stack:
        async with unless_away(pulse):
            await stack.enter_async_context(reader)
        while not reader.caught_up:
            async with unless_away(pulse):
                taken = await reader.take(CHUNK)
            for stored in taken:
                if stored.sequence > up_to:
                    break
                one = logged(installation.layout.log, stored)
                if one is None or not topic.selects(one.record):
                    continue
                if len(found) >= CHUNK and one.record.cause.sequence != cause:
                    yield last, found
                    found = []
                cause, last = one.record.cause.sequence, stored.sequence
                placed = Placed(one.sequence, stored.time_ns, one.record, one.body)
                piece = frames.piece(installation.kinds, placed, topic.form)
                found += () if piece is None else (piece,)
            else:
                continue
            break
    yield up_to, found


async def replayed(
    installation: Installation, pulse: Pulse, topic: Topic, after: int, up_to: int
) -> AsyncIterator[Frame]:
    """The same as frames."""
    async for place, found in pieces(installation, pulse, topic, after, up_to):
        if found:
            yield frames.frame(place, found, topic.form)
