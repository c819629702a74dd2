"""Loads the history of a fleet from LOG and its archive, in the background, and keeps it up to date.

Belongs here: how much of the log is read, and joining it with what comes meanwhile. Does not: what a history knows
(`history`).
"""

import asyncio
import sys
import time
from collections.abc import Sequence

from msgspec.structs import replace

from phaseline.engine import logs
from phaseline.engine.log.as_of import AsOf
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log import Log
from phaseline.engine.log.log_records import logged
from phaseline.engine.log.state_view import Pattern
from phaseline.engine.log.when import Moment
from phaseline.engine.surfaces.http.fleet.cascades import PlacedMessage
from phaseline.engine.surfaces.http.fleet.follower import Follower
from phaseline.engine.surfaces.http.fleet.history import FleetHistory, HistoryBegin
from phaseline.schemas.errors import BadArchive, NoAnswer, PhaselineError
from phaseline.schemas.records import Transition
from phaseline.schemas.subjects import quoted_id

SLICE = 20
"""Messages after which requests have a turn. Each request takes some turns, and a page makes some twenty requests."""
AT_ONCE = 50
"""Entities whose earlier records are asked for at once: each has a subject for each state, of at most 1,024."""
LOADING = "what happened before is still being read: ask again soon"
LARGER = 1.1
"""A history may grow by this factor before its oldest part goes."""

log = logs.get_logger(__name__)


class HistoryLoader:
    """The history of one fleet, once it is loaded: `history`. most: how many transitions it holds."""

    def __init__(self, follower: Follower, most: int) -> None:
        self.history: FleetHistory | None = None
        self.problem: str | None = LOADING
        """Why there is no history; None if there is."""
        self._follower, self._most = follower, most
        self._waiting: list[PlacedMessage] = []
        self._is_left_out = False

    def covers(self, place: int) -> bool:
        """Whether the history knows all states at a place."""
        return self.history is not None and place >= self.history.begins

    def take(self, group: Sequence[PlacedMessage]) -> None:
        """New messages of whole events, which the fleet has taken."""
        if self.history is None:
            if not self._is_left_out:
                self._waiting += [placed for placed in group if placed.record is not None]
            return
        self._add(self.history, group)
        if len(self.history) > self._most * LARGER:
            self.history.forget(self._most, len(self._follower.fleet))

    async def run(self) -> None:
        """Load the history. An error leaves it out: earlier places are then read from the log, one by one."""
        installation = self._follower.installation
        try:
            await self._follower.is_exact.wait()
            while self.history is None:
                try:
                    self.history = await self._load(installation)
                except NoAnswer as error:
                    if not NoAnswer.archived_meanwhile.made(error):  # else a part of it is in the archive now
                        raise
                except BadArchive as error:
                    log.warning("archive_unreadable", error=str(error))
                    installation = replace(installation, archive=None)
            self.problem = None
        except PhaselineError as error:
            log.warning("history_not_loaded", error=str(error))
            self._is_left_out, self.problem = True, f"what happened before cannot be read: {error}"
            self._waiting.clear()

    async def _load(self, installation: Installation) -> FleetHistory:
        fleet, end = self._follower.fleet, self._follower.exact_at
        began, filter_ = time.monotonic(), f"{installation.prefix}.log.*.transition.>"
        begins = await self._first_place(installation, end)
        history, base = FleetHistory(begins), HistoryBegin()
        async with Log(installation).reader([filter_], begins + 1) as reader:
            while not reader.caught_up:
                for stored in await reader.take(SLICE):
                    found = logged(installation.layout.log, stored) if stored.sequence <= end else None
                    if found is not None and isinstance(found.record, Transition):
                        base.take(fleet, found.record)
                        history.take(fleet, stored.sequence, stored.time_ns, found.record)
                await asyncio.sleep(0)
        records = await self._before(installation, base, begins)
        waiting, self._waiting = self._waiting, []
        self._add(history, waiting)
        history.rest_on(base.columns(fleet, records))
        seconds = round(time.monotonic() - began, 3)
        log.info("history_loaded", transitions=len(history), place=begins, seconds=seconds)
        return history

    async def _first_place(self, installation: Installation, end: int) -> int:
        """The place where the history begins: as early as all is known and not too much."""
        begins = await Log(installation).begins()
        info = await installation.wire.api(f"STREAM.INFO.{installation.layout.log}")
        messages = int(info["state"]["messages"])
        is_short = messages <= self._most and begins.streamed
        return max(begins.place, 0 if is_short else end - self._most)

    async def _before(self, installation: Installation, base: HistoryBegin, place: int) -> dict[int, Transition | None]:
        """The last record at a place of all that has changed since, by number; None where the log has it no more."""
        fleet, found = self._follower.fleet, dict[int, Transition | None]()
        view = AsOf(installation, Moment(place, 0))
        # An archive is read as a whole anyway.
        at_once = AT_ONCE if not place or await Log(installation).past(place) is None else sys.maxsize
        while True:
            for placed in self._waiting:
                if isinstance(placed.record, Transition):
                    base.take(fleet, placed.record)
            missing = [number for number in base.unknown() if number not in found] if place else []
            if not missing:
                return found
            for first in range(0, len(missing), at_once):
                numbers = missing[first : first + at_once]
                found |= dict.fromkeys(numbers)
                named = [fleet.last[number].entity for number in numbers]
                patterns = [Pattern(installation.partition_of(one.id), one.kind, quoted_id(one.id)) for one in named]
                for record in await view.matching(patterns):
                    number = fleet.number(record.entity.kind, record.entity.id)
                    if number is not None:
                        found[number] = record

    def _add(self, history: FleetHistory, group: Sequence[PlacedMessage]) -> None:
        for placed in group:
            if isinstance(placed.record, Transition):
                history.take(self._follower.fleet, placed.place, placed.time_ns, placed.record)
