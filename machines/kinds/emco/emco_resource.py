"""The kind `emco_resource`: a resource on which an EMCO user acts, such as a deployment intent group.

Belongs here: its table, and its revisions. Does not: the progress of an action (`app_context`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from phaseline.machines.kinds.emco import app_context as context
from phaseline.machines.kinds.emco import rsync_resource as rsync
from phaseline.machines.kinds.emco.between_contexts import UNDER_WAY as WORKING
from phaseline.machines.kinds.emco.between_contexts import to_resume, to_terminate
from phaseline.machines.language.deadlines import DEADLINE
from phaseline.machines.language.endings import ABANDON
from phaseline.machines.language.predicates import AllBelow, AnyBelow, AttributeIs, Child
from phaseline.machines.language.rules import rule
from phaseline.machines.language.table import (
    ABSENT,
    DELETED,
    FROM_DATA,
    STALLED,
    Cascade,
    Facet,
    FanOut,
    Field,
    Label,
    Refusal,
    Row,
    RuleEvent,
    Table,
)
from phaseline.schemas.records import State

CREATED, APPROVED, APPLIED, INSTANTIATED = "Created", "Approved", "Applied", "Instantiated"
INSTANTIATE_STOPPED, TERMINATED, TERMINATE_STOPPED = "InstantiateStopped", "Terminated", "TerminateStopped"

TYPES = ("deployment_intent_group", "cluster_network_intents", "logical_cloud")
GROUP = (AttributeIs("emco_resource", "type", TYPES[0]),)
OTHERS = (AttributeIs("emco_resource", "type", TYPES[1:]),)
UNDER_WAY = (Child("emco_resource", "app_context", "context", WORKING),)
REPLACEABLE = Child("emco_resource", "app_context", "context", context.REPLACEABLE, or_has=(STALLED,))
GOING_ON = Child("emco_resource", "app_context", "context", context.UNDER_WAY)
NOT_DELETED = AnyBelow("emco_resource", "app_context", (context.TERMINATE_FAILED, context.UPDATE_FAILED))
NOT_ANSWERED = AnyBelow("emco_resource", "app_context", (context.TERMINATING, context.UPDATING), has=STALLED)
SETTLED = (
    context.CREATED, context.INSTANTIATED, context.INSTANTIATE_FAILED, context.TERMINATED, context.TERMINATE_FAILED,
    context.UPDATED, context.UPDATE_FAILED,
)  # fmt: skip
# No context, current or old, owns a resource that may be in a cluster. One that is Pending may be there, too, once its
# context was asked for anything: then the context is under way. What a cluster listed before rsync said Terminated does
# not count: it lists that until its next report.
NOTHING_LEFT = (
    AllBelow("emco_resource", "rsync_resource", (rsync.PENDING, rsync.TERMINATED)),
    AllBelow("emco_resource", "rsync_resource", (rsync.NOT_PRESENT, rsync.UNKNOWN), facet=1, has=rsync.REMAINS),
    AllBelow("emco_resource", "app_context", SETTLED),
)
HEADER = ("type", "project", "composite_app", "composite_app_version", "composite_profile")
TIMED = (DEADLINE,)
KEPT = 256
"""How many revisions can be rolled back to. The limit keeps an entity's record small."""

EXPECTED = Field("revision", int, "the number that the sender expects the revision to get; another one is refused")

Attributes = Mapping[str, Any]


@rule("emco.begin", revision=3)
def begin(attributes: Attributes, event: RuleEvent) -> Attributes | Refusal:
    """Adds a revision with the context that the event names, which ResourceBundleStates name from then on."""
    found = new_revision(attributes, event)
    return found if isinstance(found, Refusal) else {**found, "status_context": event.data["context"]}


