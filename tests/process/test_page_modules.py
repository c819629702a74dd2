"""The modules of the page that need no browser, in Node.js: the address, the store, the stream, names.

Belongs here: what they compute. Does not: the page in a browser (`test_page`).
"""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "engine" / "surfaces" / "page"


@pytest.fixture(scope="module")
def node() -> str:
    """Node.js, which runs the modules that need no browser."""
    found = shutil.which("node")
    if found is None:
        pytest.skip("node is not installed")
    return found


def ran(node: str, code: str) -> Any:
    """What a program with the modules of the page prints, as JSON."""
    modules = "".join(
        f"import * as {name} from {json.dumps(str(PAGE / f'{name}.js'))};"
        for name in ("router", "store", "format", "words", "feed", "now", "heatmap", "levels")
    )
    text = modules + "const say = (value) => console.log(JSON.stringify(value));" + code
    done = subprocess.run([node, "--input-type=module", "-e", text], capture_output=True, check=True, text=True)
    return json.loads(done.stdout)


def test_an_address_is_a_state_and_back(node: str) -> None:
    states = [
        {"screen": "now", "kind": "", "id": "", "query": {"at": "4711", "lang": "zh"}},
        {"screen": "tree", "kind": "", "id": "c1/pool a", "query": {"sel": "node/c1/<b>&n=1"}},
        {"screen": "entity", "kind": "node", "id": "c1/100%/?#\u202e中", "query": {}},
    ]
    code = f"""say({json.dumps(states)}.map((one) => {{
      const url = new URL(router.write(one), "http://h");
      return router.read(url.pathname, url.search);
    }}))"""
    assert ran(node, code) == states
    assert ran(node, 'say([router.read("/", ""), router.read("/nowhere/%ff", "").screen, router.splitName("node/c1/a")])') == [
        {"screen": "now", "kind": "", "id": "", "query": {}}, "nowhere", ["node", "c1/a"],
    ]  # fmt: skip


STORE = """
const machines = new Map([
  ["cluster", {parent: null, id: ["cluster"], facets: [{facet: "phase", labels: [{phase: "Failed", condition: "X", en: "Broken", others: {zh: "坏"}}]}, {facet: "contact", labels: []}]}],
  ["node", {parent: "cluster", id: ["cluster", "node"], facets: [{facet: "phase", labels: []}]}],
]);
const one = new store.Store(machines);
one.load({place: 10, time: "2026-01-01T00:00:00Z", kinds: ["cluster", "node"], id: ["c1", "c1/n1"], kind: [0, 1], parent: [-1, 0],
  state: [0, 1], more: [], flags: [0, 0], since: [1, 2], states: [
    {kind: "cluster", facet: "phase", state: "Running", conditions: [], class: "good", label: {}},
    {kind: "node", facet: "phase", state: "Running", conditions: [], class: "good", label: {}}]});
const rows = [
  [9, "cluster", "c1", "phase", "Old", [], "bad", 0, 1, 1],
  [11, "cluster", "c1", "phase", "Failed", ["X"], "bad", 0, 5, 2],
  [12, "node", "c1/n10", "phase", "Creating", [], "busy", 0, 6, 3],
  [13, "node", "c1/n2", "phase", "Creating", [], "busy", 0, 7, 3],
  [14, "node", "c1/n1", "phase", "Deleted", [], "gone", 4, 8, 4],
  [15, "cluster", "c1", "contact", "Silent", [], "unknown", 0, 9, 5],
];
const shown = () => [one.place, one.counts().total, one.counts().classes, [...one.children().tops].map((n) => one.ids[n]),
  [...one.order()].filter((n) => one.isThere(n)).map((n) => one.ids[n]), [...one.rollUp().slice(0, 6)], one.silent().map((n) => one.ids[n])];
"""


