"""Timers that the server no longer holds, because somebody's message replaced the schedule: set them again.

Belongs here: comparing the timers of a partition's entities with the schedules in the log. Does not: when a timer is
due (`core.timers`).
The server drops a schedule as soon as another message is stored on its subject.
"""

import asyncio
import time
from collections.abc import AsyncIterator

from phaseline.engine import logs
from phaseline.engine.core import timers
from phaseline.engine.core.message import BATCH_LIMIT, Message
from phaseline.engine.core.timers import Schedule
from phaseline.engine.core.tree import Tree
from phaseline.engine.log import foreign
from phaseline.engine.log.installation import Installation
from phaseline.engine.nats.stream_reader import read_all
from phaseline.engine.worker.ownership.claim import Claim
from phaseline.schemas.records import SECOND

SOON = 5 * SECOND
"""A timer due earlier than in these ns may be firing right now, ns."""

AT_ONCE = 5_000
"""Entities that are looked at before the event loop turns again."""

log = logs.get_logger(__name__)


async def repair(installation: Installation, claim: Claim) -> None:
    """Set the timers of the partition's entities again whose schedule is gone. Nothing else may commit meanwhile."""
    wanted = {schedule_subject(installation, one): one async for one in _schedules(installation, claim.tree)}
    if not wanted:
        return
    stream, good, bad = installation.layout.log, set[str](), set[str]()
    async for found in read_all(installation.wire, stream, [f"{installation.prefix}.timer.{claim.partition}.>"]):
        for stored in found:
            if foreign.is_by_worker(stored.block):
                good.add(stored.subject)
                bad.discard(stored.subject)
            else:
                foreign.report(stream, stored)
                bad.add(stored.subject)
    later = time.time_ns() + SOON
    gone = {
        subject: one
        for subject, one in wanted.items()
        if subject in bad or (subject not in good and one.due is not None and one.due > later)
    }
    if gone:
        log.warning("timers_set_again", partition=claim.partition, timers=len(gone))
    messages = list[Message]()
    timers.attach(messages, gone, f"phaseline/{installation.prefix}")
    for start in range(0, len(messages), BATCH_LIMIT):
        await claim.note(messages[start : start + BATCH_LIMIT])


def schedule_subject(installation: Installation, one: Schedule) -> str:
    """The subject of a schedule in the log."""
    return installation.subjects.timer(installation.partition_of(one.id), one.kind, one.facet, one.id)


async def _schedules(installation: Installation, tree: Tree) -> AsyncIterator[Schedule]:
    """The schedules that the timers of all entities need. Others have their turns meanwhile, such as leases."""
    for name, entities in tree.entities.items():
        kind = tree.kinds[name]
        if not entities or not kind.timed:
            continue
        for number, entity in enumerate(entities.values()):
            if number % AT_ONCE == 0:
                await asyncio.sleep(0)
            for facet, due in entity.timers_ns.items():
                index = kind.names.index(facet)
                timeout = timers.timeout_of(kind, index, entity.facets[index])
                if timeout is not None:
                    target = installation.subjects.fired(name, timeout.trigger, entity.id)
                    yield Schedule(0, target, name, entity.id, facet, timeout.trigger, due)