@rule("emco.new_revision", revision=4)
def new_revision(attributes: Attributes, event: RuleEvent) -> Attributes | Refusal:
    """Adds a revision with the context that the event names."""
    name = event.data["context"]
    if not name or "/" in name:
        return Refusal(f"data.context must be the last part of an app_context's id, found {name!r}", invalid=True)
    expected, following = event.data.get("revision"), _last(attributes) + 1
    if expected not in (None, following):
        return Refusal(f"data.revision is {expected}, and the next revision is {following}")
    return _revised(attributes, name)


@rule("emco.roll_back", revision=3)
def roll_back(attributes: Attributes, event: RuleEvent) -> Attributes | Refusal:
    """Adds a revision with the context of an earlier one."""
    revision, contexts, last = event.data["revision"], _contexts(attributes), _last(attributes)
    oldest = last - len(contexts) + 1
    if not oldest <= revision <= last:
        return Refusal(f"rollback needs a revision that is known: {revision} is not, there are {oldest} to {last}")
    return _revised(attributes, contexts[revision - oldest])


def known_revisions(attributes: Attributes) -> range:
    """The revisions that can be rolled back to, the newest first."""
    last = _last(attributes)
    return range(last, last - len(_contexts(attributes)), -1)


def _contexts(attributes: Attributes) -> Sequence[str]:
    """The contexts of the last revisions. One that was adopted names its current context alone."""
    named = attributes.get("context")
    found: Sequence[str] = attributes.get("contexts") or (() if named is None else (named,))
    return found


def _last(attributes: Attributes) -> int:
    return int(attributes.get("revision", 0 if attributes.get("context") is None else 1))


def _revised(attributes: Attributes, name: str) -> Attributes:
    contexts = [*_contexts(attributes), name][-KEPT:]
    found = {**attributes, "revision": _last(attributes) + 1, "context": name, "contexts": contexts}
    if (previous := attributes.get("context")) not in (None, name):
        found["previous"] = previous
    return found


