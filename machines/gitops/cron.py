"""Cron schedules with five fields, as Argo CD reads them.

Belongs here: parsing, and the next time of a schedule. croniter finds that time; what croniter accepts and Argo CD does
not is refused here. Does not: windows (`sync_windows`).
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from phaseline.schemas import libraries

DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
FIELDS = (
    ("minute", 0, 59, ()),
    ("hour", 0, 23, ()),
    ("day of the month", 1, 31, ()),
    ("month", 1, 12, MONTHS),
    ("day of the week", 0, 6, DAYS),
)
_PART = re.compile(r"(\*|\?|\w+)(?:-(\w+))?(?:/(\d+))?")
_DAILY = re.compile(r"(\d\d?):(\d\d)-(\d\d?):(\d\d)")


class BadSchedule(ValueError):
    """A schedule is wrong. The message says what is wrong."""


@dataclass(frozen=True, slots=True)
class CronSchedule:
    """A schedule in croniter's notation. zone: the one in the schedule's own prefix."""

    text: str
    zone: ZoneInfo | None = None

    def after(self, moment: datetime) -> datetime | None:
        """The first time of the schedule after a time; None if there is none for years."""
        with libraries.needed("croniter", "a sync window"):
            from croniter import CroniterBadDateError, croniter  # noqa: PLC0415  # the extra `gitops` installs it
        start = moment if self.zone is None else moment.astimezone(self.zone)
        try:
            found = croniter(self.text, start).get_next(datetime)
        except (CroniterBadDateError, OverflowError):
            return None
        return found.astimezone(UTC)


def parse(text: str) -> CronSchedule:
    """Parse a schedule; raises `BadSchedule`."""
    fields, zone = text.split(), None
    if fields and fields[0].startswith(("TZ=", "CRON_TZ=")):
        zone = _zone(fields.pop(0).partition("=")[2])
    if len(fields) != len(FIELDS):
        raise BadSchedule(
            f"schedule {text!r} must have five fields (minute, hour, day, month, day of the week), found {len(fields)}"
        )
    return CronSchedule(" ".join(_field(one, *about) for one, about in zip(fields, FIELDS, strict=True)), zone)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise BadSchedule(f"there is no time zone {name!r}") from error


def _field(text: str, called: str, low: int, high: int, names: tuple[str, ...]) -> str:
    return ",".join(_range(part, called, low, high, names) for part in text.split(","))


def _range(text: str, called: str, low: int, high: int, names: tuple[str, ...]) -> str:
    """A part of a field in full: `5/15` runs to the end of the range, `?` and `*/1` become `*`."""
    found = _PART.fullmatch(text)
    if found is None:
        raise BadSchedule(f"{called} {text!r} is no number, range (1-5) or step (*/2)")
    first, last, step = found[1], found[2], int(found[3] or 1)
    if step == 0:
        raise BadSchedule(f"{called} {text!r}: a step of 0 leads nowhere")
    if first in ("*", "?"):
        if last is not None:
            raise BadSchedule(f"{called} {text!r}: {first} begins no range")
        return "*" if step == 1 else f"{low}-{high}/{step}"
    start = _number(first, called, low, high, names)
    end = _number(last, called, low, high, names) if last is not None else high if found[3] else start
    if end < start:
        raise BadSchedule(f"{called} {text!r}: the range ends before it begins")
    return str(start) if start == end else f"{start}-{end}/{step}"


def _number(text: str, called: str, low: int, high: int, names: tuple[str, ...]) -> int:
    if text.lower() in names:
        return names.index(text.lower()) + low
    if not text.isascii() or not text.isdigit() or not low <= int(text) <= high:
        raise BadSchedule(f"{called} must be from {low} to {high}, found {text!r}")
    return int(text)


def daily(text: str) -> tuple[CronSchedule, timedelta] | None:
    """`10:00-18:00` as a daily schedule and its length; it may run past midnight. None for other texts."""
    found = _DAILY.fullmatch(text.strip())
    if found is None:
        return None
    hour, minute, to_hour, to_minute = map(int, found.groups())
    if hour > 23 or to_hour > 24 or max(minute, to_minute) > 59 or to_hour * 60 + to_minute > 24 * 60:
        raise BadSchedule(f"{text!r}: hours go from 0 to 24, minutes from 0 to 59")
    length = (to_hour * 60 + to_minute - hour * 60 - minute) % (24 * 60) or 24 * 60
    return CronSchedule(f"{minute} {hour} * * *"), timedelta(minutes=length)
