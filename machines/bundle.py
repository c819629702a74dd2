"""A bundle and a git repository of Fleet, as `spec: Fleet` has them: what their deployments come to, the worst by rank.

Belongs here: both tables, which differ in little. Does not: the deployments (`bundle_deployment`), counts (`fleet_counts`).
"""

from phaseline.machines.bundle_deployment import OUT_OF_SYNC
from phaseline.machines.bundle_resource import ERR_APPLIED, MODIFIED, NOT_READY, PENDING, READY, WAIT_APPLIED
from phaseline.machines.predicates import Some
from phaseline.machines.table import ABSENT, DELETED, LIVE, SAME, At, Facet, Field, Fired, Label, Row, Table, View
from phaseline.schemas.records import State

RANKED = (ERR_APPLIED, WAIT_APPLIED, MODIFIED, OUT_OF_SYNC, PENDING, NOT_READY, READY)
"""States of deployments, the worst first."""
GIT_ERROR = "GitError"

# fmt: off
LABELS = (
    #     phase         condition  zh        en
    Label(ERR_APPLIED,  None,      "应用失败", "Apply failed"),
    Label(WAIT_APPLIED, None,      "待应用",  "Wait applied"),
    Label(MODIFIED,     None,      "已修改",  "Modified"),
    Label(OUT_OF_SYNC,  None,      "未同步",  "OutOfSync"),
    Label(PENDING,      None,      "待处理",  "Pending"),
    Label(NOT_READY,    None,      "未就绪",  "Not ready"),
    Label(READY,        None,      "就绪",    "Ready"),
)
# fmt: on


def ranked(of: str, *states: str, base: tuple[str, ...] = (), keeps: tuple[str, ...] = ()) -> tuple[View, ...]:
    """Views that show the worst of the deployments."""
    return tuple(
        View(state, (Some(of, "bundle_deployment", (state,)),), base=base, keeps=keeps or False) for state in states
    )


# fmt: off
BUNDLE = Table(
    kind="bundle",
    id=("repo", "bundle"),
    parent="git_repo",
    doc="A bundle: what it comes to on all its clusters. Without deployments it is Pending.",
    intents=(),
    derived=("owner_gone",),
    known_by="anything",
    facets=(Facet(
        name="state",
        healthy=READY,
        adopted=State(PENDING),
        names=("bundle_deployment", 0),
        labels=LABELS,
        rows=(
            #   from               trigger       to
            Row((ABSENT, DELETED), "created",    PENDING),
            Row((LIVE,),           "removed",    DELETED),
            Row((LIVE,),           "owner_gone", DELETED),
        ),
        views=ranked("bundle", *RANKED),
    ),),
    fired=(Fired("owner_gone", at=("bundle_deployment", "bundle_resource"), into=DELETED),),
    counts=(("bundle_deployment", 0), ("bundle_resource", 0)),
)

GIT_REPO = Table(
    kind="git_repo",
    id=("repo",),
    doc="A git repository: what all it declares comes to. One whose last fetch failed is never Ready.",
    intents=(),
    known_by="anything",
    attributes=(
        Field("commit", str, "the commit that was fetched last"),
        Field("url",    str, "where it is"),
    ),
    facets=(Facet(
        name="state",
        healthy=READY,
        adopted=State(PENDING),
        standing=(GIT_ERROR,),
        names=("bundle_deployment", 0),
        labels=(
            *LABELS,
            #     phase      condition   zh               en
            Label(NOT_READY, GIT_ERROR, "未就绪 (拉取失败)", "Not ready (fetch failed)"),
            Label(PENDING,   GIT_ERROR, "待处理 (拉取失败)", "Pending (fetch failed)"),
        ),
        rows=(
            #   from               trigger         to
            Row((ABSENT, DELETED), "created",      PENDING,   assigns=("url",)),
            Row((ABSENT, DELETED), "fetched",      PENDING,   assigns=("commit",)),
            Row((PENDING,),        "fetched",      PENDING,   assigns=("commit",)),
            Row((NOT_READY,),      "fetched",      PENDING,   clears=(GIT_ERROR,), assigns=("commit",)),
            Row((ABSENT, DELETED, PENDING), "fetch_failed", NOT_READY, sets=GIT_ERROR),
            Row((At(NOT_READY, has=GIT_ERROR),), "fetch_failed", SAME),
            Row((LIVE,),           "removed",      DELETED),
        ),
        views=(
            *ranked("git_repo", *RANKED[:-1], keeps=(GIT_ERROR,)),
            *ranked("git_repo", READY, base=(PENDING,)),
        ),
    ),),
    fired=(Fired("owner_gone", at=("bundle", "bundle_deployment", "bundle_resource"), into=DELETED),),
    counts=(("bundle_deployment", 0), ("bundle_resource", 0)),
)
