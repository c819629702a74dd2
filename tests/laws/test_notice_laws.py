"""Laws of notices over random histories and rules: a replay tells what was told live, nothing is lost or told twice."""

from itertools import accumulate, pairwise
from random import Random
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from phaseline.engine.products.notices.fold import matching
from phaseline.engine.products.notices.fold.fold import Fold
from phaseline.engine.products.notices.fold.grouping import entity_of
from phaseline.engine.products.notices.fold.groups import NoticeEvent
from phaseline.engine.products.notices.fold.rules import Rules
from phaseline.engine.products.notices.fold.windows import root_of
from phaseline.engine.surfaces.testing.histories import History
from phaseline.engine.surfaces.testing.search import histories
from phaseline.schemas.records import Transition
from tests.support.notice_histories import (
    BUDGET,
    END,
    HELD_UNTIL_A_WINDOW_ENDS,
    KINDS,
    LATE_AFTER_AN_INTENT,
    LATE_FOR_A_WINDOW,
    LATE_IN_A_WINDOW,
    LATE_WHEN_ALL_SEEMS_OVER,
    LEFT_BY_AN_INTENT,
    UNTOLD_IN_A_WINDOW,
    Logged,
    by_notice,
    fleet_logs,
    log_of,
    played,
    shown,
    some_rules,
)


@BUDGET
@given(histories(KINDS), some_rules(), st.randoms())
def test_live_and_replay_make_the_same_events(history: History, rules: Rules, random: object) -> None:
    """Whether what is due fires when it is due, at the log's end, or only before the next record of its home."""
    log = log_of(history)
    _, replayed = played(rules, log, END)
    for home in (root_of, lambda _: 0):
        live, found, now = Fold(KINDS, rules, home), list[NoticeEvent](), 0
        for place, record in log:
            if record.time_ns > now and random.random() < 0.5:  # type: ignore[attr-defined]
                found += live.advance(record.time_ns)
            now = record.time_ns
            found += live.take(place, record)
        found += live.advance(END)
        assert shown(found) == shown(replayed)


@BUDGET
@example(LATE_IN_A_WINDOW, UNTOLD_IN_A_WINDOW, Random(1), 0.5)
@example(LATE_WHEN_ALL_SEEMS_OVER, UNTOLD_IN_A_WINDOW, Random(1), 0.5)
@example(LATE_FOR_A_WINDOW, HELD_UNTIL_A_WINDOW_ENDS, Random(1), 1.0)
@example(LATE_AFTER_AN_INTENT, LEFT_BY_AN_INTENT, Random(1), 1.0)
@given(fleet_logs(), some_rules(), st.randoms(), st.sampled_from([0.2, 1.0]))
def test_trees_that_are_late_are_told_live_as_in_a_replay(
    log: list[Logged], rules: Rules, random: Any, often: float
) -> None:
    """Whether the clock counts only once no record of an earlier time is to come, or as soon as it may.

    often: how often it counts as soon as it may.
    """
    fold, replayed = played(rules, log, END)
    live, found = Fold(KINDS, rules), list[NoticeEvent]()
    later = [*accumulate((one.time_ns for _, one in reversed(log)), min, initial=END)][::-1]
    for (place, record), settled in zip(log, later[1:], strict=True):
        found += live.take(place, record)
        if random.random() < often:
            found += live.advance(settled)
    found += live.advance(END)
    assert shown(found) == shown(replayed)
    last = {entity_of(one): one for _, one in log if isinstance(one, Transition)}
    held = {(group.rule.name, *name): group for group in fold.groups.values() for name in group.members}
    for rule in rules.rules:
        for name, one in last.items():
            if not rule.when.is_of_happenings and matching.selects(KINDS, rule, one.entity):
                group = held[rule.name, *name]
                assert group.phase == "Open" or (group.phase == "Held" and group.held_by in fold.groups)


@BUDGET
@given(histories(KINDS), some_rules())
def test_begin_and_end_are_told_once_each_and_in_order(history: History, rules: Rules) -> None:
    fold, events = played(rules, log_of(history), END)
    alive = {"/".join(key): group for key, group in fold.groups.items()}
    for notice, some in by_notice(events).items():
        for before, after in pairwise(some):
            assert before.sequence < after.sequence
            assert before.time_ns <= after.time_ns
        open_ = False
        for one in some:
            assert open_ is (one.word not in ("begin", "")) or not one.word
            open_ = one.trigger == "opened" or (open_ and one.word != "end")
        assert open_ is (notice in alive and alive[notice].phase in ("Open", "Clearing"))


@BUDGET
@given(histories(KINDS), some_rules())
def test_what_is_so_at_the_end_is_told_or_held_by_what_is_told(history: History, rules: Rules) -> None:
    fold, _ = played(rules, log_of(history), END)
    for rule in rules.rules:
        if rule.when.is_of_happenings:
            continue
        held = {name: group for group in fold.groups.values() if group.rule == rule for name in group.members}
        for kind, entities in history.tree.entities.items():
            for entity in entities.values():
                if not matching.selects(KINDS, rule, entity):
                    continue
                group = held[kind, entity.id]
                assert group.phase == "Open" or (group.phase == "Held" and group.held_by in fold.groups)


@BUDGET
@given(histories(KINDS), some_rules())
def test_nobody_is_concerned_in_two_notices_of_a_rule(history: History, rules: Rules) -> None:
    fold, _ = played(rules, log_of(history), END)
    lasting = [group for group in fold.groups.values() if not group.rule.when.is_of_happenings]
    concerned = [(group.rule.name, *name) for group in lasting for name in group.members]
    assert len(concerned) == len(set(concerned))
