"""The kind `application`: a GitOps application. Its states follow from its resources.

Belongs here: its table. Does not: its settings (`app_settings`), operations (`auto_sync`), what its controller
reports (`controller`), its resources (`resource`).
"""

from phaseline.machines.kinds.gitops.app_settings import SETTINGS, SETTINGS_OF, check_settings
from phaseline.machines.kinds.gitops.auto_sync import (
    ATTRIBUTES,
    RESULTS,
    auto_sync,
    begin_sync,
    end_sync,
    may_sync,
    schedule_sync,
    wait,
)
from phaseline.machines.kinds.gitops.auto_sync import SET_HERE as OWN
from phaseline.machines.kinds.gitops.controller import (
    HEALTHS,
    OPERATION,
    REPORTED,
    ROLLOUT,
    forget_step,
    note_controller,
    note_step,
)
from phaseline.machines.kinds.gitops.deletion import LEFT, note_stuck, read_deletion
from phaseline.machines.kinds.gitops.labels import CANNOT_COMPARE, NOT_KNOWN, SYNC_UNKNOWN, SYNCS
from phaseline.machines.kinds.gitops.named import LISTED, note_list, tell_named
from phaseline.machines.kinds.gitops.observe import ASIDE, SYNC_FAILED, SYNCING
from phaseline.machines.kinds.kubernetes.assess import NOT_COMPARED, OUT_OF_SYNC, SYNCED
from phaseline.machines.kinds.kubernetes.health_labels import HEALTHS as HEALTH_LABELS
from phaseline.machines.kinds.kubernetes.health_labels import UNRULED
from phaseline.machines.kinds.kubernetes.observation import OBSERVER, SEEN_BY
from phaseline.machines.kinds.kubernetes.profiles import (
    DEGRADED,
    HEALTHY,
    MISSING,
    NO_HEALTH,
    NOT_ASSESSED,
    PAUSED,
    PROGRESSING,
    UNKNOWN,
)
from phaseline.machines.language.endings import MOVED
from phaseline.machines.language.predicates import AllBelow, AnyBelow, AttributeIs
from phaseline.machines.language.table import (
    ABSENT,
    DELETED,
    LIVE,
    SAME,
    Facet,
    FanOut,
    Field,
    Interpret,
    Retired,
    Row,
    Table,
    Timeout,
    View,
)
from phaseline.schemas.records import State

HEALTH, SYNC = 0, 1
"""Facets of a resource, and of an application."""
ALAUDA, ARGO, NEWER, OLDER = (
    (AttributeIs("application", "profile", names, or_of="application_set"),)
    for names in (("alauda", None), ("argocd", "argocd-3.3"), ("argocd",), ("argocd-3.3",))
)
IDLE = (AttributeIs("application", "operation", (None, *RESULTS)),)
SET_HERE = (*(field.name for field in (*SETTINGS, *SETTINGS_OF)), *OWN, *SEEN_BY)


def some(facet: int, phase: str) -> AnyBelow:
    """At least one resource of the application is in a phase."""
    return AnyBelow("application", "resource", (phase,), facet)


APART = (NO_HEALTH, ASIDE)
"""The healths of a resource that takes no part in that of its application."""


def says(name: str, value: str, facet: int) -> tuple[AttributeIs, AllBelow]:
    """Its controller says so, and no resource says anything else here."""
    silent = (NOT_ASSESSED, *APART) if facet == HEALTH else (NOT_COMPARED,)
    return AttributeIs("application", name, value), AllBelow("application", "resource", silent, facet)


def alone(name: str, value: str, flag: str) -> tuple[AttributeIs, AttributeIs]:
    """Its controller says so of the whole, and none of the resources that it names is so."""
    return AttributeIs("application", name, value), AttributeIs("application", flag, value=True)


def deletes(name: str) -> tuple[AttributeIs]:
    """It is being deleted, or has been for too long."""
    return (AttributeIs("application", name, value=True),)


