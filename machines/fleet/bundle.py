"""The kind `bundle`: the worst state of its deployments, by rank.

Belongs here: its table, and the ranking that `git_repo` shares. Does not: deployments (`bundle_deployment`), `counts`.
"""

from phaseline.machines.fleet.bundle_deployment import OUT_OF_SYNC
from phaseline.machines.fleet.bundle_resource import ERR_APPLIED, MODIFIED, NOT_READY, PENDING, READY, WAIT_APPLIED
from phaseline.machines.language.predicates import AnyBelow
from phaseline.machines.language.table import ABSENT, DELETED, LIVE, Facet, Label, Row, Table, View
from phaseline.schemas.records import State

RANKED = (ERR_APPLIED, WAIT_APPLIED, MODIFIED, OUT_OF_SYNC, PENDING, NOT_READY, READY)
"""States of deployments, the worst first."""

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
    """Views that show the worst state of the deployments."""
    return tuple(
        View(state, (AnyBelow(of, "bundle_deployment", (state,)),), base=base, keeps=keeps or False) for state in states
    )


# fmt: off
BUNDLE = Table(
    kind="bundle",
    id=("repo", "bundle"),
    parent="git_repo",
    doc="A bundle: the worst state of its deployments on all clusters. Without deployments it is Pending.",
    intents=(),
    derived=("owner_gone",),
    known_by="anything",
    facets=(Facet(
        name="state",
        healthy=READY,
        adopted=State(PENDING),
        message_names=("bundle_deployment", 0),
        labels=LABELS,
        rows=(
            #   from               trigger       to
            Row((ABSENT, DELETED), "created",    PENDING),
            Row((LIVE,),           "removed",    DELETED),
            Row((LIVE,),           "owner_gone", DELETED),
        ),
        views=ranked("bundle", *RANKED),
    ),),
    tallies=(("bundle_deployment", 0), ("bundle_resource", 0)),
)
