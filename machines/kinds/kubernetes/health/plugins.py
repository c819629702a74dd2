"""Health rules in Python, registered by installed packages.

Belongs here: finding the rules, and calling one so that its errors become a health result. Does not: health scripts in
Lua, which come with an application's settings (`kubernetes.overrides`).
"""

from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from phaseline.machines.kinds.kubernetes.health.result import HealthResult, unknown
from phaseline.machines.kinds.kubernetes.profiles import ALIASES, SOURCE_ORDER
from phaseline.machines.language.rules import Revision, declaration_of
from phaseline.schemas.libraries import registered

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINTS = "phaseline.health"
"""The entry point group. Each name is `<group>/<Kind>`, or `/<Kind>` for the core group.

Each value is a function that takes the object and returns `(status, message)` or None."""
PluginRule = Callable[[Mapping[str, Any]], tuple[str, str] | None]


class Plugin(NamedTuple):
    """A rule of an installed package, and the revisions that it depends on."""

    judge: PluginRule
    revisions: tuple[Revision, ...]


@cache
def plugin_rules() -> Mapping[str, Plugin]:
    """The rules of all installed packages, by `group/Kind`."""
    return {entry.name: _plugin(entry) for entry in registered(ENTRY_POINTS)}


def revisions() -> tuple[Revision, ...]:
    """The revisions of all plug-ins: part of the version of each table that uses them."""
    return tuple(revision for plugin in plugin_rules().values() for revision in plugin.revisions)


def _plugin(entry: "EntryPoint") -> Plugin:
    """Load a rule. A rule that declares no revision has the version of its distribution instead."""
    judge = entry.load()
    declared = declaration_of(judge)
    if declared is not None:
        found = (declared.revision, *declared.used)
    elif entry.dist is not None:
        found = (Revision(entry.dist.name, entry.dist.version),)
    else:
        found = (Revision(entry.value, "unknown"),)
    return Plugin(judge, tuple(Revision(f"{entry.name}: {one.name}", one.number) for one in found))


def run_plugin(plugin: Plugin, live: Mapping[str, Any]) -> HealthResult | None:
    """Call a rule. An exception or an unknown status gives the health Unknown, with the reason."""
    try:
        found = plugin.judge(deepcopy(live))  # the parts of a manifest may be shared with other events
        if found is None:
            return None
        status, message = found
    except Exception as error:  # noqa: BLE001  # an error in a plugin must not stop the worker
        return unknown(f"health rule: {type(error).__name__}: {error}")
    status = ALIASES.get(status, status)
    if status not in SOURCE_ORDER:
        return unknown(f"health rule: {status!r:.60} is no health; those are {', '.join(SOURCE_ORDER)}")
    return HealthResult(status, str(message))
