"""Becoming a partition's owner: fence everybody else out, load what is committed, finish what was begun.

Belongs here: the steps from nothing to a tree that may be folded on (docs/design.md, Taking over a partition).
Does not: the loop that follows (`partition`), which worker should own what (`lease`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import structlog
from msgspec.structs import replace

from phaseline.engine.core.message import Message
from phaseline.engine.core.tree import Tree, restore
from phaseline.engine.jetstream.direct_get import last_message
from phaseline.engine.jetstream.reader import Reader
from phaseline.engine.jetstream.streams import Layout
from phaseline.engine.jetstream.wire import Wire
from phaseline.engine.log import checkpoint, table_eras
from phaseline.engine.log.checkpoint import Checkpoint, Plan
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.table_eras import Era
from phaseline.engine.scripts.runner import shared_runner
from phaseline.engine.worker.fenced_commit import Fence
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.subjects import Subjects

LOAD = 5_000
SLOW = 10.0
"""Seconds without a message after which a take-over says what it waits for."""

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Claim:
    """A partition owned: its tree as committed, its fence, and the checkpoint that stands. `position` is in EVENTS."""

    tree: Tree
    fence: Fence
    checkpoint: Checkpoint
    position: int

    async def append(self, messages: Sequence[Message], plan: Plan | None = None) -> None:
        """Commit `messages` in one batch with the checkpoint of where we are."""
        self.checkpoint = replace(self.checkpoint, position=self.position, plan=plan)
        await self.fence.append(messages, self.checkpoint.encode_as)

    async def move(self) -> None:
        """Commit the checkpoint of where we are, alone."""
        self.checkpoint = replace(self.checkpoint, position=self.position)
        await self.fence.move(self.checkpoint.encode_as)


async def take_over(wire: Wire, layout: Layout, kinds: Kinds, partition: int, worker: str, accepted: str = "") -> Claim:
    """Own `partition` from here on; raises `Fenced` where somebody else was faster, `KindMissing`, or as `Wire` does.

    Where other tables decided before: raises `TablesDiffer` unless those at hand are `accepted`.
    """
    subject = Subjects(layout.prefix).checkpoint(partition)
    found = await last_message(wire, layout.log, subject)
    # Read after the checkpoint: who changes the tables moves that, and our fence with it.
    era = await table_eras.latest(Installation(wire, layout, kinds), partition)
    table_eras.check(kinds, era, partition, accepted)
    last = checkpoint.decode(found.data) if found else Checkpoint()
    mine = replace(last, epoch=last.epoch + 1, worker=worker)
    fence = Fence(wire, layout.log, subject, found.sequence if found else 0)
    await fence.move(mine.encode_as)
    tree, highest = await load(wire, layout, kinds, partition, mine.epoch)
    log.info(
        "partition_taken",
        partition=partition,
        epoch=mine.epoch,
        entities=len(tree),
        position=max(last.position, highest),
    )
    claim = Claim(tree, fence, mine, max(last.position, highest) if last.plan is None else last.position)
    if era is None or era.digest != kinds.digest:
        # A cascade that is under way was decided before.
        behind = max(claim.position, 0 if last.plan is None else last.plan.cause)
        await _note(claim, layout, partition, Era(behind, kinds.digest, kinds.versions, worker))
    return claim


async def _note(claim: Claim, layout: Layout, partition: int, era: Era) -> None:
    """Say in the log that other tables decide from here on."""
    message = Message(Subjects(layout.prefix).tables(partition), era.encode())
    await claim.append([message], claim.checkpoint.plan)
    log.info("tables_noted", partition=partition, tables=era.digest, position=era.position)


async def load(wire: Wire, layout: Layout, kinds: Kinds, partition: int, epoch: int) -> tuple[Tree, int]:
    """The partition's tree, and the sequence of the last event that made a record in it.

    STATE copies LOG in order, so once the checkpoint of `epoch` has come through it, the copy is complete.
    """
    tree, highest = Tree(kinds, shared_runner()), 0
    subjects = Subjects(layout.prefix)
    own = subjects.state_checkpoint(partition)
    async with Reader(wire, layout.state, [f"{subjects.prefix}.state.{partition}.>"]) as reader:
        while True:
            found = await reader.take(LOAD, SLOW)
            if not found:
                log.warning("state_copy_behind", partition=partition, waiting_for_epoch=epoch)
            for stored in found:
                if stored.subject == own:
                    if checkpoint.decode(stored.data).epoch >= epoch:
                        return tree, highest
                    continue
                highest = max(highest, restore(tree, stored.data))
