"""Rules of notices, with the test kit: when somebody is told, of what, and when nobody is."""

import pytest

from phaseline.engine.products.notices.fold import read_rules
from phaseline.engine.products.notices.fold.following import RULE_CHANGED, FollowedLog, FollowedTo, LiveNotice
from phaseline.engine.products.notices.past import TriedRules
from phaseline.errors import InvalidInput
from phaseline.machines.built_in import installed
from phaseline.schemas.records import SECOND
from phaseline.testing import GivenRules, given_rules
from tests.support.notice_histories import played, shown

RECEIVERS = "receivers: {ops: {nats: {subject: told}}}\n"


def rules(text: str, more: str = "") -> str:
    return f"{RECEIVERS}rules:\n- {{name: r, to: [ops], {text}}}\n{more}"


def fleet(text: str, more: str = "", nodes: int = 3) -> GivenRules:
    """A cluster with a pool and nodes, all as they should be."""
    found = given_rules(rules(text, more)).event("cluster", "adopt", "c1", {"phase": "Running"})
    found = found.event("node_pool", "adopt", "c1/p", {"phase": "Running"})
    for number in range(1, nodes + 1):
        found = found.event("node", "adopt", f"c1/p/n{number}", {"phase": "Running"})
    return found


def bad(found: GivenRules, number: int = 1) -> GivenRules:
    return found.event("node", "not_ready", f"c1/p/n{number}", {"reason": "KubeletDown", "message": "no heartbeat"})


def well(found: GivenRules, number: int = 1) -> GivenRules:
    return found.event("node", "ready", f"c1/p/n{number}")


# ---- begin and end


def test_a_begin_says_what_since_when_and_why() -> None:
    begun = bad(fleet("when: {kinds: [node]}")).then_told("r", about="node/c1/p/n1", number=1)
    told = begun.told[-1]
    assert told.data["said"] == {"reason": "KubeletDown", "message": "no heartbeat"}
    assert told.data["cause"]["source"] == "/test"
    assert told.data["names"] == ["node/c1/p/n1"]
    assert told.to == ("ops",)


def test_the_end_says_how_it_ended() -> None:
    well(bad(fleet("when: {kinds: [node]}"))).then_told("r", "end", ended_as="good")
    gone = bad(fleet("when: {kinds: [node]}")).event("node", "deleted", "c1/p/n1")
    gone.then_told("r", "end", ended_as="gone")


def test_what_does_not_last_tells_nobody() -> None:
    waiting = bad(fleet("when: {kinds: [node]}, for: 5m")).then_nothing_told().later(minutes=4).then_nothing_told()
    well(waiting).then_nothing_told().later(hours=1).then_nothing_told()
    assert [one.trigger for one in well(waiting).events] == ["began", "lapsed"]


def test_what_lasts_is_told_at_its_time() -> None:
    told = bad(fleet("when: {kinds: [node]}, for: 5m")).later(minutes=30).then_told("r")
    event, bad_at = told.told[-1], told.steps[-2][0]
    assert event.time_ns == bad_at + 300 * 10**9


def test_the_time_counts_from_when_the_class_began() -> None:
    changed = bad(fleet("when: {kinds: [node]}, for: 5m")).later(minutes=4)
    changed = changed.event("node", "error", "c1/p/n1", {"reason": "Broken"}).then_nothing_told()
    changed.later(minutes=2).then_told("r")


def test_a_blip_within_clear_after_is_no_end() -> None:
    open_ = bad(fleet("when: {kinds: [node]}, clear-after: 10m"))
    blip = bad(well(open_).then_nothing_told().later(minutes=5)).then_nothing_told()
    blip.later(hours=1).then_nothing_told()
    well(blip).later(minutes=11).then_told("r", "end")


def test_what_is_busy_has_not_ended() -> None:
    busy = bad(fleet("when: {kinds: [node]}")).event("node", "delete", "c1/p/n1").then_nothing_told()
    busy.event("node", "deleted", "c1/p/n1").then_told("r", "end", ended_as="gone")


def test_a_reminder_comes_again_and_again_until_the_end() -> None:
    open_ = bad(fleet("when: {kinds: [node]}, remind: 1h"))
    twice = open_.later(hours=2, minutes=30).then_told("r", "reminder", 2)
    well(twice).then_told("r", "end").later(hours=5).then_nothing_told()