# fmt: off
EMCO_RESOURCE = Table(
    kind="emco_resource",
    id=("resource",),
    doc="A resource on which an EMCO user acts. Its state is the user's last action; its contexts show the progress.",
    intents=("create", "approve", "instantiate", "apply", "update", "rollback", "terminate", "stop", "delete"),
    derived=("resumed",),
    known_by="itself",
    current=("context", "app_context"),
    attributes=(
        Field("type",                  str, "the type of the resource", TYPES, default=TYPES[0]),
        Field("project",               str, "its project"),
        Field("composite_app",         str, "the composite app that a group deploys"),
        Field("composite_app_version", str, "the version of that composite app"),
        Field("composite_profile",     str, "the profile of that composite app"),
        Field("revision",              int, "the number of the revision; instantiate, apply, update and rollback each start a new one"),
        Field("context",               str, "the app_context of this revision"),
        Field("previous",              str, "the app_context that was current before"),
        Field("status_context",        str, "the app_context that ResourceBundleStates name: the first one, also after updates"),
        Field(DEADLINE,                float, "the seconds that each step of its contexts may take where they have no own deadline; 0 for no limit", least=0),
        Field("contexts",              str, f"the app_contexts of the last {KEPT} revisions, the newest last", many=True),
    ),
    fields={
        "instantiate": (Field("context",  str, "the app_context to instantiate, a new one each time", required=True), EXPECTED),
        "apply":       (Field("context",  str, "the app_context to instantiate", required=True), EXPECTED),
        "update":      (Field("context",  str, "the app_context to change to", required=True), EXPECTED),
        "rollback":    (Field("revision", int, "the revision to go back to", required=True, known=known_revisions),),
        "delete":      (Field(ABANDON,    bool, "give up what may still be in clusters: it counts as Deleted, and is left behind"),),
    },
    facets=(Facet(
        name="phase",
        adopted=State(CREATED),
        healthy=INSTANTIATED,
        labels=(
            #     phase                condition en                     others
            Label(CREATED,             None, "Created",             {"zh": "已创建"},     state_class="excused"),
            Label(APPROVED,            None, "Approved",            {"zh": "已批准"},     state_class="excused"),
            Label(INSTANTIATED,        None, "Instantiated",        {"zh": "已实例化"}),
            Label(APPLIED,             None, "Applied",             {"zh": "已应用"},     state_class="good"),
            Label(INSTANTIATE_STOPPED, None, "Instantiate stopped", {"zh": "实例化已停"}, state_class="excused"),
            Label(TERMINATED,          None, "Terminated",          {"zh": "已终止"},     state_class="gone"),
            Label(TERMINATE_STOPPED,   None, "Terminate stopped",   {"zh": "终止已停"},   state_class="excused"),
        ),
        rows=(
            #   from                                                 trigger        to
            Row((ABSENT, DELETED),                                   "create",      CREATED,      assigns=(*HEADER, DEADLINE)),
            Row((ABSENT,),                                           "adopt",       FROM_DATA,    assigns=(*HEADER, DEADLINE, "context", "revision")),
            Row((CREATED, APPROVED, TERMINATED),                     "approve",     APPROVED,     when=GROUP),
            Row((APPROVED, TERMINATED, TERMINATE_STOPPED),           "instantiate", INSTANTIATED, when=GROUP,  assigns=TIMED, computes=begin),
            Row((CREATED, APPLIED, TERMINATED, TERMINATE_STOPPED),   "apply",       APPLIED,      when=OTHERS, assigns=TIMED, computes=begin),
            Row((INSTANTIATED, INSTANTIATE_STOPPED),                 "update",      INSTANTIATED, when=(*GROUP, REPLACEABLE), assigns=TIMED, computes=new_revision),
            Row((INSTANTIATED, INSTANTIATE_STOPPED),                 "rollback",    INSTANTIATED, when=(*GROUP, GOING_ON), assigns=TIMED, computes=roll_back),
            Row((INSTANTIATED, APPLIED, INSTANTIATE_STOPPED),        "terminate",   TERMINATED,   assigns=TIMED),
            *(Row((TERMINATED,),                                     "terminate",   TERMINATED,   when=(again,), assigns=TIMED)
              for again in (NOT_DELETED, NOT_ANSWERED)),
            Row((INSTANTIATED, APPLIED),                             "stop",        INSTANTIATE_STOPPED, when=UNDER_WAY),
            Row((TERMINATED,),                                       "stop",        TERMINATE_STOPPED,   when=UNDER_WAY),
            Row((INSTANTIATE_STOPPED,),                              "resumed",     INSTANTIATED, when=GROUP),
            Row((INSTANTIATE_STOPPED,),                              "resumed",     APPLIED,      when=OTHERS),
            Row((TERMINATE_STOPPED,),                                "resumed",     TERMINATED),
            *(Row((CREATED, APPROVED, TERMINATED, TERMINATE_STOPPED), "delete",     DELETED,      when=NOTHING_LEFT, given={ABANDON: no})
              for no in (None, False)),
            Row((CREATED, APPROVED, TERMINATED, TERMINATE_STOPPED),  "delete",      DELETED,      given={ABANDON: True}),
        ),
    ),),
    cascades=(
        Cascade("resume",      at=("app_context",), on=("update", "rollback"),   only_child="previous"),
        Cascade("instantiate", at=("app_context",), on=("instantiate", "apply"), only_child="context", required=True),
        Cascade("update",      at=("app_context",), on=("update", "rollback", "apply"), only_child="previous", data={"to": "context"}),
        Cascade("update_from", at=("app_context",), on=("update", "rollback"),   only_child="context", required=True),
        Cascade("stop",        at=("app_context",), on=("stop",),                only_child="context"),
    ),
    fan_outs=(
        FanOut(("resume",),    at="app_context", on=("terminate",), rule=to_resume),
        FanOut(("terminate",), at="app_context", on=("terminate",), rule=to_terminate),
    ),
    tallies=(("app_context", 0), ("rsync_resource", 0)),
)
