"""The events of one partition, in the order in which EVENTS stores them.

Belongs here: reading them, which of them are at hand, removing those that came before. Does not: what makes an event of
an edge a repeat (`sites.origins`), deciding events (`partition`).
A repeat is removed from EVENTS before the position moves past it. So whoever reads EVENTS later, a replay or an
archive, finds each event once, and no rule about repeats. A worker that ends in between finds it again, and a worker
that has lost the partition removes nothing else: an event that came before is a repeat, whoever owns the partition.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence

from phaseline.engine import logs
from phaseline.engine.core.counts.outcomes import Outcomes
from phaseline.engine.log.installation import Installation
from phaseline.engine.nats.api_reply import can_pass
from phaseline.engine.nats.erase import delete
from phaseline.engine.nats.reader import Reader, Stored
from phaseline.engine.worker.deciding import rule_names
from phaseline.engine.worker.ownership.claim import Claim
from phaseline.machines.language.contact import HEARTBEAT
from phaseline.schemas.errors import PhaselineError
from phaseline.schemas.subjects import kind_in

SLICE = 1_000
"""Events taken at once, at most."""
AHEAD = 200
"""Waiting events that are worth deciding while a commit is under way. Fewer events wait until it is done."""
HEARTBEATS_WAIT = 0.5
"""Seconds that heartbeats wait for further ones before they are decided and committed together."""
LOOK_AGAIN = 0.1
"""Seconds after which heartbeats that wait look what has arrived."""
AT_ONCE = 50
"""Repeats that are removed at the same time."""
PAUSE = 0.25
"""Seconds before the next try to remove one."""

log = logs.get_logger(__name__)


class Inbox(Reader):
    """Reads the events of a partition.

    left_out: whether the last `take` found repeats. passed: the position of the last event that it found then.
    """

    def __init__(self, installation: Installation, number: int, claim: Claim, outcomes: Outcomes) -> None:
        """Read what follows the position of the claim. outcomes: count the repeats.

        Events up to that position are decided, and looked at only for their origins.
        """
        subject = installation.subjects.stored(number)
        start = claim.origins.start(claim.position)
        super().__init__(installation.wire, installation.layout.events, [subject], start)
        self._partition, self._outcomes = number, outcomes
        self._origins, self._position = claim.origins, claim.position
        self.left_out, self.passed = False, 0

    async def take(self, limit: int, timeout: float | None = None) -> list[Stored]:
        """As `Reader.take`, without repeats. An empty list says nothing about how long it waited."""
        taken = await super().take(limit, timeout)
        own = await self._without_repeats(taken)
        self.left_out = len(own) < len(taken)
        if self.left_out:
            self.passed = taken[-1].sequence
        return own

    async def _without_repeats(self, events: list[Stored]) -> list[Stored]:
        """The next events without those that came before, which are removed from EVENTS."""
        found = [one for one in self._origins.repeats(events) if one[1].sequence > self._position]
        if found:
            await self._remove(found)
            gone = {event.sequence for _, event in found}
            events = [event for event in events if event.sequence not in gone]
        if events and events[0].sequence <= self._position:
            events = [event for event in events if event.sequence > self._position]
        return events

    async def _remove(self, found: Sequence[tuple[str, Stored]]) -> None:
        for start in range(0, len(found), AT_ONCE):
            await asyncio.gather(*(self._delete(event.sequence) for _, event in found[start : start + AT_ONCE]))
        self._outcomes.repeat(len(found))
        for edge, count in Counter(edge for edge, _ in found).items():
            log.warning(
                "events_repeated", partition=self._partition, edge=edge, count=count, first=found[0][1].sequence,
                last=found[-1][1].sequence,
            )  # fmt: skip

    async def _delete(self, position: int) -> None:
        while True:
            try:
                await delete(self._wire, self.stream, position)
            except PhaselineError as error:
                if not can_pass(error):
                    log.warning("repeat_not_removed", partition=self._partition, position=position, error=str(error))
                    return
                await asyncio.sleep(PAUSE)
            else:
                return


class Supply:
    """The events of one partition that are at hand, and those that follow.

    events: what is not decided yet. slow: whether a rule that is code may run for one of them: that can take long,
    everything else cannot.
    """

    def __init__(self, installation: Installation, inbox: Inbox) -> None:
        self.inbox, self.events, self.slow = inbox, list[Stored](), False
        self._slow_kinds = frozenset(kind.name for kind in installation.kinds.values() if rule_names(kind))
        self._idle, self._place = installation.pacing.idle, installation.prefix.count(".") + 4
        """Which token of a stored event's subject is its kind. Its trigger follows."""

    async def fill(self) -> bool:
        """Take further events, if there is room; waits only if none is at hand. Whether to go on with what there is."""
        inbox = self.inbox
        if not self.events:
            self.events = await self._gathered(await inbox.take(SLICE, self._idle))
        elif len(self.events) < SLICE and inbox.buffered:
            # The few events that a commit had no room for would make a small commit, which costs as much.
            self.events += await inbox.take(SLICE - len(self.events))
        else:
            return True
        self.slow = any(map(self._may_be_slow, self.events))
        return bool(self.events) or not inbox.left_out  # else only repeats came

    async def _gathered(self, events: list[Stored]) -> list[Stored]:
        """These events and, if all of them are heartbeats, those that arrive before `HEARTBEATS_WAIT` is over.

        So many heartbeats share one commit. An event that is none ends the waiting after `LOOK_AGAIN` at most.
        """
        inbox, fresh, end = self.inbox, events, time.monotonic() + HEARTBEATS_WAIT
        while events and all(map(self._is_heartbeat, fresh)) and len(events) < SLICE and time.monotonic() < end:
            if inbox.interrupted:
                break
            await asyncio.sleep(LOOK_AGAIN)
            fresh = await inbox.take(SLICE - len(events)) if inbox.buffered else []
            events += fresh
        return events

    def _may_be_slow(self, event: Stored) -> bool:
        return kind_in(event.subject.split(".", self._place + 3), self._place - 1) in self._slow_kinds

    def _is_heartbeat(self, event: Stored) -> bool:
        tokens = event.subject.split(".", self._place + 2)
        return len(tokens) > self._place + 1 and tokens[self._place + 1] == HEARTBEAT

    def take(self, claim: Claim, count: int) -> list[int]:
        """Take the first events away, which are decided; when they were stored, ns."""
        if count:
            claim.pending = self.events[count - 1].pending
        stored = [event.time_ns for event in self.events[:count]]
        del self.events[:count]
        return stored

    @property
    def is_short(self) -> bool:
        """Whether so few events wait that they are better decided after the commit under way."""
        return self.inbox.buffered < AHEAD

    @property
    def passed(self) -> int:
        """The position up to which only repeats came, after what is decided; 0 if other events are at hand."""
        return 0 if self.events else self.inbox.passed

    @property
    def waiting(self) -> int:
        """How many events are stored and not decided."""
        return len(self.events) + self.inbox.buffered + (0 if self.inbox.idle else self.inbox.pending)

    @property
    def oldest_ns(self) -> int | None:
        """When the first of them was stored; None if there is none."""
        first = self.events[0] if self.events else self.inbox.oldest
        return None if first is None else first.time_ns
