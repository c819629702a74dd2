"""What the words of a status mean where nobody listed the kind: one table for conditions, one for reasons and phases.

Belongs here: those tables, and looking a word up. Does not: the order in which findings decide (`general`), kinds whose
words are known (`kubernetes.known`). A word that is not in the tables decides nothing.
"""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from phaseline.machines.kubernetes.health.result import Evidence
from phaseline.machines.kubernetes.health.view import evidence_of

SUCCESS, PART, FAILURE, WORK, PAUSE, DOUBT = "success", "part", "failure", "work", "pause", "doubt"
TERMINAL, PASSING = "terminal", "passing"

# fmt: off
CONDITIONS = (
    #   type, or a glob of types       True says    False says
    # success: True alone says that the object works
    ("Ready",                          SUCCESS,     PASSING),
    ("Available",                      SUCCESS,     PASSING),
    ("Healthy",                        SUCCESS,     TERMINAL),
    ("Established",                    SUCCESS,     PASSING),
    ("Complete",                       SUCCESS,     PASSING),
    ("Completed",                      SUCCESS,     PASSING),
    ("Succeeded",                      SUCCESS,     TERMINAL),
    ("Successful",                     SUCCESS,     PASSING),
    ("Synced",                         SUCCESS,     PASSING),
    ("Reconciled",                     SUCCESS,     PASSING),
    ("Accepted",                       SUCCESS,     TERMINAL),
    ("Valid",                          SUCCESS,     TERMINAL),
    ("Admitted",                       SUCCESS,     TERMINAL),
    ("Compliant",                      SUCCESS,     TERMINAL),
    ("Deployed",                       SUCCESS,     PASSING),
    ("Bound",                          SUCCESS,     PASSING),
    ("Discoverable",                   SUCCESS,     PASSING),
    ("*UpToDate",                      SUCCESS,     PASSING),
    ("*Synced",                        SUCCESS,     PASSING),
    ("*Synchronized",                  SUCCESS,     TERMINAL),
    ("ResourcesApplied",               SUCCESS,     TERMINAL),
    # a part of the object: True is not enough, False holds it back
    ("Installed",                      PART,        PASSING),
    ("Programmed",                     PART,        PASSING),
    ("Released",                       PART,        PASSING),
    ("Adopted",                        PART,        TERMINAL),
    ("Advertised",                     PART,        PASSING),
    ("*Scheduled",                     PART,        PASSING),
    ("ResolvedRefs",                   PART,        TERMINAL),
    ("NamesAccepted",                  PART,        TERMINAL),
    ("LastAsyncOperation",             PART,        TERMINAL),
    ("DisruptionAllowed",              PART,        PASSING),
    ("*Ready",                         PART,        PASSING),
    ("*Available",                     PART,        PASSING),
    ("*Healthy",                       PART,        PASSING),
    ("*Succeeded",                     PART,        PASSING),
    ("*Success",                       PART,        PASSING),
    # failure: True says that something is wrong
    ("PartiallyReady",                 FAILURE,     ""),
    ("NotReady",                       FAILURE,     ""),
    ("Stalled",                        FAILURE,     ""),
    ("Degraded",                       FAILURE,     ""),
    ("Invalid",                        FAILURE,     ""),
    ("InvalidSpec",                    FAILURE,     ""),
    ("Orphan",                         FAILURE,     ""),
    ("NonStructuralSchema",            FAILURE,     ""),
    ("HasErrors",                      FAILURE,     ""),
    ("ErrorOccurred",                  FAILURE,     ""),
    ("ACK.Terminal",                   FAILURE,     ""),
    ("*Failed",                        FAILURE,     ""),
    ("*Failure",                       FAILURE,     ""),
    ("*Error",                         FAILURE,     ""),
    ("*Violation",                     FAILURE,     ""),
    ("*Unhealthy",                     FAILURE,     ""),
    ("*Missing",                       FAILURE,     ""),
    ("*Exceeded",                      FAILURE,     ""),
    ("*Pressure",                      FAILURE,     ""),
    ("NetworkUnavailable",             FAILURE,     ""),
    # work: True says that the object is not where it is going
    ("Progressing",                    WORK,        PASSING),
    ("Running",                        WORK,        PASSING),
    ("Reconciling",                    WORK,        ""),
    ("Updating",                       WORK,        ""),
    ("Upgrading",                      WORK,        ""),
    ("Issuing",                        WORK,        ""),
    ("Installing",                     WORK,        ""),
    ("Creating",                       WORK,        ""),
    ("Provisioning",                   WORK,        ""),
    ("Initializing",                   WORK,        ""),
    ("Terminating",                    WORK,        ""),
    ("Deleting",                       WORK,        ""),
    ("Migrating",                      WORK,        ""),
    ("Pending",                        WORK,        ""),
    ("Waiting",                        WORK,        ""),
    ("In-progress",                    WORK,        ""),
    ("InProgress",                     WORK,        ""),
    ("Scaling",                        WORK,        ""),
    ("ScalingUp",                      WORK,        ""),
    ("ScalingDown",                    WORK,        ""),
    ("*Progressing",                   WORK,        ""),
    ("*Updating",                      WORK,        ""),
    ("*Pending",                       WORK,        ""),
    # pause: True says that somebody stopped it on purpose
    ("Paused",                         PAUSE,       ""),
    ("Suspended",                      PAUSE,       ""),
    ("Stopped",                        PAUSE,       ""),
    ("Hibernated",                     PAUSE,       ""),
    ("ReconcilePaused",                PAUSE,       ""),
    ("Disrupting",                     PAUSE,       ""),
    ("*Paused",                        PAUSE,       ""),
)
"""What a condition says. Of success that is False: whether it can pass by itself, unless its reason says otherwise."""

