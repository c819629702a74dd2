"""Laws of following a log: who ends at any moment and starts again tells what a replay tells, each once."""

from bisect import bisect_right
from itertools import accumulate
from random import Random
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from phaseline.engine.products.notices.fold.following import FollowedLog, FollowedTo, LiveNotice, looks_back
from phaseline.engine.products.notices.fold.groups import NoticeEvent
from phaseline.engine.products.notices.fold.rules import Rules
from phaseline.engine.surfaces.testing.histories import History
from phaseline.engine.surfaces.testing.search import histories
from phaseline.schemas.records import Transition, nanoseconds
from tests.support.notice_histories import (
    BUDGET,
    END,
    FLAPPING,
    KINDS,
    LATE_IN_A_WINDOW,
    LATE_WHILE_IT_FLAPS,
    UNTOLD_IN_A_WINDOW,
    Logged,
    by_notice,
    fleet_logs,
    log_of,
    played,
    shown,
    some_rules,
)

PHASES = {
    "began": "Waiting", "held": "Held", "opened": "Open", "returned": "Open", "clearing": "Clearing",
    "closed": "Closed", "lapsed": "Closed", "happened": "Closed",
}  # fmt: skip


class Store:
    """What the installation of notices makes of events: each takes effect once, the newest number counts."""

    def __init__(self) -> None:
        self.events: dict[str, list[NoticeEvent]] = {}
        self.phases: dict[str, str] = {}

    def put(self, events: list[NoticeEvent]) -> None:
        for one in events:
            known = self.events.setdefault(one.id, [])
            if known and known[-1].sequence >= one.sequence:
                continue
            known.append(one)
            self.phases[one.id] = PHASES.get(one.trigger, self.phases.get(one.id, "Open"))

    @property
    def all(self) -> list[NoticeEvent]:
        return [one for some in self.events.values() for one in some]

    @property
    def said(self) -> tuple[int, int]:
        """Up to which place and time something was said."""
        said = self.all
        return max((one.place for one in said), default=0), max((one.time_ns + 1 for one in said), default=0)

    @property
    def live(self) -> dict[tuple[str, str], LiveNotice]:
        return {
            (some[-1].rule, some[-1].group): self._live(notice, some)
            for notice, some in self.events.items()
            if self.phases[notice] != "Closed"
        }

    def later(self, checkpoint: FollowedTo) -> set[tuple[str, str]]:
        """The notices of which something was said after a checkpoint."""
        last = [some[-1] for some in self.events.values()]
        return {(one.rule, one.group) for one in last if one.place > checkpoint.place or one.time_ns >= checkpoint.at}

    def _live(self, notice: str, some: list[NoticeEvent]) -> LiveNotice:
        began = [one for one in some if one.word == "begin"]
        opened = some[-1].data["opened"]
        return LiveNotice(
            self.phases[notice], some[-1].data["begins"], some[-1].sequence,  # type: ignore[arg-type]  # a phase
            nanoseconds(opened) if opened else 0, began[-1].to if began else (), some[-1].time_ns,
        )  # fmt: skip


