"""The tables of docs/spec/edge-hosting.md, copied by hand from the page and not from our tables.

Belongs here: the page, line by line. Does not: its labels (`spec_edge_labels`), how to read it (`spec_interpreter`).

from      a phase; `Updating over Running`: shown Updating, its base Running; `Failed with X`, `Failed without X, Y`
becomes   a phase (its own condition comes along); `Failed +X`: X is added to the causes that stand;
          `Failed X` likewise where no other can stand; `set X`, `clear X, Y`; `same`; `named`: as the data says
"""

from typing import Any

Table = dict[str, tuple[tuple[Any, ...], ...]]

ENDS = ("Absent", "Deleted")

INTENTS = {
    "cluster": ("create", "update", "delete", "configure"),
    "node_pool": ("create", "update", "scale", "configure", "delete"),
    "node": ("create", "update", "cordon", "drain", "uncordon", "stop", "start", "delete", "configure"),
    "component": ("create", "update", "delete", "configure"),
}
DERIVED = {
    "cluster": ("stalled",),
    "node_pool": ("remove", "owner_gone", "stalled"),
    "node": ("remove", "owner_gone", "stalled"),
    "component": ("remove", "owner_gone", "stalled"),
}

ID = {
    "cluster": ("cluster",),
    "node_pool": ("cluster", "pool"),
    "node": ("cluster", "pool", "node"),
    "component": ("cluster", "component"),
}
PARENT = {"cluster": None, "node_pool": "cluster", "node": "node_pool", "component": "cluster"}
CLEANUP = ("resources", "failed_resources")
ATTRIBUTES = {
    "cluster": ("updating_with_components", *CLEANUP, "silence_after", "silence_below", "brake", "deadline"),
    "node_pool": (
        "default",
        "autoscaling_mode",
        "desired",
        "version",
        *CLEANUP,
        "silence_after",
        "silence_below",
        "deadline",
    ),
    "node": ("version", *CLEANUP, "silence_after", "deadline"),
    "component": (*CLEANUP, "silence_after", "deadline"),
}
POOL = ("default", "autoscaling_mode", "desired", "version")
# The attributes that the data of a trigger may set.
ASSIGNS: dict[str, dict[str, tuple[str, ...]]] = {
    "cluster": {
        "create": ("updating_with_components", "deadline"), "update": ("deadline",),
        "delete": ("resources", "deadline"), "cleanup_failed": ("failed_resources",),
        "configure": ("updating_with_components", "silence_after", "silence_below", "brake", "deadline"),
    },
    "node_pool": {
        "create": (*POOL, "deadline"), "adopt": POOL, "update": ("version", "deadline"),
        "scale": ("desired", "deadline"), "delete": ("resources", "deadline"), "cleanup_failed": ("failed_resources",),
        "configure": (*POOL, "silence_after", "silence_below", "deadline"),
    },
    "node": {
        "create": ("version", "deadline"), "adopt": ("version",), "updated": ("version",), "update": ("deadline",),
        "stop": ("deadline",), "start": ("deadline",),
        "delete": ("resources", "deadline"), "cleanup_failed": ("failed_resources",),
        "configure": ("silence_after", "deadline"),
    },
    "component": {
        "create": ("deadline",), "update": ("deadline",),
        "delete": ("resources", "deadline"), "cleanup_failed": ("failed_resources",),
        "configure": ("silence_after", "deadline"),
    },
}  # fmt: skip
# The field of data that chooses the row of a trigger.
CHOOSES = {"delete": "abandon"}

# The condition that a phase brings along where it has but one; Failed never does.
OWN = {
    "cluster": {
        "Creating": "Progressing", "Running": "Ok", "Updating": "Progressing", "Deleting": "Progressing",
        "Starting": "Progressing", "Stopped": "Balance",
    },
    "node_pool": {
        "Creating": "Progressing", "Running": "Ok", "Updating": "Progressing", "Scaling": "Progressing",
        "Deleting": "Progressing",
    },
    "node": {
        "Creating": "Progressing", "Running": "Ok", "Updating": "Progressing", "Deleting": "Progressing",
        "Starting": "Progressing", "Stopping": "Progressing", "Stopped": "Ok",
    },
    "component": {
        "Creating": "Progressing", "Running": "Ok", "Updating": "Progressing", "Deleting": "Progressing",
    },
}  # fmt: skip
STICKY = {"cluster": (), "node_pool": (), "node": ("Balance", "Unschedulable"), "component": ()}
# Sticky, but does not hold a node in Failed.
LIMITS = ("Unschedulable",)