NOTHING_LIVES = (some(HEALTH, MISSING), AllBelow("application", "resource", (MISSING, ASIDE), HEALTH))
NOTHING_TO_ASSESS = (some(HEALTH, NO_HEALTH), AllBelow("application", "resource", (MISSING, *APART), HEALTH))
"""Of nothing that lives there is a health. Argo CD calls that Healthy; it is not known to work."""
SPARED = (
    AttributeIs("application", "reported_health", HEALTHY),
    AllBelow("application", "resource", (NOT_ASSESSED, MISSING, *APART), HEALTH),
)
"""Its controller calls it Healthy, and beside what nobody assessed there is only what is missing."""

# fmt: off
APPLICATION = Table(
    kind="application",
    replaced_by=None,
    id=("set", "application"),
    parent="application_set",
    place=True,
    doc="An application: what one part of a repository declares for one destination. Its states follow from its "
        "resources, in the order of its profile.",
    intents=("configure", "sync"),
    derived=("inherit", "auto_sync", "owner_gone", "stuck", "unstepped"),
    attributes=(
        *SETTINGS,
        *SETTINGS_OF,
        *ATTRIBUTES,
        *REPORTED,
        *LEFT,
        *ROLLOUT,
        Field("resources_digest", str, "a digest of what it says of the resources that it names"),
        Field("evidence", dict, "what its controllers say beside its states: condition, status, message, since",
              many=True),
        *OBSERVER,
    ),
    carries=("observed",),
    fields={
        "sync": (
            Field("revision",  str,  "the revision to synchronise to"),
            Field("automatic", bool, "whether it begins automatically"),
            Field("retry",     bool, "whether it goes on with the last one, which failed; windows with syncOverrun "
                                     "are asked as of its beginning"),
        ),
        "observed": (*OPERATION, *REPORTED),
        "removed": (MOVED,),
        "stepped": ROLLOUT,
        "named": LISTED,
        "sync_finished": (
            Field("result",   str, "the result", RESULTS, required=True),
            Field("revision", str, "the revision that was synchronised to"),
        ),
    },
    interprets=(
        Interpret(("configure",), (), check_settings),
        Interpret(("sync",),      (), may_sync),
        Interpret(("observed",),  LEFT, read_deletion),
        Interpret(
            ("auto_sync",),
            (
                Field("begins", bool, "whether it begins now"),
                Field("again",  int,  "seconds until a window opens"),
                Field("why",    str,  "the window that prevents it"),
            ),
            auto_sync,
        ),
    ),
    facets=(
        Facet(
            name="health",
            healthy=HEALTHY,
            adopted=State(NOT_ASSESSED),
            message_names=("resource", HEALTH),
            unknown_parts=NOT_ASSESSED,
            parts_apart=APART,
            labels=(*HEALTH_LABELS, UNRULED),
            rows=(
                #   from               trigger          to
                Row((ABSENT, DELETED), "configure",     NOT_ASSESSED, assigns=SET_HERE, computes=schedule_sync),
                Row((LIVE,),           "configure",     SAME,         assigns=SET_HERE, computes=schedule_sync),
                Row((LIVE,),           "sync",          SAME,         when=IDLE, computes=begin_sync),
                Row((LIVE,),           "sync_finished", SAME,         computes=end_sync),
                Row((LIVE,),           "inherit",       SAME),
                Row((ABSENT, DELETED), "observed",      NOT_ASSESSED, computes=note_controller),
                Row((LIVE,),           "observed",      SAME,         computes=note_controller),
                Row((ABSENT,),         "stepped",       NOT_ASSESSED, computes=note_step),
                Row((LIVE,),           "stepped",       SAME,         computes=note_step),
                Row((LIVE,),           "unstepped",     SAME,         computes=forget_step),
                Row((ABSENT, DELETED), "named",         NOT_ASSESSED, computes=note_list),
                Row((LIVE,),           "named",         SAME,         computes=note_list),
                Row((LIVE,),           "stuck",         SAME,         computes=note_stuck),
                Row((LIVE,),           "removed",       DELETED),
                Row((LIVE,),           "owner_gone",    DELETED),
            ),
            views=(
                #    shows        while
                View(DEGRADED,    deletes("deletion_overdue"), message_from="deletion_message"),
                View(PROGRESSING, deletes("deleting"), message_from="deletion_message"),
                View(UNKNOWN,     (AttributeIs("application", "spec_invalid", True),), message_from="health_message"),
                *(View(health, alone("reported_health", health, "health_alone"), message_from="health_message")
                  for health in HEALTHS if health != HEALTHY),
                View(UNKNOWN,     (some(HEALTH, UNKNOWN),)),
                View(MISSING,     (*ALAUDA, some(HEALTH, MISSING))),
                View(DEGRADED,    (some(HEALTH, DEGRADED),)),
                View(MISSING,     (*OLDER, some(HEALTH, MISSING))),
                View(MISSING,     (*NEWER, *NOTHING_LIVES)),
                View(PAUSED,      (*ALAUDA, some(HEALTH, PAUSED))),
                View(PROGRESSING, (some(HEALTH, PROGRESSING),)),
                View(PAUSED,      (*ARGO, some(HEALTH, PAUSED))),
                View(HEALTHY,     (some(HEALTH, HEALTHY),)),
                *(View(health, says("reported_health", health, HEALTH), message_from="health_message")
                  for health in HEALTHS),
                View(HEALTHY,     (*NEWER, *SPARED), message_from="health_message"),
                View(HEALTHY,     (*ARGO, *NOTHING_TO_ASSESS)),
            ),
            retired=(Retired(HEALTHY, to=NOT_ASSESSED),),
            timeouts=(Timeout(PROGRESSING, "stuck", seconds_from="deletion_in"),),
        ),
        Facet(
            name="sync",
            healthy=SYNCED,
            adopted=State(NOT_COMPARED),
            message_names=("resource", SYNC),
            unknown_parts=NOT_COMPARED,
            parts_apart=(ASIDE,),
            evidence_from="evidence",
            labels=(*SYNCS, CANNOT_COMPARE, NOT_KNOWN),
            rows=(
                #   from               trigger       to
                Row((ABSENT, DELETED), "configure",  NOT_COMPARED),
                Row((ABSENT, DELETED), "observed",   NOT_COMPARED),
                Row((ABSENT,),         "stepped",    NOT_COMPARED),
                Row((ABSENT, DELETED), "named",      NOT_COMPARED),
                Row((LIVE,),           "auto_sync",  SAME,    given={"begins": True},  when=IDLE, computes=begin_sync),
                Row((LIVE,),           "auto_sync",  SAME,    given={"begins": False}, when=IDLE, computes=wait),
                Row((LIVE,),           "removed",    DELETED),
                Row((LIVE,),           "owner_gone", DELETED),
            ),
            views=(
                #    shows         while
                View(SYNC_FAILED,  (some(SYNC, SYNC_FAILED),)),
                View(SYNC_FAILED,  (AttributeIs("application", "hydration", "Failed"),), message_from="hydration_message"),
                View(SYNC_UNKNOWN, (AttributeIs("application", "sync_unknown", True),), message_from="sync_message"),
                View(OUT_OF_SYNC,  (some(SYNC, OUT_OF_SYNC),)),
                View(OUT_OF_SYNC,  alone("reported_sync", OUT_OF_SYNC, "sync_alone"), message_from="sync_message"),
                View(OUT_OF_SYNC,  says("reported_sync", OUT_OF_SYNC, SYNC), message_from="sync_message"),
                View(SYNCING,      (some(SYNC, SYNCING),)),
                View(SYNCED,       (some(SYNC, SYNCED),)),
                View(SYNCED,       says("reported_sync", SYNCED, SYNC), message_from="sync_message"),
            ),
            retired=(Retired(SYNCED, to=NOT_COMPARED),),
            timeouts=(Timeout(
                OUT_OF_SYNC, "auto_sync", seconds_from="auto_sync_in", restart_on="operation",
                repeat_after="auto_sync_again",
            ),),
        ),
    ),
    fan_outs=(FanOut(("told", "unnamed"), at="resource", on=("named",), rule=tell_named),),
    tallies=(("resource", HEALTH), ("resource", SYNC)),
)
