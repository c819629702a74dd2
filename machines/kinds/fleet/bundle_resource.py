"""The kind `bundle_resource`: one Kubernetes object of a bundle on one cluster.

Belongs here: its table, and the reader of its observations. Does not: health and comparison (`kubernetes`).
"""

from collections.abc import Mapping
from typing import Any

from phaseline.machines.kinds.fleet.advice import FLEET
from phaseline.machines.kinds.kubernetes import observation
from phaseline.machines.kinds.kubernetes.assess import OUT_OF_SYNC
from phaseline.machines.kinds.kubernetes.diff.compare import COMPARISON
from phaseline.machines.kinds.kubernetes.health.plugins import revisions
from phaseline.machines.kinds.kubernetes.health.registry import HEALTH
from phaseline.machines.kinds.kubernetes.observation import (
    FORMER,
    KIND_FACTS,
    LISTED,
    OBJECT,
    VERSION,
    ObservedPair,
    gone,
    late,
    object_of,
    with_version,
)
from phaseline.machines.kinds.kubernetes.overrides import Overrides
from phaseline.machines.kinds.kubernetes.profiles import HEALTHY, NOT_ASSESSED
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
    Live,
    Refusal,
    Row,
    RuleEvent,
    Table,
    Timeout,
    View,
    advised,
)
from phaseline.schemas.records import State

WAIT_APPLIED, PENDING, READY, NOT_READY = "WaitApplied", "Pending", "Ready", "NotReady"
MODIFIED, MISSING, ORPHANED, UNKNOWN = "Modified", "Missing", "Orphaned", "Unknown"
NOT_OWNED, COUNTED = "NotOwned", "Counted"
ERR_APPLIED = "ErrApplied"
STATES = (READY, NOT_READY, NOT_ASSESSED, MODIFIED, MISSING, ORPHANED)
DECLARED = (UNKNOWN, COUNTED, READY, NOT_READY, NOT_ASSESSED, MODIFIED, MISSING, NOT_OWNED)
EVER = (ABSENT, DELETED, LIVE)
LONGEST, SHOWN = 1_024, 10
SAID = (
    ("ready", READY), ("not_ready", NOT_READY), ("modified", MODIFIED), ("missing", MISSING), ("orphaned", ORPHANED),
    ("not_owned", NOT_OWNED), ("counted", COUNTED), ("unknown", UNKNOWN),
)  # fmt: skip
"""The triggers of agents that have judged by themselves, each with its state."""


@rule("fleet.observed", revision=7, uses=(HEALTH, COMPARISON, SCRIPTS, revisions))
def read_observation(
    scene: Scene, entity_id: str, attributes: Attributes, event: RuleEvent
) -> Mapping[str, Any] | Refusal:
    """The state that the two manifests show, the first that applies.

    Missing, Orphaned, Modified, NotReady, NotAssessed or Ready. A kind without a status is ready once it is there.
    """
    pair = ObservedPair.of(event.data)
    if (wrong := pair.mismatch(entity_id)) is not None:
        return wrong
    live, desired, is_known = pair[:3]
    before = scene.above(entity_id, "bundle_resource")
    if (
        old := late(before, event.data, is_gone=before is not None and before.facets[0].base.phase == MISSING)
    ) is not None:
        return old
    if live is None and is_known and desired is None:
        return gone(is_known=before is not None)
    return {**_judged(pair, scene, attributes, event), **object_of(before, live)}


def _judged(pair: ObservedPair, scene: Scene, attributes: Attributes, event: RuleEvent) -> Mapping[str, Any]:
    live, desired, is_known = pair[:3]
    if live is None:
        return {"state": MISSING, "why": "it is declared, and not in the cluster"}
    if is_known and desired is None:
        return {"state": ORPHANED, "why": "it is in the cluster, and not declared any more"}
    found = pair.assess(Overrides(), scene.scripts, event.time)
    if found.sync == OUT_OF_SYNC:
        places = ", ".join(one.pointer for one in found.differences[:SHOWN])
        return {"state": MODIFIED, "why": f"{found.why}: {places}"[:LONGEST]}
    if found.health is not None and found.health.is_assessed and found.health.status != HEALTHY:
        return {"state": NOT_READY, "why": f"{found.health.status}: {found.health.message}".rstrip(": ")[:LONGEST]}
    if found.health is not None and found.health.status == NOT_ASSESSED:
        return {"state": NOT_ASSESSED, "why": found.health.message[:LONGEST]}
    if is_known and found.sync is None and not found.is_hook:
        return {"state": NOT_ASSESSED, "why": found.why[:LONGEST]}
    return {"state": READY, "why": "", **observation.until(found.health, attributes, event.time)}


@rule("fleet.note_reason", revision=2)
def note_reason(attributes: Attributes, event: RuleEvent) -> Attributes:
    """Notes the reason."""
    reason = event.data.get("why")
    return {**observation.without_until(attributes), "why": reason_and_message(event) if reason is None else reason}


@rule("fleet.note_expired", revision=1)
def note_expired(attributes: Attributes, _: RuleEvent) -> Attributes:
    """Notes that the time is over until which the object was ready by what it says."""
    return {**observation.without_until(attributes), "why": observation.ended(attributes)}


