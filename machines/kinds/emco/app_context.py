"""The kind `app_context`: one set of resources that EMCO's rsync applies to clusters.

Belongs here: its table. Does not: the resources (`rsync_resource`).
"""

from phaseline.machines.kinds.emco import rsync_resource as rsync
from phaseline.machines.kinds.emco.between_contexts import (
    RECLAIMS,
    TAKEN_OVER_BY,
    Replaced,
    left_behind,
    note_plain,
    note_reclaim,
    note_successor,
    resource_of_current,
)
from phaseline.machines.language import deadlines
from phaseline.machines.language.predicates import AllBelow, AnyBelow
from phaseline.machines.language.table import (
    ABSENT,
    DELETED,
    FROM_DATA,
    LIVE,
    SAME,
    STALLED,
    At,
    Cascade,
    Facet,
    FanOut,
    Field,
    Label,
    Retired,
    Row,
    Table,
    Timeout,
    View,
    advice,
    advised,
)
from phaseline.schemas.records import State

CREATED, PRE_TERMINATE = "Created", "PreTerminate"
INSTANTIATE, TERMINATE, UPDATE = rsync.INSTANTIATE, rsync.TERMINATE, rsync.UPDATE
INSTANTIATING, INSTANTIATED, INSTANTIATE_FAILED = "Instantiating", rsync.INSTANTIATED, "InstantiateFailed"
TERMINATING, TERMINATED, TERMINATE_FAILED = "Terminating", "Terminated", "TerminateFailed"
UPDATING, UPDATED, UPDATE_FAILED = "Updating", "Updated", "UpdateFailed"
STOPPED = "Stopped"
REPLACEABLE = (INSTANTIATED, INSTANTIATE_FAILED)
"""The states in which another context may take over. A failed rollout is so repaired by an update."""
UNDER_WAY = (*REPLACEABLE, INSTANTIATING)
"""The states in which an earlier context may take over again, by a rollback."""
DEADLINE = (deadlines.DEADLINE,)
HOUR = 3600.0

A_FAILURE = AnyBelow("app_context", "rsync_resource", (rsync.FAILED,))
ALL_APPLIED = AllBelow("app_context", "rsync_resource", (rsync.APPLIED,))
ALL_TERMINATED = AllBelow("app_context", "rsync_resource", (rsync.TERMINATED,))


def unless_stopped(*phases: str) -> tuple[At, ...]:
    """These phases, without the condition Stopped."""
    return tuple(At(phase, lacks=(STOPPED,)) for phase in phases)


