"""The kind `git_repo`: the worst state of all deployments that the repository declares, by rank.

Belongs here: its table. Does not: the ranking (`bundle`), `counts`.
"""

from phaseline.machines.kinds.fleet.advice import FLEET
from phaseline.machines.kinds.fleet.bundle import (
    ERROR,
    LABELS,
    NO_DEPLOYMENT,
    NO_TARGETS,
    RANKED,
    WAITING,
    all_ready,
    ranked,
)
from phaseline.machines.kinds.fleet.bundle_resource import NOT_READY, PENDING, READY
from phaseline.machines.kinds.fleet.commits import BEHIND, LEVEL, compare_commit
from phaseline.machines.kinds.fleet.deployment_rules import OUT_OF_SYNC
from phaseline.machines.kinds.fleet.rollout import forget_error, forget_fetch_error, note_error, note_fetch_error
from phaseline.machines.kinds.kubernetes.observation import OBSERVER, SEEN_BY
from phaseline.machines.kinds.kubernetes.profiles import NOT_ASSESSED
from phaseline.machines.language.endings import MOVED
from phaseline.machines.language.predicates import AnyBelow
from phaseline.machines.language.table import (
    ABSENT,
    DELETED,
    LIVE,
    SAME,
    At,
    Facet,
    FanOut,
    Field,
    Label,
    Row,
    Table,
    View,
    advised,
)
from phaseline.schemas.records import State

GIT_ERROR = "GitError"
OWN = (GIT_ERROR, ERROR)
FAILING = AnyBelow("git_repo", "bundle", RANKED[:-1], has=ERROR)
BUNDLES = (
    View(OUT_OF_SYNC, (AnyBelow("git_repo", "bundle", (OUT_OF_SYNC,)),)),
    *(View(PENDING, (AnyBelow("git_repo", "bundle", (PENDING,), has=one),), condition=one)
      for one in (WAITING, NO_DEPLOYMENT)),
)  # fmt: skip
"""What is wrong with a bundle although no deployment of it says so."""
NAMED = ("declared_as", *SEEN_BY)
FETCHED = ("commit", "job", "version", "chart", "url", *NAMED)
ERRORS = tuple(
    Label(one.phase, ERROR, f"{one.en} (error)", {"zh": f"{one.others['zh']} (出错)"})
    for one in LABELS
    if one.condition is None and one.phase not in (NOT_READY, READY, NOT_ASSESSED, NO_TARGETS)
)

# fmt: off
GIT_REPO = Table(
    kind="git_repo",
    replaced_by=None,
    id=("repo",),
    doc="A GitRepo or a HelmOp: the worst state of all deployments that it declares. It is not Ready after a failed "
        "fetch, with an error of its own or of a bundle, or while a bundle lacks its deployments or carries another "
        "commit.",
    intents=(),
    known_by="anything",
    attributes=(
        Field("commit", str, "the last commit that was fetched"),
        Field("job",    str, "the status of its last git job"),
        Field("url",    str, "its address"),
        Field("declared_as", str, "the kind of Fleet's object: GitRepo, HelmOp, or HelmApp of older versions"),
        Field("chart",   str, "the chart of a HelmOp"),
        Field("version", str, "the version of the chart that is installed"),
        Field("why",    str, "its own errors"),
        Field("error",  str, "the error that it reports"),
        Field("fetch_error", str, "why it could not be fetched"),
        Field("overruled",   str, "what it reports too, and what newer words of its own contradict"),
        *OBSERVER,
    ),
    fields={"removed": (MOVED,)},
    facets=(Facet(
        name="state",
        healthy=READY,
        adopted=State(PENDING),
        sticky=OWN,
        message_from="why",
        message_names=("bundle_deployment", 0),
        unknown_parts=NOT_ASSESSED,
        labels=advised(FLEET, (
            *LABELS,
            *ERRORS,
            #     phase      condition  en                          others
            Label(NOT_READY, GIT_ERROR, "Not ready (fetch failed)", {"zh": "未就绪 (拉取失败)"}),
            Label(PENDING,   GIT_ERROR, "Pending (fetch failed)",   {"zh": "待处理 (拉取失败)"}),
        )),
        rows=(
            #   from               trigger         to
            Row((ABSENT, DELETED), "created",      PENDING,   assigns=FETCHED),
            Row((PENDING, NOT_READY), "created",   SAME,      assigns=FETCHED),
            Row((ABSENT, DELETED), "fetched",      PENDING,   assigns=FETCHED),
            Row((PENDING,),        "fetched",      PENDING,   assigns=FETCHED),
            Row((At(NOT_READY, has=ERROR),), "fetched", SAME, clears=(GIT_ERROR,), assigns=FETCHED,
                computes=forget_fetch_error),
            Row((NOT_READY,),      "fetched",      PENDING,   clears=(GIT_ERROR,), assigns=FETCHED,
                computes=forget_fetch_error),
            Row((ABSENT, DELETED, PENDING), "fetch_failed", NOT_READY, sets=GIT_ERROR, assigns=NAMED,
                computes=note_fetch_error),
            Row((NOT_READY,),      "fetch_failed", SAME,      sets=GIT_ERROR, assigns=NAMED, computes=note_fetch_error),
            Row((ABSENT, PENDING), "failed",       NOT_READY, sets=ERROR, computes=note_error),
            Row((NOT_READY,),      "failed",       SAME,      sets=ERROR, computes=note_error),
            Row((At(NOT_READY, has=GIT_ERROR),), "recovered", SAME, clears=(ERROR,), computes=forget_error),
            Row((NOT_READY,),      "recovered",    PENDING,   clears=(ERROR,), computes=forget_error),
            Row((PENDING,),        "recovered",    SAME,      computes=forget_error),
            Row((LIVE,),           "removed",      DELETED),
        ),
        views=(
            *ranked("git_repo", BUNDLES, OWN, failing=FAILING),
            View(NOT_READY, (FAILING,), condition=ERROR, keeps=OWN),
            *ranked("git_repo", BUNDLES, OWN),
            *all_ready("git_repo", View(NOT_ASSESSED, (AnyBelow("git_repo", "bundle", (NOT_ASSESSED,)),))),
            View(NO_TARGETS, (AnyBelow("git_repo", "bundle", (NO_TARGETS,)),), base=(PENDING,)),
        ),
    ),),
    fan_outs=tuple(FanOut((BEHIND, LEVEL), below, ("fetched",), compare_commit) for below in ("bundle", "bundle_deployment")),
    tallies=(("bundle_deployment", 0), ("bundle_resource", 0)),
)
