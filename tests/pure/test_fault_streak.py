"""When a worker ends because it fails on whatever it decides, and when it does not."""

from collections.abc import Iterable

import pytest

from phaseline.engine.core.process import Fault
from phaseline.engine.replay.recorded_log import StoredEvent
from phaseline.engine.worker.faults import IN_A_ROW, FaultStreak
from phaseline.schemas.errors import SetupError
from tests.support.raising import raises

KINDS = ("node", "resource")


def stored(count: int, *, trees: Iterable[str] = ("c1", "c2"), kinds: Iterable[str] = KINDS) -> list[StoredEvent]:
    """Events that go round the trees and the kinds, so that each kind is in each tree."""
    places = [(tree, kind) for tree in trees for kind in kinds]
    return [
        StoredEvent(f"pl.inbox.0.{tree}.{kind}.ready.x", b"", n, n)
        for n, (tree, kind) in enumerate((places[n % len(places)] for n in range(count)), 1)
    ]


def faults(events: Iterable[StoredEvent]) -> list[Fault]:
    return [Fault(one, TypeError("no such option")) for one in events]


def test_events_of_several_kinds_in_several_trees_end_it() -> None:
    events = stored(IN_A_ROW)
    FaultStreak().take(events[1:], faults(events[1:]))
    with raises(SetupError.worker_faults, match=r"20 events, of 2 kinds in 2 trees, .*TypeError: no such option"):
        FaultStreak().take(events, faults(events))


def test_they_are_counted_over_batches() -> None:
    streak, events = FaultStreak(), stored(IN_A_ROW)
    for one in events[:-1]:
        streak.take([one], faults([one]))
    with raises(SetupError.worker_faults):
        streak.take(events[-1:], faults(events[-1:]))


@pytest.mark.parametrize("places", [
    {"trees": ["c1"]}, {"kinds": ["node"]}, {"trees": ["c1"], "kinds": ["node"]},
], ids=["one tree", "one kind", "one of each"])  # fmt: skip
def test_one_publisher_and_one_rule_never_end_it(places: dict[str, list[str]]) -> None:
    events = stored(10_000, **places)
    FaultStreak().take(events, faults(events))


@pytest.mark.parametrize("at", [0, 5, IN_A_ROW - 1, IN_A_ROW, 2 * IN_A_ROW - 2])
def test_an_event_that_is_decided_begins_the_count_anew(at: int) -> None:
    events = stored(2 * IN_A_ROW - 1)
    failed = faults(events[:at] + events[at + 1 :])
    ends_with = len(events) - at - 1
    if ends_with < IN_A_ROW:
        FaultStreak().take(events, failed)
        return
    with raises(SetupError.worker_faults, match=f"the last {ends_with} events"):
        FaultStreak().take(events, failed)


def test_a_batch_without_faults_begins_it_anew() -> None:
    streak, events = FaultStreak(), stored(IN_A_ROW)
    for _ in range(5):
        streak.take(events[1:], faults(events[1:]))
        streak.take(events[:1], [])
    assert streak.faults == 0
