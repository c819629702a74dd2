"""Health rules that installed packages offer, in Python (spec: GitOps, Custom health).

Belongs here: finding them, calling one so that its mistakes are told. Does not: rules that come with settings (Lua).
"""

from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from phaseline.machines.health.verdict import Health, unknown
from phaseline.machines.profiles import ALIASES, SOURCE_ORDER

ENTRY_POINTS = "phaseline.health"
"""Each named `<group>/<Kind>`, `/<Kind>` for the core group: a function of the object that gives `(status, message)`, or None."""
Offered = Callable[[Mapping[str, Any]], tuple[str, str] | None]


@cache
def offered() -> Mapping[str, Offered]:
    """The rules by `group/Kind`."""
    return {entry.name: entry.load() for entry in entry_points(group=ENTRY_POINTS)}


def judged(rule: Offered, live: Mapping[str, Any]) -> Health | None:
    """What a rule says; Unknown with the reason where it fails."""
    try:
        found = rule(live)
        if found is None:
            return None
        status, message = found
    except Exception as error:  # noqa: BLE001  # whatever somebody's rule raises is told, and stops nothing
        return unknown(f"health rule: {type(error).__name__}: {error}")
    status = ALIASES.get(status, status)
    if status not in SOURCE_ORDER:
        return unknown(f"health rule: {status!r:.60} is no health; those are {', '.join(SOURCE_ORDER)}")
    return Health(status, str(message))