def test_a_store_takes_rows_and_takes_them_back(node: str) -> None:
    before, after, label, back = ran(node, STORE + """
      const before = shown(), undos = [];
      one.apply(rows, undos);
      const after = shown(), label = one.states[one.state[0]].label.zh;
      while (undos.length) one.undo(undos.pop());
      say([before, after, label, shown()]);
    """)  # fmt: skip
    assert before == [10, 2, [2, 0, 0, 0, 0, 0], ["c1"], ["c1", "c1/n1"], [1, 0, 0, 0, 0, 0], []]
    assert after == [15, 3, [0, 2, 1, 0, 0, 0], ["c1"], ["c1", "c1/n2", "c1/n10"], [0, 2, 0, 0, 0, 0], ["c1"]]
    assert label == "坏"
    assert back == before


def test_a_store_grows(node: str) -> None:
    assert ran(node, STORE + """
      one.apply(Array.from({length: 5000}, (_, n) => [20 + n, "node", `c1/m${n}`, "phase", "Running", [], "good", 0, 3, n]));
      say([one.counts().total, one.rollUp()[0], one.children().start[1] - one.children().start[0], one.find("node", "c1/m4999")]);
    """) == [5002, 5001, 5001, 5001]  # fmt: skip


def test_a_store_keeps_the_order_of_ids_as_entities_come(node: str) -> None:
    found = ran(node, STORE + """
      const ids = ["c1/n3", "c0", "c1/n20", "c2/n1", "c1/a", "c10", "c1/n4"];
      const orders = ids.map((id, n) => {
        one.apply([[30 + n, id.includes("/") ? "node" : "cluster", id, "phase", "Running", [], "good", 0, 3, n]]);
        return n % 2 ? [] : [...one.order()].map((m) => one.ids[m]);
      });
      say([...orders, [...one.order()].map((m) => one.ids[m])]);
    """)  # fmt: skip
    assert found[0] == ["c1", "c1/n1", "c1/n3"]
    assert found[-1] == ["c0", "c1", "c1/a", "c1/n1", "c1/n3", "c1/n4", "c1/n20", "c2/n1", "c10"]


def test_what_is_nested_stands_below_the_nearest_that_is_there(node: str) -> None:
    """In whatever order they come, and whatever of them goes."""
    found = ran(node, """
      const machines = new Map([["r", { parent: null, id: ["r"], facets: [] }], ["o", { parent: "r", nested_by: "~", id: ["r", "o"], facets: [] }]]);
      const row = (place, kind, id, gone = 0) => [place, kind, id, "phase", gone ? "Deleted" : "Running", [], gone ? "gone" : "good", gone ? 4 : 0, 3, place];
      const below = (one, id) => one.ids[one.above(one.find("o", id))] ?? null;
      const results = [];
      for (const ids of [["x/a", "x/a~b", "x/a~b~c"], ["x/a~b~c", "x/a~b", "x/a"]]) {
        const one = new store.Store(machines);
        one.apply([row(1, "r", "x"), ...ids.map((id, n) => row(2 + n, "o", id))]);
        const nested = ids.map((id) => below(one, id)).sort();
        one.apply([row(9, "o", "x/a~b", 1)]);
        results.push([nested, below(one, "x/a~b~c"), [...one.children().tops].map((n) => one.ids[n]), one.rollUp()[0]]);
      }
      say(results);
    """)  # fmt: skip
    assert found == [[["x", "x/a", "x/a~b"], "x/a", ["x"], 2]] * 2


def test_a_tree_that_fills_shelves_begins_beside_a_small_one(node: str) -> None:
    found = ran(node, "say(heatmap.layout([3, 4000, 5], 940, 640))")
    small, first, *_ = found["blocks"]
    assert (small["tree"], first["tree"], first["y"] == small["y"], first["x"] > small["x"]) == (0, 1, True, True)
    assert [sum(one["count"] for one in found["blocks"] if one["tree"] == tree) for tree in range(3)] == [3, 4000, 5]


