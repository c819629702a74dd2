"""The kind `application_set`: a set of applications.

Belongs here: its table. Does not: its applications (`application`).
"""

from phaseline.machines.kinds.gitops.app_settings import SETTINGS, SETTINGS_OF, check_settings
from phaseline.machines.kinds.gitops.application import HEALTH, SYNC
from phaseline.machines.kinds.gitops.controller import leave_rollout, note_conditions
from phaseline.machines.kinds.gitops.labels import CANNOT_COMPARE, NOT_KNOWN, SYNC_UNKNOWN, SYNCS
from phaseline.machines.kinds.gitops.observe import SYNC_FAILED, SYNCING
from phaseline.machines.kinds.kubernetes.assess import NOT_COMPARED, OUT_OF_SYNC, SYNCED
from phaseline.machines.kinds.kubernetes.health_labels import HEALTHS, UNRULED
from phaseline.machines.kinds.kubernetes.observation import OBSERVER, SEEN_BY
from phaseline.machines.kinds.kubernetes.profiles import (
    DEGRADED,
    HEALTHY,
    MISSING,
    NOT_ASSESSED,
    PAUSED,
    PROGRESSING,
    UNKNOWN,
)
from phaseline.machines.language.endings import MOVED
from phaseline.machines.language.predicates import AnyBelow, AttributeIs
from phaseline.machines.language.table import (
    ABSENT,
    DELETED,
    LIVE,
    SAME,
    Cascade,
    Facet,
    FanOut,
    Field,
    Interpret,
    Retired,
    Row,
    Table,
    View,
)
from phaseline.schemas.records import State

ALAUDA, NEWER = ((AttributeIs("application_set", "profile", names),) for names in (("alauda", None), "argocd"))
FAILS, ROLLS, MADE, STALE, TOLD, LEAVES = (
    (AttributeIs("application_set", name, value),)
    for name, value in (
        ("error_occurred", True),
        ("rollout_progressing", True),
        ("resources_up_to_date", True),
        ("resources_up_to_date", False),
        ("error_occurred", False),
        ("deleting", True),
    )
)
SET_HERE = (*(field.name for field in (*SETTINGS, *SETTINGS_OF)), *SEEN_BY)
REPORTED = (
    "error_occurred", "rollout_progressing", "resources_up_to_date", "health_message", "rollout_steps", "rollout_step",
    "rollout_waiting", "deleting",
)  # fmt: skip


def some(facet: int, phase: str) -> AnyBelow:
    """At least one application of the set is in a phase."""
    return AnyBelow("application_set", "application", (phase,), facet)


# fmt: off
APPLICATION_SET = Table(
    kind="application_set",
    replaced_by=None,
    id=("set",),
    doc="A set of applications; a single application is in a set of the same name. Its states follow from its "
        "applications or from its own conditions, by its profile.",
    intents=("configure",),
    known_by="anything",
    attributes=(
        *SETTINGS,
        *SETTINGS_OF,
        Field("error_occurred",       bool, "whether its controller reports an error (argocd)"),
        Field("rollout_progressing",  bool, "whether its controller is rolling out (argocd)"),
        Field("resources_up_to_date", bool, "whether its controller has made all its applications (argocd)"),
        Field("health_message",       str,  "why its controller says so (argocd)"),
        Field("rollout_steps",        int,  "the number of steps of its rollout; 0 if it changes all at once"),
        Field("rollout_step",         int,  "the first step of its rollout that is not done; 0 if all are"),
        Field("rollout_waiting",      int,  "the number of its applications that wait for their step"),
        Field("deleting",             bool, "whether it is being deleted"),
        Field("rollout_digest",       str,  "a digest of which of its applications are in its rollout"),
        *OBSERVER,
    ),
    fields={
        "removed": (MOVED,),
        "reported": (Field("stepping", str, "its applications that are in its rollout, by the end of their id; left out "
                                            "where nothing is said of that", many=True),),
    },
    interprets=(Interpret(("configure",), (), check_settings),),
    facets=(
        Facet(
            name="health",
            healthy=HEALTHY,
            adopted=State(NOT_ASSESSED),
            message_names=("application", HEALTH),
            unknown_parts=NOT_ASSESSED,
            labels=(*HEALTHS, UNRULED),
            rows=(
                #   from               trigger      to
                Row((ABSENT, DELETED), "configure", NOT_ASSESSED, assigns=SET_HERE),
                Row((LIVE,),           "configure", SAME,         assigns=SET_HERE),
                Row((LIVE,),           "reported",  SAME,         assigns=REPORTED, forgets=REPORTED,
                    computes=note_conditions),
                Row((LIVE,),           "removed",   DELETED),
            ),
            views=(
                #    shows         while
                View(PROGRESSING,  LEAVES, message_from="health_message"),
                View(DEGRADED,     (*NEWER, *FAILS), message_from="health_message"),
                View(PROGRESSING,  (*NEWER, *ROLLS), message_from="health_message"),
                View(HEALTHY,      (*NEWER, *MADE)),
                View(UNKNOWN,      (*NEWER, *STALE), message_from="health_message"),
                View(UNKNOWN,      (*NEWER, *TOLD),  message_from="health_message"),
                View(UNKNOWN,      (*ALAUDA, some(HEALTH, UNKNOWN))),
                View(MISSING,      (*ALAUDA, some(HEALTH, MISSING))),
                View(DEGRADED,     (*ALAUDA, some(HEALTH, DEGRADED))),
                View(PAUSED,       (*ALAUDA, some(HEALTH, PAUSED))),
                View(PROGRESSING,  (*ALAUDA, some(HEALTH, PROGRESSING))),
                View(HEALTHY,      (*ALAUDA, some(HEALTH, HEALTHY))),
            ),
            retired=(Retired(HEALTHY, to=NOT_ASSESSED),),
        ),
        Facet(
            name="sync",
            healthy=SYNCED,
            adopted=State(NOT_COMPARED),
            message_names=("application", SYNC),
            unknown_parts=NOT_COMPARED,
            labels=(*SYNCS, CANNOT_COMPARE, NOT_KNOWN),
            rows=(
                #   from               trigger      to
                Row((ABSENT, DELETED), "configure", NOT_COMPARED),
                Row((LIVE,),           "removed",   DELETED),
            ),
            views=(
                #    shows         while
                View(SYNC_FAILED,  (some(SYNC, SYNC_FAILED),)),
                View(SYNC_UNKNOWN, (some(SYNC, SYNC_UNKNOWN),)),
                View(OUT_OF_SYNC,  (some(SYNC, OUT_OF_SYNC),)),
                View(SYNCING,      (some(SYNC, SYNCING),)),
                View(SYNCED,       (some(SYNC, SYNCED),)),
            ),
            retired=(Retired(SYNCED, to=NOT_COMPARED),),
        ),
    ),
    fan_outs=(FanOut(("unstepped",), at="application", on=("reported",), rule=leave_rollout),),
    cascades=(
        Cascade("inherit",    at=("application",), on=("configure",)),
    ),
    tallies=(("application", HEALTH), ("application", SYNC), ("resource", HEALTH), ("resource", SYNC)),
)
