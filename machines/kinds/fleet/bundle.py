"""The kind `bundle`: the worst state of its deployments, by rank.

Belongs here: its table, and the ranking that `git_repo` shares. Does not: deployments (`bundle_deployment`), `counts`,
the rules that read its rollout (`rollout`).
"""

from msgspec.structs import replace

from phaseline.machines.kinds.fleet.advice import FLEET
from phaseline.machines.kinds.fleet.bundle_deployment import WAIT_CHECK_IN
from phaseline.machines.kinds.fleet.bundle_resource import (
    ERR_APPLIED,
    MODIFIED,
    NOT_READY,
    PENDING,
    READY,
    WAIT_APPLIED,
)
from phaseline.machines.kinds.fleet.commits import BEHIND, BEHIND_FIELDS, CARRIED, LEVEL, note_commit, read_commit
from phaseline.machines.kinds.fleet.deployment_rules import OUT_OF_SYNC
from phaseline.machines.kinds.fleet.rollout import forget_error, note_error, note_rollout
from phaseline.machines.kinds.kubernetes.observation import OBSERVER, SEEN_BY
from phaseline.machines.kinds.kubernetes.profiles import NOT_ASSESSED
from phaseline.machines.language.endings import MOVED
from phaseline.machines.language.predicates import AllBelow, AnyBelow, AttributeIs, Predicate
from phaseline.machines.language.table import (
    ABSENT,
    DELETED,
    LIVE,
    SAME,
    At,
    Facet,
    Field,
    Interpret,
    Label,
    Row,
    Table,
    View,
    advised,
)
from phaseline.schemas.records import State

RANKED = (ERR_APPLIED, WAIT_APPLIED, WAIT_CHECK_IN, MODIFIED, OUT_OF_SYNC, PENDING, NOT_READY, READY)
"""States of deployments, the worst first."""
ERROR, WAITING, NO_DEPLOYMENT = "Error", "Waiting", "NoDeployment"
NO_TARGETS = "NoTargets"
"""The phase of what matches no cluster, as Fleet's controller says of the present bundle."""

# fmt: off
LABELS = advised(FLEET, (
    #     phase          condition en                                 others
    Label(ERR_APPLIED,   None,    "Apply failed",                    {"zh": "应用失败"},        state_class="bad"),
    Label(WAIT_APPLIED,  None,    "Wait applied",                    {"zh": "待应用"},          state_class="busy"),
    Label(WAIT_CHECK_IN, None,    "Wait check-in",                   {"zh": "待联络"},          state_class="busy"),
    Label(MODIFIED,      None,    "Modified",                        {"zh": "已修改"},          state_class="bad"),
    Label(OUT_OF_SYNC,   None,    "OutOfSync",                       {"zh": "未同步"},          state_class="busy"),
    Label(PENDING,       None,    "Pending",                         {"zh": "待处理"},          state_class="busy"),
    Label(PENDING,       WAITING, "Pending (waits for deployments)", {"zh": "待处理 (待部署)"}, state_class="busy"),
    Label(PENDING, NO_DEPLOYMENT, "Pending (no deployment)",         {"zh": "待处理 (无部署)"}, state_class="busy"),
    Label(NOT_READY,     None,    "Not ready",                       {"zh": "未就绪"},          state_class="bad"),
    Label(NOT_READY,     ERROR,   "Not ready (error)",               {"zh": "未就绪 (出错)"}),
    Label(READY,         None,    "Ready",                           {"zh": "就绪"}),
    Label(NOT_ASSESSED,  None,    "Not assessed",                    {"zh": "未评估"},          state_class="unknown"),
    Label(NO_TARGETS,    None,    "Matches no cluster",              {"zh": "无匹配集群"},      state_class="excused"),
))
ROLLOUT = (
    Field("waiting",                    int,  "targets that have no deployment yet", least=0),
    Field("partitions",                 dict, "the partitions of the rollout: name, count, unavailable, max_unavailable",
          many=True),
    Field("unavailable",                int,  "unavailable targets", least=0),
    Field("max_unavailable",            int,  "how many targets may be unavailable", least=0),
    Field("unavailable_partitions",     int,  "unavailable partitions", least=0),
    Field("max_unavailable_partitions", int,  "how many partitions may be unavailable", least=0),
    Field("max_new",                    int,  "how many deployments are created at once", least=0),
)
SAID = (
    Field("targets", int,  "how many targets Fleet counts, if its controller has seen the present bundle", least=0),
    Field("paused",  bool, "whether Fleet holds back what is new in it"),
    Field("unobserved", str, "that its controller has not seen the present bundle, and which one it has"),
    CARRIED,
)
# fmt: on


