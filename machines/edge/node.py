"""The kind `node` of edge hosting.

Belongs here: its table. Does not: the table language (`language.table`), other kinds.
"""

from phaseline.machines.language.predicates import Above, AttributeIs
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
    Label,
    Live,
    Row,
    Table,
)

CREATING, RUNNING, UPDATING, DELETING = "Creating", "Running", "Updating", "Deleting"
STARTING, STOPPING, STOPPED, FAILED = "Starting", "Stopping", "Stopped", "Failed"

POOL_TAKES = (Above("node_pool", ("Running", "Scaling")),)
POOL_RECYCLES = (AttributeIs("node_pool", "autoscaling_mode", "Recycle"),)
CLUSTER_KEPT = (Above("cluster", ("Running", "Updating", "Stopped")),)

# fmt: off
NODE = Table(
    kind="node",
    id=("cluster", "pool", "node"),
    parent="node_pool",
    doc="A server that runs pods.",
    intents=("create", "update", "cordon", "drain", "uncordon", "stop", "start", "delete"),
    derived=("remove", "owner_gone"),
    facets=(Facet(
        name="phase",
        accumulates_in=FAILED,
        sticky=("Balance", "Unschedulable"),
        # ResourceCleanupFailed only arises during removal, so its label comes first.
        order=("ResourceCleanupFailed", "Balance", "NotReady", "InitializeFailed", "Unknown"),
        pending=(CREATING, UPDATING, DELETING, STARTING, STOPPING),
        labels=(
            #     phase     condition                zh                 en                         schedulable
            Label(CREATING, PROGRESSING,             "创建中",           "Creating",                False),
            Label(RUNNING,  OK,                      "运行中",           "Running",                 True),
            Label(RUNNING,  "Unschedulable",         "运行中",           "Running (unschedulable)", False),
            Label(UPDATING, PROGRESSING,             "更新中",           "Updating",                False),
            Label(DELETING, PROGRESSING,             "移除中",           "Removing",                False),
            Label(STARTING, PROGRESSING,             "启动中",           "Starting",                False),
            Label(STOPPING, PROGRESSING,             "停止中",           "Stopping",                False),
            Label(STOPPED,  OK,                      "已停止",           "Stopped",                 False),
            Label(FAILED,   "InitializeFailed",      "创建失败",         "Create failed",           False),
            Label(FAILED,   "NotReady",              "异常",             "Abnormal",                False),
            Label(FAILED,   "Balance",               "异常（欠费关停）", "Abnormal (overdue)",      False),
            Label(FAILED,   "ResourceCleanupFailed", "移除失败",         "Remove failed",           False),
            Label(FAILED,   "Unknown",               "创建失败",         "Create failed",           False),
        ),
        rows=(
            #   from                                    trigger           to
            Row((ABSENT, DELETED),                      "create",         CREATING, when=POOL_TAKES),
            Row((ABSENT,),                              "adopt",          FROM_DATA),
            Row((CREATING,),                            "created",        RUNNING),
            Row((CREATING,),                            "init_failed",    FAILED,   condition="InitializeFailed"),
            Row((RUNNING,),                             "update",         UPDATING),
            Row((UPDATING,),                            "updated",        RUNNING),
            Row((Live(but=(CREATING, DELETING)),),      "cordon",         SAME,     sets="Unschedulable"),
            Row((Live(but=(CREATING, DELETING)),),      "drain",          SAME,     sets="Unschedulable"),
            Row((Live(but=(CREATING, DELETING)),),      "uncordon",       SAME,     clears=("Unschedulable",)),
            Row((RUNNING,),                             "stop",           STOPPING, when=POOL_RECYCLES),
            Row((STOPPING,),                            "stopped",        STOPPED),
            Row((STOPPED,),                             "start",          STARTING, when=POOL_RECYCLES),
            Row((STARTING,),                            "started",        RUNNING),
            Row((RUNNING, UPDATING, STARTING, FAILED),  "not_ready",      FAILED,   condition="NotReady"),
            Row((At(FAILED, has="NotReady"),),          "ready",          SAME,     clears=("NotReady",)),
            Row((Live(but=(CREATING, DELETING)),),      "overdue",        FAILED,   condition="Balance"),
            Row((Live(has="Balance"),),                 "renewed",        SAME,     clears=("Balance",)),
            Row((RUNNING, STOPPED, FAILED),             "delete",         DELETING, when=CLUSTER_KEPT),
            Row((LIVE,),                                "remove",         DELETING),
            Row((DELETING,),                            "deleted",        DELETED),
            Row((DELETING,),                            "cleanup_failed", FAILED,   condition="ResourceCleanupFailed"),
            Row((Live(but=(DELETING,)),),               "error",          FAILED,   condition="Unknown"),
            Row((At(FAILED, has="Unknown"),),           "recovered",      SAME,     clears=("Unknown",)),
            Row((LIVE,),                                "owner_gone",     DELETED),
        ),
    ),),
    cascades=(Cascade("remove", at=CHILDREN, on=("delete", "remove")),),
)
