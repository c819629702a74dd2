"""The known names that a wrong one was probably meant to be.

Belongs here: `did_you_mean`, `nearest`.
"""

from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str], cutoff: float = 0.7) -> str:
    """A question to put behind a wrong name: ` (did you mean cluster?)`; empty if no known name is similar.

    cutoff: how similar, up to 1.
    """
    close = nearest(name, known, 1, cutoff)
    return f" (did you mean {close[0]}?)" if close else ""


def nearest(name: str, known: Iterable[str], most: int = 5, cutoff: float = 0.5) -> list[str]:
    """The known names that are like a wrong one, the most similar first."""
    from difflib import get_close_matches  # noqa: PLC0415  # slow to load, and few names are wrong

    by_spelling = {one.casefold(): one for one in known}
    return [by_spelling[one] for one in get_close_matches(name.casefold()[:64], by_spelling, n=most, cutoff=cutoff)]
