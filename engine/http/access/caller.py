"""Who asks.

Belongs here: `Caller`, and the roles. Does not: finding out who asks (`access`).
"""

from dataclasses import dataclass
from typing import Literal

Role = Literal["", "read", "publish", "operate"]
"""What a request needs: nothing; reading; publishing events; what operators do."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody who asks. roles: what he may do. trees: what he may read, as ids of roots; empty for everything."""

    name: str
    roles: frozenset[Role]
    trees: frozenset[str] = frozenset()


LOCAL = Caller("local", frozenset({"", "read", "publish", "operate"}))
"""Whoever reaches a server that listens on this machine only."""
