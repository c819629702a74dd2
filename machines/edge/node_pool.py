"""The kind `node_pool` of edge hosting.

Belongs here: its table. Does not: the table language (`language.table`), other kinds.
"""

from phaseline.machines.edge.advice import NODE_POOL as ADVICE
from phaseline.machines.language.advice import advised
from phaseline.machines.language.predicates import Above, AnyBelow
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

CREATING, RUNNING, UPDATING, SCALING = "Creating", "Running", "Updating", "Scaling"
DELETING, FAILED = "Deleting", "Failed"

CLUSTER_UP = (Above("cluster", ("Running", "Updating")),)
CLUSTER_KEPT = (Above("cluster", ("Running", "Updating", "Stopped")),)
CLUSTER_DOWN = Above("cluster", ("Stopped", "Starting"))

# fmt: off
NODE_POOL = Table(
    kind="node_pool",
    id=("cluster", "pool"),
    parent="cluster",
    doc="A pool of nodes of one cluster that are alike.",
    intents=("create", "update", "scale", "configure", "delete"),
    derived=("remove", "owner_gone"),
    attributes=(
        Field("default", bool, "whether it is the cluster's default pool"),
        Field("autoscaling_mode", str, "`Recycle` stops and starts nodes instead of deleting and creating them"),
    ),
    facets=(Facet(
        name="phase",
        accumulates_in=FAILED,
        pending=(CREATING, UPDATING, SCALING, DELETING),
        labels=advised(ADVICE, (
            #     phase     condition                en               others
            Label(CREATING, PROGRESSING,             "Creating",      {"zh": "创建中"}),
            Label(RUNNING,  OK,                      "Running",       {"zh": "运行中"}),
            Label(UPDATING, PROGRESSING,             "Updating",      {"zh": "更新中"}),
            Label(SCALING,  PROGRESSING,             "Scaling",       {"zh": "伸缩中"}),
            Label(DELETING, PROGRESSING,             "Deleting",      {"zh": "删除中"}),
            Label(FAILED,   "ResourceCleanupFailed", "Delete failed", {"zh": "删除失败"}),
            Label(FAILED,   "Unknown",               "Create failed", {"zh": "创建失败"}),
            Label(FAILED,   "ClusterNotRunning",     "Abnormal",      {"zh": "异常"}),
        )),
        rows=(
            #   from                                    trigger           to
            Row((ABSENT, DELETED),                      "create",         CREATING, when=CLUSTER_UP, assigns=True),
            Row((ABSENT,),                              "adopt",          FROM_DATA,    assigns=True),
            Row((CREATING,),                            "created",        RUNNING),
            Row((RUNNING,),                             "update",         UPDATING, when=CLUSTER_UP),
            Row((UPDATING,),                            "updated",        RUNNING),
            Row((RUNNING, At(SCALING, base=RUNNING)),   "scale",          SCALING),
            Row((SCALING,),                             "scaled",         RUNNING),
            Row((LIVE,),                                "configure",      SAME,     assigns=True),
            Row((RUNNING, FAILED),                      "delete",         DELETING, when=CLUSTER_KEPT),
            Row((LIVE,),                                "remove",         DELETING),
            Row((DELETING,),                            "deleted",        DELETED),
            Row((DELETING,),                            "cleanup_failed", FAILED,   condition="ResourceCleanupFailed"),
            Row((Live(but=(DELETING,)),),               "error",          FAILED,   condition="Unknown"),
            Row((At(FAILED, has="Unknown"),),           "recovered",      SAME,     clears=("Unknown",)),
            Row((LIVE,),                                "owner_gone",     DELETED),
        ),
        views=(
            #    shows    while
            View(FAILED,  (CLUSTER_DOWN,), condition="ClusterNotRunning", unless=(DELETING,), keeps=True),
            View(SCALING, (AnyBelow("node_pool", "node", (CREATING, DELETING)),), base=(RUNNING, FAILED)),
        ),
    ),),
    cascades=(Cascade("remove", at=CHILDREN, on=("delete", "remove")),),
)