CLUSTER_LIVE = ("Creating", "Running", "Updating", "Deleting", "Starting", "Stopped", "Failed")
# The facets `contact` and `signals` are not modelled here (test_contact, test_signals): their triggers and attributes.
CONTACT = (
    "heard", "falls_silent", "unwatched", "waited_anew", "heard_at", "condition", "signals_end", "signals",
)  # fmt: skip
PASSING = "CrashLoopBackOff, ImagePullBackOff, SchedulingFailed, Degraded, Unknown"

# trigger, from, becomes, and the values of data.condition it is for where data says which
# fmt: off
ROWS: Table = {
    "cluster": (
        ("create",         ("Absent", "Deleted", "Creating with Stalled"),                "Creating"),
        ("adopt",          ("Absent",),                                                   "named"),
        ("created",        ("Creating",),                                                 "Running"),
        ("create_failed",  ("Creating",),                                                 "Failed +CreateError", (None, "CreateError")),
        ("create_failed",  ("Creating",),                                                 "Failed +LimitedByQuota", ("LimitedByQuota",)),
        ("create_failed",  ("Creating",),                                                 "Failed +StockOut", ("StockOut",)),
        ("create_failed",  ("Creating",),                                                 "Failed +Balance", ("Balance",)),
        ("update",         ("Running", "Updating", "Failed with AllFailed", "Starting with Stalled"), "Updating"),
        ("updated",        ("Updating",),                                                 "Running"),
        ("overdue",        ("Creating", "Running", "Updating", "Starting", "Failed"),     "Stopped"),
        ("renewed",        ("Stopped",),                                                  "Starting"),
        ("started",        ("Starting",),                                                 "Running"),
        ("delete",         ("Creating", "Running", "Updating", "Starting", "Stopped", "Failed", "Deleting with Stalled"),
                                                                                          "Deleting", (None, False)),
        ("delete",         ("Deleting with Stalled", "Failed with ResourceCleanupFailed"), "Deleted", (True,)),
        ("delete",         CLUSTER_LIVE,                                                  "Deleted", (True,), "silent"),
        ("deleted",        ("Running", "Updating", "Deleting", "Starting", "Stopped", "Failed"), "Deleted"),
        ("cleanup_failed", ("Deleting",),                                                 "Failed +ResourceCleanupFailed"),
        ("error",          ("Creating", "Running", "Updating", "Starting", "Failed"),     "Failed +Unknown"),
        ("recovered",      ("Failed with Unknown",),                                      "clear Unknown"),
        ("heartbeat",      ("Absent",),                                                   "Running"),
        ("heartbeat",      CLUSTER_LIVE,                                                  "same"),
        ("configure",      CLUSTER_LIVE,                                                  "same"),
        ("stalled",        ("Creating", "Updating", "Deleting", "Starting"),              "set Stalled"),
    ),
    "node_pool": (
        ("create",         ("Absent", "Deleted", "Creating with Stalled"),                "Creating"),
        ("adopt",          ("Absent",),                                                   "named"),
        ("created",        ("Creating",),                                                 "Running"),
        ("update",         ("Running", "Updating", "Failed with AllFailed", "Scaling with Stalled"), "Updating"),
        ("updated",        ("Updating",),                                                 "Running"),
        ("scale",          ("Running", "Scaling over Running", "Scaling over Scaling", "Failed with AllFailed",
                            "Updating with Stalled"),                                     "Scaling"),
        ("scaled",         ("Scaling",),                                                  "Running"),
        ("heartbeat",      ("Absent",),                                                  "Running"),
        ("heartbeat",      ("Creating", "Running", "Updating", "Scaling", "Deleting", "Failed"), "same"),
        ("configure",      ("Creating", "Running", "Updating", "Scaling", "Deleting", "Failed"), "same"),
        ("delete",         ("Creating", "Running", "Updating", "Scaling", "Failed", "Deleting with Stalled"),
                                                                                          "Deleting", (None, False)),
        ("delete",         ("Deleting with Stalled", "Failed with ResourceCleanupFailed"), "Deleted", (True,)),
        ("delete",         ("Creating", "Running", "Updating", "Scaling", "Deleting", "Failed"), "Deleted", (True,), "silent"),
        ("remove",         ("Creating", "Running", "Updating", "Scaling", "Deleting", "Failed"), "Deleting"),
        ("deleted",        ("Running", "Updating", "Scaling", "Deleting", "Failed"), "Deleted"),
        ("cleanup_failed", ("Deleting",),                                                 "Failed +ResourceCleanupFailed"),
        ("error",          ("Creating", "Running", "Updating", "Scaling", "Failed"),      "Failed +Unknown"),
        ("recovered",      ("Failed with Unknown",),                                      "clear Unknown"),
        ("owner_gone",     ("Creating", "Running", "Updating", "Scaling", "Deleting", "Failed"), "Deleted"),
        ("stalled",        ("Creating", "Updating", "Scaling", "Deleting"),               "set Stalled"),
    ),
    "node": (
        ("create",         ("Absent", "Deleted", "Creating with Stalled"),                "Creating"),
        ("adopt",          ("Absent",),                                                   "named"),
        ("created",        ("Creating",),                                                 "Running"),
        ("init_failed",    ("Creating",),                                                 "Failed +InitializeFailed"),
        ("update",         ("Running", "Updating", "Starting with Stalled", "Stopping with Stalled"), "Updating"),
        ("updated",        ("Updating",),                                                 "Running"),
        ("cordon",         ("Running", "Updating", "Starting", "Stopping", "Stopped", "Failed"), "set Unschedulable"),
        ("drain",          ("Running", "Updating", "Starting", "Stopping", "Stopped", "Failed"), "set Unschedulable"),
        ("uncordon",       ("Running", "Updating", "Starting", "Stopping", "Stopped", "Failed"), "clear Unschedulable"),
        ("stop",           ("Running", "Updating with Stalled", "Starting with Stalled", "Stopping with Stalled"), "Stopping"),
        ("stopped",        ("Stopping",),                                                 "Stopped"),
        ("start",          ("Stopped", "Starting with Stalled"),                          "Starting"),
        ("started",        ("Starting",),                                                 "Running"),
        ("not_ready",      ("Running", "Updating", "Starting", "Failed"),                 "Failed +NotReady"),
        ("ready",          ("Failed with NotReady",),                                     "clear NotReady"),
        ("overdue",        ("Running", "Updating", "Starting", "Stopping", "Stopped", "Failed"), "Failed +Balance"),
        ("renewed",        ("Creating with Balance", "Running with Balance", "Updating with Balance",
                            "Deleting with Balance", "Starting with Balance", "Stopping with Balance",
                            "Stopped with Balance", "Failed with Balance"),               "clear Balance"),
        ("delete",         ("Creating", "Running", "Updating", "Starting", "Stopping", "Stopped", "Failed",
                            "Deleting with Stalled"),                                     "Deleting", (None, False)),
        ("delete",         ("Deleting with Stalled", "Failed with ResourceCleanupFailed"), "Deleted", (True,)),
        ("delete",         ("Creating", "Running", "Updating", "Deleting", "Starting", "Stopping", "Stopped", "Failed"),
                                                                                          "Deleted", (True,), "silent"),
        ("remove",         ("Creating", "Running", "Updating", "Deleting", "Starting", "Stopping", "Stopped", "Failed"), "Deleting"),
        ("deleted",        ("Running", "Updating", "Deleting", "Starting", "Stopping", "Stopped", "Failed"), "Deleted"),
        ("cleanup_failed", ("Deleting",),                                                 "Failed +ResourceCleanupFailed"),
        ("error",          ("Creating", "Running", "Updating", "Starting", "Stopping", "Stopped", "Failed"), "Failed +Unknown"),
        ("recovered",      ("Failed with Unknown",),                                      "clear Unknown"),
        ("owner_gone",     ("Creating", "Running", "Updating", "Deleting", "Starting", "Stopping", "Stopped", "Failed"), "Deleted"),
        ("heartbeat",      ("Absent",),                                                  "Running"),
        ("heartbeat",      ("Creating", "Running", "Updating", "Deleting", "Starting", "Stopping", "Stopped", "Failed"), "same"),
        ("configure",      ("Creating", "Running", "Updating", "Deleting", "Starting", "Stopping", "Stopped", "Failed"), "same"),
        ("stalled",        ("Creating", "Updating", "Deleting", "Starting", "Stopping"),  "set Stalled"),
    ),
    "component": (
        ("create",         ("Absent", "Deleted", "Creating with Stalled"),                "Creating"),
        ("adopt",          ("Absent",),                                                   "named"),
        ("created",        ("Creating",),                                                 "Running"),
        ("update",         ("Running", "Updating", "Failed without ResourceCleanupFailed, ClusterNotRunning"), "Updating"),
        ("updated",        ("Updating",),                                                 "Running"),
        ("name_conflict",  ("Creating",),                                                 "Failed +NameConflict"),
        ("crash_loop",        ("Creating", "Running", "Updating", "Failed"),              "Failed +CrashLoopBackOff"),
        ("image_pull_failed", ("Creating", "Running", "Updating", "Failed"),              "Failed +ImagePullBackOff"),
        ("scheduling_failed", ("Creating", "Running", "Updating", "Failed"),              "Failed +SchedulingFailed"),
        ("degraded",       ("Running", "Updating", "Failed"),                             "Failed +Degraded"),
        ("recovered",      ("Failed",),                                                   f"clear {PASSING}", (None,)),
        ("recovered",      ("Failed with CrashLoopBackOff",),                             "clear CrashLoopBackOff", ("CrashLoopBackOff",)),
        ("recovered",      ("Failed with ImagePullBackOff",),                             "clear ImagePullBackOff", ("ImagePullBackOff",)),
        ("recovered",      ("Failed with SchedulingFailed",),                             "clear SchedulingFailed", ("SchedulingFailed",)),
        ("recovered",      ("Failed with Degraded",),                                     "clear Degraded", ("Degraded",)),
        ("recovered",      ("Failed with Unknown",),                                      "clear Unknown", ("Unknown",)),
        ("delete",         ("Creating", "Running", "Updating", "Failed", "Deleting with Stalled"), "Deleting", (None, False)),
        ("delete",         ("Deleting with Stalled", "Failed with ResourceCleanupFailed"), "Deleted", (True,)),
        ("delete",         ("Creating", "Running", "Updating", "Deleting", "Failed"),     "Deleted", (True,), "silent"),
        ("remove",         ("Creating", "Running", "Updating", "Deleting", "Failed"),     "Deleting"),
        ("deleted",        ("Running", "Updating", "Deleting", "Failed"), "Deleted"),
        ("cleanup_failed", ("Deleting",),                                                 "Failed +ResourceCleanupFailed"),
        ("error",          ("Creating", "Running", "Updating", "Failed"),                 "Failed +Unknown"),
        ("owner_gone",     ("Creating", "Running", "Updating", "Deleting", "Failed"),     "Deleted"),
        ("heartbeat",      ("Absent",),                                                  "Running"),
        ("heartbeat",      ("Creating", "Running", "Updating", "Deleting", "Failed"),     "same"),
        ("configure",      ("Creating", "Running", "Updating", "Deleting", "Failed"),     "same"),
        ("stalled",        ("Creating", "Updating", "Deleting"),                          "set Stalled"),
    ),
}

