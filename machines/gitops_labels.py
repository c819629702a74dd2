"""What consoles call a health and a sync (spec: GitOps), for every kind that has them.

Belongs here: those labels. Does not: which kind has which of them (`resource`, `application`, `application_set`, `rsync_resource`).
"""

from phaseline.machines.assessing import OUT_OF_SYNC, SYNCED
from phaseline.machines.observed import SYNC_FAILED, SYNCING
from phaseline.machines.profiles import DEGRADED, HEALTHY, MISSING, NOT_ASSESSED, PAUSED, PROGRESSING, UNKNOWN
from phaseline.machines.table import Label

# fmt: off
HEALTHS = (
    #     phase        condition  zh        en
    Label(UNKNOWN,     None,      "未知",    "Unknown"),
    Label(MISSING,     None,      "缺失",    "Missing"),
    Label(DEGRADED,    None,      "已降级",  "Degraded"),
    Label(PAUSED,      None,      "已暂停",  "Paused"),
    Label(PROGRESSING, None,      "处理中",  "Progressing"),
    Label(HEALTHY,     None,      "健康",    "Healthy"),
)
UNRULED = Label(NOT_ASSESSED, None, "无健康规则", "NotAssessed")
SYNCS = (
    #     phase        condition  zh          en
    Label(SYNC_FAILED, None,      "同步失败",  "Sync failed"),
    Label(OUT_OF_SYNC, None,      "未同步",    "OutOfSync"),
    Label(SYNCING,     None,      "同步中",    "Syncing"),
    Label(SYNCED,      None,      "已同步",    "Synced"),
)
