"""Events that EVENTS dropped before they were decided: noticing them, counting them, saying so in the log.

Belongs here: at a take-over, and while a partition is worked on. Does not: the record's fields (`schemas.losses`).
EVENTS numbers the events of all partitions together. So a gap before its first event holds as many events of this
partition at most as it has numbers. How many at least follows from the number that waited when the last one was read.
Events that were archived had been decided before: they are no loss.
"""

import time

from phaseline.engine import logs
from phaseline.engine.core.message import Message
from phaseline.engine.log.archived import note as archive_note
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.restored.identity import LogIdentity
from phaseline.engine.nats.reader import Reader
from phaseline.engine.worker.ownership.claim import Claim
from phaseline.schemas import codec, losses
from phaseline.schemas.records import Loss

WRITE = 60.0
"""Seconds between two checkpoints that only say that nothing waits."""

log = logs.get_logger(__name__)


async def at_take_over(installation: Installation, claim: Claim) -> None:
    """Note what was lost since the former owner's last checkpoint.

    A checkpoint of an earlier version does not say up to where no event waited; nothing is noted then.
    """
    first, _ = await _span(installation)
    if claim.checkpoint.clear is None:
        claim.vouch(first - 1)
    elif first > claim.vouched + 1:
        claim.vouch(await _archived(installation))
        if first > claim.vouched + 1:
            await _note(installation, claim, claim.vouched, first)


async def of_restore(installation: Installation, claim: Claim, log_identity: LogIdentity) -> None:
    """Note that the log was put back: what came after the backup is not in it."""
    worker, found = claim.checkpoint.worker, log_identity.found_ns
    await append(installation, claim, Loss(claim.partition, "restored", claim.position + 1, 0, 0, None, worker, found))


class LossWatch:
    """Looks now and then whether EVENTS drops events that wait to be decided."""

    def __init__(self, installation: Installation, claim: Claim) -> None:
        self._installation, self._claim = installation, claim
        self._idle: tuple[int, int] | None = None
        """Position and last event of EVENTS at the last look, if nothing waited then."""
        self._write_at = 0.0

    async def look(self, inbox: Reader) -> None:
        """Note what was lost, or vouch that nothing waits. Call it while all that was decided is committed."""
        claim = self._claim
        first, last = await _span(self._installation)
        if inbox.pending or inbox.buffered:
            self._idle = None
            known = max(claim.vouched, inbox.delivered)
            if inbox.pending and first > known + 1:
                claim.vouch(await _archived(self._installation))
                known = max(known, claim.vouched)
            if inbox.pending and first > known + 1:
                claim.pending = inbox.pending
                await _note(self._installation, claim, known, first)
            return
        before, self._idle = self._idle, (claim.position, last)
        if before is None or before[0] != claim.position or before[1] <= claim.vouched:
            return
        now = time.monotonic()
        if first > claim.vouched + 1 or now >= self._write_at:
            # What EVENTS held at the look before this one would have come by now. A reader to which a message is lost
            # on its way, and which no other follows, learns that by the next heartbeat.
            claim.vouch(before[1])
            await claim.note()
            self._write_at = now + WRITE


async def _archived(installation: Installation) -> int:
    """The position up to which all events were archived, so that none of them is lost; 0 if none were."""
    note = await archive_note.surely_last(installation)
    return 0 if note is None else note.position


async def _span(installation: Installation) -> tuple[int, int]:
    """The first and the last position of EVENTS."""
    state = (await installation.wire.api(f"STREAM.INFO.{installation.layout.events}"))["state"]
    return int(state["first_seq"]), int(state["last_seq"])


async def _note(installation: Installation, claim: Claim, known: int, first: int) -> None:
    """Commit a record of the loss between the position `known` and the first event that EVENTS holds."""
    at_most = first - 1 - known
    at_least = at_most
    if installation.layout.partitions > 1:
        at_least = min(at_most, max(0, claim.pending - await _waiting(installation, claim, first)))
    worker = claim.checkpoint.worker
    loss = Loss(claim.partition, "events", known + 1, first - 1, at_least, at_most, worker, time.time_ns())
    claim.vouch(first - 1)
    claim.pending = 0
    log.warning(
        "events_lost", partition=claim.partition, first=loss.first, last=loss.last, at_least=at_least, at_most=at_most
    )
    await append(installation, claim, loss)


async def append(installation: Installation, claim: Claim, loss: Loss) -> None:
    """Commit the record of a loss."""
    subject = installation.subjects.loss(claim.partition, loss.what)
    body = losses.write(loss, f"phaseline/{installation.prefix}")
    body = codec.as_json(body) if installation.layout.feed == "json" else body
    await claim.note([Message(subject, body)])


async def _waiting(installation: Installation, claim: Claim, first: int) -> int:
    """How many events of the partition EVENTS holds."""
    if not claim.pending:
        return 0
    subject = installation.subjects.stored(claim.partition)
    async with Reader(installation.wire, installation.layout.events, [subject], first) as reader:
        return reader.backlog
