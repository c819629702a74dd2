"""The kind `bundle_deployment`: one bundle on one cluster.

Belongs here: its table, and the stage that its deployment ids show. Does not: its resources (`bundle_resource`).
"""

from collections.abc import Mapping
from typing import Any

from phaseline.machines.fleet.bundle_resource import (
    ERR_APPLIED,
    MISSING,
    MODIFIED,
    NOT_READY,
    ORPHANED,
    PENDING,
    READY,
    WAIT_APPLIED,
)
from phaseline.machines.language.predicates import AnyBelow, AttributeIs, Scene
from phaseline.machines.language.rules import rule
from phaseline.machines.language.table import (
    ABSENT,
    DELETED,
    LIVE,
    Attributes,
    Cascade,
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

OUT_OF_SYNC = "OutOfSync"
STAGES = (PENDING, ERR_APPLIED, WAIT_APPLIED, OUT_OF_SYNC, READY)
EVER = (ABSENT, DELETED, LIVE)


def staged(_: Scene, __: str, attributes: Attributes, happened: RuleEvent) -> Mapping[str, Any] | Refusal:
    """The stage that the deployment ids show."""
    ids = {name: happened.data.get(name, attributes.get(name)) for name in ("target", "staged", "applied")}
    failed = happened.data.get("failed", attributes.get("failed"))
    if ids["target"] is None:
        return {"stage": PENDING}
    if ids["applied"] != ids["target"]:
        return {"stage": ERR_APPLIED if failed == ids["target"] else WAIT_APPLIED}
    return {"stage": OUT_OF_SYNC if ids["staged"] not in (None, ids["target"]) else READY}


def _reads(
    trigger: str, scene: Scene, entity_id: str, attributes: Attributes, happened: RuleEvent
) -> Mapping[str, Any] | Refusal:
    """The words for one trigger: the id under its own name, and the stage that follows."""
    given = happened.data.get("deployment_id")
    named: dict[str, Any] = {"failed": attributes.get("target")} if trigger == "failed" else {trigger: given}
    if trigger == "failed" and attributes.get("target") is None:
        return Refusal("nothing is wanted yet that could fail to be applied: send target first")
    if trigger == "applied":
        named["failed"] = None
    words = staged(scene, entity_id, attributes, happened._replace(data=named))
    if isinstance(words, Refusal):
        return words
    same = trigger != "failed" and attributes.get(trigger) == given
    return {**words, **named, "why": happened.data.get("message") or (attributes.get("why", "") if same else "")}


@rule("fleet.target", revision=1)
def target(scene: Scene, entity_id: str, attributes: Attributes, happened: RuleEvent) -> Mapping[str, Any] | Refusal:
    """The stage after a new target."""
    return _reads("target", scene, entity_id, attributes, happened)


@rule("fleet.staged", revision=1)
def stage(scene: Scene, entity_id: str, attributes: Attributes, happened: RuleEvent) -> Mapping[str, Any] | Refusal:
    """The stage after a deployment is staged."""
    return _reads("staged", scene, entity_id, attributes, happened)


@rule("fleet.applied", revision=1)
def applied(scene: Scene, entity_id: str, attributes: Attributes, happened: RuleEvent) -> Mapping[str, Any] | Refusal:
    """The stage after a deployment is applied."""
    return _reads("applied", scene, entity_id, attributes, happened)


@rule("fleet.apply_failed", revision=1)
def failed(scene: Scene, entity_id: str, attributes: Attributes, happened: RuleEvent) -> Mapping[str, Any] | Refusal:
    """The stage after applying has failed."""
    return _reads("failed", scene, entity_id, attributes, happened)


@rule("fleet.note_ids", revision=1)
def noted(attributes: Attributes, happened: RuleEvent) -> Attributes:
    """Notes the ids, and what failed."""
    found = {
        name: happened.data[name] for name in ("target", "staged", "applied", "failed", "why") if name in happened.data
    }
    return {name: value for name, value in {**attributes, **found}.items() if value is not None}


@rule("fleet.note_report", revision=1)
def reported(attributes: Attributes, happened: RuleEvent) -> Attributes:
    """Notes the agent's message."""
    return {**attributes, "why": happened.data.get("message") or ""}


def some(*phases: str) -> AnyBelow:
    """At least one resource of the deployment is in one of these phases."""
    return AnyBelow("bundle_deployment", "bundle_resource", phases)


WORDS = (
    Field("stage",   str, "how far its ids say it is", STAGES),
    Field("target",  str, "the deployment that is wanted"),
    Field("staged",  str, "the deployment that is staged"),
    Field("applied", str, "the deployment that is applied"),
    Field("failed",  str, "the deployment that could not be applied"),
    Field("why",     str, "why"),
)  # fmt: skip
STRICT = (AttributeIs("bundle_deployment", "missing_is", "not_ready"),)
UNREADY = (AttributeIs("bundle_deployment", "ready", value=False),)
CHANGED = (AttributeIs("bundle_deployment", "unmodified", value=False),)
ID = (Field("deployment_id", str, "the deployment", required=True),)

# fmt: off
BUNDLE_DEPLOYMENT = Table(
    kind="bundle_deployment",
    id=("repo", "bundle", "cluster"),
    parent="bundle",
    doc="One bundle on one cluster: what is wanted there, what is applied, and what has become of its resources.",
    intents=(),
    derived=("owner_gone",),
    attributes=(
        Field("target",     str, "the deployment that is wanted"),
        Field("staged",     str, "the newest one that is staged"),
        Field("applied",    str, "the one that is applied: the resources' counts are about it"),
        Field("failed",     str, "the one that could not be applied"),
        Field("why",        str, "what was said of it"),
        Field("ready",      bool, "whether its agent says that it is ready, whatever is known of its resources"),
        Field("unmodified", bool, "whether its agent says that nothing of it was changed"),
        Field("missing_is", str, "what a missing resource makes of it: modified, as in Fleet, or not_ready", ("modified", "not_ready")),
    ),
    fields={"target": ID, "staged": ID, "applied": ID},
    interprets=(
        Interpret(("target",),       WORDS, target),
        Interpret(("staged",),       WORDS, stage),
        Interpret(("applied",),      WORDS, applied),
        Interpret(("apply_failed",), WORDS, failed),
    ),
    facets=(Facet(
        name="state",
        healthy=READY,
        adopted=State(PENDING),
        message_from="why",
        message_names=("bundle_resource", 0),
        labels=(
            #     phase         condition  zh        en
            Label(ERR_APPLIED,  None,      "应用失败", "Apply failed"),
            Label(WAIT_APPLIED, None,      "待应用",  "Wait applied"),
            Label(NOT_READY,    None,      "未就绪",  "Not ready"),
            Label(OUT_OF_SYNC,  None,      "未同步",  "OutOfSync"),
            Label(MODIFIED,     None,      "已修改",  "Modified"),
            Label(READY,        None,      "就绪",    "Ready"),
            Label(PENDING,      None,      "待处理",  "Pending"),
        ),
        rows=(
            #   from       trigger      to
            *(Row(EVER,    trigger,     stage_, given={"stage": stage_}, computes=noted)
              for trigger in ("target", "staged", "applied") for stage_ in STAGES if (trigger, stage_) != ("target", PENDING)),
            Row((LIVE,),   "apply_failed", ERR_APPLIED, given={"stage": ERR_APPLIED}, computes=noted),
            Row((LIVE,),   "apply_failed", READY,       given={"stage": READY},       computes=noted),
            Row((LIVE,),   "apply_failed", OUT_OF_SYNC, given={"stage": OUT_OF_SYNC}, computes=noted),
            Row((ABSENT, DELETED), "configure", PENDING, assigns=("missing_is",)),
            Row((LIVE,),   "configure", "=", assigns=("missing_is",)),
            Row((LIVE,),   "reported",   "=",  assigns=("ready", "unmodified"), computes=reported),
            Row((LIVE,),   "removed",    DELETED),
            Row((LIVE,),   "owner_gone", DELETED),
        ),
        views=(
            #    shows      while
            View(NOT_READY, (some(NOT_READY),),                   base=(READY, OUT_OF_SYNC)),
            View(NOT_READY, UNREADY,                              base=(READY, OUT_OF_SYNC)),
            View(NOT_READY, (*STRICT, some(MISSING)),             base=(READY, OUT_OF_SYNC)),
            View(MODIFIED,  (some(MODIFIED, MISSING, ORPHANED),), base=(READY,)),
            View(MODIFIED,  CHANGED,                              base=(READY,)),
        ),
    ),),
    cascades=(Cascade("owner_gone", at=("bundle_resource",), into=DELETED),),
    tallies=(("bundle_resource", 0),),
)
