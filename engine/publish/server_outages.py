"""Notes in the log about outages of the server: when it could take no event.

A server that is down writes nothing, and the log has no beat of its own, so a pause in it says nothing. But workers
renew their leases all the time. The first one that can do so again notes since when nobody could.
Belongs here: the note, reading all of them, since when leases are not renewed. Does not: when a worker writes one
(`worker.lease`).
"""

from typing import Annotated

import msgspec

from phaseline.engine.log import foreign
from phaseline.engine.log.foreign import LogNote, Notes
from phaseline.engine.log.installation import Installation
from phaseline.engine.nats.reader import BUFFER
from phaseline.engine.nats.stream_reader import reader_of
from phaseline.schemas.records import SECOND, nanoseconds, timestamp

LEAST = SECOND
"""A shorter pause is no outage, ns."""
MOST = 1_000
"""How many events are looked at, at most: of a server that was away there are few, all after it came back."""
Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class OutageNote(LogNote, frozen=True):
    """A note: between these two times the server took nothing, ns by its own clock. worker: who found it."""

    begin_ns: Count
    end_ns: Count
    worker: str = ""


def notes(installation: Installation) -> Notes[OutageNote]:
    """The outages that workers noted."""
    subject = installation.subjects.outages()
    return Notes(installation.wire, installation.layout.log, subject, OutageNote, foreign.is_no_copy)


async def renewed_at(installation: Installation) -> int:
    """When any worker renewed a lease last, ns by the server's clock; 0 if none ever did."""
    state = (await installation.wire.api(f"STREAM.INFO.{installation.layout.lease}"))["state"]
    return max(0, nanoseconds(state["last_ts"])) if state["last_seq"] else 0


async def note_outage(installation: Installation, since: int, until: int, worker: str) -> OutageNote | None:
    """Note that the server took nothing between two times; None if it did, or if that is no time. Raises as `Wire`.

    Who publishes may be back before the worker, and then the outage ended with the first event. If there are events
    all along, only this worker was cut off.
    """
    begin, end = await _quiet(installation, since, until) if until - since >= LEAST else (since, since)
    if end - begin < LEAST or 2 * (end - begin) < until - since:
        return None
    found = OutageNote(begin, end, worker)
    await notes(installation).leave(found)
    return found


async def _quiet(installation: Installation, since: int, until: int) -> tuple[int, int]:
    """The longest time without an event between two times."""
    times = [since]
    async with reader_of(installation.wire, installation.layout.events, [], timestamp(since)) as reader:
        while not reader.caught_up and len(times) <= MOST:
            times += [one.time_ns for one in await reader.take(BUFFER) if since < one.time_ns < until]
    return max(zip(times, [*times[1:], until], strict=True), key=lambda span: span[1] - span[0])
