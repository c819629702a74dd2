"""What goes from one app context to others of its resource: resources on an update, reports, a user's terminate.

Belongs here: the rules that look at several contexts, or from a resource up to its context.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from phaseline.machines.language.predicates import Scene
from phaseline.machines.language.rules import rule
from phaseline.machines.language.table import ABSENT, DELETED, Fired, Refusal, RuleEvent
from phaseline.schemas.subjects import ancestor_id
from phaseline.schemas.value import Value

Attributes = Mapping[str, Any]
OWNED = ("Applied", "Retrying", "Failed")
"""The states in which an rsync resource may be in a cluster. Pending counts too, once it was asked for."""
UNDER_WAY = ("Instantiating", "PreTerminate", "Terminating", "Updating")
"""The states of a context in which rsync has work to do."""
TAKEN_OVER_BY, HANDED_OVER_TO, RECLAIMS = "taken_over_by", "handed_over_to", "reclaims"


# ---- an update: what the new context has too is handed over to it, the rest is deleted


@rule("emco.note_successor", revision=1)
def note_successor(attributes: Attributes, event: RuleEvent) -> Attributes | Refusal:
    """Notes the context that takes the place of this one."""
    name = event.data["to"]
    if not name or "/" in name:
        return Refusal(f"data.to must be the last part of an app_context's id, found {name!r}", invalid=True)
    return {**attributes, TAKEN_OVER_BY: name}


@rule("emco.note_reclaim", revision=1)
def note_reclaim(attributes: Attributes, _: RuleEvent) -> Attributes:
    """Notes that the context takes back what it told to go."""
    return {**attributes, RECLAIMS: True}


@rule("emco.note_plain", revision=1)
def note_plain(attributes: Attributes, _: RuleEvent) -> Attributes:
    """Notes that nothing of the context was told to go."""
    return {name: value for name, value in attributes.items() if name != RECLAIMS}


@rule("emco.replaced", revision=1)
class Replaced(Value, frozen=True):
    """The resource above has another current context. For guards only."""

    def holds(self, scene: Scene, entity_id: str) -> bool:
        """False as long as the resource above names no context."""
        root, _, name = entity_id.partition("/")
        found = scene.above(root, "emco_resource")
        return found is not None and found.attributes.get("context") not in (None, name)

    def text(self) -> str:
        """`the resource above has another current context`."""
        return "the resource above has another current context"


@rule("emco.left_behind", revision=2)
def left_behind(scene: Scene, entity_id: str, data: Mapping[str, Any], below: str) -> str | Fired:
    """`hand_over` for a resource that the context `data.to` has too, `terminate` for the others."""
    to = f"{ancestor_id(entity_id, 1)}/{data['to']}"
    counterpart = f"{to}{below[len(entity_id) :]}"
    found = scene.above(counterpart, "rsync_resource")
    if found is None or (
        found.facets[0].base.phase in (ABSENT, DELETED) and not HandedOver().holds(scene, counterpart)
    ):
        return "terminate"
    return Fired("hand_over", {HANDED_OVER_TO: data["to"], "message": f"handed over to app_context {to}"})


@rule("emco.handed_over", revision=1)
class HandedOver(Value, frozen=True):
    """The rsync resource was handed over to the context that took over from its own one."""

    def holds(self, scene: Scene, entity_id: str) -> bool:
        """False for a resource that was deleted in another way, or in an earlier life of its context."""
        found, context = scene.above(entity_id, "rsync_resource"), scene.above(entity_id, "app_context")
        to = None if found is None else found.attributes.get(HANDED_OVER_TO)
        return to is not None and context is not None and context.attributes.get(TAKEN_OVER_BY) == to

    def text(self) -> str:
        """`it was handed over to the context that took over`."""
        return "it was handed over to the context that took over"


@rule("emco.take_back", revision=1)
def take_back(attributes: Attributes, _: RuleEvent) -> Attributes:
    """Forgets that the resource was handed over."""
    return {name: value for name, value in attributes.items() if name != HANDED_OVER_TO}


# ---- from below: what a resource or a context tells the one above it


@rule("emco.stopping_context", revision=1)
def stopping_context(scene: Scene, entity_id: str, _: Mapping[str, Any]) -> Sequence[str]:
    """The context of the resource, if it waits for the end of instantiating."""
    found = scene.above(entity_id, "app_context")
    return (ancestor_id(entity_id, 2),) if found is not None and found.facets[0].base.phase == "PreTerminate" else ()


@rule("emco.resource_of_current", revision=1)
def resource_of_current(scene: Scene, entity_id: str, _data: Mapping[str, Any]) -> Sequence[str]:
    """The resource above, if this context is its current one."""
    root, _, name = entity_id.partition("/")
    found = scene.above(root, "emco_resource")
    return (root,) if found is not None and found.attributes.get("context") == name else ()


# ---- a terminate, and reports


def in_charge(scene: Scene, entity_id: str, below: str) -> bool:
    """Whether a context is the current one, or an old one that owns what may be in a cluster."""
    resource, context = scene.above(entity_id, "emco_resource"), scene.above(below, "app_context")
    if resource is None or context is None:
        return False
    if resource.attributes.get("context") == below.partition("/")[2] or context.facets[0].state.phase in UNDER_WAY:
        return True
    return any(scene.tally(below, "app_context", "rsync_resource", 0).get(phase) for phase in OWNED)


@rule("emco.to_resume", revision=1)
def to_resume(scene: Scene, entity_id: str, _: Mapping[str, Any], below: str) -> str | None:
    """The current context, and the old ones that own what may be in a cluster."""
    return "resume" if in_charge(scene, entity_id, below) else None


@rule("emco.to_terminate", revision=1)
def to_terminate(scene: Scene, entity_id: str, _: Mapping[str, Any], below: str) -> str | None:
    """The current context, and the old ones that own what may be in a cluster."""
    return "terminate" if in_charge(scene, entity_id, below) else None


@rule("emco.later_contexts", revision=1)
def later_contexts(scene: Scene, entity_id: str, _: Mapping[str, Any]) -> Sequence[str]:
    """The same app and cluster in the contexts that followed, if this is the status context.

    These are the current context and the old ones that still have resources there.
    """
    root, name, rest = entity_id.split("/", 2)
    resource = scene.above(root, "emco_resource")
    if resource is None or resource.attributes.get("status_context") != name:
        return ()
    current, contexts = resource.attributes.get("context"), resource.attributes.get("contexts", ())
    followed = contexts[contexts.index(name) + 1 :] if name in contexts else contexts
    places = {one: f"{root}/{one}/{rest}" for one in followed if one != name}
    return [place for one, place in places.items() if _is_fed(scene, place, is_current=one == current)]


def _is_fed(scene: Scene, place: str, *, is_current: bool) -> bool:
    found = scene.above(place, "app_cluster")
    if found is None or found.facets[0].base.phase in (ABSENT, DELETED):
        return False
    return is_current or any(
        count for phase, count in scene.tally(place, "app_cluster", "rsync_resource", 0).items() if phase != DELETED
    )
