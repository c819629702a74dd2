"""The rules that read the events of a bundle deployment.

Belongs here: the stage that its deployment ids show, what its agent counts without naming it, when its agent was seen.
Does not: its table (`bundle_deployment`), which state counts as what (`counts`).
"""

from bisect import bisect_left
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from phaseline.machines.kinds.fleet.bundle_resource import ERR_APPLIED, PENDING, READY, WAIT_APPLIED
from phaseline.machines.kinds.fleet.commits import compared, note_commit
from phaseline.machines.kinds.fleet.counts import RESOURCE_WORDS
from phaseline.machines.language.predicates import Scene
from phaseline.machines.language.rules import rule
from phaseline.machines.language.table import Attributes, Refusal, RuleEvent

OUT_OF_SYNC = "OutOfSync"
PAUSED, OFF_SCHEDULE = "Paused", "OffSchedule"
HELD, FREE = (PAUSED, OFF_SCHEDULE), "nothing"
"""What keeps Fleet from updating a deployment; if it is both, it is Paused."""
STAGES = (PENDING, ERR_APPLIED, WAIT_APPLIED, OUT_OF_SYNC, READY)
IDS = ("target", "staged", "applied")
NO_FAILURE: Mapping[str, Any] = {"failed": None, "failed_at": None, "failure": None}
"""What is known of a failure while there is none: which deployment could not be applied, when that was said, why."""
LATEST_CHECK_IN = 45 * 60
"""How many seconds ago an agent was seen lately at the most: three of Fleet's check-ins, which are 15 minutes apart."""
AHEAD = 5 * 60
"""How many seconds ahead of the server's clock a time may be that is believed."""
UNREADY_WORDS = ("not_ready",)
CHANGED_WORDS = ("modified", "missing", "orphaned")
DOUBTFUL_WORDS = ("unknown", "not_assessed", "pending", "wait_applied")
"""What counts resources of which nothing is known, or nothing of the applied version."""


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
    ids: dict[str, Any] = {name: deployment_id}
    if name == "applied" and attributes.get("failed") == deployment_id:
        ids |= NO_FAILURE
    stage = stage_of({**attributes, **ids})
    message = attributes.get("why", "") if attributes.get(name) == deployment_id else ""
    if stage == ERR_APPLIED:  # what was said of the failure is the reason, whatever other ids are told
        message = attributes.get("failure", "")
    return {"stage": stage, **ids, "why": event.data.get("message") or message}


@rule("fleet.target", revision=2)
def read_target(_: Scene, __: str, attributes: Attributes, event: RuleEvent) -> Mapping[str, Any] | Refusal:
    """The stage after a new target."""
    return _read_id("target", attributes, event)


@rule("fleet.staged", revision=2)
def read_staged(_: Scene, __: str, attributes: Attributes, event: RuleEvent) -> Mapping[str, Any] | Refusal:
    """The stage after a deployment is staged."""
    return _read_id("staged", attributes, event)


@rule("fleet.applied", revision=2)
def read_applied(_: Scene, __: str, attributes: Attributes, event: RuleEvent) -> Mapping[str, Any] | Refusal:
    """The stage after a deployment is applied."""
    return _read_id("applied", attributes, event)


@rule("fleet.apply_failed", revision=3)
def read_failed(_: Scene, __: str, attributes: Attributes, event: RuleEvent) -> Mapping[str, Any] | Refusal:
    """The stage after applying the target has failed."""
    target = attributes.get("target")
    if target is None:
        return Refusal("nothing is wanted yet that could fail to be applied: send target first")
    if (named := event.data.get("deployment_id")) not in (None, target):
        return Refusal(f"{named} could not be applied, and {target} is wanted: this says nothing of {target}")
    stage = stage_of({**attributes, "failed": target})
    if stage != ERR_APPLIED:  # it is applied: so it was tried again
        return {"stage": stage, "why": attributes.get("why", "")}
    failure = event.data.get("message") or _unsaid(target)
    return {"stage": stage, "failed": target, "failure": failure, "why": failure}