# fmt: off
ADVICE = advice(
    #  state or condition              what to do (en)                                                                    (zh)
    ("Instantiating [Stalled]",       "Look at the clusters and resources that have not answered; stop it, or wait for them.", "检查尚未应答的集群与资源；可停止，或继续等待。"),
    ("InstantiateFailed",             "Correct what the failed resources say, then instantiate again; or terminate.",  "修正失败资源所指出的问题，然后重新实例化；或终止。"),
    ("Terminating [Stalled]",         "Look at the clusters that have not answered; stop it, or wait for them.",      "检查尚未应答的集群；可停止，或继续等待。"),
    ("TerminateFailed",               "Look for resources that are left, remove them, then terminate again.",          "找到残留的资源，清理后再次终止。"),
    ("Updating [Stalled]",            "Look at the clusters that have not answered; stop it, or wait for them.",      "检查尚未应答的集群；可停止，或继续等待。"),
    ("UpdateFailed",                  "Correct what the failed resources say, then update again; or roll back.",       "修正失败资源所指出的问题，然后重新更新；或回滚。"),
)
"""What to do about its states."""
APP_CONTEXT = Table(
    kind="app_context",
    id=("resource", "context"),
    parent="emco_resource",
    doc="One set of resources that rsync applies to clusters and deletes from them.",
    intents=("create", "instantiate", "terminate", "update", "update_from", "stop", "resume"),
    derived=("deletion_seen", "stop_overdue", "stalled", "owner_gone"),
    known_by="itself",
    attributes=(
        Field(deadlines.DEADLINE, float, "the seconds that instantiating, stopping that, terminating and updating may take, if not as its resource says or an hour; 0 for no limit"),
        Field(TAKEN_OVER_BY,      str,   "the app_context that took over from it when it was last updated"),
        Field(RECLAIMS,           bool,  "whether it was asked back while its resources were going: what has not answered is Pending"),
    ),
    fields={"update": (Field("to", str, "the app_context that replaces it", required=True),)},
    facets=(Facet(
        name="phase",
        adopted=State(CREATED),
        healthy=INSTANTIATED,
        sticky=(STOPPED,),
        order=(STOPPED, STALLED),
        pending=(INSTANTIATE, PRE_TERMINATE, TERMINATE, UPDATE),
        labels=advised(ADVICE, (
            #     phase               condition          en                          others
            Label(CREATED,            None,              "Created",                  {"zh": "已创建"},     state_class="excused"),
            Label(CREATED,            STOPPED,           "Created (stopped)",        {"zh": "已停"},       state_class="excused"),
            Label(INSTANTIATE,        None,              "Asked to instantiate",     {"zh": "要求实例化"}),
            Label(INSTANTIATING,      None,              "Instantiating",            {"zh": "实例化中"},   state_class="busy"),
            Label(INSTANTIATING,      STOPPED,           "Instantiating (stopped)",  {"zh": "实例化已停"}, state_class="excused"),
            Label(INSTANTIATING,      STALLED,           "Instantiating (too long)", {"zh": "实例化超时"}, state_class="bad"),
            Label(INSTANTIATED,       None,              "Instantiated",             {"zh": "已实例化"}),
            Label(INSTANTIATE_FAILED, None,              "Instantiate failed",       {"zh": "实例化失败"}, state_class="bad"),
            Label(PRE_TERMINATE,      None,              "Stopping to terminate",    {"zh": "准备终止"}),
            Label(TERMINATE,          None,              "Asked to terminate",       {"zh": "要求终止"}),
            Label(TERMINATING,        None,              "Terminating",              {"zh": "终止中"},     state_class="busy"),
            Label(TERMINATING,        STOPPED,           "Terminating (stopped)",    {"zh": "终止已停"},   state_class="excused"),
            Label(TERMINATING,        STALLED,           "Terminating (too long)",   {"zh": "终止超时"},   state_class="bad"),
            Label(TERMINATED,         None,              "Terminated",               {"zh": "已终止"},     state_class="gone"),
            Label(TERMINATED,         STOPPED,           "Terminated (stopped)",     {"zh": "已终止 (已停)"}, state_class="gone"),
            Label(TERMINATE_FAILED,   None,              "Terminate failed",         {"zh": "终止失败"},   state_class="bad"),
            Label(UPDATE,             None,              "Asked to give way",        {"zh": "要求更新"}),
            Label(UPDATING,           None,              "Updating",                 {"zh": "更新中"},     state_class="busy"),
            Label(UPDATING,           STOPPED,           "Updating (stopped)",       {"zh": "更新已停"},   state_class="excused"),
            Label(UPDATING,           STALLED,           "Updating (too long)",      {"zh": "更新超时"},   state_class="bad"),
            Label(UPDATED,            None,              "Updated",                  {"zh": "已更新"},     state_class="gone"),
            Label(UPDATED,            STOPPED,           "Updated (stopped)",        {"zh": "已更新 (已停)"}, state_class="gone"),
            Label(UPDATE_FAILED,      None,              "Update failed",            {"zh": "更新失败"},   state_class="bad"),
        )),
        rows=(
            # from trigger to
            Row((ABSENT, DELETED),                                                               "create",                CREATED, assigns=DEADLINE),
            Row((ABSENT,),                                                                       "adopt",                 FROM_DATA, assigns=DEADLINE),
            Row(unless_stopped(CREATED, INSTANTIATING, INSTANTIATED, INSTANTIATE_FAILED),        "instantiate",           INSTANTIATE, assigns=DEADLINE, computes=note_plain),
            Row(unless_stopped(INSTANTIATING),                                                   "terminate",             PRE_TERMINATE, assigns=DEADLINE),
            Row(unless_stopped(INSTANTIATED, INSTANTIATE_FAILED, TERMINATING, TERMINATE_FAILED,
                               UPDATING, UPDATED, UPDATE_FAILED),                                "terminate",             TERMINATE, assigns=DEADLINE),
            Row(unless_stopped(PRE_TERMINATE),                                                   "terminate",             SAME, assigns=DEADLINE),
            Row(unless_stopped(*REPLACEABLE),                                                    "update",                UPDATE, assigns=DEADLINE, computes=note_successor),
            Row(unless_stopped(INSTANTIATING),                                                   "update",                UPDATE, assigns=DEADLINE, computes=note_successor, when=(Replaced(),)),
            Row(unless_stopped(CREATED, UPDATED),                                                "update_from",           INSTANTIATE, assigns=DEADLINE, computes=note_plain),
            Row(unless_stopped(UPDATING, UPDATE_FAILED),                                         "update_from",           INSTANTIATE, assigns=DEADLINE, computes=note_reclaim),
            Row((LIVE,),                                                                         "stop",                  SAME, sets=STOPPED),
            Row((LIVE,),                                                                         "resume",                SAME, clears=(STOPPED,)),
            Row((PRE_TERMINATE,),                                                                "instantiation_stopped", TERMINATE),
            Row((PRE_TERMINATE,),                                                                "deletion_seen",         TERMINATE),
            Row((PRE_TERMINATE,),                                                                "stop_overdue",          TERMINATE),
            Row((INSTANTIATE, TERMINATE, UPDATE),                                                "stalled",               SAME, sets=STALLED),
            Row((LIVE,),                                                                         "owner_gone",            DELETED),
        ),
        views=(
            #    shows               while
            View(INSTANTIATE_FAILED, (A_FAILURE,),      base=(INSTANTIATE,), keeps=(STOPPED,)),
            View(INSTANTIATED,       (ALL_APPLIED,),    base=(INSTANTIATE,), keeps=(STOPPED,)),
            View(INSTANTIATING,      (),                base=(INSTANTIATE,), keeps=(STOPPED, STALLED)),
            View(TERMINATE_FAILED,   (A_FAILURE,),      base=(TERMINATE,),   keeps=(STOPPED,)),
            View(TERMINATED,         (ALL_TERMINATED,), base=(TERMINATE,),   keeps=(STOPPED,)),
            View(TERMINATING,        (),                base=(TERMINATE,),   keeps=(STOPPED, STALLED)),
            View(UPDATE_FAILED,      (A_FAILURE,),      base=(UPDATE,),      keeps=(STOPPED,)),
            View(UPDATED,            (ALL_TERMINATED,), base=(UPDATE,),      keeps=(STOPPED,)),
            View(UPDATING,           (),                base=(UPDATE,),      keeps=(STOPPED, STALLED)),
        ),
        timeouts=(
            #       phase          fires           seconds
            Timeout(INSTANTIATING, "stalled",      HOUR, deadline=True),
            Timeout(PRE_TERMINATE, "stop_overdue", HOUR, deadline=True),
            Timeout(TERMINATING,   "stalled",      HOUR, deadline=True),
            Timeout(UPDATING,      "stalled",      HOUR, deadline=True),
        ),
        retired=(
            #       an earlier state                      goes to
            Retired(INSTANTIATE, has="DeadlineExceeded", to=INSTANTIATE, condition=STALLED),
            Retired(TERMINATE,   has="DeadlineExceeded", to=TERMINATE,   condition=STALLED),
        ),
    ),),
    cascades=(
        Cascade("instantiate", at=("rsync_resource",), on=("instantiate", "update_from")),
        Cascade("terminate",   at=("rsync_resource",), on=("terminate", "instantiation_stopped", "deletion_seen", "stop_overdue"), then=TERMINATE),
        Cascade("resumed",     at=("emco_resource",),  on=("resume",), targets=resource_of_current),
    ),
    fan_outs=(FanOut(("terminate", "hand_over"), at="rsync_resource", on=("update",), rule=left_behind),),
    tallies=(("rsync_resource", 0), ("rsync_resource", 1)),
)
