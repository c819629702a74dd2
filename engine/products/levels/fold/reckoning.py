"""Availability, error budgets, and times to recover and between failures, of groups of tallies.

Belongs here: adding tallies up by entity, tree, kind or label; what follows from the sums; both as JSON shows them.
Does not: counting (`tallies`), layout (`surfaces.cli`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NamedTuple

from phaseline.engine.products.levels.fold.spans import Span
from phaseline.engine.products.levels.fold.spared import Excuse
from phaseline.engine.products.levels.fold.tallies import CLASS_OF, EntityTimes, Failures, Outage, Part, Times
from phaseline.machines.language.table import CLASSES, StateClass
from phaseline.schemas.records import SECOND, timestamp, utc
from phaseline.schemas.subjects import natural
from phaseline.schemas.wire_codec import moved_map

ENTITY, TREE, KIND, LABEL = "entity", "tree", "kind", "label"
LIVING: Final[tuple[StateClass, ...]] = tuple(one for one in CLASSES if one != "gone")
OBJECTIVE = 99.9
"""The share of the time that counts in which something should be well, in percent, unless another one is given."""


@dataclass(slots=True)
class Level:
    """The times of one entity, or of several together. Times in ns; those of several are added up.

    kind, id: of an entity, else empty. name: of a group: a tree, a kind, the value of a label. size: how many entities
    it is made of. forgiven: what the time that was excused later would have counted as.
    """

    kind: str = ""
    id: str = ""
    name: str = ""
    size: int = 0
    times: Times = field(default_factory=dict)
    forgiven: Times = field(default_factory=dict)
    failures: Failures = field(default_factory=Failures)
    recorded: Failures = field(default_factory=Failures)
    transitions: int = 0
    flaps: int = 0
    last_flap: int = 0
    days: dict[int, Times] = field(default_factory=dict)

    def add(self, tally: EntityTimes) -> None:
        """Add the times of an entity."""
        self.size += 1
        _add_times(self.times, tally.times)
        _add_times(self.forgiven, tally.forgiven)
        self.failures.join(tally.failures)
        self.recorded.join(tally.recorded)
        self.transitions += tally.transitions
        self.flaps += tally.flaps
        self.last_flap = max(self.last_flap, tally.last_flap)
        for day, times in tally.of_days():
            _add_times(self.days.setdefault(day, {}), times)

    @property
    def classes(self) -> dict[StateClass, int]:
        """The time in each class, with what goes before the class of a state."""
        found = dict.fromkeys(LIVING, 0)
        for part, time in self.times.items():
            if part != "gone":
                found[CLASS_OF[part]] += time
        return found

    @property
    def whole(self) -> int:
        """All time of life in the range."""
        return sum(self.classes.values())

    @property
    def counted(self) -> int:
        """The time that counts: all that is not excused."""
        return self.whole - self.classes["excused"]

    @property
    def lost(self) -> int:
        """The time that counts and in which it was bad, or nobody knows."""
        return self.classes["bad"] + self.classes["unknown"]

    @property
    def available(self) -> int:
        """The time in which it was good, or on its way."""
        return self.counted - self.lost

    @property
    def availability(self) -> float | None:
        """The share of the time that counts in which it was good, or on its way; None if no time counts."""
        return _share(self.available, self.counted)

    @property
    def at_best(self) -> float | None:
        """The same if it had been good whenever nobody knows."""
        return _share(self.available + self.classes["unknown"], self.counted)

    @property
    def as_recorded(self) -> "Level":
        """The same without what was excused later: as it was before anybody excused anything."""
        if not self.forgiven:
            return self
        times = dict(self.times)
        times.pop("excuse", None)
        _add_times(times, self.forgiven)
        return Level(self.kind, self.id, self.name, self.size, times, failures=self.recorded, recorded=self.recorded)

    @property
    def to_recover(self) -> int | None:
        """The mean time to recover: of the outages that ended, ns. None if none did."""
        return self.failures.ended_time // self.failures.ended if self.failures.ended else None

    @property
    def between_failures(self) -> int | None:
        """The mean time between failures: how long it was available for each outage, ns. None if there was none."""
        return self.available // self.failures.number if self.failures.number else None

    def budget(self, objective: float) -> int:
        """How much of the time that counts it may lose, ns. objective: in percent."""
        return round(self.counted * (1 - objective / 100))

    def burn(self, objective: float) -> float | None:
        """How much of its budget it used: 1 is all. None if there is no budget, and nothing was lost either."""
        budget = self.budget(objective)
        return self.lost / budget if budget else float("inf") if self.lost else None


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _add_times(to: Times, more: Mapping[Part, int]) -> None:
    for part, time in more.items():
        to[part] = to.get(part, 0) + time


class LevelsReport(NamedTuple):
    """What was asked of a log. Times in ns.

    rows: the entities, or groups of them, the worst first. total: all of them together. outages: the longest ones.
    outage_number: how many there were. away: when the server could take no event. excuses: those that were applied.
    place: up to where the log was read. by: how the rows are grouped.
    """

    begin_ns: int
    end_ns: int
    place: int
    by: str
    objective: float
    rows: Sequence[Level]
    total: Level
    outages: Sequence[Outage]
    outage_number: int
    slice_length: int = 0
    away: Sequence[Span] = ()
    excuses: Sequence[Excuse] = ()

    @property
    def begin(self) -> datetime:
        """Where the range begins."""
        return utc(self.begin_ns)

    @property
    def end(self) -> datetime:
        """Where the range ends."""
        return utc(self.end_ns)


def grouped(tallies: Iterable[EntityTimes], by: str) -> list[Level]:
    """The levels of entities, or of groups of them: by `entity`, `tree`, `kind` or `label`. The worst first."""
    found: dict[tuple[str, ...], Level] = {}
    key = KEYS[by]
    for tally in tallies:
        name = key(tally)
        level = found.get(name)
        if level is None:
            level = found[name] = Level(kind=name[0], id=name[1]) if by == ENTITY else Level(name=name[0])
        level.add(tally)
    return sorted(found.values(), key=worst_first)


KEYS: Final[Mapping[str, Callable[[EntityTimes], tuple[str, ...]]]] = {
    ENTITY: lambda one: (one.kind, one.id),
    TREE: lambda one: (one.id.partition("/")[0],),
    KIND: lambda one: (one.kind,),
    LABEL: lambda one: (one.label,),
}


def read_grouping(text: str) -> tuple[str, str]:
    """How rows are grouped, and the name of the attribute of `label=NAME`; raises `ValueError`."""
    word, _, name = text.partition("=")
    if not ((word in (TREE, KIND, ENTITY) and not name) or (word == LABEL and name)):
        raise ValueError(f"{text[:64]!r} is none of: entity, tree, kind, label=NAME (such as label=zone)")
    return word, name


def summed(tallies: Iterable[EntityTimes]) -> Level:
    """All of them together."""
    total = Level()
    for tally in tallies:
        total.add(tally)
    return total


def worst_first(level: Level) -> tuple[Any, ...]:
    """The order of levels: who lost most, then who was bad most often, then by name."""
    return -level.lost, -level.failures.number, natural(level.id or level.name), level.kind


def flapping_first(level: Level) -> tuple[Any, ...]:
    """The order of those that flap: the most often first."""
    return -level.flaps, -level.transitions, natural(level.id or level.name), level.kind


def seconds(ns: int | None) -> float | None:
    """A time as JSON shows it."""
    return None if ns is None else ns / SECOND


def level_map(level: Level, objective: float, slice_length: int = 0) -> dict[str, Any]:
    """A level as JSON shows it: times in seconds."""
    names = {"kind": level.kind, "id": level.id} if level.id else {"name": level.name} if level.name else {}
    recorded = level.as_recorded
    return {
        **names,
        "entities": level.size,
        "availability": level.availability,
        "at_best": level.at_best,
        "as_recorded": recorded.availability,
        "seconds": {name: seconds(time) for name, time in level.classes.items()},
        "parts": {part: seconds(time) for part, time in level.times.items() if part != "gone"},
        "whole": seconds(level.whole),
        "counted": seconds(level.counted),
        "outages": level.failures.number,
        "outages_as_recorded": level.recorded.number,
        "to_recover": seconds(level.to_recover),
        "between_failures": seconds(level.between_failures),
        "budget": {
            "objective": objective,
            "seconds": seconds(level.budget(objective)),
            "used": seconds(level.lost),
            "burn": None if (burn := level.burn(objective)) in (None, float("inf")) else burn,
        },
        "transitions": level.transitions,
        "flaps": level.flaps,
        **({"slices": [*_slices(level, slice_length)]} if slice_length else {}),
    }


def _slices(level: Level, slice_length: int) -> Iterator[dict[str, Any]]:
    for number, times in sorted(level.days.items()):
        classes = classes_of(times)
        if classes:
            yield {
                "from": timestamp(number * slice_length),
                "class": worst(classes),
                "seconds": {name: seconds(time) for name, time in classes.items()},
            }


def classes_of(times: Times) -> dict[StateClass, int]:
    """The time in each class that some of the time was in, the worst first; without what is gone."""
    found: dict[StateClass, int] = {}
    for part, time in times.items():
        if time and part != "gone":
            found[CLASS_OF[part]] = found.get(CLASS_OF[part], 0) + time
    return {name: found[name] for name in LIVING if name in found}


def worst(classes: Mapping[StateClass, int]) -> StateClass:
    """The worst class of these."""
    return next((name for name in LIVING if classes.get(name)), "gone")


def outage_map(one: Outage) -> dict[str, Any]:
    """An outage as JSON shows it."""
    return {
        "kind": one.kind,
        "id": one.id,
        "begin": timestamp(one.begin_ns),
        "end": None if one.end_ns is None else timestamp(one.end_ns),
        "seconds": seconds(one.bad),
        "counted": seconds(one.counted),
        "cause": None if one.record is None else moved_map(one.record),
    }


def excuse_map(one: Excuse) -> dict[str, Any]:
    """An excuse as JSON shows it."""
    return {
        "tree": one.tree,
        "from": timestamp(one.begin_ns),
        "to": timestamp(one.end_ns),
        "why": one.why,
        "by": one.by,
        "given": timestamp(one.given_ns),
        "place": one.place,
    }


def levels_map(found: LevelsReport, most: int | None = None) -> dict[str, Any]:
    """All of it as JSON shows it. most: the most rows; `numbers` says how many there are."""
    return {
        "from": timestamp(found.begin_ns),
        "to": timestamp(found.end_ns),
        "place": found.place,
        "by": found.by,
        "total": level_map(found.total, found.objective, found.slice_length),
        "numbers": {"rows": len(found.rows), "outages": found.outage_number},
        "rows": [level_map(one, found.objective, found.slice_length) for one in found.rows[:most]],
        "outages": [outage_map(one) for one in found.outages],
        "server_away": [{"from": timestamp(begin), "to": timestamp(end)} for begin, end in found.away],
        "excuses": [excuse_map(one) for one in found.excuses],
    }