# ---- one cause, one message


def test_all_that_one_event_did_is_one_notice() -> None:
    pools = fleet("when: {class: [bad]}")
    for number in range(20):
        pools = pools.event("node_pool", "adopt", f"c1/p{number}", {"phase": "Running"})
    storm = pools.event("cluster", "overdue", "c1").then_told("r", number=21, kinds={"node_pool": 21})
    assert storm.told[-1].data["because"]["about"] == "cluster/c1"
    assert len([one for one in storm.told if one.word == "begin"]) == 1


def test_by_parent_the_members_come_and_go_without_a_message() -> None:
    both = bad(bad(fleet("when: {kinds: [node]}, group: parent")), 2).then_nothing_told()
    one = well(both).then_nothing_told().later(minutes=5)
    assert one.events[-1].trigger == "changed"
    assert one.events[-1].data["number"] == 1
    well(one, 2).then_told("r", "end", most=2)


def test_by_entity_each_is_told() -> None:
    first = bad(fleet("when: {kinds: [node]}, group: entity")).then_told("r")
    bad(first, 2).then_told("r", about="node/c1/p/n2")
    assert first.told[-1].group == "node:c1:p:n1"


def test_the_same_reason_within_five_minutes_is_one_notice() -> None:
    both = bad(bad(fleet("when: {kinds: [node]}, group: reason")), 2).then_nothing_told()
    bad(both.later(minutes=6), 3).then_told("r", number=1)


def test_a_digest_tells_once_what_is_still_so() -> None:
    three = bad(bad(bad(fleet("when: {kinds: [node]}, digest: 1h")), 2), 3).then_nothing_told()
    well(three, 2).then_nothing_told().at("2026-01-01T01:00:01Z").then_told("r", number=2, most=3)


# ---- held


def test_what_an_open_notice_explains_is_held_and_counted() -> None:
    more = "- {name: clusters, to: [ops], when: {kinds: [cluster]}}\n"
    down = fleet("when: {kinds: [node]}", more).event("cluster", "error", "c1").then_told("clusters")
    held = bad(bad(down), 2).then_nothing_told().later(minutes=2)
    changed = [one for one in held.events if one.rule == "clusters"][-1]
    assert changed.data["below"] == 2
    over = held.event("cluster", "recovered", "c1")
    over.then_told("clusters", "end").then_told("r", "begin", 2)


def test_a_held_one_that_ends_meanwhile_is_never_told() -> None:
    more = "- {name: clusters, to: [ops], when: {kinds: [cluster]}}\n"
    down = fleet("when: {kinds: [node]}", more).event("cluster", "error", "c1")
    again = well(bad(down)).then_nothing_told().event("cluster", "recovered", "c1")
    again.then_told("clusters", "end").then_told("r", "begin", 0)


def test_nothing_is_held_where_the_rule_says_so() -> None:
    more = "- {name: clusters, to: [ops], when: {kinds: [cluster]}}\n"
    down = fleet("when: {kinds: [node]}, hold-under: nothing", more).event("cluster", "error", "c1")
    bad(down).then_told("r")


# ---- flapping


def test_flapping_is_told_once_and_ends_after_quiet() -> None:
    found = bad(fleet("when: {kinds: [node]}, group: entity, flapping: {changes: 4, within: 10m, quiet: 30m}"))
    found = well(found).then_told("r", "end")
    found = bad(found).then_told("r")
    found = well(found).then_told("r", "flapping").then_told("r", "end", 0)
    found = well(bad(found).then_nothing_told()).then_nothing_told().later(minutes=29).then_nothing_told()
    found.later(minutes=2).then_told("r", "end")


def test_a_short_badness_that_flaps_is_told_though_it_never_lasts() -> None:
    text = "when: {kinds: [node]}, for: 5m, group: entity, flapping: {changes: 5, within: 10m, quiet: 30m}"
    found = fleet(text)
    for _ in range(2):
        found = well(bad(found)).then_nothing_told()
    bad(found).then_told("r", flapping=True)


# ---- windows


