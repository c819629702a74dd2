"""The test kit's `wait`: timers that fire without a server, and the texts of expectations that fail after it.

Belongs here: scenarios with waiting. Does not: when a timer starts (`test_timer_changes`), the server's timers
(`tests/nats/test_timers`).
"""

import pytest

from phaseline.schemas.records import SECOND, timestamp
from phaseline.tables import (
    ABSENT,
    DELETED,
    LIVE,
    OK,
    SAME,
    AttributeIs,
    Attributes,
    Cascade,
    Facet,
    Field,
    Label,
    Row,
    RuleEvent,
    Table,
    Timeout,
    rule,
)
from phaseline.testing import Given, given
from tests.support.scenarios import failure


def label(phase: str, condition: str = OK) -> Label:
    return Label(phase, condition, phase, phase)


JOB = Table(
    kind="job",
    id=("job",),
    intents=("start", "finish", "check", "drop"),
    derived=("give_up", "lose"),
    facets=(
        Facet(
            name="phase",
            labels=(label("Running"), label("Stuck"), label("Lost"), label("Checking"), label("Done")),
            rows=(
                Row((ABSENT,), "start", "Running"),
                Row(("Running",), "give_up", "Stuck"),
                Row(("Running", "Stuck"), "finish", "Done"),
                Row(("Stuck",), "check", "Checking"),
                Row(("Checking",), "lose", "Lost"),
                Row((LIVE,), "drop", DELETED),
            ),
            timeouts=(Timeout("Running", "give_up", seconds=600), Timeout("Checking", "lose", seconds=60)),
        ),
    ),
    cascades=(Cascade("lose", at=("task",), into="Stuck"),),
)
TASK = Table(
    kind="task",
    id=("job", "task"),
    parent="job",
    intents=("start", "drop"),
    derived=("lose",),
    facets=(
        Facet(
            name="phase",
            labels=(label("Running"), label("Gone")),
            rows=(
                Row((ABSENT,), "start", "Running"),
                Row(("Running",), "lose", "Gone"),
                Row((LIVE,), "drop", DELETED),
            ),
        ),
    ),
)


@rule("tests.rung", revision=1)
def rung(attributes: Attributes, event: RuleEvent) -> Attributes:
    return {**attributes, "rings": attributes["rings"] + 1}


PROBE = Table(
    kind="probe",
    id=("probe",),
    intents=("start", "stop"),
    derived=("ring",),
    attributes=(
        Field("first", float, "seconds to the first ring"),
        Field("again", float, "seconds to each further ring"),
        Field("quiet", bool, "whether it may not ring", default=False),
        Field("rings", int, "how often it rang", default=0),
    ),
    facets=(
        Facet(
            name="phase",
            labels=(label("On"),),
            rows=(
                Row((ABSENT,), "start", "On", assigns=True),
                Row(("On",), "ring", SAME, when=(AttributeIs("probe", "quiet", False),), computes=rung),
                Row(("On",), "stop", DELETED),
            ),
            timeouts=(Timeout("On", "ring", seconds_from="first", repeat_after="again"),),
        ),
    ),
)

KINDS = (JOB, TASK, PROBE)
STARTED = given(KINDS).event("job", "start", "j")


def probe(first: float, again: float = 0, *, quiet: bool = False) -> Given:
    return given(KINDS).event("probe", "start", "p", {"first": first, "again": again, "quiet": quiet})


# ---- what fires


def test_a_timer_fires_at_its_time_and_not_a_second_earlier() -> None:
    STARTED.wait(599).then("job", "j", "Running").then_nothing()
    STARTED.wait(599.999).then("job", "j", "Running")
    after = STARTED.wait(600).then("job", "j", "Stuck").then_transitions(1)
    (fired,) = after.transitions
    assert (fired.trigger, fired.cause.by, fired.cause.origin) == ("give_up", "timer", "job/j")
    assert timestamp(fired.time_ns) == "2026-01-01T00:10:00.000000000Z"
    assert STARTED.entity("job", "j").facets[0].state.phase == "Running"


def test_waiting_adds_up_and_events_go_on_after_it() -> None:
    STARTED.wait(300).then_nothing().wait(300).then("job", "j", "Stuck")
    stuck = STARTED.wait(600)
    stuck.when("job", "finish", "j").then("job", "j", "Done").then_transitions(1)
    (finished,) = stuck.when("job", "finish", "j").transitions
    assert timestamp(finished.time_ns) == "2026-01-01T00:10:01.000000000Z"
    assert finished.cause.sequence == 3
    STARTED.when("task", "start", "j/t").wait(598).then_nothing().wait(1).then("job", "j", "Stuck")


