"""The sandbox: runs users' scripts (Lua, jq) in a separate process, which is killed if it takes too long.

Belongs here: the process (`parent`, `child`), the languages (`lua`, `paths`), and the `ScriptRunner` that uses it
(`programs`). Does not: what an answer means (`machines.kubernetes`).
"""

from phaseline.engine.sandbox.parent import Sandbox, Stopped
from phaseline.engine.sandbox.programs import Sandboxed, shared

__all__ = ["Sandbox", "Sandboxed", "Stopped", "shared"]
