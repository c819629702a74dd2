"""What the controller of an application reports: its operation, hooks, conditions, and the progress of a rollout.

Belongs here: the attributes that an observation of an Application sets, and noting them. Does not: operations that are
asked for here (`auto_sync`), reading Argo CD's objects (the engine).
"""

from phaseline.machines.gitops.auto_sync import RESULTS, RUNNING, TERMINATING, timed
from phaseline.machines.kubernetes.profiles import DEGRADED, HEALTHY, MISSING, PAUSED, PROGRESSING, UNKNOWN
from phaseline.machines.language.rules import rule
from phaseline.machines.language.table import Attributes, Field, RuleEvent

SYNCS = ("Synced", "OutOfSync", "Unknown")
HEALTHS = (UNKNOWN, DEGRADED, MISSING, PROGRESSING, PAUSED, HEALTHY)
"""In the order of Argo CD, worst first."""
ROLLOUTS = ("Waiting", "Pending", "Progressing", "Healthy")

REPORTED = (
    Field("reported_sync",   str,  "its sync by its controller; it counts where nothing is compared here", SYNCS),
    Field("reported_health", str,  "its health by its controller; it counts where nothing is assessed here", HEALTHS),
    Field("sync_unknown",    bool, "whether its controller cannot compare it with Git"),
    Field("spec_invalid",    bool, "whether its specification is invalid, so that nothing is known of it"),
    Field("sync_message",    str,  "the reason why it cannot be compared"),
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


@rule("gitops.note_controller", revision=2)
def note_controller(attributes: Attributes, event: RuleEvent) -> Attributes:
    """Notes what the controller reports; what it no longer reports is dropped."""
    kept = {name: value for name, value in attributes.items() if name not in NAMES}
    return timed({**kept, **{name: event.data[name] for name in NAMES if event.data.get(name) is not None}})
