"""The kind `bundle_deployment`: one bundle on one cluster.

Belongs here: its table. Does not: the rules that read its events (`deployment_rules`), its resources
(`bundle_resource`).
"""

from msgspec.structs import replace

from phaseline.machines.kinds.fleet.advice import FLEET
from phaseline.machines.kinds.fleet.bundle_resource import (
    COUNTED,
    ERR_APPLIED,
    MISSING,
    MODIFIED,
    NOT_OWNED,
    NOT_READY,
    ORPHANED,
    PENDING,
    READY,
    UNKNOWN,
    WAIT_APPLIED,
)
from phaseline.machines.kinds.fleet.commits import BEHIND, BEHIND_FIELDS, CARRIED, LEVEL, note_commit
from phaseline.machines.kinds.fleet.deployment_rules import (
    FREE,
    HELD,
    LATEST_CHECK_IN,
    OFF_SCHEDULE,
    OUT_OF_SYNC,
    PAUSED,
    STAGES,
    note_check_in,
    note_ids,
    note_observed,
    read_applied,
    read_check_in,
    read_failed,
    read_observed,
    read_staged,
    read_target,
    unlisted,
)
from phaseline.machines.kinds.kubernetes.observation import OBSERVER, SEEN_BY
from phaseline.machines.kinds.kubernetes.profiles import NOT_ASSESSED
from phaseline.machines.language.contact import RECORDED, SILENT
from phaseline.machines.language.endings import MOVED
from phaseline.machines.language.predicates import Above, AllBelow, AnyBelow, AttributeIs
from phaseline.machines.language.table import (
    ABSENT,
    DELETED,
    LIVE,
    Facet,
    FanOut,
    Field,
    Interpret,
    Label,
    Row,
    StateClass,
    Table,
    View,
    advised,
)
from phaseline.schemas.records import State

WAIT_CHECK_IN = "WaitCheckIn"
CONTACT = 1
"""The index of the facet that each place has beside its own."""
EVER, SINCE = (ABSENT, DELETED, LIVE), (ABSENT, LIVE)
"""The phases from which rows start. What becomes of a deployment begins no new life of one that ended."""


HELD_TOO: tuple[tuple[str, str, str, StateClass], ...] = (
    (WAIT_CHECK_IN, "Wait check-in", "待联络", "busy"), (ERR_APPLIED, "Apply failed", "应用失败", "bad"),
    (NOT_READY, "Not ready", "未就绪", "bad"), (MODIFIED, "Modified", "已修改", "bad"),
    (NOT_ASSESSED, "Not assessed", "未评估", "unknown"), (PENDING, "Pending", "待处理", "busy"),
)  # fmt: skip
"""The further states that Fleet's holding back may stand beside. It makes none of them worse than it is."""


def some(*phases: str) -> AnyBelow:
    """At least one resource of the deployment is in one of these phases."""
    return AnyBelow("bundle_deployment", "bundle_resource", phases)


FIELDS = (
    Field("stage",   str, "the stage that its deployment ids show", STAGES),
    Field("target",  str, "the id of the wanted deployment"),
    Field("staged",  str, "the id of the staged deployment"),
    Field("applied", str, "the id of the applied deployment"),
    Field("failed",  str, "the id of the deployment that could not be applied"),
    Field("failed_at", str, "when its agent said so"),
    Field("failure", str, "why it could not be applied"),
    Field("why",     str, "the reason"),
)  # fmt: skip
HELD_BY = Field("held", str, "what keeps Fleet from updating it", (FREE, *HELD))
LISTED = Field("listed", str, "the listed resources in order", many=True)
CHECKED = (
    Field("agent_seen",   bool, "whether the agent was seen lately"),
    Field("check_in", str,  "when the agent was seen, in words"),
    Field("last_seen", str, "the newest time at which the agent was seen"),
)  # fmt: skip
OBSERVED = (
    Field("target",        str,  "the id of the wanted deployment"),
    Field("staged",        str,  "the id of the newest staged deployment"),
    Field("applied",       str,  "the id of the applied deployment; empty if its agent has applied none"),
    Field("apply_failed",  bool, "whether applying the target has failed"),
    Field("failed_at",     str,  "when its agent said so"),
    Field("paused",        bool, "whether Fleet holds back what is new"),
    Field("off_schedule",  bool, "whether its cluster is outside its schedule"),
    CARRIED,
    Field("ready",         bool, "whether its agent calls it ready"),
    Field("unmodified",    bool, "whether its agent says that nothing of it was changed"),
    Field("listed",        str,  "the ends of the ids of all resources in its lists; the others are gone", many=True),
    Field("counted",       dict, "resources that are counted and whose states are not named: numbers by word"),
    Field("counted_names", int,  "how many of those are in `listed`"),
)  # fmt: skip
UNJUDGED = AttributeIs("bundle_deployment", "ready", None)
"""Its agent does not say how it is."""
UNCOUNTED = AttributeIs("bundle_deployment", "counted", None)
"""Its agent counts nothing without naming it."""
UNASSESSED = (
    (AllBelow("bundle_deployment", "bundle_resource", (NOT_ASSESSED, UNKNOWN)), UNCOUNTED, UNJUDGED),
    (some(UNKNOWN), UNJUDGED),
    (AttributeIs("bundle_deployment", "in_doubt", value=True), UNJUDGED),
    (some(COUNTED), UNCOUNTED, UNJUDGED),
)
"""Nothing is known of how it is, or not even of each resource that it is there; its agent does not say either."""
STRICT = (AttributeIs("bundle_deployment", "missing_is", "not_ready"),)
UNREADY = (AttributeIs("bundle_deployment", "ready", value=False),)
UNSEEN = (AttributeIs("bundle_deployment", "agent_seen", value=False),)
CHANGED = (AttributeIs("bundle_deployment", "unmodified", value=False),)
OTHER_COMMIT = (AttributeIs("bundle_deployment", "behind", value=True),)
ID = (Field("deployment_id", str, "the id of the deployment", required=True),)