class Life:
    """A program that follows a log, ends at any moment, and is started again."""

    def __init__(self, log: list[Logged], store: Store, checkpoint: FollowedTo) -> None:
        self.log, self.store, self.checkpoint = log, store, checkpoint
        later = accumulate((one.time_ns for _, one in reversed(log)), min, initial=END)
        self.settled = [*later][::-1]
        """By place, the time before which no later record is."""
        self.decided = [*accumulate((one.time_ns for _, one in log), max, initial=0)]
        """By place, when it was decided at the earliest."""

    def run(self, rules: Rules, random: Any, upto: int, former: str = "") -> None:
        """Follow until a place, with pauses in which the clock counts; what is stored last may be a part."""
        if former:
            place, at = self.store.said
            checkpoint = self.checkpoint
            self.checkpoint = checkpoint._replace(place=max(place, checkpoint.place), at=max(at, checkpoint.at))
        later = self.store.later(self.checkpoint)
        following = FollowedLog(KINDS, rules, self.checkpoint, self.store.live, former, later=later)
        first, at = self._first(following, rules), self.checkpoint.at
        following.know(first, self._states(first))
        for place, record in self.log[first:upto]:
            self.store.put(following.take(place, record))
            if place > self.checkpoint.place and self.settled[place] > at and random.random() < 0.3:
                at = random.randint(at + 1, self.settled[place])
                self.store.put(following.advance(at))
            if place > self.checkpoint.place and random.random() < 0.3:
                self.checkpoint = following.checkpoint(place, at)
        if upto >= len(self.log):
            self.store.put(following.advance(END))
            self.checkpoint = following.checkpoint(len(self.log), END)

    def _first(self, following: FollowedLog, rules: Rules) -> int:
        """The place after which to read: enough of the time before what is made anew is read as well."""
        first, at = following.first, self.checkpoint.at
        horizon = min(self.decided[first], at or self.decided[first]) - looks_back(rules)
        return max(0, bisect_right(self.decided, horizon, hi=first + 1) - 1)

    def _states(self, place: int) -> list[Transition]:
        found: dict[tuple[str, str], Transition] = {}
        for _, record in self.log[:place]:
            if isinstance(record, Transition):
                found[record.entity.kind, record.entity.id] = record
        return [*found.values()]


def restarted(log: list[Logged], rules: Rules, random: Any) -> Store:
    store, life, place = Store(), Life(log, Store(), FollowedTo(0, 0, 0)), 0
    life.store = store
    while place < len(log):
        place = min(len(log), place + random.randint(1, max(1, len(log) // 3)))
        life.run(rules, random, place)
    life.run(rules, random, len(log))
    return store


@BUDGET
@given(histories(KINDS), some_rules(), st.integers(0, 10**6))
def test_restarts_at_any_moment_tell_what_a_replay_tells(history: History, rules: Rules, seed: int) -> None:
    log = log_of(history)
    _, replayed = played(rules, log, END)
    assert shown(restarted(log, rules, Random(seed)).all) == shown(replayed)


@BUDGET
@example(LATE_IN_A_WINDOW, UNTOLD_IN_A_WINDOW, 6)
@given(fleet_logs(), some_rules(), st.integers(0, 10**6))
def test_two_that_end_at_any_moment_tell_of_several_trees_what_a_replay_tells(
    log: list[Logged], rules: Rules, seed: int
) -> None:
    _, replayed = played(rules, log, END)
    random, store = Random(seed), Store()
    first, second = Life(log, store, FollowedTo(0, 0, 0)), Life(log, store, FollowedTo(0, 0, 0))
    for one in (first, second, second, first, second):
        one.run(rules, random, random.randint(one.checkpoint.place, len(log)))
        first.checkpoint = second.checkpoint = one.checkpoint  # the one that stored last
    first.run(rules, random, len(log))
    assert shown(store.all) == shown(replayed)


def test_a_restart_knows_what_counts_of_a_tree_that_is_late() -> None:
    replayed = shown(played(FLAPPING, LATE_WHILE_IT_FLAPS, END)[1])
    assert "'flapping': True" in replayed
    for place in range(len(LATE_WHILE_IT_FLAPS)):
        life = Life(LATE_WHILE_IT_FLAPS, Store(), FollowedTo(0, 0, 0))
        life.run(FLAPPING, Random(place), place)
        life.run(FLAPPING, Random(place), len(LATE_WHILE_IT_FLAPS))
        assert shown(life.store.all) == replayed


@BUDGET
@given(histories(KINDS), some_rules(), some_rules(), st.integers(0, 10**6))
def test_a_change_of_rules_ends_what_they_do_not_make_and_raises_nothing_again(
    history: History, rules: Rules, others: Rules, seed: int
) -> None:
    log = log_of(history)
    random = Random(seed)
    life, change = Life(log, Store(), FollowedTo(0, 0, 0)), random.randint(0, len(log))
    life.run(rules, random, change)
    life.run(others, random, len(log), "rule changed")
    for some in by_notice(life.store.all).values():
        open_ = False
        for one in some:
            assert not (one.word == "begin" and open_)
            assert not (one.word in ("end", "reminder", "flapping") and not open_)
            open_ = (open_ or one.trigger == "opened") and one.trigger not in ("closed", "happened")
