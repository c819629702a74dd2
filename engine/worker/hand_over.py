"""Handing a partition over: the worker that should own it asks for it once it is prepared, and its owner gives it.

Belongs here: the request and its answer. Does not: who should own a partition (`lease`), preparing (`preparing`),
finishing the owner's commits (`worker`).
Whoever asks wrongly gets nothing, or at worst ends an owner's work on the partition: the fence keeps that safe.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from phaseline.engine.errors import ApiFailed, NatsUnreachable, NoAnswer
from phaseline.engine.log.installation import Installation

KEPT = b"kept"
"""The answer of an owner that goes on. Otherwise it is the sequence of its lease, which the other one may take."""
PATIENCE = 12.0
"""Seconds that an owner has to finish its commit."""
Give = Callable[[str], Awaitable[int | None]]
"""Gives a partition to the worker of that name: the sequence of its lease; None if it keeps it."""

_under_way: set[asyncio.Task[None]] = set()


async def listen(installation: Installation, partition: int, give: Give) -> int:
    """Take requests for a partition that this worker owns; returns the subscription."""
    wire = installation.wire

    async def answer(worker: str, reply: str) -> None:
        sequence = await give(worker)
        with suppress(NatsUnreachable):
            wire.send(wire.frame(reply, KEPT if sequence is None else str(sequence).encode()))

    def asked(subject: str, data: bytes, _: bytes | None, reply: str) -> None:
        if wire.replies.may_answer(subject, reply):
            task = asyncio.create_task(answer(data.decode(errors="replace"), reply))
            _under_way.add(task)
            task.add_done_callback(_under_way.discard)

    return await wire.subscribe(installation.subjects.handing_over(partition), asked)


async def ask(installation: Installation, partition: int, worker: str) -> int | None:
    """Ask the owner of a partition to hand it to this worker: the sequence of the lease; None if it does not.

    An owner that is gone does not answer.
    """
    subject = installation.subjects.handing_over(partition)
    try:
        reply = await installation.wire.request(subject, worker.encode(), timeout=PATIENCE)
    except (NoAnswer, ApiFailed):
        return None
    return int(reply.data) if reply.data.isdigit() else None
