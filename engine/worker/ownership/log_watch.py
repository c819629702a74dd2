"""Looks whether the log was put back while this worker works, and lets it take its partitions over anew then.

Belongs here: when to look, what shows it beside the streams' own times. Does not: the new identity
(`ownership.identity_keeping`), what follows in a partition (`ownership.takeover`).
The fence ends a partition whose checkpoint was put back. One that has committed nothing since the backup has the same
fence in both logs; so has a log of which only EVENTS was put back.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from phaseline.engine import logs
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.restored import identity
from phaseline.engine.nats.direct_get import last_sequence
from phaseline.engine.worker.ownership import identity_keeping
from phaseline.schemas.errors import ApiFailed, NoAnswer, SetupError

SHORTER = "is shorter than it was: files of the server were put back"
READ_FURTHER = "a reporter has read further than this log goes"

log = logs.get_logger(__name__)


class LogWatch:
    """The looks of one worker. anew: gives its partitions up, so that they are taken over anew."""

    def __init__(self, installation: Installation, worker: str, anew: Callable[[], Awaitable[None]]) -> None:
        """Nothing is known yet."""
        self._installation, self._worker, self._anew = installation, worker, anew
        self._known = identity.UNKNOWN
        self._ends: dict[str, int] = {}
        """The last sequence that each stream had."""
        self._shorter: set[str] = set()
        """The streams that were shorter at the last look. A new leader may know less for a moment."""
        self._is_due = asyncio.Event()
        """Set once a reporter has read further than the log goes."""

    def look_soon(self) -> None:
        """Note that a reporter has read further than this log goes."""
        self._is_due.set()

    async def run(self) -> None:
        """Look for ever."""
        while True:
            with suppress(NoAnswer, ApiFailed, SetupError):
                await self.look()
            with suppress(TimeoutError):
                async with asyncio.timeout(self._installation.pacing.look_at_log):
                    await self._is_due.wait()

    async def look(self) -> None:
        """Look once."""
        note = await identity_keeping.ensured(self._installation, self._worker, await self._why(), self._known)
        if self._known not in (identity.UNKNOWN, note.number):
            self._ends.clear()
            log.warning("partitions_taken_anew", worker=self._worker, log=note.number)
            await self._anew()
        self._known = note.number

    async def _why(self) -> str:
        """What shows that the log was put back, beside the times at which its streams were made; empty for nothing."""
        shorter = {name for name in self._names if await self._is_shorter(name)}
        lasting, self._shorter = shorter & self._shorter, shorter
        is_told = self._is_due.is_set()
        self._is_due.clear()
        if lasting:
            return f"{' and '.join(sorted(lasting))} {SHORTER}"
        if is_told:
            known = await identity.last(self._installation)
            if known is not None and not identity_keeping.is_recent(known):
                return READ_FURTHER
        return ""

    @property
    def _names(self) -> tuple[str, str]:
        return self._installation.layout.log, self._installation.layout.events

    async def _is_shorter(self, name: str) -> bool:
        last = await last_sequence(self._installation.wire, name)
        if last >= self._ends.get(name, 0):
            self._ends[name] = last
            return False
        return True
