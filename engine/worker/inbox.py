"""The events of one partition, in the order in which EVENTS stores them.

Belongs here: reading them, and removing those that came before. Does not: what makes an event of an edge a repeat
(`edge.origins`), deciding events (`partition`).
A repeat is removed from EVENTS before the position moves past it. So whoever reads EVENTS later, a replay or an
archive, finds each event once, and no rule about repeats. A worker that ends in between finds it again, and a worker
that has lost the partition removes nothing else: an event that came before is a repeat, whoever owns the partition.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence

from phaseline.engine import logs
from phaseline.engine.core.counts.outcomes import Outcomes
from phaseline.engine.jetstream.api_reply import can_pass
from phaseline.engine.jetstream.erase import delete
from phaseline.engine.jetstream.reader import Reader, Stored
from phaseline.engine.log.installation import Installation
from phaseline.engine.ownership.claim import Claim
from phaseline.schemas.errors import PhaselineError

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
        """Read what follows the position of the claim. outcomes: count the repeats."""
        subject = installation.subjects.stored(number)
        start = claim.origins.start(claim.position)
        super().__init__(installation.wire, installation.layout.events, [subject], start)
        self._repeats = Repeats(installation, number, claim, outcomes)
        self.left_out, self.passed = False, 0

    async def take(self, limit: int, timeout: float | None = None) -> list[Stored]:
        """As `Reader.take`, without repeats. An empty list says nothing about how long it waited."""
        taken = await super().take(limit, timeout)
        own = await self._repeats.without(taken)
        self.left_out = len(own) < len(taken)
        if self.left_out:
            self.passed = taken[-1].sequence
        return own


class Repeats:
    """The repeats among the events of one partition."""

    def __init__(self, installation: Installation, partition: int, claim: Claim, outcomes: Outcomes) -> None:
        """Events up to the position of the claim are decided, and looked at only for their origins."""
        self._installation, self._partition, self._outcomes = installation, partition, outcomes
        self._origins, self._position = claim.origins, claim.position

    async def without(self, events: list[Stored]) -> list[Stored]:
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
        wire, events = self._installation.wire, self._installation.layout.events
        while True:
            try:
                await delete(wire, events, position)
            except PhaselineError as error:
                if not can_pass(error):
                    log.warning("repeat_not_removed", partition=self._partition, position=position, error=str(error))
                    return
                await asyncio.sleep(PAUSE)
            else:
                return
