"""Labels of the sync states.

Belongs here: the labels that `resource`, `application` and `application_set` share, and what to do about these states.
Does not: labels of healths
(`kubernetes.health_labels`).
"""

from phaseline.machines.kinds.gitops.observe import SYNC_FAILED, SYNCING
from phaseline.machines.kinds.kubernetes.assess import NOT_COMPARED, OUT_OF_SYNC, SYNCED
from phaseline.machines.language.table import Label, advice, advised

# fmt: off
SYNC = advice(
    #  state         what to do (en)                                                                          (zh)
    (SYNC_FAILED,  "Correct what the message names (network, configuration, permission), then synchronise again.", "修正消息中指出的问题（网络、配置、权限），然后重新同步。"),
    (OUT_OF_SYNC,  "Read the differences (phaseline gitops diff); synchronise, or bring the change into Git, or ignore the field.", "查看差异（phaseline gitops diff）；执行同步，或将变更写入 Git，或忽略该字段。"),
    ("Unknown",    "Correct what keeps the controller from comparing: the message names it.",                   "修正导致控制器无法比较的问题，消息中已指出。"),
    (NOT_COMPARED, "Report what Git declares, if it matters whether it matches.",                               "若需要判断是否一致，请上报 Git 中声明的内容。"),
)
SYNCS = advised(SYNC, (
    #     phase        condition en             others
    Label(SYNC_FAILED, None, "Sync failed", {"zh": "同步失败"}, state_class="bad"),
    Label(OUT_OF_SYNC, None, "OutOfSync",   {"zh": "未同步"},   state_class="bad"),
    Label(SYNCING,     None, "Syncing",     {"zh": "同步中"},   state_class="busy"),
    Label(SYNCED,      None, "Synced",      {"zh": "已同步"}),
))
SYNC_UNKNOWN = "Unknown"
(CANNOT_COMPARE,) = advised(SYNC, (Label(SYNC_UNKNOWN, None, "Unknown", {"zh": "未知"}, state_class="unknown"),))
"""For applications and sets: the controller cannot compare. A resource keeps its last sync meanwhile."""
(UNCOMPARED,) = advised(SYNC, (Label(NOT_COMPARED, None, "NotCompared", {"zh": "未比较"}, state_class="unknown"),))
"""For resources."""
(NOT_KNOWN,) = advised(SYNC, (Label(NOT_COMPARED, None, "Not known (nothing compared)", {"zh": "未知 (未比较)"}, state_class="unknown"),))
"""For applications and sets, of whose resources none is compared."""