# fmt: off
BUNDLE_DEPLOYMENT = Table(
    kind="bundle_deployment",
    replaced_by=("target", "staged", "applied", "observed"),
    id=("repo", "bundle", "cluster"),
    parent="bundle",
    place=True,
    silence_after=LATEST_CHECK_IN / (1 + 1 / RECORDED),
    doc="One bundle on one cluster: the wanted deployment, the applied one, and the state of its resources.",
    intents=(),
    derived=("owner_gone", BEHIND, LEVEL),
    attributes=(
        CARRIED,
        *BEHIND_FIELDS,
        Field("failed_at",  str, "when its agent said that the deployment `failed` could not be applied"),
        Field("target",     str, "the id of the wanted deployment"),
        Field("staged",     str, "the id of the newest staged deployment"),
        Field("applied",    str, "the id of the applied deployment; the counts of resources are about it"),
        Field("failed",     str, "the id of the deployment that could not be applied"),
        Field("failure",    str, "why the deployment `failed` could not be applied"),
        Field("why",        str, "the last message about it"),
        Field("ready",      bool, "whether its agent reports it as ready, whatever the states of its resources"),
        Field("unmodified", bool, "whether its agent reports that nothing of it was changed"),
        Field("counted",    dict, "resources that its agent counts without naming their states: numbers by word"),
        Field("counted_names", int, "how many of them are known by name, and in the state Counted"),
        Field("in_doubt",   bool, "whether it counts resources of which nothing is known"),
        Field("agent_seen",     bool, "whether the agent of the cluster was seen lately, as far as that was reported"),
        Field("check_in",   str, "when the agent was seen, in words"),
        Field("last_seen",  str, "when the agent was seen"),
        Field("missing_is", str, "its state if a resource is missing", ("modified", "not_ready")),
        *OBSERVER,
    ),
    carries=("observed",),
    fields={
        "target": ID, "staged": ID, "applied": ID,
        "apply_failed": (Field("deployment_id", str, "the id of the deployment that could not be applied; left out, the target"),),
        "observed": OBSERVED,
        "removed": (MOVED,),
        "checked_in": (Field("last_seen", str, "when the agent was seen last; null if never", required=True, null=True),),
    },
    interprets=(
        Interpret(("observed",),     (*FIELDS, LISTED, HELD_BY, *BEHIND_FIELDS, *CHECKED[:1]), read_observed),
        Interpret(("checked_in",),   CHECKED, read_check_in),
        Interpret(("target",),       FIELDS, read_target),
        Interpret(("staged",),       FIELDS, read_staged),
        Interpret(("applied",),      FIELDS, read_applied),
        Interpret(("apply_failed",), FIELDS, read_failed),
    ),
    facets=(Facet(
        name="state",
        healthy=READY,
        adopted=State(PENDING),
        sticky=HELD,
        message_from="why",
        message_names=("bundle_resource", 0),
        unknown_parts=NOT_ASSESSED,
        labels=advised(FLEET, (
            #     phase          condition en               others
            Label(WAIT_CHECK_IN, None, "Wait check-in", {"zh": "待联络"},   state_class="busy"),
            Label(ERR_APPLIED,   None, "Apply failed",  {"zh": "应用失败"}, state_class="bad"),
            Label(WAIT_APPLIED,  None, "Wait applied",  {"zh": "待应用"},   state_class="busy"),
            Label(NOT_READY,     None, "Not ready",     {"zh": "未就绪"},   state_class="bad"),
            Label(OUT_OF_SYNC,   None, "OutOfSync",     {"zh": "未同步"},   state_class="busy"),
            Label(MODIFIED,      None, "Modified",      {"zh": "已修改"},   state_class="bad"),
            Label(READY,         None, "Ready",         {"zh": "就绪"}),
            Label(NOT_ASSESSED,  None, "Not assessed",  {"zh": "未评估"},   state_class="unknown"),
            Label(PENDING,       None, "Pending",       {"zh": "待处理"},   state_class="busy"),
            Label(OUT_OF_SYNC,  PAUSED, "OutOfSync (paused)", {"zh": "未同步 (已暂停)"}, state_class="busy"),
            Label(OUT_OF_SYNC,  OFF_SCHEDULE, "OutOfSync (off schedule)", {"zh": "未同步 (不在计划时段)"},
                  state_class="busy"),
            Label(WAIT_APPLIED, PAUSED, "Wait applied (paused)", {"zh": "待应用 (已暂停)"}, state_class="busy"),
            Label(WAIT_APPLIED, OFF_SCHEDULE, "Wait applied (off schedule)", {"zh": "待应用 (不在计划时段)"},
                  state_class="busy"),
            Label(READY,        PAUSED, "Ready (paused)", {"zh": "就绪 (已暂停)"}),
            Label(READY,        OFF_SCHEDULE, "Ready (off schedule)", {"zh": "就绪 (不在计划时段)"}),
            *(Label(phase, held, f"{en} ({told})", {"zh": f"{zh} ({zh_told})"}, state_class=state_class)
              for phase, en, zh, state_class in HELD_TOO
              for held, told, zh_told in ((PAUSED, "paused", "已暂停"), (OFF_SCHEDULE, "off schedule", "不在计划时段"))),
        )),
        rows=(
            #   from       trigger      to
            *(Row(EVER if trigger == "target" else SINCE, trigger, stage_, given={"stage": stage_}, computes=note_ids)
              for trigger in ("target", "staged", "applied")
              for stage_ in STAGES if (trigger, stage_) != ("target", PENDING)),
            Row((LIVE,),   "apply_failed", ERR_APPLIED, given={"stage": ERR_APPLIED}, computes=note_ids),
            Row((LIVE,),   "apply_failed", READY,       given={"stage": READY},       computes=note_ids),
            Row((LIVE,),   "apply_failed", OUT_OF_SYNC, given={"stage": OUT_OF_SYNC}, computes=note_ids),
            Row((ABSENT,), "configure", PENDING, assigns=("missing_is",)),
            Row((LIVE,),   "configure", "=", assigns=("missing_is",)),
            *(Row(EVER,    "observed",   stage_, given={"stage": stage_, "held": held}, sets=held if held in HELD else None,
                  clears=tuple(one for one in HELD if one != held), assigns=SEEN_BY, computes=note_observed)
              for stage_ in STAGES for held in (FREE, *HELD)),
            Row((LIVE,),   BEHIND,       "=",  computes=note_commit),
            Row((LIVE,),   LEVEL,        "=",  computes=note_commit),
            Row((ABSENT,), "checked_in", PENDING, computes=note_check_in),
            Row((LIVE,),   "checked_in", "=",  computes=note_check_in),
            Row((LIVE,),   "removed",    DELETED),
            Row((LIVE,),   "owner_gone", DELETED),
        ),
        views=tuple(replace(view, keeps=HELD) for view in (
            #    shows      while
            View(WAIT_CHECK_IN, UNSEEN,                           message_from="check_in"),
            View(WAIT_CHECK_IN, (Above("bundle_deployment", (SILENT,), facet=CONTACT, base=True),)),
            View(NOT_READY, (some(NOT_READY),),                   base=(READY, OUT_OF_SYNC)),
            View(NOT_READY, UNREADY,                              base=(READY, OUT_OF_SYNC), message_from="why"),
            View(NOT_READY, (*STRICT, some(MISSING, NOT_OWNED)),  base=(READY, OUT_OF_SYNC)),
            View(MODIFIED,  (some(MODIFIED, MISSING, NOT_OWNED, ORPHANED),), base=(READY,)),
            View(MODIFIED,  CHANGED,                              base=(READY,), message_from="why"),
            View(OUT_OF_SYNC, OTHER_COMMIT,                       base=(READY,), message_from="behind_why"),
            *(View(NOT_ASSESSED, one,                             base=(READY,)) for one in UNASSESSED),
        )),
    ),),
    fan_outs=(FanOut(("unlisted",), "bundle_resource", ("observed",), unlisted),),
    tallies=(("bundle_resource", 0),),
)
