"""The script runner of the engine: runs scripts in the sandbox, and turns answers into results.

Belongs here: `SandboxRunner`, and the runner that this process shares. Does not: running scripts (`sandbox`,
`child`), what a status means (the rules that call).
"""

import atexit
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from phaseline.engine.scripts.sandbox import Sandbox
from phaseline.machines.language.scripts import UNKNOWN, JqResult
from phaseline.machines.language.table import MAX_TEXT
from phaseline.schemas import libraries
from phaseline.schemas.errors import ScriptStopped

PAUSE = 60.0
"""Seconds in which a script that had to be stopped is not run again: each event that needs it is a fault meanwhile."""
REMEMBERED = 1_000


class SandboxRunner:
    """A `ScriptRunner` that uses a sandbox. The caller owns the sandbox and closes it."""

    def __init__(self, sandbox: Sandbox) -> None:
        """Use `sandbox`."""
        self.sandbox = sandbox
        self._checked = False
        self._stopped: dict[Any, tuple[float, str]] = {}
        """Scripts that had to be stopped: until when they are not run again, and why."""

    def lua(self, script: str, live: Mapping[str, Any], now: int) -> tuple[str, str]:
        """Run a health script. A failure leads to Unknown with the reason, no answer to an empty status.

        Raises `ScriptStopped` if it had to be stopped: on another machine it may end, so nothing is decided by it.
        """
        self._check()
        answer = self._ask(script, {"run": "lua", "script": script, "object": live, "now": now})
        if "error" in answer:
            return UNKNOWN, f"health script: {answer['error']}"[:MAX_TEXT]
        return answer.get("status") or "", (answer.get("message") or "")[:MAX_TEXT]

    def jq(self, programs: Sequence[str], values: Sequence[Any]) -> list[list[JqResult]]:
        """Delete the paths that jq programs select from `values`. A failure returns the value with the problem.

        Raises `ScriptStopped` as `lua` does.
        """
        self._check()
        request = {"run": "jq", "programs": list(programs), "objects": list(values)}
        answers = self._ask(tuple(programs), request)["answers"]
        found, results = list(values), []
        for answer in answers:
            results.append([_jq_result(one, value) for one, value in zip(answer, found, strict=True)])
            found = [result.value for result in results[-1]]
        return results

    def _ask(self, key: Any, request: dict[str, Any]) -> dict[str, Any]:
        """Run a script; raises `ScriptStopped` if it has to be stopped, or was within the last `PAUSE` seconds."""
        until, why = self._stopped.get(key, (0.0, ""))
        if time.monotonic() < until:
            raise ScriptStopped(problem=why)
        try:
            return self.sandbox.ask(request)
        except ScriptStopped as error:
            if len(self._stopped) >= REMEMBERED:
                self._stopped.clear()
            self._stopped[key] = time.monotonic() + PAUSE, error.problem
            raise

    def _check(self) -> None:
        """Raise `NotInstalled` if the child process could not start: it loads both languages."""
        if not self._checked:
            libraries.require("lupa", "a health script in Lua")
            libraries.require("jq", "an ignore rule in jq")
            self._checked = True


def _jq_result(answer: Mapping[str, Any], value: Any) -> JqResult:
    if "error" in answer:
        return JqResult(value, answer["error"], broken=answer["broken"])
    return JqResult(json.loads(answer["object"]) if "object" in answer else value)


def shared_runner() -> SandboxRunner:
    """The script runner of this process. Its sandbox starts when it is first used, and closes at exit."""
    return _SHARED


_SHARED = SandboxRunner(Sandbox())
atexit.register(_SHARED.sandbox.close)
