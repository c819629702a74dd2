"""A cascade larger than one atomic batch: written down whole, then committed piece by piece.

Belongs here: writing, reading and finishing such a plan. Does not: deciding what is in it.
The plan goes into the log stream in one batch with a checkpoint that names it, before any of its records. So whoever
takes over in the middle commits the very same records, without deciding again on half a tree.
"""

from collections.abc import Iterator

from phaseline.engine.core.message import Message
from phaseline.engine.core.process import BATCH_LIMIT
from phaseline.engine.core.tree import restore
from phaseline.engine.errors import PlanLost
from phaseline.engine.jetstream.direct_get import last_message
from phaseline.engine.jetstream.streams import Layout
from phaseline.engine.jetstream.wire import Wire
from phaseline.engine.log.checkpoint import Plan
from phaseline.engine.worker.takeover import Claim
from phaseline.schemas import codec
from phaseline.schemas.subjects import Subjects

CHUNK = 256 * 1024
"""Bytes of records that one plan message holds, about."""


async def commit(wire: Wire, layout: Layout, partition: int, claim: Claim, messages: list[Message], cause: int) -> None:
    """Append `messages`, all of the event `cause`, in as many batches as it takes."""
    subjects = Subjects(layout.prefix)
    pieces = [Message(subjects.plan(partition, number), body) for number, body in enumerate(chunks(messages))]
    await claim.append(pieces, plan=Plan(cause, len(pieces), 0))
    await finish(wire, layout, partition, claim, messages)


async def finish(wire: Wire, layout: Layout, partition: int, claim: Claim, messages: list[Message]) -> None:
    """Commit what the plan's checkpoint says is still to be committed, then forget the plan."""
    plan = claim.checkpoint.plan
    if plan is None:
        return
    for done in range(plan.done, len(messages), BATCH_LIMIT):
        piece = messages[done : done + BATCH_LIMIT]
        over = done + len(piece) == len(messages)
        if over:
            claim.position = plan.cause
        await claim.append(piece, plan=None if over else Plan(plan.cause, plan.chunks, done + len(piece)))
    await wire.api(f"STREAM.PURGE.{layout.log}", {"filter": Subjects(layout.prefix).plan(partition, "*")})


async def resume(wire: Wire, layout: Layout, partition: int, claim: Claim) -> None:
    """Finish the plan that a former owner left, if there is one, and take its records into the tree."""
    plan = claim.checkpoint.plan
    if plan is None:
        return
    messages: list[Message] = []
    for number in range(plan.chunks):
        subject = Subjects(layout.prefix).plan(partition, number)
        found = await last_message(wire, layout.log, subject)
        if found is None:
            raise PlanLost(subject=subject)
        messages += [_message(*piece) for piece in codec.decode(found.data)["messages"]]
    await finish(wire, layout, partition, claim, messages)
    for message in messages:
        if not message.subject.startswith(f"{layout.prefix}.timer."):
            restore(claim.tree, message.body)


def _message(subject: str, body: bytes, headers: list[list[str]]) -> Message:
    return Message(subject, body, tuple((name, value) for name, value in headers))


def chunks(messages: list[Message]) -> Iterator[bytes]:
    """The messages as bodies of about `CHUNK` bytes."""
    piece: list[Message] = []
    size = 0
    for message in messages:
        piece.append(message)
        size += len(message.body)
        if size >= CHUNK:
            yield codec.encode({"messages": piece})
            piece, size = [], 0
    if piece:
        yield codec.encode({"messages": piece})
