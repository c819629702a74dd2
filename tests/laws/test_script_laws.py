"""Scripts decide the same twice: in two processes, in any order, and whatever ran before."""

from collections.abc import Iterator
from contextlib import suppress
from random import Random
from typing import Any

import pytest

from phaseline.engine.scripts.lua import with_our_length
from phaseline.engine.scripts.sandbox import Sandbox
from phaseline.schemas.errors import ScriptStopped
from tests.support.health_scripts import EVERYDAY, OBJECT, random_script
from tests.support.strategies import search

NOW = 1_700_000_000
EFFORTS = [pytest.param(60, id="short"), pytest.param(3_000, marks=pytest.mark.slow, id="long")]
PROGRAMS = [
    ".metadata.labels", '.status.conditions[] | select(.type == "Ready")', ".metadata.labels | keys_unsorted[1:]",
    ".metadata.annotations | to_entries[0]", "paths", ".now", ".metadata[now:]", "{now: 1}.now", "{now}", "input",
    '.status | select(tojson | contains("db"))', "error", ".spec.ports[input:]", "del(.spec) | .metadata", "$ENV",
    '.metadata.labels | with_entries(select(.value == "v1"))', '.status.phases | map_values(select(. == "Ready"))',
]  # fmt: skip


def lua(script: str) -> dict[str, Any]:
    return {"run": "lua", "script": script, "object": OBJECT, "now": NOW}


def jq(*programs: str) -> dict[str, Any]:
    return {"run": "jq", "programs": list(programs), "objects": [OBJECT, {"metadata": {"labels": {"b": 1, "a": 2}}}]}


@pytest.mark.parametrize("effort", EFFORTS)
def test_any_script_answers_the_same_in_two_processes_in_any_order(effort: int) -> None:
    """The processes draw other seeds of hashes and other addresses, as each process does."""
    with Sandbox() as one, Sandbox() as other:

        def law(chance: Random) -> None:
            requests = [lua(random_script(chance)) for _ in range(3)]
            requests += [lua(chance.choice([*EVERYDAY.values()])), jq(*chance.sample(PROGRAMS, 3))]
            answers = [one.ask(request) for request in requests]
            order = chance.sample(range(len(requests)), len(requests))
            for number in order:
                assert other.ask(requests[number]) == answers[number], requests[number]

        search(effort, law)


SEARCHES = ("a", ".-b", ".-.-b", "(.-)(.-)b", ".*.*.*b", "[^/]+", "%w+%-%w+")


@pytest.mark.parametrize("effort", [pytest.param(20, id="short"), pytest.param(300, marks=pytest.mark.slow, id="long")])
def test_a_search_answers_the_same_however_much_time_it_has_or_is_stopped(effort: int) -> None:
    """A machine that is slower may stop a script, and never makes another answer of it."""
    with Sandbox(seconds=0.02) as slow, Sandbox() as fast:

        def law(chance: Random) -> None:
            size, pattern = chance.choice((10, 100, 1_000, 5_000)), chance.choice(SEARCHES)
            found = f"pcall(string.find, ('a'):rep({size}), '{pattern}')"
            request = lua(f"local _, found = {found} return {{status = 'Healthy', message = tostring(found)}}")
            answers = []
            for one in (slow, fast):
                with suppress(ScriptStopped):
                    answers.append(one.ask(request))
            assert len({str(one) for one in answers}) <= 1, (request, answers)

        search(effort, law)


@pytest.fixture(scope="module")
def used() -> Iterator[list[Sandbox]]:
    """Two in which other scripts ran before."""
    with Sandbox() as one, Sandbox() as other:
        for script in EVERYDAY.values():
            one.ask(lua(script))
        for number in range(20):
            other.ask(lua(random_script(Random(number))))
        yield [one, other]


@pytest.mark.parametrize("script", EVERYDAY.values(), ids=EVERYDAY)
def test_an_everyday_script_answers_the_same_whatever_ran_before(script: str, used: list[Sandbox]) -> None:
    with Sandbox() as fresh:
        found = [one.ask(lua(script)) for one in (fresh, *used)]
    assert found[1:] == found[:1] * 2
    assert "0x" not in str(found)


def test_numbers_come_before_texts_and_texts_before_truth() -> None:
    script = """
    local said, mine = "", {b = 1, a = 1, B = 1, [2] = 1, [1] = 1, [-1] = 1, [0.5] = 1, [true] = 1, [false] = 1, [{}] = 1}
    for key in pairs(mine) do said = said .. tostring(key) .. " " end
    return {status = "Healthy", message = said}
    """
    with Sandbox() as sandbox:  # a new one, in which nothing has an order yet
        assert sandbox.ask(lua(script))["message"] == "-1 0.5 1 2 B a b false true table "


