"""Patterns of event sources: as which sources somebody may speak, such as `/agent/c1` or `/agent/*`.

A `*` stands for any characters, also for none and for slashes; every other character for itself.
Belongs here: what a pattern may be, and which sources fit. Does not: whose patterns they are (`caller`).
"""

from collections.abc import Collection

LONGEST = 256
"""The most characters of a pattern."""


class BadPattern(ValueError):
    """A text is no pattern. The message says why."""


def check(pattern: str) -> None:
    """Raise `BadPattern` unless a text may be a pattern."""
    if not pattern:
        raise BadPattern("a pattern of sources is empty: write `/agent/c1`, or `/agent/*`")
    if len(pattern) > LONGEST:
        raise BadPattern(f"the pattern {pattern[:32]!r}... has more than {LONGEST} characters")
    if not pattern.isprintable():
        raise BadPattern(f"the pattern {pattern[:64]!r} holds a control character")


def is_among(source: str, patterns: Collection[str]) -> bool:
    """Whether a source fits one of the patterns."""
    return any(_fits(source, pattern) for pattern in patterns)


def _fits(source: str, pattern: str) -> bool:
    """Takes each piece between stars where it comes first, so a hostile source takes no more than linear time."""
    first, *rest = pattern.split("*")
    if not rest:
        return source == first
    last = rest.pop()
    if len(source) < len(first) + len(last) or not (source.startswith(first) and source.endswith(last)):
        return False
    start, end = len(first), len(source) - len(last)
    for piece in rest:
        found = source.find(piece, start, end)
        if found < 0:
            return False
        start = found + len(piece)
    return True
