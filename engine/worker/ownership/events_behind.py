"""EVENTS that ends before what is decided: it was made anew, or put back from a backup that is older than the log.

Belongs here: letting it go on behind all that is decided, the refusal where that would delete events. Does not: other
losses of events (`event_loss`).
Its next events would have numbers of events that are decided, and nobody would decide them. So nobody works on such a
partition until EVENTS goes on behind. Where it is empty that costs nothing, and is done at once. What EVENTS and LOG
hold is asked in a way that no leader of a cluster that was replaced just now can answer for them.
"""

import asyncio
import time
from typing import Any

from phaseline.engine import logs
from phaseline.engine.log import checkpoint, foreign
from phaseline.engine.log.foreign import Barrier
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log_records import cause_of
from phaseline.engine.nats.direct_get import until_settled
from phaseline.engine.worker.ownership import event_loss
from phaseline.engine.worker.ownership.claim import Claim
from phaseline.schemas.errors import LogDamaged
from phaseline.schemas.records import Loss

log = logs.get_logger(__name__)


async def move_events_on(installation: Installation, claim: Claim, *, accept_loss: bool) -> None:
    """Let EVENTS go on behind all that is decided. Raises `LogDamaged.events_behind` if it holds events.

    accept_loss: delete them, and note that in the log.
    """
    wire, events = installation.wire, installation.layout.events

    async def look() -> dict[str, Any]:
        return dict((await wire.api(f"STREAM.INFO.{events}"))["state"])

    state = await until_settled(wire, look, lambda one: int(one["last_seq"]) >= claim.position)
    if int(state["last_seq"]) >= claim.position:
        return
    highest = max(claim.position, await _highest(installation))
    log.error("events_restarted", partition=claim.partition, position=claim.position, last=int(state["last_seq"]))
    if int(state["messages"]) and not accept_loss:
        raise LogDamaged.events_behind(
            subject=events, partition=claim.partition, position=claim.position, last=int(state["last_seq"])
        )
    purged = int((await wire.api(f"STREAM.PURGE.{events}", {"seq": highest + 1})).get("purged", 0))
    log.warning("events_go_on", partition=claim.partition, first=highest + 1, deleted=purged)
    if purged:
        worker = claim.checkpoint.worker
        loss = Loss(claim.partition, "events", 1, highest, 0, purged, worker, time.time_ns())
        await event_loss.append(installation, claim, loss)


async def _highest(installation: Installation) -> int:
    """The highest position that a record or a checkpoint of any partition names."""
    layout = installation.layout
    behind = await foreign.barrier(installation.wire, layout)
    found = await asyncio.gather(*(_position(installation, one, behind) for one in range(layout.partitions)))
    return max(found)


async def _position(installation: Installation, partition: int, behind: Barrier | None) -> int:
    wire, stream, subjects = installation.wire, installation.layout.log, installation.subjects
    found = (await checkpoint.standing(wire, stream, subjects.checkpoint(partition), behind)).ours
    records = f"{installation.prefix}.log.{partition}.>"
    last = (await foreign.standing(wire, stream, records, lambda _: True, behind)).ours
    position = 0 if found is None else checkpoint.decode(found.data).position
    return max(position, 0 if last is None else cause_of(last.data, 0))
