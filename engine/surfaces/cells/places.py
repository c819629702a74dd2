"""Where a watch of several cells stands: a place or a time for each of them.

Belongs here: the text form of that, `east=4711,west=15m`, and what is meant for each cell. Does not: reading a time or
a place (`phaseline.engine.log.when`).
"""

from collections.abc import Iterable, Mapping

from phaseline.engine.log.when import NOW, Moment, When
from phaseline.schemas.errors import BadSetting, NameUnknown

Places = Mapping[str, When]
"""By the name of a cell, where to begin."""


def read(text: str) -> dict[str, str]:
    """The texts by cell of `east=4711,west=15m`; empty for a text that names no cells. Raises `BadSetting`."""
    if "=" not in text:
        return {}
    found: dict[str, str] = {}
    for part in text.split(","):
        name, equals, when = part.strip().partition("=")
        if not equals or not when or name in found:
            raise _bad(f"{part.strip()[:64]!r} is no place of a cell: write each cell once, as in east=4711,west=15m")
        found[name] = when
    return found


def written(places: Places) -> str:
    """The text that `read` takes."""
    return ",".join(f"{name}={when}" for name, when in places.items())


def for_each(names: Iterable[str], start: When | Places) -> dict[str, When]:
    """Where each cell begins. A cell that is not named begins now. Raises `BadSetting`, `NameUnknown`."""
    known = tuple(names)
    if isinstance(start, Mapping):
        for name in start:
            if name not in known:
                raise NameUnknown.among("cell", name, known)
        return {name: start.get(name, NOW) for name in known}
    check_common(known, start, "from")
    return dict.fromkeys(known, start)


def check_common(names: Iterable[str], when: When | None, name: str = "at") -> None:
    """Raise `BadSetting` for a place, which is one of a single log."""
    known = tuple(names)
    is_place = isinstance(when, int | Moment) or (isinstance(when, str) and when.isdecimal())
    if is_place and len(known) > 1:
        shown = when.place if isinstance(when, Moment) else when
        example = ",".join(f"{one}={shown}" for one in known[:2])
        further = f", or each cell's place ({example})" if name == "from" else ""
        problem = f"the place {shown} belongs to the log of one cell: name a time{further}"
        raise BadSetting(name=name, problem=problem)


def _bad(problem: str) -> BadSetting:
    return BadSetting(name="from", problem=problem)
