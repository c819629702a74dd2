"""The result of a health rule. Belongs here: its type, and one constructor per status. Does not: any rule."""

from typing import NamedTuple

from phaseline.machines.kubernetes.profiles import DEGRADED, HEALTHY, PAUSED, PROGRESSING, UNKNOWN


class HealthResult(NamedTuple):
    """A health status and its reason, if any. `status` is Phaseline's own name (`Paused`, not `Suspended`)."""

    status: str
    message: str = ""


def healthy(message: str = "") -> HealthResult:
    """The object works."""
    return HealthResult(HEALTHY, message)


def progressing(message: str = "") -> HealthResult:
    """The object is not ready yet."""
    return HealthResult(PROGRESSING, message)


def degraded(message: str = "") -> HealthResult:
    """The object has failed, temporarily or for good."""
    return HealthResult(DEGRADED, message)


def paused(message: str = "") -> HealthResult:
    """The object is paused on purpose."""
    return HealthResult(PAUSED, message)


def unknown(message: str = "") -> HealthResult:
    """The health cannot be determined."""
    return HealthResult(UNKNOWN, message)
