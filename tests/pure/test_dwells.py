"""Who has been in a class for long enough, told once, and told when it is over (engine/surfaces/overview/dwells.py)."""

from collections.abc import Callable, Iterable

from hypothesis import given as drawn
from hypothesis import strategies as st

from phaseline import testing
from phaseline.engine.surfaces.overview.dwells import Dwells
from phaseline.engine.surfaces.overview.overview import Dwell
from phaseline.engine.surfaces.testing.scenario import Given, Then
from phaseline.machines.compiler.classes.entity_classes import class_of_entity, class_since
from phaseline.schemas.records import SECOND, Entity, Transition, nanoseconds
from phaseline.schemas.wire_codec import Numbered
from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS
from tests.support.effort import examples

START = nanoseconds("2026-01-01T00:00:00Z")
Told = tuple[str, str, int, int | None]
"""An id, a class, since when and until when, in seconds."""


class Log:
    """Events at given seconds, and the records that they made, with their places."""

    def __init__(self) -> None:
        self.situation: Given = testing.given(KINDS)
        self.records: list[tuple[int, Transition, Numbered]] = []

    def say(self, seconds: int, kind: str, trigger: str, entity_id: str, /, **data: object) -> "Log":
        moved = self.situation.at(f"2026-01-01T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}Z")
        self._store(moved)
        after = moved.when(kind, trigger, entity_id, data)
        self._store(after)
        self.situation = after
        return self

    def _store(self, after: Then) -> None:
        event, records = len(self.records), after.transitions
        for number, record in enumerate(records):
            self.records.append((len(self.records) + 1, record, Numbered(event, number, len(records))))


def dwells(seconds: int = 0, classes: Iterable[str] = ("bad",), fits: Callable[[Entity], bool] = bool) -> Dwells:
    made = Dwells(KINDS, classes, seconds * SECOND, lambda entity: entity.kind == "node" and fits(entity))
    made.begun(0, 0)
    return made


def told(found: Iterable[Dwell]) -> list[Told]:
    return [
        (one.entity.id, one.state_class, _seconds(one.since_ns), one.until_ns and _seconds(one.until_ns))
        for one in found
    ]


def _seconds(time: int) -> int:
    return (time - START) // SECOND


def taken(into: Dwells, log: Log, until: int | None = None) -> list[Told]:
    """What the records tell, and what is due `until` then."""
    found = [dwell for one in log.records for dwell in into.take(*one)]
    return told([*found, *into.settle(), *into.due(10**30 if until is None else START + until * SECOND)])


def node() -> Log:
    log = Log().say(1, "cluster", "adopt", "c", phase="Running").say(1, "node_pool", "adopt", "c/p", phase="Running")
    return log.say(1, "node", "adopt", "c/p/n", phase="Running")


def test_it_is_told_once_when_it_has_lasted_and_once_when_it_ends() -> None:
    log = node().say(60, "node", "not_ready", "c/p/n").say(90, "node", "overdue", "c/p/n")
    assert taken(dwells(300), log, 359) == []
    assert taken(dwells(300), log, 360) == [("c/p/n", "bad", 60, None)]
    log.say(120, "node", "ready", "c/p/n").say(480, "node", "renewed", "c/p/n")
    assert taken(dwells(300), log) == [("c/p/n", "bad", 60, None), ("c/p/n", "bad", 60, 480)]


def test_what_ends_before_is_not_told() -> None:
    log = node().say(60, "node", "not_ready", "c/p/n").say(90, "node", "ready", "c/p/n")
    assert taken(dwells(300), log) == []
    assert taken(dwells(), log) == [("c/p/n", "bad", 60, None), ("c/p/n", "bad", 60, 90)]


def test_what_fell_due_between_two_records_is_told_before_it_ends() -> None:
    """Nobody looked meanwhile: the log was read later, or the server was away."""
    log = node().say(60, "node", "not_ready", "c/p/n").say(500, "node", "ready", "c/p/n")
    assert taken(dwells(300), log) == [("c/p/n", "bad", 60, None), ("c/p/n", "bad", 60, 500)]


def test_another_class_that_is_watched_too_is_a_time_of_its_own() -> None:
    log = node().say(60, "node", "not_ready", "c/p/n").say(500, "node", "ready", "c/p/n")
    found = taken(dwells(100, ("bad", "good")), log)
    assert found[-3:] == [("c/p/n", "bad", 60, None), ("c/p/n", "bad", 60, 500), ("c/p/n", "good", 500, None)]


