"""The kinds of an installation of notices: what a notice and its deliveries become, and who knows these kinds."""

from typing import Any

from phaseline.machines.built_in import BUILT_IN, SOUND, installed
from phaseline.machines.compiler.fingerprint import digest_of
from phaseline.testing import Given, given

KINDS = installed("pl-notices")
NOTICE, OPS = "down/4711", "down/4711/ops"


def data(**more: Any) -> dict[str, Any]:
    return {"severity": "critical", "to": ["ops"], "number": 1, "names": ["node/c1/p/n1"], **more}


def opened() -> Given:
    return given(KINDS).event("notice", "opened", NOTICE, data()).event("delivery", "queued", OPS, {"word": "begin"})


def sent() -> Given:
    sending = opened().event("delivery", "send", OPS, {"if_version": 1})
    return sending.event("delivery", "sent", OPS, {"told": "begin", "handle": {"ts": "1.2"}})


def test_an_installation_of_notices_has_just_its_kinds_and_others_have_none_of_them() -> None:
    assert [*KINDS] == ["notice", "delivery", "notifier"]
    KINDS.check()
    assert KINDS["notice"].written not in BUILT_IN
    ordinary = installed("pl")
    assert not ordinary.keys() & KINDS.keys()
    assert ordinary is installed()
    tables = {name: kind.version for name, kind in ordinary.items()}
    assert digest_of(tables) == SOUND or len(ordinary) > len(BUILT_IN)


def test_a_notice_waits_opens_clears_and_closes() -> None:
    waiting = given(KINDS).event("notice", "began", NOTICE, data())
    waiting.when("notice", "opened", NOTICE, data()).then("notice", NOTICE, "Open")
    cleared = waiting.event("notice", "opened", NOTICE, data()).event("notice", "clearing", NOTICE, data(number=0))
    cleared.when("notice", "returned", NOTICE, data()).then("notice", NOTICE, "Open")
    closed = cleared.when("notice", "closed", NOTICE, data(ended_as="good"))
    closed.then("notice", NOTICE, "Closed")
    assert closed.entity("notice", NOTICE).attributes["ended_as"] == "good"


def test_a_closed_notice_is_forgotten_with_its_deliveries() -> None:
    closed = sent().event("notice", "closed", NOTICE, data()).later(days=31)
    closed.then("notice", NOTICE, "Deleted").then("delivery", OPS, "Deleted")
    again = closed.event("notice", "opened", NOTICE, data()).when("delivery", "queued", OPS, {"word": "begin"})
    again.then("delivery", OPS, "Queued")


def test_a_delivery_is_claimed_once() -> None:
    claimed = opened().event("delivery", "send", OPS, {"if_version": 1})
    claimed.when("delivery", "send", OPS, {"if_version": 1}).then_rejected("changed")


def test_news_that_come_while_a_message_is_sent_are_sent_next() -> None:
    sending = opened().event("delivery", "send", OPS)
    overtaken = sending.event("delivery", "queued", OPS, {"word": "end"})
    overtaken.when("delivery", "sent", OPS, {"told": "begin"}).then("delivery", OPS, "Queued")
    overtaken.when("delivery", "failed", OPS, {"error": "503", "tries": 1, "wait": 30}).then("delivery", OPS, "Failed")


def test_a_failed_delivery_is_due_again_and_forgets_its_failures_once_it_is_sent() -> None:
    sending = opened().event("delivery", "send", OPS)
    failed = sending.event("delivery", "failed", OPS, {"error": "503", "tries": 1, "wait": 30.0})
    failed.later(seconds=29).then("delivery", OPS, "Failed")
    due = failed.later(seconds=31).then("delivery", OPS, "Queued")
    assert due.entity("delivery", OPS).attributes["tries"] == 1
    done = due.event("delivery", "send", OPS).when("delivery", "sent", OPS, {"told": "begin"})
    done.then("delivery", OPS, "Sent")
    assert done.entity("delivery", OPS).attributes.get("tries") is None


