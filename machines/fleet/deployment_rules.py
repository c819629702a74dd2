"""The rules that read the events of a bundle deployment.

Belongs here: the stage that its deployment ids show, what its agent counts without naming it, when its agent was seen.
Does not: its table (`bundle_deployment`), which state counts as what (`counts`).
"""

from bisect import bisect_left
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from phaseline.machines.fleet.bundle_resource import ERR_APPLIED, PENDING, READY, WAIT_APPLIED
from phaseline.machines.fleet.counts import RESOURCE_WORDS
from phaseline.machines.language.predicates import Scene
from phaseline.machines.language.rules import rule
from phaseline.machines.language.table import Attributes, Refusal, RuleEvent

OUT_OF_SYNC = "OutOfSync"
STAGES = (PENDING, ERR_APPLIED, WAIT_APPLIED, OUT_OF_SYNC, READY)
IDS = ("target", "staged", "applied")
LATEST_CHECK_IN = 45 * 60
"""How many seconds ago an agent was seen lately at the most: three of Fleet's check-ins, which are 15 minutes apart."""
UNREADY_WORDS = ("not_ready",)
CHANGED_WORDS = ("modified", "missing", "orphaned")


def stage_of(ids: Mapping[str, Any]) -> str:
    """The stage that the deployment ids `target`, `staged`, `applied` and `failed` show."""
    target = ids.get("target")
    if target is None:
        return PENDING
    if ids.get("applied") != target:
        return ERR_APPLIED if ids.get("failed") == target else WAIT_APPLIED
    return OUT_OF_SYNC if ids.get("staged") not in (None, target) else READY


def _read_id(name: str, attributes: Attributes, event: RuleEvent) -> Mapping[str, Any]:
    """The fields of an event that reports one id: the id under its name, and the stage that follows."""
    deployment_id = event.data.get("deployment_id")
    ids: dict[str, Any] = {name: deployment_id, **({"failed": None} if name == "applied" else {})}
    message = attributes.get("why", "") if attributes.get(name) == deployment_id else ""
    return {"stage": stage_of({**attributes, **ids}), **ids, "why": event.data.get("message") or message}


@rule("fleet.target", revision=1)
def read_target(_: Scene, __: str, attributes: Attributes, event: RuleEvent) -> Mapping[str, Any] | Refusal:
    """The stage after a new target."""
    return _read_id("target", attributes, event)


@rule("fleet.staged", revision=1)
def read_staged(_: Scene, __: str, attributes: Attributes, event: RuleEvent) -> Mapping[str, Any] | Refusal:
    """The stage after a deployment is staged."""
    return _read_id("staged", attributes, event)


@rule("fleet.applied", revision=1)
def read_applied(_: Scene, __: str, attributes: Attributes, event: RuleEvent) -> Mapping[str, Any] | Refusal:
    """The stage after a deployment is applied."""
    return _read_id("applied", attributes, event)


@rule("fleet.apply_failed", revision=1)
def read_failed(_: Scene, __: str, attributes: Attributes, event: RuleEvent) -> Mapping[str, Any] | Refusal:
    """The stage after applying the target has failed."""
    target = attributes.get("target")
    if target is None:
        return Refusal("nothing is wanted yet that could fail to be applied: send target first")
    stage = stage_of({**attributes, "failed": target})
    return {"stage": stage, "failed": target, "why": event.data.get("message") or ""}


@rule("fleet.observed_deployment", revision=1)
def read_observed(_: Scene, __: str, attributes: Attributes, event: RuleEvent) -> Mapping[str, Any] | Refusal:
    """The stage that a whole BundleDeployment shows, and its listed resources in order."""
    ids: dict[str, Any] = {name: event.data[name] for name in IDS if event.data.get(name) is not None}
    target = ids.get("target", attributes.get("target"))
    ids["failed"] = target if event.data.get("apply_failed") else None
    read: dict[str, Any] = {"stage": stage_of({**attributes, **ids}), **ids, "why": event.data.get("message") or ""}
    if "listed" in event.data:
        read["listed"] = sorted(event.data["listed"] or ())
    counted = event.data.get("counted") or {}
    wrong = [
        word for word, count in counted.items() if word not in RESOURCE_WORDS or type(count) is not int or count < 0
    ]
    if wrong:
        known = ", ".join(RESOURCE_WORDS)
        return Refusal(
            f"data.counted.{wrong[0]} is {counted[wrong[0]]!r}: write a number of 0 or more under one of {known}",
            invalid=True,
        )
    return read


@rule("fleet.note_ids", revision=1)
def note_ids(attributes: Attributes, event: RuleEvent) -> Attributes:
    """Notes the ids and the message."""
    found = {name: event.data[name] for name in ("target", "staged", "applied", "failed", "why") if name in event.data}
    return {name: value for name, value in {**attributes, **found}.items() if value is not None}


@rule("fleet.note_observed", revision=1)
def note_observed(attributes: Attributes, event: RuleEvent) -> Attributes:
    """Notes the ids, the message, the flags, and what is counted without a name."""
    data = event.data
    counted = {word: count for word, count in sorted((data.get("counted") or {}).items()) if count}
    flags = {
        "ready": data.get("ready") if not any(map(counted.get, UNREADY_WORDS)) else False,
        "unmodified": data.get("unmodified") if not any(map(counted.get, CHANGED_WORDS)) else False,
    }
    after = {**note_ids(attributes, event), **{name: flag for name, flag in flags.items() if flag is not None}}
    after.pop("counted", None)
    after.pop("counted_names", None)
    if not counted:
        return after
    names = data.get("counted_names") or 0
    return {**after, "counted": counted, **({"counted_names": names} if names else {})}


@rule("fleet.unlisted", revision=1)
def unlisted(_: Scene, entity_id: str, data: Mapping[str, Any], below: str) -> str | None:
    """Whether a BundleDeployment does not list this resource: it is not declared then, and nothing says it lives."""
    listed = data.get("listed")
    if listed is None:
        return None
    name = below[len(entity_id) + 1 :]
    place = bisect_left(listed, name)
    return None if place < len(listed) and listed[place] == name else "unlisted"


@rule("fleet.checked_in", revision=1)
def read_check_in(_: Scene, __: str, ___: Attributes, event: RuleEvent) -> Mapping[str, Any] | Refusal:
    """Whether the agent of the cluster was seen, and lately."""
    last_seen = event.data.get("last_seen")
    if last_seen is None:
        return {"agent_seen": False, "check_in": "its agent was never seen"}
    try:
        seen = datetime.fromisoformat(last_seen)
    except ValueError:
        return Refusal(f"data.last_seen is {last_seen!r}: write a time such as 2026-03-02T08:00:00Z", invalid=True)
    seen = seen if seen.tzinfo is not None else seen.replace(tzinfo=UTC)
    lately = event.time / 1e9 - seen.timestamp() <= LATEST_CHECK_IN
    return {"agent_seen": lately, "check_in": f"its agent was last seen {last_seen}"}


@rule("fleet.note_check_in", revision=1)
def note_check_in(attributes: Attributes, event: RuleEvent) -> Attributes:
    """Notes when the agent was seen, and whether that is lately."""
    return {**attributes, "agent_seen": event.data.get("agent_seen"), "check_in": event.data.get("check_in")}
