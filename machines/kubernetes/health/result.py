"""The verdict of a health rule. Belongs here: its type, and one constructor per status. Does not: any rule."""

from typing import NamedTuple

from phaseline.machines.kubernetes.profiles import DEGRADED, HEALTHY, NOT_ASSESSED, PAUSED, PROGRESSING, UNKNOWN


class Evidence(NamedTuple):
    """What an object says about itself, as far as a verdict rests on it.

    condition: the type of a condition, or the path of a field such as `status.phase`. status: its value. reason,
    message: its own words. since: when it took this value, as the object writes it; empty if it does not say.
    """

    condition: str
    status: str = ""
    reason: str = ""
    message: str = ""
    since: str = ""

    def __str__(self) -> str:
        why = f" ({self.reason})" if self.reason else ""
        return f"{self.condition} {self.status}{why}{f': {self.message}' if self.message else ''}"


class HealthResult(NamedTuple):
    """A health status, its reason, and what the verdict rests on.

    status: Phaseline's own name (`Paused`, not `Suspended`), or `NotAssessed` where nothing could be said. message:
    the reason; an object that is Unknown or not assessed always has one. evidence: what decided, the decisive one
    first; several that contradict each other all stand here. concerns: conditions that say of a failure and do not
    decide.
    """

    status: str
    message: str = ""
    evidence: tuple[Evidence, ...] = ()
    concerns: tuple[Evidence, ...] = ()

    @property
    def is_assessed(self) -> bool:
        """Whether anything could be said."""
        return self.status != NOT_ASSESSED


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


def unknown(message: str) -> HealthResult:
    """The health cannot be determined."""
    return HealthResult(UNKNOWN, message)


def not_assessed(message: str) -> HealthResult:
    """Nothing can be said: no rule applies, or the object says nothing that is known."""
    return HealthResult(NOT_ASSESSED, message)
