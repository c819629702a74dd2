"""The worker of the model: take over, commit in each form, settle doubts, read foreign messages.

Belongs here: the steps of one worker as pure functions, and the switches that leave a safeguard out. Does not: when a
step happens (`explorer`), what the server does (`server`). It follows docs/design.md, The commit and Taking over.
"""

from typing import NamedTuple

from tests.support.commit_model.server import FOREIGN, NOT_COPIED, Checkpoint, Copy, Plan, Record, Request, Server

PIECES = 2
"""The number of batches of an oversized commit."""
RECORDS = {"one": 1, "none": 0, "batch": 2, "rejection": 1, "big": PIECES}
FORMS = {"one": "lone", "none": "move", "batch": "batch", "rejection": "batch", "big": "plan"}


class Protocol(NamedTuple):
    """The safeguards. Each is a switch, so that a test can show what happens without it."""

    fence: bool = True
    epoch: bool = True
    doubt: bool = True
    """Before a lone record is sent again: move the fence, then look whether the record is stored."""
    fence_before_look: bool = True
    looks_at_all: bool = True
    """The look reads every message of the subject, not only the last one."""
    strict: bool = True
    """A checkpoint counts if it is well formed and not older than another one, wherever it stands."""
    own_tries: bool = True
    """After a refusal, a try of our own is looked for behind foreign messages too."""
    newest: bool = True
    """A try of our own counts only if no newer checkpoint stands there: it may be a copy that somebody injected."""
    knows: bool = True
    """After a refusal, the newest checkpoint must be the one that we know before we raise the expected sequence."""
    waits: str = "place"
    """Until when a take-over reads STATE: the `place` of its own checkpoint, its `epoch`, or not at all."""
    log_behind_state: bool = True
    """Where STATE's last record of an entity is foreign, the log has the true one."""
    plan_position: bool = True
    """While a plan is under way, the position is the checkpoint's; the plan is finished first."""
    purge_bound: bool = True
    """The purge of a finished plan ends at its last checkpoint, so that it cannot reach a later plan."""


class Story(NamedTuple):
    """What is to be decided: the shape of each event's answer, and the entity that it is about."""

    shapes: tuple[str, ...]
    entities: tuple[int, ...]

    def before(self, event: int) -> int:
        """How many records the events before this one make."""
        return sum(RECORDS[shape] for shape in self.shapes[: event - 1])

    def records(self, event: int) -> tuple[Record, ...]:
        """The records of an event, in order."""
        shape, first = self.shapes[event - 1], self.before(event) + 1
        entity = NOT_COPIED if shape == "rejection" else self.entities[event - 1]
        return tuple(Record(entity, first + index) for index in range(RECORDS[shape]))

    def cause(self, rank: int) -> int:
        """The event that made the record of this rank."""
        return next((e for e in range(1, len(self.shapes) + 1) if self.before(e + 1) >= rank), 0) if rank else 0


class Worker(NamedTuple):
    """One life of a worker. `phase`: wait (for an answer), refused, look, load, idle.

    known: the last checkpoint that it knows to be stored. names: the names of the tries of this commit.
    """

    life: int
    phase: str
    epoch: int
    expected: int
    position: int
    known: Checkpoint
    plan: Plan | None = None
    request: Request | None = None
    names: tuple[tuple[int, ...], ...] = ()
    attempt: int = 0
    claimed_at: int = 0


NOTHING = Checkpoint(0, 0, None, ())


class Stalled(Exception):
    """A step that no worker can take, now or later."""


def begin(server: Server, life: int, protocol: Protocol) -> Worker:
    """Read the checkpoint and claim the partition."""
    found: list[Checkpoint] = [m.payload for m in server.fence if isinstance(m.payload, Checkpoint)]
    last = max(found, key=lambda one: one.rank, default=NOTHING)
    if not protocol.strict and server.fence:
        newest = server.fence[-1].payload
        if not isinstance(newest, Checkpoint):
            raise Stalled("no worker can take over: the last message on the fence's subject is no checkpoint")
        last = newest
    epoch = last.epoch + 1 if protocol.epoch else 1
    worker = Worker(life, "wait", epoch, server.expected, last.position, last, last.plan)
    return _send(worker, "claim", last.position, last.plan)


def _send(
    worker: Worker, form: str, position: int, plan: Plan | None, records: tuple[Record, ...] = (), stored: int = 0
) -> Worker:
    """Begin a commit with a checkpoint."""
    name = (worker.life, worker.expected, worker.attempt)
    checkpoint = Checkpoint(worker.epoch, position, plan, name)
    request = Request(worker.life, form, worker.expected, worker.attempt, records, checkpoint, stored)
    return worker._replace(phase="wait", request=request, names=(*worker.names, name))


def _send_lone(worker: Worker, record: Record) -> Worker:
    request = Request(worker.life, "lone", worker.expected, worker.attempt, (record,))
    return worker._replace(phase="wait", request=request)


def following(worker: Worker, story: Story) -> Worker:
    """Decide the next event, or the next piece of the plan, and send its commit."""
    worker = worker._replace(names=(), attempt=0)
    if worker.plan is not None:
        cause, done = worker.plan
        piece = story.records(cause)[done : done + 1]
        if done + 1 == PIECES:
            return _send(worker, "piece", cause, None, piece)
        return _send(worker, "piece", worker.known.position, Plan(cause, done + 1), piece)
    event = worker.position + 1
    if event > len(story.shapes):
        return worker._replace(phase="idle", request=None)
    form, records = FORMS[story.shapes[event - 1]], story.records(event)
    if form == "lone":
        return _send_lone(worker, records[0])
    if form == "plan":
        return _send(worker, "plan", worker.position, Plan(event, 0), (), event)
    return _send(worker, form, event, None, records)


