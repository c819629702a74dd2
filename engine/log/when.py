"""Points in time: `When`, which callers pass, and `Moment`, which reads use.

Belongs here: both types, parsing, the order of two of them. Does not: finding the place in the log (`as_of`).
"""

import re
from datetime import UTC, datetime, time, timedelta
from time import time_ns
from typing import NamedTuple, Self

from phaseline.schemas.errors import InvalidInput, NameUnknown
from phaseline.schemas.records import nanoseconds, timestamp, utc

START, NOW = "start", "now"
END = 2**63
"""A place after the end of every log."""
A_MOMENT = "a place in the log, a time, or how long ago (15m)"
"""What the help of options says of a moment."""
LARGEST = 2**63
"""A number of ns since 1970 that the server cannot hold, nor its negative."""
KNOWN = (
    "now, start, a place in the log (4711, or 4711@ and the identity of the log), a time (2026-03-02T08:00 or 03:12), "
    "how long ago (15m)"
)
"""What the error about another text says."""
SKEW = 60_000_000_000
"""By how many ns the clocks of two machines may differ."""
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_AGO = re.compile(r"(\d+(?:\.\d+)?)([smhd])")
_CLOCK = re.compile(r"\d\d:\d\d(:\d\d)?")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = 1_000


class Moment(NamedTuple):
    """A point in time that was resolved in the log. Reads use its place; people see its time.

    place: the last place in the log that a read of this moment includes. A moment before the first record is at place
    0, in 1970.
    """

    place: int
    time_ns: int

    @property
    def time(self) -> datetime:
        """Its time."""
        return utc(self.time_ns)


When = int | str | datetime | Moment
"""A place in the log, a time, or a `Moment`.

As text: "start", "now", a place ("4711", or "4711@1795745633155579" with the identity of its log), how long ago
("15m"), a time of day ("03:12", its last occurrence), or an ISO 8601 time. A time without an offset is a local time.
"""


class PlaceOf(int):
    """A place with the identity of the log in which it counts: `4711@1795745633155579`."""

    log: int

    @classmethod
    def read(cls, text: str) -> Self | None:
        """The place that a text names; None if it names none with a log."""
        place, at, log = text.partition("@")
        if not (at and place.isdecimal() and log.isdecimal() and len(place) < 20 and len(log) < 20):
            return None
        found = cls(place)
        found.log = int(log)
        return found


class Time(NamedTuple):
    """A time that a caller gave, in ns since 1970. `width`: its precision, in ns."""

    ns: int
    width: int = 1

    def as_datetime(self) -> datetime:
        """The same time in UTC, to the microsecond."""
        return utc(self.ns)


def seconds_of(text: str) -> float | None:
    """The seconds of `90`, `90s`, `1.5m`, `2h` or `1d`; None for any other text."""
    found = _AGO.fullmatch(text) or _AGO.fullmatch(f"{text}s")
    return None if found is None else float(found[1]) * _UNITS[found[2]]


def parse(when: When) -> int | Time:
    """The place or the time that `when` names; raises `NameUnknown`, `InvalidInput`. Only now is `END`."""
    try:
        found = _named(when)
    except (OverflowError, ValueError):
        raise InvalidInput.no_such_time(when=str(when)[:64]) from None
    if isinstance(found, int):
        return found if when == NOW else min(found, END - 1)
    if not -LARGEST <= found.ns < LARGEST:
        raise InvalidInput.no_such_time(when=str(when)[:64])
    return found


def _named(when: When) -> int | Time:
    if isinstance(when, Moment):
        return when.place
    if isinstance(when, int) and not isinstance(when, bool):
        return when
    if isinstance(when, datetime):
        return Time((when.astimezone(UTC) - _EPOCH) // timedelta(microseconds=1) * _MICROSECOND, _MICROSECOND)
    if not isinstance(when, str):
        raise NameUnknown(what="moment", name=repr(when)[:64], known=KNOWN, meant="")
    if when in (START, NOW):
        return 0 if when == START else END
    if (place := PlaceOf.read(when)) is not None:
        return place
    if when.isdecimal():
        return int(when) if len(when) < 20 else END - 1
    return _time(when)


def check_order(start: When | None, end: When | None, after: Moment, up_to: Moment) -> None:
    """Raise `InvalidInput` if a range ends before it starts. after, up_to: the moments that `start` and `end` name.

    Two times are compared themselves, since there may be no record between them. Now is never before the last record.
    """
    first = parse(START if start is None else start)
    last = parse(NOW if end is None else end)
    if isinstance(first, Time) and last == END:
        last = Time(max(up_to.time_ns, time_ns()))
    if isinstance(last, Time) and first == END:
        first = Time(max(after.time_ns, time_ns()))
    if isinstance(first, Time) and isinstance(last, Time):
        if first.ns >= last.ns + last.width:
            raise InvalidInput.start_after_end(start=timestamp(first.ns), end=timestamp(last.ns))
    elif last != END and after.place > up_to.place:
        named = first if isinstance(first, int) and 0 < first < END else after.place
        raise InvalidInput.start_after_end(start=f"place {named}", end=f"place {up_to.place}")


def check_reached(when: When, moment: Moment) -> None:
    """Raise `InvalidInput.moment_ahead` for states at a time that has not come yet. moment: what was found for it.

    By `SKEW` the clock that it was read from may be ahead.
    """
    named = parse(when)
    if isinstance(named, Time) and named.ns > moment.time_ns + SKEW:
        raise InvalidInput.moment_ahead(when=f"{timestamp(named.ns)[:19]}Z", now=f"{timestamp(moment.time_ns)[:19]}Z")


def _time(text: str) -> int | Time:
    now = datetime.now().astimezone()
    if ago := _AGO.fullmatch(text):
        return parse(now - timedelta(seconds=float(ago[1]) * _UNITS[ago[2]]))
    try:
        if _CLOCK.fullmatch(text):
            return parse(_last(time.fromisoformat(text), now))
        known = datetime.fromisoformat(text)
    except ValueError:
        raise NameUnknown(what="moment", name=text, known=KNOWN, meant="") from None
    return parse(known) if known.tzinfo is None else Time(nanoseconds(text))


def _last(clock: time, now: datetime) -> datetime:
    """When a local clock showed this time last. Days on which it is changed are longer or shorter than others."""
    today = datetime.combine(now, clock).astimezone()
    return today if today <= now else datetime.combine(now - timedelta(days=1), clock).astimezone()
