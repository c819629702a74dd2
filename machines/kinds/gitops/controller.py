"""What the controller of an application reports: its operation, hooks, conditions, and the progress of a rollout.

Belongs here: the attributes that an observation of an Application sets, and noting them. Does not: operations that are
asked for here (`auto_sync`), reading Argo CD's objects (the engine).
"""

from collections.abc import Mapping
from typing import Any

from phaseline.machines.kinds.gitops.auto_sync import RESULTS, RUNNING, TERMINATING, timed
from phaseline.machines.kinds.gitops.deletion import LEFT
from phaseline.machines.kinds.gitops.deletion import REPORTED as DELETION
from phaseline.machines.kinds.kubernetes.assess import OUT_OF_SYNC
from phaseline.machines.kinds.kubernetes.profiles import (
    ALIASES,
    DEGRADED,
    HEALTHY,
    MISSING,
    PAUSED,
    PROGRESSING,
    UNKNOWN,
)
from phaseline.machines.language.predicates import Scene
from phaseline.machines.language.rules import rule
from phaseline.machines.language.table import Attributes, Field, RuleEvent
from phaseline.schemas.templates.shared_values import digest

SYNCS = ("Synced", "OutOfSync", "Unknown")
HEALTHS = (UNKNOWN, DEGRADED, MISSING, PROGRESSING, PAUSED, HEALTHY)
NAMES_OF_HEALTHS = (*HEALTHS, *ALIASES)
"""In the order of Argo CD, worst first."""
ROLLOUTS = ("Waiting", "Pending", "Progressing", "Healthy")
HYDRATIONS = ("Hydrating", "Failed", "Hydrated")

REPORTED = (
    Field("reported_sync",   str,  "its sync by its controller; it counts where nothing is compared here", SYNCS),
    Field("reported_health", str,  "its health by its controller; it counts where nothing is assessed here", NAMES_OF_HEALTHS),
    Field("health_message",  str,  "why its controller says so of its health"),
    Field("sync_unknown",    bool, "whether its controller cannot compare it with Git"),
    Field("spec_invalid",    bool, "whether its specification is invalid, so that nothing is known of it"),
    Field("sync_message",    str,  "why its controller says so of its sync, or cannot compare it"),
    Field("problems",        dict, "the conditions that its controller reports: type, message, since", many=True),
    Field("hooks",           dict, "the hooks of the last operation in order: phase, resource, result, message", many=True),
    Field("revisions",       dict, "the revision of each of several sources"),
    Field("orphaned",        int,  "the number of objects in its namespace that belong to no application"),
    Field("operation_ended", int,  "when the last operation ended, ns since 1970"),
    Field("operation_request", dict, "what was asked of that operation: by, prune, dry_run, options, resources and the like"),
    Field("operation_asked", dict, "the operation that was asked for and has not begun, in the same words"),
    Field("health_alone",    bool, "whether none of the resources that its controller names is in that health"),
    Field("sync_alone",      bool, "whether none of the resources that its controller names is in that sync"),
    Field("hydration",       str,  "how far the last hydration of its manifests is", HYDRATIONS),
    Field("hydration_message", str, "what that hydration says, of which revision and when"),
    Field("hydrated",        dict, "the revisions that were hydrated last: dry, hydrated, compared"),
    Field("deployments",     dict, "what was deployed, the newest last: id, revision, deployed, by", many=True),
    Field("resources_named", int,  "how many resources its controller names"),
    Field("resources_left_out", int, "how many of these are not shown, because they are too many"),
    *DELETION,
)  # fmt: skip
"""The attributes that only the controller sets."""
OPERATION = (
    Field("operation",         str,  "the phase of its last operation", (RUNNING, TERMINATING, *RESULTS)),
    Field("operation_began",   int,  "when that operation began, ns since 1970"),
    Field("operation_message", str,  "what that operation waits for, or how it ended"),
    Field("automatic",         bool, "whether it began automatically"),
    Field("revision",          str,  "the revision of that operation"),
    Field("retries",           int,  "how often it was tried again after it failed"),
)  # fmt: skip
"""The attributes of an operation, as `auto_sync` has them; here they are fields of the observation."""
ROLLOUT = (
    Field("rollout_step",    int, "the step of the rollout of its set in which it is; -1 if it is in none"),
    Field("rollout",         str, "how far it is in that rollout", ROLLOUTS),
    Field("rollout_message", str, "the message of that rollout"),
    Field("rollout_target",  str, "the revision that its step is to bring"),
    Field("rollout_since",   str, "since when it is so far in that rollout"),
)  # fmt: skip
NAMES = tuple(field.name for field in (*REPORTED, *OPERATION, *LEFT))
SHOWN = 20
"""The most conditions that `why` shows."""
STEP = tuple(field.name for field in ROLLOUT)


@rule("gitops.note_controller", revision=4)
def note_controller(attributes: Attributes, event: RuleEvent) -> Attributes:
    """Notes what the controller reports, with a reason for each state; what it no longer reports is dropped."""
    kept = {name: value for name, value in attributes.items() if name not in NAMES}
    found = {name: event.data[name] for name in NAMES if event.data.get(name) is not None}
    if "reported_health" in found:
        found["reported_health"] = ALIASES.get(found["reported_health"], found["reported_health"])
    if not found.get("deleting"):
        found = {name: value for name, value in found.items() if not name.startswith("delet")}
    found = {**_reasons(found), **{name: value for name, value in found.items() if value != ""}}
    return timed(with_evidence({**kept, **found}))