def test_timers_fire_in_the_order_of_their_due_times() -> None:
    later = STARTED.event("probe", "start", "p", {"first": 30}).event("probe", "start", "a", {"first": 900})
    after = later.wait(1000)
    assert [(each.entity.id, each.trigger) for each in after.transitions] == [
        ("p", "ring"), ("j", "give_up"), ("a", "ring"),
    ]  # fmt: skip
    times = [each.time_ns for each in after.transitions]
    assert [time // SECOND - times[0] // SECOND for time in times] == [0, 569, 871]


def test_a_timer_is_cancelled_when_its_phase_ends() -> None:
    STARTED.event("job", "finish", "j").wait(10_000).then("job", "j", "Done").then_nothing()


def test_a_timer_fires_again_as_long_as_the_waiting_lasts() -> None:
    ringing = probe(10, 5)
    ringing.wait(9).then("probe", "p", "On", attributes={"rings": 0})
    ringing.wait(29).then("probe", "p", "On", attributes={"rings": 4}).then_transitions(4)
    ringing.wait(30).then_transitions(5).wait(5).then_transitions(1).then("probe", "p", "On", attributes={"rings": 6})
    probe(10).wait(1000).then_transitions(1)


def test_what_follows_from_a_timer_follows() -> None:
    after = STARTED.event("task", "start", "j/t").wait(700)
    after.then("job", "j", "Stuck").then("task", "j/t", "Gone").then_transitions(2)
    assert [each.cause.by for each in after.transitions] == ["timer", "cascade"]


def test_a_timer_that_starts_after_a_waiting_fires_in_the_next_one() -> None:
    checking = STARTED.wait(600).event("job", "check", "j")
    checking.wait(59).then("job", "j", "Checking").wait(1).then("job", "j", "Lost")


def test_a_timer_of_a_placed_state_fires() -> None:
    given(KINDS).state("job", "j", "Checking").wait(60).then("job", "j", "Lost")


def test_a_timer_that_the_clock_left_behind_fires_late() -> None:
    after = STARTED.later(hours=1).wait(0).then("job", "j", "Stuck")
    assert timestamp(after.transitions[0].time_ns) == "2026-01-01T01:00:00.000000000Z"


# ---- timers that lead nowhere


def test_a_timer_without_effect_fires_once() -> None:
    quiet = probe(10, 5, quiet=True)
    quiet.wait(1000).then_nothing().wait(1000).then_nothing()
    assert "(1 timer fired; none is left)" in quiet.wait(1000).description


def test_timers_without_an_end_fail_the_test() -> None:
    said = failure(lambda: probe(1, 1e-9).wait(60))
    assert said == "the test is wrong: more than 10000 timers fire in 60 s; the next would be probe p ring"
    assert len(probe(1, 1e-12).wait(60).transitions) == 1


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf")])
def test_a_waiting_has_a_length(seconds: float) -> None:
    assert failure(lambda: STARTED.wait(seconds)) == (
        f"the test is wrong: a test can wait from 0 to 1000000000 seconds, found {seconds}"
    )


# ---- what failures say


def test_a_failure_names_the_timer_that_is_next() -> None:
    assert failure(lambda: STARTED.wait(599).then("job", "j", "Stuck")) == (
        "expected job j to be Stuck; it is Running [Ok]\n\n"
        "waiting 599 s (no timer fired; next: job j give_up, 1 s later) made no record\n"
        "the tree now:\n  job j  Running [Ok]"
    )


def test_a_failure_lists_what_all_timers_made() -> None:
    both = STARTED.event("probe", "start", "p", {"first": 30, "again": 0})
    assert failure(lambda: both.wait(700).then("job", "j", "Running")) == (
        "expected job j to be Running; it is Stuck [Ok]\n\n"
        "waiting 700 s (2 timers fired; none is left) made:\n"
        "  probe p: still On [Ok], with the new base On [Ok] by ring (timer of probe/p)\n"
        "  job j: Running [Ok] -> Stuck [Ok] by give_up (timer of job/j)\n"
        "the tree now:\n  job j  Stuck [Ok]\n"
        '  probe p  On [Ok]  {"quiet": false, "rings": 1, "first": 30, "again": 0}'
    )
    assert failure(lambda: STARTED.wait(600).then_nothing()).startswith(
        "expected waiting 600 s (1 timer fired; none is left) to have no effect; it made 1 transition"
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
    late = given(chain).event("chain", "start", "c").wait(60)
    late.then("chain", "c", "Late")
    late.wait(29).then("chain", "c", "Late")
    late.wait(30).then("chain", "c", "Lost")
    given(chain).event("chain", "start", "c").wait(90).then("chain", "c", "Lost")
