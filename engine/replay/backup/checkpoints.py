"""The checkpoints of a backup: what the server leaves out of LOG, because it was replaced meanwhile.

Belongs here: reading them before LOG, and putting LOG back to what they say. Does not: the other messages
(`stream_files`), what a checkpoint means (`log.checkpoint`).

The server packs what LOG had when it was asked, message by message, and leaves out what is gone by then. A checkpoint
is gone with the next commit, and that one came too late. So a backup has the checkpoints of a moment before. What
workers wrote behind them is removed when LOG is put back: EVENTS has the events, and they are decided again.
"""

import msgspec

from phaseline.engine.log import checkpoint, foreign
from phaseline.engine.nats.reader import Reader
from phaseline.engine.nats.streams import Layout
from phaseline.engine.nats.wire import Wire
from phaseline.engine.worker.ownership.atomic_batches import AtomicBatches, Commit
from phaseline.schemas.errors import NoAnswer
from phaseline.schemas.subjects import Subjects

AT_ONCE = 500
SILENCE = 60.0
"""Seconds without a message after which the server is given up."""


class SavedCheckpoint(msgspec.Struct, frozen=True, kw_only=True):
    """The checkpoint of a partition. place: where it stood in LOG. body: as it stood there."""

    partition: int
    place: int
    body: bytes


async def saved(wire: Wire, layout: Layout) -> list[SavedCheckpoint]:
    """The last checkpoint of each partition that was ever taken over."""
    subjects, found = Subjects(layout.prefix), list[SavedCheckpoint]()
    for partition in range(layout.partitions):
        subject = subjects.checkpoint(partition)
        last = (await checkpoint.standing(wire, layout.log, subject)).ours
        if last is None and (behind := await foreign.barrier(wire, layout)) is not None:
            last = (await checkpoint.standing(wire, layout.log, subject, behind)).ours
        if last is not None:
            found.append(SavedCheckpoint(partition=partition, place=last.sequence, body=last.data))
    return found


async def put_back(wire: Wire, layout: Layout, wanted: list[SavedCheckpoint]) -> None:
    """Let each partition of a LOG that was put back end with a checkpoint. wanted: what the backup has.

    Raises what `Wire` raises.
    """
    subjects, batches = Subjects(layout.prefix), AtomicBatches(wire)
    for one in wanted:
        subject = subjects.checkpoint(one.partition)
        found = await checkpoint.standing(wire, layout.log, subject)
        await _remove_behind(wire, layout, one.partition, one.place if found.ours is None else found.ours.sequence)
        if found.ours is None:
            await batches.store(Commit(subject, found.end, (), one.body))


async def without(wire: Wire, layout: Layout) -> list[int]:
    """The partitions that have records in LOG and no checkpoint: no worker can go on with them."""
    subjects, found = Subjects(layout.prefix), list[int]()
    for partition in range(layout.partitions):
        if (await checkpoint.standing(wire, layout.log, subjects.checkpoint(partition))).ours is None:
            filters = _by_workers(layout, partition)
            async with Reader(wire, layout.log, filters, 1) as reader:
                if not reader.caught_up:
                    found.append(partition)
    return found


async def _remove_behind(wire: Wire, layout: Layout, partition: int, place: int) -> None:
    """Remove what workers wrote for a partition behind a place: parts of commits that are not there as a whole."""
    subjects, late = Subjects(layout.prefix), list[int]()
    async with Reader(wire, layout.log, _by_workers(layout, partition), place + 1) as reader:
        while not reader.caught_up:
            taken = await reader.take(AT_ONCE, SILENCE)
            if not taken and not reader.caught_up:
                raise NoAnswer.backup_stopped(stream=layout.log, problem=f"nothing came for {SILENCE:g} s")
            late += [
                one.sequence
                for one in taken
                if foreign.is_by_worker(one.block) and not subjects.is_checkpoint(one.subject)
            ]
    for sequence in late:
        await wire.api(f"STREAM.MSG.DELETE.{layout.log}", {"seq": sequence, "no_erase": True})


def _by_workers(layout: Layout, partition: int) -> list[str]:
    return [f"{layout.prefix}.{branch}.{partition}.>" for branch in ("log", "mark", "plan", "timer")]
