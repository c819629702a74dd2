"""Laws of deliveries, while senders are killed, are late, and say twice what they did, and receivers take or refuse.

Who heard that a notice is open hears that it is over, whatever began anew meanwhile; what is so now is heard at last.
"""

from collections import defaultdict
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from phaseline.engine.products.notices.fold.bodies.message import OVER, NoticeMessage
from phaseline.engine.products.notices.sending.pending import PendingDeliveries, PendingDelivery, message_of
from phaseline.machines.built_in import installed
from phaseline.machines.kinds.notices.delivery import GIVEN_UP, SENT
from phaseline.schemas.records import SECOND, Transition, timestamp
from phaseline.testing import Given
from phaseline.testing import given as given_kinds

KINDS = installed("pl-notices")
NOTICE, OPS = "tree/c0", "tree/c0/ops"
STEPS = st.lists(
    st.tuples(
        st.sampled_from((
            "begin", "open", "open", "remind", "close", "close", "lapse", "claim", "claim", "send", "send", "refuse",
            "lose", "report", "report", "again", "die", "wait", "long",
        )),
        st.integers(0, 3),
    ),
    min_size=10,
    max_size=60,
)  # fmt: skip


@dataclass
class OneTry:
    """What a sender does with a delivery that it has claimed."""

    delivery: PendingDelivery
    claim: int
    report: tuple[str, dict[str, object]] | None = None


@dataclass
class Deliveries:
    """One notice and its delivery to one receiver. heard: what the receiver took."""

    now: Given = field(default_factory=lambda: given_kinds(KINDS))
    records: list[Transition] = field(default_factory=list)
    heard: list[NoticeMessage] = field(default_factory=list)
    tries: list[OneTry] = field(default_factory=list)
    reported: list[OneTry] = field(default_factory=list)
    opened: str = ""

    def event(self, kind: str, trigger: str, name: str, data: dict[str, object]) -> tuple[Transition, ...]:
        self.later(1.0)
        then = self.now.when(kind, trigger, name, data)
        self.now = then
        found = () if then.rejection is not None else then.transitions
        self.records += found
        return found

    def later(self, seconds: float) -> None:
        then = self.now.later(seconds=seconds)
        self.now = then
        self.records += then.transitions

    # ---- what the notifier says

    @property
    def phase(self) -> str:
        found = [one for one in self.records if one.entity.kind == "notice" and one.facet == "phase"]
        return found[-1].after.phase if found else "Closed"

    def say(self, trigger: str, word: str = "", ended_as: str = "") -> None:
        ended = timestamp(self.now.clock) if ended_as else ""
        data = {"severity": "warning", "number": 1, "opened": self.opened, "due": timestamp(self.now.clock)}
        self.event("notice", trigger, NOTICE, {**data, "ended": ended, "ended_as": ended_as})
        if word:
            self.event("delivery", "queued", OPS, {"word": word, "opened": self.opened})

    def live(self, step: str) -> None:
        phase = self.phase
        if step == "begin" and phase == "Closed":
            self.opened = ""
            self.say("began")
        elif step == "open" and phase in ("Closed", "Waiting"):
            self.opened = timestamp(self.now.clock)
            self.say("opened", "begin")
        elif step == "remind" and phase == "Open":
            self.say("reminded", "reminder")
        elif step == "close" and phase == "Open":
            self.say("closed", "end", ended_as="good")
        elif step == "lapse" and phase == "Waiting":
            self.say("lapsed", ended_as="good")

    # ---- what senders do

    @property
    def pending(self) -> PendingDeliveries:
        found = PendingDeliveries()
        for record in self.records:
            found.take(record)
        return found

    def claim(self) -> OneTry | None:
        delivery = next(self.pending.queued("ops"), None)
        if delivery is None:
            return None
        made = self.event("delivery", "send", OPS, {"if_version": delivery.version, "tried": delivery.opened})
        assert made
        self.tries.append(OneTry(delivery, made[0].cause.sequence))
        return self.tries[-1]

    def message(self, delivery: PendingDelivery) -> NoticeMessage:
        notice = self.pending.notices[NOTICE]
        if not delivery.is_about(notice):
            notices = [one.entity for one in self.records if one.entity.kind == "notice"]
            notice = [one for one in notices if delivery.is_about(one)][-1]
        return message_of(delivery, notice, self.now.clock)

    def send(self, one: OneTry, what: str) -> None:
        message, delivery = self.message(one.delivery), one.delivery
        is_known = message.is_over and delivery.is_over
        if what != "refuse" and not is_known:
            self.heard.append(message)
        if what == "send" or is_known:
            word = delivery.told if is_known else message.word
            data = {"told": word, "heard": delivery.opened, **({"more": True} if delivery.has_more else {})}
            one.report = ("sent", data)
        else:  # whether it arrived is not known
            one.report = ("failed", {"error": "no", "tries": 1, "wait": 1.0})

    def say_what_came(self, one: OneTry) -> None:
        assert one.report is not None
        trigger, data = one.report
        self.event("delivery", trigger, OPS, {**data, "answers": one.claim})

    def work(self, step: str, which: int) -> None:
        under_way = [one for one in self.tries if one.report is None]
        done = [one for one in self.tries if one.report is not None]
        if step == "claim":
            self.claim()
        elif step in ("send", "refuse", "lose") and under_way:
            self.send(under_way[which % len(under_way)], step)
        elif step == "report" and done:
            one = done[which % len(done)]
            self.tries.remove(one)
            self.reported.append(one)
            self.say_what_came(one)
        elif step == "again" and self.reported:  # the answer to the report was lost
            self.say_what_came(self.reported[which % len(self.reported)])
        elif step == "die" and self.tries:
            self.tries.pop(which % len(self.tries))
        elif step in ("wait", "long"):
            self.later(200.0 if step == "long" else 2.0)

    def finish(self) -> None:
        """All senders end, and one is left that is not killed."""
        self.live("close")
        self.live("lapse")
        self.tries.clear()
        for _ in range(20):
            self.later(200.0)
            while (one := self.claim()) is not None:
                self.send(one, "send")
                self.say_what_came(one)
                self.tries.clear()


