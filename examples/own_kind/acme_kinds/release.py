"""The kind `release`: a version of our software that is being rolled out. Belongs here: its table."""

from phaseline.tables import (
    ABSENT,
    DELETED,
    LIVE,
    OK,
    PROGRESSING,
    SAME,
    Above,
    At,
    Facet,
    Field,
    Label,
    Row,
    Table,
)

PENDING, ROLLING, DONE, FAILED = "Pending", "Rolling", "Done", "Failed"
WAITING, APPROVED, REFUSED = "Waiting", "Approved", "Refused"

IS_APPROVED = (Above("release", (APPROVED,), facet=1),)
"""A guard: the second facet of the release itself must be Approved."""

# fmt: off
ROLLOUT = Facet(
    name="rollout",
    accumulates_in=FAILED,
    healthy=ROLLING,
    labels=(
        #     phase    condition       en               others
        Label(PENDING, OK,             "Pending",       {"zh": "待发布"}),
        Label(ROLLING, PROGRESSING,    "Rolling out",   {"zh": "发布中"}),
        Label(DONE,    OK,             "Done",          {"zh": "已发布"}),
        Label(FAILED,  "ChecksFailed", "Checks failed", {"zh": "检查失败"}),
        Label(FAILED,  "TimedOut",     "Timed out",     {"zh": "超时"}),
    ),
    rows=(
        #   from                               trigger          to
        Row((ABSENT, DELETED),                 "create",        PENDING, assigns=True),
        Row((PENDING,),                        "start",         ROLLING, when=IS_APPROVED),
        Row((ROLLING,),                        "finished",      DONE),
        Row((ROLLING, FAILED),                 "checks_failed", FAILED, condition="ChecksFailed"),
        Row((At(FAILED, has="ChecksFailed"),), "checks_passed", SAME,   clears=("ChecksFailed",)),
        # An agent reports `timed_out`: it is an ordinary observation. A timer would be a `Timeout` of the facet.
        Row((ROLLING, FAILED),                 "timed_out",     FAILED, condition="TimedOut"),
        Row((At(FAILED, has="TimedOut"),),     "resumed",       SAME,   clears=("TimedOut",)),
        Row((LIVE,),                           "withdraw",      DELETED),
    ),
)

APPROVAL = Facet(
    name="approval",
    labels=(
        #     phase     condition en                      others
        Label(WAITING,  OK, "Waiting for approval", {"zh": "待审批"}),
        Label(APPROVED, OK, "Approved",             {"zh": "已批准"}),
        Label(REFUSED,  OK, "Refused",              {"zh": "已拒绝"}),
    ),
    rows=(
        #   from                trigger     to
        Row((ABSENT, DELETED),  "create",   WAITING),
        Row((WAITING, REFUSED), "approve",  APPROVED),
        Row((WAITING,),         "refuse",   REFUSED),
        Row((LIVE,),            "withdraw", DELETED),
    ),
)

RELEASE = Table(
    kind="release",
    id=("release",),
    doc="A version of our software that is being rolled out.",
    intents=("create", "start", "withdraw", "approve", "refuse"),
    attributes=(Field("notes", str, "what is new in this version"),),
    facets=(ROLLOUT, APPROVAL),
)
