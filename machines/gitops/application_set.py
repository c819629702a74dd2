"""The kind `application_set`: a set of applications.

Belongs here: its table. Does not: its applications (`application`).
"""

from phaseline.machines.gitops.app_settings import SETTINGS, check_settings
from phaseline.machines.gitops.application import HEALTH, SYNC
from phaseline.machines.gitops.labels import CANNOT_COMPARE, SYNC_UNKNOWN, SYNCS
from phaseline.machines.gitops.observe import SYNC_FAILED, SYNCING
from phaseline.machines.kubernetes.assess import OUT_OF_SYNC, SYNCED
from phaseline.machines.kubernetes.health_labels import HEALTHS, UNRULED
from phaseline.machines.kubernetes.observation import OBSERVER, SEEN_BY
from phaseline.machines.kubernetes.profiles import (
    DEGRADED,
    HEALTHY,
    MISSING,
    NOT_ASSESSED,
    PAUSED,
    PROGRESSING,
    UNKNOWN,
)
from phaseline.machines.language.predicates import AnyBelow, AttributeIs
from phaseline.machines.language.table import (
    ABSENT,
    DELETED,
    LIVE,
    SAME,
    Cascade,
    Facet,
    Field,
    Interpret,
    Row,
    Table,
    View,
)
from phaseline.schemas.records import State

ALAUDA, NEWER, OLDER = (
    (AttributeIs("application_set", "profile", names),) for names in (("alauda", None), "argocd", "argocd-3.3")
)
FAILS, ROLLS, STALE = (
    (AttributeIs("application_set", name, value),)
    for name, value in (
        ("error_occurred", True),
        ("rollout_progressing", True),
        ("resources_up_to_date", (None, False)),
    )
)
SET_HERE = (*(field.name for field in SETTINGS), *SEEN_BY)
REPORTED = (
    "error_occurred", "rollout_progressing", "resources_up_to_date", "rollout_steps", "rollout_step", "rollout_waiting",
)  # fmt: skip


def some(facet: int, phase: str) -> AnyBelow:
    """At least one application of the set is in a phase."""
    return AnyBelow("application_set", "application", (phase,), facet)


# fmt: off
APPLICATION_SET = Table(
    kind="application_set",
    id=("set",),
    doc="A set of applications; a single application is in a set of the same name. Its states follow from its "
        "applications or from its own conditions, by its profile.",
    intents=("configure",),
    known_by="anything",
    attributes=(
        *SETTINGS,
        Field("error_occurred",       bool, "whether its controller reports an error (argocd)"),
        Field("rollout_progressing",  bool, "whether its controller is rolling out (argocd)"),
        Field("resources_up_to_date", bool, "whether its controller has made all its applications (argocd)"),
        Field("rollout_steps",        int,  "the number of steps of its rollout; 0 if it changes all at once"),
        Field("rollout_step",         int,  "the first step of its rollout that is not done; 0 if all are"),
        Field("rollout_waiting",      int,  "the number of its applications that wait for their step"),
        *OBSERVER,
    ),
    interprets=(Interpret(("configure",), (), check_settings),),
    facets=(
        Facet(
            name="health",
            healthy=HEALTHY,
            adopted=State(HEALTHY),
            message_names=("application", HEALTH),
            labels=(*HEALTHS, UNRULED),
            rows=(
                #   from               trigger      to
                Row((ABSENT, DELETED), "configure", HEALTHY, assigns=SET_HERE),
                Row((LIVE,),           "configure", SAME,    assigns=SET_HERE),
                Row((LIVE,),           "reported",  SAME,    assigns=REPORTED),
                Row((LIVE,),           "removed",   DELETED),
            ),
            views=(
                #    shows         while
                View(DEGRADED,     (*NEWER, *FAILS)),
                View(PROGRESSING,  (*NEWER, *ROLLS)),
                View(UNKNOWN,      (*NEWER, *STALE)),
                View(NOT_ASSESSED, OLDER),
                View(UNKNOWN,      (*ALAUDA, some(HEALTH, UNKNOWN))),
                View(MISSING,      (*ALAUDA, some(HEALTH, MISSING))),
                View(DEGRADED,     (*ALAUDA, some(HEALTH, DEGRADED))),
                View(PAUSED,       (*ALAUDA, some(HEALTH, PAUSED))),
                View(PROGRESSING,  (*ALAUDA, some(HEALTH, PROGRESSING))),
            ),
        ),
        Facet(
            name="sync",
            healthy=SYNCED,
            adopted=State(SYNCED),
            message_names=("application", SYNC),
            labels=(*SYNCS, CANNOT_COMPARE),
            rows=(
                #   from               trigger      to
                Row((ABSENT, DELETED), "configure", SYNCED),
                Row((LIVE,),           "removed",   DELETED),
            ),
            views=(
                #    shows         while
                View(SYNC_FAILED,  (some(SYNC, SYNC_FAILED),)),
                View(SYNC_UNKNOWN, (some(SYNC, SYNC_UNKNOWN),)),
                View(OUT_OF_SYNC,  (some(SYNC, OUT_OF_SYNC),)),
                View(SYNCING,      (some(SYNC, SYNCING),)),
            ),
        ),
    ),
    cascades=(
        Cascade("inherit",    at=("application",), on=("configure",)),
    ),
    tallies=(("application", HEALTH), ("application", SYNC), ("resource", HEALTH), ("resource", SYNC)),
)
