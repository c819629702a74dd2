"""The server of the model: one stream with a fenced subject, records, a plan, and the copy STATE.

Belongs here: storing, refusing, purging and copying. Does not: what workers send (`worker`), which order things happen
in (`explorer`). A differential test holds `store`, `inject_fence` and `inject_record` against a real server.
"""

from typing import NamedTuple

GARBAGE = "garbage"
"""A foreign message that is no checkpoint, such as the acknowledgement of an event whose reply subject is the fence."""
FOREIGN = 0
"""A foreign message on a record's subject. Records of ours have ranks from 1 on."""
NOT_COPIED = -1
"""The entity of a rejection: STATE does not copy it."""


class Plan(NamedTuple):
    """A plan under way: the event, and how many of its pieces are committed."""

    cause: int
    done: int


class Checkpoint(NamedTuple):
    """The fields of a checkpoint. `name`: of the try that wrote it."""

    epoch: int
    position: int
    plan: Plan | None
    name: tuple[int, ...]

    @property
    def rank(self) -> tuple[int, int, int]:
        """Rises with each true checkpoint of a partition, but stays where only the name changes."""
        return self.epoch, self.position, -1 if self.plan is None else self.plan.done


class Stored(NamedTuple):
    """A message on the fence's subject. `payload`: a checkpoint, or `GARBAGE`."""

    seq: int
    payload: Checkpoint | str


class Record(NamedTuple):
    """A message on the subject of an entity's records. `rank`: its place in the one right order, or `FOREIGN`."""

    entity: int
    rank: int


class Request(NamedTuple):
    """What a worker sends. `expected`: the last sequence of the fence's subject. `bound`: up to where a purge goes."""

    life: int
    form: str
    expected: int
    attempt: int
    records: tuple[Record, ...] = ()
    checkpoint: Checkpoint | None = None
    plan: int = 0
    bound: int = 0


class Server(NamedTuple):
    """The stream. plan: the event of the stored plan, 0 if there is none. dense: whether records have sequences too.

    Sequences of records do not matter for the protocol. Without them many states of the exploration are equal.
    """

    last: int = 0
    fence: tuple[Stored, ...] = ()
    records: tuple[Record, ...] = ()
    plan: int = 0
    planned_at: int = 0
    dense: bool = False

    @property
    def expected(self) -> int:
        """The sequence that the next commit must expect."""
        return self.fence[-1].seq if self.fence else 0


class Copy(NamedTuple):
    """STATE: how far LOG's fence is copied, the checkpoint's slot, and the last rank of each entity."""

    seq: int = 0
    slot: Checkpoint | str | None = None
    entities: tuple[tuple[int, int], ...] = ()


Entry = Stored | Record


def store(server: Server, request: Request, *, fenced: bool = True) -> tuple[Server, int | None]:
    """The server after the request, and the sequence of its last message; None if the fence refused it.

    A request is stored as a whole or not at all. The checkpoint has the rollup header: older messages on the fence's
    subject go. A lone record (no checkpoint) leaves the fence where it is.
    """
    if request.form == "purge":
        done = not request.bound or server.planned_at <= request.bound
        return (server._replace(plan=0, planned_at=0) if done else server), 0
    if fenced and request.expected != server.expected:
        return server, None
    last = server.last + len(request.records) * server.dense
    if request.checkpoint is None:
        return server._replace(last=last, records=server.records + request.records), last
    last += 1 + (request.plan > 0) * server.dense
    fence = (Stored(last, request.checkpoint),)
    server = server._replace(last=last, fence=fence, records=server.records + request.records)
    if request.plan:
        server = server._replace(plan=request.plan, planned_at=last)
    return server, last


def inject_fence(server: Server, payload: Checkpoint | str) -> Server:
    """A foreign message on the fence's subject: no rollup, no expectation."""
    return server._replace(last=server.last + 1, fence=(*server.fence, Stored(server.last + 1, payload)))


def inject_record(server: Server, entity: int) -> Server:
    """A foreign message on the subject of an entity's records."""
    return server._replace(last=server.last + server.dense, records=(*server.records, Record(entity, FOREIGN)))


def entries(request: Request, seq: int) -> tuple[Entry, ...]:
    """What STATE will copy of a stored request, in the order of LOG."""
    copied: list[Entry] = [record for record in request.records if record.entity != NOT_COPIED]
    if request.checkpoint is not None:
        copied.append(Stored(seq, request.checkpoint))
    return tuple(copied)


def copy_one(copy: Copy, entry: Entry) -> Copy:
    """STATE keeps one message per subject."""
    if isinstance(entry, Stored):
        return copy._replace(seq=entry.seq, slot=entry.payload)
    entities = dict(copy.entities) | {entry.entity: entry.rank}
    return copy._replace(entities=tuple(sorted(entities.items())))
