"""The interface through which rules run scripts that users bring.

Belongs here: the calls that a rule may make, as a Protocol without any product's types. Does not: running scripts
(`engine.scripts` does that, in a child process), what a result means (the rules that call).
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from phaseline.machines.language.rules import Revision

SCRIPTS = Revision("kubernetes.scripts", 1)
"""Raise it when the same Lua script or jq program gives another result than before."""
NO_RUNNER = "no script runner: give the tree one that runs Lua and jq"


class JqResult(NamedTuple):
    """The result of a jq program on one object.

    value: the object without the deleted paths, or the object as it was if the program failed.
    problem: why the program failed; empty if it did not.
    broken: whether the program fails on every object, not only on this one.
    """

    value: Any
    problem: str = ""
    broken: bool = False


class ScriptRunner(Protocol):
    """Runs users' scripts. A result depends on the arguments only."""

    def lua(self, script: str, live: Mapping[str, Any], now: int) -> tuple[str, str]:
        """Run a Lua health script on an object; returns `(status, message)`, both empty for no answer.

        now: the time that the script sees, in whole seconds since 1970.
        """
        ...

    def jq(self, program: str, value: Any) -> JqResult:
        """Delete the paths that a jq program selects: `del(<program>)`."""
        ...


class NoScripts:
    """A script runner that runs nothing, for trees whose kinds need no scripts. Each result says so."""

    def lua(self, script: str, live: Mapping[str, Any], now: int) -> tuple[str, str]:  # noqa: ARG002  # no script runs
        """Unknown, with the reason."""
        return "Unknown", f"health script: {NO_RUNNER}"

    def jq(self, program: str, value: Any) -> JqResult:  # noqa: ARG002  # no program runs
        """The object as it is, and the problem."""
        return JqResult(value, NO_RUNNER)
