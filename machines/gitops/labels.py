"""Labels of the sync states.

Belongs here: the labels that `resource`, `application` and `application_set` share. Does not: labels of healths
(`kubernetes.health_labels`).
"""

from phaseline.machines.gitops.observe import SYNC_FAILED, SYNCING
from phaseline.machines.kubernetes.assess import OUT_OF_SYNC, SYNCED
from phaseline.machines.language.table import Label

# fmt: off
SYNCS = (
    #     phase        condition  zh          en
    Label(SYNC_FAILED, None,      "同步失败",  "Sync failed"),
    Label(OUT_OF_SYNC, None,      "未同步",    "OutOfSync"),
    Label(SYNCING,     None,      "同步中",    "Syncing"),
    Label(SYNCED,      None,      "已同步",    "Synced"),
)
SYNC_UNKNOWN = "Unknown"
CANNOT_COMPARE = Label(SYNC_UNKNOWN, None, "未知", "Unknown")
"""For applications and sets: the controller cannot compare. A resource keeps its last sync meanwhile."""
