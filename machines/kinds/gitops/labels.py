"""Labels of the sync states.

Belongs here: the labels that `resource`, `application` and `application_set` share. Does not: labels of healths
(`kubernetes.health_labels`).
"""

from phaseline.machines.kinds.gitops.advice import SYNC
from phaseline.machines.kinds.gitops.observe import SYNC_FAILED, SYNCING
from phaseline.machines.kinds.kubernetes.assess import NOT_COMPARED, OUT_OF_SYNC, SYNCED
from phaseline.machines.language.table import Label, advised

# fmt: off
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
