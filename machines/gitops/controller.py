"""What the controller of an application reports: its operation, hooks, conditions, and the progress of a rollout.

Belongs here: the attributes that an observation of an Application sets, and noting them. Does not: operations that are
asked for here (`auto_sync`), reading Argo CD's objects (the engine).
"""

from typing import Any

from phaseline.machines.gitops.auto_sync import RESULTS, RUNNING, TERMINATING, timed
from phaseline.machines.kubernetes.assess import OUT_OF_SYNC
from phaseline.machines.kubernetes.profiles import ALIASES, DEGRADED, HEALTHY, MISSING, PAUSED, PROGRESSING, UNKNOWN
from phaseline.machines.language.rules import rule
from phaseline.machines.language.table import Attributes, Field, RuleEvent

SYNCS = ("Synced", "OutOfSync", "Unknown")
HEALTHS = (UNKNOWN, DEGRADED, MISSING, PROGRESSING, PAUSED, HEALTHY)
NAMES_OF_HEALTHS = (*HEALTHS, *ALIASES)
"""In the order of Argo CD, worst first."""
ROLLOUTS = ("Waiting", "Pending", "Progressing", "Healthy")

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
)  # fmt: skip
NAMES = (*(field.name for field in REPORTED), *(field.name for field in OPERATION))


@rule("gitops.note_controller", revision=3)
def note_controller(attributes: Attributes, event: RuleEvent) -> Attributes:
    """Notes what the controller reports, with a reason for each state; what it no longer reports is dropped."""
    kept = {name: value for name, value in attributes.items() if name not in NAMES}
    found = {name: event.data[name] for name in NAMES if event.data.get(name) is not None}
    if "reported_health" in found:
        found["reported_health"] = ALIASES.get(found["reported_health"], found["reported_health"])
    return timed({**kept, **_reasons(found), **{name: value for name, value in found.items() if value != ""}})


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


@rule("gitops.note_conditions", revision=1)
def note_conditions(attributes: Attributes, event: RuleEvent) -> Attributes:
    """Notes why the conditions of a set say what they say."""
    kept = {name: value for name, value in attributes.items() if name != "health_message"}
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
