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


def stage_of(ids: Mapping[str, Any]) -> str:
    """The stage that the deployment ids `target`, `staged`, `applied` and `failed` show."""
    target = ids.get("target")
    if target is None:
        return PENDING
    if ids.get("applied") != target:
        return ERR_APPLIED if ids.get("failed") == target else WAIT_APPLIED
    return OUT_OF_SYNC if ids.get("staged") not in (None, target) else READY


def _read_id(name: str, attributes: Attributes, event: RuleEvent) -> Mapping[str, Any]:
    """The fields of an event that reports one id: the id under its name, and the stage that follows."""
    deployment_id = event.data.get("deployment_id")
    ids: dict[str, Any] = {name: deployment_id, **({"failed": None} if name == "applied" else {})}
    message = attributes.get("why", "") if attributes.get(name) == deployment_id else ""
    return {"stage": stage_of({**attributes, **ids}), **ids, "why": event.data.get("message") or message}


@rule("fleet.target", revision=1)
def read_target(_: Scene, __: str, attributes: Attributes, event: RuleEvent) -> Mapping[str, Any] | Refusal:
    """The stage after a new target."""
    return _read_id("target", attributes, event)


@rule("fleet.staged", revision=1)
def read_staged(_: Scene, __: str, attributes: Attributes, event: RuleEvent) -> Mapping[str, Any] | Refusal:
    """The stage after a deployment is staged."""
    return _read_id("staged", attributes, event)


@rule("fleet.applied", revision=1)
def read_applied(_: Scene, __: str, attributes: Attributes, event: RuleEvent) -> Mapping[str, Any] | Refusal:
    """The stage after a deployment is applied."""
    return _read_id("applied", attributes, event)


@rule("fleet.apply_failed", revision=1)
def read_failed(_: Scene, __: str, attributes: Attributes, event: RuleEvent) -> Mapping[str, Any] | Refusal:
    """The stage after applying the target has failed."""
    target = attributes.get("target")
    if target is None:
        return Refusal("nothing is wanted yet that could fail to be applied: send target first")
    stage = stage_of({**attributes, "failed": target})
    return {"stage": stage, "failed": target, "why": event.data.get("message") or ""}


@rule("fleet.note_ids", revision=1)
def note_ids(attributes: Attributes, event: RuleEvent) -> Attributes:
    """Notes the ids and the message."""
    found = {name: event.data[name] for name in ("target", "staged", "applied", "failed", "why") if name in event.data}
    return {name: value for name, value in {**attributes, **found}.items() if value is not None}


@rule("fleet.note_report", revision=1)
def note_report(attributes: Attributes, event: RuleEvent) -> Attributes:
    """Notes the agent's message."""
    return {**attributes, "why": event.data.get("message") or ""}


def some(*phases: str) -> AnyBelow:
    """At least one resource of the deployment is in one of these phases."""
    return AnyBelow("bundle_deployment", "bundle_resource", phases)


FIELDS = (
    Field("stage",   str, "the stage that its deployment ids show", STAGES),
    Field("target",  str, "the id of the wanted deployment"),
    Field("staged",  str, "the id of the staged deployment"),
    Field("applied", str, "the id of the applied deployment"),
    Field("failed",  str, "the id of the deployment that could not be applied"),
    Field("why",     str, "the reason"),
)  # fmt: skip
STRICT = (AttributeIs("bundle_deployment", "missing_is", "not_ready"),)
UNREADY = (AttributeIs("bundle_deployment", "ready", value=False),)
CHANGED = (AttributeIs("bundle_deployment", "unmodified", value=False),)
ID = (Field("deployment_id", str, "the id of the deployment", required=True),)

# fmt: off
BUNDLE_DEPLOYMENT = Table(
    kind="bundle_deployment",
    id=("repo", "bundle", "cluster"),
    parent="bundle",
    doc="One bundle on one cluster: the wanted deployment, the applied one, and the state of its resources.",
    intents=(),
    derived=("owner_gone",),
    attributes=(
        Field("target",     str, "the id of the wanted deployment"),
        Field("staged",     str, "the id of the newest staged deployment"),
        Field("applied",    str, "the id of the applied deployment; the counts of resources are about it"),
        Field("failed",     str, "the id of the deployment that could not be applied"),
        Field("why",        str, "the last message about it"),
        Field("ready",      bool, "whether its agent reports it as ready, whatever the states of its resources"),
        Field("unmodified", bool, "whether its agent reports that nothing of it was changed"),
        Field("missing_is", str, "its state if a resource is missing", ("modified", "not_ready")),
    ),
    fields={"target": ID, "staged": ID, "applied": ID},
    interprets=(
        Interpret(("target",),       FIELDS, read_target),
        Interpret(("staged",),       FIELDS, read_staged),
        Interpret(("applied",),      FIELDS, read_applied),
        Interpret(("apply_failed",), FIELDS, read_failed),
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
            *(Row(EVER,    trigger,     stage_, given={"stage": stage_}, computes=note_ids)
              for trigger in ("target", "staged", "applied")
              for stage_ in STAGES if (trigger, stage_) != ("target", PENDING)),
            Row((LIVE,),   "apply_failed", ERR_APPLIED, given={"stage": ERR_APPLIED}, computes=note_ids),
            Row((LIVE,),   "apply_failed", READY,       given={"stage": READY},       computes=note_ids),
            Row((LIVE,),   "apply_failed", OUT_OF_SYNC, given={"stage": OUT_OF_SYNC}, computes=note_ids),
            Row((ABSENT, DELETED), "configure", PENDING, assigns=("missing_is",)),
            Row((LIVE,),   "configure", "=", assigns=("missing_is",)),
            Row((LIVE,),   "reported",   "=",  assigns=("ready", "unmodified"), computes=note_report),
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
    tallies=(("bundle_resource", 0),),
)
