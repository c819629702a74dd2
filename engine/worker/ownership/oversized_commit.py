"""Commits of an event whose records do not fit one atomic batch: a plan first, then piece by piece.

Belongs here: writing, reading and finishing a plan. Does not: deciding which records are in it (`core.process`).
One batch stores the whole plan with a checkpoint that names it, before any of its records. A worker that takes over in
the middle commits these records. It must not decide the event again, because half of the event is in the tree.
"""

from collections.abc import Iterator, Sequence

from phaseline.engine.core.message import NO_EVENT, Headers, Message
from phaseline.engine.core.tree import restore
from phaseline.engine.log import foreign
from phaseline.engine.log.checkpoint import Plan
from phaseline.engine.log.installation import Installation
from phaseline.engine.nats.direct_get import LastMessage
from phaseline.engine.nats.reader import Stored
from phaseline.engine.worker.ownership.claim import Claim
from phaseline.schemas import codec
from phaseline.schemas.errors import LogDamaged

CHUNK = 256 * 1024
"""Bytes of records that one plan message holds, about."""


async def commit(installation: Installation, claim: Claim, messages: list[Message], cause: int) -> None:
    """Store `messages`, all of the event at position `cause`, in as many batches as they need."""
    pieces = [
        Message(installation.subjects.plan(claim.partition, number), body, NO_EVENT)
        for number, body in enumerate(chunks(messages))
    ]
    await claim.append(pieces, claim.position, Plan(cause, len(pieces), 0))
    await finish(installation, claim, messages)


async def finish(installation: Installation, claim: Claim, messages: list[Message]) -> None:
    """Commit the messages that the checkpoint's plan still lacks, then delete the plan."""
    plan = claim.checkpoint.plan
    if plan is None:
        return
    for done in range(plan.done, len(messages), claim.limit):
        piece = messages[done : done + claim.limit]
        stored = done + len(piece)
        if stored == len(messages):
            await claim.append(piece, plan.cause)
        else:
            await claim.append(piece, claim.position, Plan(plan.cause, plan.chunks, stored))
    # The request may arrive late, when the next owner has a plan. So it ends at the last checkpoint of this plan.
    ended = {"filter": installation.subjects.plan(claim.partition, "*"), "seq": claim.fence.sequence}
    await installation.wire.api(f"STREAM.PURGE.{installation.layout.log}", ended)


async def resume(installation: Installation, claim: Claim) -> None:
    """Finish the plan that a former owner left, if any, and restore its records into the tree.

    Raises `LogDamaged.plan_lost`, or `Fenced` if another worker owns the partition.
    """
    plan = claim.checkpoint.plan
    if plan is None:
        return
    messages: list[Message] = []
    behind = claim.fence.barrier  # a former leader may have a piece of an earlier plan
    for number in range(plan.chunks):
        subject = installation.subjects.plan(claim.partition, number)
        found = await foreign.standing(installation.wire, installation.layout.log, subject, _is_piece, behind)
        if found.ours is None:
            await claim.fence.move(claim.checkpoint.encode_as)  # it may be gone because the next owner has finished it
            raise LogDamaged.plan_lost(subject=subject)
        messages += [_message(*piece) for piece in codec.decode_own(found.ours.data)["messages"]]
    await finish(installation, claim, messages)
    for message in messages:
        if not message.subject.startswith(f"{installation.prefix}.timer."):
            restore(claim.tree, message.body)


def _is_piece(message: LastMessage | Stored) -> bool:
    """Whether a message of LOG is a piece of a plan that a worker wrote. All of them are stored by batches."""
    return foreign.is_by_worker(message.block)


def _message(subject: str, body: bytes, headers: list[list[str]]) -> Message:
    """A message from its decoded form in a plan."""
    return Message(subject, body, tuple((name, value) for name, value in headers))


def chunks(messages: Sequence[Message]) -> Iterator[bytes]:
    """The messages as bodies of about `CHUNK` bytes."""
    piece: list[tuple[str, bytes, Headers]] = []
    size = 0
    for message in messages:
        piece.append((message.subject, message.body, message.headers))
        size += len(message.body)
        if size >= CHUNK:
            yield codec.encode({"messages": piece})
            piece, size = [], 0
    if piece:
        yield codec.encode({"messages": piece})