@rule("fleet.note_observation", revision=3)
def note_observation(attributes: Attributes, event: RuleEvent) -> Attributes:
    """Notes the reason, and which object was observed."""
    names = (OBJECT.name, FORMER.name, *observation.UNTIL_NAMES)
    after = {**note_reason(attributes, event), **{name: event.data[name] for name in names if name in event.data}}
    return with_version(attributes, after, event.data)


@rule("fleet.note_more", revision=1)
def note_more(attributes: Attributes, event: RuleEvent) -> Attributes:
    """Notes the reason for the state that it is in already. What was said of it stays where an event says no more."""
    return {**attributes, "why": said} if (said := reason_and_message(event)) else attributes


# fmt: off
BUNDLE_RESOURCE = Table(
    kind="bundle_resource",
    replaced_by=None,
    id=("repo", "bundle", "cluster", "kind", "namespace", "name"),
    parent="bundle_deployment",
    doc="One Kubernetes object of a bundle on one cluster. `kind` is `<group>:<Kind>`, `core:<Kind>` for the core "
        "group; `namespace` is `-` if it has none.",
    intents=(),
    derived=(observation.EXPIRED, "owner_gone", "unlisted"),
    attributes=(Field("why", str, "why it is not ready"), *observation.UNTIL, OBJECT, VERSION, FORMER),
    carries=("observed",),
    fields={
        "undeclared": (Field("lives", bool, "false if nothing says that it still lives: it is gone then"),),
        "observed": (
            Field("live",    dict, "the manifest in the cluster; null if there is none", required=True, null=True),
            Field("desired", dict, "the manifest from Git; null if none is declared, left out if that is not known"),
            KIND_FACTS,
            LISTED,
        ),
    },
    interprets=(Interpret(
        ("observed",),
        (
            Field("state", str,  "the state that the manifests show", STATES),
            Field("why",   str,  "the reason for the state"),
            Field("gone",  bool, "whether it is neither declared nor in the cluster"),
        ),
        read_observation,
    ),),
    facets=(Facet(
        name="state",
        healthy=READY,
        message_from="why",
        adopted=State(UNKNOWN),
        labels=advised(FLEET, (
            #     phase         condition en              others
            Label(WAIT_APPLIED, None, "Wait applied", {"zh": "待应用"}, state_class="busy"),
            Label(PENDING,      None, "Pending",      {"zh": "待处理"}, state_class="busy"),
            Label(READY,        None, "Ready",        {"zh": "就绪"}),
            Label(NOT_READY,    None, "Not ready",    {"zh": "未就绪"}, state_class="bad"),
            Label(MODIFIED,     None, "Modified",     {"zh": "已修改"}, state_class="bad"),
            Label(MISSING,      None, "Missing",      {"zh": "缺失"},   state_class="bad"),
            Label(ORPHANED,     None, "Orphaned",     {"zh": "孤立"},   state_class="bad"),
            Label(NOT_OWNED,    None, "Not owned",    {"zh": "非己有"}, state_class="bad"),
            Label(COUNTED,      None, "Counted",      {"zh": "已计数"}, state_class="unknown"),
            Label(NOT_ASSESSED, None, "Not assessed", {"zh": "未评估"}, state_class="unknown"),
            Label(UNKNOWN,      None, "Unknown",      {"zh": "未知"},   state_class="unknown"),
        )),
        rows=(
            #   from                                    trigger       to
            Row((LIVE,),                                "observed",   DELETED,  given={"gone": True}),
            *(Row(EVER,                                 "observed",   state,    given={"state": state},
                  computes=note_observation) for state in STATES),
            Row((ABSENT, DELETED, ORPHANED),            "declared",   UNKNOWN,  computes=note_reason),
            Row(DECLARED,                               "declared",   SAME),
            Row((LIVE,),                                "undeclared", DELETED,  given={"lives": False}),
            Row((UNKNOWN, MISSING, NOT_OWNED),          "undeclared", DELETED),
            Row((COUNTED, READY, NOT_READY, NOT_ASSESSED, MODIFIED, ORPHANED), "undeclared", ORPHANED, computes=note_reason),
            Row((MISSING,),                             "deleted",    SAME,     computes=note_more),
            Row(tuple(one for one in DECLARED if one != MISSING), "deleted", MISSING, computes=note_reason),
            Row((ORPHANED,),                            "deleted",    DELETED),
            *(Row((state,),                             trigger,      SAME,     computes=note_more) for trigger, state in SAID),
            *(Row((ABSENT, DELETED, Live(but=(state,))), trigger,     state,    computes=note_reason) for trigger, state in SAID),
            Row((READY,),                               observation.EXPIRED, NOT_READY, computes=note_expired),
            Row((LIVE,),                                "unlisted",   DELETED),
            Row((LIVE,),                                "owner_gone", DELETED),
        ),
        timeouts=(Timeout(READY, observation.EXPIRED, seconds_from=observation.EXPIRES_IN, restart_on=observation.EXPIRES),),
        views=(
            #    shows         while
            View(WAIT_APPLIED, (Above("bundle_deployment", (WAIT_APPLIED, ERR_APPLIED), base=True),), base=(UNKNOWN,)),
            View(PENDING,      (Above("bundle_deployment", (PENDING,), base=True),),                  base=(UNKNOWN,)),
        ),
    ),),
)
