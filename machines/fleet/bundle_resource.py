"""The kind `bundle_resource`: one Kubernetes object of a bundle on one cluster.

Belongs here: its table, and the reader of its observations. Does not: health and comparison (`kubernetes`).
"""

from collections.abc import Mapping
from typing import Any

from phaseline.machines.kubernetes.assess import OUT_OF_SYNC
from phaseline.machines.kubernetes.diff.compare import COMPARISON
from phaseline.machines.kubernetes.health.plugins import revisions
from phaseline.machines.kubernetes.health.registry import HEALTH
from phaseline.machines.kubernetes.observation import ObservedPair, gone
from phaseline.machines.kubernetes.overrides import Overrides
from phaseline.machines.kubernetes.profiles import HEALTHY
from phaseline.machines.language.fields import reason_and_message
from phaseline.machines.language.predicates import Above, Scene
from phaseline.machines.language.rules import rule
from phaseline.machines.language.scripts import SCRIPTS
from phaseline.machines.language.table import (
    ABSENT,
    DELETED,
    LIVE,
    SAME,
    Attributes,
    Facet,
    Field,
    Interpret,
    Label,
    Refusal,
    Row,
    RuleEvent,
    Table,
    View,
)
from phaseline.schemas.records import State

WAIT_APPLIED, PENDING, READY, NOT_READY = "WaitApplied", "Pending", "Ready", "NotReady"
MODIFIED, MISSING, ORPHANED, UNKNOWN = "Modified", "Missing", "Orphaned", "Unknown"
ERR_APPLIED = "ErrApplied"
STATES = (READY, NOT_READY, MODIFIED, MISSING, ORPHANED)
EVER = (ABSENT, DELETED, LIVE)
LONGEST, SHOWN = 1_024, 10


@rule("fleet.observed", revision=1, uses=(HEALTH, COMPARISON, SCRIPTS, revisions))
def judged(scene: Scene, entity_id: str, _: Attributes, happened: RuleEvent) -> Mapping[str, Any] | Refusal:
    """The state that the two manifests show: Missing, Orphaned, Modified, NotReady or Ready, the first that applies."""
    pair = ObservedPair.of(happened.data)
    if (wrong := pair.mismatch(entity_id)) is not None:
        return wrong
    live, desired, is_known = pair
    if live is None and is_known and desired is None:
        return gone(is_known=scene.above(entity_id, "bundle_resource") is not None)
    if live is None:
        return {"state": MISSING, "why": "it is declared, and not in the cluster"}
    if is_known and desired is None:
        return {"state": ORPHANED, "why": "it is in the cluster, and not declared any more"}
    found = pair.assess(Overrides(), scene.scripts, happened.time)
    if found.sync == OUT_OF_SYNC:
        places = ", ".join(one.pointer for one in found.differences[:SHOWN])
        return {"state": MODIFIED, "why": f"{found.why}: {places}"[:LONGEST]}
    if found.health is not None and found.health.status != HEALTHY:
        return {"state": NOT_READY, "why": f"{found.health.status}: {found.health.message}".rstrip(": ")[:LONGEST]}
    return {"state": READY, "why": ""}


@rule("fleet.note_reason", revision=1)
def noted(attributes: Attributes, happened: RuleEvent) -> Attributes:
    """Notes the reason."""
    said = happened.data.get("why")
    return {**attributes, "why": reason_and_message(happened) if said is None else said}


# fmt: off
BUNDLE_RESOURCE = Table(
    kind="bundle_resource",
    id=("repo", "bundle", "cluster", "kind", "namespace", "name"),
    parent="bundle_deployment",
    doc="One Kubernetes object of a bundle on one cluster. `kind` is `<group>:<Kind>`, `core:<Kind>` for the core group; `namespace` is `-` where it has none.",
    intents=(),
    derived=("owner_gone",),
    attributes=(Field("why", str, "why it is not ready"),),
    fields={
        "observed": (
            Field("live",    dict, "the manifest in the cluster; null where there is none", required=True, null=True),
            Field("desired", dict, "the manifest from Git; null where none is declared, left out where that is not known now"),
        ),
    },
    interprets=(Interpret(
        ("observed",),
        (
            Field("state", str,  "what it is", STATES),
            Field("why",   str,  "why"),
            Field("gone",  bool, "it is neither declared nor in the cluster"),
        ),
        judged,
    ),),
    facets=(Facet(
        name="state",
        healthy=READY,
        message_from="why",
        adopted=State(UNKNOWN),
        labels=(
            #     phase         condition  zh        en
            Label(WAIT_APPLIED, None,      "待应用",  "Wait applied"),
            Label(PENDING,      None,      "待处理",  "Pending"),
            Label(READY,        None,      "就绪",    "Ready"),
            Label(NOT_READY,    None,      "未就绪",  "Not ready"),
            Label(MODIFIED,     None,      "已修改",  "Modified"),
            Label(MISSING,      None,      "缺失",    "Missing"),
            Label(ORPHANED,     None,      "孤立",    "Orphaned"),
            Label(UNKNOWN,      None,      "未知",    "Unknown"),
        ),
        rows=(
            #   from                                    trigger       to
            Row((LIVE,),                                "observed",   DELETED,  given={"gone": True}),
            *(Row(EVER,                                 "observed",   state,    given={"state": state}, computes=noted) for state in STATES),
            Row((ABSENT, DELETED, ORPHANED),            "declared",   UNKNOWN,  computes=noted),
            Row((UNKNOWN, READY, NOT_READY, MODIFIED, MISSING), "declared", SAME),
            Row((UNKNOWN, MISSING),                     "undeclared", DELETED),
            Row((READY, NOT_READY, MODIFIED, ORPHANED), "undeclared", ORPHANED, computes=noted),
            Row((UNKNOWN, READY, NOT_READY, MODIFIED, MISSING), "deleted", MISSING, computes=noted),
            Row((ORPHANED,),                            "deleted",    DELETED),
            Row(EVER,                                   "ready",      READY,     computes=noted),
            Row(EVER,                                   "not_ready",  NOT_READY, computes=noted),
            Row(EVER,                                   "modified",   MODIFIED,  computes=noted),
            Row(EVER,                                   "missing",    MISSING,   computes=noted),
            Row(EVER,                                   "orphaned",   ORPHANED,  computes=noted),
            Row((LIVE,),                                "owner_gone", DELETED),
        ),
        views=(
            #    shows         while
            View(WAIT_APPLIED, (Above("bundle_deployment", (WAIT_APPLIED, ERR_APPLIED), base=True),), base=(UNKNOWN,)),
            View(PENDING,      (Above("bundle_deployment", (PENDING,), base=True),),                  base=(UNKNOWN,)),
        ),
    ),),
)