def test_in_a_window_no_begin_is_told_and_one_summary_at_its_end() -> None:
    more = 'windows: [{name: night, from: "2026-01-01T00:00:00Z", to: "2026-01-01T02:00:00Z"}]'
    found = bad(bad(bad(fleet("when: {kinds: [node]}", more)), 2), 3).then_nothing_told()
    found = well(found, 3).then_nothing_told()
    found.at("2026-01-01T02:00:01Z").then_told("r", number=2, window="night")


def test_the_end_of_what_was_told_is_told_within_a_window() -> None:
    more = 'windows: [{name: night, from: "2026-01-01T00:30:00Z", to: "2026-01-01T02:00:00Z"}]'
    open_ = bad(fleet("when: {kinds: [node]}", more)).then_told("r").at("2026-01-01T01:00:00Z")
    well(open_).then_told("r", "end")


def test_an_intent_opens_a_window_that_its_end_closes() -> None:
    more = "windows: [{name: work, opened-by: [cordon], up-to: 1h}]"
    cordoned = fleet("when: {kinds: [node]}", more).event("node", "cordon", "c1/p/n1")
    bad(cordoned, 2).then_told("r")  # another node
    silent = bad(cordoned).then_nothing_told().later(minutes=59).then_nothing_told()
    silent.later(minutes=2).then_told("r", opened_by="/test", window="work")


def test_a_window_of_an_operation_ends_with_its_deadline() -> None:
    more = "windows: [{name: work, opened-by: [update]}]"
    updating = fleet("when: {kinds: [node]}", more).event("cluster", "update", "c1")
    down = bad(bad(updating), 2).later(minutes=29).then_nothing_told()
    down.later(minutes=2).then_told("r", number=2, opened_by="/test", window="work")
    slow = fleet("when: {kinds: [node]}", more).event("cluster", "configure", "c1", {"deadline": 86_400.0})
    slow = bad(slow.event("cluster", "update", "c1")).later(minutes=239).then_nothing_told()
    slow.later(minutes=2).then_told("r", window="work")  # but no window lasts for longer than 4 h


def test_what_two_windows_leave_is_the_same_whoever_is_followed_first() -> None:
    more = "windows: [{name: work, opened-by: [cordon], up-to: 10s}]"
    found = fleet("when: {kinds: [node]}, hold-under: nothing", more).at("2026-01-01T01:00:00Z")
    found = found.event("node", "adopt", "c2/p/n1", {"phase": "Running"})
    for moment, node in (("01:00:10.1", "c1/p/n1"), ("01:00:10.6", "c2/p/n1")):  # both end within a second
        found = found.at(f"2026-01-01T{moment}Z").event("node", "cordon", node)
    for moment, node in (("01:00:12", "c1/p/n1"), ("01:00:13", "c2/p/n1")):
        found = found.at(f"2026-01-01T{moment}Z").event("node", "not_ready", node)
    found = found.at("2026-01-01T01:00:21Z").event("node", "ready", "c2/p/n1").at("2026-01-01T02:00:00Z")
    log = [*enumerate((one for _, records in found.steps for one in records), start=1)]
    _, replayed = played(found.rules, log, 2**62)
    assert shown(replayed) == shown(found.events)
    assert [one.data["number"] for one in found.told if one.word == "begin"] == [1, 1]


def test_a_schedule_opens_a_window() -> None:
    more = 'windows: [{name: nightly, cron: "0 2 * * *", for: 1h, trees: ["c*"]}]'
    found = fleet("when: {kinds: [node]}", more).at("2026-01-01T02:30:00Z")
    bad(found).then_nothing_told().later(minutes=31).then_told("r")


# ---- what happens at once


def test_the_end_of_lives_is_told_once_for_one_cause() -> None:
    gone = fleet("when: {kinds: [node], gone: true}").event("node_pool", "deleted", "c1/p")
    gone.then_told("r", number=3)
    gone.later(hours=1).then_nothing_told()


def test_rejections_are_told_by_reason() -> None:
    found = fleet("when: {rejections: [illegal, guard]}").event("node", "created", "c1/p/n9")
    assert found.told[-1].data["state"] == "rejected"


def test_an_operation_that_ended_is_told() -> None:
    found = fleet("when: {kinds: [node_pool], ended: [good, bad]}").event("node_pool", "scale", "c1/p", {"desired": 4})
    found.then_nothing_told().event("node_pool", "scaled", "c1/p").then_told("r", about="node_pool/c1/p")