def test_what_is_deleted_is_not_well_again(node: str) -> None:
    rows = [
        [1, "node", "c1/n1", "phase", "Failed", [], "bad", 0, 100, 1], [2, "node", "c1/n1", "phase", "Deleted", [], "gone", 4, 101, 2],
        [3, "node", "c1/n2", "phase", "Failed", [], "bad", 0, 102, 3], [4, "node", "c1/n2", "phase", "Running", [], "good", 0, 103, 4],
        [5, "node", "c1/n3", "phase", "Failed", [], "bad", 0, 104, 5], [6, "node", "c1/n3", "phase", "Deleting", [], "busy", 0, 105, 6],
        [7, "application", "a/a", "health", "Missing", [], "bad", 0, 106, 7], [8, "application", "a/a", "sync", "Synced", [], "good", 0, 107, 8],
        [9, "node", "c1/n5", "phase", "Failed", [], "bad", 0, 1, 9],
    ]  # fmt: skip
    found = ran(node, f"say(now.latest({json.dumps(rows)}, 950))")
    assert {word: [[row[2], row[4]] for row in listed] for word, listed in found.items()} == {
        "cameBad": [["a/a", "Missing"]], "wentBad": [["c1/n2", "Running"]],
        "changed": [["c1/n3", "Deleting"], ["c1/n1", "Deleted"]],
    }  # fmt: skip


def test_a_time_that_is_not_known_is_not_1970(node: str) -> None:
    assert ran(node, "say([format.clock(0), format.moment(0), format.span(1.7e9 - 0)])") == ["…"] * 3


def test_names_cannot_turn_what_stands_around_them(node: str) -> None:
    assert ran(node, r'say(format.safe("a\u202eb\u0000c\u2066d"))') == "a\ufffdb\ufffdc\ufffdd"


def test_a_store_has_the_entities_of_several_cells(node: str) -> None:
    found = ran(node, STORE + """
      const part = (cell, place, ids) => ({cell, place, time: "2026-01-01T00:00:00Z", kinds: ["node", "cluster"], id: ids, kind: ids.map((id) => Number(!id.includes("/"))),
        parent: ids.map((id) => (id.includes("/") ? 0 : -1)), state: ids.map(() => 0), more: [], flags: ids.map(() => 0), since: ids.map(() => 1),
        states: [{kind: "cluster", facet: "phase", state: "Running", conditions: [], class: "good", label: {}}]});
      one.load({cells: {}, parts: [part("west", 7, ["c1", "c1/n1"]), part("east", 3, ["c1", "c1/n1"])]});
      one.apply([[3, "node", "east: c1/n1", "phase", "Failed", [], "bad", 0, 5, 2], [4, "node", "east: c1/n2", "phase", "Failed", [], "bad", 0, 5, 2]], null, "east");
      one.apply([[8, "cluster", "west: c0", "phase", "Running", [], "good", 0, 5, 2]], null, "west");
      say([one.places, [...one.order()].map((n) => one.ids[n]), [...one.order()].map((n) => one.ids[one.parent[n]] ?? null), one.counts().classes,
        one.root(one.find("node", "east: c1/n2")), [...one.rollUp()].slice(0, 3)]);
    """)  # fmt: skip
    assert found == [
        {"west": 8, "east": 4}, ["east: c1", "east: c1/n1", "east: c1/n2", "west: c0", "west: c1", "west: c1/n1"],
        [None, "east: c1", "east: c1", None, None, "west: c1"], [5, 0, 1, 0, 0, 0], "east: c1", [1, 0, 1],
    ]  # fmt: skip


FEED = """
const sources = [], heard = {a: [], b: []};
globalThis.EventSource = class {
  constructor(url) { Object.assign(this, {url, told: {}}); sources.push(this); }
  addEventListener(type, listener) { this.told[type] = listener; }
  close() {}
};
const tell = (source, type, data) => source.told[type]({data: JSON.stringify(data)});
const shared = new feed.Feed();
const [a, b] = ["a", "b"].map((name) => (message) => heard[name].push([message.type, message.place ?? message.away ?? null]));
"""


