"""Cron schedules with five fields, as Argo CD reads them.

Belongs here: parsing, the time of a schedule before or after another one. Does not: windows (`sync_windows`).
A search steps over months and days, never over minutes, so that rare schedules cost no more than others. General
libraries step through each time; their search of a rare schedule takes milliseconds.
"""

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

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
DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)
YEARS = 5
"""How many years a search looks ahead, as in Argo CD."""
_DAILY = re.compile(r"(\d\d?):(\d\d)-(\d\d?):(\d\d)")


class BadSchedule(ValueError):
    """A schedule is wrong. The message says what is wrong."""


@dataclass(frozen=True, slots=True)
class CronSchedule:
    """A schedule. times: minutes of the day, ascending. zone: the one in the schedule's own prefix; None is UTC.

    days: days of the month. weekdays: 0 is Sunday. either: a day fits if one of both fits; otherwise both must fit.
    """

    times: tuple[int, ...]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    either: bool = False
    zone: ZoneInfo | None = None

    def after(self, moment: datetime) -> datetime | None:
        """The first time of the schedule after a time; None if there is none for years."""
        return self._search(moment, 1)

    def before(self, moment: datetime) -> datetime | None:
        """The last time of the schedule before a time; None if there was none for years."""
        return self._search(moment, -1)

    def _search(self, moment: datetime, step: int) -> datetime | None:
        """The nearest time after a time (`step` is 1) or before it (-1)."""
        try:
            day = self._day(moment.astimezone(self.zone or UTC).date(), step)
            while day is not None:
                start, minutes = self._times_on(day)
                passed = moment - start
                later = bisect_right(minutes, passed // MINUTE)
                earlier = bisect_left(minutes, -(-passed // MINUTE))
                found = minutes[later:][:1] if step > 0 else minutes[:earlier][-1:]
                if found:
                    return start + found[0] * MINUTE
                day = self._day(day + step * DAY, step)
        except OverflowError:  # the calendar ends
            return None
        return None

    def _day(self, day: date, step: int) -> date | None:
        """The first day of the schedule from `day` on, forwards (`step` is 1) or backwards (-1)."""
        for _ in range(12 * YEARS + 1):
            month = day.month
            if month not in self.months:
                day = _month_after(day) if step > 0 else day.replace(day=1) - DAY
                continue
            while day.month == month:
                if self._fits(day):
                    return day
                day += step * DAY
        return None

    def _fits(self, day: date) -> bool:
        in_month, in_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return in_month or in_week if self.either else in_month and in_week

    def _times_on(self, day: date) -> tuple[datetime, tuple[int, ...]]:
        """The start of a day that fits, and the times on it, in minutes since that start."""
        midnight = datetime(day.year, day.month, day.day, tzinfo=self.zone or UTC)
        start = midnight.astimezone(UTC)
        if self.zone is None or midnight.utcoffset() == (midnight + DAY).utcoffset():
            return start, self.times
        # On this day the clock is put forward or back: it skips times, or shows them twice.
        shown = [midnight + minute * MINUTE for minute in self.times]
        real = {one.replace(fold=fold).astimezone(UTC) for one in shown for fold in (0, 1)}
        names = {one.replace(tzinfo=None) for one in shown}
        there = [one for one in real if one.astimezone(self.zone).replace(tzinfo=None, fold=0) in names]
        return start, tuple(sorted((one - start) // MINUTE for one in there))


@lru_cache(maxsize=1024)
def parse(text: str) -> CronSchedule:
    """Parse a schedule; raises `BadSchedule`."""
    fields, zone = text.split(), None
    if fields and fields[0].startswith(("TZ=", "CRON_TZ=")):
        zone = _zone(fields.pop(0).partition("=")[2])
    if len(fields) != len(FIELDS):
        raise BadSchedule(
            f"schedule {text!r} must have five fields (minute, hour, day, month, day of the week), found {len(fields)}"
        )
    minutes, hours, days, months, weekdays = (_field(one, *about) for one, about in zip(fields, FIELDS, strict=True))
    return CronSchedule(
        times=tuple(hour * 60 + minute for hour in sorted(hours.numbers) for minute in sorted(minutes.numbers)),
        days=days.numbers, months=months.numbers, weekdays=weekdays.numbers,
        either=not days.is_any and not weekdays.is_any, zone=zone,
    )  # fmt: skip


def _month_after(day: date) -> date:
    """The first day of the next month."""
    return (day.replace(day=28) + 4 * DAY).replace(day=1)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise BadSchedule(f"there is no time zone {name!r}") from error


class CronField(NamedTuple):
    """The numbers of a field. is_any: it is `*`, so that it does not restrict the day."""

    numbers: frozenset[int]
    is_any: bool


def _field(text: str, called: str, low: int, high: int, names: tuple[str, ...]) -> CronField:
    parts = [_range(part, called, low, high, names) for part in text.split(",")]
    return CronField(frozenset().union(*(one.numbers for one in parts)), any(one.is_any for one in parts))


def _range(text: str, called: str, low: int, high: int, names: tuple[str, ...]) -> CronField:
    """A part of a field: `5/15` runs to the end of the range, `?` and `*/1` mean `*`."""
    found = _PART.fullmatch(text)
    if found is None:
        raise BadSchedule(f"{called} {text!r} is no number, range (1-5) or step (*/2)")
    first, last, step = found[1], found[2], _number_of(found[3] or "1")
    if step == 0:
        raise BadSchedule(f"{called} {text!r}: a step of 0 leads nowhere")
    if first in ("*", "?"):
        if last is not None:
            raise BadSchedule(f"{called} {text!r}: {first} begins no range")
        return CronField(frozenset(range(low, high + 1, step)), is_any=step == 1)
    start = _number(first, called, low, high, names)
    end = _number(last, called, low, high, names) if last is not None else high if found[3] else start
    if end < start:
        raise BadSchedule(f"{called} {text!r}: the range ends before it begins")
    return CronField(frozenset(range(start, end + 1, step)), is_any=False)


def _number_of(text: str) -> int:
    """A step; Python refuses to convert thousands of digits, and all large steps are the same."""
    return min(int(text[:1_000]), 9_999)


def _number(text: str, called: str, low: int, high: int, names: tuple[str, ...]) -> int:
    if text.lower() in names:
        return names.index(text.lower()) + low
    if not text.isascii() or not text.isdigit() or not low <= _number_of(text) <= high:
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
    return parse(f"{minute} {hour} * * *"), timedelta(minutes=length)
