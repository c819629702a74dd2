"""The kind `app_cluster`: one app on one cluster.

Belongs here: its table. Does not: status reports (`bundle_state`).
"""

from phaseline.machines.kinds.emco import bundle_state
from phaseline.machines.kinds.emco.between_contexts import later_contexts
from phaseline.machines.kinds.kubernetes.observation import FORMER, OBJECT, VERSION
from phaseline.machines.language.contact import SILENT
from phaseline.machines.language.predicates import Above
from phaseline.machines.language.table import (
    ABSENT,
    DELETED,
    LIVE,
    SAME,
    Cascade,
    Facet,
    FanOut,
    Field,
    Label,
    Row,
    Table,
    View,
    advice,
    advised,
)
from phaseline.schemas.records import State

UNKNOWN, AVAILABLE, UNREACHABLE = "Unknown", "Available", "Unreachable"
CONTACT = 1
"""The facet of a place that says whether it was heard."""

# fmt: off
ADVICE = advice(
    #  state or condition              what to do (en)                                                                    (zh)
    ("Unknown",                       "Wait for a report of the cluster; look at its monitor if none comes.",          "等待该集群上报；若无上报，检查其监控代理。"),
    ("Unreachable",                   "Look at the network and the credentials of the cluster; it is tried again.",    "检查集群的网络与凭据；系统会重试。"),
)
"""What to do about its states."""
APP_CLUSTER = Table(
    kind="app_cluster",
    id=("resource", "context", "app", "cluster"),
    parent="app_context",
    place=True,
    doc="One app of a context on one cluster: whether it can be reached, and what its last ResourceBundleState lists.",
    intents=(),
    derived=("owner_gone",),
    known_by="anything",
    attributes=(
        Field("report",   int,  "the sequence of the event that brought the last ResourceBundleState"),
        Field("digest",   str,  "a digest of that ResourceBundleState, by which a repeated one is recognised"),
        OBJECT,
        VERSION,
        FORMER,
        Field("listed",   dict, "the resources that it lists: by `<name>+<kind>`, the group, the version, and Ready or NotReady"),
        Field("health",   dict, "by `<name>+<kind>`, the health of each listed resource for whose kind a health rule exists"),
        Field("supports", str,  "the kinds that the cluster reports on, if the report names them", many=True),
    ),
    carries=("bundle_state",),
    fields={
        "bundle_state": (
            Field("status",   dict, "the status of the ResourceBundleState, with a list for each kind; data may also be that status itself"),
            Field("supports", str,  "the kinds that the cluster reports on; without it, EMCO's key kinds", many=True),
        ),
    },
    facets=(Facet(
        name="connectivity",
        adopted=State(UNKNOWN),
        healthy=AVAILABLE,
        labels=advised(ADVICE, (
            #     phase        condition en             others
            Label(UNKNOWN,     None, "Unknown",     {"zh": "未知"},   state_class="unknown"),
            Label(AVAILABLE,   None, "Available",   {"zh": "可达"}),
            Label(UNREACHABLE, None, "Unreachable", {"zh": "不可达"}, state_class="bad"),
        )),
        rows=(
            #   from                     trigger         to
            Row((ABSENT, DELETED),       "bundle_state", UNKNOWN, computes=bundle_state.note_report),
            Row((LIVE,),                 "bundle_state", SAME,    computes=bundle_state.note_report),
            Row((ABSENT, DELETED, LIVE), "connected",    AVAILABLE),
            Row((ABSENT, DELETED, LIVE), "disconnected", UNREACHABLE),
            Row((LIVE,),                 "owner_gone",   DELETED),
        ),
        views=(
            #    shows        while
            View(UNREACHABLE, (Above("app_cluster", (SILENT,), facet=CONTACT, base=True),)),
        ),
    ),),
    cascades=(
        Cascade("reached",      at=("rsync_resource",), into=AVAILABLE),
        Cascade("bundle_state", at=("app_cluster",),    on=("bundle_state",), targets=later_contexts),
    ),
    fan_outs=(
        FanOut(tuple(bundle_state.TRIGGERS.values()), at="rsync_resource", on=("bundle_state",), rule=bundle_state.reported_presence),
        FanOut(tuple(bundle_state.ASSESSED.values()), at="rsync_resource", on=("bundle_state",), rule=bundle_state.reported_health),
    ),
    tallies=(("rsync_resource", 0), ("rsync_resource", 1), ("rsync_resource", 2)),
)