def test_a_tab_that_comes_later_takes_nothing_from_the_others(node: str) -> None:
    """Its states may be ahead of the stream, which goes on for all. One that is behind it loads its states again."""
    urls, heard = ran(node, FEED + """
      shared.join(a, {"": 10});
      tell(sources[0], "batch", {place: 12, rows: [[11], [12]]});
      shared.join(b, {"": 15});
      tell(sources[0], "batch", {place: 17, rows: [[13], [17]]});
      shared.leave(b);
      shared.join(b, {"": 9});
      say([sources.map((one) => one.url), heard]);
    """)  # fmt: skip
    assert urls == ["/v1/transitions?form=columns&from=11"]
    assert heard == {"a": [["batch", 12], ["batch", 17]], "b": [["batch", 17], ["resync", None]]}


def test_one_stream_serves_tabs_of_several_cells(node: str) -> None:
    urls, heard = ran(node, FEED + """
      shared.join(a, {east: 10});
      tell(sources[0], "place", {cell: "west", place: 5});
      tell(sources[0], "cell", {cell: "north", away: "gone"});
      tell(sources[0], "batch", {cell: "west", place: 7, rows: [[7]]});
      shared.join(b, {west: 6, east: 10});
      say([sources.map((one) => one.url), heard]);
    """)  # fmt: skip
    assert urls == ["/v1/transitions?form=columns&from=east=11"]
    assert heard == {
        "a": [["place", 5], ["cell", "gone"], ["batch", 7]], "b": [["cell", "gone"], ["batch", 7]],
    }  # fmt: skip


def test_what_the_server_says_of_nats_reaches_the_readers(node: str) -> None:
    """Of one installation the event has no cell. After a new connection it counts only if it is said again."""
    heard = ran(node, FEED + """
      const timers = [];
      globalThis.setTimeout = (run) => timers.push(run);
      shared.join(a, {"": 10});
      tell(sources[0], "away", {away: "gone", seconds: 3});
      shared.join(b, {"": 10});
      sources[0].onopen();
      timers.at(-1)();
      tell(sources[0], "away", {away: "gone again", seconds: 1});
      say(heard);
    """)  # fmt: skip
    assert heard == {
        "a": [["cell", "gone"], ["open", None], ["cell", None], ["cell", "gone again"]],
        "b": [["cell", "gone"], ["open", None], ["cell", None], ["cell", "gone again"]],
    }


def test_a_stream_that_falls_silent_is_lost(node: str) -> None:
    heard = ran(node, FEED + """
      const timers = [];
      globalThis.setTimeout = (run, after) => timers.push([run, after]);
      shared.join(a, {"": 10});
      tell(sources[0], "place", {place: 10, time: ""});
      timers.findLast(([, after]) => after === 40_000)[0]();
      say(heard.a);
    """)  # fmt: skip
    assert heard == [["place", 10], ["away", None]]


def test_slices_become_cells_without_a_gap(node: str) -> None:
    slices = [
        {"from": "2026-03-01T00:00:00Z", "class": "bad", "seconds": {"bad": 21_600, "good": 64_800}},
        {"from": "2026-03-03T00:00:00Z", "class": "good", "seconds": {"good": 86_400}},
    ]
    day = 86_400
    begin = 1_772_323_200
    assert ran(node, f"say(levels.cells({json.dumps(slices)}, {day}))") == [
        {"at": begin, "cls": "bad", "shares": [0.25, 0, 0, 0, 0.75], "share": 0.25},
        {"at": begin + day, "shares": [0, 0, 0, 0, 0], "share": 0},
        {"at": begin + 2 * day, "cls": "good", "shares": [0, 0, 0, 0, 1], "share": 1},
    ]  # fmt: skip
    assert ran(node, "say(levels.cells([], 60))") == []
    asked = 'say([undefined, "", "30d", "12h", "90m", "45s", "2026-03-01", "start"].map(levels.sliceOf))'
    assert ran(node, asked) == ["1d", "1d", "1d", "1h", "1m", "1m", "1d", "1d"]
    shares = "say([1, 0.9999999, 0.5, 0, null].map((one) => format.percent(one)))"
    assert ran(node, shares) == ["100%", "99.999%", "50%", "0%", "–"]
