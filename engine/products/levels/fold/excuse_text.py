"""The text in which the log keeps an excuse: people read it among the notes of operators, and levels read it back.

Belongs here: writing and reading it. Does not: the note around it (`engine.publish.operations`), what is excused
(`spared`).
"""

import re
from urllib.parse import quote, unquote

from phaseline.engine.products.levels.fold.spared import Excuse
from phaseline.schemas.records import nanoseconds, timestamp

GIVEN, WITHDRAWN = "levels excuse", "levels withdraw"
"""The commands that the notes name."""
_GIVEN = re.compile(r"(\S+) from (\S+) to (\S+): (.+)", re.DOTALL)
_WITHDRAWN = re.compile(r"excuse ([0-9]{1,19}): (.+)", re.DOTALL)


def given(excuse: Excuse) -> str:
    """`c1/pool-a from 2026-03-02T08:00:00.000000000Z to 2026-03-02T09:00:00.000000000Z: new switches`."""
    return f"{quote(excuse.tree)} from {timestamp(excuse.begin_ns)} to {timestamp(excuse.end_ns)}: {excuse.why}"


def withdrawn(place: int, why: str) -> str:
    """`excuse 4711: the wrong tree`."""
    return f"excuse {place}: {why}"


def read_given(text: str) -> Excuse | None:
    """The excuse in a text; None if it has none."""
    if (found := _GIVEN.fullmatch(text)) is None:
        return None
    try:
        return Excuse(unquote(found[1]), nanoseconds(found[2]), nanoseconds(found[3]), found[4])
    except (ValueError, OverflowError):
        return None


def read_withdrawn(text: str) -> int | None:
    """The place of the excuse that a text withdraws; None if it withdraws none."""
    found = _WITHDRAWN.fullmatch(text)
    return None if found is None else int(found[1])
