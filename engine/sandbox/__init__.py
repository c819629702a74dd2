"""Programs that people bring (Lua, jq), run in a process of their own, which may be killed.

Belongs here: starting it, asking it, killing it, and its answers in the core's words. Does not: what comes of them.
"""

from phaseline.engine.sandbox.parent import Sandbox, Stopped
from phaseline.engine.sandbox.programs import Sandboxed, shared

__all__ = ["Sandbox", "Sandboxed", "Stopped", "shared"]
