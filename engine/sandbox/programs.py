"""People's programs as the core asks for them: a health from Lua, an object without what jq names.

Belongs here: questions and answers of the sandbox, put into words. Does not: running them (`parent`, `child`).
"""

from collections.abc import Mapping
from typing import Any

from phaseline.engine.sandbox.parent import Sandbox, Stopped
from phaseline.machines.compare.ignoring import Removed
from phaseline.machines.health.verdict import Health, unknown
from phaseline.machines.profiles import ALIASES, SOURCE_ORDER
from phaseline.machines.table import MAX_TEXT


class Sandboxed:
    """Runs programs in a sandbox. now: whole seconds since 1970, the moment at which scripts are asked."""

    def __init__(self, sandbox: Sandbox, now: int) -> None:
        """The sandbox stays its owner's, who closes it."""
        self.sandbox = sandbox
        self.now = now

    def lua(self, script: str, live: Mapping[str, Any]) -> Health:
        """What a health script says; Unknown with the reason where it fails; an empty status where it says nothing."""
        try:
            answer = self.sandbox.ask({"run": "lua", "script": script, "object": live, "now": self.now})
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
