"""Events of edges that EVENTS has taken twice: found before they are decided, and removed from EVENTS.

Belongs here: removing them, counting them. Does not: what makes an event a repeat (`edge.origins`).
A repeat is removed before the position moves past it. So whoever reads EVENTS later, a replay or an archive, finds each
event once, and no rule about repeats. A worker that ends in between finds it again, and a worker that has lost the
partition removes nothing else: an event that came before is a repeat, whoever owns the partition.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence

from phaseline.engine import logs
from phaseline.engine.core.counts.outcomes import Outcomes
from phaseline.engine.errors import PhaselineError
from phaseline.engine.jetstream.api_reply import can_pass
from phaseline.engine.jetstream.erase import delete
from phaseline.engine.jetstream.reader import Stored
from phaseline.engine.log.installation import Installation
from phaseline.engine.ownership.claim import Claim

AT_ONCE = 50
"""Repeats that are removed at the same time."""
PAUSE = 0.25
"""Seconds before the next try to remove one."""

log = logs.get_logger(__name__)


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
