"""The interface through which rules run scripts that users bring.

Belongs here: the questions a rule may ask of a script, as a Protocol without any product's types. Does not: running
scripts (the engine does that, in a bounded process), what an answer means (the rules that asked).
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from phaseline.machines.language.rules import Revision

SCRIPTS = Revision("kubernetes.scripts", 1)
"""Raise it when a Lua script or a jq program gives another result than before."""
NO_RUNNER = "no script runner: give the tree one that runs Lua and jq"


class JqResult(NamedTuple):
    """The result of a jq program on one object: the object without the deleted paths, or why the program failed.

    broken: the program is invalid on every object, not only on this one.
    """

    found: Any
    problem: str = ""
    broken: bool = False


class ScriptRunner(Protocol):
    """Runs users' scripts. An answer depends on the arguments only."""

    def lua(self, script: str, live: Mapping[str, Any], now: int) -> tuple[str, str]:
        """Run a Lua script on an object at `now` (whole s since 1970): `(status, message)`, empty for no answer."""
        ...

    def jq(self, program: str, found: Any) -> JqResult:
        """Delete the paths that a jq program selects: `del(<program>)`."""
        ...


class NoScripts:
    """Runs nothing: the script runner of trees whose kinds need no scripts. Each answer says that there is no runner."""

    def lua(self, script: str, live: Mapping[str, Any], now: int) -> tuple[str, str]:  # noqa: ARG002  # no script runs
        """Unknown, with the reason."""
        return "Unknown", f"health script: {NO_RUNNER}"

    def jq(self, program: str, found: Any) -> JqResult:  # noqa: ARG002  # no program runs
        """The object as it is, and the problem."""
        return JqResult(found, NO_RUNNER)
