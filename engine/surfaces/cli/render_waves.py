"""The resources of an application in the order in which they are synchronised, with their waves and hooks.

Belongs here: that order, and the words beside each resource. Does not: other parts of the tree (`tree`), reading waves
(`kinds.gitops.waves`).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from phaseline.machines.kinds.gitops.controller import asked_words, rollout_words
from phaseline.machines.kinds.gitops.waves import rank
from phaseline.schemas.records import Entity

APPLICATION, RESOURCE = "application", "resource"
MOST, LONGEST = 3, 160
"""The most conditions beside an application, and the most characters of each; `why` and `get` have all of them."""


def in_order(entity: Entity, children: Sequence[Entity]) -> list[Entity]:
    """The children of an entity; those of an application by phase and wave, otherwise as they were."""
    if entity.kind != APPLICATION:
        return list(children)
    return sorted(children, key=lambda one: (rank_of(one), one.attributes.get("wave", 0)))


def rank_of(entity: Entity) -> int:
    """The rank of the phase in which a resource is synchronised."""
    return rank(entity.attributes.get("hook") or "")


def beside(application: Entity | None, entity: Entity) -> str:
    """`PreSync hook Succeeded, wave 2`: what the tree says beside a resource or an application."""
    if entity.kind == APPLICATION:
        return ", ".join(_of_application(entity))
    if entity.kind != RESOURCE:
        return ""
    number = entity.attributes.get("left_out")
    left_out = [f"at least {number:,} more that it owns are not shown"] if number else []
    if application is None:
        return "".join(left_out)
    hook, wave = entity.attributes.get("hook"), entity.attributes.get("wave")
    end = entity.id[len(application.id) + 1 :]
    results = {one.get("phase"): one.get("result", "") for one in _hooks(application) if one.get("resource") == end}
    words = [f"{phase} hook {results.get(phase, '')}".rstrip() for phase in (hook or "").split(",") if phase]
    return ", ".join([*words, *([f"wave {wave}"] if wave else []), *left_out])


def departed(application: Entity, children: Sequence[Entity]) -> Iterator[tuple[int, str]]:
    """The hooks of the last operation that are no longer there: the rank of their phase, and a line about each."""
    present = {child.id[len(application.id) + 1 :] for child in children}
    for one in _hooks(application):
        if one.get("resource") not in present:
            words = (one.get("phase", ""), "hook", one.get("resource", ""), one.get("result", ""))
            message = f" ({one['message']})" if one.get("message") else ""
            yield rank(one.get("phase", "")), " ".join(filter(None, words)) + message


def _hooks(application: Entity) -> Sequence[dict[str, str]]:
    found = application.attributes.get("hooks") if application.kind == APPLICATION else None
    return found or ()


def _of_application(entity: Entity) -> Iterator[str]:
    """What is going on with an application: an operation that did not succeed, its step in a rollout."""
    found = entity.attributes
    phase, tries = found.get("operation"), found.get("retries")
    if phase is not None and phase != "Succeeded":
        message = found.get("operation_message")
        yield f"operation {phase}{f', retry {tries}' if tries else ''}{f': {message}' if message else ''}"
    if asked := found.get("operation_asked"):
        yield f"operation not begun: {asked_words(asked)}"
    if found.get("hydration") == "Hydrating":
        yield found.get("hydration_message", "")
    if "rollout" in found and found.get("rollout_step", -1) > 0:
        since = f" since {found['rollout_since']}" if "rollout_since" in found else ""
        waits = rollout_words(found)
        yield f"rollout step {found['rollout_step']} {found['rollout']}{since}{f': {waits}' if waits else ''}"
    if found.get("orphaned"):
        yield f"{found['orphaned']} orphaned"
    if found.get("resources_left_out"):
        yield f"{found['resources_left_out']:,} of {found['resources_named']:,} named resources are not shown"
    yield from _conditions(found)


def _conditions(found: Mapping[str, Any]) -> Iterator[str]:
    """The conditions that its controller reports, without those that its states quote."""
    quoted = [found.get(name) or "" for name in ("deletion_message", "sync_message", "health_message")]
    for one in found.get("problems", ())[:MOST]:
        message = one.get("message", "")
        if not any(message and message in said for said in quoted):
            short = message if len(message) <= LONGEST else f"{message[:LONGEST]}…"
            yield f"{one.get('type', '')}{f': {short}' if short else ''}"
    if (more := len(found.get("problems", ())) - MOST) > 0:
        yield f"{more} more conditions"
