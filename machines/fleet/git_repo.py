"""The kind `git_repo`: the worst state of all deployments that the repository declares, by rank.

Belongs here: its table. Does not: the ranking (`bundle`), `counts`.
"""

from phaseline.machines.fleet.bundle import LABELS, RANKED, ranked
from phaseline.machines.fleet.bundle_resource import NOT_READY, PENDING, READY
from phaseline.machines.language.table import ABSENT, DELETED, LIVE, SAME, At, Facet, Field, Label, Row, Table
from phaseline.schemas.records import State

GIT_ERROR = "GitError"

# fmt: off
GIT_REPO = Table(
    kind="git_repo",
    id=("repo",),
    doc="A git repository: the worst state of all deployments that it declares. After a failed fetch it is not Ready.",
    intents=(),
    known_by="anything",
    attributes=(
        Field("commit", str, "the last commit that was fetched"),
        Field("url",    str, "its address"),
    ),
    facets=(Facet(
        name="state",
        healthy=READY,
        adopted=State(PENDING),
        sticky=(GIT_ERROR,),
        message_names=("bundle_deployment", 0),
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
    tallies=(("bundle_deployment", 0), ("bundle_resource", 0)),
)
