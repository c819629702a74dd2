"""The kind `cluster` of edge hosting.

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
from phaseline.machines.language.predicates import AllBelow, AnyBelow, AttributeIs
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
    advice,
    advised,
)

CREATING, RUNNING, UPDATING, DELETING = "Creating", "Running", "Updating", "Deleting"
STARTING, STOPPED, FAILED = "Starting", "Stopped", "Failed"
WITH_COMPONENTS = "updating_with_components"
CREATE_CAUSES = ("CreateError", "LimitedByQuota", "StockOut", "Balance")

# fmt: off
ADVICE = advice(
    #  state or condition       what to do (en)                                                          (zh)
    ("AllFailed",              "Look at what its nodes say; what they share may be the reason.", "查看各节点的消息；其共同之处可能就是原因。"),
    ("CreateError",            "Read the message, correct what it names, then delete the cluster and create it again.", "查看消息，修正其中指出的问题，然后删除并重新创建集群。"),
    ("LimitedByQuota",         "Ask for a higher quota or free some of it, then delete the cluster and create it again.", "提高配额或释放已用配额，然后删除并重新创建集群。"),
    ("StockOut",               "Wait for capacity, or choose another zone or instance type; then delete the cluster and create it again.", "等待库存恢复，或更换可用区或实例规格；然后删除并重新创建集群。"),
    ("Failed [Balance]",       "Pay what is owed, then delete the cluster and create it again.", "结清欠费，然后删除并重新创建集群。"),
    ("Balance",                "Pay what is owed; the cluster starts when that is reported.", "结清欠费；上报后集群会启动。"),
    ("ResourceCleanupFailed",  "Look for what the message says could not be removed, remove it, and delete again.", "找到消息中未能清理的资源，清理后再次删除。"),
    ("Failed [Unknown]",       "Read the message and the last events; report the state that is seen once it is known.", "查看消息与最近的事件；查明后上报实际状态。"),
)
"""What to do about its states."""
SIGNAL_NAMES = (
    #      name                       en                            others                  class
    Signal("Degraded",                "Degraded",                   {"zh": "降级"},         "bad"),
    Signal("SetByProvider",           "Set by the provider",        {"zh": "由服务商设置"}),
    Signal("Security",                "Security",                   {"zh": "安全"}),
)
"""What consoles call some of its signals."""
CLUSTER = Table(
    kind="cluster",
    id=("cluster",),
    place=True,
    doc="A Kubernetes cluster at the edge.",
    signals=True,
    signal_names=SIGNAL_NAMES,
    intents=("create", "update", "configure", "delete"),
    attributes=(
        Field(WITH_COMPONENTS, bool, "whether it is Updating too while a component is Creating or Updating (default false)"),
        *CLEANUP,
    ),
    fields={
        "create_failed": (Field("condition", str, "why it could not be created", CREATE_CAUSES),),
        "delete":        (Field("cascade", bool, "whether node pools and components are removed too (default true)"), GIVES_UP),
    },
    facets=(Facet(
        name="phase",
        accumulates_in=FAILED,
        details=DETAILS,
        pending=(
            #       phase     deadline
            Pending(CREATING, WORK),
            Pending(UPDATING, WORK),
            Pending(DELETING, WORK),
            Pending(STARTING, SWITCH),
        ),
        labels=advised(ADVICE, (
            #     phase     condition                en                   others
            Label(CREATING, PROGRESSING,             "Creating",          {"zh": "创建中"}),
            Label(RUNNING,  OK,                      "Running",           {"zh": "运行中"}),
            Label(UPDATING, PROGRESSING,             "Updating",          {"zh": "更新中"}),
            Label(DELETING, PROGRESSING,             "Deleting",          {"zh": "删除中"}),
            Label(STARTING, PROGRESSING,             "Starting",          {"zh": "启动中"}),
            Label(STOPPED,  "Balance",               "Stopped (overdue)", {"zh": "欠费关停"}, state_class="excused"),
            Label(FAILED,   "CreateError",           "Create failed",     {"zh": "创建失败"}),
            Label(FAILED,   "LimitedByQuota",        "Create failed",     {"zh": "创建失败"}),
            Label(FAILED,   "StockOut",              "Create failed",     {"zh": "创建失败"}),
            Label(FAILED,   "Balance",               "Create failed",     {"zh": "创建失败"}),
            Label(FAILED,   "ResourceCleanupFailed", "Delete failed",     {"zh": "删除失败"}),
            Label(FAILED,   "Unknown",               "Abnormal",          {"zh": "异常"}),
            Label(FAILED,   ALL_FAILED,              "All nodes failed",  {"zh": "节点全部失败"}),
        )),
        rows=(
            #   from                                            trigger           to
            Row((ABSENT, DELETED, *stalled(CREATING)),          "create",         CREATING, assigns=(WITH_COMPONENTS,)),
            Row((ABSENT,),                                      "adopt",          FROM_DATA),
            Row((CREATING,),                                    "created",        RUNNING),
            Row((CREATING,),                                    "create_failed",  FAILED, condition="LimitedByQuota", given={"condition": "LimitedByQuota"}),
            Row((CREATING,),                                    "create_failed",  FAILED, condition="StockOut",       given={"condition": "StockOut"}),
            Row((CREATING,),                                    "create_failed",  FAILED, condition="Balance",        given={"condition": "Balance"}),
            Row((CREATING,),                                    "create_failed",  FAILED, condition="CreateError"),
            Row((RUNNING, UPDATING, At(FAILED, has=ALL_FAILED), *stalled(STARTING)), "update", UPDATING),
            Row((UPDATING,),                                    "updated",        RUNNING),
            Row((CREATING, RUNNING, UPDATING, STARTING, FAILED), "overdue",       STOPPED),
            Row((STOPPED,),                                     "renewed",        STARTING),
            Row((STARTING,),                                    "started",        RUNNING),
            Row((LIVE,),                                        "configure",      SAME,     assigns=(WITH_COMPONENTS,)),
            *deletions("cluster"),
            Row((DELETING,),                                    "deleted",        DELETED),
            FAILED_CLEANUP,
            Row((Live(but=(DELETING, STOPPED)),),               "error",          FAILED, condition="Unknown"),
            Row((At(FAILED, has="Unknown"),),                   "recovered",      SAME,   clears=("Unknown",)),
        ),
        views=(
            #    shows     while
            View(FAILED,   (AllBelow("cluster", "node", (FAILED,), some=True),), condition=ALL_FAILED, base=(RUNNING,)),
            View(UPDATING, (AnyBelow("cluster", "node_pool", (CREATING, DELETING, "Scaling"), lacks=STALLED),), base=(RUNNING,)),
            View(UPDATING, (AttributeIs("cluster", WITH_COMPONENTS, value=True),
                            AnyBelow("cluster", "component", (CREATING, UPDATING), lacks=STALLED)), base=(RUNNING,)),
        ),
    ),),
    cascades=(
        Cascade("remove", at=CHILDREN, on=("delete",), unless=("cascade", False), then=DELETING),
    ),
)
