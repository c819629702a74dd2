"""People's programs in their own process: what they may, and what happens when they do what they may not."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from phaseline.engine.scripts.runner import SandboxRunner
from phaseline.engine.scripts.sandbox import Sandbox, Stopped

NOW = 1_700_000_000


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as found:
        yield found


@pytest.fixture
def programs(sandbox: Sandbox) -> SandboxRunner:
    return SandboxRunner(sandbox)


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
    assert programs.lua(script, {"metadata": {"name": "n"}}, NOW) == answer


@pytest.mark.parametrize(("script", "why"), [
    ("while true do end", "it took more than 50000000 steps"),
    ("while true do pcall(function() while true do end end) end", "it was stopped after 1 s"),
    ("return ('a'):rep(30000):find('.-.-.-.-b')", "it was stopped after 1 s"),
    ("local s = 'x' while true do s = s .. s end", "it needed more than 64 MB"),
    ("return string.rep('x', 1e10)", "it needed more than 64 MB"),
    ("local t = {} while true do t[#t + 1] = {} end", "it needed more than 64 MB"),
    ("local function f() return 1 + f() end return f()", "it needed more than 64 MB"),
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
    health = programs.lua(script, {}, NOW)
    assert (health.status, health.message.startswith("health script: ")) == ("Unknown", True)
    assert why in health.message
    assert programs.lua("return {status = 'Healthy'}", {}, NOW).status == "Healthy"
    assert not Path("/tmp/phaseline-was-here").exists()


def test_a_script_cannot_see_what_another_left(programs: SandboxRunner) -> None:
    programs.lua("left = 1 string.rep = nil return nil", {}, NOW)
    assert (
        programs.lua("return {status = 'Healthy', message = tostring(left) .. ('x'):rep(2)}", {}, NOW).message
        == "nilxx"
    )


def test_a_message_is_no_longer_than_any(programs: SandboxRunner) -> None:
    assert len(programs.lua("return {status = 'Healthy', message = ('x'):rep(100000)}", {}, NOW).message) == 4096


def test_jq_removes_paths(programs: SandboxRunner) -> None:
    found = {"a": 1, "b": [{"n": 1}, {"n": 2}]}
    assert programs.jq(".b[] | select(.n == 1)", found).value == {"a": 1, "b": [{"n": 2}]}
    assert found == {"a": 1, "b": [{"n": 1}, {"n": 2}]}
    assert programs.jq(".a, .b", found).value == {}
    assert programs.jq(".x.y", found).value == found
    assert programs.jq("env.HOME", found).problem


def test_a_program_without_end_is_killed_and_the_next_one_runs(sandbox: Sandbox, programs: SandboxRunner) -> None:
    start = time.monotonic()
    assert programs.jq("until(false; [.] + [1])", {}).problem
    assert time.monotonic() - start < 5
    assert programs.jq(".a", {"a": 1}).value == {}


def test_the_process_does_not_outlive_its_owner() -> None:
    with Sandbox() as sandbox:
        sandbox.ask({"run": "jq", "program": ".a", "object": {}})
        assert sandbox._child is not None
        pid = sandbox._child.pid
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_process_that_was_killed_is_told_and_replaced() -> None:
    with Sandbox() as sandbox:
        sandbox.ask({"run": "jq", "program": ".a", "object": {}})
        assert sandbox._child is not None
        sandbox._child.kill()
        sandbox._child.wait()
        with pytest.raises(Stopped, match="its process ended"):
            sandbox.ask({"run": "jq", "program": ".a", "object": {}})
        assert sandbox.ask({"run": "jq", "program": ".a", "object": {"a": 1}}) == {"object": {}}


def test_nothing_of_the_environment_goes_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PHASELINE_CREDS", "secret")
    with Sandbox() as sandbox:
        found = SandboxRunner(sandbox).jq('if env.PHASELINE_CREDS then error("seen") else .a end', {"a": 1})
    assert found == ({}, "", False)