def test_a_sender_that_says_nothing_loses_its_delivery() -> None:
    opened().event("delivery", "send", OPS).later(seconds=181).then("delivery", OPS, "Queued")


def test_a_report_of_an_earlier_claim_counts_no_more() -> None:
    claimed = opened().when("delivery", "send", OPS)
    first = claimed.transitions[0].cause.sequence
    late = claimed.event("delivery", "queued", OPS, {"word": "end"}).later(seconds=181)
    late.when("delivery", "sent", OPS, {"told": "begin", "answers": first}).then("delivery", OPS, "Queued")
    again = late.event("delivery", "send", OPS)
    for trigger, data in (("sent", {"told": "begin"}), ("failed", {"error": "no"}), ("given_up", {"error": "no"})):
        again.when("delivery", trigger, OPS, {**data, "answers": first}).then_rejected("stale")


def test_what_is_to_be_told_after_an_end_waits_again() -> None:
    sending = sent().event("delivery", "queued", OPS, {"word": "begin"}).event("delivery", "send", OPS)
    sending.when("delivery", "sent", OPS, {"told": "end", "more": True}).then("delivery", OPS, "Queued")


def test_nobody_is_reminded_of_what_somebody_took() -> None:
    taken = sent().event("notice", "take", NOTICE, {"taken_by": "ann"})
    taken.when("delivery", "queued", OPS, {"word": "reminder"}).then("delivery", OPS, "Sent")
    taken.when("delivery", "queued", OPS, {"word": "end"}).then("delivery", OPS, "Queued")


def test_what_was_taken_is_given_back_after_eight_hours_and_told_once() -> None:
    taken = sent().event("notice", "take", NOTICE, {"taken_by": "ann"})
    back = taken.later(hours=8, seconds=1)
    back.then("notice", NOTICE, "GivenBack", facet="attention").then("delivery", OPS, "Queued")
    assert back.entity("notice", NOTICE).attributes["taken_by"] == "ann"
    ended = taken.when("notice", "closed", NOTICE, data())
    ended.then("notice", NOTICE, "Free", facet="attention")
    assert "taken_by" not in ended.entity("notice", NOTICE).attributes


def test_what_is_on_hold_tells_nothing_until_the_hold_ends_but_its_end_is_told() -> None:
    held = sent().event("notice", "hold", NOTICE, {"hold_seconds": 7200.0})
    kept = held.when("delivery", "queued", OPS, {"word": "reminder"})
    kept.then("delivery", OPS, "Held")
    kept.later(hours=2, seconds=1).then("delivery", OPS, "Queued")
    kept.when("notice", "closed", NOTICE, data()).then("delivery", OPS, "Queued")
    closed = held.event("notice", "closed", NOTICE, data())
    closed.when("delivery", "queued", OPS, {"word": "end"}).then("delivery", OPS, "Queued")
    until_back = sent().event("notice", "hold", NOTICE).event("delivery", "queued", OPS, {"word": "reminder"})
    until_back.later(days=9).then("delivery", OPS, "Held")


def test_what_is_over_cannot_be_taken_or_held() -> None:
    closed = sent().event("notice", "closed", NOTICE, data())
    closed.when("notice", "take", NOTICE, {"taken_by": "ann"}).then_rejected("guard")
    closed.when("notice", "hold", NOTICE).then_rejected("guard")


def test_a_repeat_of_the_notifier_changes_nothing() -> None:
    once = given(KINDS).event("notice", "opened", NOTICE, data(), sequence=5, epoch=7, source="/n")
    closed = once.event("notice", "closed", NOTICE, data(), sequence=6, epoch=7, source="/n")
    closed.when("notice", "opened", NOTICE, data(), sequence=5, epoch=7, source="/n").then("notice", NOTICE, "Closed")