# of the entity, trigger: whose state must be one of these phases, or have one of these conditions
GUARDS = {
    ("node_pool", "create"): ("cluster", ("Running", "Updating"), ("AllFailed",)),
    ("node_pool", "update"): ("cluster", ("Running", "Updating"), ("AllFailed",)),
    ("node_pool", "delete"): ("cluster", ("Running", "Updating", "Stopped"), ("Stalled", "AllFailed")),
    ("node", "create"):      ("node_pool", ("Running", "Scaling"), ("AllFailed",)),
    ("node", "delete"):      ("cluster", ("Running", "Updating", "Stopped"), ("Stalled", "AllFailed")),
    ("component", "create"): ("cluster", ("Running",), ("AllFailed",)),
    ("component", "update"): ("cluster", ("Running", "Updating"), ("AllFailed",)),
    ("component", "delete"): ("cluster", ("Running", "Updating"), ("Stalled", "AllFailed")),
}
ATTRIBUTE_GUARDS = {
    ("node", "stop"):  ("node_pool", "autoscaling_mode", "Recycle"),
    ("node", "start"): ("node_pool", "autoscaling_mode", "Recycle"),
}

# shows, over which bases, while whose phase is one of which, without which condition; the first that holds
VIEWS: Table = {
    "cluster": (
        ("Failed +AllFailed", ("Running",), "every node", ("Failed",)),
        ("Updating", ("Running",), "some node_pool", ("Creating", "Deleting", "Scaling"), "Stalled"),
    ),
    "node_pool": (
        ("Failed +ClusterNotRunning", ("Creating", "Running", "Updating", "Scaling", "Failed"), "the cluster", ("Stopped", "Starting")),
        ("Failed +AllFailed", ("Running",), "every node", ("Failed",)),
        ("Scaling", ("Running", "Failed"), "some node", ("Creating", "Deleting"), "Stalled"),
    ),
    "node": (),
    "component": (
        ("Failed +ClusterNotRunning", ("Creating", "Running", "Updating", "Failed"), "the cluster", ("Stopped", "Starting")),
    ),
}

# on which trigger, or entering which phase: fires what at every live descendant of which kinds
FIRED: Table = {
    "cluster": (
        ("delete", "remove", ("node_pool", "component")),     # with cascade
        ("-> Deleted", "owner_gone", ("node_pool", "node", "component")),
    ),
    "node_pool": (
        ("delete", "remove", ("node",)),
        ("remove", "remove", ("node",)),
        ("-> Deleted", "owner_gone", ("node",)),
    ),
    "node": (),
    "component": (),
}
