"""The kind `node_pool` of edge hosting.

Belongs here: its table. Does not: the table language (`language.table`), other kinds.
"""

from phaseline.machines.kinds.edge_hosting.requests import (
    ALL_FAILED,
    CLEANUP,
    DETAILS,
    FAILED_CLEANUP,
    GIVES_UP,
    WORK,
    deletions,
    stalled,
)
from phaseline.machines.language.predicates import Above, AllBelow, AnyBelow
from phaseline.machines.language.table import (
    ABSENT,
    CHILDREN,
    DELETED,
    FROM_DATA,
    LIVE,
    OK,
    PROGRESSING,
    SAME,
    STALLED,
    At,
    Cascade,
    Facet,
    Field,
    Label,
    Live,
    Pending,
    Row,
    Signal,
    Table,
    View,
    Wants,
    advice,
    advised,
)

CREATING, RUNNING, UPDATING, SCALING = "Creating", "Running", "Updating", "Scaling"
DELETING, FAILED = "Deleting", "Failed"

OWN = ("default", "autoscaling_mode", "desired", "version")
CLUSTER_UP = (Above("cluster", ("Running", "Updating"), or_has=(ALL_FAILED,)),)
CLUSTER_KEPT = (Above("cluster", ("Running", "Updating", "Stopped"), or_has=(STALLED, ALL_FAILED)),)
CLUSTER_DOWN = Above("cluster", ("Stopped", "Starting"))

# fmt: off
ADVICE = advice(
    #  state or condition       what to do (en)                                                          (zh)
    ("AllFailed",              "Look at what its nodes say; scale the pool, or replace the nodes.", "查看各节点的消息；对节点池伸缩或更换节点。"),
    ("ResourceCleanupFailed",  "Look for nodes that the message names, remove them, and delete the pool again.", "找到消息中指出的节点，移除后再次删除节点池。"),
    ("Failed [Unknown]",       "Read the message and correct what it names, then report the state that is seen; if it was never made, delete and create it.", "查看消息并修正问题，然后上报实际状态；若从未建成，则删除后重新创建。"),
    ("ClusterNotRunning",      "Get the cluster running first; the pool follows.", "先恢复集群运行，节点池会随之恢复。"),
)
"""What to do about its states."""
SIGNAL_NAMES = (
    #      name                       en                            others                  class
    Signal("StockOut",                "Out of stock",               {"zh": "库存不足"},     "bad"),
    Signal("LimitedByQuota",          "Limited by quota",           {"zh": "配额不足"},     "bad"),
    Signal("Balance",                 "Overdue",                    {"zh": "欠费"},         "bad"),
    Signal("Degraded",                "Degraded",                   {"zh": "降级"},         "bad"),
    Signal("VersionPartlyUpgraded",   "Version partly upgraded",    {"zh": "版本部分升级"}, "busy"),
    Signal("ClusterVersionUpgrading", "Cluster version upgrading",  {"zh": "集群版本升级中"}, "busy"),
    Signal("SetByProvider",           "Set by the provider",        {"zh": "由服务商设置"}),
)
"""What consoles call some of its signals."""
NODE_POOL = Table(
    kind="node_pool",
    id=("cluster", "pool"),
    parent="cluster",
    doc="A pool of nodes of one cluster that are alike.",
    signals=True,
    signal_names=SIGNAL_NAMES,
    intents=("create", "update", "scale", "configure", "delete"),
    derived=("remove", "owner_gone"),
    attributes=(
        Field("default", bool, "whether it is the cluster's default pool"),
        Field("autoscaling_mode", str, "`Recycle` stops and starts nodes instead of deleting and creating them"),
        Field("desired", int, "how many nodes it should have", least=0),
        Field("version", str, "the version that its nodes should have"),
        *CLEANUP,
    ),
    fields={"delete": (GIVES_UP,)},
    facets=(Facet(
        name="phase",
        accumulates_in=FAILED,
        details=DETAILS,
        wants=Wants("node", number="desired", same="version"),
        pending=(
            #       phase     deadline
            Pending(CREATING, WORK),
            Pending(UPDATING, WORK),
            Pending(SCALING,  WORK),
            Pending(DELETING, WORK),
        ),
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
            Label(FAILED,   ALL_FAILED,              "All nodes failed", {"zh": "节点全部失败"}),
        )),
        rows=(
            #   from                                    trigger           to
            Row((ABSENT, DELETED, *stalled(CREATING)),  "create",         CREATING, when=CLUSTER_UP, assigns=OWN),
            Row((ABSENT,),                              "adopt",          FROM_DATA,    assigns=OWN),
            Row((CREATING,),                            "created",        RUNNING),
            Row((RUNNING, UPDATING, At(FAILED, has=ALL_FAILED), *stalled(SCALING)),
                                                        "update",         UPDATING, when=CLUSTER_UP, assigns=("version",)),
            Row((UPDATING,),                            "updated",        RUNNING),
            Row((RUNNING, At(SCALING, base=RUNNING), At(SCALING, base=SCALING), At(FAILED, has=ALL_FAILED), *stalled(UPDATING)),
                                                        "scale",          SCALING,  assigns=("desired",)),
            Row((SCALING,),                             "scaled",         RUNNING),
            Row((LIVE,),                                "configure",      SAME,     assigns=OWN),
            *deletions("cluster", CLUSTER_KEPT),
            Row((LIVE,),                                "remove",         DELETING),
            Row((DELETING,),                            "deleted",        DELETED),
            FAILED_CLEANUP,
            Row((Live(but=(DELETING,)),),               "error",          FAILED,   condition="Unknown"),
            Row((At(FAILED, has="Unknown"),),           "recovered",      SAME,     clears=("Unknown",)),
            Row((LIVE,),                                "owner_gone",     DELETED),
        ),
        views=(
            #    shows    while
            View(FAILED,  (CLUSTER_DOWN,), condition="ClusterNotRunning", unless=(DELETING,), keeps=True),
            View(FAILED,  (AllBelow("node_pool", "node", (FAILED,), some=True),), condition=ALL_FAILED, base=(RUNNING,)),
            View(SCALING, (AnyBelow("node_pool", "node", (CREATING, DELETING), lacks=STALLED),), base=(RUNNING, FAILED)),
        ),
    ),),
    cascades=(Cascade("remove", at=CHILDREN, on=("delete", "remove"), then=DELETING),),
)
