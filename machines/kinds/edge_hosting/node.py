"""The kind `node` of edge hosting.

Belongs here: its table. Does not: the table language (`language.table`), other kinds.
"""

from phaseline.machines.kinds.edge_hosting.requests import (
    ALL_FAILED,
    CLEANUP,
    DETAILS,
    FAILED_CLEANUP,
    GIVES_UP,
    SWITCH,
    WORK,
    deletions,
    stalled,
)
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
    advice,
    advised,
)

CREATING, RUNNING, UPDATING, DELETING = "Creating", "Running", "Updating", "Deleting"
STARTING, STOPPING, STOPPED, FAILED = "Starting", "Stopping", "Stopped", "Failed"

VERSION = ("version",)
POOL_TAKES = (Above("node_pool", ("Running", "Scaling"), or_has=(ALL_FAILED,)),)
POOL_RECYCLES = (AttributeIs("node_pool", "autoscaling_mode", "Recycle"),)
CLUSTER_KEPT = (Above("cluster", ("Running", "Updating", "Stopped"), or_has=(STALLED, ALL_FAILED)),)

# fmt: off
ADVICE = advice(
    #  state or condition       what to do (en)                                                          (zh)
    ("InitializeFailed",       "Read the message of the initialisation, and remove the node; the pool brings another one.", "查看初始化消息，并移除该节点；节点池会补充新节点。"),
    ("NotReady",               "Look at the kubelet and the network of the node; drain it if it does not come back.", "检查节点的 kubelet 与网络；若无法恢复则排空该节点。"),
    ("Failed [Balance]",       "Pay what is owed; the node comes back when that is reported.", "结清欠费；上报后节点会恢复。"),
    ("ResourceCleanupFailed",  "Look for what the message says could not be removed, remove it, and remove the node again.", "找到消息中未能清理的资源，清理后再次移除节点。"),
    ("Failed [Unknown]",       "Read the message and the last events; report the state that is seen once it is known.", "查看消息与最近的事件；查明后上报实际状态。"),
)
"""What to do about its states."""
SIGNAL_NAMES = (
    #      name                       en                            others                  class
    Signal("MemoryPressure",          "Memory pressure",            {"zh": "内存压力"},     "bad"),
    Signal("DiskPressure",            "Disk pressure",              {"zh": "磁盘压力"},     "bad"),
    Signal("PIDPressure",             "Process ID pressure",        {"zh": "进程号压力"},   "bad"),
    Signal("NetworkUnavailable",      "Network unavailable",        {"zh": "网络不可用"},   "bad"),
    Signal("Security",                "Security",                   {"zh": "安全"}),
)
"""What consoles call some of its signals."""
NODE = Table(
    kind="node",
    id=("cluster", "pool", "node"),
    parent="node_pool",
    doc="A server that runs pods.",
    signals=True,
    signal_names=SIGNAL_NAMES,
    intents=("create", "update", "cordon", "drain", "uncordon", "stop", "start", "delete"),
    derived=("remove", "owner_gone"),
    attributes=(Field("version", str, "the version that it runs"), *CLEANUP),
    fields={"delete": (GIVES_UP,)},
    facets=(Facet(
        name="phase",
        accumulates_in=FAILED,
        details=DETAILS,
        sticky=("Balance", "Unschedulable"),
        own_reporter=("NotReady",),
        unschedulable_while=(Above("cluster", ("Stopped", "Starting")),),
        # ResourceCleanupFailed only arises during removal, so its label comes first.
        order=("ResourceCleanupFailed", "Balance", "NotReady", "InitializeFailed", "Unknown"),
        pending=(
            #       phase     deadline
            Pending(CREATING, WORK),
            Pending(UPDATING, WORK),
            Pending(DELETING, WORK),
            Pending(STARTING, SWITCH),
            Pending(STOPPING, SWITCH),
        ),
        labels=advised(ADVICE, (
            #     phase     condition                en                         others                      schedulable
            Label(CREATING, PROGRESSING,             "Creating",                {"zh": "创建中"},           False),
            Label(RUNNING,  OK,                      "Running",                 {"zh": "运行中"},           True),
            Label(RUNNING,  "Unschedulable",         "Running (unschedulable)", {"zh": "运行中"},           False),
            Label(UPDATING, PROGRESSING,             "Updating",                {"zh": "更新中"},           False),
            Label(DELETING, PROGRESSING,             "Removing",                {"zh": "移除中"},           False),
            Label(STARTING, PROGRESSING,             "Starting",                {"zh": "启动中"},           False),
            Label(STOPPING, PROGRESSING,             "Stopping",                {"zh": "停止中"},           False),
            Label(STOPPED,  OK,                      "Stopped",                 {"zh": "已停止"},           False),
            Label(FAILED,   "InitializeFailed",      "Create failed",           {"zh": "创建失败"},         False),
            Label(FAILED,   "NotReady",              "Abnormal",                {"zh": "异常"},             False),
            Label(FAILED,   "Balance",               "Abnormal (overdue)",      {"zh": "异常（欠费关停）"}, False),
            Label(FAILED,   "ResourceCleanupFailed", "Remove failed",           {"zh": "移除失败"},         False),
            Label(FAILED,   "Unknown",               "Create failed",           {"zh": "创建失败"},         False),
        )),
        rows=(
            #   from                                    trigger           to
            Row((ABSENT, DELETED, *stalled(CREATING)),  "create",         CREATING, when=POOL_TAKES, assigns=VERSION),
            Row((ABSENT,),                              "adopt",          FROM_DATA, assigns=VERSION),
            Row((CREATING,),                            "created",        RUNNING),
            Row((CREATING,),                            "init_failed",    FAILED,   condition="InitializeFailed"),
            Row((RUNNING, UPDATING, *stalled(STARTING, STOPPING)),
                                                        "update",         UPDATING),
            Row((UPDATING,),                            "updated",        RUNNING,  assigns=VERSION),
            Row((Live(but=(CREATING, DELETING)),),      "cordon",         SAME,     sets="Unschedulable"),
            Row((Live(but=(CREATING, DELETING)),),      "drain",          SAME,     sets="Unschedulable"),
            Row((Live(but=(CREATING, DELETING)),),      "uncordon",       SAME,     clears=("Unschedulable",)),
            Row((RUNNING, *stalled(UPDATING, STARTING, STOPPING)),
                                                        "stop",           STOPPING, when=POOL_RECYCLES),
            Row((STOPPING,),                            "stopped",        STOPPED),
            Row((STOPPED, *stalled(STARTING)),          "start",          STARTING, when=POOL_RECYCLES),
            Row((STARTING,),                            "started",        RUNNING),
            Row((RUNNING, UPDATING, STARTING, FAILED),  "not_ready",      FAILED,   condition="NotReady"),
            Row((At(FAILED, has="NotReady"),),          "ready",          SAME,     clears=("NotReady",)),
            Row((Live(but=(CREATING, DELETING)),),      "overdue",        FAILED,   condition="Balance"),
            Row((Live(has="Balance"),),                 "renewed",        SAME,     clears=("Balance",)),
            *deletions("cluster", CLUSTER_KEPT),
            Row((LIVE,),                                "remove",         DELETING),
            Row((DELETING,),                            "deleted",        DELETED),
            FAILED_CLEANUP,
            Row((Live(but=(DELETING,)),),               "error",          FAILED,   condition="Unknown"),
            Row((At(FAILED, has="Unknown"),),           "recovered",      SAME,     clears=("Unknown",)),
            Row((LIVE,),                                "owner_gone",     DELETED),
        ),
    ),),
    cascades=(Cascade("remove", at=CHILDREN, on=("delete", "remove"), then=DELETING),),
)
