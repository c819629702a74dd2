"""Health rules in Python, registered by installed packages.

Belongs here: finding the rules, and calling one so that its errors become a health result. Does not: health scripts in
Lua, which come with an application's settings (`overrides`).
"""

from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from phaseline.machines.kubernetes.health.result import HealthResult, unknown
from phaseline.machines.kubernetes.profiles import ALIASES, SOURCE_ORDER

ENTRY_POINTS = "phaseline.health"
"""The entry point group. Each name is `<group>/<Kind>`, or `/<Kind>` for the core group.

Each value is a function that takes the object and returns `(status, message)` or None."""
PluginRule = Callable[[Mapping[str, Any]], tuple[str, str] | None]


@cache
def plugin_rules() -> Mapping[str, PluginRule]:
    """The rules of all installed packages, by `group/Kind`."""
    return {entry.name: entry.load() for entry in entry_points(group=ENTRY_POINTS)}


def run_plugin(rule: PluginRule, live: Mapping[str, Any]) -> HealthResult | None:
    """Call a rule. An exception or an unknown status gives the health Unknown, with the reason."""
    try:
        found = rule(live)
        if found is None:
            return None
        status, message = found
    except Exception as error:  # noqa: BLE001  # an error in a plugin must not stop the worker
        return unknown(f"health rule: {type(error).__name__}: {error}")
    status = ALIASES.get(status, status)
    if status not in SOURCE_ORDER:
        return unknown(f"health rule: {status!r:.60} is no health; those are {', '.join(SOURCE_ORDER)}")
    return HealthResult(status, str(message))
