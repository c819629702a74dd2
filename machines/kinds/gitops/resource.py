"""The kind `resource`: one Kubernetes object of an application.

Belongs here: its table. Does not: reading its manifests (`observe`).
"""

from collections.abc import Mapping
from typing import Any

from phaseline.machines.kinds.gitops import named as naming
from phaseline.machines.kinds.gitops import observe
from phaseline.machines.kinds.gitops.happenings import HAPPENINGS, SEEN, note_events, of_this_life
from phaseline.machines.kinds.gitops.labels import SYNCS, UNCOMPARED
from phaseline.machines.kinds.gitops.observe import ASIDE, SYNC_FAILED, SYNCING, note_expired, note_overdue
from phaseline.machines.kinds.kubernetes import observation
from phaseline.machines.kinds.kubernetes.assess import NOT_COMPARED, OUT_OF_SYNC, SYNCED
from phaseline.machines.kinds.kubernetes.health_labels import HEALTHS, UNRULED
from phaseline.machines.kinds.kubernetes.observation import FORMER, KIND_FACTS, LISTED, OBJECT, VERSION, with_version
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
from phaseline.machines.language.fields import reason_and_message
from phaseline.machines.language.predicates import AttributeIs
from phaseline.machines.language.rules import rule
from phaseline.machines.language.table import (
    ABSENT,
    DELETED,
    LIVE,
    SAME,
    Facet,
    Field,
    Interpret,
    Label,
    Live,
    Row,
    RuleEvent,
    Table,
    Timeout,
)
from phaseline.schemas.records import State

SETTLED = Live(but=(SYNCING, SYNC_FAILED))
EVER = (ABSENT, DELETED, LIVE)
UNSAID = (AttributeIs("resource", "unsaid", value=True),)
BY_NAME, SYNC_BY_NAME = ((AttributeIs("resource", "by_name", what),) for what in (naming.WHOLE, naming.SYNC_ONLY))
ASSESSED = (UNKNOWN, MISSING, DEGRADED, PAUSED, PROGRESSING, HEALTHY, NOT_ASSESSED, NO_HEALTH, ASIDE)


@rule("gitops.note_observed", revision=8)
def note_observed(attributes: Mapping[str, Any], event: RuleEvent) -> Mapping[str, Any]:
    """Notes the results of the observation. Of what was known by name, only a sync that is not compared here stays."""
    data = event.data
    found = {name: data[name] for name in observe.NOTED if name in data}
    dropped = ("evidence", "concerns", *observation.UNTIL_NAMES, *(("by_name", "prune") if "sync" in data else ()))
    kept = {name: value for name, value in attributes.items() if name not in dropped}
    kept |= {"by_name": naming.SYNC_ONLY} if "by_name" in kept else {}
    noted = {**of_this_life(kept, data.get("uid")), **found}
    if "overdue" in noted and noted["overdue"] != found.get("progress"):
        del noted["overdue"]
    return with_version(attributes, noted, data)


@rule("gitops.note_owns", revision=1)
def note_owns(attributes: Mapping[str, Any], event: RuleEvent) -> Mapping[str, Any]:
    """Notes how many objects that it owns are not shown."""
    kept = {name: value for name, value in attributes.items() if name != "left_out"}
    return {**kept, "left_out": event.data["left_out"]} if event.data["left_out"] else kept


@rule("gitops.note_more", revision=1)
def note_more(attributes: Mapping[str, Any], event: RuleEvent) -> Mapping[str, Any]:
    """Notes more of a failure that is known. What was said of it stays where an event says no more."""
    return {**attributes, "sync_message": said} if (said := reason_and_message(event)) else attributes


@rule("gitops.note_sync", revision=1)
def note_sync(attributes: Mapping[str, Any], event: RuleEvent) -> Mapping[str, Any]:
    """Notes the event's reason and message."""
    return {**attributes, "sync_message": reason_and_message(event)}


