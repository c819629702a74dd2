"""The verdict of a health rule. Belongs here: its type, and one constructor per status."""

from collections.abc import Callable
from typing import NamedTuple, Self

from phaseline.machines.kinds.kubernetes.profiles import (
    DEGRADED,
    HEALTHY,
    NO_HEALTH,
    NOT_ASSESSED,
    PAUSED,
    PROGRESSING,
    UNKNOWN,
)


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


STATUSLESS_KIND = "its kind has no status"
EvidenceAndConcerns = tuple[tuple[Evidence, ...], tuple[Evidence, ...]]
"""Evidence and concerns."""


class StatusAndMessage(NamedTuple):
    """What a verdict is as a pair, so that it compares with one."""

    status: str
    message: str = ""


class HealthResult(StatusAndMessage):
    """A health status, its reason, and what the verdict rests on.

    status: Phaseline's own name (`Paused`, not `Suspended`), `NotAssessed` where nothing could be said, or `NoHealth`
    where the kind has no status. message: the reason; an object that is Unknown or has no health always has one.
    As a pair it is these two.
    """

    _told: EvidenceAndConcerns | Callable[[], EvidenceAndConcerns]
    until: tuple[str, int] | None = None
    """When a verdict ends by itself: the field that says so, and the time, s since 1970; None if nothing says so."""

    def __new__(
        cls, status: str, message: str = "", evidence: tuple[Evidence, ...] = (), concerns: tuple[Evidence, ...] = ()
    ) -> Self:
        """Make a verdict."""
        self = tuple.__new__(cls, (status, message))
        self._told = evidence, concerns
        return self

    @classmethod
    def told_by(cls, status: str, message: str, tell: Callable[[], EvidenceAndConcerns]) -> "HealthResult":
        """A verdict whose evidence and concerns are found once somebody asks for them."""
        self = tuple.__new__(cls, (status, message))
        self._told = tell
        return self

    def resting_on(self, *evidence: Evidence, concerns: tuple[Evidence, ...] = ()) -> "HealthResult":
        """The same verdict with this evidence."""
        return HealthResult(self.status, self.message, evidence, concerns)

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """What decided, the decisive one first; several that contradict each other all stand here."""
        return self._found()[0]

    @property
    def concerns(self) -> tuple[Evidence, ...]:
        """Conditions that say of a failure and do not decide."""
        return self._found()[1]

    def _found(self) -> EvidenceAndConcerns:
        if callable(self._told):
            self._told = self._told()
        return self._told

    @property
    def is_assessed(self) -> bool:
        """Whether anything could be said."""
        return self.status not in (NOT_ASSESSED, NO_HEALTH)

    @property
    def takes_part(self) -> bool:
        """Whether the object takes part in health at all."""
        return self.status != NO_HEALTH


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


def no_health(message: str = STATUSLESS_KIND) -> HealthResult:
    """The object takes no part in health."""
    return HealthResult(NO_HEALTH, message)
