"""What earlier builds left in an installation that this version does not do: refused, or left behind.

Belongs here: a number of partitions that was changed, the feed in both formats. Does not: what to do about the first
(`SetupError.partitions_moved`), the copies in JSON in old logs, which readers skip (`log.foreign`).
Where the number of partitions was changed, some were closed for good, and others decide their trees, by numbers that no
filter of this version selects. A note in the log says so, and so does the last checkpoint of each closed partition.
Under the feed in both formats, a copy of each record in JSON stands beside the one in msgpack.
"""

from msgspec.structs import replace

from phaseline.engine.log import checkpoint, foreign
from phaseline.engine.log.installation import Installation
from phaseline.engine.nats.direct_get import LastMessage
from phaseline.engine.nats.reader import Stored
from phaseline.engine.nats.stream_reader import read_all
from phaseline.engine.nats.streams import BOTH, change_feed
from phaseline.engine.settings import Feed
from phaseline.schemas import codec
from phaseline.schemas.errors import SetupError

NOTE = "tables.divisions"
"""The subject of the note, behind the prefix."""


async def refuse_divided(installation: Installation) -> None:
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


CHOOSE = (
    "start a worker once with --feed json, or with --feed msgpack; programs that listen to {prefix}.json.> then listen "
    "to {prefix}.transition.>, {prefix}.rejection.> and {prefix}.loss.>"
)
FINISH = (
    "a commit of partition {partition} was begun under it and is not finished: start a worker of the former version, "
    "which finishes it, stop it, and start this one again"
)


async def leave_former_feed(installation: Installation, wanted: Feed | None) -> Installation:
    """The installation with the feed that is wanted in place of the one in both formats; raises `SetupError`."""
    wire, layout = installation.wire, installation.layout
    if layout.feed != BOTH:
        return installation
    if wanted is None:
        raise SetupError.feed_unknown(found=BOTH, do=CHOOSE.format(prefix=layout.prefix))
    for number in range(layout.partitions):
        last = await checkpoint.last(wire, layout.log, installation.subjects.checkpoint(number))
        if last is not None and last.plan is not None:
            raise SetupError.feed_unknown(found=BOTH, do=FINISH.format(partition=number))
    config = (await wire.api(f"STREAM.INFO.{layout.events}"))["config"]
    await change_feed(wire, layout.events, config, wanted)
    return replace(installation, layout=replace(layout, feed=wanted))
