"""Where the former owner of a partition left it, and whether the log still says so.

Belongs here: reading the last checkpoint, noticing an emptied log, making a checkpoint anew from the log's records.
Does not: the other steps of a take-over (`takeover`).
"""

from typing import NamedTuple

from phaseline.engine import logs
from phaseline.engine.log import checkpoint, foreign
from phaseline.engine.log.checkpoint import Checkpoint
from phaseline.engine.log.foreign import LastOnSubject
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log_records import cause_of
from phaseline.engine.nats.direct_get import (
    LastMessage,
    last_message_from_leader,
    message_from_leader,
    origin,
)
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
    if found.ours is not None and place <= found.end:
        return Former(checkpoint.decode(found.ours.data), found.sequence, found.end)
    if place <= found.end:
        position = await _last_cause(installation, partition) if found.end else 0
        if position or not place or await _holds_what_was_copied(installation, partition):
            return _rebuilt(partition, copy, found, position)
    if not accept_loss:
        raise LogDamaged.log_emptied(subject=subjects.checkpoint(partition), partition=partition, place=place)
    return Former(_copied(copy), found.sequence, found.end, lost=True)


async def _holds_what_was_copied(installation: Installation, partition: int) -> bool:
    """Whether LOG holds each message of the partition of which STATE has a copy: then none was a worker's.

    So it is with foreign messages that came before the first worker. A log that was emptied lacks what STATE has.
    """
    wire, layout = installation.wire, installation.layout
    async for copies in read_all(wire, layout.state, [f"{installation.prefix}.state.{partition}.>"]):
        for copy in copies:
            held = await message_from_leader(wire, layout.log, {"seq": origin(copy.block)})
            if held is None or held.data != copy.data:
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


async def _last_cause(installation: Installation, partition: int) -> int:
    """The position of the last event that made a record in the log, by all records of the partition; 0 if none did."""
    start, wire = f"{installation.prefix}.*.{partition}", installation.wire
    last = await last_message_from_leader(wire, installation.layout.log, f"{start}.>")
    highest, seen = 0, 0
    async with Reader(wire, installation.layout.log, [f"{start}.>"]) as reader:
        while last is not None and seen < last.sequence:
            for stored in await reader.take(BUFFER):
                seen = stored.sequence
                if foreign.is_by_worker(stored.block):
                    highest = max(highest, cause_of(stored.data, 0))
    return highest
