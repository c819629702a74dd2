"""People's programs in their own process: what they may, and what happens when they do what they may not."""

import os
from pathlib import Path

import pytest

from phaseline.engine.scripts import jq_check
from phaseline.engine.scripts.runner import SandboxRunner
from phaseline.engine.scripts.sandbox import Sandbox
from phaseline.machines.kinds.kubernetes.assess import script_health
from phaseline.schemas.errors import ScriptStopped

NOW = 1_700_000_000
REMOVES = {"run": "jq", "programs": [".a"], "objects": [{"a": 1}]}


def test_a_script_as_argo_cds_are(programs: SandboxRunner) -> None:
    script = """
    hs = {}
    if obj.status ~= nil and obj.status.conditions ~= nil then
      for i, condition in ipairs(obj.status.conditions) do
        if condition.type == "Ready" and condition.status == "False" then
          hs.status = "Degraded"
          hs.message = condition.message
          return hs
        end
      end
    end
    hs.status = "Progressing"
    hs.message = "Waiting: " .. #obj.metadata.finalizers .. " of " .. obj.spec.n / 2
    return hs
    """
    found = {"metadata": {"finalizers": ["a", "b"]}, "spec": {"n": 6, "gone": None}}
    assert programs.lua(script, found, NOW) == ("Progressing", "Waiting: 2 of 3")
    found["status"] = {"conditions": [{"type": "Ready", "status": "False", "message": "no"}]}
    assert programs.lua(script, found, NOW) == ("Degraded", "no")


@pytest.mark.parametrize(("script", "answer"), [
    ("return {status = 'Suspended'}", ("Paused", "")),
    ("return {status = 'Missing', message = ''}", ("Missing", "")),
    ("return nil", ("", "")),
    ("return {}", ("", "")),
    ("return {status = 'Healthy', message = tostring(os.time()) .. os.date('!%Y')}", ("Healthy", f"{NOW}2023")),
    ("local os = require('os') return {status = 'Healthy', message = tostring(os.time())}", ("Healthy", str(NOW))),
    ("goto done ::done:: return {status = 'Healthy', message = table.getn({1, 2}) .. unpack({'x'})}", ("Healthy", "2x")),
    ("return {status = 'Healthy', message = string.format('%d%%', 1 / 2 * 100)}", ("Healthy", "50%")),
    ("print('x') return {status = 'Healthy'}", ("Healthy", "")),
    ("return {status = 'Healthy', message = obj.metadata.name .. 'ü'}", ("Healthy", "nü")),
])  # fmt: skip
def test_scripts(programs: SandboxRunner, script: str, answer: tuple[str, str]) -> None:
    assert script_health(programs, script, {"metadata": {"name": "n"}}, NOW) == answer


@pytest.mark.parametrize(("script", "why"), [
    ("while true do end", "it took more than 250000 steps"),
    ("while true do pcall(function() while true do end end) end", "it took more than 250000 steps"),
    ("while true do xpcall(function() while true do end end, function() while true do end end) end", "it took more than 250000 steps"),
    ("local function f() while true do pcall(f) end end f()", "stack overflow"),
    ("setmetatable({}, {__gc = function() while true do end end})", "a script has no finalizers"),
    ("return ('a'):rep(30000):find('.-.-.-.-b')", "string.find: 4 repeats in a pattern are too many for a text of 30000 characters"),
    ("local s = ('x'):rep(3e6) for i = 1, 1e9 do local t = s .. i end", "it needed more than 64 MB"),
    ("local s = 'x' while true do s = s .. s end", "it needed more than 64 MB"),
    ("return string.rep('x', 1e10)", "its calls of library functions took more than 20000000 steps"),
    ("local t = {} while true do t[#t + 1] = {} end", "it took more than 250000 steps"),
    ("local function f() return 1 + f() end return f()", "it took more than 250000 steps"),
    ("os.execute('touch /tmp/phaseline-was-here')", "attempt to call field 'execute'"),
    ("os.remove('x')", "attempt to call field 'remove'"),
    ("os.getenv('HOME')", "attempt to call field 'getenv'"),
    ("io.open('/etc/passwd')", "attempt to index global 'io'"),
    ("return require('io')", "require of io: only os is there"),
    ("load('return 1')()", "attempt to call global 'load'"),
    ("python.eval('1')", "attempt to index global 'python'"),
    ("return debug.getinfo(1)", "attempt to index global 'debug'"),
    ("return {status = {}}", "status must be a string, found a table"),
    ("return {status = 'Healthy', message = 3}", "message must be a string"),
    ("return 3", "it must return a table"),
    ("return {status = 'Fine'}", "'Fine' is no health"),
    ("x =", "script:1: unexpected symbol"),
    ("error('no way')", "no way"),
    ("error({})", "it raised an error that is no text"),
    ("return obj.status.phase", "attempt to index field 'status'"),
])  # fmt: skip
def test_a_script_that_fails_is_unknown_with_the_reason(programs: SandboxRunner, script: str, why: str) -> None:
    health = script_health(programs, script, {}, NOW)
    assert (health.status, health.message.startswith("health script: ")) == ("Unknown", True)
    assert why in health.message
    assert programs.lua("return {status = 'Healthy'}", {}, NOW)[0] == "Healthy"
    assert not Path("/tmp/phaseline-was-here").exists()


