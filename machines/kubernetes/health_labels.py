"""Labels of the healths, for every kind with a health facet.

Belongs here: those labels. Does not: sync labels, any table.
"""

from phaseline.machines.kubernetes.profiles import (
    DEGRADED,
    HEALTHY,
    MISSING,
    NOT_ASSESSED,
    PAUSED,
    PROGRESSING,
    UNKNOWN,
)
from phaseline.machines.language.table import Label

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
# fmt: on
