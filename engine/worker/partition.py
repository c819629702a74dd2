"""The loop of one partition: fetch events, decide them, commit their records, go on (docs/design.md, The commit).

Belongs here: the loop, and the choice of a commit's form. Does not: rules (`core.decide`), how long they may take
(`deciding`), making a commit safe (`ownership.fenced_commit`).
"""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Self, TypeVar

from phaseline.engine import logs
from phaseline.engine.core.counts.outcomes import Outcomes
from phaseline.engine.core.process import Batch, Processor
from phaseline.engine.core.tree import Tree
from phaseline.engine.faults import log_fault
from phaseline.engine.jetstream.api_reply import can_pass
from phaseline.engine.jetstream.reader import Stored
from phaseline.engine.log.installation import Installation
from phaseline.engine.ownership import oversized_commit
from phaseline.engine.ownership.atomic_batches import AtomicBatches
from phaseline.engine.ownership.claim import Claim
from phaseline.engine.ownership.claim_watch import ClaimWatch
from phaseline.engine.ownership.load_states import Holding, PartitionStates
from phaseline.engine.ownership.takeover import take_over
from phaseline.engine.worker.deciding import DecidingThread, Heartbeats, Pace, SlowKinds, SlowLog
from phaseline.engine.worker.erasure import Erasure
from phaseline.engine.worker.inbox import Inbox
from phaseline.engine.worker.measures import Census, Measures, census
from phaseline.schemas.errors import Fenced, NoAnswer, PhaselineError, SetupError

if TYPE_CHECKING:
    from phaseline.engine.worker.tracing import Tracing

T = TypeVar("T")
Living = Callable[[], Awaitable[frozenset[str]]]
"""Returns the names of the workers that are alive."""
SLICE = 1_000
"""Events taken at once, at most."""
IDLE = 0.5
"""Seconds after which an idle partition brings its checkpoint up to date."""
AHEAD = 200
"""Waiting events that are worth deciding while a commit is under way. Fewer events wait until it is done."""
FEW = 4
"""Records that one server stores faster one after the other than in a batch. In a cluster a batch is as fast as one."""

CAREFUL = 2
"""From how many owners in a row at one position on, an owner notes each event before it decides it."""
TRIES = 3
"""After how many workers that ended on the same noted event it is parked."""
RETURN = 3.0
"""Seconds in which a worker that has lost its connection comes back, and shows that it lives."""

log = logs.get_logger(__name__)


def _is_of_the_event(error: Exception) -> bool:
    """Whether an event may have caused this error: not NATS, another owner, or the installation."""
    if isinstance(error, Fenced | SetupError):
        return False
    return not (isinstance(error, PhaselineError) and can_pass(error))


class CommitSlot:
    """Runs at most one commit, so that the next events can be decided meanwhile. `wait` raises the commit's error."""

    def __init__(self) -> None:
        """No commit is under way yet."""
        self._under_way: asyncio.Task[None] | None = None

    async def start(self, commit: Coroutine[None, None, None], *, is_short: bool) -> None:
        """Start `commit`. Lets the task send its bytes now; later, deciding would block the event loop.

        is_short: whether it is soon done, so that a task is not worth its time; then wait for its end.
        """
        if is_short:
            await commit
            return
        self._under_way = asyncio.create_task(commit)
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    async def wait(self) -> None:
        """Wait until no commit is under way."""
        under_way, self._under_way = self._under_way, None
        if under_way is not None:
            await under_way

    async def __aenter__(self) -> Self:
        """Return the slot, with nothing under way."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Wait for the last commit."""
        await self.wait()