def answered(worker: Worker, seq: int, story: Story, protocol: Protocol) -> Worker:
    """The commit is stored; its checkpoint, if any, stands at `seq` or before it."""
    request = worker.request
    assert request is not None
    if request.form == "purge":
        return following(worker, story)
    if request.checkpoint is None:
        return following(worker._replace(position=worker.position + 1), story)
    stored = request.checkpoint
    worker = worker._replace(expected=seq, known=stored, plan=stored.plan, names=(), attempt=0)
    if request.form == "claim":
        return worker._replace(phase="load", request=None, claimed_at=seq)
    if request.form == "settle":
        return worker._replace(phase="look", request=None)
    if request.form == "clear":
        return _send_lone(worker, story.records(worker.position + 1)[0])
    worker = worker._replace(position=stored.position)
    if request.form == "piece" and stored.plan is None:
        purge = Request(worker.life, "purge", 0, 0, bound=seq if protocol.purge_bound else 0)
        return worker._replace(phase="wait", request=purge)
    return following(worker, story)


def timed_out(worker: Worker, story: Story, protocol: Protocol) -> Worker | None:
    """No answer came: send the commit again, or settle the doubt about a lone record. None: give the partition up."""
    request = worker.request
    assert request is not None
    if request.form == "purge":
        return None
    again = worker._replace(attempt=worker.attempt + 1)
    if request.form == "lone":
        if not protocol.doubt:
            return _send_lone(again, request.records[0])
        if not protocol.fence_before_look:
            return worker._replace(phase="look", request=None)
        return _send(again, "settle", worker.known.position, worker.known.plan)
    return _repeat(again)


def _repeat(worker: Worker) -> Worker:
    """Send the same commit under a new name and the expected sequence of now."""
    request = worker.request
    assert request is not None
    if request.checkpoint is None:
        return _send_lone(worker, request.records[0])
    checkpoint = request.checkpoint
    return _send(worker, request.form, checkpoint.position, checkpoint.plan, request.records, request.plan)


def look(worker: Worker, server: Server, story: Story, protocol: Protocol) -> Worker:
    """Look whether the lone record is stored; send it again if not."""
    record = story.records(worker.position + 1)[0]
    there = [one for one in server.records if one.entity == record.entity]
    if record in (there if protocol.looks_at_all else there[-1:]):
        return following(worker._replace(position=worker.position + 1), story)
    return _send_lone(worker._replace(attempt=worker.attempt + 1, names=()), record)


def refused(worker: Worker, server: Server, story: Story, protocol: Protocol) -> Worker | None:
    """The fence moved. Was it a try of ours, a foreign message, or another worker (None: the partition is lost)?"""
    place = server.expected
    well_formed = [m.payload for m in server.fence if isinstance(m.payload, Checkpoint)]
    last = server.fence[-1].payload
    at_hand = well_formed if protocol.own_tries else [last] if isinstance(last, Checkpoint) else []
    newest = max((one.rank for one in well_formed), default=(0, 0, 0)) if protocol.newest else None
    if any(one.name in worker.names and newest in (None, one.rank) for one in at_hand):
        return answered(worker, place, story, protocol)
    if not protocol.strict:
        return None
    if protocol.knows and any(_newer(one, worker, protocol) for one in well_formed):
        return None
    again = worker._replace(expected=place, attempt=worker.attempt + 1)
    if worker.request is not None and worker.request.form == "lone":
        # A checkpoint first: it removes the foreign messages.
        return _send(again, "clear", worker.known.position, worker.known.plan)
    return _repeat(again)


def _newer(found: Checkpoint, worker: Worker, protocol: Protocol) -> bool:
    """Whether a stored checkpoint says that something happened that this worker does not know."""
    if protocol.epoch:
        return found.rank > worker.known.rank and found.name not in worker.names
    return found.rank[1:] > worker.known.rank[1:] and found.name not in worker.names


def may_load(worker: Worker, copy: Copy, protocol: Protocol) -> bool:
    """Whether the take-over takes STATE for complete."""
    if protocol.waits == "place":
        return copy.seq >= worker.claimed_at
    if protocol.waits == "epoch":
        return isinstance(copy.slot, Checkpoint) and copy.slot.epoch >= worker.epoch
    return True


def loaded(worker: Worker, copy: Copy, server: Server, story: Story, protocol: Protocol) -> Worker | None:
    """Take the position from the checkpoint and STATE, then go on; finish a plan first. None: the partition is lost."""
    highest = 0
    for entity, rank in copy.entities:
        found = rank
        if rank == FOREIGN and protocol.log_behind_state:
            found = max((one.rank for one in server.records if one.entity == entity), default=0)
        highest = max(highest, story.cause(found))
    if worker.plan is not None and server.plan != worker.plan.cause:
        # Another worker may have finished the plan since. Then this one has lost the partition; nothing else is lost.
        if any(isinstance(m.payload, Checkpoint) and m.payload.rank > worker.known.rank for m in server.fence):
            return None
        raise Stalled("plan lost: the checkpoint names a plan that is not in the log")
    if worker.plan is not None and protocol.plan_position:
        return following(worker._replace(position=worker.known.position), story)
    return following(worker._replace(position=max(worker.known.position, highest), plan=None), story)
