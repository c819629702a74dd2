"""People's programs as the core asks for them: a health from Lua, an object without what jq names.

Belongs here: questions and answers of the sandbox, put into words. Does not: running them (`parent`, `child`).
"""

import atexit
from collections.abc import Mapping
from typing import Any

from phaseline.engine.sandbox.parent import Sandbox, Stopped
from phaseline.machines.health.verdict import Health, unknown
from phaseline.machines.profiles import ALIASES, SOURCE_ORDER
from phaseline.machines.programs import Removed
from phaseline.machines.table import MAX_TEXT


class Sandboxed:
    """Runs programs in a sandbox, which stays its owner's."""

    def __init__(self, sandbox: Sandbox) -> None:
        """Ask that sandbox."""
        self.sandbox = sandbox

    def lua(self, script: str, live: Mapping[str, Any], now: int) -> Health:
        """What a health script says; Unknown with the reason where it fails; an empty status where it says nothing."""
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
        return Health(status, message[:MAX_TEXT])

    def jq(self, program: str, found: Any) -> Removed:
        """Jq's `del(<program>)` on an object."""
        try:
            answer = self.sandbox.ask({"run": "jq", "program": program, "object": found})
        except Stopped as error:
            return Removed(found, str(error))
        if "error" in answer:
            return Removed(found, answer["error"], broken=answer["broken"])
        return Removed(answer["object"])


def shared() -> Sandboxed:
    """One sandbox for all of this process, started when it is first needed, ended with the process."""
    return _SHARED


_SHARED = Sandboxed(Sandbox())
atexit.register(_SHARED.sandbox.close)
