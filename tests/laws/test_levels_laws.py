"""Laws of levels over random histories: times add up, for parts and for the whole, and a naive model has the same."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phaseline.engine.log.explain.staleness import Nearest
from phaseline.engine.products.levels.fold.fold import LevelsFold, LevelsRange
from phaseline.engine.products.levels.fold.reckoning import ENTITY, KIND, TREE, Level, grouped, summed
from phaseline.engine.products.levels.fold.spans import Span, Spans
from phaseline.engine.products.levels.fold.spared import Excuse, Spared
from phaseline.engine.products.levels.fold.tallies import EntityTimes, Times
from phaseline.engine.products.notices.fold import read_rules
from phaseline.engine.products.notices.fold.matching import in_trees
from phaseline.engine.products.notices.fold.rules import QuietWindow
from phaseline.engine.products.notices.fold.windows import Windows
from phaseline.engine.surfaces.testing.search import histories
from phaseline.machines.built_in import installed
from phaseline.machines.compiler.classes.entity_classes import class_of_entity
from phaseline.schemas.records import SECOND, Entity, Transition
from tests.support.contacts import Contacts

KINDS = installed()
BUDGET = settings(max_examples=30, deadline=None)
END = 400 * SECOND
TIMES = st.integers(0, 400).map(lambda one: one * SECOND)
SPANS = st.lists(st.tuples(TIMES, TIMES), max_size=4)
EXCUSES = st.lists(st.builds(
    lambda tree, one, other: Excuse(tree, min(one, other), max(one, other), "a test"),
    st.sampled_from(["c1", "c2", "c1/p", "c1/p1", "a1"]), TIMES, TIMES,
), max_size=3)  # fmt: skip
WINDOWS = st.sampled_from([
    "", "windows: [{name: w, from: 1970-01-01T00:00:20Z, to: 1970-01-01T00:01:30Z}]",
    "windows: [{name: w, opened-by: [update, delete, stop, cordon, create], up-to: 20s}]",
    "windows: [{name: w, cron: '* * * * *', for: 7s, trees: ['c*']}, {name: v, opened-by: [update, create]}]",
]).map(lambda text: read_rules.read(
    f"rules: []\n{text}", KINDS).windows if text else ()
)  # fmt: skip


FLEET = {"c1": "cluster", "c1/p": "node_pool", "c1/p/n1": "node", "c2": "cluster", "c2/p": "node_pool"}
STEPS = st.lists(st.one_of(
    st.tuples(st.sampled_from(["heartbeat", "not_ready", "ready", "update", "deleted"]), st.sampled_from([*FLEET])),
    st.tuples(st.just("wait"), st.sampled_from([1, 4, 11, 30])),
), max_size=25)  # fmt: skip


def spoken(steps: list[Any]) -> list[Transition]:
    """A fleet whose places, and some of what is below them, fall silent."""
    fleet, log = Contacts(start=0.0), list[Transition]()
    told = [("adopt", one) for one in FLEET] + [("configure", one) for one in ("c1", "c1/p", "c2")]
    for what, of in [*told, *steps]:
        if what == "wait":
            fleet.wait(float(of))
        else:
            data = {"silence_after": 10} if what == "configure" else {"phase": "Running"} if what == "adopt" else {}
            fleet.say(FLEET[str(of)], what, str(of), **data)
        log += [one for one in fleet.records if isinstance(one, Transition)]
    return log


LOGS = st.one_of(
    histories(KINDS, most=60).map(lambda history: [
        one for step in history.steps for one in step.records if isinstance(one, Transition)]),
    STEPS.map(spoken),
)  # fmt: skip
LONG = pytest.mark.filterwarnings("ignore:Generating overly large repr")
"""A log that breaks a law is long. Without this its text would be the failure."""


def measured(
    log: Iterable[Transition], begin: int = 0, end: int = END, windows: Sequence[QuietWindow] = (),
    excuses: Sequence[Excuse] = (), away: Spans | None = None, slice_length: int = 0, known: Sequence[Transition] = (),
) -> list[EntityTimes]:  # fmt: skip
    spared = Spared(begin, end, windows, excuses, away)
    fold = LevelsFold(KINDS, LevelsRange(begin, end, windows, slice_length=slice_length), spared)
    fold.know(known)
    for place, record in enumerate(log, start=1):
        fold.take(place, record)
    return fold.close()


def of_each(tallies: Iterable[EntityTimes]) -> dict[tuple[str, str], Times]:
    return {(one.kind, one.id): {part: time for part, time in one.times.items() if time} for one in tallies}


def plus(*some: Times) -> Times:
    found: Counter[str] = Counter()
    for one in some:
        found.update(one)
    return {part: time for part, time in found.items() if time}  # type: ignore[misc]  # they are parts


# ---- sets of times


@given(SPANS, SPANS, st.tuples(TIMES, TIMES))
def test_sets_of_times_are_sets(one: list[Span], other: list[Span], between: Span) -> None:
    def points(spans: Iterable[Span]) -> set[int]:
        return {second for begin, end in spans for second in range(begin // SECOND, end // SECOND)}

    first, second = Spans(one), Spans(other)
    assert points(first) == points(one)
    assert points(first | second) == points(one) | points(other)
    assert points(first - second) == points(one) - points(other)
    assert points(first & second) == points(one) & points(other)
    assert all(end < begin for (_, end), (begin, _) in pairwise(first))
    assert first.within(*between) == len(points(one) & points([between])) * SECOND


# ---- times


@LONG
@BUDGET
@given(LOGS, WINDOWS, EXCUSES, SPANS)
def test_times_are_those_of_a_naive_model(
    log: list[Transition], windows: Sequence[QuietWindow], excuses: list[Excuse], away: list[Span]
) -> None:
    """The model looks at the whole fleet each time something may change, and at each span between two such times."""
    found = of_each(measured(log, 0, END, windows, excuses, Spans(away)))
    assert found == naive(log, END, windows, excuses, Spans(away))


def naive(
    log: list[Transition], end: int, windows: Sequence[QuietWindow], excuses: list[Excuse], away: Spans
) -> dict[tuple[str, str], Times]:
    states: dict[tuple[str, str], Entity] = {}
    times: dict[tuple[str, str], Counter[str]] = {}
    opened = Windows(KINDS, windows)
    edges = {end, *(time for span in away for time in span), *(time for one in excuses for time in one[1:3])}
    edges |= {time * SECOND for time in range(0, end // SECOND, 1) if time % 60 in (0, 7)} | {20 * SECOND, 90 * SECOND}
    edges |= {record.time_ns for record in log} | {record.time_ns + 1 for record in log}
    edges |= {record.time_ns + one.limit for record in log for one in windows}
    records = iter([*enumerate(log, start=1), (0, None)])
    place, record = next(records)
    for begin, until in pairwise(sorted({0, *(one for one in edges if 0 <= one <= end)})):
        while record is not None and record.time_ns <= begin:
            states[record.entity.kind, record.entity.id] = record.entity
            opened.take(record, place)
            place, record = next(records)
        nearest = Nearest(KINDS, lambda *key: states.get(key))
        for key, entity in states.items():
            part: str = class_of_entity(KINDS, entity)
            if part != "gone":
                part = "silent" if nearest.stale(entity) is not None else part
                part = "excuse" if any(_is_for(one, entity.id, begin) for one in excuses) else (
                    "server" if away.within(begin, until) else part)  # fmt: skip
                part = "window" if opened.open_for(entity.id, begin) is not None else part
            times.setdefault(key, Counter())[part] += until - begin
    return {key: dict(some) for key, some in times.items() if some.keys() - {"gone"}}  # type: ignore[misc]


def _is_for(excuse: Excuse, entity_id: str, time: int) -> bool:
    return excuse.begin_ns <= time < excuse.end_ns and in_trees((excuse.tree,), entity_id)


@LONG
@BUDGET
@given(LOGS, WINDOWS, EXCUSES, st.sampled_from([0, 60 * SECOND]))
def test_the_times_of_classes_add_up_to_the_whole(
    log: list[Transition], windows: Sequence[QuietWindow], excuses: list[Excuse], slice_length: int
) -> None:
    tallies = measured(log, 0, END, windows, excuses, slice_length=slice_length)
    for one in tallies:
        assert sum(one.times.values()) == END - one.first
        assert sum(one.forgiven.values()) == one.times.get("excuse", 0)
        if slice_length:
            assert plus(*(times for _, times in one.of_days())) == plus(one.times)
    total = summed(tallies)
    for by in (ENTITY, TREE, KIND):
        assert totals(grouped(tallies, by)) == totals([total])
    assert total.counted == total.available + total.lost
    assert total.whole == total.as_recorded.whole
    assert total.lost <= total.as_recorded.lost


def totals(levels: Iterable[Level]) -> tuple[Times, int, int, int]:
    some = [*levels]
    return (
        plus(*(one.times for one in some)), sum(one.size for one in some),
        sum(one.failures.number for one in some), sum(one.flaps for one in some),
    )  # fmt: skip


@LONG
@BUDGET
@given(LOGS, WINDOWS, EXCUSES, SPANS, st.lists(TIMES, max_size=3))
def test_times_of_slices_add_up_to_the_whole(
    log: list[Transition], windows: Sequence[QuietWindow], excuses: list[Excuse], away: list[Span], cuts: list[int]
) -> None:
    """Each part begins with the states just before it, or with all records from the beginning on."""
    spans = Spans(away)
    whole = of_each(measured(log, 0, END, windows, excuses, spans))
    by_clock = not any(one.opened_by for one in windows)
    parts: dict[tuple[str, str], list[Times]] = {}
    for begin, end in pairwise(sorted({0, END, *cuts})):
        found = of_each(measured(log, begin, end, windows, excuses, spans))
        if by_clock:
            known = {(one.entity.kind, one.entity.id): one for one in log if one.time_ns < begin}
            later = [one for one in log if one.time_ns >= begin]
            again = measured(later, begin, end, windows, excuses, spans, known=[*known.values()])
            assert without_gone(of_each(again)) == without_gone(found)
        for key, times in found.items():
            parts.setdefault(key, []).append(times)
    assert without_gone({key: plus(*times) for key, times in parts.items()}) == without_gone(whole)


def without_gone(found: Mapping[tuple[str, str], Times]) -> dict[tuple[str, str], Times]:
    """The times that count. What is gone counts for nothing, whether it is known or not."""
    kept = {key: plus({**times, "gone": 0}) for key, times in found.items()}
    return {key: times for key, times in kept.items() if times}


@LONG
@BUDGET
@given(LOGS, WINDOWS, EXCUSES, st.randoms())
def test_the_order_of_trees_does_not_matter(
    log: list[Transition], windows: Sequence[QuietWindow], excuses: list[Excuse], random: object
) -> None:
    trees: dict[str, list[Transition]] = {}
    for record in log:
        trees.setdefault(record.entity.id.partition("/")[0], []).append(record)
    names = [name for name, some in trees.items() for _ in some]
    random.shuffle(names)  # type: ignore[attr-defined]
    mixed = {name: iter(some) for name, some in trees.items()}
    other = measured((next(mixed[name]) for name in names), 0, END, windows, excuses)
    one = measured(log, 0, END, windows, excuses)
    assert grouped(other, ENTITY) == grouped(one, ENTITY)
    assert grouped(other, TREE) == grouped(one, TREE)


@LONG
@BUDGET
@given(LOGS, EXCUSES)
def test_outages_are_the_stays_in_the_class_bad(log: list[Transition], excuses: list[Excuse]) -> None:
    """What an entity is between records with one time does not count."""
    stays: dict[tuple[str, str], list[tuple[int, int]]] = {}
    last: dict[tuple[str, str], tuple[int, bool]] = {}
    for key, time, is_bad in [
        *_looks(log),
        *((key, END, False) for key in {(r.entity.kind, r.entity.id) for r in log}),
    ]:
        since, was = last.get(key, (time, False))
        if was and time > since:
            some = stays.setdefault(key, [])
            if some and some[-1][1] == since:
                some[-1] = (some[-1][0], time)
            else:
                some.append((since, time))
        last[key] = (time, is_bad)
    tallies = measured(log, 0, END, (), excuses)
    for one in tallies:
        mine = stays.get((one.kind, one.id), [])
        excused = Spans((each.begin_ns, each.end_ns) for each in excuses if in_trees((each.tree,), one.id))
        if "silent" in one.times:
            continue  # what is silent while it is bad is unknown
        left = [(end - begin - excused.within(begin, end), end < END) for begin, end in mine]
        assert one.recorded.number == len(mine)
        assert one.failures.number == sum(lasted > 0 for lasted, _ in left)
        assert one.failures.ended_time == sum(lasted for lasted, has_ended in left if has_ended)


def _looks(log: list[Transition]) -> Iterable[tuple[tuple[str, str], int, bool]]:
    """Whether each entity is bad from the last record of a time on."""
    latest: dict[tuple[tuple[str, str], int], bool] = {}
    for record in log:
        key = (record.entity.kind, record.entity.id)
        latest[key, record.time_ns] = class_of_entity(KINDS, record.entity) == "bad"
    return [(key, time, is_bad) for (key, time), is_bad in latest.items()]
