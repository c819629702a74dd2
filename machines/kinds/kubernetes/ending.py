"""The timer that ends a success which an object gave until a certain time, for every kind of observed objects.

Belongs here: its trigger and attributes, and the change of these. Does not: which objects say such a time
(`health.expiry`), the states before and after (the tables).
"""

from collections.abc import Mapping
from typing import Any

from phaseline.machines.kinds.kubernetes.health.expiry import passed
from phaseline.machines.kinds.kubernetes.health.result import HealthResult
from phaseline.machines.kinds.kubernetes.profiles import HEALTHY
from phaseline.machines.language.table import Attributes, Field
from phaseline.schemas.records import SECOND

EXPIRED, EXPIRES, EXPIRES_IN = "expired", "expires", "expires_in"
UNTIL = (
    Field(EXPIRES, str, "the field, and the time in it, until which it is well: a certificate ends by itself"),
    Field(EXPIRES_IN, int, "seconds from when it became so until then"),
)
NAMES = (EXPIRES, EXPIRES_IN)


def until(health: HealthResult | None, before: Attributes, now: int) -> dict[str, Any]:
    """The attributes of an object that is Healthy until some time; empty for any other. now: ns since 1970.

    The seconds stay while the time does, because they began with it.
    """
    if health is None or health.status != HEALTHY or health.until is None:
        return {}
    words, at = health.until
    return {EXPIRES: words, EXPIRES_IN: before[EXPIRES_IN] if before.get(EXPIRES) == words else at - now // SECOND}


def without(attributes: Attributes) -> dict[str, Any]:
    """The attributes of an object of which no such time is known any more."""
    return {name: value for name, value in attributes.items() if name not in NAMES}


def ended(attributes: Mapping[str, Any]) -> str:
    """What is said of an object whose time is over."""
    return passed(attributes.get(EXPIRES, ""))
