"""Sync windows: when an application may be synchronised, as in Argo CD.

Belongs here: which windows apply, whether they are open, when that changes. Does not: schedules (`cron`), operations
(`auto_sync`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from heapq import heappop, heappush
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import msgspec
from msgspec.structs import force_setattr

from phaseline.machines.kinds.gitops.cron import DAY, BadSchedule, CronSchedule, daily, parse
from phaseline.machines.kinds.kubernetes.durations import NoDuration, seconds
from phaseline.machines.kinds.kubernetes.globs import matches
from phaseline.machines.kinds.kubernetes.globs import problem as glob_problem
from phaseline.machines.language.rules import Revision

WINDOWS = Revision("gitops.windows", 4)
"""Raise it when windows decide otherwise than before, or open at another time."""
KINDS = ("allow", "deny")
LONGEST_DESCRIPTION = 255
MOST = 100
"""The most windows that may apply to an application, its set's included."""
SEARCHES = 120
"""The most times of schedules that are looked up for the next time at which a sync is allowed; about 1 ms."""
ZERO, MICRO = timedelta(0), timedelta(microseconds=1)
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
SECOND = 1_000_000
"""A second, in microseconds. Times are whole microseconds since 1970, because the search for an opening needs many."""
MINUTE, TICK = 60 * SECOND, SECOND
"""A minute. A window opens a tick after its start."""
STEP = 15 * MINUTE
"""Clocks are put forward and back at a multiple of this time only."""
WEEK = 8 * 24 * 60 * MINUTE
"""How long all is looked at where everything repeats weekly: a week, and a day for clocks that change."""
HORIZON = 5 * 366 * 24 * 60 * MINUTE
"""How far the search for an opening looks ahead, at most."""


def _micros(at: datetime) -> int:
    return (at - BEGINNING) // MICRO


def _moment(at: int) -> datetime:
    return BEGINNING + at * MICRO


@lru_cache(maxsize=1_024)
def _clock(zone: str) -> ZoneInfo | None:
    """A time zone; None for UTC, and for one that is not known."""
    try:
        return ZoneInfo(zone) if zone else None
    except (KeyError, ValueError, OSError):
        return None


@lru_cache(maxsize=16_384)
def _offset(zone: ZoneInfo, step: int) -> int:
    """A zone's offset from UTC in one of the steps since 1970."""
    return (_moment(step * STEP).astimezone(zone).utcoffset() or ZERO) // MICRO


class App(NamedTuple):
    """The properties of an application by which windows select it."""

    name: str
    namespace: str = ""
    server: str = ""
    cluster: str = ""


