"""The kind `component` of edge hosting.

Belongs here: its table. Does not: the table language (`language.table`), other kinds.
"""

from phaseline.machines.language.predicates import Above
from phaseline.machines.language.table import (
    ABSENT,
    CHILDREN,
    DELETED,
    FROM_DATA,
    LIVE,
    OK,
    PROGRESSING,
    SAME,
    At,
    Cascade,
    Facet,
    Field,
    Label,
    Live,
    Row,
    Table,
    View,
)

CREATING, RUNNING, UPDATING, DELETING, FAILED = "Creating", "Running", "Updating", "Deleting", "Failed"

CLUSTER_RUNS = (Above("cluster", ("Running",)),)
CLUSTER_UP = (Above("cluster", ("Running", "Updating")),)
CLUSTER_DOWN = Above("cluster", ("Stopped", "Starting"))
PASSING = ("CrashLoopBackOff", "ImagePullBackOff", "SchedulingFailed", "Degraded", "Unknown")
"""The conditions that `recovered` clears."""

# fmt: off
COMPONENT = Table(
    kind="component",
    id=("cluster", "component"),
    parent="cluster",
    doc="A piece of software that belongs to a cluster.",
    intents=("create", "update", "delete"),
    derived=("remove", "owner_gone"),
    fields={
        "recovered": (Field("condition", str, "the only condition that is over; without it, all conditions that can pass", PASSING),),
    },
    facets=(Facet(
        name="phase",
        accumulates_in=FAILED,
        pending=(CREATING, UPDATING, DELETING),
        labels=(
            #     phase     condition                zh         en
            Label(CREATING, PROGRESSING,             "安装中",   "Installing"),
            Label(RUNNING,  OK,                      "已安装",   "Installed"),
            Label(UPDATING, PROGRESSING,             "更新中",   "Updating"),
            Label(DELETING, PROGRESSING,             "卸载中",   "Uninstalling"),
            Label(FAILED,   "NameConflict",          "失败",     "Failed"),
            Label(FAILED,   "CrashLoopBackOff",      "异常",     "Abnormal"),
            Label(FAILED,   "ImagePullBackOff",      "失败",     "Failed"),
            Label(FAILED,   "ClusterNotRunning",     "异常",     "Abnormal"),
            Label(FAILED,   "Degraded",              "异常",     "Abnormal"),
            Label(FAILED,   "SchedulingFailed",      "失败",     "Failed"),
            Label(FAILED,   "ResourceCleanupFailed", "卸载失败", "Uninstall failed"),
            Label(FAILED,   "Unknown",               "失败",     "Failed"),
        ),
        rows=(
            #   from                                    trigger              to
            Row((ABSENT, DELETED),                      "create",            CREATING, when=CLUSTER_RUNS),
            Row((ABSENT,),                              "adopt",             FROM_DATA),
            Row((CREATING,),                            "created",           RUNNING),
            Row((RUNNING, At(FAILED, lacks=("ResourceCleanupFailed", "ClusterNotRunning"))),
                                                        "update",            UPDATING, when=CLUSTER_UP),
            Row((UPDATING,),                            "updated",           RUNNING),
            Row((CREATING,),                            "name_conflict",     FAILED,   condition="NameConflict"),
            Row((CREATING, RUNNING, UPDATING, FAILED),  "crash_loop",        FAILED,   condition="CrashLoopBackOff"),
            Row((CREATING, RUNNING, UPDATING, FAILED),  "image_pull_failed", FAILED,   condition="ImagePullBackOff"),
            Row((CREATING, RUNNING, UPDATING, FAILED),  "scheduling_failed", FAILED,   condition="SchedulingFailed"),
            Row((RUNNING, UPDATING, FAILED),            "degraded",          FAILED,   condition="Degraded"),
            *(Row((At(FAILED, has=condition),),             "recovered",         SAME,     clears=(condition,), given={"condition": condition})
              for condition in PASSING),
            Row((FAILED,),                              "recovered",         SAME,     clears=PASSING, given={"condition": None}),
            Row((RUNNING, UPDATING, At(FAILED, lacks=("ClusterNotRunning",))),
                                                        "delete",            DELETING, when=CLUSTER_UP),
            Row((LIVE,),                                "remove",            DELETING),
            Row((DELETING,),                            "deleted",           DELETED),
            Row((DELETING,),                            "cleanup_failed",    FAILED,   condition="ResourceCleanupFailed"),
            Row((Live(but=(DELETING,)),),               "error",             FAILED,   condition="Unknown"),
            Row((LIVE,),                                "owner_gone",        DELETED),
        ),
        views=(
            #    shows   while
            View(FAILED, (CLUSTER_DOWN,), condition="ClusterNotRunning", unless=(DELETING,), keeps=True),
        ),
    ),),
    cascades=(Cascade("remove", at=CHILDREN, on=("delete", "remove")),),
)
