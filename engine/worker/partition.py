"""One partition's loop: fetch, decide, commit, go on (docs/design.md, The commit).

Belongs here: the loop, and which form a commit takes. Does not: rules (`decide`), how a commit is made safe (`commit`).
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Self, TypeVar

from phaseline.engine.core.process import BATCH_LIMIT, Batch, EventCounts, Processor
from phaseline.engine.core.tree import Tree
from phaseline.engine.errors import NotOwned
from phaseline.engine.faults import log_fault
from phaseline.engine.jetstream.reader import Reader, Stored
from phaseline.engine.jetstream.streams import Layout
from phaseline.engine.jetstream.wire import Wire
from phaseline.engine.worker import oversized_commit
from phaseline.engine.worker.takeover import Claim, take_over
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.subjects import Subjects

T = TypeVar("T")
SLICE = 1_000
"""Events taken at once, at most."""
IDLE = 0.5
"""Seconds after which an idle partition brings its checkpoint up to date."""
AHEAD = 200
"""Waiting events that are worth folding while a commit is under way; fewer gather until it is done."""


class Pipe:
    """At most one commit under way, so that the next slice can be folded meanwhile. What it raises comes out at `empty`."""

    def __init__(self) -> None:
        """Start with none."""
        self._under_way: asyncio.Task[None] | None = None

    async def put(self, commit: Coroutine[None, None, None]) -> None:
        """Begin `commit`, and see its bytes off before anything else is computed."""
        self._under_way = asyncio.create_task(commit)
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    async def empty(self) -> None:
        """Wait until nothing is under way."""
        under_way, self._under_way = self._under_way, None
        if under_way is not None:
            await under_way

    async def __aenter__(self) -> Self:
        """Nothing to prepare."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """See the last commit through."""
        await self.empty()


class Partition:
    """One share of the trees, owned by this process while `run` runs."""

    def __init__(self, wire: Wire, layout: Layout, kinds: Kinds, number: int, worker: str, accepted: str = "") -> None:
        """`worker` names the process in checkpoints and logs. accepted: tables to go on by, as `take_over` has it."""
        self.wire, self.layout, self.kinds = wire, layout, kinds
        self.number, self.worker, self.accepted = number, worker, accepted
        self.counts = EventCounts()
        self.tree: Tree | None = None
        self.position = self.folded = self.committed = 0
        self._looking: list[tuple[int, asyncio.Future[None]]] = []

    async def run(self, stop: asyncio.Event) -> None:
        """Take over, then fold events until `stop`; raises `Fenced` when somebody else has the partition."""
        try:
            await self._run(stop)
        finally:
            self.tree = None
            for _, looking in self._looking:
                looking.cancel()

    async def _run(self, stop: asyncio.Event) -> None:
        claim = await take_over(self.wire, self.layout, self.kinds, self.number, self.worker, self.accepted)
        await oversized_commit.resume(self.wire, self.layout, self.number, claim)
        folder = Processor(claim.tree, Subjects(self.layout.prefix), self.number)
        self.counts, self.tree, self.position = folder.counts, claim.tree, claim.position
        inbox = Subjects(self.layout.prefix).stored(self.number)
        async with Reader(self.wire, self.layout.events, [inbox], start=claim.position + 1) as events, Pipe() as pipe:
            held: list[Stored] = []
            while not stop.is_set():
                if events.buffered < AHEAD:
                    await pipe.empty()
                held = held or await events.take(SLICE, IDLE)
                commit = folder.process(held, claim.position)
                self.folded, self.position = self.folded + 1, commit.position
                for fault in commit.faults:
                    log_fault(*fault)
                del held[: commit.events]
                await pipe.empty()
                await pipe.put(self.commit(claim, commit))

    async def commit(self, claim: Claim, commit: Batch) -> None:
        """Make a commit last, in the cheapest form that is safe."""
        behind = claim.position if len(commit.messages) > BATCH_LIMIT else commit.position
        moved, claim.position = claim.checkpoint.position < commit.position, behind
        if len(commit.messages) > BATCH_LIMIT:
            await oversized_commit.commit(self.wire, self.layout, self.number, claim, commit.messages, commit.position)
        elif commit.is_single:
            await claim.fence.append_one(*commit.messages[0])
        elif commit.messages:
            await claim.append(commit.messages)
        elif moved:
            await claim.move()
        self.committed += 1
        if self._looking:
            self._let_see()

    async def look(self, ask: Callable[[Tree], T]) -> tuple[T, int]:
        """What `ask` finds in the tree, and the last event that it takes into account, in EVENTS; once that is committed.

        Raises `NotOwned` where the partition is not loaded, or is lost meanwhile.
        """
        if self.tree is None:
            raise NotOwned(partition=self.number)
        found, position = ask(self.tree), self.position
        if self.folded > self.committed:
            looking: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._looking.append((self.folded, looking))
            await asyncio.wait({looking})
            if looking.cancelled():
                raise NotOwned(partition=self.number)
        return found, position

    def _let_see(self) -> None:
        """Tell who looked at what is committed by now."""
        for folded, looking in self._looking:
            if folded <= self.committed and not looking.done():
                looking.set_result(None)
        self._looking = [(folded, looking) for folded, looking in self._looking if not looking.done()]
