"""The commits of a partition, one at a time, and those who wait for them.

Belongs here: the choice of a commit's form, what precedes and what follows each one. Does not: making a commit safe
(`ownership.fenced_commit`), deciding what is committed (`deciding`).
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from phaseline.engine.core.process import Batch
from phaseline.engine.log.installation import Installation
from phaseline.engine.worker.deciding import Living
from phaseline.engine.worker.measures import Measures
from phaseline.engine.worker.ownership import oversized_commit
from phaseline.engine.worker.ownership.atomic_batches import AtomicBatches
from phaseline.engine.worker.ownership.claim import Claim
from phaseline.engine.worker.ownership.load_together import Loading

if TYPE_CHECKING:
    from phaseline.engine.worker.tracing import Tracing

FEW = 4
"""Records that one server stores faster one after the other than in a batch. In a cluster a batch is as fast as one."""


def _open() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event


@dataclass
class WorkerShares:
    """What the partitions of one worker share."""

    measures: Measures = field(default_factory=Measures)
    room: asyncio.Event = field(default_factory=_open)
    """Set while something may be committed."""
    batches: AtomicBatches | None = None
    """What lets small commits share batches."""
    living: Living | None = None
    loading: Loading | None = None
    """Says whose turn it is to load."""
    tracing: "Tracing | None" = None
    """Makes spans of commits."""
    read_further: Callable[[], None] = lambda: None
    """Called when a reporter has read further than the log goes."""
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held from the decisions of a slice until the event loop has looked at its sockets."""


class Commits:
    """The commits of one partition: at most one is under way, so that the next events can be decided meanwhile."""

    def __init__(self, installation: Installation, number: int, shared: WorkerShares) -> None:
        self._installation, self._number, self._shared = installation, number, shared
        self.decided = self.committed = 0
        """Numbers of batches. They differ while a batch is in the tree and not yet in the log."""
        self.oldest_ns: int | None = None
        """When the first event of the commit under way was stored."""
        self.after: Callable[[Batch], None] = lambda _: None
        """Called with each batch that is committed."""
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []
        self._under_way: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Return the commits, with none under way."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Wait for the last one."""
        await self.wait()

    async def start(self, claim: Claim, batch: Batch, stored: Sequence[int]) -> None:
        """Start to commit a batch; a short one is waited for, because a task is not worth its time.

        Lets the task send its bytes now; later, deciding would block the event loop. stored: when the events were
        stored, ns.
        """
        commit = self.commit(claim, batch, stored)
        if 0 < len(stored) <= FEW:
            await commit
            return
        self._under_way = asyncio.create_task(commit)
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    async def wait(self) -> None:
        """Wait until none is under way; raises the error of the commit."""
        under_way, self._under_way = self._under_way, None
        if under_way is not None:
            await under_way

    async def commit(self, claim: Claim, batch: Batch, stored: Sequence[int] = ()) -> None:
        """Store a batch, once there is room for it."""
        shared = self._shared
        if not shared.room.is_set():
            await shared.room.wait()
        self.oldest_ns, began = (stored[0] if stored else None), time.monotonic()
        span = nullcontext() if shared.tracing is None else shared.tracing.commit(
            batch, self._number, claim.checkpoint.epoch
        )  # fmt: skip
        with span:
            await self._store(claim, batch)
        self.committed += 1
        self.oldest_ns = None
        if stored:
            shared.measures.committed(stored, len(batch.messages), time.monotonic() - began)
        self.after(batch)
        if self._waiting:
            self._wake()

    async def _store(self, claim: Claim, batch: Batch) -> None:
        """Store a batch in the cheapest form that is safe."""
        longest_row = 1 if self._installation.wire.clustered else FEW
        if len(batch.messages) > claim.limit:
            await oversized_commit.commit(self._installation, claim, batch.messages, batch.position)
        elif batch.is_row and claim.allows_rows and len(batch.messages) <= longest_row:
            await claim.append_row(batch.messages, batch.position)
        elif batch.messages:
            await claim.append(batch.messages, batch.position)
        elif claim.checkpoint.position < batch.position:
            await claim.move(batch.position)

    def under_way(self) -> asyncio.Future[None] | None:
        """A future that ends once all that is decided is committed; None if it is. Cancelled with the partition."""
        if self.decided == self.committed:
            return None
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((self.decided, waiting))
        return waiting

    def _wake(self) -> None:
        """Wake those who wait for a batch that is committed."""
        for decided, waiting in self._waiting:
            if decided <= self.committed and not waiting.done():
                waiting.set_result(None)
        self._waiting = [(decided, waiting) for decided, waiting in self._waiting if not waiting.done()]

    def end(self) -> None:
        """Let nobody wait any longer."""
        for _, waiting in self._waiting:
            waiting.cancel()
