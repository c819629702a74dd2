"""Where the former owner of a partition left it, and whether the log still says so.

Belongs here: reading the last checkpoint, noticing an emptied log, making a checkpoint anew from the log's records.
Does not: the other steps of a take-over (`takeover`).
"""

from collections.abc import Mapping
from typing import NamedTuple

from phaseline.engine import logs
from phaseline.engine.log import checkpoint, foreign
from phaseline.engine.log.checkpoint import Checkpoint
from phaseline.engine.log.foreign import Barrier, LastOnSubject
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log_records import cause_of
from phaseline.engine.nats.direct_get import LastMessage, last_message_from_leader, origin
from phaseline.engine.nats.reader import BUFFER, Reader
from phaseline.engine.nats.stream_reader import read_all
from phaseline.schemas.errors import LogDamaged

log = logs.get_logger(__name__)


class Former(NamedTuple):
    """Where a partition was left. `lost`: the log was emptied, and the worker may go on all the same.

    sequence, end: what a `Fence` needs.
    """

    checkpoint: Checkpoint
    sequence: int
    end: int
    lost: bool = False


async def read(installation: Installation, partition: int, *, accept_loss: bool) -> Former:
    """Where the partition was left; raises `LogDamaged.log_emptied` if the log has lost it, unless `accept_loss`."""
    wire, layout, subjects = installation.wire, installation.layout, installation.subjects
    # The copy is read first: whatever STATE has copied by then, LOG had stored before.
    copy = await last_message_from_leader(wire, layout.state, subjects.state_checkpoint(partition))
    found = await checkpoint.standing(wire, layout.log, subjects.checkpoint(partition))
    place = 0 if copy is None else origin(copy.block)
    if found.ours is None and not found.end and not place:  # the fence fails if that is not so
        return _rebuilt(partition, copy, found, 0)
    behind = None
    if (found.ours is None or place > found.end) and (behind := await foreign.barrier(wire, layout)) is not None:
        found = await checkpoint.standing(wire, layout.log, subjects.checkpoint(partition), behind)
    if found.ours is not None and place <= found.end:
        return Former(checkpoint.decode(found.ours.data), found.sequence, found.end)
    if place <= found.end:
        position, others = await _in_log(installation, partition, behind)
        if position or not place or await _holds_what_was_copied(installation, partition, others):
            return _rebuilt(partition, copy, found, position)
    if not accept_loss:
        raise LogDamaged.log_emptied(subject=subjects.checkpoint(partition), partition=partition, place=place)
    return Former(_copied(copy), found.sequence, found.end, lost=True)


async def _holds_what_was_copied(installation: Installation, partition: int, held: Mapping[int, bytes]) -> bool:
    """Whether LOG holds each message of the partition of which STATE has a copy: then none was a worker's.

    So it is with foreign messages that came before the first worker. A log that was emptied lacks what STATE has.
    held: what LOG holds, by place.
    """
    filters = [f"{installation.prefix}.state.{partition}.>"]
    async for copies in read_all(installation.wire, installation.layout.state, filters):
        if any(held.get(origin(copy.block)) != copy.data for copy in copies):
            return False
    return True


def _rebuilt(partition: int, copy: LastMessage | None, found: LastOnSubject, position: int) -> Former:
    """A partition that nobody has owned, or whose checkpoint a foreign message has removed."""
    if position:
        log.warning("checkpoint_rebuilt", partition=partition, position=position)
    last = Checkpoint(epoch=_copied(copy).epoch, position=position, clear=None if position else 0)
    return Former(last, 0, found.end)


def _copied(copy: LastMessage | None) -> Checkpoint:
    """The checkpoint that STATE has copied; an empty one if it has copied a foreign message."""
    try:
        return Checkpoint() if copy is None else checkpoint.decode(copy.data)
    except ValueError:
        return Checkpoint()


async def _in_log(
    installation: Installation, partition: int, behind: Barrier | None
) -> tuple[int, dict[int, bytes]]:  # fmt: skip
    """The position of the last event that made a record of the partition in the log, 0 if none did; other messages.

    behind: up to where to read in a cluster.
    """
    subject, wire, log = f"{installation.prefix}.*.{partition}.>", installation.wire, installation.layout.log
    if behind is None:
        last = await last_message_from_leader(wire, log, subject)
        behind = Barrier(subject, 0 if last is None else last.sequence)
    highest, seen, others = 0, 0, dict[int, bytes]()
    async with Reader(wire, log, list({subject, behind.subject})) as reader:
        while seen < behind.place:
            for stored in await reader.take(BUFFER):
                seen = stored.sequence
                if foreign.is_by_worker(stored.block):
                    highest = max(highest, cause_of(stored.data, 0))
                else:
                    others[seen] = stored.data
    return highest, others
