"""Taking over a partition: fence out the former owner, load the committed tree, note the tables.

Belongs here: the steps from nothing to a `Claim` (docs/design.md, Taking over a partition), and the claim's commits.
Does not: the loop that follows (`partition`), which worker should own which partition (`lease`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import structlog
from msgspec.structs import replace

from phaseline.engine.core.message import Message
from phaseline.engine.core.tree import Tree, restore
from phaseline.engine.jetstream.direct_get import last_message_from_leader
from phaseline.engine.jetstream.reader import Reader
from phaseline.engine.log import checkpoint, table_eras
from phaseline.engine.log.checkpoint import Checkpoint, Plan
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.table_eras import Era
from phaseline.engine.worker.fenced_commit import Fence

LOAD = 5_000
"""Messages of STATE that are read at once."""
SLOW = 10.0
"""Seconds without a message after which a take-over logs that it waits for STATE."""

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Claim:
    """A partition that this worker owns: its tree, its fence, the last checkpoint, and its position.

    The position can be ahead of the checkpoint's, because `append_one` does not write a checkpoint.
    """

    partition: int
    tree: Tree
    fence: Fence
    checkpoint: Checkpoint
    position: int

    async def append(self, messages: Sequence[Message], position: int, plan: Plan | None = None) -> None:
        """Commit `messages` and the checkpoint of `position` in one batch."""
        self._advance(position)
        self.checkpoint = self.checkpoint.after(position, plan)
        await self.fence.append(messages, self.checkpoint.encode_as)

    async def append_one(self, message: Message, position: int) -> None:
        """Commit one record without a checkpoint. The record's cause says the position."""
        self._advance(position)
        self.checkpoint = replace(self.checkpoint, attempts=0, trying=0, tries=0)
        await self.fence.append_one(*message)

    async def move(self, position: int) -> None:
        """Commit the checkpoint of `position` alone."""
        self._advance(position)
        self.checkpoint = self.checkpoint.after(position, self.checkpoint.plan)
        await self.fence.move(self.checkpoint.encode_as)

    async def note_try(self, event: int, tries: int) -> None:
        """Note beside the checkpoint that this owner is about to decide the event at a position."""
        self.checkpoint = replace(self.checkpoint, trying=event, tries=tries)
        await self.fence.move(self.checkpoint.encode_as)

    def _advance(self, position: int) -> None:
        """Set the position before the commit is sent, because the next events are decided while it is under way."""
        self.position = position


async def take_over(installation: Installation, partition: int, worker: str, accepted: str = "") -> Claim:
    """Own `partition` from here on; raises `Fenced` if another worker was faster, `KindMissing`, or as `Wire` does.

    Where other tables decided before: raises `TablesDiffer`, unless `accepted` is the digest of the tables at hand.
    """
    kinds, subject = installation.kinds, installation.subjects.checkpoint(partition)
    found = await last_message_from_leader(installation.wire, installation.layout.log, subject)
    # The era is read after the checkpoint. A worker that notes other tables later moves the checkpoint, so that our
    # fence fails.
    era = await table_eras.latest(installation, partition)
    table_eras.check(kinds, era, partition, accepted)
    last = checkpoint.decode(found.data) if found else Checkpoint()
    own = replace(last, epoch=last.epoch + 1, worker=worker, attempts=last.attempts + 1)
    fence = Fence(installation.wire, installation.layout.log, subject, found.sequence if found else 0)
    await fence.move(own.encode_as)
    tree, highest = await load(installation, partition, own.epoch)
    # While a plan is under way, some records of its event are in the tree: the position is still before that event.
    position = max(last.position, highest) if last.plan is None else last.position
    log.info("partition_taken", partition=partition, epoch=own.epoch, entities=len(tree), position=position)
    claim = Claim(partition, tree, fence, own, position)
    if last.attempts and last.plan is None and position > last.position:
        # Lone records do not write the checkpoint: the former owner did get on.
        claim.checkpoint = replace(own, position=position, attempts=1, trying=0, tries=0)
        await fence.move(claim.checkpoint.encode_as)
    if era is None or era.digest != kinds.digest:
        # The event of a plan was decided by the former tables.
        begins = max(position, 0 if last.plan is None else last.plan.cause)
        await _note_tables(installation, claim, Era(begins, kinds.digest, kinds.versions, worker))
    return claim


async def _note_tables(installation: Installation, claim: Claim, era: Era) -> None:
    """Write into the log that other tables decide from here on."""
    message = Message(installation.subjects.tables(claim.partition), era.encode())
    await claim.append([message], claim.position, claim.checkpoint.plan)
    log.info("tables_noted", partition=claim.partition, tables=era.digest, position=era.position)


async def load(installation: Installation, partition: int, epoch: int) -> tuple[Tree, int]:
    """The partition's tree, and the position of the last event that made a record in it.

    STATE copies LOG in order. So the copy is complete once it holds the checkpoint of `epoch`.
    """
    tree, highest = installation.tree(), 0
    own = installation.subjects.state_checkpoint(partition)
    states = f"{installation.prefix}.state.{partition}.>"
    async with Reader(installation.wire, installation.layout.state, [states]) as reader:
        while True:
            found = await reader.take(LOAD, SLOW)
            if not found:
                log.warning("state_copy_behind", partition=partition, epoch=epoch)
            for stored in found:
                if stored.subject == own:
                    if checkpoint.decode(stored.data).epoch >= epoch:
                        return tree, highest
                    continue
                highest = max(highest, restore(tree, stored.data))
