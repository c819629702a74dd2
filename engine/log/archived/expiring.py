"""What EVENTS would delete with a shorter age though it is still needed: by workers, or by the archive.

Belongs here: which events are not decided yet, and counting those that an age would delete. Does not: changing streams
(`nats.stream_settings`), what people are told (`surfaces.cli.streams`).
"""

from collections.abc import AsyncGenerator
from typing import NamedTuple

from phaseline.engine.log import checkpoint, log_records
from phaseline.engine.log.archived import note
from phaseline.engine.log.installation import Installation
from phaseline.engine.nats.stream_reader import first_since, read_all
from phaseline.schemas.records import nanoseconds, timestamp


class Expiring(NamedTuple):
    """Events that would be deleted though they are needed. undecided: those that are not decided yet.

    unarchived: the others that the archive does not hold yet, at most; 0 if the log was never archived. archive: its
    name; empty if there is none.
    """

    undecided: int
    unarchived: int
    archive: str

    @property
    def are_needed(self) -> bool:
        """Whether anything would be lost that somebody needs."""
        return self.undecided + self.unarchived > 0


async def expiring(installation: Installation, age_ns: int) -> Expiring:
    """What would be deleted at once if EVENTS kept events for so long only."""
    info = await installation.wire.api(f"STREAM.INFO.{installation.layout.events}")
    first, last = int(info["state"]["first_seq"]), int(info["state"]["last_seq"])
    oldest_kept = await first_since(
        installation.wire, installation.layout.events, timestamp(nanoseconds(info["ts"]) - age_ns)
    )
    end = last if oldest_kept is None else oldest_kept - 1
    if end < first:
        return Expiring(0, 0, "")
    waiting = [position async for position in undecided(installation, end)]
    told = await note.surely_last(installation)
    if told is None:
        return Expiring(len(waiting), 0, "")
    left = end - max(told.position, first - 1) - len(waiting)
    return Expiring(len(waiting), max(0, left), told.archive)


async def undecided(installation: Installation, last: int) -> AsyncGenerator[int, None]:
    """The positions up to `last` of the events that are not decided, in order, as far as the log says."""
    known = [await _known(installation, number) for number in range(installation.layout.partitions)]
    skip = len(installation.prefix) + 1
    base = max(min(known), await note.position(installation))
    async for events in read_all(installation.wire, installation.layout.events, [], base + 1, last):
        for event in events:
            if event.sequence > known[int(event.subject[skip:].split(".", 2)[1])]:
                yield event.sequence


async def _known(installation: Installation, partition: int) -> int:
    """A position up to which all events of a partition are decided, according to LOG's leader."""
    subject = installation.subjects.checkpoint(partition)
    last = await checkpoint.last(installation.wire, installation.layout.log, subject) or checkpoint.Checkpoint()
    if last.plan is not None:
        return last.position
    # Lone records do not write the checkpoint.
    return max(last.position, last.clear or 0, await log_records.last_cause(installation, partition))