class Partition:
    """One share of the trees. This process owns it while `run` runs."""

    def __init__(
        self, installation: Installation, number: int, worker: str, accepted: str = "",
        *, accept_stranded: str = "", accept_loss: bool = False, living: Living | None = None,
        silence_after: float = 0.0, batches: AtomicBatches | None = None, measures: Measures | None = None,
        room: asyncio.Event | None = None, states: PartitionStates | None = None, tracing: "Tracing | None" = None,
        loading: asyncio.Semaphore | None = None,
    ) -> None:  # fmt: skip
        """`worker` is the owner's name in checkpoints and log lines. Those after `living` are for `take_over`.

        measures: what the worker measures; by default they are this partition's own. room: set while something may be
        committed. tracing: makes spans of commits. loading: lets some partitions load their states at the same time.
        """
        self._measures, self._tracing = measures or Measures(), tracing
        self._living, self._batches, self._room, self._loading = living, batches, room, loading
        self.states: PartitionStates | None = states or PartitionStates(installation, number)
        """What of the states was read before. After `run` it may be kept for the next time; None if it may not."""
        self.installation, self.accept_loss, self.silence_after = installation, accept_loss, silence_after
        self.number, self.worker, self.accepted, self.accept_stranded = number, worker, accepted, accept_stranded
        self.outcomes = Outcomes()
        self.census = Census(Counter(), Counter())
        """What the tree held when the partition was taken over."""
        self.epoch = 0
        self._committing: int | None = None
        """When the first event of the commit under way was stored, ns."""
        self.tree: Tree | None = None
        self.position = 0
        """The last event that is in the tree, committed or not."""
        self._blame: Callable[[], Awaitable[None]] | None = None
        """Notes that the event at hand causes errors. Only for an event that is noted, until its commit is stored."""
        self.decided = self.committed = 0
        """Numbers of batches. They differ while a batch is in the tree and not yet in the log."""
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []
        self._inbox: Inbox | None = None
        self._claim: Claim | None = None
        self._at_hand: list[Stored] = []
        """The events that were fetched last, without those that are decided."""
        self._erasure: Erasure | None = None
        self._still = asyncio.Event()
        """Set while no thread changes the tree."""
        self._still.set()
        self._slow_log = SlowLog()
        self._thread = DecidingThread(f"partition-{number}")

    async def run(self, stop: asyncio.Event) -> None:
        """Take the partition over and process its events until `stop`; raises `Fenced` once another worker owns it."""
        is_sound = True
        try:
            await self._run(stop)
        except Exception as error:
            is_sound = not _is_of_the_event(error)
            if self._blame is not None and not is_sound:
                with suppress(PhaselineError):
                    await self._blame()
            raise
        finally:
            was_loaded, self.tree = self.tree is not None, None
            await self._leave(was_loaded=was_loaded, is_sound=is_sound)
            self._thread.close()
            self._still.set()
            for _, waiting in self._waiting:
                waiting.cancel()

    async def _leave(self, *, was_loaded: bool, is_sound: bool) -> None:
        """Read no more states, and note what the tree holds; forget it if that may be something else than the log."""
        states, claim = self.states, self._claim
        if states is None:
            return
        await states.close()
        if not is_sound or self.decided != self.committed or not self._still.is_set():
            self.states = None
        elif claim is not None and was_loaded:
            last = claim.checkpoint
            await states.settle(Holding(claim.fence.sequence, last.epoch, last.worker), claim.position)
        elif states.is_used:  # a change of tables may have moved entities without a commit
            self.states = None

    async def _taken_over(self) -> Claim:
        """Own the partition, with its states. Those of which much is to be read wait for their turn."""
        is_ready = self.states is not None and self.states.is_ready
        async with nullcontext() if is_ready or self._loading is None else self._loading:
            began = time.monotonic()
            claim = await take_over(
                self.installation, self.number, self.worker, self.accepted,
                accept_stranded=self.accept_stranded, accept_loss=self.accept_loss, silence_after=self.silence_after,
                batches=self._batches, states=self.states,
            )  # fmt: skip
            self._claim = claim
            await oversized_commit.resume(self.installation, claim)
            self.census, self.epoch = await census(claim.tree), claim.checkpoint.epoch
        self._measures.taken_over(claim.former, time.monotonic() - began)
        return claim

    async def _run(self, stop: asyncio.Event) -> None:
        """Fetch, decide, commit, go on. Events are decided while the commit before them is under way."""
        claim = await self._taken_over()
        watch = ClaimWatch(self.installation, claim)
        as_json = self.installation.layout.feed == "json"
        processor = Processor(
            claim.tree, self.installation.subjects, self.number, as_json=as_json, limit=claim.limit,
            traces=self._tracing is not None,
        )  # fmt: skip
        self.outcomes, self.tree, self.position = processor.outcomes, claim.tree, claim.position
        async with (
            self._open_inbox(claim) as inbox,
            Erasure(self.installation, self.number) as self._erasure,
            CommitSlot() as slot,
        ):
            events: list[Stored] = []
            self._inbox = inbox
            beats = Heartbeats(self.installation.prefix)
            slow, slow_kinds = False, SlowKinds(self.installation.kinds, self.installation.prefix)
            while not stop.is_set():
                if watch.is_due:
                    await slot.wait()
                    await watch.look(inbox)
                    if not events:
                        await claim.pass_over(inbox.passed)
                if inbox.buffered < AHEAD:
                    await slot.wait()
                if not events:
                    events = await beats.gather(await inbox.take(SLICE, IDLE), inbox, SLICE)
                    if not events and inbox.left_out:  # only repeats came
                        continue
                    self._at_hand, slow = events, any(map(slow_kinds.has, events))
                elif len(events) < SLICE and inbox.buffered:
                    # The few events that a commit had no room for would make a small commit, which costs as much.
                    events += await inbox.take(SLICE - len(events))
                    slow = any(map(slow_kinds.has, events))
                if claim.checkpoint.attempts >= CAREFUL and events:
                    await slot.wait()
                    batch = await self._try(claim, processor, events[0])
                else:
                    batch = await self._decide(processor, events, claim.position, in_thread=slow)
                await slot.wait()
                if batch.events:
                    claim.pending = events[batch.events - 1].pending
                stored = [event.time_ns for event in events[: batch.events]]
                del events[: batch.events]
                await slot.start(self.commit(claim, batch, stored), is_short=0 < len(stored) <= FEW)
            await slot.wait()

    @property
    def is_full(self) -> bool:
        """Whether a commit waits for room on the server, so that it may not end for long."""
        waits = self._room is not None and not self._room.is_set()
        return waits or (self._claim is not None and self._claim.fence.is_full)

    def wake(self) -> None:
        """Look at once whether to stop, instead of waiting for events."""
        if self._inbox is not None:
            self._inbox.interrupt()

    @property
    def waiting(self) -> int | None:
        """How many events are stored and have no committed outcome yet; None until the partition is loaded."""
        if self._inbox is None:
            return None
        to_come = 0 if self._inbox.idle else self._inbox.pending
        return len(self._at_hand) + self._inbox.buffered + to_come + self.decided - self.committed

    @property
    def oldest_ns(self) -> int | None:
        """When the first event was stored that has no committed outcome, of those that came; None if there is none."""
        if self._committing is not None:
            return self._committing
        if self._at_hand:
            return self._at_hand[0].time_ns
        first = None if self._inbox is None else self._inbox.oldest
        return None if first is None else first.time_ns

    def _open_inbox(self, claim: Claim) -> Inbox:
        """The reader of this partition's events after the position of the claim."""
        return Inbox(self.installation, self.number, claim, self.outcomes)

    async def _decide(self, processor: Processor, events: Sequence[Stored], position: int, *, in_thread: bool) -> Batch:
        """The next batch: the records of as many of these events as fit it, and a slice's time."""
        pace = Pace()
        if in_thread:
            self._still.clear()
            try:
                batch = await self._thread.run(lambda: processor.process(events, position, pace), pace)
            except SetupError as error:
                if SetupError.decision_stuck.made(error):
                    at = events[pace.decided]
                    # The error says all, so there is no traceback.
                    log.error(  # noqa: TRY400
                        "decision_stuck", partition=self.number, position=at.sequence, subject=at.subject
                    )
                raise
            self._still.set()
        else:
            batch = processor.process(events, position, pace)
        for event, seconds in pace.slow:
            self._slow_log.add(processor, event, seconds)
        for fault in batch.faults:
            log_fault(*fault)
        self._decided(batch)
        self._measures.streak.take(events[: batch.events], batch.faults)
        return batch

    async def _try(self, claim: Claim, processor: Processor, event: Stored) -> Batch:
        """Decide one event after a note of it, because owners ended here; park it if they ended on this very event."""
        ended = await self._ended(claim.checkpoint.triers) if claim.checkpoint.trying == event.sequence else ()
        if len(ended) >= TRIES:
            log.error(
                "event_given_up",
                partition=self.number, position=event.sequence, subject=event.subject, workers=len(ended),
            )  # fmt: skip
            return self._decided(processor.park(event, claim.position, len(ended)))
        await claim.note_try(event.sequence, (*ended, self.worker))
        self._blame = claim.blame()
        return await self._decide(processor, [event], claim.position, in_thread=True)

    async def _ended(self, triers: tuple[str, ...]) -> tuple[str, ...]:
        """Those workers that have ended since they noted an event. The others only lost the partition, or NATS."""
        for seconds in (0.0, RETURN):
            await asyncio.sleep(seconds)
            living = {self.worker} if self._living is None else {self.worker, *await self._living()}
            triers = tuple(one for one in triers if one not in living)
            if len(triers) < TRIES:
                break
        return triers

    def _decided(self, batch: Batch) -> Batch:
        """Note that a batch is in the tree."""
        self.decided, self.position = self.decided + 1, batch.position
        return batch

    async def commit(self, claim: Claim, batch: Batch, stored: Sequence[int] = ()) -> None:
        """Store a batch, once there is room for it. stored: when its events were stored, ns."""
        if self._room is not None and not self._room.is_set():
            await self._room.wait()
        self._committing, began = (stored[0] if stored else None), time.monotonic()
        with nullcontext() if self._tracing is None else self._tracing.commit(batch, self.number, self.epoch):
            await self._store(claim, batch)
        self.committed += 1
        self._blame = self._committing = None
        if stored:
            self._measures.committed(stored, len(batch.messages), time.monotonic() - began)
        if batch.secrets and self._erasure is not None:
            self._erasure.add(batch.secrets)
        if self._waiting:
            self._wake()

    async def _store(self, claim: Claim, batch: Batch) -> None:
        """Store a batch in the cheapest form that is safe."""
        longest_row = 1 if self.installation.wire.clustered else FEW
        if len(batch.messages) > claim.limit:
            await oversized_commit.commit(self.installation, claim, batch.messages, batch.position)
        elif batch.is_row and claim.allows_rows and len(batch.messages) <= longest_row:
            await claim.append_row(batch.messages, batch.position)
        elif batch.messages:
            await claim.append(batch.messages, batch.position)
        elif claim.checkpoint.position < batch.position:
            await claim.move(batch.position)

    async def look(self, ask: Callable[[Tree], T]) -> tuple[T, int]:
        """What `ask` reads from the tree, and the position of the last event in it. Returns once both are committed.

        Raises `NoAnswer.not_owned` if the partition is not loaded, or is lost meanwhile.
        """
        while not self._still.is_set():
            await self._still.wait()
        if self.tree is None:
            raise NoAnswer.not_owned(partition=self.number)
        found, position = ask(self.tree), self.position
        committed = self.commit_under_way()
        if committed is not None:
            await asyncio.wait({committed})
            if committed.cancelled():
                raise NoAnswer.not_owned(partition=self.number)
        return found, position

    def commit_under_way(self) -> asyncio.Future[None] | None:
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