@rule("fleet.observed_deployment", revision=5)
def read_observed(
    scene: Scene, entity_id: str, attributes: Attributes, event: RuleEvent
) -> Mapping[str, Any] | Refusal:
    """The stage that a whole BundleDeployment shows, what holds it, its commit, and its listed resources in order."""
    ids: dict[str, Any] = {name: event.data[name] or None for name in IDS if event.data.get(name) is not None}
    target = ids.get("target", attributes.get("target"))
    is_old = _speaks_of_another(attributes, event.data, target)
    failed = {name: attributes.get(name) for name in NO_FAILURE} if is_old else _failure(event.data, target)
    held, texts = _held(event.data)
    stage = stage_of({**attributes, **ids, **failed})
    said = "" if is_old else event.data.get("message") or ""
    why = "; ".join([*texts, *filter(None, (said or _why_not(stage, {**attributes, **failed}, event.data),))])
    read: dict[str, Any] = {
        "stage": stage, **ids, **failed, "why": why, "held": held,
        **compared(scene, entity_id, event.data.get("commit")),
    }  # fmt: skip
    if (seen := _time(attributes.get("last_seen"))) is not None and not _is_lately(seen, event.time):
        read["agent_seen"] = False  # what is observed may be the word of Fleet's controller
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


def _unsaid(target: str) -> str:
    """The reason of a failure for which none was given."""
    return f"{target} could not be applied, and nothing says why"


def _failure(data: Mapping[str, Any], target: str | None) -> dict[str, Any]:
    """The deployment that could not be applied, when its agent said so, and why."""
    if not data.get("apply_failed") or target is None:
        return dict(NO_FAILURE)
    failure = data.get("message") or _unsaid(target)
    return {"failed": target, "failed_at": data.get("failed_at"), "failure": failure}


def _why_not(stage: str, known: Mapping[str, Any], data: Mapping[str, Any]) -> str:
    """Why a deployment is not well of which an object says no more than that; empty if it is well."""
    if stage == ERR_APPLIED:
        return str(known.get("failure") or "")
    after = {**known, **{name: flag for name, flag in _flags(data).items() if flag is not None}}
    unwell = {
        "ready": "its agent does not call it ready",
        "unmodified": "its agent says that something of it was changed",
    }
    return next((f"{text}, and does not say why" for name, text in unwell.items() if after.get(name) is False), "")


def _speaks_of_another(attributes: Attributes, data: Mapping[str, Any], target: str | None) -> bool:
    """Whether a failure is the one that was told of another deployment before. An agent that is away repeats it."""
    at, of = attributes.get("failed_at"), attributes.get("failed")
    return (
        bool(data.get("apply_failed")) and at is not None and data.get("failed_at") == at and of not in (None, target)
    )


def _held(data: Mapping[str, Any]) -> tuple[str, list[str]]:
    """What keeps Fleet from updating a deployment: the condition, and the reasons in words."""
    said = {PAUSED: data.get("paused"), OFF_SCHEDULE: data.get("off_schedule")}
    words = {PAUSED: "it is paused", OFF_SCHEDULE: "its cluster is outside its schedule"}
    held = [one for one in HELD if said[one]]
    return next(iter(held), FREE), [words[one] for one in held]


@rule("fleet.note_ids", revision=3)
def note_ids(attributes: Attributes, event: RuleEvent) -> Attributes:
    """Notes the ids, the failure and the message."""
    found = {name: event.data[name] for name in (*IDS, *NO_FAILURE, "why") if name in event.data}
    return {name: value for name, value in {**attributes, **found}.items() if value is not None}


