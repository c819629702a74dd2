"""Where a row may start (docs/spec/reading-the-tables.md).

Belongs here: starting points narrower or wider than a phase. Does not: rows (`table`), how they are found (`machine`).
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class At:
    """A starting point narrower than a phase: with or without a condition, or with the base under it named."""

    phase: str
    has: str | None = None
    lacks: tuple[str, ...] = ()
    base: str | None = None


@dataclass(frozen=True, slots=True)
class Live:
    """Every phase but Absent and Deleted, and but those named; with a condition where `has` names one."""

    but: tuple[str, ...] = ()
    has: str | None = None


LIVE = Live()
Source = str | At | Live
