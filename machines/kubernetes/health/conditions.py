"""Health of kinds without a rule, from the conditions that objects publish by Kubernetes' conventions.

Belongs here: the conditions that say how an object is, in one table, as kstatus reads them. Does not: kinds with a rule
of their own (`registry`), scripts.
"""

from collections.abc import Iterable

from phaseline.machines.kubernetes.health.reader import ManifestPart, UnreadableManifest
from phaseline.machines.kubernetes.health.result import HealthResult, healthy, progressing
from phaseline.machines.kubernetes.profiles import DEGRADED, HEALTHY, PROGRESSING

# fmt: off
CONDITIONS = (
    #  condition      True         False        Unknown
    ("Stalled",       DEGRADED,    None,        None),
    ("Reconciling",   PROGRESSING, None,        None),
    ("Failed",        DEGRADED,    None,        None),
    ("Ready",         HEALTHY,     PROGRESSING, PROGRESSING),
    ("Available",     HEALTHY,     PROGRESSING, PROGRESSING),
    ("Established",   HEALTHY,     PROGRESSING, PROGRESSING),
    ("Succeeded",     HEALTHY,     PROGRESSING, PROGRESSING),
    ("Complete",      HEALTHY,     PROGRESSING, PROGRESSING),
)
# fmt: on
"""What a condition means; the first row that says something counts. Stalled and Reconciling are there only if True."""
STATUSES = ("True", "False", "Unknown")


def by_conditions(live: ManifestPart) -> HealthResult | None:
    """The health of an object of any kind; None if it says nothing by the conventions."""
    try:
        return _by_status(live)
    except UnreadableManifest:
        return None  # its status follows other conventions


def _by_status(live: ManifestPart) -> HealthResult | None:
    status, generation = live.map("status"), live.map("metadata").count("generation")
    seen = status.number("observedGeneration")
    if seen is not None and seen < generation:
        return progressing(f"generation {generation} has not been observed yet, the last one that was is {seen}")
    found = _said(list(status.maps("conditions")), generation)
    return found or (healthy(f"generation {seen} is observed") if seen is not None else None)


def _said(conditions: Iterable[ManifestPart], generation: int) -> HealthResult | None:
    """What the first row says that a condition fits."""
    by_type = {one.text("type"): one for one in conditions}
    for type_, *meanings in CONDITIONS:
        one = by_type.get(type_)
        status = "" if one is None else one.text("status")
        meaning = dict(zip(STATUSES, meanings, strict=True)).get(status)
        if one is None or meaning is None:
            continue
        message = one.text("message") or one.text("reason") or f"{type_} is {status}"
        seen = one.number("observedGeneration")
        if seen is not None and seen < generation:
            return progressing(f"{type_} is of generation {seen}, and generation {generation} is asked for")
        return HealthResult(meaning, message)
    return None
