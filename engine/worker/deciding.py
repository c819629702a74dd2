"""How long deciding may take: slices that end by time, rules in a thread of their own, events that never end.

Belongs here: `Pace` and `SlowLog` (time per slice and per event), `DecidingThread`. Does not: the loop that uses them
(`partition`), deciding (`core.process`), limits counted in work (the rules themselves).
"""

import asyncio
import queue
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from phaseline.engine import logs
from phaseline.engine.core.intake import address_of
from phaseline.engine.core.process import InboxEvent, Processor
from phaseline.engine.jetstream.reader import Reader, Stored
from phaseline.machines.compiler.fingerprint import declarations
from phaseline.machines.compiler.kinds import Kind, Kinds
from phaseline.machines.language.contact import FORGETS, HEARS, HEARTBEAT
from phaseline.schemas.errors import SetupError
from phaseline.schemas.subjects import kind_in

T = TypeVar("T")
SLICE_SECONDS = 0.05
"""Seconds of deciding after which a slice ends and is committed."""
SLOW_SECONDS = 0.1
"""Seconds above which the decision of one event is logged."""
HEARTBEATS_WAIT = 0.5
"""Seconds that heartbeats wait for further ones before they are decided and committed together."""
LOOK_AGAIN = 0.1
"""Seconds after which heartbeats that wait look what has arrived."""
STUCK_SECONDS = 20
"""Seconds after which the decision of one event counts as stuck, and its worker ends."""
LOGGED = 10
"""Slow decisions that are logged in `MINUTE` seconds; the next line says how many more there were."""
MINUTE = 60.0

log = logs.get_logger(__name__)


def rule_names(kind: Kind) -> tuple[str, ...]:
    """The names of the rules of a kind that are code and may take long."""
    names = {declared.revision.name for declared in declarations(kind.table)}
    return tuple(sorted(names.difference((HEARS, FORGETS))))


class Pace:
    """The time that a slice takes, told to the processor after each event."""

    def __init__(self) -> None:
        """The slice begins now."""
        self._last = time.monotonic()
        self._end = self._last + SLICE_SECONDS
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


class SlowLog:
    """Logs slow decisions of one partition, not too often."""

    def __init__(self) -> None:
        """Nothing is logged yet."""
        self._began, self._logged, self._more = 0.0, 0, 0

    def add(self, processor: Processor, event: InboxEvent, seconds: float) -> None:
        """Log that a decision of `processor` took so long, and which rules the event may have run."""
        now = time.monotonic()
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


class SlowKinds:
    """Which stored events are of kinds whose rules are code. Such rules can take long; everything else cannot."""

    def __init__(self, kinds: Kinds, prefix: str) -> None:
        """`prefix`: that of the installation."""
        self._kinds = frozenset(kind.name for kind in kinds.values() if rule_names(kind))
        self._root = prefix.count(".") + 3
        """Which token of a stored event's subject is the root of its tree."""

    def has(self, event: InboxEvent) -> bool:
        """Whether an event is of such a kind."""
        return kind_in(event.subject.split(".", self._root + 4), self._root) in self._kinds


class Heartbeats:
    """Lets heartbeats wait for each other, so that many of them share one commit. Other events hardly wait for them."""

    def __init__(self, prefix: str) -> None:
        """`prefix`: that of the installation."""
        self._place = prefix.count(".") + 5
        """Which token of a stored event's subject is its trigger."""

    async def gather(self, events: list[Stored], inbox: Reader, limit: int) -> list[Stored]:
        """These events and, if all of them are heartbeats, those that arrive before `HEARTBEATS_WAIT` is over.

        An event that is none ends the waiting after `LOOK_AGAIN` at most.
        """
        fresh, end = events, time.monotonic() + HEARTBEATS_WAIT
        while events and all(map(self.is_one, fresh)) and len(events) < limit and time.monotonic() < end:
            if inbox.interrupted:
                break
            await asyncio.sleep(LOOK_AGAIN)
            fresh = await inbox.take(limit - len(events)) if inbox.buffered else []
            events += fresh
        return events

    def is_one(self, event: Stored) -> bool:
        """Whether an event is a heartbeat."""
        tokens = event.subject.split(".", self._place + 1)
        return len(tokens) > self._place and tokens[self._place] == HEARTBEAT


class DecidingThread:
    """One thread in which slow rules run, so that leases, signals and probes never wait for them.

    It ends with the process even while a rule runs. It starts when it is first used.
    """

    def __init__(self, name: str) -> None:
        """`name`: of the thread."""
        self._name = name
        self._asked: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    async def run(self, call: Callable[[], T], pace: Pace) -> T:
        """The result of a call in the thread; raises `SetupError.decision_stuck` if one event takes `STUCK_SECONDS`."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name=self._name, daemon=True)
            self._thread.start()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        self._asked.put(lambda: _answer(loop, answer, call))
        # Seconds are counted, not measured: a process that was frozen has decided nothing meanwhile.
        decided, seconds = pace.decided, 0
        while not (await asyncio.wait({answer}, timeout=1.0))[0]:
            seconds = seconds + 1 if pace.decided == decided else 0
            decided = pace.decided
            if seconds >= STUCK_SECONDS:
                raise SetupError.decision_stuck(seconds=seconds)
        return answer.result()

    def close(self) -> None:
        """End the thread once its call is done."""
        self._asked.put(None)

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
