"""Loading a partition's committed states from STATE, with LOG's help where STATE holds what no worker wrote.

Belongs here: knowing that the copy is complete, restoring the tree from it. Does not: the other steps of a take-over
(`takeover`).
"""

from collections.abc import AsyncIterator

from phaseline.engine import logs
from phaseline.engine.core.tree import Tree, take_in
from phaseline.engine.jetstream.direct_get import origin
from phaseline.engine.jetstream.reader import Reader, Stored
from phaseline.engine.jetstream.stream_reader import read_all
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log_records import entity_in_state, last_records, record_in_log
from phaseline.schemas.records import Record, Rejection, entity_after

LOAD = 5_000
"""Messages of STATE that are read at once."""
SLOW = 10.0
"""Seconds without a message after which a take-over logs that it waits for STATE."""

log = logs.get_logger(__name__)


async def load(installation: Installation, partition: int, fence: int, least: int = 0) -> tuple[Tree, int]:
    """The partition's tree, and the position of the last event that made a record in it.

    fence: the place in LOG of the own checkpoint. STATE copies LOG in order, so the copy is complete once it has copied
    that place, or a later one. Foreign messages that STATE copied are set aside, and LOG is asked for those entities.
    least: how many entities the partition has. If STATE holds fewer, the tree is rebuilt from LOG.
    """
    tree, highest, asides = installation.tree(), 0, list[str]()
    read = _copies if installation.layout.division.generation == 0 else _copies_of_own
    async for stored in read(installation, partition, fence):
        if (state := entity_in_state(installation.layout.state, stored)) is None:
            asides.append(stored.subject)
        else:
            highest = max(highest, take_in(tree, state))
    for subject in asides:
        highest = max(highest, await _restore_from_log(installation, tree, subject))
    if len(tree) < least:
        loaded = len(tree)
        highest = max(highest, await _rebuild(installation, partition, tree))
        log.warning("state_rebuilt", partition=partition, missing=least - loaded, entities=len(tree))
    return tree, highest


async def _copies(installation: Installation, partition: int, fence: int) -> AsyncIterator[Stored]:
    """The messages of a partition in STATE, except checkpoints, once the copy is complete."""
    own, complete = installation.subjects.state_checkpoint(partition), False
    states = f"{installation.prefix}.state.{partition}.>"
    async with Reader(installation.wire, installation.layout.state, [states]) as reader:
        while not complete:
            found = await reader.take(LOAD, SLOW)
            if not found:
                log.warning("state_copy_behind", partition=partition, place=fence)
            for stored in found:
                if stored.subject == own:
                    complete = complete or origin(stored.block) >= fence
                else:
                    yield stored


async def _copies_of_own(installation: Installation, partition: int, fence: int) -> AsyncIterator[Stored]:
    """The same for a partition whose trees lie in buckets beside others: those of its own trees."""
    own, start = installation.subjects.state_checkpoint(partition), f"{installation.prefix}.state."
    complete = False
    async with Reader(installation.wire, installation.layout.state, [own]) as reader:
        while not complete:
            found = await reader.take(LOAD, SLOW)
            complete = any(origin(stored.block) >= fence for stored in found)
            if not found:
                log.warning("state_copy_behind", partition=partition, place=fence)
    reach = f"{start}{installation.reach(partition)}.>"
    async for slice_ in read_all(installation.wire, installation.layout.state, [reach]):
        for stored in slice_:
            root = _root(stored.subject[len(start) :].split("."))
            if root is not None and installation.owns(partition, root):
                yield stored


def _root(words: list[str]) -> str | None:
    """The root in a subject of STATE, given from the bucket on; None for a checkpoint."""
    at = 3 if words[1:2] == ["mark"] else 2
    return words[at] if len(words) > at and words[1] != "checkpoint" else None


async def _rebuild(installation: Installation, partition: int, tree: Tree) -> int:
    """Put each entity into the tree as LOG has it; returns the position of the last event."""
    stream, last = installation.layout.log, dict[tuple[str, str], Record]()
    is_first = installation.layout.division.generation == 0
    async for stored in _records(installation, partition):
        record = record_in_log(stream, stored)
        if record is None or isinstance(record, Rejection):
            continue
        if is_first or installation.owner_of(record.entity.id) == partition:
            last[record.entity.kind, record.entity.id] = record
    return max((take_in(tree, entity_after(record)) for record in last.values()), default=0)


async def _records(installation: Installation, partition: int) -> AsyncIterator[Stored]:
    """The messages of LOG in which the transitions and marks of a partition are, maybe beside those of others."""
    reach, start = installation.reach(partition), len(installation.prefix) + 1
    async for slice_ in read_all(installation.wire, installation.layout.log, [f"{installation.prefix}.*.{reach}.>"]):
        for stored in slice_:
            branch, _, rest = stored.subject[start:].split(".", 2)
            if (branch, rest[:11]) == ("log", "transition.") or (branch, rest[:16]) == ("mark", "transition.mark."):
                yield stored


async def _restore_from_log(installation: Installation, tree: Tree, subject: str) -> int:
    """Put the entity of a subject of STATE into the tree as LOG has it; returns the position of its last event."""
    bucket, *words = subject.removeprefix(f"{installation.prefix}.state.").split(".")
    if words[0] == "mark":
        del words[0]
    if len(words) < 2:
        return 0
    found = await last_records(installation, int(bucket), words[0], ".".join(words[1:]))
    return max((take_in(tree, entity_after(record)) for record in found), default=0)
