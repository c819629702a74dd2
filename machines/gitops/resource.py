"""The kind `resource`: one Kubernetes object of an application.

Belongs here: its table. Does not: reading its manifests (`observe`).
"""

from collections.abc import Mapping
from typing import Any

from phaseline.machines.gitops import observe as observed
from phaseline.machines.gitops.labels import SYNCS
from phaseline.machines.gitops.observe import ASIDE, NOT_COMPARED, SYNC_FAILED, SYNCING
from phaseline.machines.kubernetes.assess import OUT_OF_SYNC, SYNCED
from phaseline.machines.kubernetes.health_labels import HEALTHS, UNRULED
from phaseline.machines.kubernetes.profiles import (
    DEGRADED,
    HEALTHY,
    MISSING,
    NOT_ASSESSED,
    PAUSED,
    PROGRESSING,
    UNKNOWN,
)
from phaseline.machines.language.fields import reason_and_message
from phaseline.machines.language.rules import rule
from phaseline.machines.language.table import (
    ABSENT,
    DELETED,
    LIVE,
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
ASSESSED = (UNKNOWN, MISSING, DEGRADED, PAUSED, PROGRESSING, HEALTHY, NOT_ASSESSED, ASIDE)


@rule("gitops.note_observed", revision=1)
def noted(attributes: Mapping[str, Any], happened: RuleEvent) -> Mapping[str, Any]:
    """Notes the results of the observation."""
    found = {name: happened.data[name] for name in observed.NOTED if name in happened.data}
    kept = {name: value for name, value in attributes.items() if name != "overdue" or value == found.get("progress")}
    return {**kept, **found}


@rule("gitops.note_overdue", revision=1)
def overdue(attributes: Mapping[str, Any], _: RuleEvent) -> Mapping[str, Any]:
    """Notes the progress at the deadline."""
    message = observed.too_long(attributes.get("deadline"), attributes.get("health_message", ""))
    return {**attributes, "overdue": attributes.get("progress", ""), "health_message": message}


@rule("gitops.note_sync", revision=1)
def synced(attributes: Mapping[str, Any], happened: RuleEvent) -> Mapping[str, Any]:
    """Notes the event's reason and message."""
    return {**attributes, "sync_message": reason_and_message(happened)}


# fmt: off
RESOURCE = Table(
    kind="resource",
    id=("set", "application", "kind", "namespace", "name"),
    parent="application",
    doc="One Kubernetes object that an application deploys. `kind` is `<group>:<Kind>`, `core:<Kind>` for the core group; `namespace` is `-` where it has none.",
    intents=(),
    derived=("deadline", "owner_gone"),
    attributes=(
        Field("health_message", str,  "why its health is what it is"),
        Field("sync_message",   str,  "why its sync is what it is"),
        Field("differs",        str,  f"where the two manifests differ, as JSON pointers: the first {observed.SHOWN}", many=True),
        Field("differing",      int,  "at how many places they differ"),
        Field("ignored",        int,  "how many differences ignore rules hide"),
        Field("rule_problems",  str,  "ignore rules that did nothing, and why", many=True),
        Field("live_digest",    str,  "of the manifest in the cluster, without its status and what the server owns, but with what was applied last"),
        Field("desired_digest", str,  "of the manifest from Git"),
        Field("settings",       str,  "a digest of the settings by which it was judged"),
        Field("compared",       str,  "what the last comparison came to"),
        Field("compared_why",   str,  "why"),
        Field("progress",       str,  "a digest of its counts: another one means that it got on"),
        Field("deadline",       int,  "seconds that it may be Progressing without getting on; 0 for ever"),
        Field("overdue",        str,  "how far it had come when that time was over"),
    ),
    fields={
        "observed": (
            Field("live",    dict, "the manifest in the cluster; null where there is none", required=True, null=True),
            Field("desired", dict, "the manifest from Git; null where none is declared, left out where that is not known now"),
        ),
    },
    interprets=(Interpret(("observed",), observed.WORDS, observed.said),),
    facets=(
        Facet(
            name="health",
            healthy=HEALTHY,
            message_from="health_message",
            adopted=State(NOT_ASSESSED),
            labels=(*HEALTHS, UNRULED, Label(ASIDE, None, "不参与", "Takes no part (a hook)")),
            rows=(
                #   from                trigger           to
                Row((LIVE,),            "observed",       DELETED,      given={"gone": True}),
                *(Row(EVER,             "observed",       health,       given={"health": health}, computes=noted) for health in ASSESSED),
                Row((PROGRESSING,),     "deadline",       DEGRADED,     computes=overdue),
                Row((ABSENT, DELETED),  "sync_started",   NOT_ASSESSED),
                Row((ABSENT, DELETED),  "sync_succeeded", NOT_ASSESSED),
                Row((ABSENT, DELETED),  "sync_failed",    NOT_ASSESSED),
                Row((LIVE,),            "removed",        DELETED),
                Row((LIVE,),            "owner_gone",     DELETED),
            ),
            timeouts=(Timeout(PROGRESSING, "deadline", seconds_from="deadline", restart_on="progress"),),
        ),
        Facet(
            name="sync",
            healthy=SYNCED,
            message_from="sync_message",
            adopted=State(NOT_COMPARED),
            labels=(*SYNCS, Label(NOT_COMPARED, None, "未比较", "NotCompared")),
            rows=(
                #   from                         trigger           to
                Row((LIVE,),                     "observed",       DELETED,      given={"gone": True}),
                Row(EVER,                        "observed",       SYNCED,       given={"sync": SYNCED}),
                Row((ABSENT, DELETED, SETTLED),  "observed",       OUT_OF_SYNC,  given={"sync": OUT_OF_SYNC}),
                Row(EVER,                        "observed",       NOT_COMPARED, given={"sync": NOT_COMPARED}),
                Row(EVER,                        "sync_started",   SYNCING,      computes=synced),
                Row(EVER,                        "sync_succeeded", SYNCED,       computes=synced),
                Row(EVER,                        "sync_failed",    SYNC_FAILED,  computes=synced),
                Row((LIVE,),                     "removed",        DELETED),
                Row((LIVE,),                     "owner_gone",     DELETED),
            ),
        ),
    ),
)