def lived(steps: list[tuple[str, int]]) -> Deliveries:
    found = Deliveries()
    for step, which in steps:
        found.live(step)
        found.work(step, which)
    return found


@settings(max_examples=50, deadline=None)
@given(STEPS)
def test_who_heard_that_it_is_open_hears_that_it_is_over(steps: list[tuple[str, int]]) -> None:
    found = lived(steps)
    found.finish()
    words = defaultdict[str, list[str]](list)
    for one in found.heard:
        words[one.thread].append(one.word)
    assert all(some[-1] in OVER for some in words.values()), [*words.values()]


@settings(max_examples=50, deadline=None)
@given(STEPS)
def test_what_is_so_is_heard_at_last_and_nothing_waits(steps: list[tuple[str, int]]) -> None:
    found = lived(steps)
    is_open = found.phase == "Open"
    if is_open:
        found.say("reminded", "reminder")
        found.tries.clear()
        found.live = lambda _: None  # type: ignore[method-assign, assignment]  # it stays open
    found.finish()
    delivery = [one.entity for one in found.records if one.entity.kind == "delivery"]
    if delivery:
        assert delivery[-1].facets[0].state.phase in (SENT, GIVEN_UP)
    if is_open:
        assert found.heard[-1].data["opened"] == found.opened
        assert found.heard[-1].word not in OVER


@settings(max_examples=50, deadline=None)
@given(STEPS)
def test_an_end_is_told_once_unless_somebody_was_killed(steps: list[tuple[str, int]]) -> None:
    found = Deliveries()
    for step, which in steps:
        found.live(step)
        if step in ("claim", "wait"):
            one = found.claim()
            if one is not None:
                found.send(one, "refuse" if which == 0 else "send")
                found.say_what_came(one)
                found.tries.clear()
            found.later(5.0)
    found.finish()
    ends = [one.thread for one in found.heard if one.is_over]
    assert len(ends) == len(set(ends))
    assert all(one.now <= found.now.clock + SECOND for one in found.heard)
