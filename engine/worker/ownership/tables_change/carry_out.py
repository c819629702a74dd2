"""Carries out a change of tables in a partition that was just taken over: entities move by the map of states.

The note of the new era says that the change begins: from which event on, when, and which kinds have changed. Then the
records are committed. A second note, without these kinds, says that all of them are there. A worker that finds only the
first one goes on: it moves those who are still in states that the tables do not have, in the same order.
Belongs here: these steps. Does not: which records there are (`core.tables_change.moving`).
"""

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from msgspec.structs import replace

from phaseline.engine import logs
from phaseline.engine.core.message import NO_EVENT, Message
from phaseline.engine.core.process import Processor
from phaseline.engine.core.tables_change import moving, stranded
from phaseline.engine.log import table_eras
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.table_eras import Era
from phaseline.engine.nats.direct_get import message_from_leader
from phaseline.engine.worker.ownership import oversized_commit
from phaseline.engine.worker.ownership.claim import Claim
from phaseline.engine.worker.ownership.load_states import PartitionStates
from phaseline.engine.worker.ownership.tables_change import survey
from phaseline.schemas.records import Entity, nanoseconds

T = TypeVar("T")

log = logs.get_logger(__name__)


async def change_tables(
    installation: Installation, claim: Claim, states: PartitionStates, last: Era | None, wanted: Era,
    accepted: str,
) -> None:  # fmt: skip
    """Finish a change that is under way, and carry out another one if the tables or their setting differ.

    states: of the partition. last: its last note. wanted: the note as it should be, whose position is not known yet.
    accepted: the digest of the tables that may strand entities. Raises `SetupError.states_stranded`.
    """
    try:
        if last is not None and last.former and last.digest == wanted.digest:
            await _go_on(installation, claim, last)
        claim.tree.silence_after = wanted.silence_after
        claim.tree.log = wanted.log
        if last is None or last.decides_as != wanted.decides_as:
            await _carry_out(installation, claim, last, wanted, accepted)
    except BaseException:
        states.forget()  # the tree may be ahead of the log
        raise


async def _carry_out(installation: Installation, claim: Claim, former: Era | None, noted: Era, accepted: str) -> None:
    """Note that other tables decide from here on, and move the entities that have to move."""
    kinds = installation.kinds
    changed = table_eras.changed(kinds, former)
    if not changed:
        # The event of a plan was decided by the former tables.
        begins = max(claim.position, 0 if claim.checkpoint.plan is None else claim.checkpoint.plan.cause)
        await _note(installation, claim, replace(noted, position=begins))
        return
    await oversized_commit.resume(installation, claim)
    if accepted != kinds.digest:
        survey.refuse(kinds, await _scanned(lambda reading: stranded.in_tree(claim.tree, changed, reading)))
    noted = replace(noted, position=claim.position)
    begun = replace(noted, former=changed, time_ns=await _time(installation, claim))
    if not await _scanned(lambda reading: moving.pieces(claim.tree, begun.change(), reading=reading)):
        await _note(installation, claim, noted)
        return
    await _note(installation, claim, begun)
    await _go_on(installation, claim, begun)


async def _time(installation: Installation, claim: Claim) -> int:
    """When a change happens, ns: after all that is decided, and not after what is decided next, by the server's clock.

    Events may have waited for the change for long, and their records have the times at which they were stored.
    """
    wire, events = installation.wire, installation.layout.events
    info = await wire.api(f"STREAM.INFO.{events}")
    now = nanoseconds(info["ts"]) if "ts" in info else time.time_ns()
    wanted = {"seq": claim.position + 1, "next_by_subj": installation.subjects.stored(claim.partition)}
    waiting = await message_from_leader(wire, events, wanted)
    return now if waiting is None else min(now, waiting.time_ns)


async def _go_on(installation: Installation, claim: Claim, begun: Era) -> None:
    """Move the entities that still have to move by the change that `begun` notes, then note that it is done."""
    await oversized_commit.resume(installation, claim)
    change, layout = begun.change(), installation.layout
    claim.tree.silence_after = begun.silence_after
    processor = Processor(
        claim.tree, installation.subjects, claim.partition, as_json=layout.feed == "json", limit=claim.limit,
    )  # fmt: skip
    pieces = await _scanned(lambda reading: moving.pieces(claim.tree, change, reading=reading))
    for batch in processor.move(change, pieces):
        if len(batch.messages) > claim.limit:
            await oversized_commit.commit(installation, claim, batch.messages, claim.position)
        else:
            await claim.append(batch.messages, claim.position)
    moved = sum(len(piece.members) for piece in pieces)
    log.info("entities_moved", partition=claim.partition, tables=begun.digest, entities=moved)
    await _note(installation, claim, replace(begun, former={}, time_ns=0, worker=claim.checkpoint.worker))


async def _note(installation: Installation, claim: Claim, era: Era) -> None:
    """Write into the log that these tables decide from here on."""
    message = Message(installation.subjects.tables(claim.partition), era.encode(), NO_EVENT)
    await claim.append([message], claim.position, claim.checkpoint.plan)
    log.info("tables_noted", partition=claim.partition, tables=era.digest, position=era.position)


class _Over(Exception):  # it ends a thread, and nobody sees it
    """Nobody waits for a scan any more."""


async def _scanned(scan: Callable[[moving.Reading], T]) -> T:
    """What a scan of all entities finds, in a thread. If the wait is cancelled, the thread ends at the next entity."""
    over = threading.Event()

    def reading(entities: Iterable[Entity]) -> Iterator[Entity]:
        for one in entities:
            if over.is_set():
                raise _Over
            yield one

    try:
        return await asyncio.to_thread(scan, reading)
    finally:
        over.set()