# fmt: off
RESOURCE = Table(
    kind="resource",
    replaced_by=None,
    id=("set", "application", "kind", "namespace", "name"),
    parent="application",
    doc="One Kubernetes object that an application deploys. `kind` is `<group>:<Kind>`, `core:<Kind>` for the core "
        "group; `namespace` is `-` if it has none.",
    intents=(),
    derived=("deadline", observation.EXPIRED, "owner_gone", "told", "unnamed"),
    attributes=(
        Field("health_message", str,  "the reason for its health"),
        Field("sync_message",   str,  "the reason for its sync"),
        Field("evidence",       dict, "the conditions on which its health rests: condition, status, reason, message, since",
              many=True),
        Field("concerns",       dict, "conditions that say of a failure and do not decide its health", many=True),
        Field("differs",        str,  f"the first {observe.SHOWN} paths that differ, as JSON pointers", many=True),
        Field("differing",      int,  "the number of paths at which the manifests differ"),
        Field("ignored",        int,  "the number of differences that ignore rules hide"),
        Field("rule_problems",  str,  "ignore rules without any effect, and why", many=True),
        Field("live_digest",    str,  "a digest of the live manifest, without status and server-owned fields"),
        Field("desired_digest", str,  "a digest of the manifest from Git"),
        Field("settings",       str,  "a digest of the settings that were used"),
        Field("compared",       str,  "the result of the last comparison"),
        Field("compared_why",   str,  "the reason for that result"),
        Field("progress",       str,  "a digest of its counts, which changes when it makes progress"),
        Field("deadline",       int,  "seconds that it may be Progressing without progress; 0 for ever"),
        Field("overdue",        str,  "the digest of its counts when that time was over"),
        *observation.UNTIL,
        Field("unsaid",         bool, "whether it has not reported any status yet"),
        Field("hook",           str,  "the phases of a synchronisation in which it is a hook, with commas"),
        Field("wave",           int,  "the wave in which it is synchronised"),
        Field("by_name",        str,  "what of it is known only because its application names it: all, or its sync",
              (naming.WHOLE, naming.SYNC_ONLY)),
        Field("prune",          bool, "whether its application says that it is to be pruned"),
        Field("left_out",       int,  "at least how many of the objects that it owns are not shown: a number with one digit that is not 0"),
        OBJECT,
        VERSION,
        FORMER,
        HAPPENINGS,
    ),
    carries=("observed",),
    fields={
        "told": naming.TOLD,
        "removed": (MOVED,),
        "events_seen": SEEN,
        "owns": (
            Field("left_out", int, "at least how many of the objects that it owns are not reported", required=True, least=0),
        ),
        "observed": (
            Field("live",    dict, "the manifest in the cluster; null if there is none", required=True, null=True),
            Field("desired", dict, "the manifest from Git; null if none is declared, left out if that is not known"),
            KIND_FACTS,
            LISTED,
        ),
    },
    interprets=(Interpret(("observed",), observe.FIELDS, observe.read_observation),),
    facets=(
        Facet(
            name="health",
            healthy=HEALTHY,
            message_from="health_message",
            evidence_from="evidence",
            news_from="events",
            explained_by="owned_object",
            adopted=State(NOT_ASSESSED),
            labels=(
                *HEALTHS,
                UNRULED,
                Label(NO_HEALTH, None, "NoHealth",               {"zh": "无健康状态"}, state_class="excused"),
                Label(ASIDE,     None, "Takes no part (a hook)", {"zh": "不参与"},     state_class="excused"),
            ),
            rows=(
                #   from                trigger           to
                Row((LIVE,),            "observed",       DELETED,      given={"gone": True}),
                *(Row(EVER,             "observed",       health,       given={"health": health},
                      computes=note_observed) for health in ASSESSED),
                Row((ABSENT, DELETED),  "named",          NOT_ASSESSED, computes=naming.note_name),
                Row((LIVE,),            "named",          SAME),
                *(Row((LIVE,),          "told",           health,       given={"health": health},
                      computes=naming.note_told) for health in naming.HEALTHS),
                Row((LIVE,),            "told",           SAME,         computes=naming.note_told),
                Row((LIVE,),            "unnamed",        DELETED,      when=BY_NAME),
                Row((LIVE,),            "unnamed",        SAME,         computes=naming.forget_named),
                Row((LIVE,),            "events_seen",    SAME,         computes=note_events),
                Row((LIVE,),            "owns",           SAME,         computes=note_owns),
                Row((PROGRESSING,),     "deadline",       UNKNOWN,      when=UNSAID, computes=note_overdue),
                Row((PROGRESSING,),     "deadline",       DEGRADED,     computes=note_overdue),
                Row((HEALTHY,),         observation.EXPIRED,   DEGRADED,     computes=note_expired),
                Row((ABSENT,),          "sync_started",   NOT_ASSESSED),
                Row((ABSENT,),          "sync_succeeded", NOT_ASSESSED),
                Row((ABSENT,),          "sync_failed",    NOT_ASSESSED),
                Row((LIVE,),            "removed",        DELETED),
                Row((LIVE,),            "owner_gone",     DELETED),
            ),
            timeouts=(
                Timeout(PROGRESSING, "deadline", seconds_from="deadline", restart_on="progress"),
                Timeout(HEALTHY, observation.EXPIRED, seconds_from=observation.EXPIRES_IN, restart_on=observation.EXPIRES),
            ),
        ),
        Facet(
            name="sync",
            healthy=SYNCED,
            message_from="sync_message",
            adopted=State(NOT_COMPARED),
            labels=(*SYNCS, UNCOMPARED),
            rows=(
                #   from                         trigger           to
                Row((LIVE,),                     "observed",       DELETED,      given={"gone": True}),
                Row(EVER,                        "observed",       SYNCED,       given={"sync": SYNCED}),
                Row((ABSENT, DELETED, SETTLED),  "observed",       OUT_OF_SYNC,  given={"sync": OUT_OF_SYNC}),
                Row(EVER,                        "observed",       NOT_COMPARED, given={"sync": NOT_COMPARED}),
                Row((ABSENT, DELETED),           "named",          NOT_COMPARED),
                *(Row((LIVE,),                   "told",           sync,         given={"sync": sync})
                  for sync in naming.SYNCS),
                Row((LIVE,),                     "unnamed",        DELETED,      when=BY_NAME),
                Row((LIVE,),                     "unnamed",        NOT_COMPARED, when=SYNC_BY_NAME),
                Row((ABSENT, LIVE),              "sync_started",   SYNCING,      computes=note_sync),
                Row((ABSENT, LIVE),              "sync_succeeded", SYNCED,       computes=note_sync),
                Row((SYNC_FAILED,),              "sync_failed",    SAME,         computes=note_more),
                Row((ABSENT, Live(but=(SYNC_FAILED,))), "sync_failed", SYNC_FAILED, computes=note_sync),
                Row((LIVE,),                     "removed",        DELETED),
                Row((LIVE,),                     "owner_gone",     DELETED),
            ),
        ),
    ),
)
