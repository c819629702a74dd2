"""Answers of a worker to those who ask whether the events of a partition are decided.

Belongs here: one small answer per request. Does not: asking, and what the answers mean (`publish.backlog`).
"""

from contextlib import suppress

from phaseline.engine.errors import NatsUnreachable
from phaseline.engine.log.installation import Installation
from phaseline.engine.worker.partition import Partition
from phaseline.schemas import codec


async def listen(installation: Installation, partition: Partition) -> int:
    """Answer for a partition that this worker owns; returns the subscription."""
    wire = installation.wire

    def answer(subject: str, _: bytes, __: bytes | None, reply: str) -> None:
        if wire.replies.may_answer(subject, reply):
            body = {"worker": partition.worker, "position": partition.position, "waiting": partition.waiting}
            with suppress(NatsUnreachable):
                wire.send(wire.frame(reply, codec.encode_json(body)))

    return await wire.subscribe(installation.subjects.backlog(partition.number), answer)
