"""The claim: a partition that this worker owns, and its commits.

Belongs here: what is kept beside the position in each checkpoint. Does not: making a commit safe (`fenced_commit`),
coming to own a partition (`takeover`).
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from phaseline.engine.core.message import BATCH_LIMIT, Message
from phaseline.engine.core.tree import Tree
from phaseline.engine.log.checkpoint import Checkpoint, Plan
from phaseline.engine.worker.ownership.fenced_commit import Fence
from phaseline.engine.worker.sites.origins import Origins, SavedOrigins


@dataclass(slots=True)
class Claim:
    """A partition that this worker owns: its tree, its fence, the last checkpoint, and its position.

    The position can be ahead of the checkpoint's, because `append_row` does not write a checkpoint. pending: how many
    events followed the one at the position when it was read. prefix: that of the installation.
    """

    partition: int
    tree: Tree
    fence: Fence
    checkpoint: Checkpoint
    position: int
    pending: int = 0
    prefix: str = "pl"
    former: str = ""
    """The worker that owned the partition before; empty if there was none."""
    origins: Origins = field(init=False)
    """What is remembered of the edges."""

    limit = BATCH_LIMIT
    """The most messages that one batch can hold beside the checkpoint."""

    def __post_init__(self) -> None:
        last = self.checkpoint
        self.origins = Origins(self.prefix, SavedOrigins(last.origins, last.until or last.position))

    async def append(self, messages: Sequence[Message], position: int, plan: Plan | None = None) -> None:
        """Commit `messages` and the checkpoint of `position` in one batch.

        The pieces of a plan have batches of their own: `as_of` finds the place of a record in its batch.
        """
        self._advance(position)
        shared = plan is None and self.checkpoint.plan is None
        self.checkpoint = self._next(position, plan)
        await self.fence.append(messages, self.checkpoint.encode_as, shared=shared)

    async def append_row(self, messages: Sequence[Message], position: int) -> None:
        """Commit records one after the other, without a checkpoint. The last record's cause says the position."""
        self._advance(position)
        self.checkpoint = replace(self.checkpoint, attempts=0, trying=0, triers=())
        for message in messages:
            await self.fence.append_one(message)

    async def move(self, position: int) -> None:
        """Commit the checkpoint of `position` alone."""
        self._advance(position)
        self.checkpoint = self._next(position, self.checkpoint.plan)
        await self.fence.move(self.checkpoint.encode_as)

    async def pass_over(self, position: int) -> None:
        """Commit that all events up to `position` are decided, because the last ones of these were repeats."""
        if position > max(self.position, self.checkpoint.position):
            await self.move(position)

    async def note_try(self, event: int, triers: tuple[str, ...]) -> None:
        """Note beside the checkpoint that the last of these workers is about to decide the event at a position."""
        self.checkpoint = replace(self.checkpoint, trying=event, triers=triers)
        await self.fence.move(self.checkpoint.encode_as)

    def blame(self) -> Callable[[], Awaitable[None]]:
        """A function for an error that the noted event causes: it lets this try count, though the worker lives.

        It does nothing once something was committed after the note.
        """
        *others, own = self.checkpoint.triers
        blamed, place = replace(self.checkpoint, triers=(*others, f"{own} (failed)")), self.fence.sequence

        async def note() -> None:
            if self.fence.sequence == place:
                await self.fence.move(blamed.encode_as)

        return note

    async def note(self, messages: Sequence[Message] = ()) -> None:
        """Commit `messages`, which decide no event, with a checkpoint of the same position and tries."""
        last = self.checkpoint
        tried = {"attempts": last.attempts, "trying": last.trying, "triers": last.triers}
        self.checkpoint = replace(self._next(self.position, last.plan), **tried)
        if messages:
            await self.fence.append(messages, self.checkpoint.encode_as)
        else:
            await self.fence.move(self.checkpoint.encode_as)

    @property
    def allows_rows(self) -> bool:
        """Whether records may be committed without a checkpoint: not if it must say from which edges events came."""
        return not self.origins.must_be_saved

    def vouch(self, position: int) -> None:
        """Remember, from the next checkpoint on, that no event up to this position waits to be decided."""
        self.checkpoint = replace(self.checkpoint, clear=max(position, self.checkpoint.clear or 0))

    @property
    def vouched(self) -> int:
        """The position up to which no event waits to be decided."""
        return max(self.position, self.checkpoint.clear or 0)

    def _advance(self, position: int) -> None:
        """Set the position before the commit is sent, because the next events are decided while it is under way."""
        self.position = position

    def _next(self, position: int, plan: Plan | None) -> Checkpoint:
        # While a plan is under way, the tree is ahead of what is committed.
        entities = self.checkpoint.entities if plan is not None else len(self.tree)
        clear, (origins, until) = self.checkpoint.clear or 0, self.origins.save(position)
        return replace(
            self.checkpoint.after(position, plan), entities=entities, pending=self.pending, clear=clear,
            origins=origins, until=0 if until == position else until,
        )  # fmt: skip
