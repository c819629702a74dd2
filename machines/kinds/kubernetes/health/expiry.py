"""Until when it holds what an object says of itself: a certificate ends, whatever its conditions say.

Belongs here: the fields that hold such a time, and a verdict held against them. Does not: reading the conditions
(`general`, `kubernetes.known`), the timer that ends a state (`kinds.gitops`). The time of now is given by the caller.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from phaseline.machines.kinds.kubernetes.globs import matches
from phaseline.machines.kinds.kubernetes.health.result import Evidence, HealthResult
from phaseline.machines.kinds.kubernetes.health.view import ObjectView, getter
from phaseline.machines.kinds.kubernetes.manifest_id import group_kind
from phaseline.machines.kinds.kubernetes.profiles import DEGRADED, HEALTHY, PROGRESSING
from phaseline.schemas.records import SECOND, nanoseconds

UNTIL = tuple((group, kind, field, getter(field)) for group, kind, field in (
    #   group                kind                   the field of an object that says until when it holds
    ("*",                 "*",                  ".status.notAfter"),
    ("*.crossplane.io",   "*",                  ".status.atProvider.notAfter"),
    ("*.upbound.io",      "*",                  ".status.atProvider.notAfter"),
    ("cluster.x-k8s.io",  "Machine",            ".status.certificatesExpiryDate"),
    ("networking.gke.io", "ManagedCertificate", ".status.expireTime"),
))  # fmt: skip


class Expiry(NamedTuple):
    """The time at which something ends. at: s since 1970."""

    field: str
    written: str
    at: int

    @property
    def words(self) -> str:
        """`status.notAfter 2026-03-02T08:00:00Z`."""
        return f"{self.field} {self.written}"


def passed(words: str) -> str:
    """What is said of a time that is over, in the words of `Expiry`."""
    return f"{words} has passed"


def held(found: HealthResult, live: Mapping[str, Any], now: int) -> HealthResult:
    """A verdict of now (s since 1970): Degraded if the object has ended; one that is Healthy says until when it is."""
    if found.status not in (HEALTHY, PROGRESSING) or not live.get("status"):
        return found
    first = min(_of(live), key=lambda one: one.at, default=None)
    if first is None:
        return found
    if first.at <= now:
        ended = Evidence(first.field, first.written, message=passed(first.words), since=first.written)
        return HealthResult(DEGRADED, ended.message, (ended, *found.evidence), found.concerns)
    if found.status == HEALTHY:
        found.until = first.words, first.at
    return found


def _of(live: Mapping[str, Any]) -> Iterator[Expiry]:
    group, kind = group_kind(live)
    view = ObjectView(live)
    for of_group, of_kind, field, get in UNTIL:
        written = get(view)
        if isinstance(written, str) and matches(of_group, group) and matches(of_kind, kind):
            try:
                yield Expiry(field.lstrip("."), written, nanoseconds(written) // SECOND)
            except (ValueError, OverflowError):
                continue
