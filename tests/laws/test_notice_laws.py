"""Laws of notices over random histories and rules: a replay tells what was told live, nothing is lost or told twice."""

from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from phaseline.engine.notices import matching, read_rules
from phaseline.engine.notices.fold import Fold, root_of
from phaseline.engine.notices.groups import NoticeEvent
from phaseline.engine.notices.rules import Rules
from phaseline.engine.testing.histories import History
from phaseline.engine.testing.search import histories
from phaseline.machines.built_in import installed
from phaseline.schemas.records import SECOND, Mark, Rejection, Transition

KINDS = installed()
FOREVER = 10**9 * SECOND
Logged = tuple[int, Transition | Rejection]

SECONDS = st.sampled_from(["0s", "1s", "3s", "10s", "40s"])
WHEN = st.sampled_from([
    "{}", "{kinds: [node]}", "{kinds: [cluster, node_pool]}", "{class: [bad, unknown]}", '{states: ["{Failed,[*]}"]}',
    "{class: [busy]}", "{stalled: true}", "{gone: true}", "{rejections: ['*']}", "{ended: [good, bad]}",
])  # fmt: skip
GROUP = st.sampled_from(["cause", "parent", "tree", "entity", "reason"])


@st.composite
def rule_texts(draw: st.DrawFn, name: str) -> str:
    when = draw(WHEN)
    fields = [
        f"name: {name}",
        f"when: {when}",
        "to: [ops]",
        f"hold-under: {draw(st.sampled_from(['cause', 'nothing']))}",
    ]
    happens = any(word in when for word in ("gone", "rejections", "ended"))
    if draw(st.integers(0, 4)) == 0:
        fields.append("digest: 10s")
    else:
        fields.append(f"group: {draw(GROUP)}")
    if not happens:
        fields += [
            f"for: {draw(SECONDS)}",
            f"clear-after: {draw(SECONDS)}",
            f"remind: {draw(st.sampled_from(['1m', '2m']))}",
        ]
        if draw(st.booleans()):
            fields.append("flapping: {changes: 3, within: 30s, quiet: 10s}")
        if draw(st.booleans()):
            fields.append("unless: {class: [excused]}")
    return f"- {{{', '.join(fields)}}}"


@st.composite
def some_rules(draw: st.DrawFn) -> Rules:
    texts = [draw(rule_texts(f"r{number}")) for number in range(draw(st.integers(1, 3)))]
    windows = draw(st.sampled_from([
        "", "windows: [{name: w, opened-by: [update, delete, stop], up-to: 20s}]",
        "windows: [{name: w, from: 1970-01-01T00:00:10Z, to: 1970-01-01T00:00:30Z}]",
    ]))  # fmt: skip
    return read_rules.read("\n".join(["receivers: {ops: {nats: {subject: s}}}", "rules:", *texts, windows]), KINDS)


def log_of(history: History) -> list[Logged]:
    records = [one for step in history.steps for one in step.records if not isinstance(one, Mark)]
    return [*enumerate(records, start=1)]


def played(rules: Rules, log: Iterable[Logged], end: int = FOREVER) -> tuple[Fold, list[NoticeEvent]]:
    fold, found = Fold(KINDS, rules), list[NoticeEvent]()
    for place, record in log:
        found += fold.take(place, record)
    return fold, [*found, *fold.advance(end)]


def by_notice(events: Iterable[NoticeEvent]) -> dict[str, list[NoticeEvent]]:
    found = defaultdict(list)
    for one in events:
        found[one.id].append(one)
    return dict(found)


def shown(events: Iterable[NoticeEvent]) -> str:
    """All events, a line for each and its data, notice by notice."""
    lines = [f"{one.id} {one.sequence} {one.trigger} {one.time} {one.word} {one.data}" for one in events]
    return "\n".join(sorted(lines))


END = 150 * SECOND
BUDGET = settings(max_examples=50, deadline=None)


@BUDGET
@given(histories(KINDS), some_rules(), st.randoms())
def test_live_and_replay_make_the_same_events(history: History, rules: Rules, random: object) -> None:
    """Whether what is due fires when it is due, at the log's end, or only before the next record of its home."""
    log = log_of(history)
    _, replayed = played(rules, log, END)
    for home in (root_of, lambda _: 0):
        live, found, now = Fold(KINDS, rules, home), list[NoticeEvent](), 0
        for place, record in log:
            if record.time_ns > now and random.random() < 0.5:  # type: ignore[attr-defined]
                found += live.advance(record.time_ns)
            now = record.time_ns
            found += live.take(place, record)
        found += live.advance(END)
        assert shown(found) == shown(replayed)


@BUDGET
@given(histories(KINDS), some_rules())
def test_begin_and_end_are_told_once_each_and_in_order(history: History, rules: Rules) -> None:
    fold, events = played(rules, log_of(history), END)
    alive = {"/".join(key): group for key, group in fold.groups.items()}
    for notice, some in by_notice(events).items():
        for before, after in pairwise(some):
            assert before.sequence < after.sequence
            assert before.time_ns <= after.time_ns
        open_ = False
        for one in some:
            assert open_ is (one.word not in ("begin", "")) or not one.word
            open_ = one.trigger == "opened" or (open_ and one.word != "end")
        assert open_ is (notice in alive and alive[notice].phase in ("Open", "Clearing"))


@BUDGET
@given(histories(KINDS), some_rules())
def test_what_is_so_at_the_end_is_told_or_held_by_what_is_told(history: History, rules: Rules) -> None:
    fold, _ = played(rules, log_of(history), END)
    for rule in rules.rules:
        if rule.when.is_of_happenings:
            continue
        held = {name: group for group in fold.groups.values() if group.rule == rule for name in group.members}
        for kind, entities in history.tree.entities.items():
            for entity in entities.values():
                if not matching.selects(KINDS, rule, entity):
                    continue
                group = held[kind, entity.id]
                assert group.phase == "Open" or (group.phase == "Held" and group.held_by in fold.groups)


@BUDGET
@given(histories(KINDS), some_rules())
def test_nobody_is_concerned_in_two_notices_of_a_rule(history: History, rules: Rules) -> None:
    fold, _ = played(rules, log_of(history), END)
    lasting = [group for group in fold.groups.values() if not group.rule.when.is_of_happenings]
    concerned = [(group.rule.name, *name) for group in lasting for name in group.members]
    assert len(concerned) == len(set(concerned))
