"""Which deliveries wait for a sender, in which order, and what they tell as things are now."""

from typing import Any, NamedTuple

from phaseline.engine.products.notices.fold.bodies.message import NoticeMessage
from phaseline.engine.products.notices.fold.bodies.shapes import ALERT_AFTER
from phaseline.engine.products.notices.sending.counts import DeliveryCounts
from phaseline.engine.products.notices.sending.pending import PendingDeliveries, message_of
from phaseline.machines.built_in import installed
from phaseline.schemas.records import SECOND, Transition, nanoseconds, timestamp
from phaseline.testing import Given, given

KINDS = installed("pl-notices")
BEGAN = nanoseconds("2026-11-27T08:12:00Z")


def data(**more: Any) -> dict[str, Any]:
    at = timestamp(BEGAN)
    return {"severity": "critical", "about": "node/a", "number": 1, "opened": at, "since": at, "due": at, **more}


class Story(NamedTuple):
    """What became of notices, and all records of that."""

    now: Given = given(KINDS)
    records: tuple[Transition, ...] = ()

    def event(self, kind: str, trigger: str, name: str, found: dict[str, Any] | None = None) -> "Story":
        then = self.now.when(kind, trigger, name, found)
        assert then.rejection is None
        return Story(then, (*self.records, *then.transitions))

    def later(self, hours: float) -> "Story":
        then = self.now.later(hours=hours)
        return Story(then, (*self.records, *then.transitions))


def known(found: Story, *, repeats: bool = True) -> PendingDeliveries:
    pending = PendingDeliveries(("ops",) if repeats else ())
    for record in found.records:
        pending.take(record)
    return pending


def began(*notices: str) -> Story:
    found = Story()
    for one in notices:
        found = found.event("notice", "opened", one, data()).event(
            "delivery", "queued", f"{one}/ops", {"word": "begin"}
        )
    return found


def told(found: Story, delivery: str = "down/1/ops", word: str = "begin") -> Story:
    return found.event("delivery", "send", delivery).event("delivery", "sent", delivery, {"told": word})


def closed(found: Story) -> Story:
    over = data(number=0, ended=timestamp(BEGAN + SECOND), ended_as="good", due=timestamp(BEGAN + SECOND))
    return found.event("notice", "closed", "down/1", over)


def message(found: Story, now: int = BEGAN) -> NoticeMessage:
    pending = known(found)
    [delivery] = pending.queued("ops")
    return message_of(delivery, pending.notices["down/1"], now)


def test_the_first_that_was_queued_is_the_first() -> None:
    found = began("down/3", "down/1", "down/2")
    assert [one.notice for one in known(found).queued("ops")] == ["down/3", "down/1", "down/2"]
    more = found.event("delivery", "queued", "down/1/ops", {"word": "reminder"})
    assert [one.notice for one in known(more).queued("ops")] == ["down/3", "down/1", "down/2"]
    again = told(more, "down/3/ops").event("delivery", "queued", "down/3/ops", {"word": "end"})
    assert [one.notice for one in known(again).queued("ops")] == ["down/1", "down/2", "down/3"]
    assert [*known(again).queued("others")] == []


def test_a_message_says_what_is_so_now() -> None:
    found = began("down/1")
    assert (message(found).word, message(found).due) == ("begin", BEGAN)
    past = message(closed(found), BEGAN + 120 * SECOND)
    assert (past.word, past.late) == ("past", 120 * SECOND)
    end = message(closed(told(found)).event("delivery", "queued", "down/1/ops", {"word": "end"}), BEGAN + 90 * SECOND)
    assert (end.word, end.late) == ("end", 89 * SECOND)


def test_who_did_not_deal_with_it_is_named_once() -> None:
    taken = told(began("down/1")).event("notice", "take", "down/1", {"taken_by": "mia"}).later(hours=9)
    assert (message(taken).word, message(taken).taken_by) == ("given_back", "mia")
    again = told(taken, word="given_back").event("delivery", "queued", "down/1/ops", {"word": "reminder"})
    assert message(again).word == "reminder"


def test_states_are_those_of_what_was_heard() -> None:
    found = began("down/1")
    assert [*known(found).states_for("ops", BEGAN)] == []
    assert [one.word for one in known(told(found)).states_for("ops", BEGAN)] == ["begin"]
    assert [*known(closed(told(found))).states_for("ops", BEGAN)] == []  # its end was not told yet
    ended = closed(told(found)).event("delivery", "queued", "down/1/ops", {"word": "end"})
    over = known(told(ended, word="end"))
    assert [one.word for one in over.states_for("ops", BEGAN + 60 * SECOND)] == ["end"]
    assert [*over.states_for("ops", BEGAN + 2 * SECOND + ALERT_AFTER)] == []


def test_what_is_over_is_forgotten() -> None:
    ended = closed(told(began("down/1", "down/2"))).event("delivery", "queued", "down/1/ops", {"word": "end"})
    pending = known(ended)
    pending.sweep(BEGAN + 3 * ALERT_AFTER)
    assert set(pending.notices) == {"down/1", "down/2"}  # one is to be told
    pending = known(told(ended, word="end"))
    pending.sweep(BEGAN + 3 * ALERT_AFTER)
    assert set(pending.notices) == {"down/2"}


def test_what_is_over_is_kept_for_long_only_where_states_are_repeated() -> None:
    ended = told(closed(told(began("down/1"))).event("delivery", "queued", "down/1/ops", {"word": "end"}), word="end")
    for seconds, repeats, is_kept in ((30, False, True), (90, False, False), (90, True, True)):
        pending = known(ended, repeats=repeats)
        assert bool(pending._heard) is repeats  # nobody asks what others have heard
        pending.sweep(BEGAN + seconds * SECOND)
        assert bool(pending.notices) is is_kept
        assert any(pending._heard.values()) is (is_kept and repeats)
    pending = known(ended)
    pending.sweep(BEGAN + 3 * ALERT_AFTER)
    pending.take(ended.records[-1])  # it is told again after that
    pending.sweep(BEGAN + 3 * ALERT_AFTER)
    assert not any(pending._heard.values())


def test_for_how_long_a_receiver_is_not_reached() -> None:
    time = 100.0
    counts = DeliveryCounts(lambda: time)
    failing = "phaseline_receiver_failing_seconds"
    for outcome, seen in (("sent", 0), ("failed", 0), ("given_up", 5), ("repeated", 0)):
        counts.note("ops", "webhook", outcome)  # type: ignore[arg-type]  # they are words of the table
        assert counts.values()[failing] == {("ops", "webhook"): seen}
        time += 5
    assert counts.values()["phaseline_deliveries_total"]["ops", "webhook", "failed"] == 1
