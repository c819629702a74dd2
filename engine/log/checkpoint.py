"""The checkpoint of a partition: who owns it, and up to which event it is decided (docs/design.md, The commit).

Belongs here: the checkpoint's fields and bytes. Does not: storing it (`worker.ownership.fenced_commit`), taking over
(`worker.ownership.takeover`).
"""

from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from phaseline.engine.log import foreign
from phaseline.engine.log.foreign import Barrier, LastOnSubject
from phaseline.engine.log.installation import Installation
from phaseline.engine.nats.direct_get import LastMessage
from phaseline.engine.nats.reader import Stored
from phaseline.engine.nats.wire import Wire
from phaseline.schemas import codec


class Plan(msgspec.Struct, frozen=True):
    """A plan that is under way: the records of an event that do not fit one batch.

    cause: the event's position. chunks: the number of plan messages. done: how many log messages are committed.
    """

    cause: int
    chunks: int
    done: int


class EdgeOrigin(NamedTuple):
    """Up to which message of an inlet a partition has had the events of an edge.

    identity: how the server calls this inlet, and no later one of the same name. repeats: how many events came again.
    """

    identity: str
    sequence: int
    repeats: int = 0


class Checkpoint(msgspec.Struct, frozen=True):
    """Who owns a partition, and up to which event it is decided.

    epoch: grows with each owner. position: of the last decided event. commit: a new name for each try to store it.
    entities: how many the partition has. pending: how many events followed the one at the position when it was read.
    clear: no event up to this position waits to be decided; None if an earlier version wrote the checkpoint.
    attempts: how many owners in a row have begun at this position, the present one included, and committed nothing yet.
    trying, triers: the event that such an owner was about to decide, and the workers that have noted it; 0 for none.
    origins: by edge. until: the position up to which these are complete; 0 if it is that of the checkpoint.
    closed: whether an earlier build closed the partition for good (`worker.ownership.earlier_builds`); we write none.
    """

    epoch: int = 0
    worker: str = ""
    position: int = 0
    commit: str = ""
    plan: Plan | None = None
    entities: int = 0
    pending: int = 0
    clear: int | None = None
    attempts: int = 0
    trying: int = 0
    triers: tuple[str, ...] = ()
    origins: dict[str, EdgeOrigin] = {}
    until: int = 0
    closed: bool = False

    def encode_as(self, commit: str) -> bytes:
        """The bytes for the log, with the name of the try that stores them."""
        found = {**msgspec.to_builtins(self), "commit": commit}
        for name in UNUSED if self.origins else (*OF_EDGES, *UNUSED):
            del found[name]
        return codec.encode(found)

    def after(self, position: int, plan: Plan | None = None) -> "Checkpoint":
        """The checkpoint of a commit up to `position`. It forgets what was tried before."""
        return replace(self, position=position, plan=plan, attempts=0, trying=0, triers=())


OF_EDGES = ("origins", "until")
"""Fields that only partitions have to which edges have brought events."""
UNUSED = ("closed",)
"""Fields that are only read."""
REQUIRED = frozenset(("epoch", "worker", "position", "commit", "plan"))
"""The fields that every checkpoint has. Later versions may add fields; one that they lack has its default."""


def decode(body: bytes) -> Checkpoint:
    """The inverse of `Checkpoint.encode_as`; raises `ValueError` if the body is no checkpoint."""
    found = codec.decode_own(body)
    if missing := REQUIRED - found.keys():
        raise ValueError(f"no checkpoint: it lacks {', '.join(sorted(missing))}")
    return msgspec.convert(found, Checkpoint)


def read(message: LastMessage | Stored) -> Checkpoint | None:
    """The checkpoint in a message of LOG; None if no owner of the partition wrote it."""
    if not foreign.is_by_owner(message.block):
        return None
    try:
        return decode(message.data)
    except ValueError:
        return None


def is_checkpoint(message: LastMessage | Stored) -> bool:
    """Whether a message of LOG is a checkpoint that an owner of the partition wrote."""
    return read(message) is not None


async def standing(wire: Wire, stream: str, subject: str, behind: Barrier | None = None) -> LastOnSubject:
    """The last checkpoint on a subject, and the sequence of the last message there, according to LOG's leader.

    behind: as for `foreign.standing`.
    """
    return await foreign.standing(wire, stream, subject, is_checkpoint, behind)


async def last(wire: Wire, stream: str, subject: str) -> Checkpoint | None:
    """The last checkpoint on a subject, according to LOG's leader; None if there is none."""
    found = (await standing(wire, stream, subject)).ours
    return None if found is None else decode(found.data)


async def is_decided(installation: Installation, entity_id: str, position: int) -> bool:
    """Whether a checkpoint says that the event at a position, of the tree of an entity, is decided.

    The records of the event may be there a little before.
    """
    subject = installation.subjects.checkpoint(installation.partition_of(entity_id))
    found = await last(installation.wire, installation.layout.log, subject)
    return found is not None and found.position >= position