def test_silence_is_told() -> None:
    found = given_rules(rules("when: {kinds: [cluster], silent: true}"))
    found = found.event("cluster", "adopt", "c1", {"phase": "Running"})
    found = found.event("cluster", "configure", "c1", {"silence_after": 60}).event("cluster", "heartbeat", "c1")
    found.then_nothing_told().later(minutes=2).then_told("r")


# ---- the end says no more than is known


def silent() -> GivenRules:
    found = given_rules(rules("when: {kinds: [cluster], silent: true}"))
    found = found.event("cluster", "adopt", "c1", {"phase": "Stopped", "conditions": ["Balance"]})
    found = found.event("cluster", "configure", "c1", {"silence_after": 60}).event("cluster", "heartbeat", "c1")
    return found.later(minutes=2)


def test_a_silence_ends_when_it_is_heard_again_whatever_it_is() -> None:
    silent().event("cluster", "heartbeat", "c1").then_told("r", "end", ended_as="heard again")
    silent().event("cluster", "deleted", "c1").then_told("r", "end", ended_as="gone")


def test_a_silence_that_nobody_waits_for_any_more_is_not_over() -> None:
    unwatched = silent().event("cluster", "configure", "c1", {"silence_after": 0})
    unwatched.then_told("r", "end", ended_as="no longer watched")


def test_what_is_still_bad_and_not_meant_any_more_has_not_become_good() -> None:
    found = bad(fleet("when: {kinds: [node]}, unless: {labels: {team: x}}"))
    found = found.event("node", "not_ready", "c1/p/n1", {"attributes": {"team": "x"}})
    found.then_told("r", "end", ended_as="no longer concerned")
    asked = fleet("when: {kinds: [node_pool], stalled: true}").event("node_pool", "scale", "c1/p", {"desired": 4})
    asked.later(hours=1).event("node_pool", "delete", "c1/p").then_told("r", "end", ended_as="no longer concerned")


@pytest.mark.parametrize("more", ["clear-after: 5m", "flapping: {changes: 3, within: 30m, quiet: 30m}"])
def test_what_is_gone_before_the_end_is_told_is_not_called_good(more: str) -> None:
    over = well(bad(well(bad(fleet(f"when: {{kinds: [node]}}, {more}")))))
    told = over.event("node", "deleted", "c1/p/n1").later(hours=1).then_told("r", "end", ended_as="gone").told[-1]
    assert (told.data["state"], told.data["left"]["gone"]) == ("Deleted", 1)
    over.event("node", "deleted", "c1/p/n2").later(hours=1).then_told("r", "end", ended_as="good")


def test_what_nobody_saw_to_be_gone_is_told_so() -> None:
    told = bad(fleet("when: {kinds: [node]}")).event("cluster", "deleted", "c1").then_told("r", "end").told[-1]
    assert (told.data["ended_as"], told.data["state"]) == ("gone", "Deleted [NotSeen]")
    gone = fleet("when: {kinds: [node], gone: true}").event("cluster", "deleted", "c1").then_told("r").told[-1]
    assert gone.data["state"] == "Deleted [NotSeen]"


# ---- choosing


def test_trees_labels_and_unless_choose() -> None:
    found = fleet('when: {kinds: [node], trees: ["c1/p*"]}, unless: {states: ["{*,[Balance,*]}"]}')
    bad(found).then_told("r")
    found = fleet("when: {kinds: [node], labels: {zone: 'eu-*'}}")
    bad(found).then_nothing_told()
    zoned = found.event("node", "configure", "c1/p/n1", {"attributes": {"zone": "eu-1"}})
    bad(zoned).then_told("r")


# ---- what damping saves


def test_what_kept_a_begin_back_is_counted() -> None:
    text = "when: {kinds: [node]}, for: 5m, clear-after: 5m, group: parent"
    found = well(bad(fleet(text)))
    found = bad(bad(found), 2).later(minutes=6)
    found = bad(well(well(found), 2).later(minutes=1)).later(hours=1)
    result = TriedRules(found.rules)
    result.take(found.events)
    assert result.results["r"].told == {"begin": 1, "flapping": 0, "reminder": 0, "end": 0}
    saved = {name: number for name, number in result.results["r"].saved.items() if number}
    assert saved == {"for": 1, "grouped": 1, "clear-after": 1}
    assert result.results["r"].open == 1


