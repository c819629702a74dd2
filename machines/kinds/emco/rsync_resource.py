"""The kind `rsync_resource`: one Kubernetes resource on one cluster.

Belongs here: its table. Does not: reports (`bundle_state`).
"""

from collections.abc import Mapping
from typing import Any

from phaseline.machines.kinds.emco.app_cluster import UNREACHABLE
from phaseline.machines.kinds.emco.between_contexts import (
    HANDED_OVER_TO,
    RECLAIMS,
    HandedOver,
    stopping_context,
    take_back,
)
from phaseline.machines.kinds.emco.bundle_state import ASSESSED, HEALTHS, HealthIs, PresenceIs
from phaseline.machines.kinds.kubernetes.health_labels import HEALTHS as HEALTH_LABELS
from phaseline.machines.kinds.kubernetes.health_labels import UNRULED
from phaseline.machines.kinds.kubernetes.profiles import HEALTHY, NOT_ASSESSED
from phaseline.machines.language.endings import SHOWS, ReportAfterEnd
from phaseline.machines.language.fields import reason_and_message
from phaseline.machines.language.predicates import Above, AttributeIs, Scene
from phaseline.machines.language.rules import rule
from phaseline.machines.language.table import (
    ABSENT,
    DELETED,
    LIVE,
    SAME,
    At,
    Cascade,
    Facet,
    Field,
    Label,
    Live,
    Row,
    RuleEvent,
    Table,
    View,
    advice,
    advised,
)
from phaseline.schemas.records import State
from phaseline.schemas.value import Value

PENDING, APPLIED, FAILED, RETRYING, TERMINATED = "Pending", "Applied", "Failed", "Retrying", "Terminated"
GONE = {"phase": DELETED}
"""The data of a report, or of an item that a snapshot does not list: rsync does not hold the resource."""
UNKNOWN, NOT_PRESENT, PRESENT = "Unknown", "NotPresent", "Present"
REMAINS = "Remains"
"""The condition of what a cluster lists in a report that came after rsync said Terminated."""
INSTANTIATE, TERMINATE, UPDATE = "Instantiate", "Terminate", "Update"
"""Bases of the app_context."""
CREATED, INSTANTIATED = "Created", "Instantiated"
NOT_INSTANTIATED = (
    "Created", "Instantiating", "InstantiateFailed", "PreTerminate", "Terminating", "Terminated", "TerminateFailed",
    "Updating", "Updated", "UpdateFailed",
)  # fmt: skip

# One failure turns Terminating into TerminateFailed while other resources are still deleted. So these look at the base.
DELETING = (Above("app_context", (TERMINATE, "PreTerminate", UPDATE), base=True),)
TAKING_DOWN = (Above("app_context", (TERMINATE, UPDATE), base=True),)
UNFINISHED = (Above("app_context", NOT_INSTANTIATED),)
TERMINATING = Above("app_context", (TERMINATE,), base=True)
NOT_GOING = (Above("app_context", (CREATED, INSTANTIATE), base=True),)
BACK = (HandedOver(),)
AWAY = Above("app_cluster", (UNREACHABLE,))
TOLD_TO_GO = (AttributeIs("app_context", RECLAIMS, True),)
IS_TERMINATED = (Above("rsync_resource", (TERMINATED,), base=True),)
IS_LISTED = (Above("rsync_resource", (PRESENT,), facet=1, base=True),)


@rule("emco.note_added", revision=1)
def note_added(attributes: Mapping[str, Any], event: RuleEvent) -> Mapping[str, Any]:
    """Notes which event holds the manifest."""
    return {**attributes, "added": event.sequence}


@rule("emco.note_failure", revision=2)
def note_failure(attributes: Mapping[str, Any], event: RuleEvent) -> Mapping[str, Any]:
    """Notes the event's reason and message, or that it has none."""
    return {**attributes, "failure": reason_and_message(event) or "rsync does not say why"}


@rule("emco.remains", revision=1)
class Remains(Value, frozen=True):
    """The cluster of the rsync resource listed it after rsync said Terminated. For guards only."""

    def holds(self, scene: Scene, entity_id: str) -> bool:
        """Look at the condition."""
        found = scene.above(entity_id, "rsync_resource")
        return found is not None and REMAINS in found.facets[1].base.conditions

    def text(self) -> str:
        """`its cluster listed it after rsync said Terminated`."""
        return "its cluster listed it after rsync said Terminated"


