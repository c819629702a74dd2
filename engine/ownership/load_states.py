"""Loading a partition's committed states from STATE, with LOG's help where STATE holds what no worker wrote.

Belongs here: knowing that the copy is complete, restoring the tree from it. Does not: the other steps of a take-over
(`takeover`).
"""

from phaseline.engine import logs
from phaseline.engine.core.tree import Tree, take_in
from phaseline.engine.jetstream.direct_get import origin
from phaseline.engine.jetstream.reader import Reader
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
    own = installation.subjects.state_checkpoint(partition)
    states = f"{installation.prefix}.state.{partition}.>"
    complete = False
    async with Reader(installation.wire, installation.layout.state, [states]) as reader:
        while not complete:
            found = await reader.take(LOAD, SLOW)
            if not found:
                log.warning("state_copy_behind", partition=partition, place=fence)
            for stored in found:
                if stored.subject == own:
                    complete = complete or origin(stored.block) >= fence
                elif (state := entity_in_state(installation.layout.state, stored)) is None:
                    asides.append(stored.subject)
                else:
                    highest = max(highest, take_in(tree, state))
    for subject in asides:
        highest = max(highest, await _restore_from_log(installation, partition, tree, subject))
    if len(tree) < least:
        loaded = len(tree)
        highest = max(highest, await _rebuild(installation, partition, tree, fence))
        log.warning("state_rebuilt", partition=partition, missing=least - loaded, entities=len(tree))
    return tree, highest


async def _rebuild(installation: Installation, partition: int, tree: Tree, fence: int) -> int:
    """Put each entity into the tree as LOG has it, up to the place `fence`; returns the position of the last event."""
    stream, seen, last = installation.layout.log, 0, dict[tuple[str, str], Record]()
    records = (f"{installation.prefix}.log.{partition}.transition.", f"{installation.subjects.marks(partition)}.")
    async with Reader(installation.wire, stream, [f"{installation.prefix}.*.{partition}.>"]) as reader:
        while seen < fence:
            for stored in await reader.take(LOAD):
                seen = stored.sequence
                if not stored.subject.startswith(records):
                    continue
                record = record_in_log(stream, stored)
                if record is not None and not isinstance(record, Rejection):
                    last[record.entity.kind, record.entity.id] = record
    return max((take_in(tree, entity_after(record)) for record in last.values()), default=0)


async def _restore_from_log(installation: Installation, partition: int, tree: Tree, subject: str) -> int:
    """Put the entity of a subject of STATE into the tree as LOG has it; returns the position of its last event."""
    words = subject.removeprefix(f"{installation.prefix}.state.{partition}.").split(".")
    if words[0] == "mark":
        del words[0]
    if len(words) < 2:
        return 0
    found = await last_records(installation, partition, words[0], ".".join(words[1:]))
    return max((take_in(tree, entity_after(record)) for record in found), default=0)
