"""Excuses in the log of an installation: each is a note of an operator, which nothing changes afterwards.

An excuse that was wrong is withdrawn by another note. So the log says who excused what, when and why.
Belongs here: giving, withdrawing, reading them, and the text of such a note. Does not: what is excused (`levels.fold`).
"""

import re
from urllib.parse import quote, unquote

from phaseline.engine.log import latest
from phaseline.engine.log.installation import Installation
from phaseline.engine.products.levels.fold.spared import Excuse
from phaseline.engine.publish import operations
from phaseline.engine.publish.operations import MOST_TEXT
from phaseline.schemas.errors import InvalidInput, NotFound
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


async def all_of(installation: Installation) -> list[Excuse]:
    """The excuses that stand, oldest first. Notes that hold none, whoever wrote them, count for nothing."""
    found = dict[int, Excuse]()
    async for one in operations.operations(installation):
        if one.command == GIVEN and (excuse := read_given(one.what)) is not None:
            found[one.place] = excuse._replace(by=one.by, given_ns=one.time_ns, place=one.place)
        elif one.command == WITHDRAWN and (place := read_withdrawn(one.what)) is not None:
            found.pop(place, None)
    return [*found.values()]


async def give(installation: Installation, excuse: Excuse, by: str) -> None:
    """Note an excuse. Raises `InvalidInput` for one that excuses nothing, `NotPermitted`."""
    latest.check_tree(excuse.tree)
    if excuse.begin_ns >= excuse.end_ns:
        raise InvalidInput.start_after_end(start=timestamp(excuse.begin_ns), end=timestamp(excuse.end_ns))
    await _note(installation, GIVEN, given(excuse), excuse.why, by)


async def withdraw(installation: Installation, place: int, why: str, by: str) -> Excuse:
    """Note that an excuse does not count any more, and return it. Raises `NotFound.no_excuse`, `NotPermitted`."""
    standing = {one.place: one for one in await all_of(installation)}
    if place not in standing:
        raise NotFound.no_excuse(place=place)
    await _note(installation, WITHDRAWN, withdrawn(place, why), why, by)
    return standing[place]


async def _note(installation: Installation, command: str, what: str, why: str, by: str) -> None:
    if not why.strip():
        raise InvalidInput.bad_parameter(name="why", problem="is empty: say why, for those who read it later")
    if len(what) > MOST_TEXT:
        raise InvalidInput.bad_parameter(
            name="why", problem=f"is too long: with the tree and the times a note has {MOST_TEXT} characters at most"
        )
    await operations.note(installation.wire, installation.prefix, command, what, by)
