"""Answers of a worker to those who ask whether the events of a partition are decided.

Belongs here: one small answer per request. Does not: asking, and what the answers mean (`publish.backlog`).
"""

import asyncio
from contextlib import suppress

from phaseline.engine.errors import NatsUnreachable
from phaseline.engine.log.installation import Installation
from phaseline.engine.worker.partition import Partition
from phaseline.schemas import codec

PATIENCE = 0.5
"""Seconds for which an answer waits for the commit under way. A commit takes longer only where NATS is in trouble."""


async def listen(installation: Installation, partition: Partition) -> int:
    """Answer for a partition that this worker owns; returns the subscription.

    An answer waits for the commit under way, at most `PATIENCE`. Readers see records before this worker knows that
    they are stored. Without the wait, an answer would call events undecided whose outcome the asker has seen.
    """
    wire = installation.wire

    def answer(reply: str, *, is_lost: bool = False) -> None:
        waiting = None if is_lost else partition.waiting
        body = {"worker": partition.worker, "position": partition.position, "waiting": waiting}
        with suppress(NatsUnreachable):
            wire.send(wire.frame(reply, codec.encode_json(body)))

    def asked(subject: str, _: bytes, __: bytes | None, reply: str) -> None:
        if not wire.replies.may_answer(subject, reply):
            return
        committed = partition.commit_under_way()
        if committed is None:
            answer(reply)
        else:
            committed.add_done_callback(lambda done: answer(reply, is_lost=done.cancelled()))
            asyncio.get_running_loop().call_later(PATIENCE, _end, committed)

    return await wire.subscribe(installation.subjects.backlog(partition.number), asked)


def _end(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_result(None)
