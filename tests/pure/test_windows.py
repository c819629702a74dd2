"""Sync windows: schedules, zones, decisions, the next opening (docs/spec/gitops.md, Sync windows)."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from croniter import croniter
from hypothesis import given
from hypothesis import strategies as st

from phaseline.machines.kinds.gitops.cron import BadSchedule, CronSchedule, daily, parse
from phaseline.machines.kinds.gitops.sync_windows import (
    KINDS,
    SEARCHES,
    App,
    Window,
    decide,
    next_allowed,
    read,
    select,
)
from phaseline.machines.kinds.kubernetes.durations import NoDuration, seconds
from tests.support.effort import examples
from tests.support.windows_at import is_open

ZONES = ("Europe/Berlin", "Asia/Tokyo", "America/New_York")
FAR = datetime(9000, 1, 1, tzinfo=UTC)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def later(schedule: str, moment: datetime) -> datetime | None:
    """The first time of a schedule after a moment."""
    found = parse(schedule).first(int(moment.timestamp()) // 60 + 1)
    return None if found is None else datetime.fromtimestamp(found * 60, UTC)


def earlier(schedule: str, moment: datetime) -> datetime | None:
    """The last time of a schedule before a moment."""
    found = parse(schedule).last(-(-int(moment.timestamp()) // 60) - 1)
    return None if found is None else datetime.fromtimestamp(found * 60, UTC)


def window(kind: str = "allow", schedule: str = "0 10 * * *", duration: str = "2h", **rest: Any) -> Window:
    return Window(kind, schedule, duration, applications=("*",), **rest)


@pytest.mark.parametrize(("text", "after", "next_"), [
    ("* * * * *", "2026-03-01T10:00:00", "2026-03-01T10:01:00"),
    ("5/15 * * * *", "2026-03-01T10:06:00", "2026-03-01T10:20:00"),
    ("0 22 * * MON-fri", "2026-02-28T00:00:00", "2026-03-02T22:00:00"),
    ("0 0 1 * 1", "2026-03-01T00:00:00", "2026-03-02T00:00:00"),  # both restricted: either
    ("0 0 */2 * 1", "2026-03-03T00:00:00", "2026-03-05T00:00:00"),  # a step restricts, so either
    ("0 0 ? jan,JUL *", "2026-03-01T00:00:00", "2026-07-01T00:00:00"),
    ("0 0 */1 * 1", "2026-03-03T00:00:00", "2026-03-09T00:00:00"),
    ("0 0 29 2 *", "2026-03-01T00:00:00", "2028-02-29T00:00:00"),
    ("TZ=Asia/Tokyo 0 10 * * *", "2026-03-01T00:00:00", "2026-03-01T01:00:00"),
    ("CRON_TZ=Asia/Tokyo 0 10 * * *", "2026-03-01T02:00:00", "2026-03-02T01:00:00"),
])  # fmt: skip
def test_schedules(text: str, after: str, next_: str) -> None:
    assert later(text, at(after)) == at(next_)


def test_a_schedule_that_never_comes() -> None:
    for text in ("0 0 30 2 *", "0 0 31 2,4,6,9,11 *", "TZ=Asia/Tokyo 0 0 30 2 ?"):
        assert later(text, at("2026-01-01T00:00:00")) is earlier(text, at("2026-01-01T00:00:00")) is None
    assert later("0 0 29 2 *", at("2097-01-01T00:00:00")) is None


@pytest.mark.parametrize("text", [
    "", "* * * *", "* * * * * *", "@daily", "* * * * 7", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "5-1 * * * *", "*/0 * * * *",
    "*-5 * * * *", "* * L * *", "* * * * MON#1", "x * * * *", "TZ=Nowhere/Land * * * * *", "1,,2 * * * *", "-1 * * * *", "1-2-3 * * * *", "² * * * *", "*/٣ * * * *", "*/² * * * *", "٣ * * * *", "1-٣ * * * *",
])  # fmt: skip
def test_what_is_no_schedule(text: str) -> None:
    with pytest.raises(BadSchedule):
        parse(text)


@pytest.mark.parametrize(("text", "value"), [
    ("1h30m", 5400), ("1.5h", 5400), ("300ms", Decimal("0.3")), ("0", 0), ("-1h", -3600), ("1us", Decimal("1e-6")), ("+5s", 5), (".5m", 30),
])  # fmt: skip
def test_durations(text: str, value: Any) -> None:
    assert seconds(text) == value


@pytest.mark.parametrize("text", ["", "1", "1d", "h", "1h 30m", "1000days", "33mm", "1hx", "--1h"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(NoDuration):
        seconds(text)


@pytest.mark.parametrize(("moment", "active"), [
    ("09:59:59", False), ("10:00:00", False), ("10:00:01", True), ("11:59:59", True), ("12:00:00", False),
])  # fmt: skip
def test_a_window_is_open_at_neither_end(moment: str, active: bool) -> None:
    assert is_open(window(), at(f"2026-03-01T{moment}")) is active


def test_zones_are_as_they_are_at_the_moment_asked_about() -> None:
    berlin = window(zone="Europe/Berlin")
    assert is_open(berlin, at("2026-01-10T09:30:00"))
    assert not is_open(berlin, at("2026-07-10T10:30:00"))
    assert is_open(berlin, at("2026-07-10T08:30:00"))
    assert is_open(window(zone="Nowhere/Land"), at("2026-07-10T10:30:00"))


@pytest.mark.parametrize(("text", "open_", "closed"), [
    ("10:00-18:00", "12:00:00", "18:00:00"), ("22:00-06:00", "01:00:00", "12:00:00"), ("00:00-24:00", "23:59:59", "00:00:00"), ("9:05-9:06", "09:05:30", "09:06:30"),
])  # fmt: skip
def test_the_short_form(text: str, open_: str, closed: str) -> None:
    found = read(text)
    assert (found.kind, found.selects(App("any"))) == ("allow", True)
    assert is_open(found, at(f"2026-03-02T{open_}"))
    assert not is_open(found, at(f"2026-03-02T{closed}"))


@pytest.mark.parametrize("text", ["1\u0660:00-18:00", "10:0\u0660-18:00", "\uff11\uff10:00-18:00"])
def test_the_short_form_has_digits_of_ascii(text: str) -> None:
    assert daily(text) is None
    assert not is_open(read(text), at("2026-03-02T12:00:00"))


def test_the_short_form_in_its_zone() -> None:
    assert is_open(read("10:00-18:00", "Asia/Shanghai"), at("2026-03-02T03:00:00"))
    denies = read({"kind": "deny", "schedule": "10:00-18:00", "timeZone": "Asia/Shanghai"})
    assert is_open(denies, at("2026-03-02T03:00:00"))


@pytest.mark.parametrize(("lists", "app", "any_", "all_"), [
    ({}, App("web"), False, False),
    ({"applications": ("w*",)}, App("web"), True, True),
    ({"applications": ("db",), "namespaces": ("shop",)}, App("web", "shop"), True, False),
    ({"applications": ("web",), "namespaces": ("sh{op,ed}",)}, App("web", "shop"), True, True),
    ({"clusters": ("prod-*",)}, App("web", "", "https://k", "prod-eu"), True, True),
    ({"clusters": ("https://k",)}, App("web", "", "https://k", "prod-eu"), True, True),
    ({"clusters": ("*",)}, App("web"), False, False),
    ({"namespaces": ("*",)}, App("web"), True, True),
    ({"namespaces": ("shop",)}, App("web"), False, False),
    ({"applications": ("!web",)}, App("db"), False, False),
])  # fmt: skip
def test_selection(lists: dict[str, Any], app: App, any_: bool, all_: bool) -> None:
    assert Window("allow", "* * * * *", "1h", **lists).selects(app) is any_
    assert Window("allow", "* * * * *", "1h", all_lists=True, **lists).selects(app) is all_


OPEN, CLOSED = {"schedule": "0 10 * * *"}, {"schedule": "0 20 * * *"}
NOW = at("2026-03-02T11:00:00")


@pytest.mark.parametrize(("windows", "auto", "manual"), [
    ([], True, True),
    ([window(**OPEN)], True, True),
    ([window(**CLOSED)], False, False),
    ([window(**CLOSED, manual=True)], False, True),
    ([window(**CLOSED, manual=True), window(**CLOSED)], False, False),
    ([window("deny", **OPEN)], False, False),
    ([window("deny", **OPEN, manual=True)], False, True),
    ([window("deny", **OPEN), window(**OPEN)], False, False),
    ([window("deny", **CLOSED)], True, True),
    ([window("deny", **CLOSED), window(**CLOSED)], False, False),
    ([window("deny", **CLOSED), window(**OPEN), window(**CLOSED)], True, True),
    ([window(**OPEN), window("deny", "bad")], False, False),
])  # fmt: skip
def test_the_decision(windows: list[Window], auto: bool, manual: bool) -> None:
    assert (decide(windows, NOW, manual=False).allowed, decide(windows, NOW, manual=True).allowed) == (auto, manual)


def test_a_refusal_names_the_window() -> None:
    assert (
        decide([window("deny", zone="UTC")], NOW, manual=False).why
        == 'the deny window "0 10 * * *" for 2h (UTC) is open'
    )
    assert (
        decide([window(schedule="0 20 * * *")], NOW, manual=True).why
        == 'the allow window "0 20 * * *" for 2h is closed'
    )
    assert "cannot be read: duration" not in decide([window(duration="1x")], NOW, manual=True).why
    assert "'1x' is no duration" in decide([window(duration="1x")], NOW, manual=True).why


def test_what_is_under_way_may_run_over_where_all_windows_let_it() -> None:
    before = at("2026-03-02T09:30:00")
    for windows in ([window("deny", overruns=True)], [window(schedule="0 9 * * *", duration="1h", overruns=True)]):
        assert not decide(windows, NOW, manual=False).allowed
        assert decide(windows, NOW, manual=False, began=before).allowed
        assert not decide(windows, NOW, manual=False, began=NOW).allowed
    assert not decide([window("deny", overruns=True), window("deny")], NOW, manual=False, began=before).allowed


@pytest.mark.parametrize(("windows", "expected"), [
    ([], "2026-03-02T11:00:00"),
    ([window(**CLOSED)], "2026-03-02T20:00:01"),
    ([window("deny")], "2026-03-02T12:00:00"),
    ([window("deny"), window("deny", "0 12 * * *", "1h")], "2026-03-02T12:00:00"),
    ([window("deny", duration="3h"), window("deny", "0 12 * * *", "3h")], "2026-03-02T15:00:00"),
    ([window(schedule="0 20 * * *"), window("deny", "0 19 * * *", "4h")], None),
    ([window(schedule="0 20 * * *", duration="5h"), window("deny", "0 19 * * *", "4h")], "2026-03-02T23:00:00"),
    ([window(schedule="0 10 * * SUN", zone="Europe/Berlin")], "2026-03-08T09:00:01"),
    ([window(schedule="0 0 30 2 *")], None),
    ([window(duration="0s")], None),
    ([window(schedule="bad")], None),
])  # fmt: skip
def test_when_it_will_be_possible(windows: list[Window], expected: str | None) -> None:
    assert next_allowed(windows, NOW, manual=False).at == (None if expected is None else at(expected))


def test_a_clock_that_is_put_forward_in_between() -> None:
    # On 29 March 2026 Berlin goes from UTC+1 to UTC+2.
    found = next_allowed(
        [window(schedule="0 10 29 3 *", zone="Europe/Berlin")], at("2026-03-28T12:00:00"), manual=False
    ).at
    assert found == at("2026-03-29T08:00:01")
    assert is_open(window(schedule="0 10 29 3 *", zone="Europe/Berlin"), found)
    assert found.day == 29


SCHEDULES = ["0 10 * * *", "30 */6 * * *", "15 3 * * 1-5", "0 0 1 * *", "7 4 29 2 *", "*/20 9-17 * 3,4 *", "0 0 13 * 5"]
WINDOWS = st.builds(
    window, st.sampled_from(["allow", "deny"]), st.sampled_from(SCHEDULES), st.sampled_from(["1h", "90m", "26h"]),
    manual=st.booleans(), zone=st.sampled_from(["", "Europe/Berlin", "Australia/Lord_Howe"]),
)  # fmt: skip
STARTS = st.integers(0, 60 * 24 * 60).map(lambda minute: at("2026-03-01T00:00:30") + timedelta(minutes=minute))


def length(one: Window) -> timedelta:
    return timedelta(microseconds=one.length)


def turns(windows: list[Window], start: datetime, end: datetime) -> Iterator[datetime]:
    """Just after each opening and closing between two times, by croniter and every offset of the zones."""
    for one in windows:
        for hours in (0, 1, 2, 10.5, 11):
            shift = timedelta(hours=hours)
            local = croniter(one.schedule, start + shift - length(one), ret_type=datetime)
            while (opens := local.get_next(datetime) - shift) < end:
                yield from (
                    opens + timedelta(seconds=1),
                    opens + length(one),
                    opens + length(one) + timedelta(seconds=1),
                )


@examples(80)
@given(st.lists(WINDOWS, max_size=3), STARTS, st.booleans())
def test_the_next_moment_is_allowed_and_none_before_it_is(windows: list[Window], start: datetime, manual: bool) -> None:
    found = next_allowed(windows, start, manual=manual).at
    end = min(found or FAR, start + timedelta(days=6))
    for moment in {start, *turns(windows, start, end)}:
        if start <= moment < end:
            assert not decide(windows, moment, manual=manual).allowed, moment
    assert found is None or decide(windows, found, manual=manual).allowed


@examples(300)
@given(
    st.sampled_from([*SCHEDULES, "59 23 31 12 *", "0 0 30 2 1", "*/7 */5 */9 */2 *", "0 12 * * 0"]),
    st.integers(0, 10**9),
)
def test_schedules_come_when_croniter_says(schedule: str, seconds_: int) -> None:
    moment = at("2020-01-01T00:00:00") + timedelta(seconds=seconds_)
    other = croniter(schedule, moment)
    assert later(schedule, moment) == other.get_next(datetime)
    assert earlier(schedule, moment) == croniter(schedule, moment).get_prev(datetime)


@pytest.mark.parametrize(("schedule", "after", "times"), [
    # New York goes from UTC-5 to UTC-4 at 2026-03-08T07:00Z, and back at 2026-11-01T06:00Z.
    ("30 2 * * *", "2026-03-07T06:00:00", ["2026-03-07T07:30:00", "2026-03-09T06:30:00"]),
    ("30 1 * * *", "2026-10-31T06:00:00", ["2026-11-01T05:30:00", "2026-11-01T06:30:00", "2026-11-02T06:30:00"]),
    ("0 12 * * *", "2026-03-07T18:00:00", ["2026-03-08T16:00:00", "2026-03-09T16:00:00"]),
])  # fmt: skip
def test_a_zone_of_its_own_puts_the_clock_forward_and_back(schedule: str, after: str, times: list[str]) -> None:
    found, moment = f"TZ=America/New_York {schedule}", at(after)
    for expected in times:
        moment = later(found, moment) or FAR
        assert moment == at(expected)
    for expected in reversed(times[:-1]):
        moment = earlier(found, moment) or FAR
        assert moment == at(expected)


FIFTY = range(50)
SORTS: dict[str, list[Window]] = {
    "daily": [window(KINDS[n % 2], f"{n} {n % 24} * * *", "1h") for n in FIFTY],
    "in zones": [window(KINDS[n % 2], f"{n} {n % 24} * * *", "1h", zone=ZONES[n % 3]) for n in FIFTY],
    "with zones of their own": [window(KINDS[n % 2], f"TZ={ZONES[n % 3]} {n} 2 * 3 *", "1h") for n in FIFTY],
    "every minute": [window(KINDS[n % 2], "* * * * *", "1m") for n in FIFTY],
    "every minute for a day": [window(KINDS[n % 2], "* * * * *", "24h") for n in FIFTY],
    "rare": [window(KINDS[n % 2], "0 0 29 2 *", "1m") for n in FIFTY],
    "never": [window(KINDS[n % 2], "0 0 30 2 *", "1m") for n in FIFTY],
    "never, in zones": [window(KINDS[n % 2], f"TZ={ZONES[n % 3]} 0 0 31 6 *", "1m") for n in FIFTY],
    "for years": [window(KINDS[n % 2], f"{n} 3 1 1 *", "8760h") for n in FIFTY],
    "never together": [window(KINDS[n % 2], f"{n // 2} 3 * * {n % 7}", "1h") for n in FIFTY],
    "here and there": [window(schedule=f"{n} {n % 24} {n % 28 + 1} {n % 12 + 1} *", duration="1m") for n in FIFTY],
}
"""Fifty windows of each sort that has cost too much in one program or another."""


@pytest.mark.parametrize("sort", SORTS)
def test_fifty_windows_of_any_sort_cost_a_bounded_number_of_searches(
    sort: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []

    def counted(name: str, real: Any) -> Any:
        def search(self: CronSchedule, minute: int) -> int | None:
            calls.append(name)
            found: int | None = real(self, minute)
            return found

        return search

    for name in ("first", "last"):
        monkeypatch.setattr(CronSchedule, name, counted(name, getattr(CronSchedule, name)))
    decide(SORTS[sort], NOW, manual=False)
    assert len(calls) <= 50
    calls.clear()
    found = next_allowed(SORTS[sort], NOW, manual=False)
    # A span takes two searches; a decision at each of a few places takes fifty.
    assert len(calls) <= 2 * (SEARCHES + 50) + 3 * 50
    assert found.at is None or decide(SORTS[sort], found.at, manual=False).allowed


@pytest.mark.parametrize(("windows", "never", "searched"), [
    # Open at no time at all: a deny window that never closes, windows without times, one that is always denied.
    ([window("deny", "* * * * *", "2m")], True, "2031-03-06T11:00:00"),
    ([window(), window("deny", "*/10 * * * *", "11m", zone="Europe/Berlin")], True, "2031-03-06T11:00:00"),
    ([window("deny", "0 0 30 2 *")] * 50 + [window(schedule="0 0 30 2 *")], True, "2031-03-06T11:00:00"),
    ([window(schedule="0 0 29 2 *", duration="1m"), window("deny", "0 0 29 2 *", "2m")], True, "2031-03-06T11:00:00"),
    # What repeats every week is looked at for a week.
    ([window(schedule="0 20 * * *"), window("deny", "0 19 * * *", "4h")], True, "2026-03-10T11:00:00"),
    # Nothing was found where the search ended; there may be a time later.
    (SORTS["every minute"], False, None),
    ([window(schedule="0 20 * * *", zone="Asia/Tokyo"), window("deny", "0 10 * * *", "4h")], False, None),
])  # fmt: skip
def test_where_there_is_no_opening_it_is_said(windows: list[Window], never: bool, searched: str | None) -> None:
    found = next_allowed(windows, NOW, manual=False)
    assert (found.at, found.never) == (None, never)
    assert found.searched > NOW
    assert searched is None or found.searched == at(searched)


@examples(60)
@given(st.lists(WINDOWS, max_size=4), STARTS, st.booleans())
def test_what_is_said_never_to_open_does_not(windows: list[Window], start: datetime, manual: bool) -> None:
    if next_allowed(windows, start, manual=manual).never:
        for moment in turns(windows, start, start + timedelta(days=40)):
            assert moment < start or not decide(windows, moment, manual=manual).allowed, moment


def test_more_windows_than_may_be_are_refused() -> None:
    found = decide([window()] * 101, NOW, manual=False)
    assert (found.allowed, found.why) == (False, "101 windows apply to it, and at most 100 may: remove some")


@pytest.mark.parametrize(("found", "says"), [
    (3, "a window must be a map"), ({"kind": 3}, "kind must be a str, found 3"), ({"when": 1}, "'when' is none of kind, schedule"),
    ({"applications": "web"}, "applications must be a list of strings"), ({"applications": [1]}, "applications must be a list of strings"), ({"manualSync": "yes"}, "manualSync must be a bool"),
])  # fmt: skip
def test_what_is_no_window(found: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        read(found)


def test_what_is_wrong_with_a_window() -> None:
    assert [*window().problems()] == []
    assert [*window("maybe", "* *", "x", description="x" * 256).problems()] == [
        "kind must be allow or deny, found 'maybe'",
        "schedule '* *' must have five fields (minute, hour, day, month, day of the week), found 2",
        "description must have at most 255 characters, found 256",
    ]
    assert [*read("25:00-26:00").problems()] == ["'25:00-26:00': hours go from 0 to 24, minutes from 0 to 59"]


def test_selected() -> None:
    mine, other = Window("allow", "* * * * *", "1h", ("web",)), Window("allow", "* * * * *", "1h", ("db",))
    assert select([mine, other], App("web")) == [mine]