def test_a_script_cannot_see_what_another_left(programs: SandboxRunner) -> None:
    programs.lua("left = 1 string.rep = nil return nil", {}, NOW)
    assert programs.lua("return {status = 'Healthy', message = tostring(left) .. ('x'):rep(2)}", {}, NOW)[1] == "nilxx"


def test_a_message_is_no_longer_than_any(programs: SandboxRunner) -> None:
    assert len(programs.lua("return {status = 'Healthy', message = ('x'):rep(100000)}", {}, NOW)[1]) == 4096


def test_jq_removes_paths(programs: SandboxRunner) -> None:
    found = {"a": 1, "b": [{"n": 1}, {"n": 2}]}
    assert programs.jq([".b[] | select(.n == 1)"], [found])[0][0].value == {"a": 1, "b": [{"n": 2}]}
    assert found == {"a": 1, "b": [{"n": 1}, {"n": 2}]}
    assert programs.jq([".a, .b"], [found])[0][0].value == {}
    assert programs.jq([".x.y"], [found])[0][0].value == found
    assert programs.jq(["env.HOME"], [found])[0][0].problem


def test_a_program_that_takes_too_long_is_killed_and_the_next_one_runs(programs: SandboxRunner) -> None:
    many = {"a": list(range(3_000))}
    with pytest.raises(ScriptStopped, match="it was stopped"):
        programs.jq([".a | select(all(.[] == .[]; . or true))"], [many])
    assert programs.jq([".a"], [{"a": 1}])[0][0].value == {}


JQ_REFUSED = [
    ("until(false; .)", "until is not allowed in an ignore rule"),
    ("until(true == false; [.] + [1])", "until is not allowed"),
    ("recurse", "recurse is not allowed"),
    ("def f: f; f", "def is not allowed"),
    ("range(1e9)", "range is not allowed"),
    (".a as $x | .b", "as is not allowed"),
    ("env.HOME", "env is not allowed"),
    ("$ENV.HOME", "$ENV is not allowed"),
    ("reduce .[] as $x (0; . + 1)", "reduce is not allowed"),
    ('.a | select("x" * 1000000000 == .)', "'*' is not allowed"),
    ('.a | select(match("x"))', "match is not allowed"),
    ('.a | select(test("(x+)+$"))', "the pattern"),
    (".a | select(test(.b))", "test needs a pattern in quotes"),
    ('.a | select(. == "\\(1)")', "a text with"),
    (".. | .. | .a", "more than once"),
    ("|".join(["[., .]"] * 11), "can multiply a value by"),
    ("|".join([". + ."] * 11), "can multiply a value by"),
    (".[]" * 13, "13 times"),
    (".a" * 1_001, "at most 2000 may run"),
    ("now", "now is not allowed"),
    ("input", "input is not allowed"),
    (".a # .b", "'#' is not allowed"),
]


@pytest.mark.parametrize(("program", "why"), JQ_REFUSED)
def test_a_program_that_might_not_end_is_refused_by_its_form(programs: SandboxRunner, program: str, why: str) -> None:
    found = {"a": "x" * 50, "b": [1]}
    [[result]] = programs.jq([program], [found])
    assert why in result.problem
    assert (result.value, result.broken) == (found, True)


