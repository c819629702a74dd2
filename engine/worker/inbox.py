"""The events of one partition, in the order in which EVENTS stores them.

Belongs here: which events a partition reads, and leaving out those of others and those that came before (`repeats`).
Does not: deciding them (`partition`).
EVENTS stores an event under the bucket of its tree. A partition of the first division is a bucket. One of a later
division reads all buckets in which trees of it may lie, and leaves out what other partitions decide, or have decided.
"""

from phaseline.engine.core.counts.outcomes import Outcomes
from phaseline.engine.jetstream.reader import Reader, Stored
from phaseline.engine.log.installation import Installation
from phaseline.engine.ownership.claim import Claim
from phaseline.engine.worker.repeats import Repeats


class Inbox(Reader):
    """Reads the events of a partition.

    left_out: whether the last `take` found events of other partitions, or repeats. passed: the position up to which
    `take` has returned all that is the partition's own; 0 where it has left nothing out.
    """

    def __init__(self, installation: Installation, number: int, claim: Claim, outcomes: Outcomes) -> None:
        """Read what follows the position of the claim. outcomes: count the repeats."""
        subject = installation.subjects.stored(installation.reach(number))
        start = claim.origins.start(claim.position)
        super().__init__(installation.wire, installation.layout.events, [subject], start)
        self._number, self._opening = number, claim.opening
        self._repeats = Repeats(installation, number, claim, outcomes)
        self._division = installation.layout.division
        self._selects = self._division.generation > 0
        self._place = installation.prefix.count(".") + 3
        """Which token of a stored event's subject is the root."""
        self.left_out, self.passed = False, 0

    async def take(self, limit: int, timeout: float | None = None) -> list[Stored]:
        """As `Reader.take`, without the events of others. An empty list says nothing about how long it waited."""
        taken = await super().take(limit, timeout)
        own = [event for event in taken if self._is_own(event)] if self._selects else taken
        own = await self._repeats.without(own)
        self.left_out = len(own) < len(taken)
        if taken and (self._selects or self.left_out):
            self.passed = taken[-1].sequence
        return own

    @property
    def oldest(self) -> Stored | None:
        """The first event of the partition that came and was not taken; None if there is none."""
        return next((event for event in self._buffer if not self._selects or self._is_own(event)), None)

    def following(self, event: Stored) -> int:
        """How many events of the partition followed an event when it was read, at least."""
        return 0 if self._selects else event.pending

    def _is_own(self, event: Stored) -> bool:
        root = event.subject.split(".", self._place + 1)[self._place]
        if self._division.number_of(root) != self._number:
            return False
        return self._opening is None or not self._opening.has_decided(root, event.sequence)
