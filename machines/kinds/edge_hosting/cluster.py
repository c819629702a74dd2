"""The kind `cluster` of edge hosting.

Belongs here: its table. Does not: the table language (`language.table`), other kinds.
"""

from phaseline.machines.kinds.edge_hosting.advice import CLUSTER as ADVICE
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
from phaseline.machines.kinds.edge_hosting.signals import CLUSTER as SIGNALS
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
    Table,
    View,
    advised,
)

CREATING, RUNNING, UPDATING, DELETING = "Creating", "Running", "Updating", "Deleting"
STARTING, STOPPED, FAILED = "Starting", "Stopped", "Failed"
WITH_COMPONENTS = "updating_with_components"
CREATE_CAUSES = ("CreateError", "LimitedByQuota", "StockOut", "Balance")

# fmt: off
CLUSTER = Table(
    kind="cluster",
    id=("cluster",),
    place=True,
    doc="A Kubernetes cluster at the edge.",
    signals=True,
    signal_names=SIGNALS,
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
