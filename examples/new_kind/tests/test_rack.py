"""The kind `rack`, tested without a server."""

from phaseline.testing import check_laws, given

from rack_kind.table import RACK

CREATING = given(RACK).event("rack", "create", "a", {"owner": "me"})
RUNNING = CREATING.event("rack", "created", "a")


def test_it_runs_once_it_is_created() -> None:
    CREATING.when("rack", "created", "a").then("rack", "a", "Running", attributes={"owner": "me"})


def test_creating_times_out_after_ten_minutes() -> None:
    CREATING.later(minutes=9).then("rack", "a", "Creating")
    late = CREATING.later(minutes=10).then("rack", "a", "Failed [TimedOut]")
    late.when("rack", "created", "a").then("rack", "a", "Running")


def test_a_failed_one_can_be_tried_again() -> None:
    failed = RUNNING.event("rack", "failed", "a", {"reason": "Broken"})
    failed.when("rack", "retry", "a").then("rack", "a", "Creating")


def test_only_a_failed_one_can_be_tried_again() -> None:
    RUNNING.when("rack", "retry", "a").then_rejected("illegal", "it needs Failed")


def test_it_is_deleted() -> None:
    RUNNING.event("rack", "delete", "a").when("rack", "deleted", "a").then("rack", "a", "Deleted")


def test_the_laws_hold() -> None:
    check_laws(RACK, examples=20)
