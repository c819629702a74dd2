"""What came of an event: its records, read from the log until all are there or the checkpoint says there are none.

Belongs here: following one event to its end. Does not: sending it (`publishing`).
"""

import asyncio
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from phaseline.engine import checkpoint
from phaseline.engine.errors import EventGone, Undecided
from phaseline.engine.publishing import Receipt
from phaseline.engine.queries import Logged, event_at, read_record
from phaseline.engine.reader import Reader
from phaseline.engine.streams import Layout
from phaseline.engine.wire import Wire
from phaseline.schemas import codec
from phaseline.schemas.records import Rejection, Transition
from phaseline.schemas.subjects import Subjects, partition_of_id, quote, unquote

SKEW = timedelta(seconds=60)
"""How far the clocks of two servers may be apart, generously."""

SLICE = 1_000


class Outcome(NamedTuple):
    """What one event did: `transitions` in order, or the `rejection`, or neither where it said nothing new."""

    receipt: Receipt
    records: tuple[Logged, ...] = ()

    @property
    def transitions(self) -> tuple[Transition, ...]:
        """What it moved."""
        return tuple(found.record for found in self.records if isinstance(found.record, Transition))

    @property
    def rejection(self) -> Rejection | None:
        """Why it was refused, if it was."""
        return next((found.record for found in self.records if isinstance(found.record, Rejection)), None)

    @property
    def effect(self) -> Literal["transitions", "rejection", "none"]:
        """In a word."""
        if self.rejection is not None:
            return "rejection"
        return "transitions" if self.transitions else "none"


def follow(wire: Wire, layout: Layout, root: str, start: int | str = "new") -> Reader:
    """A reader of all that can tell of an event of the tree `root`. Enter it before the event is sent."""
    subjects = Subjects(layout.prefix)
    partition, token = partition_of_id(root, layout.partitions), quote(root)
    transitions = f"{layout.prefix}.log.{partition}.transition.*.*.*.{token}"
    marks = f"{subjects.marks(partition)}.*.{token}"
    # All rejections: the subject of one that was hard to read may not name the tree.
    rejections = f"{layout.prefix}.log.{partition}.rejection.>"
    filters = [transitions, f"{transitions}.>", marks, f"{marks}.>", rejections, subjects.checkpoint(partition)]
    return Reader(wire, layout.log, filters, start)


async def whereabouts(wire: Wire, layout: Layout, sequence: int) -> tuple[str, str]:
    """The root of a stored event, and since when to `follow` it; raises `EventGone`."""
    kept = await event_at(wire, layout, sequence)
    if kept is None:
        raise EventGone(sequence=sequence, stream=layout.events)
    root = kept.subject.removeprefix(f"{layout.prefix}.inbox.").split(".")[1]
    return unquote(root), (datetime.fromisoformat(kept.time) - SKEW).isoformat()


async def outcome(reader: Reader, layout: Layout, receipt: Receipt, timeout: float) -> Outcome:
    """Wait until the event of `receipt` is decided; raises `Undecided` after `timeout` seconds."""
    try:
        async with asyncio.timeout(timeout):
            return await _gather(reader, layout, receipt)
    except TimeoutError as error:
        raise Undecided(sequence=receipt.sequence, seconds=timeout) from error


async def _gather(reader: Reader, layout: Layout, receipt: Receipt) -> Outcome:
    found: list[Logged] = []
    seen, subjects = 0, Subjects(layout.prefix)
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
