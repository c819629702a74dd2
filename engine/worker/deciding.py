"""How long deciding may take: slices that end by time, rules in a thread of their own, events that never end.

Belongs here: `Pace` (time per slice and per event), `Decider` and its `DecidingThread`, `Tries` (events that end
workers). Does not: the loop that uses them (`partition`), deciding (`core.process`), limits counted in work (the rules
themselves).
"""

import asyncio
import queue
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TypeVar

from phaseline.engine import logs
from phaseline.engine.core.intake import address_of
from phaseline.engine.core.process import Batch, InboxEvent, Processor
from phaseline.engine.nats.api_reply import can_pass
from phaseline.engine.nats.reader import Stored
from phaseline.engine.worker.faults import log_fault
from phaseline.engine.worker.ownership.claim import Claim
from phaseline.machines.compiler.fingerprint import declarations
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.language.rules import RESERVED
from phaseline.schemas.errors import Fenced, PhaselineError, SetupError

T = TypeVar("T")
Living = Callable[[], Awaitable[frozenset[str]]]
"""Returns the names of the workers that are alive."""
SLOW_SECONDS = 0.1
"""Seconds above which the decision of one event is logged."""
CAREFUL = 2
"""From how many owners in a row at one position on, an owner notes each event before it decides it."""
TRIES = 3
"""After how many workers that ended on the same noted event it is parked."""
LOGGED = 10
"""Slow decisions that are logged in `MINUTE` seconds; the next line says how many more there were."""
MINUTE = 60.0

log = logs.get_logger(__name__)


def rule_names(kind: Kind) -> tuple[str, ...]:
    """The names of the rules of a kind that are code and may take long: all but those of the table language."""
    names = {declared.revision.name for declared in declarations(kind.table)}
    return tuple(sorted(name for name in names if not name.startswith(RESERVED)))


class Pace:
    """The time that a slice takes, told to the processor after each event."""

    def __init__(self, seconds: float) -> None:
        """The slice begins now. seconds: after which it ends."""
        self._last = time.monotonic()
        self._end = self._last + seconds
        self.decided = 0
        """How many events of the slice are decided."""
        self.slow: list[tuple[InboxEvent, float]] = []
        """The events that took long, with their seconds."""

    def __call__(self, event: InboxEvent) -> bool:
        """Note that an event is decided; whether the slice ends."""
        now = time.monotonic()
        self.decided += 1
        if now - self._last > SLOW_SECONDS:
            self.slow.append((event, now - self._last))
        self._last = now
        return now >= self._end