def ranked(
    of: str, more: tuple[View, ...], keeps: tuple[str, ...], failing: Predicate | None = None
) -> tuple[View, ...]:
    """Views that show the worst state of the deployments, but for Ready.

    more: views of what is worth as much as a deployment in the state that they show. failing: with it, the views hold
    only beside an error below, and show it.
    """
    also = () if failing is None else (failing,)
    below = tuple(
        View(state, (AnyBelow(of, "bundle_deployment", (state,)),), message_from="why") for state in RANKED[:-1]
    )
    views = sorted((*more, *below), key=lambda view: RANKED.index(view.to))
    return tuple(
        replace(
            view, while_=(*view.while_, *also), keeps=keeps,
            condition=view.condition if failing is None else ERROR, message_from=view.message_from or "why",
        )
        for view in views
    )  # fmt: skip


def all_ready(of: str, *unknown: View) -> tuple[View, ...]:
    """The views of deployments that are all ready. They need the base Pending: without error.

    unknown: views of more of which nothing is known. One part of which nothing is known keeps the whole from Ready.
    """
    views = (
        View(NOT_ASSESSED, (AnyBelow(of, "bundle_deployment", (NOT_ASSESSED,)),)),
        *unknown,
        View(READY, (AnyBelow(of, "bundle_deployment", (READY,)),)),
    )
    return tuple(replace(view, base=(PENDING,)) for view in views)


FEWER = View(NOT_ASSESSED, (AnyBelow("bundle", "bundle_deployment", (READY,), fewer_than="targets"),))
"""Fleet counts more targets than deployments are known."""
OLD = (AttributeIs("bundle", "is_old", value=True), AnyBelow("bundle", "bundle_deployment", RANKED))
"""What its deployments say is about another bundle than the present one."""
NOWHERE = AllBelow("bundle", "bundle_deployment", ())
"""No deployment of it lives."""

# fmt: off
BUNDLE = Table(
    kind="bundle",
    replaced_by=None,
    id=("repo", "bundle"),
    parent="git_repo",
    doc="A bundle: the worst state of its deployments on all clusters. Without deployments it is Pending, unless it "
        "matches no cluster.",
    intents=(),
    derived=("owner_gone", BEHIND, LEVEL),
    known_by="anything",
    attributes=(
        *ROLLOUT,
        *SAID,
        *BEHIND_FIELDS,
        Field("complete",  bool, "whether every target has a deployment"),
        Field("is_old",    bool, "whether its controller has not seen the present bundle"),
        Field("held_back", str,  "what holds the rollout back"),
        Field("why",       str,  "its own error"),
        Field("error",     str,  "the error that it reports"),
        Field("overruled", str,  "what it reports too, and what newer words of its own contradict"),
        Field("unplaced",  str,  "why it has no deployment"),
        *OBSERVER,
    ),
    interprets=(Interpret(("rollout", "created"), BEHIND_FIELDS, read_commit),),
    facets=(Facet(
        name="state",
        healthy=READY,
        adopted=State(PENDING),
        sticky=(ERROR,),
        message_from="why",
        message_names=("bundle_deployment", 0),
        unknown_parts=NOT_ASSESSED,
        labels=LABELS,
        rows=(
            #   from               trigger       to
            Row((ABSENT, DELETED), "created",    PENDING,   assigns=SEEN_BY),
            Row((ABSENT, DELETED), "rollout",    PENDING,   assigns=SEEN_BY, computes=note_rollout),
            Row((LIVE,),           "rollout",    SAME,      assigns=SEEN_BY, computes=note_rollout),
            Row((ABSENT, PENDING), "failed",    NOT_READY, sets=ERROR, computes=note_error),
            Row((At(NOT_READY, has=ERROR),), "failed", SAME,     computes=note_error),
            Row((NOT_READY,),      "recovered",  PENDING,   clears=(ERROR,), computes=forget_error),
            Row((PENDING,),        "recovered",  SAME,      computes=forget_error),
            Row((LIVE,),           BEHIND,       SAME,      computes=note_commit),
            Row((LIVE,),           LEVEL,        SAME,      computes=note_commit),
            Row((LIVE,),           "removed",    DELETED),
            Row((LIVE,),           "owner_gone", DELETED),
        ),
        views=(
            *ranked("bundle", (
                View(OUT_OF_SYNC, (AttributeIs("bundle", "behind", value=True),), message_from="behind_why"),
                View(PENDING, (AttributeIs("bundle", "complete", value=False),), condition=WAITING),
                View(PENDING, OLD, condition=WAITING, message_from="unobserved"),
            ), (ERROR,)),
            View(NO_TARGETS, (NOWHERE, AttributeIs("bundle", "targets", 0)), base=(PENDING,), message_from="unplaced"),
            View(PENDING, (NOWHERE,), base=(PENDING,), condition=NO_DEPLOYMENT, message_from="unplaced"),
            *all_ready("bundle", FEWER),
        ),
    ),),
    fields={"rollout": (*ROLLOUT, *SAID), "created": (CARRIED,), "removed": (MOVED,)},
    tallies=(("bundle_deployment", 0), ("bundle_resource", 0)),
)
