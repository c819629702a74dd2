"""Tests of the release with `phaseline.testing`; they need no server. Install `acme-kinds` and run `pytest`."""

from acme_kinds.release import RELEASE

from phaseline.testing import check_laws, given

PENDING = given(RELEASE).event("release", "create", "v2", {"notes": "faster"})
ROLLING = PENDING.event("release", "approve", "v2").event("release", "start", "v2")


def test_a_release_waits_for_approval() -> None:
    PENDING.when("release", "start", "v2").then_rejected("guard", "start needs Approved")
    PENDING.when("release", "approve", "v2").when("release", "start", "v2").then("release", "v2", "Rolling")


def test_conditions_add_up_until_the_last_one_is_cleared() -> None:
    failed = ROLLING.event("release", "checks_failed", "v2").when("release", "timed_out", "v2")
    failed.then("release", "v2", "Failed", conditions=["ChecksFailed", "TimedOut"])
    failed.when("release", "checks_passed", "v2").then("release", "v2", "Failed [TimedOut]")
    failed.event("release", "resumed", "v2").when("release", "checks_passed", "v2").then("release", "v2", "Rolling")


def test_a_repeated_report_leaves_no_record() -> None:
    done = ROLLING.when("release", "finished", "v2", source="/ci", sequence=1).then_transitions(1)
    done.when("release", "finished", "v2", source="/ci", sequence=2).then_nothing()


def test_a_release_that_was_refused_may_be_approved_later() -> None:
    refused = given(RELEASE).state("release", "v2", "Pending").state("release", "v2", "Refused", facet="approval")
    refused.when("release", "approve", "v2").then("release", "v2", "Approved", facet="approval")


def test_the_notes_live_as_long_as_the_release() -> None:
    withdrawn = ROLLING.when("release", "withdraw", "v2").then("release", "v2", "Deleted")
    withdrawn.when("release", "create", "v2").then("release", "v2", "Waiting", facet="approval")
    PENDING.when("release", "approve", "v2").then("release", "v2", "Pending", attributes={"notes": "faster"})


def test_the_laws_hold() -> None:
    check_laws(RELEASE, examples=50)
