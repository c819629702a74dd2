"""What a health rule answers. Belongs here: its shape. Does not: any rule."""

from typing import NamedTuple

from phaseline.machines.profiles import DEGRADED, HEALTHY, PAUSED, PROGRESSING, UNKNOWN


class Health(NamedTuple):
    """How something does, and why where there is something to say. `status` is by our name (`Paused`)."""

    status: str
    message: str = ""


def healthy(message: str = "") -> Health:
    """It works."""
    return Health(HEALTHY, message)


def progressing(message: str = "") -> Health:
    """It is not ready yet."""
    return Health(PROGRESSING, message)


def degraded(message: str = "") -> Health:
    """It has failed, for now or for good."""
    return Health(DEGRADED, message)


def paused(message: str = "") -> Health:
    """It waits for somebody, on purpose."""
    return Health(PAUSED, message)


def unknown(message: str = "") -> Health:
    """It cannot be told."""
    return Health(UNKNOWN, message)
