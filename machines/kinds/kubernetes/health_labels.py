"""Labels of the healths, for every kind with a health facet.

Belongs here: those labels, and what to do about a health.
"""

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
from phaseline.machines.language.table import Label, advice, advised


def names_of(health: str) -> tuple[str, ...]:
    """The other names of a health."""
    return tuple(alias for alias, meant in ALIASES.items() if meant == health)


# fmt: off
HEALTH = advice(
    #  health         what to do (en)                                                                        (zh)
    (UNKNOWN,      "Read the message, inspect the object's status and status.conditions, and correct the health rule if it failed.", "查看消息，检查对象的 status 与 status.conditions；若健康规则出错则修正规则。"),
    (MISSING,      "Synchronise, or apply the object again; look at who deleted it.",                          "执行同步或重新应用该对象；查明是谁删除了它。"),
    (DEGRADED,     "Read the message and the conditions, then look at the object's events and at the logs of its Pods.", "查看消息与条件，然后检查对象的事件及其 Pod 的日志。"),
    (PAUSED,       "Resume it when the pause is no longer wanted.",                                            "不再需要暂停时恢复它。"),
    (NOT_ASSESSED, "Bring a health rule for the kind, if it matters whether it works.",                        "若需要判断其是否正常，请为该类型提供健康规则。"),
)
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
