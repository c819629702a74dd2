"""The test kit's clock: timers that fire as time passes, and the texts of expectations that fail after it.

Belongs here: scenarios in which time passes. Does not: when a timer starts (`test_timer_changes`), the same timers in
a worker (`tests/laws/test_kit_and_worker`).
"""

import pytest

from phaseline.schemas.records import SECOND, timestamp
from phaseline.tables import ABSENT, DELETED, LIVE, Facet, Row, Table, Timeout
from phaseline.testing import Given, given
from tests.support.scenarios import failure
from tests.support.timed_kinds import KINDS, label

STARTED = given(KINDS).event("job", "start", "j")


def probe(first: float, again: float = 0, *, quiet: bool = False) -> Given:
    return given(KINDS).event("probe", "start", "p", {"first": first, "again": again, "quiet": quiet})


# ---- what fires


def test_a_timer_fires_at_its_time_and_not_a_second_earlier() -> None:
    STARTED.later(seconds=599).then("job", "j", "Running").then_nothing()
    STARTED.later(seconds=599.999).then("job", "j", "Running")
    after = STARTED.later(seconds=600).then("job", "j", "Stuck").then_transitions(1)
    (fired,) = after.transitions
    assert (fired.trigger, fired.cause.by, fired.cause.origin) == ("give_up", "timer", "job/j")
    assert timestamp(fired.time_ns) == "2026-01-01T00:10:00.000000000Z"
    assert STARTED.entity("job", "j").facets[0].state.phase == "Running"


def test_time_adds_up_and_events_go_on_after_it() -> None:
    STARTED.later(seconds=300).then_nothing().later(seconds=300).then("job", "j", "Stuck")
    stuck = STARTED.later(seconds=600)
    stuck.when("job", "finish", "j").then("job", "j", "Done").then_transitions(1)
    (finished,) = stuck.when("job", "finish", "j").transitions
    assert timestamp(finished.time_ns) == "2026-01-01T00:10:00.000000000Z"
    assert finished.cause.sequence == 3
    STARTED.when("task", "start", "j/t").later(seconds=598).then_nothing().later(seconds=1).then("job", "j", "Stuck")


