"""The kind `component` of edge hosting.

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
    advice,
    advised,
)

CREATING, RUNNING, UPDATING, DELETING, FAILED = "Creating", "Running", "Updating", "Deleting", "Failed"

CLUSTER_RUNS = (Above("cluster", ("Running",), or_has=(ALL_FAILED,)),)
CLUSTER_UP = (Above("cluster", ("Running", "Updating"), or_has=(ALL_FAILED,)),)
CLUSTER_KEPT = (Above("cluster", ("Running", "Updating"), or_has=(STALLED, ALL_FAILED)),)
CLUSTER_DOWN = Above("cluster", ("Stopped", "Starting"))
PASSING = ("CrashLoopBackOff", "ImagePullBackOff", "SchedulingFailed", "Degraded", "Unknown")
"""The conditions that `recovered` clears."""

# fmt: off
ADVICE = advice(
    #  state or condition       what to do (en)                                                          (zh)
    ("NameConflict",           "Remove or rename what has the same name, then delete the component and create it again.", "移除或重命名同名对象，然后删除并重新创建组件。"),
    ("CrashLoopBackOff",       "Read the logs of the container that ends, and correct its configuration.", "查看反复退出的容器日志，并修正其配置。"),
    ("ImagePullBackOff",       "Correct the image's name, or the access to its registry.", "修正镜像名称，或镜像仓库的访问权限。"),
    ("ClusterNotRunning",      "Get the cluster running first; the component follows.", "先恢复集群运行，组件会随之恢复。"),
    ("Failed [Degraded]",      "Look at the replicas that are not ready, and at the message.", "检查未就绪的副本以及消息。"),
    ("SchedulingFailed",       "Give the cluster nodes with room for the component, or lower its requests.", "为集群增加可容纳该组件的节点，或降低其资源请求。"),
    ("ResourceCleanupFailed",  "Look for what the message says could not be removed, remove it, and uninstall again.", "找到消息中未能清理的资源，清理后再次卸载。"),
    ("Failed [Unknown]",       "Read the message and the last events; report the state that is seen once it is known.", "查看消息与最近的事件；查明后上报实际状态。"),
)
"""What to do about its states."""
COMPONENT = Table(
    kind="component",
    id=("cluster", "component"),
    parent="cluster",
    doc="A piece of software that belongs to a cluster.",
    signals=True,
    intents=("create", "update", "delete"),
    derived=("remove", "owner_gone"),
    attributes=CLEANUP,
    fields={
        "delete":    (GIVES_UP,),
        "recovered": (Field("condition", str, "the only condition that is over; without it, all conditions that can pass", PASSING),),
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
        ),
        labels=advised(ADVICE, (
            #     phase     condition                en                  others
            Label(CREATING, PROGRESSING,             "Installing",       {"zh": "安装中"}),
            Label(RUNNING,  OK,                      "Installed",        {"zh": "已安装"}),
            Label(UPDATING, PROGRESSING,             "Updating",         {"zh": "更新中"}),
            Label(DELETING, PROGRESSING,             "Uninstalling",     {"zh": "卸载中"}),
            Label(FAILED,   "NameConflict",          "Failed",           {"zh": "失败"}),
            Label(FAILED,   "CrashLoopBackOff",      "Abnormal",         {"zh": "异常"}),
            Label(FAILED,   "ImagePullBackOff",      "Failed",           {"zh": "失败"}),
            Label(FAILED,   "ClusterNotRunning",     "Abnormal",         {"zh": "异常"}),
            Label(FAILED,   "Degraded",              "Abnormal",         {"zh": "异常"}),
            Label(FAILED,   "SchedulingFailed",      "Failed",           {"zh": "失败"}),
            Label(FAILED,   "ResourceCleanupFailed", "Uninstall failed", {"zh": "卸载失败"}),
            Label(FAILED,   "Unknown",               "Failed",           {"zh": "失败"}),
        )),
        rows=(
            #   from                                    trigger              to
            Row((ABSENT, DELETED, *stalled(CREATING)),  "create",            CREATING, when=CLUSTER_RUNS),
            Row((ABSENT,),                              "adopt",             FROM_DATA),
            Row((CREATING,),                            "created",           RUNNING),
            Row((RUNNING, UPDATING, At(FAILED, lacks=("ResourceCleanupFailed", "ClusterNotRunning"))),
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
            *deletions("cluster", CLUSTER_KEPT),
            Row((LIVE,),                                "remove",            DELETING),
            Row((DELETING,),                            "deleted",           DELETED),
            FAILED_CLEANUP,
            Row((Live(but=(DELETING,)),),               "error",             FAILED,   condition="Unknown"),
            Row((LIVE,),                                "owner_gone",        DELETED),
        ),
        views=(
            #    shows   while
            View(FAILED, (CLUSTER_DOWN,), condition="ClusterNotRunning", unless=(DELETING,), keeps=True),
        ),
    ),),
    cascades=(Cascade("remove", at=CHILDREN, on=("delete", "remove"), then=DELETING),),
)
