"""Programs that people bring with them, as rules ask for them (spec: GitOps, Custom health, Ignore rules).

Belongs here: the questions. Does not: running them, which is done elsewhere, bounded.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from phaseline.machines.health.verdict import Health, unknown
from phaseline.machines.rules import Revision

SCRIPTS = Revision("kubernetes.scripts", 1)
"""Raise it when a Lua script or a jq program gives another result than before."""


class Removed(NamedTuple):
    """What one jq program made of one object: without what it names, or why it could not be applied.

    broken: it is no program at all, on any object.
    """

    found: Any
    problem: str = ""
    broken: bool = False


class Programs(Protocol):
    """Runs what people bring. The answer depends on the arguments only."""

    def lua(self, script: str, live: Mapping[str, Any], now: int) -> Health:
        """What a health script says of an object at a moment (whole s since 1970); an empty status where it says nothing."""
        ...

    def jq(self, program: str, found: Any) -> Removed:
        """An object without what jq's `del(<program>)` names."""
        ...


class NoScripts:
    """Runs nothing: for trees whose kinds need no scripts. Each answer says that no script runner is at hand."""

    PROBLEM = "no script runner: give the tree one that runs Lua and jq"

    def lua(self, script: str, live: Mapping[str, Any], now: int) -> Health:  # noqa: ARG002  # the answer to any script
        """Unknown, with the reason."""
        return unknown(f"health script: {self.PROBLEM}")

    def jq(self, program: str, found: Any) -> Removed:  # noqa: ARG002  # the answer to any program
        """The object as it is, and the problem."""
        return Removed(found, self.PROBLEM)
