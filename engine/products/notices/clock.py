"""The clock that counts at the end of a log: the server's, once nothing can come any more that was stored earlier.

Belongs here: when that is so. Does not: what falls due then (`fold.fold`).
"""

import asyncio
from typing import NamedTuple

from phaseline.engine.log.installation import Installation
from phaseline.engine.nats.direct_get import last_message_from_leader
from phaseline.engine.publish.backlog import PartitionBacklog, first_waiting, owner_of
from phaseline.schemas.errors import NoAnswer

PROMPT = 0.4
"""Seconds in which an owner answers that waits for no commit in doubt."""


class DecidedUntil(NamedTuple):
    """All that was stored before a time, ns, is decided. place: of the last record that there is then."""

    time_ns: int
    place: int


async def settled(installation: Installation) -> DecidedUntil | None:
    """The time up to which no record can come any more; None if that is not known now.

    Every partition has to have decided all that EVENTS holds of it.
    """
    wire, layout = installation.wire, installation.layout
    time_ns = await installation.server_time()
    answers = await asyncio.gather(*(_has_decided(installation, one) for one in range(layout.partitions)))
    if not all(answers):
        return None
    message = await last_message_from_leader(wire, layout.log, f"{layout.prefix}.log.>")
    return DecidedUntil(time_ns, 0 if message is None else message.sequence)


async def _has_decided(installation: Installation, partition: int) -> bool:
    """Whether all is decided that EVENTS holds of a partition now: as its owner says, or else as the streams do."""
    events, stored = installation.layout.events, installation.subjects.stored(partition)
    last = await last_message_from_leader(installation.wire, events, stored)
    if last is None:
        return True
    owned = await _promptly(installation, partition)
    if owned is not None and owned.waiting is not None and owned.position >= last.sequence:
        return True
    return await first_waiting(installation, partition) is None


async def _promptly(installation: Installation, partition: int) -> PartitionBacklog | None:
    """What the owner says; None if nobody answers, or if the answer waited for a commit in doubt."""
    loop = asyncio.get_running_loop()
    begun = loop.time()
    try:
        owned = await owner_of(installation, partition)
    except NoAnswer:
        return None
    return owned if loop.time() - begun < PROMPT else None
