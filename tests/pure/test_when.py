"""What callers may write for a point in time."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from phaseline.engine.log import when as moments
from phaseline.engine.log.watch import first
from phaseline.engine.log.when import END, Moment, Time, When, parse
from phaseline.schemas.errors import InvalidInput, NameUnknown
from tests.support.raising import raises

EIGHT = datetime(2026, 3, 2, 8, tzinfo=UTC)
EIGHT_NS = 1_772_438_400_000_000_000


@pytest.mark.parametrize(
    ("when", "found"),
    [
        ("start", 0),
        ("now", END),
        (4711, 4711),
        ("4711", 4711),
        ("9" * 30, END - 1),
        (10**30, END - 1),
        ("2261-12-31T23:59:59Z", Time(9_214_646_399_000_000_000)),
        (Moment(17, EIGHT_NS), 17),
        (EIGHT, Time(EIGHT_NS, 1000)),
        (EIGHT.replace(microsecond=123_456), Time(EIGHT_NS + 123_456_000, 1000)),
        ("2026-03-02T08:00Z", Time(EIGHT_NS)),
        ("2026-03-02T09:00:00+01:00", Time(EIGHT_NS)),
        ("2026-03-02T08:00:00.123456789Z", Time(EIGHT_NS + 123_456_789)),
    ],
)
def test_a_place_or_a_time(when: When, found: int | Time) -> None:
    assert parse(when) == found


def test_a_time_without_an_offset_is_local() -> None:
    naive = datetime(2026, 3, 2, 8)  # noqa: DTZ001  # what is tested
    assert parse("2026-03-02T08:00") == parse(naive) == parse(naive.astimezone())


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("15m", 900), ("2h", 7200), ("1.5d", 129_600)])
def test_how_long_ago(text: str, seconds: float) -> None:
    before = datetime.now(UTC)
    found = parse(text)
    assert isinstance(found, Time)
    passed = found.as_datetime() + timedelta(seconds=seconds)
    assert before <= passed <= datetime.now(UTC)


@pytest.mark.parametrize("text", ["00:00", "03:12", "23:59:59"])
def test_a_time_of_day_is_the_last_one(text: str) -> None:
    found = parse(text)
    assert isinstance(found, Time)
    assert timedelta() <= datetime.now(UTC) - found.as_datetime() < timedelta(hours=25)
    assert found.as_datetime().astimezone().strftime("%H:%M:%S").startswith(text)


@pytest.fixture
def in_berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Clocks there go forward on 2026-03-29 at 02:00, and back on 2026-10-25 at 03:00."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Europe/Berlin")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.parametrize(
    ("now", "clock", "last"),
    [
        ("2026-03-28T12:00+01:00", "13:30", "2026-03-27T13:30+01:00"),
        ("2026-03-29T12:00+02:00", "11:30", "2026-03-29T11:30+02:00"),
        ("2026-03-29T12:00+02:00", "13:30", "2026-03-28T13:30+01:00"),
        ("2026-10-25T12:00+01:00", "13:30", "2026-10-24T13:30+02:00"),
        ("2026-10-25T12:00+01:00", "01:30", "2026-10-25T01:30+02:00"),
    ],
)
@pytest.mark.usefixtures("in_berlin")
def test_a_time_of_day_is_the_last_one_when_clocks_change(
    now: str, clock: str, last: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Then(datetime):
        @classmethod
        def now(cls, _: object = None) -> "Then":
            return cls.fromisoformat(now)

    monkeypatch.setattr(moments, "datetime", Then)
    found = parse(clock)
    assert isinstance(found, Time)
    assert found.as_datetime() == datetime.fromisoformat(last)


@pytest.mark.parametrize(
    "when",
    [
        "99999999999d", "2999-01-01", "1500-01-01T00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00",
        datetime(9999, 1, 1, tzinfo=UTC), datetime(1, 1, 1, tzinfo=UTC),
    ],
)  # fmt: skip
def test_a_time_that_the_server_cannot_hold_is_refused(when: When) -> None:
    """The server would take it for another one: it counts ns in 64 bits."""
    with raises(InvalidInput.no_such_time, match="outside of the years 1678 to 2261"):
        parse(when)


@pytest.mark.parametrize("when", [1.5, True, b"now", None])
def test_what_is_no_moment_of_python_is_refused_likewise(when: Any) -> None:
    with pytest.raises(NameUnknown, match="choose one of now, start, a place in the log") as raised:
        parse(when)
    assert raised.value.name == repr(when)


@pytest.mark.parametrize("text", ["soon", "", "15 m", "25:00", "2026-13-01", "-1"])
def test_anything_else_is_refused_with_what_there_is(text: str) -> None:
    with pytest.raises(NameUnknown, match="now, start, a place in the log") as raised:
        parse(text)
    assert (raised.value.what, raised.value.name) == ("moment", text)


@pytest.mark.parametrize(
    ("start", "found"),
    [
        ("start", "start"),
        ("now", "now"),
        (17, 17),
        ("17", 17),
        (EIGHT, "2026-03-02T08:00:00.000000000Z"),
        (Moment(17, EIGHT_NS), 18),  # what a view shows is not shown again
    ],
)
def test_where_a_watch_begins(start: When, found: int | str) -> None:
    assert first(start) == found
