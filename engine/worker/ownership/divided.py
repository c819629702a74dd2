"""An installation whose number of partitions an earlier version has changed: it is recognised, and refused.

Belongs here: the traces of such a change. Does not: what to do about it (`SetupError.partitions_moved`).
Partitions of such an installation were closed for good, and others decide their trees, by numbers that no filter of
this version selects. A note in the log says so, and so does the last checkpoint of each closed partition.
"""

from phaseline.engine.log import checkpoint, foreign
from phaseline.engine.log.installation import Installation
from phaseline.engine.nats.direct_get import LastMessage
from phaseline.engine.nats.reader import Stored
from phaseline.engine.nats.stream_reader import read_all
from phaseline.schemas import codec
from phaseline.schemas.errors import SetupError

NOTE = "tables.divisions"
"""The subject of the note, behind the prefix."""


async def check(installation: Installation) -> None:
    """Raise `SetupError.partitions_moved` if the number of partitions was changed. Raises as `Wire.api` does."""
    wire, log, prefix = installation.wire, installation.layout.log, installation.prefix
    noted = (await foreign.standing(wire, log, f"{prefix}.{NOTE}", _is_note)).ours is not None
    if noted or await _is_any_closed(installation):
        raise SetupError.partitions_moved(prefix=prefix)


def _is_note(message: LastMessage | Stored) -> bool:
    try:
        return foreign.is_by_owner(message.block) and bool(codec.decode_own(message.data).get("divisions"))
    except ValueError:
        return False


async def _is_any_closed(installation: Installation) -> bool:
    """Whether the last checkpoint of a partition closed it; by its copy in STATE where the log has lost it."""
    closed = dict[str, bool]()
    layout, subjects, start = installation.layout, installation.subjects, len(installation.prefix)
    async for found in read_all(installation.wire, layout.state, [subjects.state_checkpoint("*")]):
        for one in found:
            # The server leaves the headers of the fence out of its copies.
            if not foreign.is_copy(one.block):
                closed[_partition(one, start)] = _closes(one.data)
    async for found in read_all(installation.wire, layout.log, [subjects.checkpoint("*")]):
        for one in found:
            if (last := checkpoint.read(one)) is not None:
                closed[_partition(one, start)] = last.closed
    return any(closed.values())


def _partition(message: Stored, start: int) -> str:
    """The partition in the subject of a checkpoint, or of its copy."""
    return message.subject[start:].split(".", 3)[2]


def _closes(body: bytes) -> bool:
    try:
        return checkpoint.decode(body).closed
    except ValueError:
        return False
