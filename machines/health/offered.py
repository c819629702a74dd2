"""Health rules in Python that installed packages offer by the entry point group `phaseline.health`.

Belongs here: loading them, their revisions, calling one so that its errors become a health. Does not: rules that come
with settings (Lua).
"""

from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, NamedTuple

from phaseline.machines.health.verdict import Health, unknown
from phaseline.machines.profiles import ALIASES, SOURCE_ORDER
from phaseline.machines.rules import Revision, declaration_of

ENTRY_POINTS = "phaseline.health"
"""Named `<group>/<Kind>`, `/<Kind>` for the core group: a function of the object, giving `(status, message)` or None."""
Offered = Callable[[Mapping[str, Any]], tuple[str, str] | None]


class Plugin(NamedTuple):
    """A rule of an installed package, and which revision of it this is."""

    judge: Offered
    revisions: tuple[Revision, ...]


@cache
def offered() -> Mapping[str, Plugin]:
    """The rules by `group/Kind`, with their revisions."""
    return {entry.name: _plugin(entry) for entry in entry_points(group=ENTRY_POINTS)}


def revisions() -> tuple[Revision, ...]:
    """The revisions of all offered rules: part of the version of each table that asks them."""
    return tuple(revision for plugin in offered().values() for revision in plugin.revisions)


def _plugin(entry: EntryPoint) -> Plugin:
    """Load a rule. One that declares no revision has the version of its distribution instead."""
    judge = entry.load()
    declared = declaration_of(judge)
    if declared is not None:
        found = (declared.revision, *declared.used)
    elif entry.dist is not None:
        found = (Revision(entry.dist.name, entry.dist.version),)
    else:
        found = (Revision(entry.value, "unknown"),)
    return Plugin(judge, tuple(Revision(f"{entry.name}: {one.name}", one.number) for one in found))


def judged(plugin: Plugin, live: Mapping[str, Any]) -> Health | None:
    """What a rule says; Unknown with the reason where it fails."""
    try:
        found = plugin.judge(live)
        if found is None:
            return None
        status, message = found
    except Exception as error:  # noqa: BLE001  # whatever somebody's rule raises is told, and stops nothing
        return unknown(f"health rule: {type(error).__name__}: {error}")
    status = ALIASES.get(status, status)
    if status not in SOURCE_ORDER:
        return unknown(f"health rule: {status!r:.60} is no health; those are {', '.join(SOURCE_ORDER)}")
    return Health(status, str(message))
