"""Resources that are known because their application names them: the list in the status of an Application.

Belongs here: what such a name means for a resource, and the end of what is no longer named. Does not: observed
manifests (`observe`), reading Argo CD's objects (the engine).
"""

from collections.abc import Mapping
from typing import Any

from phaseline.machines.kinds.gitops.observe import ASIDE, LONGEST, NOTED, SYNC, SYNC_FAILED, SYNCING
from phaseline.machines.kinds.kubernetes.assess import NOT_COMPARED, OUT_OF_SYNC, SYNCED, UNKNOWN_DESIRED
from phaseline.machines.kinds.kubernetes.profiles import (
    DEGRADED,
    HEALTHY,
    MISSING,
    NOT_ASSESSED,
    PAUSED,
    PROGRESSING,
    UNKNOWN,
)
from phaseline.machines.language.predicates import Scene
from phaseline.machines.language.rules import rule
from phaseline.machines.language.table import Attributes, Field, Fired, RuleEvent
from phaseline.schemas.templates.shared_values import digest

HEALTHS = (UNKNOWN, MISSING, DEGRADED, PAUSED, PROGRESSING, HEALTHY, NOT_ASSESSED, ASIDE)
SYNCS = (SYNCED, OUT_OF_SYNC, NOT_COMPARED)
WHOLE, SYNC_ONLY = "all", "sync"
"""What is known of a resource by its name only: all, or its sync, where the object is observed and Git is not known."""
NO_MORE = "its application has no status any more that says so"

LISTED = (
    Field("resources", dict, "by `<group:Kind>/<namespace>/<name>`, what it says of each resource: health, sync, "
                             "health_message, sync_message, prune, wave; left out if it says nothing of any"),
)  # fmt: skip
TOLD = (
    Field("health",         str,  "its health, where nothing was observed", HEALTHS),
    Field("sync",           str,  "its sync, where nothing was compared", SYNCS),
    Field("health_message", str,  "why it has that health"),
    Field("sync_message",   str,  "why it has that sync"),
    Field("prune",          bool, "whether it is to be pruned"),
    Field("wave",           int,  "the wave in which it is synchronised"),
)  # fmt: skip


@rule("gitops.tell_named", revision=2)
def tell_named(scene: Scene, entity_id: str, data: Mapping[str, Any], below: str) -> str | Fired | None:
    """What the list of an application says of a resource, as far as it counts: not where it was observed itself.

    Where it has no list any more, what it named is still there, and nothing is known of it.
    """
    found = scene.above(below, "resource")
    if found is None:
        return None
    listed = data.get("resources")
    if listed is None and not found.attributes.get("by_name"):
        return None
    unsaid = {"health_message": NO_MORE, "sync_message": NO_MORE}
    said = unsaid if listed is None else listed.get(below[len(entity_id) + 1 :])
    if not isinstance(said, Mapping):
        return "unnamed" if found.attributes.get("by_name") else None
    told = {name: said[name] for name in ("health_message", "sync_message", "prune", "wave") if name in said}
    health, sync = (said.get(name) for name in ("health", "sync"))
    seen = "live_digest" in found.attributes
    if not seen:
        told["health"] = health if health in HEALTHS else NOT_ASSESSED
    sync = sync if sync in SYNCS else NOT_COMPARED
    compared = seen and found.attributes.get("compared_why", UNKNOWN_DESIRED) != UNKNOWN_DESIRED
    at_work = found.facets[SYNC].base.phase in (SYNCING, SYNC_FAILED)
    if not compared and (sync == SYNCED or not at_work):
        told["sync"] = sync
    return Fired("told", told) if "health" in told or "sync" in told or found.attributes.get("by_name") else None


@rule("gitops.note_name", revision=2)
def note_name(attributes: Attributes, _: RuleEvent) -> Attributes:
    """Notes that a resource is known by its name, and forgets what was observed in an earlier life."""
    forgotten = (*NOTED, "events", "left_out")
    return {**{name: value for name, value in attributes.items() if name not in forgotten}, "by_name": WHOLE}


@rule("gitops.note_told", revision=1)
def note_told(attributes: Attributes, event: RuleEvent) -> Attributes:
    """Notes what its application says of a resource, as far as it counts."""
    data, whole, syncs = event.data, "health" in event.data, "sync" in event.data
    kept = {name: value for name, value in attributes.items() if name not in ("by_name", "prune")}
    if whole:
        kept = {
            name: value for name, value in kept.items() if name not in NOTED or (name == "sync_message" and not syncs)
        }
        kept["health_message"] = _text(data, "health_message")
        kept |= {"wave": data["wave"]} if type(data.get("wave")) is int else {}
    if syncs:
        kept["sync_message"] = _text(data, "sync_message")
    kept |= {"by_name": WHOLE if whole else SYNC_ONLY} if whole or syncs else {}
    return {**kept, "prune": True} if data.get("prune") is True and "by_name" in kept else kept


def _text(data: Mapping[str, Any], name: str) -> str:
    found = data.get(name)
    return found[:LONGEST] if isinstance(found, str) else ""


@rule("gitops.forget_named", revision=1)
def forget_named(attributes: Attributes, _: RuleEvent) -> Attributes:
    """Forgets the sync of a resource that its application no longer names."""
    return {name: value for name, value in attributes.items() if name not in ("by_name", "prune", "sync_message")}


@rule("gitops.note_list", revision=2)
def note_list(attributes: Attributes, event: RuleEvent) -> Attributes:
    """Notes that the list of an application changed, so that what it told leads back to a record of the application."""
    listed = event.data.get("resources")
    kept = {name: value for name, value in attributes.items() if name != "resources_digest"}
    return kept if listed is None else {**kept, "resources_digest": digest(listed)}
