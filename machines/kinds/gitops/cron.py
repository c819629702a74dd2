"""Cron schedules with five fields, as Argo CD reads them.

Belongs here: parsing, the first and last time of a schedule. Does not: windows (`sync_windows`).
The days of a month that fit are the bits of one number, so a search looks at a few months and costs some microseconds
whatever the schedule. General libraries step through each day; their search of a rare schedule takes milliseconds.
"""

import re
from bisect import bisect_left, bisect_right
from calendar import isleap
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

import msgspec

DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
FIELDS = (
    ("minute", 0, 59, ()),
    ("hour", 0, 23, ()),
    ("day of the month", 1, 31, ()),
    ("month", 1, 12, MONTHS),
    ("day of the week", 0, 6, DAYS),
)
_PART = re.compile(r"(\*|\?|\w+)(?:-(\w+))?(?:/([0-9]+))?")
DAY, MINUTE = 24 * 60, timedelta(minutes=1)
"""A day in minutes; a minute."""
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
EPOCH = BEGINNING.toordinal()
FIRST_YEAR, LAST_YEAR = 2, 9_998
FIRST_DAY, LAST_DAY = (date(year, 1, 1).toordinal() - EPOCH for year in (FIRST_YEAR, LAST_YEAR))
"""The days between which is searched, counted from 1970; so no time zone leads beyond the calendar."""
WEEK = range(7)
ALL_DAYS = (1 << 32) - 2
LENGTHS = (0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
"""The most days of each month."""
YEARS = 5
"""How many years a search looks ahead, as in Argo CD."""
_DAILY = re.compile(r"(\d\d?):(\d\d)-(\d\d?):(\d\d)", re.ASCII)


class BadSchedule(ValueError):
    """A schedule is wrong. The message says what is wrong."""


class CronSchedule(msgspec.Struct, frozen=True):
    """A schedule. times: minutes of the day, ascending. zone: the one in the schedule's own prefix; None is UTC.

    months: those in which some day may fit, ascending. days: days of the month, as bits (bit 1 is the first).
    weeks: for each weekday of the first of a month (0 is Sunday), the days of the month that fit by weekday, as bits.
    either: a day fits if one of both fits; otherwise both must fit.
    """

    times: tuple[int, ...]
    days: int
    months: tuple[int, ...]
    weeks: tuple[int, ...]
    either: bool = False
    zone: ZoneInfo | None = None

    @property
    def is_daily(self) -> bool:
        """Whether it comes on every day, at the same times."""
        return self.zone is None and len(self.months) == 12 and all(self._fits(31, first) == ALL_DAYS for first in WEEK)

    @property
    def is_weekly(self) -> bool:
        """Whether only weekdays restrict its days, so that it repeats after a week."""
        return self.zone is None and len(self.months) == 12 and self.days == ALL_DAYS and not self.either

    def first(self, minute: int) -> int | None:
        """The first time of the schedule from this one on, in minutes since 1970; None if there is none for years."""
        day = self._day_from(self._local_day(minute))
        while day is not None:
            if self.zone is None:
                place = bisect_left(self.times, minute - day * DAY)
                if place < len(self.times):
                    return day * DAY + self.times[place]
            for begins, low, high in _segments(self.zone, day):
                place = bisect_left(self.times, max(low, minute - begins))
                if place < len(self.times) and self.times[place] < high:
                    return begins + self.times[place]
            day = self._day_from(day + 1)
        return None

    def last(self, minute: int) -> int | None:
        """The last time of the schedule up to this one, in minutes since 1970; None if there was none for years."""
        day = self._day_to(self._local_day(minute))
        while day is not None:
            for begins, low, high in reversed(_segments(self.zone, day)):
                place = bisect_left(self.times, min(high, minute - begins + 1)) - 1
                if place >= 0 and self.times[place] >= low:
                    return begins + self.times[place]
            day = self._day_to(day - 1)
        return None

    def _local_day(self, minute: int) -> int:
        """The day in the schedule's zone, counted from 1970."""
        return (minute + (0 if self.zone is None else _offset(self.zone, minute))) // DAY

    def _day_from(self, day: int) -> int | None:
        """The first day of the schedule from `day` on, both counted from 1970."""
        if not self.months or not FIRST_DAY <= day <= LAST_DAY:
            return None
        date_ = date.fromordinal(day + EPOCH)
        year, month, least = date_.year, date_.month, date_.day
        place = bisect_left(self.months, month)
        end = (year + YEARS, month)
        while True:
            if place == len(self.months):
                year, place = year + 1, 0
            if (year, self.months[place]) > end or year > LAST_YEAR:
                return None
            least = least if self.months[place] == month and year == date_.year else 1
            begins = date(year, self.months[place], 1).toordinal()
            fitting = self._fits(_length(year, self.months[place]), begins % 7) >> least << least
            if fitting:
                return begins - EPOCH + (fitting & -fitting).bit_length() - 2
            place += 1

    def _day_to(self, day: int) -> int | None:
        """The last day of the schedule up to `day`, both counted from 1970."""
        if not self.months or not FIRST_DAY <= day <= LAST_DAY:
            return None
        date_ = date.fromordinal(day + EPOCH)
        year, month = date_.year, date_.month
        place = bisect_right(self.months, month) - 1
        end = (year - YEARS, month)
        while True:
            if place < 0:
                year, place = year - 1, len(self.months) - 1
            if (year, self.months[place]) < end or year < FIRST_YEAR:
                return None
            most = date_.day if self.months[place] == month and year == date_.year else 31
            begins = date(year, self.months[place], 1).toordinal()
            fitting = self._fits(_length(year, self.months[place]), begins % 7) & ((2 << most) - 1)
            if fitting:
                return begins - EPOCH + fitting.bit_length() - 2
            place -= 1

    def _fits(self, length: int, first: int) -> int:
        """The days that fit in a month of this length that begins with this weekday, as bits."""
        found = self.days | self.weeks[first] if self.either else self.days & self.weeks[first]
        return found & ((2 << length) - 1)


def _length(year: int, month: int) -> int:
    """The days of a month."""
    return 28 if month == 2 and not isleap(year) else LENGTHS[month]


def _offset(zone: ZoneInfo, minute: int) -> int:
    """The minutes by which a zone is ahead of UTC at a time, in minutes since 1970."""
    offset = (BEGINNING + timedelta(minutes=minute)).astimezone(zone).utcoffset() or timedelta(0)
    return offset // MINUTE


@lru_cache(maxsize=4_096)
def _segments(zone: ZoneInfo | None, day: int) -> tuple[tuple[int, int, int], ...]:
    """The parts of a day in which the clock runs steadily: its midnight in UTC, and which minutes it shows.

    Two where the clock is put forward or back on this day: it skips some minutes, or shows them twice.
    """
    start = day * DAY
    if zone is None:
        return ((start, 0, DAY),)
    midnight = datetime.combine(date.fromordinal(day + EPOCH), time(), zone)
    before, after = ((at.utcoffset() or timedelta(0)) // MINUTE for at in (midnight, midnight + timedelta(days=1)))
    if before == after:
        return ((start - before, 0, DAY),)
    low, high = start - before - 1, start - after + DAY
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _offset(zone, middle) == before else (low, middle)
    return (start - before, 0, high - (start - before)), (start - after, high - (start - after), DAY)


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
    either = not days.is_any and not weekdays.is_any
    may_fit = (month for month in sorted(months.numbers) if either or min(days.numbers) <= LENGTHS[month])
    return CronSchedule(
        times=tuple(hour * 60 + minute for hour in sorted(hours.numbers) for minute in sorted(minutes.numbers)),
        days=sum(1 << day for day in days.numbers),
        months=tuple(may_fit),
        weeks=tuple(
            sum(1 << day for day in range(1, 32) if (first + day - 1) % 7 in weekdays.numbers) for first in WEEK
        ),
        either=either, zone=zone,
    )  # fmt: skip


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