@rule("gitops.note_step", revision=1)
def note_step(attributes: Attributes, event: RuleEvent) -> Attributes:
    """Notes its step in the rollout of its set; what the set no longer says is dropped."""
    kept = {name: value for name, value in attributes.items() if name not in STEP}
    return with_evidence({**kept, **{name: event.data[name] for name in STEP if event.data.get(name) is not None}})


@rule("gitops.leave_rollout", revision=1)
def leave_rollout(scene: Scene, entity_id: str, data: Mapping[str, Any], below: str) -> str | None:
    """Whether an application is in the rollout of its set no more; nothing where the set does not say who is."""
    found, stepping = scene.above(below, "application"), data.get("stepping")
    if found is None or not isinstance(stepping, list | tuple) or not any(name in found.attributes for name in STEP):
        return None
    return None if below.removeprefix(f"{entity_id}/") in stepping else "unstepped"


@rule("gitops.forget_step", revision=1)
def forget_step(attributes: Attributes, _: RuleEvent) -> Attributes:
    """Forgets the step of an application whose set says of none any more."""
    return with_evidence({name: value for name, value in attributes.items() if name not in STEP})


def with_evidence(attributes: Attributes) -> Attributes:
    """These attributes, with what the controllers say beside the states: conditions, what is asked, the rollout."""
    kept = {name: value for name, value in attributes.items() if name != "evidence"}
    told = [
        {("condition" if name == "type" else name): value for name, value in one.items()} | {"status": "True"}
        for one in kept.get("problems", ())[:SHOWN]
    ]
    if (more := len(kept.get("problems", ())) - SHOWN) > 0:
        told.append({"condition": "further conditions", "status": "left out", "message": f"{more} stand in problems"})
    if asked := kept.get("operation_asked"):
        told.append({"condition": "operation", "status": "not begun", "message": asked_words(asked)})
    if waits := rollout_words(kept):
        since = {"since": kept["rollout_since"]} if "rollout_since" in kept else {}
        told.append({"condition": "rollout", "status": kept["rollout"], "message": waits, **since})
    return {**kept, "evidence": told} if told else kept


def asked_words(asked: Mapping[str, Any]) -> str:
    """`asked for by alice, to b3, with prune, dry run, SkipHooks=true`: an operation in words."""
    by = asked.get("by") or ("its controller" if asked.get("automatic") else "")
    flags = [
        words for name, words in (("prune", "prune"), ("dry_run", "dry run"), ("force", "force")) if asked.get(name)
    ]
    parts = [*flags, *asked.get("options", ())]
    only = f"only {', '.join(asked['resources'])}" if asked.get("resources") else ""
    whose, to = f"asked for by {by}" if by else "asked for", f"to {asked['revision']}" if "revision" in asked else ""
    return ", ".join(filter(None, (whose, to, f"with {', '.join(parts)}" if parts else "", only)))


def rollout_words(found: Attributes) -> str:
    """`step 2 waits for b1 while the application is at b2`: what a rollout that is not done waits for."""
    step, state, target = found.get("rollout_step", -1), found.get("rollout"), found.get("rollout_target")
    if state in (None, "Healthy") or step < 1:
        return ""
    at = found.get("target_revision") or found.get("revision")
    if not target:
        return ""
    away = f"waits for {target} while the application is at {at}" if at and at != target else f"brings {target}"
    return f"step {step} {away}"


def _reasons(found: Attributes) -> Attributes:
    """What is said of states for which the controller gives no reason of its own."""
    reasons: dict[str, Any] = {}
    if found.get("spec_invalid"):
        reasons["health_message"] = found.get("sync_message") or "its specification is invalid"
    elif found.get("reported_health") not in (None, HEALTHY):
        reasons["health_message"] = f"its controller says {found['reported_health']}, and no reason"
    if found.get("sync_unknown"):
        reasons["sync_message"] = "its controller does not know whether it matches Git"
    elif found.get("reported_sync") == OUT_OF_SYNC:
        reasons["sync_message"] = f"its controller says {OUT_OF_SYNC}, and no reason"
    return reasons


@rule("gitops.note_conditions", revision=2)
def note_conditions(attributes: Attributes, event: RuleEvent) -> Attributes:
    """Notes why the conditions of a set say what they say, and that other applications are in its rollout."""
    kept = {name: value for name, value in attributes.items() if name not in ("health_message", "rollout_digest")}
    if stepping := event.data.get("stepping"):
        kept["rollout_digest"] = digest(sorted(stepping))
    if said := event.data.get("health_message"):
        return {**kept, "health_message": said}
    if kept.get("error_occurred"):
        return {**kept, "health_message": "its controller reports an error, and no reason"}
    if kept.get("rollout_progressing"):
        return {**kept, "health_message": "its controller is rolling out"}
    if kept.get("resources_up_to_date"):
        return kept
    known = {"error_occurred", "rollout_progressing", "resources_up_to_date"}.intersection(kept)
    why = "its controller does not say that it has made all its applications"
    return {**kept, "health_message": why} if known else kept
