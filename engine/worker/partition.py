"""The loop of one partition: fetch events, decide them, commit their records, go on (docs/design.md, The commit).

Belongs here: the loop, taking the partition over before it and leaving it after it; when to look for what is missing.
Does not: which events are at hand (`inbox`), how long deciding may take (`deciding`), rules (`core.decide`), commits
(`commits`), what is done about something missing (`ownership.event_loss`, `ownership.repair_timers`).
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from typing import TypeVar

from phaseline.engine.core.counts.outcomes import Outcomes
from phaseline.engine.core.process import Batch, Processor
from phaseline.engine.core.tree import Tree
from phaseline.engine.log.installation import Installation
from phaseline.engine.nats.reader import Reader, Stored
from phaseline.engine.settings import Settings
from phaseline.engine.worker.commits import Commits, WorkerShares
from phaseline.engine.worker.deciding import CAREFUL, Decider, DecidingThread, Tries, is_of_the_event
from phaseline.engine.worker.erasure import Erasure
from phaseline.engine.worker.inbox import Inbox, Supply
from phaseline.engine.worker.measures import Census, census
from phaseline.engine.worker.ownership import oversized_commit, repair_timers
from phaseline.engine.worker.ownership.claim import Claim
from phaseline.engine.worker.ownership.event_loss import LossWatch
from phaseline.engine.worker.ownership.load_states import Holding, PartitionStates
from phaseline.engine.worker.ownership.takeover import take_over
from phaseline.schemas.errors import NoAnswer


class ClaimWatch:
    """What a partition looks after now and then, between two commits: events that are dropped, timers that are gone."""

    def __init__(self, installation: Installation, claim: Claim) -> None:
        self._installation, self._claim = installation, claim
        self._losses = LossWatch(installation, claim)
        now, pacing = time.monotonic(), installation.pacing
        self._events_due, self._timers_due = now + pacing.look_at_events, now + pacing.look_at_timers

    @property
    def is_due(self) -> bool:
        """Whether it is time for a look."""
        return time.monotonic() >= self._events_due

    async def look(self, inbox: Reader, passed: int) -> None:
        """Look, and commit what follows. Call it while all that was decided is committed.

        passed: as for `Claim.pass_over`.
        """
        await self._losses.look(inbox)
        if time.monotonic() >= self._timers_due:
            await repair_timers.repair(self._installation, self._claim)
            self._timers_due = time.monotonic() + self._installation.pacing.look_at_timers
        self._events_due = time.monotonic() + self._installation.pacing.look_at_events
        await self._claim.pass_over(passed)


T = TypeVar("T")


class Partition:
    """One share of the trees. This process owns it while `run` runs."""

    def __init__(
        self, installation: Installation, number: int, worker: str, settings: Settings | None = None,
        shared: WorkerShares | None = None, states: PartitionStates | None = None,
    ) -> None:  # fmt: skip
        """`worker` is the owner's name in checkpoints and log lines.

        settings: what a take-over accepts. shared: with the other partitions of the worker. states: what of the states
        was read before.
        """
        self.installation, self.number, self.worker = installation, number, worker
        self._settings, self._shared = settings or Settings(), shared or WorkerShares()
        self.states: PartitionStates | None = states or PartitionStates(installation, number)
        """After `run` it may be kept for the next time; None if it may not."""
        self.outcomes = Outcomes()
        self.census = Census(Counter(), Counter())
        """What the tree held when the partition was taken over."""
        self.epoch = 0
        self.tree: Tree | None = None
        self.position = 0
        """The last event that is in the tree, committed or not."""
        self.commits = Commits(installation, number, self._shared)
        self._tries = Tries(number, worker, self._shared.living, installation.pacing.comes_back)
        self._thread = DecidingThread(f"partition-{number}", installation.pacing.stuck)
        self._supply: Supply | None = None
        self._claim: Claim | None = None

    async def run(self, stop: asyncio.Event) -> None:
        """Take the partition over and process its events until `stop`; raises `Fenced` once another worker owns it."""
        is_sound = True
        try:
            await self._run(stop)
        except Exception as error:
            is_sound = not is_of_the_event(error)
            if not is_sound:
                await self._tries.failed()
            raise
        finally:
            was_loaded, self.tree = self.tree is not None, None
            await self._leave(was_loaded=was_loaded, is_sound=is_sound)
            self._thread.close()
            self.commits.end()

    async def _run(self, stop: asyncio.Event) -> None:
        """Fetch, decide, commit, go on. Events are decided while the commit before them is under way."""
        claim = await self._taken_over()
        decider, watch = self._decider(claim), ClaimWatch(self.installation, claim)
        async with (
            Inbox(self.installation, self.number, claim, self.outcomes) as inbox,
            Erasure(self.installation, self.number, claim.fence.barrier) as erasure,
            self.commits as commits,
        ):
            self._supply = supply = Supply(self.installation, inbox)
            commits.after = lambda batch: self._committed(batch, erasure)
            while not stop.is_set():
                if watch.is_due:
                    await commits.wait()
                    await watch.look(inbox, supply.passed)
                if supply.is_short:
                    await commits.wait()
                if not await supply.fill():
                    continue
                batch = await self._decide(decider, claim, supply)
                await commits.wait()
                await commits.start(claim, batch, supply.take(claim, batch.events))

    async def _taken_over(self) -> Claim:
        """Own the partition, with its states. Those of which much is to be read wait for their turn."""
        settings, loading, states = self._settings, self._shared.loading, self.states
        async with nullcontext() if states is None or loading is None else loading.turn(states):
            began = time.monotonic()
            claim = await take_over(
                self.installation, self.number, self.worker, settings.accept_tables,
                accept_stranded=settings.accept_stranded, accept_loss=settings.accept_loss,
                silence_after=settings.silence_after, batches=self._shared.batches, states=self.states,
            )  # fmt: skip
            self._claim = claim
            await oversized_commit.resume(self.installation, claim)
            self.census, self.epoch = await census(claim.tree), claim.checkpoint.epoch
        self._shared.measures.taken_over(claim.former, time.monotonic() - began)
        return claim

    def _decider(self, claim: Claim) -> Decider:
        """What decides the events of a claim. From here on questions find its tree."""
        processor = Processor(
            claim.tree, self.installation.subjects, self.number, as_json=self.installation.layout.feed == "json",
            limit=claim.limit, traces=self._shared.tracing is not None,
        )  # fmt: skip
        self.outcomes, self.tree, self.position = processor.outcomes, claim.tree, claim.position
        return Decider(processor, self._thread, self.installation.pacing.slice_lasts)

    async def _decide(self, decider: Decider, claim: Claim, supply: Supply) -> Batch:
        """The next batch: the records of as many events at hand as fit it, and a slice's time."""
        events, in_thread = supply.events, supply.slow
        if claim.checkpoint.attempts >= CAREFUL and events:
            await self.commits.wait()
            events, in_thread = events[:1], True
            if ended := await self._tries.before(claim, events[0]):
                return self._decided(decider.processor.park(events[0], claim.position, ended))
        if in_thread:
            batch = await decider.decide(events, claim.position, in_thread=True)
        else:
            batch = await self._in_turn(decider, events, claim.position)
        batch = self._decided(batch)
        self._shared.measures.streak.take(events[: batch.events], batch.faults)
        return batch

    async def _in_turn(self, decider: Decider, events: list[Stored], position: int) -> Batch:
        """The next batch. The event loop looks at its sockets before the next slice of any partition.

        Otherwise it would first let each partition decide a slice, while commits and their answers wait.
        """
        turn = self._shared.turn
        await turn.acquire()
        try:
            return await decider.decide(events, position, in_thread=False)
        finally:
            asyncio.get_running_loop().call_soon(turn.release)

    def _decided(self, batch: Batch) -> Batch:
        """Note that a batch is in the tree."""
        self.commits.decided, self.position = self.commits.decided + 1, batch.position
        return batch

    def _committed(self, batch: Batch, erasure: Erasure) -> None:
        """Do what follows the commit of a batch."""
        self._tries.after()
        if batch.read_further:
            self._shared.read_further()
        if batch.secrets:
            erasure.add(batch.secrets)

    async def _leave(self, *, was_loaded: bool, is_sound: bool) -> None:
        """Read no more states, and note what the tree holds; forget it if that may be something else than the log."""
        states, claim, commits = self.states, self._claim, self.commits
        if states is None:
            return
        await states.close()
        if not is_sound or commits.decided != commits.committed or not self._thread.still.is_set():
            self.states = None
        elif claim is not None and was_loaded:
            last = claim.checkpoint
            await states.settle(Holding(claim.fence.sequence, last.epoch, last.worker), claim.position)
        elif states.is_used:  # a change of tables may have moved entities without a commit
            self.states = None

    @property
    def is_full(self) -> bool:
        """Whether a commit waits for room on the server, so that it may not end for long."""
        return not self._shared.room.is_set() or (self._claim is not None and self._claim.fence.is_full)

    def wake(self) -> None:
        """Look at once whether to stop, instead of waiting for events."""
        if self._supply is not None:
            self._supply.inbox.interrupt()

    @property
    def waiting(self) -> int | None:
        """How many events are stored and have no committed outcome yet; None until the partition is loaded."""
        if self._supply is None:
            return None
        return self._supply.waiting + self.commits.decided - self.commits.committed

    @property
    def oldest_ns(self) -> int | None:
        """When the first event was stored that has no committed outcome, of those that came; None if there is none."""
        if self.commits.oldest_ns is not None or self._supply is None:
            return self.commits.oldest_ns
        return self._supply.oldest_ns

    async def look(self, ask: Callable[[Tree], T]) -> tuple[T, int]:
        """What `ask` reads from the tree, and the position of the last event in it. Returns once both are committed.

        Raises `NoAnswer.not_owned` if the partition is not loaded, or is lost meanwhile.
        """
        while not self._thread.still.is_set():
            await self._thread.still.wait()
        if self.tree is None:
            raise NoAnswer.not_owned(partition=self.number)
        found, position = ask(self.tree), self.position
        committed = self.commits.under_way()
        if committed is not None:
            await asyncio.wait({committed})
            if committed.cancelled():
                raise NoAnswer.not_owned(partition=self.number)
        return found, position