REASONS = (
    #   reason, or a glob of reasons   means
    ("*Paused",                        PAUSE),
    ("*Suspended",                     PAUSE),
    ("Stopped",                        PAUSE),
    ("New*Available",                  SUCCESS),
    ("*Completed",                     SUCCESS),
    ("AsExpected",                     SUCCESS),
    ("Successful",                     SUCCESS),
    ("*Missing*",                      TERMINAL),
    ("*Failing",                       TERMINAL),
    ("*InProgress",                    PASSING),
    ("Pending*",                       PASSING),
    ("*Pending",                       PASSING),
    ("Waiting*",                       PASSING),
    ("Progressing*",                   PASSING),
    ("*ing",                           PASSING),
    ("Err*",                           TERMINAL),
    ("*Unreachable",                   TERMINAL),
    ("*Error",                         TERMINAL),
    ("*Errors",                        TERMINAL),
    ("Error*",                         TERMINAL),
    ("*Failed",                        TERMINAL),
    ("*Failure",                       TERMINAL),
    ("Failed*",                        TERMINAL),
    ("*Invalid*",                      TERMINAL),
    ("*Denied",                        TERMINAL),
    ("*Rejected",                      TERMINAL),
    ("*Exceeded",                      TERMINAL),
    ("*Exhausted",                     TERMINAL),
    ("*Unsupported*",                  TERMINAL),
    ("*NotFound",                      TERMINAL),
    ("No*Found",                       TERMINAL),
    ("*NotPermitted",                  TERMINAL),
    ("*Forbidden",                     TERMINAL),
    ("*Conflict*",                     TERMINAL),
    ("*NotAllowed*",                   TERMINAL),
    ("*Aborted",                       TERMINAL),
    ("NoMatching*",                    TERMINAL),
    ("*CrashLoop*",                    TERMINAL),
)
"""What a reason means, in any case: of a success that is False, of a failure or work that is True."""

