"""The outcome of an event: its records, read from the log until all are there or the checkpoint shows that there are none.

Belongs here: following one event to its end. Does not: sending it (`publishing`).
"""

import asyncio
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from phaseline.engine.errors import EventGone, Undecided
from phaseline.engine.jetstream.reader import Reader
from phaseline.engine.log import checkpoint
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log_records import Logged, event_at, read_record
from phaseline.engine.log.when import NOW
from phaseline.engine.publish.single import Receipt
from phaseline.schemas import codec
from phaseline.schemas.records import Rejection, Transition
from phaseline.schemas.subjects import Subjects, quote, unquote

SKEW = timedelta(seconds=60)
"""How far the clocks of two servers may be apart, generously."""

SLICE = 1_000


class Outcome(NamedTuple):
    """What one event did: `transitions` in order, or the `rejection`, or neither where it had no effect."""

    receipt: Receipt
    records: tuple[Logged, ...] = ()

    @property
    def transitions(self) -> tuple[Transition, ...]:
        """The transitions that the event made."""
        return tuple(found.record for found in self.records if isinstance(found.record, Transition))

    @property
    def rejection(self) -> Rejection | None:
        """The rejection of the event, if there is one."""
        return next((found.record for found in self.records if isinstance(found.record, Rejection)), None)

    @property
    def effect(self) -> Literal["transitions", "rejection", "none"]:
        """Which of the three the event had."""
        if self.rejection is not None:
            return "rejection"
        return "transitions" if self.transitions else "none"


def follow(installation: Installation, root: str, start: int | str = NOW) -> Reader:
    """A reader of every message that may concern an event of the tree `root`. Enter it before the event is sent."""
    prefix, subjects = installation.prefix, installation.subjects
    partition, token = installation.partition_of(root), quote(root)
    transitions = f"{prefix}.log.{partition}.transition.*.*.*.{token}"
    marks = f"{subjects.marks(partition)}.*.{token}"
    # All rejections: the subject of one that was hard to read may not name the tree.
    rejections = f"{prefix}.log.{partition}.rejection.>"
    filters = [transitions, f"{transitions}.>", marks, f"{marks}.>", rejections, subjects.checkpoint(partition)]
    return Reader(installation.wire, installation.layout.log, filters, start)


async def whereabouts(installation: Installation, sequence: int) -> tuple[str, str]:
    """The root of a stored event, and from which time on to `follow` it; raises `EventGone`."""
    kept = await event_at(installation, sequence)
    if kept is None:
        raise EventGone(sequence=sequence, stream=installation.layout.events)
    root = kept.subject.removeprefix(f"{installation.prefix}.inbox.").split(".")[1]
    return unquote(root), (datetime.fromisoformat(kept.time) - SKEW).isoformat()


async def outcome(reader: Reader, prefix: str, receipt: Receipt, timeout: float) -> Outcome:
    """Wait until the event of `receipt` is decided; raises `Undecided` after `timeout` seconds."""
    try:
        async with asyncio.timeout(timeout):
            return await _gather(reader, Subjects(prefix), receipt)
    except TimeoutError as error:
        raise Undecided(sequence=receipt.sequence, seconds=timeout) from error


async def _gather(reader: Reader, subjects: Subjects, receipt: Receipt) -> Outcome:
    found: list[Logged] = []
    seen = 0
    while True:
        for stored in await reader.take(SLICE):
            if subjects.is_checkpoint(stored.subject):
                if checkpoint.decode(stored.data).position >= receipt.sequence:
                    return Outcome(receipt, tuple(found))
                continue
            body = codec.decode(stored.data)
            if body["data"]["cause"]["sequence"] == receipt.sequence:
                seen += 1
                if not body["type"].endswith(".marked"):
                    found.append(Logged(stored.sequence, read_record(body), body))
                if seen == body["data"]["cause"]["records"]:
                    return Outcome(receipt, tuple(found))