class DecidingThread:
    """One thread in which slow rules run, so that leases, signals and probes never wait for them.

    It ends with the process even while a rule runs. It starts when it is first used.
    """

    def __init__(self, name: str, stuck: float) -> None:
        """`name`: of the thread. stuck: seconds after which the decision of one event counts as stuck."""
        self._name, self._stuck = name, stuck
        self._asked: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self.still = asyncio.Event()
        """Set while the thread changes nothing. A call that fails leaves it unset: nobody knows what it has changed."""
        self.still.set()

    async def run(self, call: Callable[[], T], pace: Pace) -> T:
        """The result of a call in the thread; raises `SetupError.decision_stuck` if one event takes too long."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name=self._name, daemon=True)
            self._thread.start()
        self.still.clear()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        self._asked.put(lambda: _answer(loop, answer, call))
        # Seconds are counted, not measured: a process that was frozen has decided nothing meanwhile.
        decided, seconds, computed = pace.decided, 0.0, self._computed()
        while not (await asyncio.wait({answer}, timeout=1.0))[0]:
            now = self._computed()
            spent, computed = now - computed, now
            seconds = 0.0 if pace.decided != decided else seconds + (spent if spent > 0.001 else 1.0)  # it waits
            decided = pace.decided
            if seconds >= self._stuck:
                raise SetupError.decision_stuck(seconds=round(seconds))
        found = answer.result()
        self.still.set()
        return found

    def _computed(self) -> float:
        """For how many seconds the thread has computed; by the clock where the system does not say."""
        thread, can_say = self._thread, hasattr(time, "pthread_getcpuclockid")
        # The clock of a thread that has ended must not be read.
        if thread is None or thread.ident is None or not (can_say and thread.is_alive()):
            return time.monotonic()
        return time.clock_gettime(time.pthread_getcpuclockid(thread.ident))

    def close(self) -> None:
        """End the thread once its call is done, and let nobody wait for it."""
        self._asked.put(None)
        self.still.set()

    def _serve(self) -> None:
        while (call := self._asked.get()) is not None:
            call()


def _answer(loop: asyncio.AbstractEventLoop, answer: asyncio.Future[T], call: Callable[[], T]) -> None:
    """Run a call in the thread and hand its result to the loop, which may have ended meanwhile."""

    def done(result: T | None, error: BaseException | None) -> None:
        if not answer.done():
            answer.set_exception(error) if error is not None else answer.set_result(result)  # type: ignore[arg-type]

    try:
        result, error = call(), None
    except BaseException as raised:  # noqa: BLE001  # the loop raises it again
        result, error = None, raised
    if not loop.is_closed():
        loop.call_soon_threadsafe(done, result, error)


class Decider:
    """Decides the events of one partition: at once, or in a thread where rules may take long. Logs what took long."""

    def __init__(self, processor: Processor, thread: DecidingThread, seconds: float) -> None:
        """seconds: of a slice."""
        self.processor, self._thread, self._seconds = processor, thread, seconds
        self._began, self._logged, self._more = 0.0, 0, 0

    async def decide(self, events: Sequence[Stored], position: int, *, in_thread: bool) -> Batch:
        """The next batch: the records of as many of these events as fit it, and a slice's time."""
        pace = Pace(self._seconds)
        if in_thread:
            batch = await self._in_thread(events, position, pace)
        else:
            batch = self.processor.process(events, position, pace)
        for event, seconds in pace.slow:
            self._log_slow(event, seconds)
        for fault in batch.faults:
            log_fault(*fault)
        return batch

    async def _in_thread(self, events: Sequence[Stored], position: int, pace: Pace) -> Batch:
        try:
            return await self._thread.run(lambda: self.processor.process(events, position, pace), pace)
        except SetupError as error:
            if SetupError.decision_stuck.made(error):
                at, number = events[pace.decided], self.processor.partition
                # The error says all, so there is no traceback.
                log.error("decision_stuck", partition=number, position=at.sequence, subject=at.subject)  # noqa: TRY400
            raise

    def _log_slow(self, event: InboxEvent, seconds: float) -> None:
        """Log that a decision took so long, and which rules the event may have run; not too often."""
        now, processor = time.monotonic(), self.processor
        if now - self._began > MINUTE:
            self._began, self._logged = now, 0
        if self._logged >= LOGGED:
            self._more += 1
            return
        self._logged += 1
        kinds, address = processor.tree.kinds, address_of(processor.subjects, event.subject)
        kind, trigger, entity_id = address[:3] if address else ("-", "-", event.subject)
        log.warning(
            "slow_decision", partition=processor.partition, position=event.sequence, kind=kind, trigger=trigger,
            id=entity_id, rules=list(rule_names(kinds[kind])) if kind in kinds else [],
            milliseconds=round(seconds * 1_000), more=self._more,
        )  # fmt: skip
        self._more = 0


class Tries:
    """Notes each event before it is decided, where owners ended: so an event that ends workers is found and parked."""

    def __init__(self, number: int, worker: str, living: Living | None, comes_back: float) -> None:
        """living: without it, the others have ended. comes_back: seconds within which they show that they live."""
        self._number, self._worker, self._living, self._comes_back = number, worker, living, comes_back
        self._blame: Callable[[], Awaitable[None]] | None = None
        """Notes that the event at hand causes errors. Only for an event that is noted, until its commit is stored."""

    async def before(self, claim: Claim, event: Stored) -> int:
        """Note an event; if it is to be parked instead, how many workers have ended on it."""
        ended = await self._ended(claim.checkpoint.triers) if claim.checkpoint.trying == event.sequence else ()
        if len(ended) >= TRIES:
            log.error(
                "event_given_up",
                partition=self._number, position=event.sequence, subject=event.subject, workers=len(ended),
            )  # fmt: skip
            return len(ended)
        await claim.note_try(event.sequence, (*ended, self._worker))
        self._blame = claim.blame()
        return 0

    async def _ended(self, triers: tuple[str, ...]) -> tuple[str, ...]:
        """Those workers that have ended since they noted an event. The others only lost the partition, or NATS."""
        for seconds in (0.0, self._comes_back):
            await asyncio.sleep(seconds)
            living = {self._worker} if self._living is None else {self._worker, *await self._living()}
            triers = tuple(one for one in triers if one not in living)
            if len(triers) < TRIES:
                break
        return triers

    def after(self) -> None:
        """Blame nothing any more: what was noted is committed."""
        self._blame = None

    async def failed(self) -> None:
        """Blame the event that is noted, if there is one, for an error."""
        if self._blame is not None:
            with suppress(PhaselineError):
                await self._blame()


def is_of_the_event(error: Exception) -> bool:
    """Whether an event may have caused this error: not NATS, another owner, or the installation."""
    if isinstance(error, Fenced | SetupError):
        return False
    return not (isinstance(error, PhaselineError) and can_pass(error))