@pytest.mark.parametrize(("written", "value"), [
    ("#'abc'", "3"), ("-#'abc'", "-3"), ("2^#'abc'", "8"), ("#{1, 2}+#{1}*2", "4"), ("#('ab')..#'c'", "21"), ("not#'a'", "false"),
    ("#{1, nil, 3}", "3"), ("#{n = 1}", "0"), ("#setmetatable({}, {__len = function() return 7 end})", "7"), ("#obj.spec.ports", "3"),
    ("#'#'", "1"), ("#[[#]]", "1"), ("#[==[#]]]==]", "3"), ("#--[[#]]'ab'", "2"), ("#'\\'#'", "2"), ('#"\\z  \n #"', "1"),
    ("select('#', 1, 2)", "2"), ("# #{{}} == nil and 1 or #'x' --#", "error"), ("#{1,2,3,4,5,6,7,8,9,10,11,12,13}", "13"),
])  # fmt: skip
def test_the_length_operator_is_read_as_lua_reads_it(written: str, value: str, sandbox: Sandbox) -> None:
    script = f"local x = {written}\nreturn {{status = 'Healthy', message = tostring(x)}}"
    answer = sandbox.ask(lua(script))
    assert answer.get("message", "error") == value, (answer, with_our_length(script))


ALIASES = "string.a = string.char math.b = string.char table.c = string.char os.d = string.char"
"""More names of a function in C, of which Lua finds any one."""


@pytest.mark.parametrize(("script", "why"), [
    ("return #obj.none", "script:1: attempt to get length of a nil value"),
    ("\nstring.format('%d', 'x')", "script:2: bad argument #2 to 'format' (number expected, got string)"),
    ("for k in pairs({[{}] = 1, [{}] = 2}) do end", "pairs: keys that are tables or functions have no order"),
    ("for k in pairs(obj.none) do end", "script:1: bad argument #1 to 'pairs' (table expected, got nil)"),
    ("table.sort({1, nil, 3})", "script:1: table.sort: the list has no value at 2"),
    (f"{ALIASES} return ('123456789ab'):gsub('(.)(.)(.)(.)(.)(.)(.)(.)(.)(.)(.)', string.char)", "bad argument #10 (number expected"),
    ("string.rep('', 1e9)", "its calls of library functions took more than 20000000 steps"),
    ("for i = 1, 3000 do select('#', table.unpack({}, 1, 7000)) end", "its calls of library functions took more than"),
    ("local s = ('a'):rep(1e6) for n = 1, 30 do pcall(s.find, s, 'b') end error(select(2, pcall(s.find, s, 'b')))", "its calls of library functions took more than"),
    ("local t = {} for i = 1, 30 do t[i] = ('a'):rep(1e5) .. i end table.sort(t)", "its calls of library functions took more than"),
    ("return print", "it must return a table, and returned a function"),
    ("return 1, {}", "it must return a table, and returned 2 values"),
    ("local s, ok = 'x', true while ok do ok = pcall(function() s = s .. s end) end", "it needed more than 64 MB"),
    ("\x1bLua", "attempt to load a binary chunk"),
])  # fmt: skip
def test_an_error_says_where_and_nothing_of_the_process(script: str, why: str, sandbox: Sandbox) -> None:
    assert why in sandbox.ask(lua(script))["error"]


JQ_NAMES = [
    ("{now: 1}.now", False), ("{now}.now", False), (".now", False), (".a.input", False), ('."env"', False), ("{input, debug: .halt}", False),
    ('select({"now": 1}.now == 1).a', False), ("{reduce: 1, as: 2}", False), ("select({test}.test == null).a", False), (".halt_error?", False),
    (".a[now:]", True), (".a[:now]", True), (".a[input:]", True), (".a[env:]", True), (".a[debug:]", True), (".a[halt:]", True),
    (".a[input_line_number:]", True), ("{now: now}", True), ("{(now): 1}", True), ("{a: now}", True), (".[input_filename]", True),
    (".a[get_search_list:]", True), (".a[localtime:]", True), (".a[modulemeta:]", True), (".a[inputs:]", True), (".a[_nwise(2):]", True),
    (".a[$__prog_args:]", True), (".a[$ENV:]", True), ("{$__loc__}", True), (".a[x::now:]", True), (".a | [limit(1; .[])]", True),
]  # fmt: skip


@pytest.mark.parametrize(("program", "calls"), JQ_NAMES)
def test_jq_itself_says_whether_a_name_is_called(program: str, calls: bool, sandbox: Sandbox) -> None:
    [[answer]] = sandbox.ask({"run": "jq", "programs": [program], "objects": [{"a": [1]}]})["answers"]
    assert ("is not allowed" in answer.get("error", "")) == calls, answer