@rule("emco.keep_shown", revision=1)
class KeepShown(Value, frozen=True):
    """Keeps what was last said of a resource when what is above it ended, because it may still be in its cluster.

    phase: what rsync said, or Present if the cluster listed it.
    """

    phase: str

    def __call__(self, attributes: Mapping[str, Any], event: RuleEvent) -> Mapping[str, Any]:
        """The attributes of the resource that is left behind."""
        return {**attributes, SHOWS: ReportAfterEnd(self.phase, (), event.sequence, event.time).as_map()}


# fmt: off
ADVICE = advice(
    #  state or condition              what to do (en)                                                                    (zh)
    ("Failed",                        "Correct the manifest or the rights that the message names, then apply again.",  "修正消息中指出的清单或权限，然后重新应用。"),
    ("Unknown",                       "Wait for a report of the cluster; look at its monitor if none comes.",          "等待该集群上报；若无上报，检查其监控代理。"),
    ("Present [Remains]",             "rsync said that it was deleted, and its cluster lists it: remove it there.",     "rsync 已报告删除，但集群仍列出该资源：请在集群上清理。"),
    ("NotPresent",                    "Look at who removed it on the cluster; update or instantiate to bring it back.", "查明集群上是谁将其移除；更新或实例化可使其恢复。"),
)
"""What to do about its states."""
RSYNC_RESOURCE = Table(
    kind="rsync_resource",
    replaced_by=None,
    id=("resource", "context", "app", "cluster", "name"),
    parent="app_cluster",
    doc="One Kubernetes resource that rsync applies to one cluster. Its id ends in `<name>+<kind>`, as in EMCO.",
    intents=("add",),
    derived=("instantiate", "terminate", "hand_over", "reached", "present", "not_present", "not_supported", *ASSESSED.values(), "owner_gone"),
    attributes=(
        Field("group",   str, "the group of its kind"),
        Field("version", str, "the version of its kind"),
        Field("added",   int, "the sequence of the event that brought its manifest"),
        Field("failure", str, "the reason and message of its last failure"),
        Field(HANDED_OVER_TO, str, "the app_context that has it since an update"),
    ),
    fields={
        "add": (
            Field("metadata", dict, "the manifest's metadata"),
            Field("spec",     dict, "the manifest's spec"),
        ),
    },
    facets=(
        Facet(
            name="rsync",
            healthy=APPLIED,
            adopted=State(PENDING),
            pending=(PENDING, RETRYING),
            labels=advised(ADVICE, (
                #     phase       condition en            others
                Label(PENDING,    None, "Pending",    {"zh": "待处理"}),
                Label(APPLIED,    None, "Applied",    {"zh": "已应用"}),
                Label(FAILED,     None, "Failed",     {"zh": "失败"},     state_class="bad"),
                Label(RETRYING,   None, "Retrying",   {"zh": "重试中"}),
                Label(TERMINATED, None, "Terminated", {"zh": "已终止"},   state_class="gone"),
            )),
            rows=(
                #   from                            trigger        to
                Row((ABSENT, DELETED, TERMINATED),  "add",         PENDING,    when=NOT_GOING, assigns=("group", "version"), computes=note_added),
                Row((PENDING, RETRYING),            "applied",     APPLIED),
                Row((FAILED,),                      "applied",     APPLIED,    when=NOT_GOING),
                Row((PENDING, RETRYING),            "failed",      FAILED,     computes=note_failure),
                Row((APPLIED,),                     "failed",      FAILED,     computes=note_failure, when=UNFINISHED),
                Row((PENDING,),                     "retrying",    RETRYING),
                Row((APPLIED,),                     "retrying",    RETRYING,   when=TAKING_DOWN),
                Row((LIVE,),                        "terminated",  TERMINATED, when=DELETING),
                Row((LIVE,),                        "deleted",     TERMINATED, when=DELETING),
                Row((APPLIED, RETRYING),            "terminated",  PENDING,    when=NOT_GOING),
                Row((APPLIED, RETRYING),            "deleted",     PENDING,    when=NOT_GOING),
                Row((PENDING, FAILED, TERMINATED),  "terminated",  SAME,       when=NOT_GOING),
                Row((PENDING, FAILED, TERMINATED),  "deleted",     SAME,       when=NOT_GOING),
                Row((DELETED,),                     "terminated",  DELETED),
                Row((DELETED,),                     "deleted",     DELETED),
                Row((FAILED, RETRYING, TERMINATED), "instantiate", PENDING),
                Row((APPLIED,),                     "instantiate", PENDING,    when=TOLD_TO_GO),
                Row((DELETED,),                     "instantiate", PENDING,    when=BACK, computes=take_back),
                Row((FAILED, RETRYING),             "terminate",   PENDING),
                Row((RETRYING,),                    "reached",     PENDING),
                Row((LIVE,),                        "hand_over",   DELETED,    assigns=(HANDED_OVER_TO,)),
                Row((APPLIED,),                     "owner_gone",  DELETED,    computes=KeepShown(APPLIED)),
                Row((PENDING, FAILED, RETRYING),    "owner_gone",  DELETED,    computes=KeepShown(PRESENT), when=IS_LISTED),
                Row((TERMINATED,),                  "owner_gone",  DELETED,    computes=KeepShown(PRESENT), when=(Remains(),)),
                Row((Live(but=(APPLIED,)),),        "owner_gone",  DELETED),
                Row((LIVE,),                        "reported",    TERMINATED, when=DELETING, given=GONE),
                Row((APPLIED,),                     "reported",    PENDING,    when=NOT_GOING, given=GONE),
                Row((LIVE,),                        "reported",    SAME,       when=NOT_GOING, given=GONE),
                *(Row((DELETED,),                   "reported",    SAME,       when=BACK, given={"phase": phase})
                  for phase in (PENDING, APPLIED, FAILED, RETRYING, TERMINATED)),
            ),
            views=(
                #    shows     while
                View(RETRYING, (AWAY,),             base=(PENDING,)),
                View(RETRYING, (AWAY, TERMINATING), base=(APPLIED,)),
            ),
        ),
        Facet(
            name="cluster",
            healthy=PRESENT,
            adopted=State(UNKNOWN),
            labels=advised(ADVICE, (
                #     phase        condition en             others
                Label(UNKNOWN,     None, "Unknown",     {"zh": "未知"},   state_class="unknown"),
                Label(NOT_PRESENT, None, "Not present", {"zh": "不存在"}, state_class="bad"),
                Label(PRESENT,     None, "Present",     {"zh": "存在"}),
                Label(PRESENT,     REMAINS, "Present (after it was terminated)", {"zh": "存在（终止后仍在）"}, state_class="bad"),
            )),
            rows=(
                #   from              trigger          to
                Row((ABSENT, DELETED), "add",           PRESENT,     when=(*NOT_GOING, PresenceIs(PRESENT))),
                Row((ABSENT, DELETED), "add",           NOT_PRESENT, when=(*NOT_GOING, PresenceIs(NOT_PRESENT))),
                Row((ABSENT, DELETED), "add",           UNKNOWN,     when=NOT_GOING),
                Row((DELETED,),        "instantiate",   PRESENT,     when=(*BACK, PresenceIs(PRESENT))),
                Row((DELETED,),        "instantiate",   NOT_PRESENT, when=(*BACK, PresenceIs(NOT_PRESENT))),
                Row((DELETED,),        "instantiate",   UNKNOWN,     when=BACK),
                Row((At(PRESENT, has=REMAINS),), "add",         PRESENT, when=NOT_GOING),
                Row((At(PRESENT, has=REMAINS),), "instantiate", PRESENT),
                Row((LIVE,),           "present",       PRESENT,     condition=REMAINS, when=IS_TERMINATED),
                Row((LIVE,),           "present",       PRESENT),
                Row((LIVE,),           "not_present",   NOT_PRESENT),
                Row((LIVE,),           "not_supported", UNKNOWN),
                Row((LIVE,),           "hand_over",     DELETED),
                Row((LIVE,),           "owner_gone",    DELETED),
            ),
        ),
        Facet(
            name="health",
            healthy=HEALTHY,
            adopted=State(NOT_ASSESSED),
            labels=(*HEALTH_LABELS, UNRULED),
            rows=(
                #     from                 trigger           to
                *(Row((ABSENT, DELETED),   "add",            health, when=(*NOT_GOING, HealthIs(health))) for health in HEALTHS),
                *(Row((DELETED,),          "instantiate",    health, when=(*BACK, HealthIs(health))) for health in HEALTHS),
                *(Row((LIVE,),             ASSESSED[health], health) for health in HEALTHS),
                Row((LIVE,),               "hand_over",      DELETED),
                Row((LIVE,),               "owner_gone",     DELETED),
            ),
        ),
    ),
    cascades=(Cascade("deletion_seen", at=("app_context",), on=("terminated", "deleted"), into=TERMINATED, targets=stopping_context),),
)