PHASES = (
    #   word, in any case              means
    ("ready",                          SUCCESS),
    ("running",                        SUCCESS),
    ("active",                         SUCCESS),
    ("available",                      SUCCESS),
    ("bound",                          SUCCESS),
    ("healthy",                        SUCCESS),
    ("green",                          SUCCESS),
    ("complete",                       SUCCESS),
    ("completed",                      SUCCESS),
    ("succeeded",                      SUCCESS),
    ("success",                        SUCCESS),
    ("successful",                     SUCCESS),
    ("deployed",                       SUCCESS),
    ("installed",                      SUCCESS),
    ("accepted",                       SUCCESS),
    ("exists",                         SUCCESS),
    ("provisioned",                    SUCCESS),
    ("operational",                    SUCCESS),
    ("synced",                         SUCCESS),
    ("compliant",                      SUCCESS),
    ("initialized",                    SUCCESS),
    ("failed",                         FAILURE),
    ("failure",                        FAILURE),
    ("error",                          FAILURE),
    ("failing",                        FAILURE),
    ("degraded",                       FAILURE),
    ("unhealthy",                      FAILURE),
    ("red",                            FAILURE),
    ("invalid",                        FAILURE),
    ("rejected",                       FAILURE),
    ("warning",                        FAILURE),
    ("lost",                           FAILURE),
    ("noncompliant",                   FAILURE),
    ("aborted",                        FAILURE),
    ("canceled",                       FAILURE),
    ("*error",                         FAILURE),
    ("*failed",                        FAILURE),
    ("*failure",                       FAILURE),
    ("paused",                         PAUSE),
    ("suspended",                      PAUSE),
    ("stopped",                        PAUSE),
    ("hibernated",                     PAUSE),
    ("pending",                        WORK),
    ("new",                            WORK),
    ("yellow",                         WORK),
    ("submitted",                      WORK),
    ("inprogress",                     WORK),
    ("in progress",                    WORK),
    ("scheduled",                      WORK),
    ("*running",                       SUCCESS),
    ("health_ok",                      SUCCESS),
    ("health_warn",                    FAILURE),
    ("health_err",                     FAILURE),
    ("error*",                         FAILURE),
    ("failed*",                        FAILURE),
    ("*failed*",                       FAILURE),
    ("*not allowed*",                  FAILURE),
    ("unable*",                        FAILURE),
    ("*cannot*",                       FAILURE),
    ("*outofsync",                     WORK),
    ("unknown",                        DOUBT),
    ("inconclusive",                   DOUBT),
    ("* not *",                        FAILURE),
    ("*already exists*",               FAILURE),
    ("not*",                           WORK),
    ("*notready",                      WORK),
    ("*not_ready",                     WORK),
    ("pending*",                       WORK),
    ("waiting*",                       WORK),
    ("scaling*",                       WORK),
    ("applying*",                      WORK),
    ("migrating*",                     WORK),
    ("updating*",                      WORK),
    ("provisioning*",                  WORK),
    ("*inprogress",                    WORK),
    ("*ing",                           WORK),
    ("*ing *",                         WORK),
)
"""What a phase means. The first row that fits counts."""

PHASE_FIELDS = ("phase", "state", "health", "status")
"""The fields of a status, and of its parts, that hold a phase; in a status also those that end like these."""
NOT_NOW = ("desired*", "target*", "previous*", "last*", "old*", "stage*")
"""Fields that hold a phase of another time. Only a failure counts there, and of what was last work that goes on."""
FLAGS = {"ready": WORK, "applied": WORK, "readyToUse": WORK, "healthy": FAILURE, "pass": FAILURE}
"""The fields of a status that say yes or no, and what no means."""
ENDS = ("*Job", "*Run", "*Backup", "*Restore", "*Task", "*Migration", "*Snapshot", "*Experiment", "*Workflow")
"""Kinds that are there to end: while they are running, they work."""
LABELS = ("*/status", "*/state", "*-status", "*-state")
"""The labels that hold a phase. Only what is not well counts there."""
ERRORS = ("error", "errorMessage", "errMsg", "failureMessage", "errorDescription")
"""The fields of a status that hold an error, if they hold anything."""

