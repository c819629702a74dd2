"""Random rules of notices, and what they make of a random history.

Belongs here: what several files of laws need. Does not: the laws.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from hypothesis import settings
from hypothesis import strategies as st

from phaseline.engine.products.notices.fold import read_rules
from phaseline.engine.products.notices.fold.fold import Fold
from phaseline.engine.products.notices.fold.grouping import entity_of
from phaseline.engine.products.notices.fold.groups import NoticeEvent
from phaseline.engine.products.notices.fold.rules import Rules
from phaseline.engine.products.notices.fold.windows import root_of
from phaseline.engine.surfaces.testing.histories import History, event
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
WINDOWS = (
    "{name: w, opened-by: [update, delete, stop, cordon], up-to: 20s}",
    "{name: v, from: 1970-01-01T00:00:10Z, to: 1970-01-01T00:00:30Z}",
    "{name: x, cron: '* * * * *', for: 20s}",
)
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
    windows = draw(st.lists(st.sampled_from(WINDOWS), max_size=2, unique=True))
    return rules_of(texts, f"windows: [{', '.join(windows)}]")


def rules_of(texts: Iterable[str], windows: str = "") -> Rules:
    return read_rules.read("\n".join(["receivers: {ops: {nats: {subject: s}}}", "rules:", *texts, windows]), KINDS)


def log_of(history: History) -> list[Logged]:
    records = [one for step in history.steps for one in step.records if not isinstance(one, Mark)]
    return [*enumerate(records, start=1)]


def fleet_log(happens: Iterable[tuple[int, str, str, int]], *late: Sequence[int]) -> list[Logged]:
    """Small trees in partitions of their own. late: for each part of the time, how many seconds late each is decided.

    Each part is as long as the others, and a tree that is late remains so until what it has is decided.
    """
    history = History(KINDS)
    nodes = [("node", f"c{tree}/p/n{number}") for tree in TREES for number in range(3)]
    for kind, entity in [*(("cluster", f"c{tree}") for tree in TREES), *nodes]:
        history.take(event(kind, "adopt", entity, {"phase": "Running"}))
    for tree, kind, trigger, some in happens:
        of_tree = [entity for _, entity in nodes if entity.startswith(f"c{tree}/")] if kind == "node" else [f"c{tree}"]
        for entity in of_tree[:some]:
            history.take(event(kind, trigger, entity, {"reason": "AB"[some % 2]}))
            if trigger == "deleted":
                history.take(event(kind, "adopt", entity, {"phase": "Running"}))
    records = [one for _, one in log_of(history)]
    decided, last = list[tuple[int, Transition | Rejection]](), dict[str, int]()
    for number, one in enumerate(records):
        root = root_of(entity_of(one)[1])
        seconds = late[number * len(late) // len(records)][int(root[1:]) - 1] if late else 0
        last[root] = max(last.get(root, 0), one.time_ns + seconds * SECOND)
        decided.append((last[root], one))
    return [*enumerate((one for _, one in sorted(decided, key=lambda each: each[0])), start=1)]


@st.composite
def fleet_logs(draw: st.DrawFn) -> list[Logged]:
    """Logs of small trees, of which some are decided later than the others, for a while or always."""
    happens = draw(st.lists(st.tuples(*HAPPENS), min_size=10, max_size=60))
    return fleet_log(happens, *draw(st.lists(st.tuples(*[LATE] * len(TREES)), max_size=3)))


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


END = 300 * SECOND
TREES = (1, 2, 3)
LATE = st.sampled_from([0, 0, 3, 7, 12, 25])
"""How many seconds later than the others a tree is decided."""
HAPPENS = (
    st.sampled_from(TREES), st.sampled_from(("node", "node", "node", "cluster")),
    st.sampled_from(("not_ready", "not_ready", "ready", "ready", "overdue", "renewed", "cordon", "uncordon", "update",
                     "updated", "error", "recovered", "deleted")),
    st.integers(1, 3),
)  # fmt: skip
BUDGET = settings(max_examples=50, deadline=None)

ELSEWHERE = [(2, "node", "cordon", 1), (2, "node", "uncordon", 1)]
FAILS_LATE = [(1, "node", "not_ready", 1), *ELSEWHERE * 3, (3, "node", "not_ready", 1), *ELSEWHERE * 5]
LATE_IN_A_WINDOW = fleet_log([*FAILS_LATE, (1, "node", "overdue", 1), *ELSEWHERE], [0, 0, 12])
"""What failed in a tree while a window was open is decided after the summary of the window was told."""
LATE_FOR_A_WINDOW = fleet_log(
    [
        (3, "node", "update", 3),
        (1, "node", "uncordon", 2),
        (1, "node", "not_ready", 3),
        (2, "node", "deleted", 3),
        (3, "node", "ready", 2),
        (3, "node", "not_ready", 3),
        (1, "node", "ready", 2),
        (3, "node", "ready", 2),
        (1, "cluster", "not_ready", 1),
        (3, "node", "uncordon", 3),
        (3, "node", "not_ready", 1),
        (1, "cluster", "renewed", 2),
        (3, "node", "deleted", 2),
        (2, "node", "overdue", 2),
        (3, "cluster", "overdue", 2),
        (2, "node", "not_ready", 2),
        (1, "node", "deleted", 2),
        (2, "node", "ready", 3),
        (3, "node", "recovered", 3),
        (1, "node", "updated", 3),
        (3, "node", "ready", 1),
        (1, "node", "updated", 3),
        (3, "node", "update", 3),
        (3, "cluster", "cordon", 1),
    ],
    [0, 0, 25],
    [0, 0, 0],
)
"""What a window holds in a tree that is late, when others have passed the window's end."""
HELD_UNTIL_A_WINDOW_ENDS = rules_of(
    [
        "- {name: r0, when: {class: [bad, unknown]}, to: [ops], group: tree, for: 40s, clear-after: 20s, remind: 2m,"
        " flapping: {changes: 3, within: 10s, quiet: 5s}}",
        "- {name: r1, when: {kinds: [node]}, to: [ops], group: tree, clear-after: 3s, remind: 2m,"
        " unless: {class: [excused]}}",
    ],
    f"windows: [{', '.join(WINDOWS[:2])}]",
)
LATE_AFTER_AN_INTENT = fleet_log([
    (2, "node", "update", 2), (1, "node", "recovered", 3), (2, "cluster", "overdue", 3), (1, "node", "update", 1),
    (3, "node", "not_ready", 3), (2, "node", "not_ready", 2), (1, "node", "uncordon", 3), (1, "cluster", "not_ready", 2),
    (3, "node", "overdue", 1), (3, "node", "uncordon", 1), (1, "node", "cordon", 1), (3, "node", "not_ready", 2),
    (2, "cluster", "deleted", 2), (1, "node", "not_ready", 3),
], [12, 25, 0])  # fmt: skip
"""The summary of a window that an intent opened is held in a tree that is late."""
LEFT_BY_AN_INTENT = rules_of([
    "- {name: r1, when: {class: [bad, excused]}, to: [ops], for: 10s, clear-after: 10s, unless: {class: [excused]}}",
    "- {name: r2, when: {kinds: [node]}, to: [ops], group: parent, for: 1s}",
], f"windows: [{WINDOWS[0]}]")  # fmt: skip
LATE_WHEN_ALL_SEEMS_OVER = fleet_log([*FAILS_LATE, (1, "node", "ready", 1), *ELSEWHERE * 10], [0, 0, 12])
"""The same when nobody else is concerned any more."""
LATE_WHILE_IT_FLAPS = fleet_log(
    [(1, "node", "not_ready", 1), (1, "node", "ready", 1), *ELSEWHERE * 8, (1, "node", "not_ready", 1), *ELSEWHERE * 14],
    [0, 0, 0], [25, 0, 0],
)  # fmt: skip
"""What changes for the third time within half a minute is decided so late that the log has more time between."""
FLAPPING = rules_of([
    "- {name: r, when: {kinds: [node]}, to: [ops], group: entity, flapping: {changes: 3, within: 30s, quiet: 10s}}",
])  # fmt: skip
UNTOLD_IN_A_WINDOW = rules_of(
    ["- {name: r, when: {kinds: [node]}, to: [ops], group: tree, clear-after: 10s, remind: 1m}"],
    "windows: [{name: w, from: 1970-01-01T00:00:10Z, to: 1970-01-01T00:00:30Z}]",
)
