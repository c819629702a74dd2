"""A day of a fleet: how many messages a person gets, and how they read on a phone."""

from phaseline.engine.products.notices.fold.bodies import wording
from phaseline.engine.products.notices.fold.bodies.message import NoticeMessage, word_now
from phaseline.testing import GivenRules, given_rules

RULES = """
receivers: {ops: {nats: {subject: told.ops}}}
rules:
- {name: cluster-down, when: {kinds: [cluster]}, severity: critical, remind: 4h, to: [ops]}
- {name: arrears, when: {kinds: [cluster], states: ["{Stopped,[Balance]}"]}, severity: critical, to: [ops]}
- {name: node-down, when: {kinds: [node]}, for: 5m, clear-after: 2m, group: parent, remind: 4h, to: [ops],
   flapping: {changes: 6, within: 30m, quiet: 30m}}
- {name: charts, when: {kinds: [component]}, for: 2m, to: [ops]}
windows: [{name: rollout, opened-by: [update], up-to: 2h}]
"""
NODES = 4
SITE = """
receivers: {ops: {nats: {subject: told.ops}}}
rules:
- {name: clusters, when: {kinds: [cluster]}, to: [ops]}
- {name: r, when: {kinds: [node]}, for: 5m, to: [ops]}
"""


def titles(day: GivenRules) -> list[str]:
    """When each message comes, and its title."""
    heard, found = dict[str, str](), list[str]()
    for one in sorted(day.told, key=lambda each: each.time_ns):
        is_closed = one.trigger in ("closed", "happened")
        word = word_now(one.word, heard.get(one.id, ""), one.data, is_closed=is_closed)
        heard[one.id] = word
        message = NoticeMessage(one.id, "ops", word, one.data, one.time_ns, one.time_ns)
        found.append(f"{one.time[11:16]} {wording.title(message)}")
    return found


def test_a_day_is_eleven_messages() -> None:
    day = given_rules(RULES)
    for cluster in ("c1", "c2", "c3", "c4"):
        for kind, name in (("cluster", ""), ("node_pool", "/p"), ("component", "/dns")):
            day = day.event(kind, "adopt", cluster + name, {"phase": "Running"})
        for number in range(NODES):
            day = day.event("node", "adopt", f"{cluster}/p/n{number}", {"phase": "Running"})
    # an invoice is not paid for a while, and all of the cluster stands still
    day = day.at("2026-01-01T08:00:00Z").event("cluster", "overdue", "c1", {"reason": "Arrears"})
    day = day.at("2026-01-01T08:40:00Z").event("cluster", "renewed", "c1").later(minutes=3)
    day = day.event("cluster", "started", "c1")
    # one node comes and goes
    day = day.at("2026-01-01T10:00:00Z")
    for _ in range(12):
        day = day.event("node", "not_ready", "c2/p/n1", {"reason": "KubeletStopped"}).later(seconds=50)
        day = day.event("node", "ready", "c2/p/n1").later(seconds=70)
    # a whole site is cut off, and comes back
    for moment, trigger in (("12:00", "not_ready"), ("13:00", "ready")):
        day = day.at(f"2026-01-01T{moment}:00Z")
        for number in range(NODES):
            day = day.event("node", trigger, f"c3/p/n{number}", {"reason": "NoStatus"})
    # nodes restart one by one for an update; one does not come back
    day = day.at("2026-01-01T14:00:00Z").event("cluster", "update", "c4")
    for number in range(NODES):
        day = day.event("node", "not_ready", f"c4/p/n{number}", {"reason": "Rebooting"}).later(minutes=1)
        day = day if number == 2 else day.event("node", "ready", f"c4/p/n{number}")
    day = day.later(minutes=10).event("cluster", "updated", "c4")
    # a chart fails
    day = day.at("2026-01-01T16:00:00Z").event("component", "degraded", "c2/dns", {"reason": "ReplicasMissing"})
    day = day.later(hours=3).event("component", "recovered", "c2/dns").at("2026-01-01T23:00:00Z")
    assert titles(day) == [
        "08:00 CRITICAL: cluster c1 Stopped [Balance] (Arrears)",
        "08:43 OVER: cluster c1 good again after 43 min",
        "10:06 FLAPPING: node c2/p/n1 comes and goes (KubeletStopped)",
        "10:52 OVER: node c2/p/n1 good again after 16 min",
        "12:00 CRITICAL: cluster c3 Failed [AllFailed]",
        "13:00 OVER: cluster c3 good again after 59 min",
        "14:14 WARNING: node c4/p/n2 Failed [NotReady] (Rebooting)",
        "16:02 WARNING: component c2/dns Failed [Degraded] (ReplicasMissing)",
        "18:14 STILL WARNING: node c4/p/n2 Failed [NotReady] for 4 h 12 min",
        "19:00 OVER: component c2/dns good again after 3 h",
        "22:14 STILL WARNING: node c4/p/n2 Failed [NotReady] for 8 h 12 min",
    ]
    assert [one.data["left"] for one in day.told if one.word == "end"][1] == {"good": 9}


def test_what_failed_together_and_recovers_together_is_one_message() -> None:
    site = given_rules(SITE).event("cluster", "adopt", "c1", {"phase": "Running"})
    for number in (1, 2, 3):
        site = site.event("node", "adopt", f"c1/p/n{number}", {"phase": "Running"})
    down = site.event("cluster", "error", "c1").event("node", "not_ready", "c1/p/n1")
    held = down.event("node", "not_ready", "c1/p/n2").later(minutes=20).event("cluster", "recovered", "c1")
    held.then_told("clusters", "end")
    back = held.event("node", "ready", "c1/p/n1").event("node", "ready", "c1/p/n2").later(hours=1)
    assert [one.rule for one in back.told] == ["clusters", "clusters"]
    held.later(minutes=6).then_told("r", "begin", 2)
