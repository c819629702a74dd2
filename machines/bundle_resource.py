"""One Kubernetes object of a bundle on one cluster, as `spec: Fleet` has it.

Belongs here: its table, and what an observation says in its words. Does not: health and comparison (`assessing`).
"""

from collections.abc import Mapping
from typing import Any

from phaseline.machines.assessing import OUT_OF_SYNC, assessed
from phaseline.machines.compare import COMPARISON
from phaseline.machines.customs import Customs
from phaseline.machines.fields import why
from phaseline.machines.health import HEALTH
from phaseline.machines.health.offered import revisions
from phaseline.machines.manifest_id import another
from phaseline.machines.predicates import Above, Scene
from phaseline.machines.profiles import HEALTHY
from phaseline.machines.programs import SCRIPTS
from phaseline.machines.rules import rule
from phaseline.machines.table import (
    ABSENT,
    DELETED,
    LIVE,
    SAME,
    Attributes,
    Facet,
    Field,
    Happened,
    Label,
    Read,
    Refused,
    Row,
    Table,
    View,
)
from phaseline.schemas.records import SECOND, State

WAIT_APPLIED, PENDING, READY, NOT_READY = "WaitApplied", "Pending", "Ready", "NotReady"
MODIFIED, MISSING, ORPHANED, UNKNOWN = "Modified", "Missing", "Orphaned", "Unknown"
ERR_APPLIED = "ErrApplied"
STATES = (READY, NOT_READY, MODIFIED, MISSING, ORPHANED)
EVER = (ABSENT, DELETED, LIVE)
LONGEST, SHOWN = 1_024, 10


@rule("fleet.observed", revision=1, uses=(HEALTH, COMPARISON, SCRIPTS, revisions))
def judged(scene: Scene, entity_id: str, _: Attributes, happened: Happened) -> Mapping[str, Any] | Refused:
    """Missing, Orphaned, Modified, NotReady or Ready, by the two manifests: the first that holds."""
    data = happened.data
    live, desired, is_known = data.get("live"), data.get("desired"), "desired" in data
    for name, one in (("live", live), ("desired", desired)):
        if one is not None and (wrong := another(one, entity_id)):
            return Refused(f"data.{name} {wrong}", invalid=True)
    if live is None and is_known and desired is None:
        known = scene.above(entity_id, "bundle_resource") is not None
        return (
            {"gone": True} if known else Refused("it is neither in Git nor in the cluster: there is nothing to observe")
        )
    if live is None:
        return {"state": MISSING, "why": "it is declared, and not in the cluster"}
    if is_known and desired is None:
        return {"state": ORPHANED, "why": "it is in the cluster, and not declared any more"}
    found = assessed(live, desired, Customs(), scene.programs, now=happened.time // SECOND, is_known=is_known)
    if found.sync == OUT_OF_SYNC:
        places = ", ".join(one.pointer for one in found.differences[:SHOWN])
        return {"state": MODIFIED, "why": f"{found.why}: {places}"[:LONGEST]}
    if found.health is not None and found.health.status != HEALTHY:
        return {"state": NOT_READY, "why": f"{found.health.status}: {found.health.message}".rstrip(": ")[:LONGEST]}
    return {"state": READY, "why": ""}


@rule("fleet.note_reason", revision=1)
def noted(attributes: Attributes, happened: Happened) -> Attributes:
    """Notes why."""
    said = happened.data.get("why")
    return {**attributes, "why": why(happened) if said is None else said}


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
    read=(Read(
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
        says="why",
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