def test_timers_fire_in_the_order_of_their_due_times() -> None:
    later = STARTED.event("probe", "start", "p", {"first": 30}).event("probe", "start", "a", {"first": 900})
    after = later.later(seconds=1000)
    assert [(each.entity.id, each.trigger) for each in after.transitions] == [
        ("p", "ring"), ("j", "give_up"), ("a", "ring"),
    ]  # fmt: skip
    times = [each.time_ns for each in after.transitions]
    assert [time // SECOND - times[0] // SECOND for time in times] == [0, 569, 871]


def test_a_timer_is_cancelled_when_its_phase_ends() -> None:
    STARTED.event("job", "finish", "j").later(seconds=10_000).then("job", "j", "Done").then_nothing()


def test_a_timer_fires_again_as_long_as_time_passes() -> None:
    ringing = probe(10, 5)
    ringing.later(seconds=9).then("probe", "p", "On", attributes={"rings": 0})
    ringing.later(seconds=29).then("probe", "p", "On", attributes={"rings": 4}).then_transitions(4)
    ringing.later(seconds=30).then_transitions(5).later(seconds=5).then_transitions(1).then(
        "probe", "p", "On", attributes={"rings": 6}
    )
    probe(10).later(seconds=1000).then_transitions(1)


def test_what_follows_from_a_timer_follows() -> None:
    after = STARTED.event("task", "start", "j/t").later(seconds=700)
    after.then("job", "j", "Stuck").then("task", "j/t", "Gone").then_transitions(2)
    assert [each.cause.by for each in after.transitions] == ["timer", "cascade"]


def test_a_timer_that_starts_after_a_while_fires_later() -> None:
    checking = STARTED.later(seconds=600).event("job", "check", "j")
    checking.later(seconds=59).then("job", "j", "Checking").later(seconds=1).then("job", "j", "Lost")


def test_a_timer_of_a_placed_state_fires() -> None:
    given(KINDS).state("job", "j", "Checking").later(seconds=60).then("job", "j", "Lost")


def test_what_is_due_happens_before_the_next_event() -> None:
    late = STARTED.later(hours=1).when("job", "finish", "j")
    late.then("job", "j", "Done").then_transitions(1)
    assert [str(late.transitions[0].before), late.transitions[0].cause.sequence] == ["Stuck [Ok]", 3]
    STARTED.at("2026-01-01T00:10:00Z").then("job", "j", "Stuck").then_transitions(1)
    STARTED.at("2026-01-01T00:09:59Z").then("job", "j", "Running").then_nothing()


def test_what_is_due_between_two_events_happens_there() -> None:
    after = probe(0.5, 0.25).when("probe", "stop", "p").then_transitions(1)
    assert after.description == "probe stop p (before it, 3 timers fired: probe p ring, probe p ring, probe p ring)"
    assert after.transitions[0].entity.version == 5
    assert probe(0.5, 0.25).state("job", "j", "Running").entity("probe", "p").version == 4


def test_the_clock_does_not_go_back() -> None:
    assert failure(lambda: STARTED.later(hours=1).at("2026-01-01T00:30:00Z")) == (
        "the test is wrong: the clock cannot go back to 2026-01-01T00:30:00Z: it is 2026-01-01T01:00:00.000000000Z"
    )
    early = given(KINDS).at("2020-01-01T00:00:00Z").event("job", "start", "j")
    assert timestamp(early.entity("job", "j").facets[0].since_ns).startswith("2020-01-01T00:00:00")


# ---- timers that lead nowhere


def test_a_timer_without_effect_fires_once() -> None:
    quiet = probe(10, 5, quiet=True)
    quiet.later(seconds=1000).then_nothing().later(seconds=1000).then_nothing()
    assert "(1 timer fired; none is left)" in quiet.later(seconds=1000).description


def test_timers_without_an_end_fail_the_test() -> None:
    said = failure(lambda: probe(1, 1e-9).later(seconds=60))
    assert said == "the test is wrong: more than 10000 timers fire in 60 s; the next would be probe p ring"
    assert len(probe(1, 1e-12).later(seconds=60).transitions) == 1


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf")])
def test_time_has_a_length(seconds: float) -> None:
    assert failure(lambda: STARTED.later(seconds=seconds)) == (
        f"the test is wrong: the clock moves by 0 to 1000000000 seconds, found {seconds}"
    )


# ---- what failures say


def test_a_failure_names_the_timer_that_is_next() -> None:
    assert failure(lambda: STARTED.later(seconds=599).then("job", "j", "Stuck")) == (
        "expected job j to be Stuck; it is Running [Ok]\n\n"
        "599 s later (no timer fired; next: job j give_up, 1 s later) made no record\n"
        "the tree now:\n  job j  Running [Ok]"
    )


def test_a_failure_lists_what_all_timers_made() -> None:
    both = STARTED.event("probe", "start", "p", {"first": 30, "again": 0})
    assert failure(lambda: both.later(seconds=700).then("job", "j", "Running")) == (
        "expected job j to be Running; it is Stuck [Ok]\n\n"
        "700 s later (2 timers fired; none is left) made:\n"
        "  probe p: still On [Ok], with the new base On [Ok] by ring (timer of probe/p)\n"
        "  job j: Running [Ok] -> Stuck [Ok] by give_up (timer of job/j)\n"
        "the tree now:\n  job j  Stuck [Ok]\n"
        '  probe p  On [Ok]  {"quiet": false, "rings": 1, "first": 30, "again": 0}'
    )
    assert failure(lambda: STARTED.later(seconds=600).then_nothing()).startswith(
        "expected 600 s later (1 timer fired; none is left) to have no effect; it made 1 transition"
    )


def test_a_timer_that_leads_to_a_phase_with_a_timeout_sets_the_next_one() -> None:
    chain = Table(
        kind="chain",
        id=("chain",),
        intents=("start",),
        derived=("first", "second"),
        facets=(
            Facet(
                name="phase",
                labels=(label("Running"), label("Late"), label("Lost")),
                rows=(
                    Row((ABSENT,), "start", "Running"),
                    Row(("Running",), "first", "Late"),
                    Row(("Late",), "second", "Lost"),
                    Row((LIVE,), "start", DELETED),
                ),
                timeouts=(Timeout("Running", "first", seconds=60), Timeout("Late", "second", seconds=30)),
            ),
        ),
    )
    late = given(chain).event("chain", "start", "c").later(seconds=60)
    late.then("chain", "c", "Late")
    late.later(seconds=29).then("chain", "c", "Late")
    late.later(seconds=30).then("chain", "c", "Lost")
    given(chain).event("chain", "start", "c").later(seconds=90).then("chain", "c", "Lost")