@pytest.mark.parametrize("program", [
    ".spec.replicas", '.spec.template.spec.containers[] | select(.name == "istio-proxy")', '.metadata.annotations["a.b/c"]?',
    ".spec.ports[]?.nodePort", ".webhooks[]?.clientConfig.caBundle", '.data | keys[] | select(startswith("x"))',
    '.metadata.labels | to_entries[] | select(.key | contains("helm"))', ".a, .b.c, .d[0], .e[-1], .f[1:3], .g",
    '.spec.x[] | select(any(.y[]; .z == 1) and (has("q") | not))', ".. | .creationTimestamp?", "if .a then .b else .c end",
    '.spec.env[] | select(.name | test("^FOO_.*"))', '.x[] | select(.n | IN("a", "b", "c", "d", "e", "f", "g", "h", "i", "j"))',
    '.nothing) | .data["config.yaml"] |= (fromjson | del(.auth) | tojson', 'paths(type == "number")', '.a["not"] // .b', ".x[] | select(.n > 1 or .m <= 2)",
])  # fmt: skip
def test_programs_as_ignore_rules_use_them_may_run(program: str) -> None:
    assert jq_check.refusal(program) == ""


def test_programs_of_one_object_run_one_after_the_other_in_one_request(programs: SandboxRunner) -> None:
    desired, live = {"a": 1, "b": [1, 2], "c": 3}, {"a": 2, "b": [1], "c": 3}
    asked = programs.jq([".a", ".b[", ".b[1]", "."], [desired, live])
    assert [[one.value for one in each] for each in asked] == [
        [{"b": [1, 2], "c": 3}, {"b": [1], "c": 3}],
        [{"b": [1, 2], "c": 3}, {"b": [1], "c": 3}],
        [{"b": [1], "c": 3}, {"b": [1], "c": 3}],
        [{"b": [1], "c": 3}, {"b": [1], "c": 3}],
    ]
    assert [bool(each[0].problem) for each in asked] == [False, True, False, True]


def test_many_rules_on_a_large_object_are_limited_by_what_they_read() -> None:
    large = {"a": 1, "b": ["x" * 100] * 1_000}
    with Sandbox(seconds=5.0) as patient:  # on a busy machine, the time would be over first
        asked = [one.problem for [one] in SandboxRunner(patient).jq([".c[]?"] * 60, [large])]
    assert asked[:20] == [""] * 20
    assert "would read more than 4 MB together" in asked[-1]


SLOW = "return ('x'):rep(9000):find('.-.-y')"
"""It ends, on any machine, and not within the time."""


def test_what_had_to_be_stopped_is_not_tried_again_at_once(
    sandbox: Sandbox, programs: SandboxRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = set()
    for n in range(100):
        with pytest.raises(ScriptStopped, match=r"after 0.25 s of computing") as raised:
            programs.lua(SLOW, {"n": n}, NOW)
        said.add(str(raised.value))
        monkeypatch.setattr(sandbox, "ask", None)
    assert len(said) == 1


def test_sixty_endless_scripts_end_by_their_steps(programs: SandboxRunner) -> None:
    """Not by seconds of computing, which are some hundred times as many."""
    for n in range(60):
        assert "steps" in programs.lua(f"local t = {{}} while true do t[{n}] = tostring({n}) end", {}, NOW)[1]


def test_the_process_does_not_outlive_its_owner() -> None:
    with Sandbox() as sandbox:
        sandbox.ask(REMOVES)
        assert sandbox._child is not None
        pid = sandbox._child.pid
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_process_that_was_killed_is_replaced() -> None:
    with Sandbox() as sandbox:
        sandbox.ask(REMOVES)
        assert sandbox._child is not None
        sandbox._child.kill()
        sandbox._child.wait()
        assert sandbox.ask(REMOVES) == {"answers": [[{"object": "{}"}]]}


def test_nothing_of_the_environment_goes_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PHASELINE_CREDS", "secret")
    with Sandbox() as sandbox:
        sandbox.ask(REMOVES)
        assert sandbox._child is not None
        assert b"secret" not in Path(f"/proc/{sandbox._child.pid}/environ").read_bytes()


def test_a_script_that_misses_the_signal_ends_by_its_limit_of_computing() -> None:
    with Sandbox() as sandbox, pytest.raises(ScriptStopped, match=r"after 0.25 s of computing"):
        sandbox.ask(
            {
                "run": "lua",
                "script": "return ('x'):rep(9000):find('.-.-y')",
                "object": {},
                "now": 1,
            }
        )
