"""What a partition looks after now and then, between two commits: events that are dropped, timers that are gone.

Belongs here: when to look. Does not: what is done about it (`event_loss`, `repair_timers`).
"""

import time

from phaseline.engine.log.installation import Installation
from phaseline.engine.nats.reader import Reader
from phaseline.engine.worker.ownership import repair_timers
from phaseline.engine.worker.ownership.claim import Claim
from phaseline.engine.worker.ownership.event_loss import LossWatch


class ClaimWatch:
    """The looks at one claim."""

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