# ---- mistakes


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("rules: [{name: r, when: {kinds: [nod]}, to: [ops]}]", "there is no kind 'nod' (did you mean node?)"),
        ("rules: [{name: r, when: {}, to: [opps]}]", "there is no receiver 'opps' (did you mean ops?)"),
        ("rules: [{name: r, wen: {}, to: [ops]}]", "there is no 'wen' (did you mean when?)"),
        ("rules: [{name: R, when: {}, to: [ops]}]", "name must be of a-z"),
        ("rules: [{name: r, when: {}, to: [ops], for: soon}]", "for must be a duration such as 90s"),
        ("rules: [{name: r, when: {states: [Faild]}, to: [ops]}]", "there is no state 'Faild' (did you mean Failed?)"),
        ("rules: [{name: r, when: {gone: true}, to: [ops], for: 5m}]", "for needs something that lasts"),
        ("rules: [{name: r, when: {class: [sad]}, to: [ops]}]", "there is no class 'sad'"),
        ("rules: [{name: r, when: {}, to: [ops]}, {name: r, when: {}, to: [ops]}]", "two rules have the name r"),
        ("rules: [{name: r, when: {}, to: [ops], remind: 1s}]", "remind must be 60s or more"),
        ("rules: [{name: r, when: {}, to: [ops], flapping: {changes: 3, within: 0s, quiet: 1m}}]", "within must be 1s"),
        ("rules: [{name: r, when: {states: [{Failed: x}]}, to: [ops]}]", "states must be a list of texts"),
        ("rules: [{name: r, when: {trees: ['" + "{" * 20 + "a" + "}" * 20 + "']}, to: [ops]}]", "trees, "),
        ("receivers: {ops: {nats: {}}}", "receiver ops, nats: it needs subject"),
        ("windows: [{name: w}]", "say when by one of cron"),
        ("rules: [{name: r, when: {}}]", "rule r: it needs to"),
        ("rules: {", "line 3"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_place(text: str, says: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_rules.read(RECEIVERS + text, installed(), "notices.yaml")
    assert says in str(caught.value)
    assert str(caught.value).startswith("notices.yaml: ")


def test_all_mistakes_are_named_at_once() -> None:
    with pytest.raises(InvalidInput) as caught:
        read_rules.read("rules: [{name: r, when: {kinds: [nod]}, for: x, to: [y]}]", installed())
    assert str(caught.value).count(" 3 mistakes: (1) ") == 1
    assert "\n" not in str(caught.value)  # an error of a command is one line


def test_a_parent_that_only_tells_of_its_parts_is_no_cause_of_them() -> None:
    failed = bad(bad(fleet("when: {kinds: [node]}, group: tree", nodes=2)), 2).later(minutes=2)
    assert "Failed [AllFailed]" in str(failed.scenario)
    assert [one.data["because"] for one in failed.events if one.data["number"]] == [{}] * 2
    clusters = bad(fleet("when: {kinds: [cluster]}", nodes=1))
    assert clusters.then_told("r").told[-1].data["because"]["about"] == "node/c1/p/n1"


# ---- rules that change


def test_what_nobody_was_told_and_what_is_over_by_the_rules_of_now_lapses() -> None:
    waiting = bad(fleet("when: {kinds: [node]}, for: 5m, group: entity")).event("node", "cordon", "c1/p/n1")
    log = [*enumerate((one for _, records in waiting.steps for one in records), start=1)]
    [began] = waiting.events
    kept = LiveNotice("Waiting", began.data["begins"], began.sequence, 0, (), began.time_ns)
    text = rules("when: {kinds: [node]}, group: entity, clear-after: 10m, unless: {conditions: [Unschedulable]}")
    now = log[-1][1].time_ns + 1
    following = FollowedLog(
        installed(), read_rules.read(text, installed()), FollowedTo(len(log), now, 0), {("r", began.group): kept},
        RULE_CHANGED,
    )  # fmt: skip
    found = [event for place, record in log for event in following.take(place, record)]
    found += following.advance(now + 3_600 * SECOND)
    assert [(one.trigger, one.word) for one in found] == [("lapsed", "")]