def test_what_is_gone_has_ended() -> None:
    log = node().say(60, "node", "not_ready", "c/p/n").say(400, "node", "delete", "c/p/n")
    log.say(500, "node", "deleted", "c/p/n")
    found = dwells(100)
    last = [one for record in log.records for one in found.take(*record)][-1]
    assert (last.until_ns is not None, last.now_class) == (True, class_of_entity(KINDS, last.entity))
    assert [*found.due(10**30)] == []


def test_what_is_so_at_the_beginning_counts_from_when_it_began() -> None:
    log = node().say(60, "node", "not_ready", "c/p/n")
    last = {(one.entity.kind, one.entity.id): (place, one) for place, one, _ in log.records}
    found = dwells(300)
    found.begin(record for _, record in last.values())
    found.begun(0, len(log.records))
    assert told(found.due(START + 100 * SECOND)) == []
    assert [one for record in log.records for one in found.take(*record)] == []  # the reads have seen them
    assert told(found.due(START + 360 * SECOND)) == [("c/p/n", "bad", 60, None)]


def test_a_watch_goes_on_after_its_place_and_tells_nothing_twice() -> None:
    log = node().say(60, "node", "not_ready", "c/p/n").say(500, "node", "ready", "c/p/n")
    found = dwells(300)
    early = [one for record in log.records[:-1] for one in found.take(*record)]
    again = [one for record in log.records if record[0] > (found.place or 0) for one in found.take(*record)]
    assert told([*early, *again]) == [("c/p/n", "bad", 60, None), ("c/p/n", "bad", 60, 500)]


def test_what_no_longer_fits_has_ended_although_it_is_bad() -> None:
    log = node().say(60, "node", "not_ready", "c/p/n").say(90, "node", "overdue", "c/p/n")
    fits = lambda entity: "Balance" not in entity.facets[0].state.conditions  # noqa: E731  # one line
    assert taken(dwells(0, ["bad"], fits), log)[-1] == ("c/p/n", "bad", 60, 90)


def test_between_the_records_of_one_event_nothing_ends() -> None:
    """A record in the middle of an event shows what nobody else sees, whoever leaves others of it out."""
    log = node().say(60, "node", "not_ready", "c/p/n").say(70, "node", "overdue", "c/p/n")
    nodes = [one for one in log.records if one[1].entity.kind == "node"]
    (place, between, _), bad, (_, after, _) = nodes[-3:]
    found = dwells()
    begun = told([*found.take(*bad), *found.settle()])
    assert begun == [("c/p/n", "bad", 60, None)]
    newer = between.entity.version + 2
    assert [*found.take(place + 10, _as_version(between, newer), Numbered(77, 0, 3))] == []
    assert [*found.take(place + 11, _as_version(after, newer + 1), Numbered(77, 1, 3))] == []
    assert (found.is_settled, [*found.settle()], found.is_settled) == (False, [], True)
    assert [*found.take(place + 20, _as_version(between, newer + 2), Numbered(78, 0, 2))] == []
    assert len([*found.take(place + 22, _as_version(after, newer + 3), Numbered(79, 0, 1))]) == 2


def _as_version(record: Transition, version: int) -> Transition:
    from msgspec.structs import replace  # here only

    return replace(record, entity=replace(record.entity, version=version))


TRIGGERS = st.lists(
    st.tuples(st.integers(1, 400), st.sampled_from(["not_ready", "ready", "overdue", "renewed", "drain"])), max_size=12
)


@drawn(TRIGGERS, st.sampled_from([0, 60, 300]))
@examples(60)
def test_law_whoever_reads_the_log_is_told_every_time_that_lasts(steps: list[tuple[int, str]], lasting: int) -> None:
    log, now = node(), 10
    for seconds, trigger in steps:
        now += seconds
        log.say(now, "node", trigger, "c/p/n")
    expected: list[Told] = []
    began: int | None = None
    for _, record, _ in log.records:
        if record.entity.kind != "node":
            continue
        is_bad = class_of_entity(KINDS, record.entity) == "bad"
        if is_bad and began is None:
            began = _seconds(class_since(KINDS, record.entity))
        if not is_bad and began is not None:
            if _seconds(record.time_ns) - began >= lasting:
                expected += [("c/p/n", "bad", began, None), ("c/p/n", "bad", began, _seconds(record.time_ns))]
            began = None
    if began is not None:
        expected.append(("c/p/n", "bad", began, None))
    assert [one for one in taken(dwells(lasting), log) if one[0] == "c/p/n"] == expected