class Window(msgspec.Struct, frozen=True):
    """One window of Argo CD. schedule: five-field cron, or `10:00-18:00`, which sets the duration too.

    What follows from these: cron; length, the duration in microseconds; clock, the zone, which is None for UTC and for
    an unknown zone; problem, what is wrong.
    """

    kind: str
    schedule: str
    duration: str = ""
    applications: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()
    manual: bool = False
    zone: str = ""
    all_lists: bool = False
    overruns: bool = False
    description: str = ""
    cron: CronSchedule | None = None
    length: int = 0
    clock: ZoneInfo | None = None
    problem: str = ""

    def __post_init__(self) -> None:
        try:
            short = daily(self.schedule)
            cron, length = short or (parse(self.schedule), timedelta(seconds=float(seconds(self.duration))))
            force_setattr(self, "cron", cron)
            force_setattr(self, "length", length // MICRO)
            force_setattr(self, "clock", _clock(self.zone))
        except (BadSchedule, NoDuration, OverflowError) as error:
            force_setattr(self, "problem", str(error))
        globs = (*self.applications, *self.namespaces, *self.clusters)
        if wrong := next(filter(None, map(glob_problem, globs)), ""):
            force_setattr(self, "problem", wrong)

    def problems(self) -> Iterator[str]:
        """The problems of the window, in sentences."""
        if self.kind not in KINDS:
            yield f"kind must be allow or deny, found {self.kind!r}"
        if self.problem:
            yield self.problem
        if len(self.description) > LONGEST_DESCRIPTION:
            yield f"description must have at most {LONGEST_DESCRIPTION} characters, found {len(self.description)}"

    def selects(self, app: App) -> bool:
        """Whether the window applies: any list matches, or with `all_lists` each list that is not empty.

        `*` selects an application without a destination namespace, but not one without a cluster, as in Argo CD.
        """
        clusters = tuple(filter(None, (app.server, app.cluster)))
        lists = ((self.applications, (app.name,)), (self.namespaces, (app.namespace,)), (self.clusters, clusters))
        found = [any(matches(glob, word) for glob in globs for word in words) for globs, words in lists if globs]
        return bool(found) and (all(found) if self.all_lists else any(found))

    @property
    def never_closes(self) -> bool:
        """Whether it is open at all times: each of its spans begins before the one before ends."""
        if self.cron is None or not self.cron.is_daily:
            return False
        times = self.cron.times
        pauses = (later - time for time, later in zip(times, (*times[1:], times[0] + DAY), strict=True))
        return max(pauses) * MINUTE < self.length

    def is_open(self, at: int, zone_of: int) -> bool:
        """Whether the window is open at a time, by its zone's UTC offset at `zone_of`. In microseconds since 1970."""
        if self.cron is None or self.length <= 0:
            return False
        local = at + self._offset_at(zone_of)
        start = self.cron.first((local - self.length) // MINUTE + 1)
        return start is not None and start * MINUTE < local

    def span(self, at: int) -> tuple[int, int] | None:
        """The span in which the window is open at a time, or the next one; None if it does not open for years."""
        if self.cron is None or self.length <= 0:
            return None
        local = at + self._offset_at(at)
        start = self.cron.last(-(-local // MINUTE) - 1)
        if start is None or start * MINUTE + self.length <= local:
            start = self.cron.first((local - self.length) // MINUTE + 1)
        if start is None:
            return None
        opens = start * MINUTE
        return self._real(opens, at), max(self._real(opens + self.length, at), at + TICK)

    def _real(self, local: int, near: int) -> int:
        """The time at which the clock of the window's zone shows `local`, by its UTC offset then."""
        return local if self.clock is None else local - self._offset_at(local - self._offset_at(near))

    def _offset_at(self, at: int) -> int:
        """The zone's offset from UTC at a time; 0 for an unknown zone."""
        return 0 if self.clock is None else _offset(self.clock, at // STEP)

    def called(self) -> str:
        """`the deny window "0 22 * * *" for 1h`."""
        length = f" for {self.duration}" if self.duration else ""
        zone = f" ({self.zone})" if self.zone else ""
        return f'the {self.kind} window "{self.schedule}"{length}{zone}'


class WindowDecision(NamedTuple):
    """Whether a sync is allowed; if not, `why` names the window that prevents it."""

    allowed: bool
    why: str = ""


ALLOWED = WindowDecision(True)


def select(windows: Sequence[Window], app: App) -> list[Window]:
    """The windows that apply to an application."""
    return [window for window in windows if window.selects(app)]


def decide(windows: Sequence[Window], at: datetime, *, manual: bool, began: datetime | None = None) -> WindowDecision:
    """Whether these windows allow a sync at a time (with a zone). began: the start of a sync that is under way."""
    found = _decide(windows, at, at, manual=manual, overruns=False)
    if found.allowed or began is None or not _decide(windows, began, at, manual=manual, overruns=False).allowed:
        return found
    return _decide(windows, at, at, manual=manual, overruns=True)


def _decide(
    windows: Sequence[Window], at: datetime, zone_of: datetime, *, manual: bool, overruns: bool
) -> WindowDecision:
    if len(windows) > MOST:
        return WindowDecision(False, f"{len(windows)} windows apply to it, and at most {MOST} may: remove some")
    broken = next((window for window in windows if window.problem), None)
    if broken is not None:
        return WindowDecision(False, f"{broken.called()} cannot be read: {broken.problem}")
    moment, clock = _micros(at), _micros(zone_of)
    denies = [window for window in windows if window.kind == "deny" and window.is_open(moment, clock)]
    allows = [window for window in windows if window.kind == "allow"]
    if denies:
        return _unless(denies, "is open", manual=manual, overruns=overruns)
    if not allows or any(window.is_open(moment, clock) for window in allows):
        return ALLOWED
    return _unless(allows, "is closed", manual=manual, overruns=overruns)


def _unless(windows: Sequence[Window], how: str, *, manual: bool, overruns: bool) -> WindowDecision:
    """Denied, unless all these windows allow it as a manual sync or as one that is under way."""
    if overruns and all(window.overruns for window in windows):
        return ALLOWED
    against = next((window for window in windows if not (manual and window.manual)), None)
    return ALLOWED if against is None else WindowDecision(False, f"{against.called()} {how}")


class Opening(NamedTuple):
    """The next time at which a sync is allowed. at: None if there is none before `searched`.

    never: there is none at all, or none for years.
    """

    at: datetime | None
    searched: datetime
    never: bool = False


def next_allowed(windows: Sequence[Window], after: datetime, *, manual: bool) -> Opening:
    """The first time at or after this one at which a sync is allowed.

    The search ends after `HORIZON`, or after `SEARCHES` times of schedules: the same on every machine.
    """
    start = after.astimezone(UTC)
    found, searched, never = _search(windows, _micros(start), manual=manual)
    return Opening(_moment(found) if found is not None else None, _moment(searched), never)


def _search(windows: Sequence[Window], start: int, *, manual: bool) -> tuple[int | None, int, bool]:
    """The time found, how far was searched, and whether no time will ever be found."""
    if len(windows) > MOST or any(window.problem for window in windows):
        return None, start, False
    passing = [window for window in windows if manual and window.manual]
    denies = _different(window for window in windows if window.kind == "deny" and not (manual and window.manual))
    allows = [window for window in windows if window.kind == "allow"]
    needs_one = not all(window in passing for window in allows)
    # A deny window that lets manual syncs pass lets them pass even while no allow window is open.
    opening = _different(window for window in windows if window.kind == "allow" or window in passing)
    end = start + HORIZON
    if any(window.never_closes for window in denies):
        return None, end, True
    if _repeats((*denies, *opening)):
        end = start + WEEK
    left, at = SEARCHES, start
    while left > 0 and at <= end:
        closed, opened = _Spans(denies, at), _Spans(opening, at)
        while closed.searches + opened.searches <= left and at <= end:
            deny, allow = closed.first(at), opened.first(at)
            if deny is not None and deny.opens < at:
                at = deny.closes
            elif needs_one and allow is None:
                return None, end, True
            elif needs_one and allow is not None and allow.opens >= at:
                at = allow.opens + TICK
            elif decide(windows, _moment(at), manual=manual).allowed:
                return at, at, False
            else:  # a clock was put forward or back since the spans were found
                at += MINUTE
                break
        left -= closed.searches + opened.searches + 1
    return None, min(at, end), at > end


def _different(windows: Iterable[Window]) -> list[Window]:
    """These windows without those that are open at the same times as another."""
    return list({(window.schedule, window.length, window.zone): window for window in windows}.values())


def _repeats(windows: Sequence[Window]) -> bool:
    """Whether after a week of the clock that all these windows share everything begins again."""
    return len({window.clock for window in windows}) <= 1 and all(
        window.cron is not None and window.cron.is_weekly and window.length <= WEEK for window in windows
    )


class _Span(NamedTuple):
    """A time from which a window is open to one at which it closes. number: which window."""

    opens: int
    closes: int
    number: int


class _Spans:
    """The present or next span of each of several windows, in the order of their openings."""

    def __init__(self, windows: Sequence[Window], at: int) -> None:
        self.searches = 0
        """How many spans were looked up."""
        self._windows = windows
        self._spans: list[_Span] = []
        for number in range(len(windows)):
            self._look_up(number, at)

    def first(self, at: int) -> _Span | None:
        """The span that opened or opens first, of those that are not over at a time. Times must not fall."""
        while self._spans and self._spans[0].closes <= at:
            self._look_up(heappop(self._spans).number, at)
        return self._spans[0] if self._spans else None

    def _look_up(self, number: int, at: int) -> None:
        self.searches += 1
        span = self._windows[number].span(at)
        if span is not None:
            heappush(self._spans, _Span(*span, number))


def read(found: Any, zone: str = "") -> Window:
    """A window in the form of Argo CD's projects, or `10:00-18:00` for all applications; raises `ValueError`."""
    if isinstance(found, str):
        return Window("allow", found, applications=("*",), zone=zone)
    if not isinstance(found, Mapping):
        found = type(found).__name__
        problem = f"a window must be a map or a text like 10:00-18:00, found {found}"
        raise ValueError(problem)  # noqa: TRY004  # as documented
    if odd := sorted(set(found) - set(FIELDS)):
        raise ValueError(f"{odd[0]!r} is none of {', '.join(FIELDS)}")
    given: dict[str, Any] = {"kind": "", "schedule": "", "zone": zone}
    for name, (ours, type_) in FIELDS.items():
        value: Any = found.get(name)
        if value is None:
            continue
        if not isinstance(value, type_) or (type_ is list and not all(isinstance(one, str) for one in value)):
            raise ValueError(
                f"{name} must be a {'list of strings' if type_ is list else type_.__name__}, found {value!r:.60}"
            )
        given[ours] = tuple(value) if type_ is list else value
    return Window(**given)


FIELDS: Mapping[str, tuple[str, Any]] = {
    "kind": ("kind", str), "schedule": ("schedule", str), "duration": ("duration", str),
    "applications": ("applications", list), "namespaces": ("namespaces", list), "clusters": ("clusters", list),
    "manualSync": ("manual", bool), "timeZone": ("zone", str), "andOperator": ("all_lists", bool),
    "syncOverrun": ("overruns", bool), "description": ("description", str),
}  # fmt: skip
"""Argo CD's words for the parts of a window: our name, and the type."""
