"""When EVENTS or LOG will be full, if they go on growing as in the last day.

Belongs here: how fast they grow, and what room there is. Does not: how full they are now (`installation_checks`).
Where LOG is archived, or EVENTS has a greatest age, what is stored says nothing about what stays, so nothing is said.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from phaseline.engine.log.archived import note as archived
from phaseline.engine.log.installation import Installation
from phaseline.engine.nats.embedded.server_key import NAME as KEY
from phaseline.engine.nats.stream_reader import reader_of
from phaseline.engine.nats.stream_settings.fill import Fill, size
from phaseline.engine.surfaces.doctor.check_result import CheckResult, warning
from phaseline.schemas.records import SECOND, nanoseconds, timestamp

DAY = 86_400.0
LEAST = 3_600.0
"""Seconds for which a stream must have been filled before its growth means something."""
SOON = 7 * DAY
"""Seconds before something is full from which somebody should know."""
ADVICE = "archive what is finished (`phaseline log archive`), or make room (A full disk, docs/trouble.md)"


class FilledRoom(NamedTuple):
    """A room that is filled. rate: bytes a second. free: bytes."""

    name: str
    rate: float
    free: int

    @property
    def seconds(self) -> float:
        """Until it is full at this rate."""
        return self.free / self.rate if self.rate > 0 else float("inf")


async def growth(installation: Installation, key: Path | None, least: float = LEAST) -> CheckResult | None:
    """A warning if something is full soon; None if not, or if there is too little to say so.

    key: the key of this user's `phaseline up`, whose disk is this machine's. least: seconds that count as a history.
    """
    if await archived.last(installation) is not None:
        return None
    return said(await _rooms(installation, key, least))


def said(rooms: Sequence[FilledRoom]) -> CheckResult | None:
    """The warning about the room that is full first; None if none is full soon."""
    first = min(rooms, key=lambda one: one.seconds, default=None)
    if first is None or first.seconds > SOON:
        return None
    days = first.seconds / DAY
    when = f"in {days:.1f} days" if days >= 1 else f"in {first.seconds / 3600:.1f} hours"
    grows = f"{size(int(first.rate * DAY))} a day"
    return warning("growth", f"{first.name} has {size(first.free)} left, and is full {when} at {grows}", ADVICE)


async def _rooms(installation: Installation, key: Path | None, least: float) -> list[FilledRoom]:
    wire, layout, rooms, whole = installation.wire, installation.layout, list[FilledRoom](), 0.0
    for name in (layout.events, layout.log):
        info = await wire.api(f"STREAM.INFO.{name}")
        fill, state = Fill.of(info), info["state"]
        if info["config"].get("max_age") or not state["messages"]:
            continue
        now, begun = nanoseconds(info["ts"]), nanoseconds(state["first_ts"])
        since = max(begun, now - int(DAY * SECOND))
        if now - since < least * SECOND:
            continue
        stored = int(state["last_seq"]) - await _last_before(installation, name, since, int(state["last_seq"]))
        rate = stored * fill.bytes / state["messages"] * SECOND / (now - since)
        whole += rate
        if fill.limit:
            rooms.append(FilledRoom(name, rate, max(0, fill.limit - fill.bytes)))
    found = await wire.api("INFO")
    if (limit := int(found["limits"]["max_storage"])) > 0:
        rooms.append(FilledRoom("the account's storage", whole, max(0, limit - int(found["storage"]))))
    if key is not None and key.name == KEY:
        rooms.append(FilledRoom(f"the disk of {key.parent}", whole, shutil.disk_usage(key.parent).free))
    return rooms


async def _last_before(installation: Installation, stream: str, since: int, last: int) -> int:
    """The number of the last message that a stream had before a time, ns."""
    async with reader_of(installation.wire, stream, [], timestamp(since)) as reader:
        if not reader.caught_up and (found := await reader.take(1)):
            return found[0].sequence - 1
    return last
