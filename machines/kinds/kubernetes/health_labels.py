"""Labels of the healths, for every kind with a health facet.

Belongs here: those labels.
"""

from phaseline.machines.kinds.kubernetes.advice import HEALTH
from phaseline.machines.kinds.kubernetes.profiles import (
    ALIASES,
    DEGRADED,
    HEALTHY,
    MISSING,
    NOT_ASSESSED,
    PAUSED,
    PROGRESSING,
    UNKNOWN,
)
from phaseline.machines.language.table import Label, advised


def names_of(health: str) -> tuple[str, ...]:
    """The other names of a health."""
    return tuple(alias for alias, meant in ALIASES.items() if meant == health)


# fmt: off
HEALTHS = advised(HEALTH, (
    #     phase        condition en             others
    Label(UNKNOWN,     None, "Unknown",     {"zh": "未知"},   state_class="unknown"),
    Label(MISSING,     None, "Missing",     {"zh": "缺失"},   state_class="bad"),
    Label(DEGRADED,    None, "Degraded",    {"zh": "已降级"}, state_class="bad"),
    Label(PAUSED,      None, "Paused",      {"zh": "已暂停"}, state_class="excused", aliases=names_of(PAUSED)),
    Label(PROGRESSING, None, "Progressing", {"zh": "处理中"}, state_class="busy",    aliases=names_of(PROGRESSING)),
    Label(HEALTHY,     None, "Healthy",     {"zh": "健康"}),
))
(UNRULED,) = advised(HEALTH, (Label(NOT_ASSESSED, None, "NotAssessed", {"zh": "未评估"}, state_class="unknown"),))
# fmt: on
