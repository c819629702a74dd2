"""The interface through which rules run scripts that users bring.

Belongs here: the calls that a rule may make, as a Protocol without any product's types. Does not: running scripts
(`engine.scripts` does that, in a child process), what a result means (the rules that call).
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from phaseline.machines.language.rules import Revision

SCRIPTS = Revision("kubernetes.scripts", 3)
"""Raise it when the same Lua script or jq program gives another result than before."""
UNKNOWN = "Unknown"
"""The status of an object whose script failed."""
NO_RUNNER = "no script runner: give the tree one that runs Lua and jq"


class JqResult(NamedTuple):
    """The result of a jq program on one object.

    value: the object without the deleted paths; the object itself if nothing was deleted, or the program failed.
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

    def jq(self, programs: Sequence[str], values: Sequence[Any]) -> list[list[JqResult]]:
        """Delete the paths that jq programs select, one after the other: `del(<program>)`.

        Returns for each program one result for each object. All programs of one event are given in one call, because
        they share a limit.
        """
        ...


class NoScripts:
    """A script runner that runs nothing, for trees whose kinds need no scripts. Each result says so."""

    def lua(self, script: str, live: Mapping[str, Any], now: int) -> tuple[str, str]:  # noqa: ARG002  # no script runs
        """Unknown, with the reason."""
        return UNKNOWN, f"health script: {NO_RUNNER}"

    def jq(self, programs: Sequence[str], values: Sequence[Any]) -> list[list[JqResult]]:
        """The objects as they are, and the problem."""
        return [[JqResult(value, NO_RUNNER) for value in values] for _ in programs]
