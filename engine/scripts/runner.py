"""The script runner of the engine: runs scripts in the sandbox, and turns answers into results of Kubernetes rules.

Belongs here: `SandboxRunner`, and the runner that this process shares. Does not: running scripts (`sandbox`, `child`).
"""

import atexit
from collections.abc import Mapping
from typing import Any

from phaseline.engine.scripts.sandbox import Sandbox, Stopped
from phaseline.machines.kubernetes.health.result import HealthResult, unknown
from phaseline.machines.kubernetes.profiles import ALIASES, SOURCE_ORDER
from phaseline.machines.language.scripts import JqResult
from phaseline.machines.language.table import MAX_TEXT
from phaseline.schemas import libraries


class SandboxRunner:
    """A `ScriptRunner` that uses a sandbox. The caller owns the sandbox and closes it."""

    def __init__(self, sandbox: Sandbox) -> None:
        """Use `sandbox`."""
        self.sandbox = sandbox
        self._checked = False

    def lua(self, script: str, live: Mapping[str, Any], now: int) -> HealthResult:
        """Run a health script. A failure leads to Unknown with the reason, no answer to an empty status."""
        self._check()
        try:
            answer = self.sandbox.ask({"run": "lua", "script": script, "object": live, "now": now})
        except Stopped as error:
            return unknown(f"health script: {error}")
        if "error" in answer:
            return unknown(f"health script: {answer['error']}"[:MAX_TEXT])
        status, message = answer.get("status") or "", answer.get("message") or ""
        status = ALIASES.get(status, status)
        if status and status not in SOURCE_ORDER:
            return unknown(f"health script: {status!r:.60} is no health; those are {', '.join(SOURCE_ORDER)}")
        return HealthResult(status, message[:MAX_TEXT])

    def jq(self, program: str, value: Any) -> JqResult:
        """Delete the paths that a jq program selects from `value`. A failure returns `value` with the problem."""
        self._check()
        try:
            answer = self.sandbox.ask({"run": "jq", "program": program, "object": value})
        except Stopped as error:
            return JqResult(value, str(error))
        if "error" in answer:
            return JqResult(value, answer["error"], broken=answer["broken"])
        return JqResult(answer["object"])

    def _check(self) -> None:
        """Raise `NotInstalled` if the child process could not start: it loads both languages."""
        if not self._checked:
            libraries.require("lupa", "a health script in Lua")
            libraries.require("jq", "an ignore rule in jq")
            self._checked = True


def shared_runner() -> SandboxRunner:
    """The script runner of this process. Its sandbox starts when it is first used, and closes at exit."""
    return _SHARED


_SHARED = SandboxRunner(Sandbox())
atexit.register(_SHARED.sandbox.close)