PAUSED_BY = (
    "spec.paused", "spec.suspend", "spec.suspended", "spec.updateStrategy.paused",
    "spec.updateStrategy.rollingUpdate.paused",
)
"""The fields whose true value pauses an object."""
ANNOTATIONS = (
    #   annotation                     values that pause
    ("crossplane.io/paused",                     ("true",)),
    ("cluster.x-k8s.io/paused",                  ("", "true")),
    ("cnpg.io/reconciliationLoop",               ("disabled",)),
    ("strimzi.io/pause-reconciliation",          ("true",)),
    ("autoscaling.keda.sh/paused",               ("true",)),
    ("autoscaling.keda.sh/paused-replicas",      ("*",)),
    ("kustomize.toolkit.fluxcd.io/reconcile",    ("disabled",)),
    ("eck.k8s.elastic.co/managed",               ("false",)),
    ("cnrm.cloud.google.com/reconcile-interval-in-seconds", ("0",)),
)
"""The annotations that pause an object."""
# fmt: on


@lru_cache(maxsize=8192)
def of_type(kind: str) -> tuple[str, str] | None:
    """What a type of condition says if it is True, and if it is False; None for a type that is not known."""
    exact = next(((true, false) for name, true, false in CONDITIONS if name == kind), None)
    return exact or next(((true, false) for glob, true, false in CONDITIONS if fnmatchcase(kind, glob)), None)


@lru_cache(maxsize=8192)
def of_reason(reason: str) -> str:
    """What a reason means for a success that is False; empty for a reason that is not known."""
    low = reason.lower()
    return next((means for glob, means in REASONS if fnmatchcase(low, glob.lower())), "")


@lru_cache(maxsize=8192)
def is_to_end(kind: str) -> bool:
    """Whether the objects of a kind are there to end."""
    return any(fnmatchcase(kind, glob) for glob in ENDS)


@lru_cache(maxsize=8192)
def of_phase(word: str) -> str:
    """What a phase means; empty for a word that is not known."""
    low = word.lower()
    return next((means for glob, means in PHASES if fnmatchcase(low, glob)), "")


@lru_cache(maxsize=8192)
def is_of_another_time(name: str) -> bool:
    """Whether a field holds what was, or what is to be."""
    return any(fnmatchcase(name, glob) for glob in NOT_NOW)


@lru_cache(maxsize=8192)
def of_label(name: str, value: str) -> str:
    """What a label means; empty if it says nothing, or that all is well."""
    means = of_phase(value) if any(fnmatchcase(name, glob) for glob in LABELS) else ""
    return "" if means == SUCCESS else means


def of_field(name: str, value: Any) -> str | None:
    """What a field of a status, or of a part of it, means; None if nothing is known of it."""
    if name in ERRORS and isinstance(value, Mapping) and value:
        return FAILURE
    if isinstance(value, bool):
        return (SUCCESS if value else FLAGS[name]) if name in FLAGS else None
    if not isinstance(value, str) or not value:
        return None
    if name in ERRORS:
        return FAILURE
    if name not in PHASE_FIELDS and not (name.lower().endswith(PHASE_FIELDS) or name == "compliant"):
        return None
    means = of_phase(value)
    if is_of_another_time(name):
        return means if means == FAILURE or (means == WORK and name.startswith("last")) else None
    return means or None


def is_failing(condition: Mapping[str, Any]) -> bool:
    """Whether a condition says of a failure, or of a success that is missing."""
    kind, status = condition.get("type"), condition.get("status")
    meaning = of_type(kind) if isinstance(kind, str) else None
    if meaning is None:
        return False
    if meaning[0] in (SUCCESS, PART):
        return status == "False"
    return meaning[0] == FAILURE and status == "True"


def concerns_of(conditions: Iterable[Mapping[str, Any]], decided: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """The failing conditions that are not among those that decided."""
    failing = [one for one in conditions if is_failing(one)]
    if not failing:
        return ()
    told = {(one.condition, one.status) for one in decided}
    return tuple(one for one in map(evidence_of, failing) if (one.condition, one.status) not in told)
