"""The known name that a wrong one was probably meant to be.

Belongs here: `did_you_mean`.
"""

from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str], cutoff: float = 0.7) -> str:
    """A question to put behind a wrong name: ` (did you mean cluster?)`; empty if no known name is similar.

    cutoff: how similar, up to 1.
    """
    from difflib import get_close_matches  # noqa: PLC0415  # slow to load, and few names are wrong

    by_spelling = {one.casefold(): one for one in known}
    close = get_close_matches(name.casefold()[:64], by_spelling, n=1, cutoff=cutoff)
    return f" (did you mean {by_spelling[close[0]]}?)" if close else ""