def _flags(data: Mapping[str, Any]) -> dict[str, bool | None]:
    """What an object says of the whole deployment; None where it says nothing. What it counts speaks, too."""
    counted = data.get("counted") or {}
    return {
        "ready": data.get("ready") if not any(map(counted.get, UNREADY_WORDS)) else False,
        "unmodified": data.get("unmodified") if not any(map(counted.get, CHANGED_WORDS)) else False,
        "agent_seen": data.get("agent_seen"),
    }


@rule("fleet.note_observed", revision=3)
def note_observed(attributes: Attributes, event: RuleEvent) -> Attributes:
    """Notes the ids, the message, the flags, and what is counted without a name.

    What counts resources of which nothing is known, and does not call itself ready, is not what it was called before.
    """
    data = event.data
    counted = {word: count for word, count in sorted((data.get("counted") or {}).items()) if count}
    flags = _flags(data)
    after = {**note_ids(attributes, event), **{name: flag for name, flag in flags.items() if flag is not None}}
    in_doubt = {"in_doubt": True} if any(map(counted.get, DOUBTFUL_WORDS)) else {}
    unsaid = ("ready",) if in_doubt and flags["ready"] is None else ()
    for name in ("counted", "counted_names", "in_doubt", "commit", *unsaid):
        after.pop(name, None)
    after = {**note_commit(after, event), **({"commit": data["commit"]} if data.get("commit") else {})}
    if not counted:
        return after
    names = data.get("counted_names") or 0
    return {**after, **in_doubt, "counted": counted, **({"counted_names": names} if names else {})}


@rule("fleet.unlisted", revision=1)
def unlisted(_: Scene, entity_id: str, data: Mapping[str, Any], below: str) -> str | None:
    """Whether a BundleDeployment does not list this resource: it is not declared then, and nothing says it lives."""
    listed = data.get("listed")
    if listed is None:
        return None
    name = below[len(entity_id) + 1 :]
    place = bisect_left(listed, name)
    return None if place < len(listed) and listed[place] == name else "unlisted"


@rule("fleet.checked_in", revision=2)
def read_check_in(_: Scene, __: str, attributes: Attributes, event: RuleEvent) -> Mapping[str, Any] | Refusal:
    """Whether the agent of the cluster was seen, and lately: the newest time counts that is not ahead of the server."""
    last_seen = event.data.get("last_seen")
    if last_seen is None:
        return {"agent_seen": False, "check_in": "its agent was never seen"}
    seen = _time(last_seen)
    if seen is None:
        return Refusal(f"data.last_seen is {last_seen!r}: write a time such as 2026-03-02T08:00:00Z", invalid=True)
    times = {time: text for text in (attributes.get("last_seen"), last_seen) if (time := _time(text)) is not None}
    if not (believed := [time for time in times if not _is_ahead(time, event.time)]):
        text = f"its agent was last seen {last_seen}, which is ahead of the server's clock and not believed"
        return {"agent_seen": False, "check_in": text, "last_seen": None}
    newest = max(believed)
    words = f"its agent was last seen {times[newest]}"
    return {"agent_seen": _is_lately(newest, event.time), "check_in": words, "last_seen": times[newest]}


def _time(written: str | None) -> datetime | None:
    try:
        seen = datetime.fromisoformat(written or "")
    except ValueError:
        return None
    return seen if seen.tzinfo is not None else seen.replace(tzinfo=UTC)


def _is_lately(seen: datetime, time: int) -> bool:
    return time / 1e9 - seen.timestamp() <= LATEST_CHECK_IN and not _is_ahead(seen, time)


def _is_ahead(seen: datetime, time: int) -> bool:
    return seen.timestamp() - time / 1e9 > AHEAD


@rule("fleet.note_check_in", revision=2)
def note_check_in(attributes: Attributes, event: RuleEvent) -> Attributes:
    """Notes when the agent was seen, and whether that is lately."""
    names = ("agent_seen", "check_in", "last_seen")
    after = {**attributes, **{name: event.data.get(name) for name in names}}
    return {name: value for name, value in after.items() if name != "last_seen" or value is not None}
